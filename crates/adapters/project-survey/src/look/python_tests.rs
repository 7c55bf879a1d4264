//! Which runner the tests of a Python project are written for.

use crate::gate::{Ecosystem, GateKind, ProposedGate};
use crate::limits;
use crate::listing::Listing;
use crate::name;

pub(super) const TEST_DIRECTORIES: [&str; 2] = ["tests", "test"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Runner {
    Pytest,
    Unittest,
}

/// What speaks for a runner. `None` where as much speaks for the one as for the other.
pub(super) struct Verdict {
    pub(super) runner: Option<Runner>,
    pub(super) why: Option<String>,
    /// Whether a runner is named even if no test was found.
    pub(super) is_configured: bool,
}

pub(super) fn runner(listing: &Listing) -> Verdict {
    let tests = || listing.texts.iter().filter(|(path, _)| path.ends_with(".py") && is_test(path));
    if let Some(why) = configures_pytest(listing) {
        return Verdict { runner: Some(Runner::Pytest), why: Some(why), is_configured: true };
    }
    let by = |says: fn(&str) -> bool| tests().find(|(_, text)| says(text)).map(|(path, _)| path.clone());
    if let Some(path) = by(is_for_pytest) {
        let why = Some(format!("{path} is written for pytest"));
        return Verdict { runner: Some(Runner::Pytest), why, is_configured: false };
    }
    let unittest = by(is_for_unittest);
    let names_pytest = listing.texts.iter().find(|(path, text)| {
        (path.ends_with(".txt") || path.ends_with(".toml") || path.ends_with(".cfg"))
            && text.contains("pytest")
    });
    match (unittest, names_pytest) {
        (Some(path), None) => Verdict {
            runner: Some(Runner::Unittest),
            why: Some(format!("{path} imports unittest")),
            is_configured: false,
        },
        (None, Some((path, _))) => Verdict {
            runner: Some(Runner::Pytest),
            why: Some(format!("{path} names pytest")),
            is_configured: false,
        },
        _ => Verdict { runner: None, why: None, is_configured: false },
    }
}

fn is_test(path: &str) -> bool {
    let name = name::file_name(path);
    name.starts_with("test_")
        || name.ends_with("_test.py")
        || path.split('/').rev().skip(1).any(|part| TEST_DIRECTORIES.contains(&part))
}

/// What says that pytest runs the tests, other than the tests themselves.
fn configures_pytest(listing: &Listing) -> Option<String> {
    let holds = |file: &str, mark: &str| listing.text(file).is_some_and(|text| text.contains(mark));
    let told = [
        ("pyproject.toml", "[tool.pytest"),
        ("setup.cfg", "[tool:pytest]"),
        ("tox.ini", "[pytest]"),
        ("pytest.ini", "[pytest]"),
    ];
    if let Some((file, _)) = told.into_iter().find(|(file, mark)| holds(file, mark)) {
        return Some(format!("{file} configures pytest"));
    }
    if let Some(path) = listing.ending("conftest.py").next() {
        return Some(path.to_owned());
    }
    let commands = listing.text("tox.ini").unwrap_or_default();
    let calls_it = commands.lines().map(str::trim).any(|line| {
        let line = line.strip_prefix("commands").map_or(line, |rest| rest.trim_start_matches([' ', '=']));
        line.starts_with("pytest") || line.starts_with("py.test") || line.contains("-m pytest")
    });
    calls_it.then(|| "tox.ini calls pytest".to_owned())
}

fn is_for_pytest(text: &str) -> bool {
    text.lines().any(|line| {
        line.starts_with("import pytest")
            || line.starts_with("from pytest")
            || line.starts_with("def test_")
            || line.starts_with("async def test_")
    })
}

fn is_for_unittest(text: &str) -> bool {
    text.lines().map(str::trim_start).any(|line| {
        line.starts_with("import unittest") || line.starts_with("from unittest") || line.contains("TestCase)")
    })
}

const SUMMARY: &str = "The tests of the project pass.";

pub(super) fn pytest() -> ProposedGate {
    let argv = ["python3", "-m", "pytest", "-q", "-p", "no:cacheprovider"];
    ProposedGate::new(Ecosystem::Python, GateKind::Test, "python.tests", SUMMARY, &argv)
}

/// The most tests that become a gate each because they run by themselves.
const OWN_PROGRAMS: usize = 8;

/// The ways in which unittest finds these tests. A file that calls `unittest.main()` wherever it is imported can only be run
/// as a program.
pub(super) fn unittest(listing: &Listing) -> Vec<ProposedGate> {
    let tests = || listing.ending(".py").filter(|path| is_test(path));
    let runs_itself = |path: &&str| {
        let text = listing.text(path).unwrap_or_default();
        text.lines().any(|line| line.starts_with("unittest.main(") || line.starts_with("main()"))
            && is_for_unittest(text)
            && name::is_argument(path)
    };
    let programs: Vec<&str> = tests().filter(runs_itself).collect();
    if programs.is_empty() || programs.len() > OWN_PROGRAMS {
        return vec![discovered(listing)];
    }
    let mut gates: Vec<ProposedGate> = programs.iter().map(|path| own_program(listing, path)).collect();
    if let [only] = gates.as_mut_slice() {
        only.id = "python.tests".to_owned();
    }
    let others: Vec<&str> = tests()
        .filter(|path| !programs.contains(path) && is_for_unittest(listing.text(path).unwrap_or_default()))
        .collect();
    if !others.is_empty() {
        let mut argv = vec!["python3", "-m", "unittest"];
        argv.extend(others.iter().filter(|path| name::is_argument(path)).take(limits::ARGUMENTS));
        gates.push(ProposedGate::new(
            Ecosystem::Python,
            GateKind::Test,
            "python.other-tests",
            SUMMARY,
            &argv,
        ));
    }
    gates
}

/// A test that is run as a program: as a module where it lies in packages, so that the top is where it imports from.
fn own_program(listing: &Listing, path: &str) -> ProposedGate {
    let stem = name::file_name(path).trim_end_matches(".py");
    let word: String = stem
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .take(30)
        .collect();
    let id = format!("python.{word}");
    let summary = format!("The tests of {path} pass.");
    let above: Vec<&str> = path.split('/').rev().skip(1).collect();
    let in_packages = (0..above.len()).all(|depth| {
        let directory: Vec<&str> = path.split('/').take(above.len() - depth).collect();
        listing.has(&format!("{}/__init__.py", directory.join("/")))
    });
    let module = path.trim_end_matches(".py").replace('/', ".");
    match in_packages {
        true => {
            let argv = ["python3", "-m", &module];
            ProposedGate::new(Ecosystem::Python, GateKind::Test, &id, &summary, &argv)
        }
        false => {
            let argv = ["python3", path];
            ProposedGate::new(Ecosystem::Python, GateKind::Test, &id, &summary, &argv)
                .with("PYTHONPATH", "/workspace")
        }
    }
}

/// Whatever unittest finds by itself.
fn discovered(listing: &Listing) -> ProposedGate {
    let mut argv = vec!["python3", "-m", "unittest", "discover"];
    let is_found = |path: &str| name::file_name(path).starts_with("test") && path.ends_with(".py");
    let place = TEST_DIRECTORIES.into_iter().find(|directory| listing.directories.contains(*directory));
    if let Some(directory) = place {
        argv.extend(["-s", directory]);
        if listing.has(&format!("{directory}/__init__.py")) {
            argv.extend(["-t", "."]);
        }
    }
    let within = |path: &&str| place.is_none_or(|directory| name::top(path).0 == directory);
    let mut tests = listing.ending(".py").filter(|path| is_test(path)).filter(within).peekable();
    if tests.peek().is_some() && !tests.any(is_found) {
        argv.extend(["-p", "*_test.py"]);
    }
    ProposedGate::new(Ecosystem::Python, GateKind::Test, "python.tests", SUMMARY, &argv)
}
