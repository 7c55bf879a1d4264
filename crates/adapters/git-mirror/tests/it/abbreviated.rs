//! Names that begin alike. The commits and the content are made so that git gives them these names.

use ambit_git_mirror::{CommitSha, MirrorError};

use crate::world::World;

const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// A commit without parents and files.
fn commit(world: &World, message: u32) -> String {
    let text = format!(
        "tree {EMPTY_TREE}\nauthor a <a@example.com> 1700000000 +0000\ncommitter a <a@example.com> 1700000000 +0000\n\n\
         {message}\n"
    );
    world.git(["hash-object", "-t", "tree", "-w", "/dev/null"]);
    world.git_in(&world.source(), ["hash-object", "-t", "commit", "-w", "--stdin"], text.as_bytes())
}

// proves E-S06
// break crates/adapters/git-mirror/src/repository.rs: `0 | 1 => Ok(commits.pop()),` -> `0..=2 => Ok(commits.pop()),`
#[test]
fn digits_that_begin_two_commits_name_neither() {
    let Some(world) = World::new("digits_that_begin_two_commits") else { return };
    let (one, other) = (commit(&world, 338), commit(&world, 6070));
    assert!(one != other && one[..7] == other[..7], "{one} {other}");
    let both = ["commit-tree", EMPTY_TREE, "-p", &one, "-p", &other, "-m", "both"];
    let tip = world.git(both);
    world.git(["update-ref", "refs/heads/main", &tip]);
    let error = world.obtain(&one[..7]).unwrap_err();
    assert_eq!(error.code(), "MIRROR_COMMIT_AMBIGUOUS");
    let MirrorError::Ambiguous { candidates, .. } = error else { panic!("{error}") };
    let mut named = [one.clone(), other];
    named.sort();
    assert_eq!(candidates.iter().map(CommitSha::as_str).collect::<Vec<_>>(), named);
    assert_eq!(world.obtain(&one[..8]).unwrap().commit.as_str(), one);
}

#[test]
fn only_commits_count_among_what_begins_alike() {
    let Some(world) = World::new("only_commits_count") else { return };
    let one = commit(&world, 10_194);
    let blob = world.git_in(&world.source(), ["hash-object", "-w", "--stdin"], b"12507\n");
    assert_eq!(one[..7], blob[..7]);
    let listed = world.git_in(&world.source(), ["mktree"], format!("100644 blob {blob}\tfile\n").as_bytes());
    let tip = world.git(["commit-tree", &listed, "-p", &one, "-m", "both"]);
    world.git(["update-ref", "refs/heads/main", &tip]);
    assert_eq!(world.obtain(&one[..7]).unwrap().commit.as_str(), one);
    assert_eq!(world.obtain(&blob).unwrap_err().code(), "MIRROR_NOT_A_COMMIT");
}
