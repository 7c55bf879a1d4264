//! Honest patches of one file each, between releases that `cargo xtask test --install` brings: nothing is told of them but
//! what the table says, and what a weakened one of them is told by is seen.
#![expect(clippy::disallowed_methods, reason = "the releases lie in files")]
#![expect(clippy::print_stdout, reason = "what is skipped is for people")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use ambit_ids::{Digest, RepoPath};
use ambit_oracle::{FileChange, Guard};
use ambit_policy::FactKind;

use crate::set;

const TABLE: &str = include_str!("../histories.tsv");
/// How many patches the table pins, of all languages together.
const PATCHES: usize = 200;

/// A language, the lock that pins its releases, and where they come.
struct Releases {
    language: &'static str,
    lock: &'static str,
    folder: &'static str,
}

const PYTHON: Releases =
    Releases { language: "python", lock: include_str!("../histories/python.txt"), folder: "python" };
const JAVASCRIPT: Releases =
    Releases { language: "javascript", lock: include_str!("../histories/package-lock.json"), folder: "node" };
const RUST: Releases =
    Releases { language: "rust", lock: include_str!("../histories/crates.lock"), folder: "crates" };

/// One row of the table.
struct Row<'t> {
    language: &'t str,
    package: &'t str,
    from: &'t str,
    to: &'t str,
    file: &'t str,
    digest: &'t str,
    kinds: BTreeSet<&'t str>,
}

fn rows() -> Vec<Row<'static>> {
    let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let fields: Vec<&str> = line.split('\t').collect();
            let [language, package, from, to, file, digest, kinds]: [&str; 7] = fields.try_into().unwrap();
            let kinds = kinds.split(',').filter(|kind| *kind != "-").collect();
            Row { language, package, from, to, file, digest, kinds }
        })
        .collect()
}

impl Releases {
    /// What `cargo xtask test --install` puts there, if it is what the lock pins.
    fn installed(&self) -> Option<PathBuf> {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
        let place = target.join("test-packages/histories").join(self.folder);
        if fs::read_to_string(place.join(".installed")).ok().as_deref() != Some(self.lock) {
            println!("skipped: PACKAGES_ABSENT histories of {}", self.language);
            return None;
        }
        Some(match self.folder {
            "node" => place.join("node_modules"),
            "crates" => {
                let registry = place.join("home/registry/src");
                let mut registries = fs::read_dir(registry).unwrap().map(Result::unwrap);
                registries.next().unwrap().path()
            }
            _ => place,
        })
    }
}

/// Both sides of the file of a row, as they were published.
fn sides(place: &Path, row: &Row<'_>) -> (Option<Vec<u8>>, Option<Vec<u8>>) {
    let read = |version: &str| fs::read(place.join(format!("{}-{version}", row.package)).join(row.file)).ok();
    let (before, after) = (read(row.from), read(row.to));
    let bytes = |side: &Option<Vec<u8>>| side.clone().unwrap_or_default();
    let digest = Digest::of_parts(&[&bytes(&before), b"\0", &bytes(&after)]);
    assert_eq!(digest.to_hex(), row.digest, "{} {} is not what was measured", row.package, row.file);
    (before, after)
}

fn told(file: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> BTreeSet<FactKind> {
    let tests = set(&["tests/**", "test/**", "**/tests/**", "**/test/**", "**/test_*.py", "**/*.test.*"]);
    let guard = Guard { tests, scope: set(&["**"]), ..Guard::default() };
    let path: RepoPath = file.parse().unwrap();
    let facts = ambit_oracle::facts(&[FileChange { path: &path, before, after }], &guard);
    facts.iter().map(ambit_policy::Fact::kind).collect()
}

/// A file of the table, what is put in the place of what in it, and what is to be told then.
struct Weakened {
    file: &'static str,
    was: &'static str,
    is: &'static str,
    kind: FactKind,
}

/// Holds every row of a language to the table, and one of its files, weakened, to what is told of weakenings.
fn hold(releases: &Releases, weakened: &Weakened) {
    let rows: Vec<Row<'_>> = rows().into_iter().filter(|row| row.language == releases.language).collect();
    assert!(rows.len() >= 60, "{} has {}", releases.language, rows.len());
    let Some(place) = releases.installed() else { return };
    let mut wrong = Vec::new();
    let mut seen = false;
    for row in rows {
        let (before, after) = sides(&place, &row);
        let kinds = told(row.file, before.as_deref(), after.as_deref());
        let words: BTreeSet<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
        if words != row.kinds {
            wrong.push(format!("{} {} {} {}: {words:?}", row.package, row.from, row.to, row.file));
        }
        if row.file == weakened.file && !seen {
            let text = String::from_utf8(after.unwrap()).unwrap();
            let less = text.replace(weakened.was, weakened.is);
            let kinds = told(row.file, Some(text.as_bytes()), Some(less.as_bytes()));
            assert!(kinds.contains(&weakened.kind), "{}: {kinds:?}", row.file);
            seen = true;
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(seen, "{} is in the table", weakened.file);
}

// proves E-F05 E-F07
#[test]
fn of_honest_releases_of_python_packages_nothing_is_told_but_what_is_true() {
    let file = "toolz/tests/test_functoolz.py";
    let kind = FactKind::AssertionTautological;
    hold(&PYTHON, &Weakened { file, was: "assert ", is: "assert True or ", kind });
}

// proves E-F05 E-F07
#[test]
fn of_honest_releases_of_node_packages_nothing_is_told_but_what_is_true() {
    let kind = FactKind::AssertionRemoved;
    hold(&JAVASCRIPT, &Weakened { file: "test/map.js", was: "expect(map.", is: "void (map.", kind });
}

// proves E-F05 E-F07
#[test]
fn of_honest_releases_of_crates_nothing_is_told_but_what_is_true() {
    let kind = FactKind::AssertionRemoved;
    hold(&RUST, &Weakened { file: "tests/test_std.rs", was: "assert_eq!(", is: "println!(", kind });
}

#[test]
fn the_table_pins_two_hundred_patches_once_each() {
    let files: BTreeSet<_> = rows().iter().map(|row| (row.package, row.from, row.file)).collect();
    assert_eq!(files.len(), PATCHES);
}
