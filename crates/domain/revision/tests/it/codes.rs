//! The codes under which patches are refused, and the page that tells what they mean.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What refuses patches, besides this crate. `PATH_ESCAPE` is of paths in JSON, and no patch has those;
const ELSEWHERE: &[&str] = &["crates/domain/ids/src/path.rs", "crates/control-plane/broker/src/patch.rs"];
const NOT_OF_PATCHES: &[&str] = &["PATH_ESCAPE"];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap().to_owned()
}

fn sources(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

/// Every word of a text between `quote`s that is a code.
fn codes(text: &str, quote: char) -> BTreeSet<String> {
    let is_code = |word: &&str| {
        let (start, rest) = word.split_once('_').unwrap_or_default();
        matches!(start, "PATCH" | "PATH") && rest.bytes().all(|b| b.is_ascii_uppercase() || b == b'_')
    };
    text.split(quote).filter(is_code).map(str::to_owned).collect()
}

#[test]
fn every_code_stands_once_in_the_tables_of_the_page_and_no_other_does() {
    let elsewhere = ELSEWHERE.iter().map(|path| repository().join(path));
    let given: BTreeSet<String> = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"))
        .into_iter()
        .chain(elsewhere)
        .flat_map(|path| {
            let text = fs::read_to_string(path).unwrap();
            codes(text.split("#[cfg(test)]").next().unwrap_or_default(), '"')
        })
        .filter(|code| !NOT_OF_PATCHES.contains(&code.as_str()))
        .collect();
    assert!(given.len() > 60, "{given:?}");
    let page = fs::read_to_string(repository().join("docs/patches.md")).unwrap();
    let (_, refusals) = page.split_once("\n## Refusals\n").unwrap();
    let section = refusals.split("\n## ").next().unwrap_or_default();
    let mut told = BTreeSet::new();
    for row in section.lines().filter(|line| line.starts_with("| `PA")) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        assert_eq!(cells.len(), 3, "{row}");
        assert!(cells.iter().all(|cell| !cell.is_empty()), "{row}");
        assert!(told.insert(cells[0].trim_matches('`').to_owned()), "{row} stands twice");
    }
    assert_eq!(told.difference(&given).collect::<Vec<_>>(), Vec::<&String>::new(), "no code of the program");
    assert_eq!(given.difference(&told).collect::<Vec<_>>(), Vec::<&String>::new(), "not on the page");
    let named = codes(&page, '`');
    assert_eq!(named.difference(&given).collect::<Vec<_>>(), Vec::<&String>::new(), "no code of the program");
}
