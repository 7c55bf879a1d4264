//! What a name of a commit stands for.

use std::path::Path;

use ambit_git_import::ImportOptions;

use crate::world::{World, git, is_git_here};

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

/// An index that claims to know so many objects whose names begin with these digits, none of which is there.
fn claimed(world: &World, digits: &str, count: u32) {
    let names: Vec<Vec<u8>> = (0..count)
        .map(|number| {
            let name = format!("{digits}{number:036x}");
            (0..20).map(|at| u8::from_str_radix(&name[2 * at..2 * at + 2], 16).unwrap()).collect()
        })
        .collect();
    let mut index = vec![0xff, b't', b'O', b'c', 0, 0, 0, 2];
    for first in 0..=255 {
        index.extend(if first < names[0][0] { 0 } else { count }.to_be_bytes());
    }
    index.extend(names.concat());
    index.extend(vec![0; 4 * names.len()]);
    index.extend(12_u32.to_be_bytes().repeat(names.len()));
    world.file(".git/objects/pack/pack-0.idx", index);
    world.file(".git/objects/pack/pack-0.pack", b"PACK\0\0\0\x02\0\0\0\x01\0");
}

#[test]
fn a_commit_is_found_among_many_objects_with_the_same_digits() {
    if !is_git_here("a_commit_is_found_among_many_objects_with_the_same_digits") {
        return;
    }
    let world = World::new();
    world.file("a", "one");
    let commit = world.commit();
    world.git(&["gc", "--quiet"]);
    claimed(&world, &commit[..4], 4_095);
    assert_eq!(world.import(&commit[..4]).unwrap().commit.to_string(), commit);
    claimed(&world, &commit[..4], 4_096);
    let (code, text) = world.refusal(&commit[..4]);
    assert_eq!(code, "IMPORT_REVISION_AMBIGUOUS");
    assert!(text.len() < 1_000, "{text}");
    assert_eq!(world.import(&commit[..12]).unwrap().commit.to_string(), commit);
}

#[test]
fn a_work_tree_has_references_of_its_own() {
    if !is_git_here("a_work_tree_has_references_of_its_own") {
        return;
    }
    let world = World::new();
    world.file("a", "one");
    let first = world.commit();
    world.file("a", "two");
    let second = world.commit();
    let linked = world.home().join("linked");
    world.git(&["worktree", "add", "--quiet", "--detach", linked.to_str().unwrap()]);
    for (name, commit) in [("refs/worktree/mine", &first), ("refs/bisect/bad", &first)] {
        world.git(&["update-ref", name, commit]);
    }
    assert!(git(&linked).args(["update-ref", "refs/worktree/mine", &second]).status().unwrap().success());
    let import = |dir: &Path, name: &str| {
        let imported = world.import_from(dir, name, ImportOptions::default());
        imported.map(|imported| imported.commit.to_string()).map_err(|error| error.code())
    };
    assert_eq!(import(&world.dir(), "worktree/mine"), Ok(first.clone()));
    assert_eq!(import(&linked, "worktree/mine"), Ok(second));
    assert_eq!(import(&world.dir(), "refs/bisect/bad"), Ok(first));
    assert_eq!(import(&linked, "refs/bisect/bad"), Err("IMPORT_REVISION_NOT_FOUND"));
}
