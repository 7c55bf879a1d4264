//! Where tests lie, as their names tell.

use std::collections::BTreeSet;

use crate::listing::Listing;
use crate::name;

/// A pattern of test files, and whether the name of a file is one of them.
pub(super) type TestFiles = (&'static str, fn(&str) -> bool);

/// Beyond so many directories of tests one pattern stands for all of the same name.
const MOST_DIRECTORIES: usize = 20;

/// Adds the directories of tests, and patterns for the test files outside of them.
pub(crate) fn collect(
    listing: &Listing,
    directories: &[&str],
    files: &[TestFiles],
    tests: &mut BTreeSet<String>,
) {
    let found = listing.topmost_named(directories);
    match found.len() <= MOST_DIRECTORIES {
        true => tests.extend(found.iter().filter_map(|directory| name::below(directory))),
        false => tests.extend(directories.iter().map(|name| format!("**/{name}/**"))),
    }
    let is_inside = |path: &str| {
        found.iter().any(|above| path.strip_prefix(above).is_some_and(|rest| rest.starts_with('/')))
    };
    for (pattern, is_test) in files {
        let loose = |path: &&String| is_test(name::file_name(path)) && !is_inside(path);
        if listing.files.keys().find(loose).is_some() {
            tests.insert((*pattern).to_owned());
        }
    }
}
