//! Cases that lie outside of the project and are read in place, and what stands in a directory.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use ambit_ids::Digest;

use crate::rig::Answered;

/// The directory or file of cases with this name; `None` where it is absent, which `AMBIT_REQUIRE_CASES=1` makes a failure.
pub(crate) fn cases(name: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap();
    let cases = std::env::var_os("AMBIT_CASES").map_or_else(|| root.join("../shared/cases"), PathBuf::from);
    let found = cases.join(name);
    if found.exists() {
        return Some(found);
    }
    assert_ne!(std::env::var("AMBIT_REQUIRE_CASES").as_deref(), Ok("1"), "{} is absent", found.display());
    println!("skipped: CASES_ABSENT {name}");
    None
}

/// The binary in a directory, without a home and without anything of the user's.
pub(crate) fn bare(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ambit"));
    command.env_clear().env("AMBIT_HOME", "/nonexistent/home").current_dir(dir);
    command.stdin(std::process::Stdio::null());
    command
}

pub(crate) fn ambit(dir: &Path, words: &[&str]) -> Answered {
    Answered::of(bare(dir).args(words).output().unwrap())
}

/// What stands at each path below a directory: its kind with its mode, and its content or target.
pub(crate) type Seen = BTreeMap<PathBuf, (u32, Vec<u8>)>;

/// Every file and link below a directory.
pub(crate) fn seen(dir: &Path) -> Seen {
    let mut seen = Seen::new();
    walk(dir, &mut |path, metadata| {
        let name = path.strip_prefix(dir).unwrap().to_owned();
        if metadata.is_symlink() {
            seen.insert(name, (0o120_000, fs::read_link(path).unwrap().as_os_str().as_bytes().to_vec()));
        } else if metadata.is_file() {
            seen.insert(name, (metadata.mode(), fs::read(path).unwrap()));
        }
    });
    seen
}

/// Everything below a directory in a form in which any touch shows: kind, mode, owner, times and content. The times of
/// access are the file system's affair.
pub(crate) fn untouched(dir: &Path) -> BTreeMap<PathBuf, String> {
    let mut all = BTreeMap::new();
    walk(dir, &mut |path, metadata| {
        let content = match (metadata.is_file(), metadata.is_symlink()) {
            (true, _) => fs::read(path).map(|bytes| Digest::of(&bytes).to_hex()).unwrap_or_default(),
            (_, true) => format!("{:?}", fs::read_link(path).unwrap()),
            _ => String::new(),
        };
        let times = (metadata.mtime(), metadata.mtime_nsec(), metadata.ctime(), metadata.ctime_nsec());
        let told = format!("{:o} {} {} {times:?} {content}", metadata.mode(), metadata.uid(), metadata.ino());
        all.insert(path.to_owned(), told);
    });
    all
}

fn walk(path: &Path, each: &mut dyn FnMut(&Path, &fs::Metadata)) {
    let metadata = fs::symlink_metadata(path).unwrap();
    each(path, &metadata);
    if metadata.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            walk(&entry.unwrap().path(), each);
        }
    }
}

/// Copies a directory, which may be absent and then is empty.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    let Ok(entries) = fs::read_dir(from) else { return };
    for entry in entries {
        let (path, target) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        let metadata = fs::symlink_metadata(&path).unwrap();
        if metadata.is_dir() {
            copy(&path, &target);
        } else if metadata.is_symlink() {
            symlink(fs::read_link(&path).unwrap(), target).unwrap();
        } else {
            let mode = if metadata.mode() & 0o100 != 0 { 0o755 } else { 0o644 };
            fs::copy(&path, &target).unwrap();
            fs::set_permissions(&target, fs::Permissions::from_mode(mode)).unwrap();
        }
    }
}

/// Makes a link, with the directories above it.
pub(crate) fn link(dir: &Path, name: &str, target: &str) {
    let path = dir.join(OsStr::from_bytes(name.as_bytes()));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    symlink(target, path).unwrap();
}
