//! Tells what the guard says of the files that changed between successive releases, with tests unprotected.
//!
//! `histories FOLDER`, where FOLDER holds a folder for each package and in it one for each version.
#![expect(clippy::print_stdout, reason = "what is told is for people")]
#![expect(clippy::disallowed_methods, reason = "the releases lie in files")]

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::{Path, PathBuf};

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

fn main() -> Result<(), Box<dyn Error>> {
    let root: PathBuf = std::env::args_os().nth(1).ok_or("usage: histories FOLDER")?.into();
    let tests: Result<Vec<PathPattern>, _> = TESTS.iter().map(|text| PathPattern::new(text)).collect();
    let guard =
        Guard { tests: PathSet(tests?), scope: PathSet(vec![PathPattern::new("**")?]), ..Guard::default() };
    let (mut files, mut weakened, mut kinds) = (0_usize, 0_usize, BTreeMap::<&str, usize>::new());
    for package in folders(&root)? {
        let mut versions = folders(&package)?;
        versions.sort_by_key(|version| order(version));
        for pair in versions.windows(2) {
            let [older, newer] = pair else { continue };
            let (before, after) = (tree(older)?, tree(newer)?);
            let paths: BTreeSet<&RepoPath> = before.keys().chain(after.keys()).collect();
            for path in paths {
                let (was, is) = (before.get(path), after.get(path));
                if was == is {
                    continue;
                }
                files += 1;
                let change =
                    FileChange { path, before: was.map(Vec::as_slice), after: is.map(Vec::as_slice) };
                let mut is_told = false;
                for fact in ambit_oracle::facts(&[change], &guard) {
                    *kinds.entry(fact.kind().as_str()).or_default() += 1;
                    is_told |= fact.weakening().is_some()
                        || ["assertion-count-fell", "skip-marker-added"].contains(&fact.kind().as_str());
                    let kind = fact.kind();
                    println!("{}\t{}\t{}\t{fact}", shown(older, &root), shown(newer, &root), kind.as_str());
                }
                weakened += usize::from(is_told);
            }
        }
    }
    println!("{files} files changed, {weakened} of them told as a weakening");
    for (kind, count) in kinds {
        println!("{count:6} {kind}");
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

fn tree(root: &Path) -> Result<BTreeMap<RepoPath, Vec<u8>>, Box<dyn Error>> {
    let mut found = BTreeMap::new();
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
