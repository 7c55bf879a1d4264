//! Cases that lie outside of the project and are read in place.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use ambit_ids::RepoPath;
use ambit_revision::FileKind;

use crate::source::Source;

/// The directory of cases with this name; `None` where it is absent, which `AMBIT_REQUIRE_CASES=1` makes a failure.
pub(crate) fn directory(name: &str) -> Option<PathBuf> {
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

pub(crate) type Files = BTreeMap<Vec<u8>, (FileKind, Vec<u8>)>;

/// Every file below a directory, by its path within it. An absent directory is empty.
pub(crate) fn read_files(directory: &Path) -> Files {
    let mut files = Files::new();
    collect(directory, directory, &mut files);
    files
}

fn collect(top: &Path, directory: &Path, files: &mut Files) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.map(Result::unwrap) {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() {
            collect(top, &path, files);
            continue;
        }
        let name = path.strip_prefix(top).unwrap().as_os_str().as_bytes().to_vec();
        let executable = entry.metadata().unwrap().permissions().mode() & 0o100 != 0;
        let content = if kind.is_symlink() {
            (FileKind::Link, fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec())
        } else if executable {
            (FileKind::Executable, fs::read(&path).unwrap())
        } else {
            (FileKind::File, fs::read(&path).unwrap())
        };
        files.insert(name, content);
    }
}

pub(crate) fn source(files: &Files) -> Source {
    Source::new(
        files.iter().map(|(path, (kind, bytes))| (RepoPath::from_bytes(path).unwrap(), *kind, bytes.clone())),
    )
}
