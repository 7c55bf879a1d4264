use ambit_git_export::{BranchError, BranchName};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::repository::{is_git_here, run};

fn git_takes(name: &str) -> bool {
    let dir = std::env::temp_dir();
    let output = run(&dir, ["check-ref-format", "--branch", name], b"");
    output.status.success() && output.stdout == format!("{name}\n").as_bytes()
}

#[test]
fn a_branch_is_named_as_git_takes_it() {
    for (name, takes) in [
        ("ambit/rev-3", Ok(())),
        ("é@x", Ok(())),
        ("a.lockx/b-", Ok(())),
        ("", Err(BranchError::Length)),
        (&"x".repeat(201), Err(BranchError::Length)),
        ("a b", Err(BranchError::Character)),
        ("a\nb", Err(BranchError::Character)),
        ("a\u{7f}", Err(BranchError::Character)),
        ("a~1", Err(BranchError::Character)),
        ("a:b", Err(BranchError::Character)),
        ("a\\b", Err(BranchError::Character)),
        ("@", Err(BranchError::Word)),
        ("HEAD", Err(BranchError::Word)),
        ("a@{1}", Err(BranchError::Word)),
        ("a..b", Err(BranchError::Word)),
        ("-x", Err(BranchError::Component)),
        ("/a", Err(BranchError::Component)),
        ("a//b", Err(BranchError::Component)),
        ("a/", Err(BranchError::Component)),
        ("a/.b", Err(BranchError::Component)),
        ("a.lock/b", Err(BranchError::Component)),
        ("a.", Err(BranchError::Component)),
    ] {
        assert_eq!(name.parse::<BranchName>().map(|_| ()), takes, "{name:?}");
    }
}

#[test]
fn git_takes_every_branch_that_is_taken_here() {
    if !is_git_here("git_takes_every_branch_that_is_taken_here") {
        return;
    }
    let config = Config { cases: 200, failure_persistence: None, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let words = prop::sample::select(vec![
        "a", "B", "/", ".", "@", "{", "-", "lock", ".lock", "~", " ", "é", "HEAD", "..", "*", "\\", "[",
        "refs", "\u{1}",
    ]);
    let names = prop::collection::vec(words, 1..5).prop_map(|words| words.concat());
    runner
        .run(&names, |name| {
            // Git takes `@` for the branch that is checked out.
            let (here, there) = (name.parse::<BranchName>().is_ok(), name != "@" && git_takes(&name));
            prop_assert_eq!(here, there, "{:?}", name);
            Ok(())
        })
        .unwrap();
}
