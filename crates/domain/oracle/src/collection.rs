//! Whether a runner that collects a file by its path still does after the file has moved.

use std::collections::{BTreeMap, BTreeSet};

use ambit_ids::{Excerpt, RepoPath};
use ambit_policy::{Fact, FactKind, Side, Weakening};

use crate::change::{FileChange, Guard, text};
use crate::javascript;
use crate::source::Language;

/// Directories that pytest does not look into, beside hidden ones and eggs.
const NOT_RECURSED: [&str; 8] =
    ["_darcs", "build", "CVS", "dist", "node_modules", "venv", "{arch}", "__pycache__"];
/// Systems and processors by whose name at its end a file of Go is built for them alone.
const SYSTEMS: &str = "aix android darwin dragonfly freebsd hurd illumos ios js nacl netbsd openbsd plan9 solaris wasip1 \
    windows zos 386 arm armbe arm64be loong64 mips mipsle mips64 mips64le ppc ppc64 ppc64le riscv riscv64 s390 s390x sparc \
    sparc64 wasm";
/// The most pairs of a file that is gone and a new one that are compared line by line.
const PAIRS: usize = 2_000;

/// What the files of a patch say about their collection.
pub(crate) struct Collection<'a> {
    changes: &'a [FileChange<'a>],
    /// The text before of each file that was there.
    before: BTreeMap<&'a RepoPath, &'a str>,
    /// Modules of Rust that a file of the patch declares.
    modules: BTreeSet<&'a str>,
}

impl<'a> Collection<'a> {
    pub(crate) fn of(changes: &'a [FileChange<'a>]) -> Self {
        let there = changes.iter().filter(|change| change.before.is_some());
        let before = there.map(|change| (change.path, text(change.before).unwrap_or(""))).collect();
        let rust = changes.iter().filter(|change| Language::of(change.path) == Some(Language::Rust));
        let modules = rust.flat_map(|change| modules(text(change.after).unwrap_or(""))).collect();
        Self { changes, before, modules }
    }

    /// Whether a test that moves from the one file to the other is no longer collected.
    pub(crate) fn loses(&self, from: &RepoPath, to: &RepoPath) -> bool {
        let (Some(language), Some(text)) = (Language::of(from), self.before.get(from)) else { return false };
        let (one, other) = (Place::of(from), Place::of(to));
        match language {
            Language::Python => {
                let by_unittest = text.contains("unittest") && one.is_for_unittest();
                one.is_for_pytest() && !other.is_for_pytest() || by_unittest && !other.is_for_unittest()
            }
            Language::JavaScript { .. } => one.is_for_javascript() && other.is_lost_to_javascript(&one, text),
            Language::Rust => {
                let was_there = self.before.contains_key(to);
                !was_there && !other.is_target_of_cargo() && !other.is_module_of(&self.modules)
            }
            Language::Go => one.is_for_go() && !other.is_for_go(),
            Language::Java => one.is_for_surefire() && !other.is_for_surefire(),
        }
    }

    /// The files of tests whose trees tell no tests, as far as most of their lines stand where nobody collects them.
    pub(crate) fn moved(&self, guard: &Guard) -> Vec<Fact> {
        let is_for_files = |path: &RepoPath| match Language::of(path) {
            Some(Language::JavaScript { .. }) => {
                guard.tests.contains(path) || javascript::is_named_as_test(path)
            }
            Some(Language::Java) => !path.file_name().ends_with(b".java") && guard.tests.contains(path),
            _ => false,
        };
        let gone = self.changes.iter().filter(|change| change.after.is_none() && is_for_files(change.path));
        let mut facts = Vec::new();
        let mut pairs = 0;
        for from in gone {
            let lines = lines(from.before);
            for to in self.changes.iter().filter(|to| to.before.is_none() && self.loses(from.path, to.path)) {
                pairs += 1;
                if pairs > PAIRS {
                    let why = format!("{} went with more files than are held against each other", from.path);
                    facts.push(Fact::Unclassified { why });
                    return facts;
                }
                let there = self::lines(to.after);
                if 2 * lines.intersection(&there).count() >= lines.len().max(1) {
                    facts.extend(told(from.path, to.path));
                }
            }
        }
        facts
    }
}

fn told(from: &RepoPath, to: &RepoPath) -> Option<Fact> {
    let (was, is) = (from.to_string(), to.to_string());
    let place = Weakening {
        path: to.clone(),
        line: 1,
        side: Side::After,
        was: Excerpt::of(&was),
        is: Excerpt::of(&is),
    };
    place.told_as(FactKind::TestUncollected)
}

fn lines(side: Option<&[u8]>) -> BTreeSet<&str> {
    let lines = text(side).unwrap_or("").lines().map(str::trim);
    lines.filter(|line| !line.is_empty()).collect()
}

/// The names behind `mod` in a file of Rust.
fn modules(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let (_, name) = line.split_once("mod ")?;
        Some(name.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, ';' | '{')))
    })
}

/// Where a file lies.
struct Place {
    folders: Vec<String>,
    name: String,
}

impl Place {
    fn of(path: &RepoPath) -> Self {
        let mut folders: Vec<String> =
            path.components().map(|part| String::from_utf8_lossy(part).into_owned()).collect();
        let name = folders.pop().unwrap_or_default();
        Self { folders, name }
    }

    /// The name without what stands behind its last dot.
    fn stem(&self) -> &str {
        self.name.rsplit_once('.').map_or(self.name.as_str(), |(stem, _)| stem)
    }

    fn is_in(&self, names: &[&str]) -> bool {
        self.folders.iter().any(|folder| names.contains(&folder.as_str()))
    }

    fn is_for_pytest(&self) -> bool {
        let is_skipped = |folder: &String| {
            folder.starts_with('.') || folder.ends_with(".egg") || NOT_RECURSED.contains(&folder.as_str())
        };
        let is_named = self.name.starts_with("test_") || self.stem().ends_with("_test");
        is_named && self.name.ends_with(".py") && !self.folders.iter().any(is_skipped)
    }

    fn is_for_unittest(&self) -> bool {
        let is_package = |folder: &String| {
            !folder.starts_with(|c: char| c.is_ascii_digit())
                && folder.chars().all(|c| c.is_alphanumeric() || c == '_')
        };
        self.name.starts_with("test") && self.name.ends_with(".py") && self.folders.iter().all(is_package)
    }

    /// Whether its name says that it is a test.
    fn is_spec(&self) -> bool {
        let mut parts = self.name.rsplit('.').skip(1);
        parts.next().is_some_and(|part| matches!(part, "test" | "spec" | "cy"))
    }

    fn is_for_javascript(&self) -> bool {
        let stem = self.stem();
        let by_node = stem == "test"
            || stem.starts_with("test-")
            || stem.ends_with("-test")
            || stem.ends_with("_test")
            || stem.ends_with("-spec");
        let is_skipped = |folder: &String| {
            folder.starts_with('.') || matches!(folder.as_str(), "node_modules" | "dist" | "coverage")
        };
        let by_folder = self.is_in(&["__tests__", "test", "tests", "spec", "specs", "e2e", "cypress"]);
        !self.folders.iter().any(is_skipped) && (self.is_spec() || by_folder || by_node)
    }

    /// Whether a file of tests that lay in the place `from` is collected here no more.
    fn is_lost_to_javascript(&self, from: &Self, text: &str) -> bool {
        let by_name = |place: &Self| place.is_spec() || place.is_in(&["__tests__"]);
        let by_folder = ["node:test", "mocha", "chai", "tape", "\"tap\"", "'tap'", "ava"];
        let is_by_folder = by_folder.iter().any(|runner| text.contains(runner));
        !self.is_for_javascript() || (by_name(from) && !by_name(self) && !is_by_folder)
    }

    /// Whether cargo builds it without being told.
    fn is_target_of_cargo(&self) -> bool {
        let folders: Vec<&str> = self.folders.iter().map(String::as_str).rev().take(2).collect();
        let targets = ["tests", "examples", "benches", "bin"];
        match folders[..] {
            [last, ..] if targets.contains(&last) => true,
            [_, above] if targets.contains(&above) => self.name == "main.rs",
            _ => matches!(self.name.as_str(), "lib.rs" | "main.rs" | "build.rs"),
        }
    }

    fn is_module_of(&self, declared: &BTreeSet<&str>) -> bool {
        let name = if self.name == "mod.rs" { self.folders.last().map(String::as_str) } else { None };
        declared.contains(name.unwrap_or_else(|| self.stem()))
    }

    fn is_for_go(&self) -> bool {
        let is_skipped = |name: &str| name.starts_with(['_', '.']) || matches!(name, "testdata" | "vendor");
        let Some(stem) = self.name.strip_suffix("_test.go") else { return false };
        // The first part is never read as a system.
        let mut parts = stem.split('_').skip(1).collect::<Vec<_>>().into_iter().rev().take(2);
        let is_bound = parts.any(|part| SYSTEMS.split_whitespace().any(|system| system == part));
        !is_skipped(&self.name) && !self.folders.iter().any(|folder| is_skipped(folder)) && !is_bound
    }

    fn is_for_surefire(&self) -> bool {
        let stem = self.stem();
        let is_named = stem.starts_with("Test")
            || ["Test", "Tests", "TestCase", "IT", "ITCase", "Spec"].iter().any(|end| stem.ends_with(end))
            || stem.starts_with("IT");
        let is_skipped = |folder: &String| folder.starts_with('.');
        let in_tests = self.folders.iter().any(|folder| folder.to_ascii_lowercase().contains("test"));
        is_named && in_tests && !self.folders.iter().any(is_skipped)
    }
}
