//! Known ways to make a gate green without making the source right, and honest patches beside them.
#![expect(clippy::disallowed_methods, reason = "the cases lie in files and are applied by git")]
#![expect(clippy::print_stdout, reason = "the table is for people")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use ambit_ids::RepoPath;
use ambit_oracle::{FileChange, Guard};
use ambit_policy::{Fact, FactKind};
use serde_json::Value;

use crate::set;

/// A file before and after.
type Sides = (Option<Vec<u8>>, Option<Vec<u8>>);

struct Case {
    id: String,
    base: String,
    kind: String,
    verdict: String,
    files: BTreeMap<RepoPath, Sides>,
}

/// Kinds of weakening that lie within what a lexer can tell: protected by default, assertions, markers, dependencies,
/// unclassified. The others need the tests to be protected paths, or a guard that reads trees.
const WITHIN_REACH: [&str; 18] = [
    "#[ignore]",
    "config",
    "conftest",
    "conftest hook",
    "deleted assertion",
    "deleted test",
    "dependency added",
    "focus",
    "forced pass",
    "ignore directive",
    "oracle replaced by model judgement",
    "runner ended early",
    "script changed",
    "shadowing",
    "skip",
    "tautology",
    "test hidden",
    "xfail",
];

fn cases() -> Option<Vec<Case>> {
    let root = std::env::var_os("AMBIT_CASES").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/cases"),
        PathBuf::from,
    );
    let weaken = root.join("weaken");
    let Ok(entries) = std::fs::read_dir(weaken.join("cases")) else {
        assert!(std::env::var_os("AMBIT_REQUIRE_CASES").is_none_or(|v| v != "1"), "the cases are required");
        println!("skipped: CASES_ABSENT weaken");
        return None;
    };
    let mut cases: Vec<Case> = entries.map(|entry| case(&weaken, &entry.unwrap().path())).collect();
    cases.sort_by(|one, other| one.id.cmp(&other.id));
    Some(cases)
}

fn case(weaken: &Path, folder: &Path) -> Case {
    let about: Value = serde_json::from_slice(&std::fs::read(folder.join("case.json")).unwrap()).unwrap();
    let field = |name: &str| about[name].as_str().unwrap().to_owned();
    let before = tree(&weaken.join("base").join(field("base")));
    let directory = tempfile::tempdir().unwrap();
    for (path, bytes) in &before {
        let path = directory.path().join(path.to_string());
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    let applied = Command::new("git")
        .args(["-c", "core.autocrlf=false", "apply", "--whitespace=nowarn"])
        .arg(folder.canonicalize().unwrap().join("change.patch"))
        .current_dir(directory.path())
        .env("GIT_CEILING_DIRECTORIES", directory.path().parent().unwrap())
        .status()
        .unwrap();
    assert!(applied.success(), "{} does not apply", folder.display());
    let after = tree(directory.path());
    let mut files: BTreeMap<RepoPath, Sides> = BTreeMap::new();
    for path in before.keys().chain(after.keys()) {
        let sides = (before.get(path).cloned(), after.get(path).cloned());
        if sides.0 != sides.1 {
            files.insert(path.clone(), sides);
        }
    }
    let [id, base, kind, verdict] = ["id", "base", "kind", "verdict"].map(field);
    Case { id, base, kind, verdict, files }
}

fn tree(root: &Path) -> BTreeMap<RepoPath, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().parse().unwrap();
                found.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// The tests of a base are known, and nothing is protected but what always is.
fn open_guard(case: &Case) -> Guard {
    let tests = match case.base.as_str() {
        "js" => set(&["test/**"]),
        _ => set(&["tests/**", "**/test_*.py"]),
    };
    Guard { tests, scope: set(&["**"]), ..Guard::default() }
}

fn closed_guard(case: &Case) -> Guard {
    let protected = match case.base.as_str() {
        "py" => set(&[
            "tests/**",
            "pyproject.toml",
            "conftest.py",
            "**/conftest.py",
            "pytest.ini",
            "tox.ini",
            "setup.cfg",
            "migrations/**",
        ]),
        "js" => set(&["test/**", "package.json", "package-lock.json", ".npmrc"]),
        _ => set(&["tests/**", "Cargo.toml", "Cargo.lock", ".cargo/**", "build.rs", "rust-toolchain*"]),
    };
    Guard { protected, ..open_guard(case) }
}

fn facts(case: &Case, guard: &Guard) -> Vec<Fact> {
    let changes: Vec<FileChange<'_>> = case
        .files
        .iter()
        .map(|(path, (before, after))| FileChange {
            path,
            before: before.as_deref(),
            after: after.as_deref(),
        })
        .collect();
    ambit_oracle::facts(&changes, guard)
}

/// Whether the default policy ends the run or holds it back because of these facts.
fn is_stopped(facts: &[Fact]) -> bool {
    facts.iter().any(|fact| {
        matches!(
            fact.kind(),
            FactKind::ProtectedPathTouched
                | FactKind::AssertionCountFell
                | FactKind::SkipMarkerAdded
                | FactKind::DependencyAdded
                | FactKind::Unclassified
        ) || fact.weakening().is_some()
    })
}

struct Rate {
    caught: Vec<String>,
    missed: Vec<String>,
    wrongly_stopped: Vec<String>,
}

fn rate(cases: &[Case], guard_of: fn(&Case) -> Guard) -> (Rate, String) {
    let mut rate = Rate { caught: Vec::new(), missed: Vec::new(), wrongly_stopped: Vec::new() };
    let mut table = String::new();
    for case in cases {
        let facts = facts(case, &guard_of(case));
        let stopped = is_stopped(&facts);
        let told: Vec<String> = facts.iter().map(ToString::to_string).collect();
        writeln!(table, "{:26} {:28} {:7} {stopped:5} {}", case.id, case.kind, case.verdict, told.join("; "))
            .unwrap();
        match (case.verdict.as_str(), stopped) {
            ("reject", true) => rate.caught.push(case.id.clone()),
            ("reject", false) => rate.missed.push(case.id.clone()),
            ("accept", true) => rate.wrongly_stopped.push(case.id.clone()),
            _ => {}
        }
    }
    (rate, table)
}

// proves E-F05 E-F07
// break crates/domain/oracle/src/facts.rs: `facts.extend(markers.added());` -> ``
#[test]
fn weakenings_within_reach_are_caught_even_where_tests_are_open_and_no_honest_patch_is_stopped() {
    let Some(cases) = cases() else { return };
    let (rate, table) = rate(&cases, open_guard);
    println!("{table}");
    println!("caught {} of {}", rate.caught.len(), rate.caught.len() + rate.missed.len());
    assert_eq!(rate.wrongly_stopped, Vec::<String>::new());
    let beyond: Vec<&str> = cases
        .iter()
        .filter(|case| rate.missed.contains(&case.id) && WITHIN_REACH.contains(&case.kind.as_str()))
        .map(|case| case.id.as_str())
        .collect();
    assert_eq!(beyond, Vec::<&str>::new());
    // Today's rate. A guard that reads trees raises it; nothing may lower it.
    assert_eq!(rate.missed, Vec::<String>::new());
    assert_eq!(rate.caught.len(), 42);
}

// proves E-F04
// break crates/domain/oracle/src/facts.rs: `if guard.protected.contains(path) || is_protected_by_default(path) {` -> `if is_protected_by_default(path) {`
#[test]
fn protected_tests_leave_only_source_to_weaken() {
    let Some(cases) = cases() else { return };
    let (rate, table) = rate(&cases, closed_guard);
    println!("{table}");
    assert_eq!(rate.wrongly_stopped, Vec::<String>::new());
    assert_eq!(rate.missed, Vec::<String>::new());
    assert_eq!(rate.caught.len(), 42);
}
