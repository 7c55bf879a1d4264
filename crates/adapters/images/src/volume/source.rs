//! Writes what each source of a volume holds.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::{VolumeCaptureError, unreadable};
use super::new_tree::NewTree;
use super::{VolumeSource, cargo, copy};
use crate::left_out::LeftOut;

/// Writes a source. `store` is the directory of the store. Answers what was left out.
pub(super) fn write(
    source: &VolumeSource,
    store: &Path,
    into: &mut NewTree,
) -> Result<Vec<LeftOut>, VolumeCaptureError> {
    let (directory, unwanted): (PathBuf, fn(&Path) -> Option<&'static str>) = match source {
        VolumeSource::Cargo { lockfile, cargo_home } => {
            return cargo::write(lockfile, cargo_home, into).map(|()| Vec::new());
        }
        VolumeSource::NodeModules(directory) => (real(directory)?, of_node),
        VolumeSource::Python(directory) => (site_packages(&real(directory)?)?, of_python),
        VolumeSource::Directory(directory) => (real(directory)?, |_| None),
    };
    if directory.starts_with(store) || store.starts_with(&directory) {
        return Err(VolumeCaptureError::Overlaps { path: directory });
    }
    copy::tree(&directory, into, unwanted)
}

/// What a person names may be a link; what lies below may lead nowhere else.
fn real(directory: &Path) -> Result<PathBuf, VolumeCaptureError> {
    directory.canonicalize().map_err(unreadable(directory.to_path_buf()))
}

fn of_node(path: &Path) -> Option<&'static str> {
    (path == Path::new(".cache")).then_some("tools keep in it what differs from one time to the next")
}

fn of_python(path: &Path) -> Option<&'static str> {
    (path.file_name()? == "__pycache__").then_some("byte code is only valid beside the times of its sources")
}

/// The one directory of packages of a virtual environment; any other directory is one itself.
fn site_packages(directory: &Path) -> Result<PathBuf, VolumeCaptureError> {
    if !directory.join("pyvenv.cfg").is_file() {
        return Ok(directory.to_path_buf());
    }
    let library = directory.join("lib");
    let listing = fs::read_dir(&library).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let mut found: Vec<PathBuf> = listing
        .map_err(unreadable(library))?
        .into_iter()
        .filter(|child| child.file_name().as_encoded_bytes().starts_with(b"python3"))
        .map(|child| child.path().join("site-packages"))
        .filter(|path| path.is_dir())
        .collect();
    match (found.pop(), found.len()) {
        (Some(one), 0) => match real(&one)? {
            inside if inside.starts_with(directory) => Ok(inside),
            target => Err(VolumeCaptureError::LinkLeaves { path: one, target }),
        },
        (last, others) => Err(VolumeCaptureError::SitePackages {
            path: directory.to_path_buf(),
            found: others + usize::from(last.is_some()),
        }),
    }
}
