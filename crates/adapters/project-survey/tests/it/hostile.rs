//! Repositories that do not want to be looked at.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;

use ambit_project_survey::{limits, survey};
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::repositories::{UNITTEST, named, write, written};

#[test]
fn nothing_behind_a_link_is_read() {
    let outside = written(&[
        ("package.json", r#"{"scripts": {"test": "node --test"}}"#),
        ("tests/test_b.py", UNITTEST),
    ]);
    let dir = written(&[("a.py", "")]);
    symlink(outside.path().join("package.json"), dir.path().join("package.json")).unwrap();
    symlink(outside.path().join("tests"), dir.path().join("tests")).unwrap();
    symlink("..", dir.path().join("loop")).unwrap();
    symlink("self", dir.path().join("self")).unwrap();
    let seen = survey(dir.path()).unwrap();
    assert_eq!(seen.found.len(), 1, "{seen:?}");
    let plan = seen.settle(&[]).unwrap();
    assert!(!plan.has_tests() && !format!("{plan:?}").contains("package.json"), "{plan:?}");
    let through = dir.path().join("linked");
    symlink(named("unittest").path(), &through).unwrap();
    assert_eq!(survey(&through).unwrap_err().code(), "SURVEY_NOT_A_DIRECTORY");
    assert_eq!(survey(&dir.path().join("a.py")).unwrap_err().code(), "SURVEY_NOT_A_DIRECTORY");
}

#[test]
fn what_would_wait_or_fill_the_memory_is_passed_over() {
    let dir = written(&[("a.py", "x = 1\n")]);
    for name in ["pyproject.toml", "Cargo.toml", "Makefile"] {
        mknodat(CWD, dir.path().join(name), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    }
    // As large as one likes, and nothing on the disk.
    fs::File::create(dir.path().join("package.json")).unwrap().set_len(100 << 20).unwrap();
    fs::File::create(dir.path().join("huge.py")).unwrap().set_len(1 << 40).unwrap();
    let seen = survey(dir.path()).unwrap();
    assert!(seen.remarks.iter().any(|remark| remark.starts_with("package.json is too large")), "{seen:?}");
    assert!(seen.found.iter().all(|(_, signs)| !signs.contains(&"Cargo.toml".to_owned())), "{seen:?}");
    assert_eq!(seen.settle(&[]).unwrap().gates[0].id, "python.syntax");
}

#[test]
fn a_deep_tree_and_a_wide_one_end() {
    let dir = written(&[("a.py", "x = 1\n")]);
    let deep = vec!["d"; 200].join("/");
    fs::create_dir_all(dir.path().join(deep)).unwrap();
    let seen = survey(dir.path()).unwrap();
    assert!(seen.remarks.iter().any(|remark| remark.contains("was not seen")), "{seen:?}");
    seen.settle(&[]).unwrap();

    let wide = written(&[("a.py", "x = 1\n")]);
    fs::create_dir(wide.path().join("many")).unwrap();
    for number in 0..limits::ENTRIES {
        fs::hard_link(wide.path().join("a.py"), wide.path().join(format!("many/{number}"))).unwrap();
    }
    let seen = survey(wide.path()).unwrap();
    assert!(seen.remarks.iter().any(|remark| remark.contains("was not seen")), "{seen:?}");
}

#[test]
fn names_that_nobody_would_see_are_in_no_proposal() {
    let dir = written(&[("a.py", "x = 1\n")]);
    for name in
        [&b"\xff\xfe.py"[..], b"esc\x1b[2J.py", "dir\u{202e}ection.py".as_bytes(), b"line\nend.py", b"-rf.py"]
    {
        fs::write(dir.path().join(OsStr::from_bytes(name)), "x = 1\n").unwrap();
    }
    let plan = survey(dir.path()).unwrap().settle(&[]).unwrap();
    let told = format!("{}{:?}", plan.blueprint("ada"), plan.gates);
    assert!(!told.chars().any(|c| c != '\n' && ambit_ids::is_unprintable(c)), "{told}");
    assert_eq!(plan.gates[0].command_line(), "python3 -I -m compileall -q -f a.py", "no option of its own");
    ambit_blueprint::Blueprint::parse("b", plan.blueprint("ada").as_bytes()).unwrap();
}

#[test]
fn what_cannot_be_read_as_what_it_is_named_is_no_reason_to_fail() {
    let nested = "[".repeat(100_000);
    let table = format!("a = {}1{}\n", "[".repeat(50_000), "]".repeat(50_000));
    for (name, text) in [
        ("package.json", nested.as_str()),
        ("package.json", "[1, 2]"),
        ("package.json", r#"{"scripts": [], "dependencies": 7}"#),
        ("package.json", r#"{"scripts": {"test": {"a": 1}}}"#),
        ("pyproject.toml", table.as_str()),
        ("pyproject.toml", "[project]\ndependencies = 3\n"),
        ("Cargo.toml", "dependencies = \"x\"\n[workspace]\n"),
        ("Cargo.toml", "\u{0}\u{1}"),
        ("go.mod", ""),
        ("Makefile", "test"),
    ] {
        let dir = written(&[("a.py", "x = 1\n"), ("a.js", "")]);
        write(dir.path(), name, text);
        let plan = survey(dir.path()).unwrap().settle(&[]).unwrap();
        ambit_blueprint::Blueprint::parse(name, plan.blueprint("ada").as_bytes()).unwrap();
    }
    let dir = written(&[("a.py", "x = 1\n")]);
    fs::write(dir.path().join("pyproject.toml"), b"[project]\nname = \"\xff\"\n").unwrap();
    let seen = survey(dir.path()).unwrap();
    assert!(seen.remarks.iter().any(|remark| remark.starts_with("pyproject.toml")), "{seen:?}");
}
