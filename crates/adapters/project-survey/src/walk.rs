//! How a repository is read: by name in open directories, never through a link and never by waiting.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::path::Path;

use ambit_ids::is_unprintable;
use rustix::fs::{Dir, FileType, Mode, OFlags, fstat, open, openat};
use rustix::io::Errno;

use crate::error::SurveyError;
use crate::limits;
use crate::listing::Listing;
use crate::name;

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Without `NONBLOCK`, opening a pipe would wait for its other end.
const FILE: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

/// Directories that hold what was made or installed, and are not looked into.
const NOT_ENTERED: [&str; 10] = [
    "node_modules",
    "target",
    "venv",
    "env",
    "__pycache__",
    "site-packages",
    "vendor",
    "bower_components",
    "coverage",
    "htmlcov",
];

/// Files that say how a project is built and checked.
const MANIFESTS: [&str; 15] = [
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "tox.ini",
    "pytest.ini",
    "Pipfile",
    "package.json",
    "Cargo.toml",
    "go.mod",
    "Makefile",
    "makefile",
    "GNUmakefile",
    "justfile",
    "Justfile",
    ".justfile",
];

/// Looks at a directory and everything in it, within limits.
pub(crate) fn list(dir: &Path) -> Result<Listing, SurveyError> {
    // A slash at the end would follow a link.
    let top = open(dir.components().as_path(), DIRECTORY, Mode::empty()).map_err(|errno| match errno {
        Errno::NOENT | Errno::NOTDIR | Errno::LOOP => {
            SurveyError::NotADirectory { path: dir.to_owned(), source: errno.into() }
        }
        _ => SurveyError::Unreadable { path: dir.to_owned(), source: errno.into() },
    })?;
    let unreadable = |errno: Errno| SurveyError::Unreadable { path: dir.to_owned(), source: errno.into() };
    let mut walk = Walk { listing: Listing::default(), met: 0, manifests: 0, sources_bytes: 0 };
    walk.directory(&top, "", 0).map_err(unreadable)?;
    walk.listing.node_programs = node_programs(&top);
    Ok(walk.listing)
}

/// The names of what packages of Node bring to be called.
fn node_programs(top: &OwnedFd) -> Option<BTreeSet<String>> {
    let modules = openat(top, "node_modules", DIRECTORY, Mode::empty()).ok()?;
    let Ok(programs) = openat(&modules, ".bin", DIRECTORY, Mode::empty()) else {
        return Some(BTreeSet::new());
    };
    let entries = Dir::read_from(&programs).ok()?.flatten().take(limits::ENTRIES);
    Some(entries.filter_map(|entry| told(entry.file_name()).map(str::to_owned)).collect())
}

struct Walk {
    listing: Listing,
    met: usize,
    manifests: usize,
    sources_bytes: usize,
}

impl Walk {
    fn directory(&mut self, directory: &OwnedFd, above: &str, depth: usize) -> Result<(), Errno> {
        let mut entries: Vec<CString> = Vec::new();
        for entry in Dir::read_from(directory)? {
            let entry = entry?;
            if matches!(entry.file_name().to_bytes(), b"." | b"..") {
                continue;
            }
            self.met += 1;
            if self.met > limits::ENTRIES {
                self.listing.is_partial = true;
                break;
            }
            entries.push(entry.file_name().to_owned());
        }
        entries.sort_unstable();
        // Files first: how a project is built stands at its top, whatever lies deeper.
        let mut inner = Vec::new();
        for entry in &entries {
            let Some(name) = told(entry) else { continue };
            let path = if above.is_empty() { name.to_owned() } else { format!("{above}/{name}") };
            if self.file(directory, entry, &path, depth) == Some(FileType::Directory) {
                self.listing.directories.insert(path.clone());
                inner.push((entry, name, path));
            }
        }
        for (entry, name, path) in inner {
            if name.starts_with('.') || NOT_ENTERED.contains(&name) {
                continue;
            }
            if depth == limits::DEPTH {
                self.listing.is_partial = true;
                continue;
            }
            // What cannot be entered, or is no directory any more, is passed over as if it were empty.
            if let Ok(opened) = openat(directory, entry.as_c_str(), DIRECTORY, Mode::empty()) {
                let _ = self.directory(&opened, &path, depth + 1);
            }
        }
        Ok(())
    }

    /// Takes an entry if it is a file, and says what it is. An entry is opened only if it is to be read.
    fn file(&mut self, parent: &OwnedFd, entry: &CStr, path: &str, depth: usize) -> Option<FileType> {
        let stat = rustix::fs::statat(parent, entry, rustix::fs::AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        if kind != FileType::RegularFile {
            return Some(kind);
        }
        let size = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
        self.listing.files.insert(path.to_owned(), size);
        match wanted(path, depth) {
            Some(Wanted::Manifest(limit)) if self.manifests < limits::MANIFESTS => {
                self.manifests += 1;
                match read(parent, entry, limit).and_then(|bytes| String::from_utf8(bytes).ok()) {
                    Some(text) => drop(self.listing.texts.insert(path.to_owned(), text)),
                    None => drop(self.listing.unread.insert(path.to_owned())),
                }
            }
            Some(Wanted::Source) if self.sources_bytes < limits::SOURCES_BYTES => {
                match read(parent, entry, limits::SOURCE_BYTES) {
                    Some(bytes) => {
                        self.sources_bytes += bytes.len();
                        let text = String::from_utf8_lossy(&bytes).into_owned();
                        self.listing.texts.insert(path.to_owned(), text);
                    }
                    None => drop(self.listing.unread.insert(path.to_owned())),
                }
            }
            Some(Wanted::Manifest(_) | Wanted::Source) => self.listing.is_partial = true,
            None => {}
        }
        Some(kind)
    }
}

enum Wanted {
    Manifest(usize),
    Source,
}

/// What a file is read for, if it is.
fn wanted(path: &str, depth: usize) -> Option<Wanted> {
    let name = name::file_name(path);
    if depth <= 1 && MANIFESTS.contains(&name) {
        return Some(Wanted::Manifest(limits::MANIFEST_BYTES));
    }
    if depth <= 1 && name == "Cargo.lock" {
        return Some(Wanted::Manifest(limits::LOCK_BYTES));
    }
    let is_requirements = name.starts_with("requirements") && name.ends_with(".txt");
    if depth <= 1 && is_requirements {
        return Some(Wanted::Manifest(limits::MANIFEST_BYTES));
    }
    let is_test_of_node = [".js", ".mjs", ".cjs", ".ts", ".mts"].iter().any(|end| name.ends_with(end))
        && ["test", "spec"].iter().any(|word| path.contains(word));
    (name.ends_with(".py") || name.ends_with(".rs") || is_test_of_node).then_some(Wanted::Source)
}

/// The bytes of a file, unless there are more than so many or it is none any more.
fn read(parent: &OwnedFd, entry: &CStr, limit: usize) -> Option<Vec<u8>> {
    let opened = openat(parent, entry, FILE, Mode::empty()).ok()?;
    let stat = fstat(&opened).ok()?;
    let is_small = u64::try_from(stat.st_size).is_ok_and(|size| size <= limit as u64);
    if !FileType::from_raw_mode(stat.st_mode).is_file() || !is_small {
        return None;
    }
    let mut bytes = Vec::new();
    File::from(opened).take(limit as u64 + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() <= limit).then_some(bytes)
}

/// A name that can be told. Others are not proposed for anything.
fn told(entry: &CStr) -> Option<&str> {
    entry.to_str().ok().filter(|name| !name.chars().any(is_unprintable))
}
