//! Cases that lie outside of the project and are read in place.

use std::fs;
use std::path::{Path, PathBuf};

/// The directory of cases with this name; `None` where it is absent, which `AMBIT_REQUIRE_CASES=1` makes a failure.
fn directory(name: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap();
    let cases = std::env::var_os("AMBIT_CASES").map_or_else(|| root.join("../shared/cases"), PathBuf::from);
    let directory = cases.join(name);
    if directory.exists() {
        return Some(directory);
    }
    assert_ne!(std::env::var("AMBIT_REQUIRE_CASES").as_deref(), Ok("1"), "{} is absent", directory.display());
    println!("skipped: CASES_ABSENT {name}");
    None
}

/// A file of the evidence cases.
pub(crate) fn evidence(name: &str) -> Option<String> {
    let file = directory("evidence")?.join(name);
    Some(fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display())))
}
