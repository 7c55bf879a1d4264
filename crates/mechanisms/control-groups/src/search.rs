//! The groups of this program on the whole machine, also where this process can make none.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::layout::Layout;
use crate::mounted::mounted_here;

/// How many groups deep is looked.
const DEPTH: usize = 16;
/// How many groups are looked into, on all hierarchies together.
const GROUPS: usize = 50_000;

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// Every group of this program that was seen: its directory, and its name without the prefix.
    pub groups: BTreeMap<PathBuf, String>,
    /// Why not everything was seen, where it was not.
    pub unseen: Option<&'static str>,
}

impl Layout {
    /// Looks through every hierarchy that this process sees, as deep and as far as a machine in use may go.
    #[must_use]
    pub fn search() -> Search {
        search(mounted_here(), DEPTH, GROUPS)
    }
}

fn search(tops: Vec<PathBuf>, depth: usize, mut left: usize) -> Search {
    let mut search = Search::default();
    let mut waiting: VecDeque<(PathBuf, usize)> = tops.into_iter().map(|top| (top, 0)).collect();
    while let Some((directory, above)) = waiting.pop_front() {
        if left == 0 {
            search.unseen = Some("there are more groups than are looked into");
            break;
        }
        left -= 1;
        match below(&directory) {
            Ok(found) => {
                for (name, path) in found {
                    match Layout::name_of(&name).filter(|name| tells_maker(name)) {
                        Some(name) => drop(search.groups.insert(path, name.to_owned())),
                        None if above < depth => waiting.push_back((path, above + 1)),
                        None => search.unseen = Some("there are groups that lie deeper than is looked"),
                    }
                }
            }
            // One that ended meanwhile is not there.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(_) => search.unseen = Some("there are groups that this user cannot look into"),
        }
    }
    search
}

/// Whether a name begins with the number of a process, as that of every group of this program does. Where nothing else says
/// that a group is one, no other name does.
fn tells_maker(name: &str) -> bool {
    name.split_once('-').is_some_and(|(number, _)| number.parse::<u32>().is_ok())
}

/// The groups in a group, by name.
fn below(directory: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type().is_ok_and(|kind| kind.is_dir())
            && let Ok(name) = entry.file_name().into_string()
        {
            found.push((name, entry.path()));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_found_below_those_of_others_and_the_bounds_are_told() {
        let top = tempfile::tempdir().unwrap();
        let group = |path: &str| {
            let path = top.path().join(path);
            fs::create_dir_all(&path).unwrap();
            path
        };
        let far = group("session-1/app/ambit-7-1");
        let near = group("ambit-8-1");
        group("ambit-8-1/inner/ambit-9-1");
        group("session-2/ambit-other");
        let tops = || vec![top.path().to_path_buf(), top.path().join("absent")];
        let all = BTreeMap::from([(far, "7-1".to_owned()), (near.clone(), "8-1".to_owned())]);
        let whole = search(tops(), 8, 100);
        assert_eq!(whole, Search { groups: all, unseen: None });
        let only = BTreeMap::from([(near, "8-1".to_owned())]);
        for cut in [search(tops(), 1, 100), search(tops(), 8, 2)] {
            assert_eq!(cut.groups, only);
            assert!(cut.unseen.is_some(), "{cut:?}");
        }
    }
}
