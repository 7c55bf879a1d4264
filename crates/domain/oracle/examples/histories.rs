//! Tells what the guard says of honest work, with tests unprotected: of each file that changed between successive releases,
//! or between a commit and the one before it.
//!
//! `histories FOLDER`, where FOLDER holds a folder for each package and in it one for each version; `histories --whole FOLDER`,
//! where all files of a pair are one patch; `histories --git COUNT DIRECTORY`, where DIRECTORY is that of a repository and the
//! last COUNT commits are read that touch a test.
#![expect(clippy::print_stdout, reason = "what is told is for people")]
#![expect(clippy::disallowed_methods, reason = "the releases lie in files")]

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use ambit_ids::{PathPattern, PathSet, RepoPath};
use ambit_oracle::{FileChange, Guard};

const TESTS: [&str; 8] = [
    "tests/**",
    "test/**",
    "**/tests/**",
    "**/test/**",
    "**/test_*.py",
    "**/*_test.py",
    "**/*.test.*",
    "**/*.spec.*",
];
/// Kinds that weaken and have no place of their own.
const BARE: [&str; 2] = ["assertion-count-fell", "skip-marker-added"];

type Tree = BTreeMap<RepoPath, Vec<u8>>;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut told = Told::new()?;
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--git", count, directory] => commits(Path::new(directory), count.parse()?, &mut told)?,
        ["--whole", folder] => releases(Path::new(folder), true, &mut told)?,
        [folder] => releases(Path::new(folder), false, &mut told)?,
        _ => return Err("usage: histories [--whole | --git COUNT] FOLDER".into()),
    }
    println!("{} files changed, {} of them told as a weakening", told.files, told.weakened);
    for (kind, (facts, files)) in told.kinds {
        println!("{facts:6} facts in {:5} patches {kind}", files.len());
    }
    Ok(())
}

/// What was told so far.
struct Told {
    guard: Guard,
    files: usize,
    weakened: usize,
    /// How many facts of each kind, and in which patches.
    kinds: BTreeMap<&'static str, (usize, BTreeSet<usize>)>,
    patches: usize,
}

impl Told {
    fn new() -> Result<Self, Box<dyn Error>> {
        let tests: Result<Vec<PathPattern>, _> = TESTS.iter().map(|text| PathPattern::new(text)).collect();
        let guard = Guard {
            tests: PathSet(tests?),
            scope: PathSet(vec![PathPattern::new("**")?]),
            ..Guard::default()
        };
        Ok(Self { guard, files: 0, weakened: 0, kinds: BTreeMap::new(), patches: 0 })
    }

    /// One pair of trees, as one patch or as one for each file.
    fn pair(&mut self, name: &str, before: &Tree, after: &Tree, is_whole: bool) {
        let paths: BTreeSet<&RepoPath> = before.keys().chain(after.keys()).collect();
        let change = |path| FileChange {
            path,
            before: before.get(path).map(Vec::as_slice),
            after: after.get(path).map(Vec::as_slice),
        };
        let changes: Vec<FileChange<'_>> =
            paths.into_iter().map(change).filter(|change| change.before != change.after).collect();
        self.files += changes.len();
        let size = if is_whole { changes.len().max(1) } else { 1 };
        for patch in changes.chunks(size) {
            self.patches += 1;
            let mut is_told = false;
            for fact in ambit_oracle::facts(patch, &self.guard) {
                let kind = fact.kind().as_str();
                let (facts, patches) = self.kinds.entry(kind).or_default();
                *facts += 1;
                patches.insert(self.patches);
                is_told |= fact.weakening().is_some() || BARE.contains(&kind);
                println!("{name}\t{kind}\t{fact}");
            }
            self.weakened += usize::from(is_told);
        }
    }
}

fn releases(root: &Path, is_whole: bool, told: &mut Told) -> Result<(), Box<dyn Error>> {
    for package in folders(root)? {
        let mut versions = folders(&package)?;
        versions.sort_by_key(|version| order(version));
        for pair in versions.windows(2) {
            let [older, newer] = pair else { continue };
            let name = format!("{}\t{}", shown(older, root), shown(newer, root));
            told.pair(&name, &tree(older)?, &tree(newer)?, is_whole);
        }
    }
    Ok(())
}

/// The commits with one parent that touch a test, the latest first.
fn commits(directory: &Path, count: usize, told: &mut Told) -> Result<(), Box<dyn Error>> {
    let git = |words: &[&str]| -> Result<Vec<u8>, Box<dyn Error>> {
        Ok(Command::new("git").arg("-C").arg(directory).args(words).output()?.stdout)
    };
    let list = ["log", "--no-merges", "--format=%H", "--", ":(glob)**/test*/**", ":(glob)**/*test*"];
    let listed = String::from_utf8(git(&list)?)?;
    for commit in listed.lines().take(count) {
        let (mut before, mut after) = (Tree::new(), Tree::new());
        let words = ["diff-tree", "-r", "--no-commit-id", "--no-renames", "--root", "-z", commit];
        let raw = git(&words)?;
        let raw = String::from_utf8_lossy(&raw);
        let mut fields = raw.split('\0');
        while let (Some(head), Some(path)) = (fields.next(), fields.next()) {
            let words: Vec<&str> = head.trim_start_matches(':').split(' ').collect();
            let [was_mode, is_mode, was, is, _] = words[..] else { continue };
            let Ok(path) = path.parse::<RepoPath>() else { continue };
            for (mode, blob, side) in [(was_mode, was, &mut before), (is_mode, is, &mut after)] {
                if mode.starts_with("100") {
                    side.insert(path.clone(), git(&["cat-file", "blob", blob])?);
                }
            }
        }
        told.pair(&format!("{commit}^\t{commit}"), &before, &after, false);
    }
    Ok(())
}

fn shown(folder: &Path, root: &Path) -> String {
    folder.strip_prefix(root).unwrap_or(folder).display().to_string()
}

/// The numbers in a version, so that 1.10 comes after 1.9.
fn order(version: &Path) -> Vec<u64> {
    let name = version.file_name().unwrap_or_default().to_string_lossy().into_owned();
    name.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}

fn folders(root: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root)? {
        let path = entry?.path();
        if path.is_dir() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn tree(root: &Path) -> Result<Tree, Box<dyn Error>> {
    let mut found = Tree::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else if let Some(name) = path.strip_prefix(root)?.to_str().and_then(|text| text.parse().ok()) {
                found.insert(name, std::fs::read(&path)?);
            }
        }
    }
    Ok(found)
}
