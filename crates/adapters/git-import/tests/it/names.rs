//! What a name of a commit stands for.

use crate::world::{World, is_git_here};

#[test]
fn branches_tags_and_digits_name_what_git_says() {
    if !is_git_here("branches_tags_and_digits_name_what_git_says") {
        return;
    }
    let world = World::new();
    world.file("a", "one");
    let first = world.commit();
    world.git(&["tag", "light"]);
    world.git(&["tag", "--annotate", "--message", "x", "v1"]);
    world.git(&["tag", "--annotate", "--message", "x", "v1-again", "v1"]);
    world.git(&["branch", "feature/x"]);
    world.file("a", "two");
    let second = world.commit();
    world.git(&["update-ref", "refs/remotes/origin/main", &second]);
    world.git(&["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"]);
    let names = [
        ("HEAD", &second),
        ("main", &second),
        ("heads/main", &second),
        ("refs/heads/main", &second),
        ("origin/main", &second),
        ("origin", &second),
        ("light", &first),
        ("v1", &first),
        ("v1-again", &first),
        ("tags/v1", &first),
        ("feature/x", &first),
        (&first, &first),
        (&first[..12], &first),
        (&first.to_uppercase()[..9], &first),
        (&world.git(&["rev-parse", "v1"]), &first),
    ]
    .map(|(name, commit)| (name.to_owned(), commit.clone()));
    let check = || {
        for (name, commit) in &names {
            assert_eq!(world.import(name).unwrap().commit.to_string(), *commit, "{name}");
        }
    };
    check();
    world.git(&["pack-refs", "--all"]);
    assert!(!world.path(".git/refs/heads/main").exists());
    check();
    world.git(&["gc", "--quiet"]);
    check();
    // What lies by itself is newer than what is packed.
    world.git(&["branch", "--force", "feature/x", &second]);
    assert_eq!(world.import("feature/x").unwrap().commit.to_string(), second);
    world.git(&["checkout", "--quiet", "--detach", &first]);
    assert_eq!(world.import("HEAD").unwrap().commit.to_string(), first);
}

#[test]
fn a_name_that_is_none_or_several_is_refused() {
    if !is_git_here("a_name_that_is_none_or_several_is_refused") {
        return;
    }
    let world = World::new();
    assert_eq!(world.refusal("HEAD").0, "IMPORT_NO_COMMIT");
    world.file("a", "one");
    let commit = world.commit();
    for name in ["nothing", "refs/heads/nothing", "dead", "0000", "config", "hooks", "objects/info"] {
        assert_eq!(world.refusal(name).0, "IMPORT_REVISION_NOT_FOUND", "{name}");
    }
    world.git(&["tag", "both"]);
    world.git(&["branch", "both"]);
    let (code, text) = world.refusal("both");
    assert_eq!(code, "IMPORT_REVISION_AMBIGUOUS");
    assert!(text.contains("refs/tags/both or refs/heads/both"), "{text}");
    assert_eq!(world.import("refs/heads/both").unwrap().commit.to_string(), commit);
    let blob = world.git(&["rev-parse", "HEAD:a"]);
    assert_eq!(world.refusal(&blob).0, "IMPORT_NOT_A_COMMIT");
    assert_eq!(world.refusal(&blob[..10]).0, "IMPORT_REVISION_NOT_FOUND");
    world.git(&["tag", "--annotate", "--message", "x", "of-tree", "HEAD^{tree}"]);
    assert_eq!(world.refusal("of-tree").0, "IMPORT_NOT_A_COMMIT");
    let absent = "0123456789".repeat(4);
    assert_eq!(world.refusal(&absent).0, "IMPORT_OBJECT_MISSING");
    world.file(".git/refs/heads/loop", "ref: refs/heads/loop\n");
    assert_eq!(world.refusal("loop").0, "IMPORT_UNREADABLE");
    world.file(".git/refs/heads/away", "ref: ../../../../etc/passwd\n");
    assert_eq!(world.refusal("away").0, "IMPORT_UNREADABLE");
    world.file(".git/refs/heads/text", "no digits\n");
    assert_eq!(world.refusal("text").0, "IMPORT_UNREADABLE");
}

#[test]
fn digits_that_two_commits_begin_with_are_refused_and_one_more_is_enough() {
    if !is_git_here("digits_that_two_commits_begin_with_are_refused_and_one_more_is_enough") {
        return;
    }
    let world = World::new();
    // Among so many names, two begin with the same four digits.
    let mut stream = String::new();
    for number in 0..2_000 {
        stream += &format!("commit refs/heads/main\ncommitter a <a@example.com> {number} +0000\ndata 0\n\n");
    }
    world.git_fed(&["fast-import", "--quiet"], stream.as_bytes());
    let mut commits: Vec<String> = world.git(&["rev-list", "main"]).lines().map(str::to_owned).collect();
    commits.sort();
    let (one, other) = commits
        .iter()
        .zip(&commits[1..])
        .find(|(one, other)| one[..4] == other[..4])
        .expect("two of two thousand");
    let (code, text) = world.refusal(&one[..4]);
    assert_eq!(code, "IMPORT_REVISION_AMBIGUOUS");
    assert!(text.contains(one.as_str()) && text.contains(other.as_str()), "{text}");
    let longer = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count() + 1;
    assert_eq!(world.import(&one[..longer]).unwrap().commit.to_string(), *one);
}
