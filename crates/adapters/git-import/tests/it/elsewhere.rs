//! What leads out of a repository, or is none that can be read.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::world::{World, git, is_git_here};

/// A repository with a secret beside a directory that somebody else filled.
fn victim() -> World {
    let world = World::empty();
    let secret = world.home().join("secret");
    fs::create_dir(&secret).unwrap();
    fs::write(secret.join("file"), "secret").unwrap();
    for arguments in
        [&["init", "--quiet", "-b", "main"][..], &["add", "."], &["commit", "--quiet", "-m", "x"]]
    {
        assert!(git(&secret).args(arguments).status().unwrap().success());
    }
    world
}

fn git_sees(dir: &Path) -> bool {
    git(dir).args(["rev-parse", "--verify", "--quiet", "HEAD"]).output().unwrap().status.success()
}

#[test]
fn a_work_tree_cannot_claim_the_repository_of_somebody_else() {
    if !is_git_here("a_work_tree_cannot_claim_the_repository_of_somebody_else") {
        return;
    }
    let world = victim();
    let theirs = world.home().join("secret/.git");
    world.file(".git", format!("gitdir: {}\n", theirs.display()));
    assert!(git_sees(&world.dir()), "git follows it");
    assert_eq!(world.refusal("HEAD").0, "IMPORT_REPOSITORY_ELSEWHERE");
    fs::remove_file(world.path(".git")).unwrap();

    // A directory that leads back, and names the other repository as the one that it shares.
    let fake = world.home().join("fake");
    fs::create_dir(&fake).unwrap();
    fs::write(fake.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(fake.join("gitdir"), format!("{}\n", world.path(".git").display())).unwrap();
    fs::write(fake.join("commondir"), format!("{}\n", theirs.display())).unwrap();
    world.file(".git", format!("gitdir: {}\n", fake.display()));
    assert!(git_sees(&world.dir()), "git follows it");
    assert_eq!(world.refusal("HEAD").0, "IMPORT_REPOSITORY_ELSEWHERE");
    fs::remove_file(world.path(".git")).unwrap();

    // The same for a directory, and links instead of parts of it.
    world.git(&["init", "--quiet", "-b", "main"]);
    world.file(".git/commondir", format!("{}\n", theirs.display()));
    assert!(git_sees(&world.dir()), "git follows it");
    assert_eq!(world.refusal("HEAD").0, "IMPORT_NO_COMMIT");
    for part in ["objects", "refs"] {
        fs::remove_file(world.path(".git/commondir")).ok();
        fs::remove_dir_all(world.path(".git").join(part)).unwrap();
        symlink(theirs.join(part), world.path(".git").join(part)).unwrap();
        assert_eq!(world.refusal("HEAD").0, "IMPORT_UNREADABLE", "{part}");
        fs::remove_file(world.path(".git").join(part)).unwrap();
        fs::create_dir(world.path(".git").join(part)).unwrap();
    }
    fs::remove_dir_all(world.path(".git")).unwrap();
    symlink(&theirs, world.path(".git")).unwrap();
    assert!(git_sees(&world.dir()), "git follows it");
    assert_eq!(world.refusal("HEAD").0, "IMPORT_REPOSITORY_ELSEWHERE");
}

#[test]
fn what_is_no_repository_is_refused() {
    if !is_git_here("what_is_no_repository_is_refused") {
        return;
    }
    let world = World::empty();
    assert_eq!(world.refusal("HEAD").0, "IMPORT_NOT_A_REPOSITORY");
    assert_eq!(world.refusal_from(&world.path("none"), "HEAD").0, "IMPORT_NOT_A_REPOSITORY");
    world.git(&["init", "--quiet", "-b", "main"]);
    world.file("dir/file", "x");
    world.commit();
    assert!(world.import("HEAD").is_ok());
    assert_eq!(
        world.refusal_from(&world.path("dir"), "HEAD").0,
        "IMPORT_NOT_A_REPOSITORY",
        "none above is searched"
    );
    world.file("dir/.git", "not a pointer");
    assert_eq!(world.refusal_from(&world.path("dir"), "HEAD").0, "IMPORT_REPOSITORY_ELSEWHERE");
}

#[test]
fn a_format_that_is_not_understood_is_told() {
    if !is_git_here("a_format_that_is_not_understood_is_told") {
        return;
    }
    for (option, format) in [("--ref-format=reftable", "reftable"), ("--object-format=sha256", "SHA-256")] {
        let world = World::empty();
        let made = git(&world.dir()).args(["init", "--quiet", "-b", "main", option]).output().unwrap();
        if !made.status.success() {
            println!("skipped: GIT_TOO_OLD {option}");
            continue;
        }
        world.file("a", "x");
        let commit = world.commit();
        for at in ["HEAD", "main", &commit] {
            let (code, text) = world.refusal(at);
            assert_eq!(code, "IMPORT_REPOSITORY_FORMAT", "{at}: {text}");
            assert!(text.contains(format), "{text}");
        }
    }
}

#[test]
fn no_pipe_is_waited_for() {
    if !is_git_here("no_pipe_is_waited_for") {
        return;
    }
    for name in [".git/HEAD", ".git/packed-refs", ".git/refs/heads/main"] {
        let world = World::new();
        world.file("a", "x");
        world.commit();
        let _ = fs::remove_file(world.path(name));
        assert!(Command::new("mkfifo").arg(world.path(name)).status().unwrap().success());
        assert_eq!(world.refusal("HEAD").0, "IMPORT_UNREADABLE", "{name}");
    }
}
