use std::fs;

use ambit_git_mirror::{BranchName, CommitName, Source, Wanted};

use crate::world::{World, snapshot};

// proves E-S06 E-S12
// break crates/adapters/git-mirror/src/repository.rs: `words.push(format!("--depth={depth}").into());` -> `words.push(format!("--depth={}", depth + 1).into());`
#[test]
fn an_exact_commit_comes_alone_and_whole_and_the_source_stays_as_it_was() {
    let Some(world) = World::new("an_exact_commit_comes_alone_and_whole") else { return };
    let [first, second, _] = world.with_history();
    let before = snapshot(&world.source());
    let obtained = world.obtain(&second).unwrap();
    assert_eq!(snapshot(&world.source()), before);
    assert!(obtained.is_fresh && obtained.commit.as_str() == second);
    assert_eq!(world.git_of(&obtained, ["show", &format!("{second}:file")]), "two");
    assert_eq!(world.git_of(&obtained, ["rev-list", "--count", &second]), "1");
    assert_eq!(world.git_of(&obtained, ["config", "core.bare"]), "true");

    let again = world.obtain(&second).unwrap();
    assert!(!again.is_fresh && again.repository == obtained.repository);
    let older = world.obtain(&first).unwrap();
    assert!(!older.is_fresh && older.commit.as_str() == first);
    assert_eq!(world.git_of(&older, ["show", &format!("{first}:file")]), "one");
    assert_eq!(snapshot(&world.source()), before);
}

// proves E-S06
// break crates/adapters/git-mirror/src/obtain.rs: `fetches.extend([Fetch::Branch { name, depth }, Fetch::WholeBranch { name }, Fetch::Everything]);` -> `fetches.extend([Fetch::Branch { name, depth }]);`
#[test]
fn a_history_that_is_too_short_is_deepened_and_then_other_branches_are_searched() {
    let Some(world) = World::new("a_history_that_is_too_short_is_deepened") else { return };
    let [first, _, third] = world.with_history();
    world.git(["checkout", "--quiet", "-b", "side"]);
    let aside = world.commit("file", "aside");
    let obtained = world.obtain(&third[..8]).unwrap();
    assert_eq!((obtained.commit.as_str(), obtained.is_fresh), (third.as_str(), true));
    assert_eq!(world.git_of(&obtained, ["rev-list", "--count", &third]), "1", "the tip came alone");
    // Seven digits say nothing to the source: they are found once the history is there.
    let deep = world.obtain(&first[..7]).unwrap();
    assert_eq!((deep.commit.as_str(), deep.is_fresh), (first.as_str(), false));
    assert_eq!(world.git_of(&deep, ["rev-list", "--count", &third]), "3");
    assert_eq!(world.git_of(&deep, ["rev-parse", "--is-shallow-repository"]), "false");
    assert_eq!(world.obtain(&aside[..9]).unwrap().commit.as_str(), aside);
}

#[test]
fn a_branch_that_became_a_folder_of_branches_is_no_obstacle() {
    let Some(world) = World::new("a_branch_that_became_a_folder_of_branches") else { return };
    world.with_history();
    world.git(["checkout", "--quiet", "-b", "side"]);
    let one = world.commit("file", "on side");
    assert_eq!(world.obtain(&one[..10]).unwrap().commit.as_str(), one);
    world.git(["branch", "--move", "side", "aside"]);
    world.git(["checkout", "--quiet", "-b", "side/deep"]);
    let other = world.commit("file", "on side/deep");
    assert_eq!(world.obtain(&other[..10]).unwrap().commit.as_str(), other);
    assert!(!world.obtain(&one).unwrap().is_fresh);
}

#[test]
fn the_branch_and_the_depth_are_those_that_were_asked_for() {
    let Some(world) = World::new("the_branch_and_the_depth") else { return };
    world.with_history();
    world.git(["checkout", "--quiet", "-b", "side"]);
    let [_, near, tip] = ["four", "five", "six"].map(|content| world.commit("file", content));
    let source = Source::directory(&world.source()).unwrap();
    let mut wanted = Wanted::new(CommitName::parse(&near[..10]).unwrap());
    wanted.branch = BranchName::new("side").unwrap();
    wanted.depth = 2;
    let obtained = world.mirrors().obtain(&source, &wanted).unwrap();
    assert_eq!(obtained.commit.as_str(), near);
    assert_eq!(world.git_of(&obtained, ["rev-list", "--count", &tip]), "2", "no more was needed");

    wanted.branch = BranchName::new("none").unwrap();
    wanted.commit = CommitName::parse("0123456").unwrap();
    let error = world.mirrors().obtain(&source, &wanted).unwrap_err();
    assert_eq!(error.code(), "MIRROR_COMMIT_NOT_FOUND");
    assert!(error.to_string().contains("refs/heads/none"), "{error}");
    // A branch that is not there keeps nobody from a commit that is.
    wanted.commit = CommitName::parse(&tip[..10]).unwrap();
    assert_eq!(world.mirrors().obtain(&source, &wanted).unwrap().commit.as_str(), tip);
}

// proves E-S06
// break crates/adapters/git-mirror/src/obtain.rs: `if is_fresh && outcome.is_err() {` -> `if false {`
#[test]
fn a_commit_that_is_not_there_is_an_error_that_tells_what_was_tried() {
    let Some(world) = World::new("a_commit_that_is_not_there") else { return };
    world.with_history();
    let nowhere = "0123456789abcdef0123456789abcdef01234567";
    let error = world.obtain(nowhere).unwrap_err();
    assert_eq!(error.code(), "MIRROR_COMMIT_NOT_FOUND");
    let call = error.call().unwrap();
    assert_eq!(call.wanted.as_str(), nowhere);
    assert!(call.command.starts_with("git fetch ") && call.command.contains("--depth=1"), "{call:?}");
    assert!(call.command.contains(world.source().to_str().unwrap()), "{call:?}");
    assert!(call.output.contains("not our ref") && call.exit.is_some_and(|exit| exit != 0), "{call:?}");
    assert!(!call.repository.exists(), "nothing is left of a mirror that could not be made");
    assert_eq!(world.obtain("0123456").unwrap_err().code(), "MIRROR_COMMIT_NOT_FOUND");
    assert_eq!(CommitName::parse("012345").unwrap_err().code(), "MIRROR_COMMIT_MALFORMED");
    fs::remove_dir_all(world.source()).unwrap();
    assert_eq!(world.obtain(nowhere).unwrap_err().code(), "MIRROR_SOURCE_MISSING");
}

#[test]
fn a_source_with_a_cut_history_gives_what_it_has_and_says_what_it_has_not() {
    let Some(world) = World::new("a_source_with_a_cut_history") else { return };
    let [first, _, third] = world.with_history();
    let url = format!("file://{}", world.source().display());
    world.git_in(&world.path(""), ["clone", "--quiet", "--depth=1", &url, "cut"], b"");
    let source = Source::directory(&world.path("cut")).unwrap();
    let obtain =
        |commit: &str| world.mirrors().obtain(&source, &Wanted::new(CommitName::parse(commit).unwrap()));
    assert_eq!(obtain(&third).unwrap().commit.as_str(), third);
    assert_eq!(obtain(&first).unwrap_err().code(), "MIRROR_COMMIT_NOT_FOUND");
    assert_eq!(obtain(&first[..7]).unwrap_err().code(), "MIRROR_COMMIT_NOT_FOUND");
}
