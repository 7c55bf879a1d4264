//! A home of Cargo with the crates of one lock, from the archives that Cargo fetched to this machine.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ambit_ids::Digest;

use super::copy::read_whole;
use super::error::{VolumeCaptureError, unreadable};
use super::lock::{self, LockedCrate};
use super::new_tree::NewTree;
use super::unpack::unpack;
use crate::limits;

/// Cargo takes a relative directory from the one above its home, so that the volume must be mounted as `cargo`.
const CONFIG: &str = "\
[source.crates-io]
replace-with = \"volume\"

[source.volume]
directory = \"cargo/vendor\"

[net]
offline = true
";

/// Writes the home.
pub(super) fn write(
    lockfile: &Path,
    cargo_home: &Path,
    into: &mut NewTree,
) -> Result<(), VolumeCaptureError> {
    let crates = lock::read(lockfile)?;
    let caches = caches(&cargo_home.join("registry/cache"))?;
    let missing: Vec<String> = crates
        .iter()
        .filter(|locked| archives(&caches, locked).next().is_none())
        .map(|locked| locked.name.clone())
        .collect();
    if !missing.is_empty() {
        return Err(VolumeCaptureError::CratesMissing(missing));
    }
    let made = |error| unreadable(lockfile.to_path_buf())(error);
    into.file(Path::new("config.toml"), false, CONFIG.as_bytes(), made)?;
    into.directory(Path::new("vendor"))?;
    for locked in &crates {
        let archive = archive(&caches, locked)?;
        unpack(locked, &archive, into)?;
    }
    Ok(())
}

/// The directories into which Cargo puts archives, one for each registry.
fn caches(directory: &Path) -> Result<Vec<PathBuf>, VolumeCaptureError> {
    let listing = match fs::read_dir(directory) {
        // Nothing was ever fetched: every crate is missing.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        listing => listing.and_then(|listing| {
            listing.map(|child| child.map(|child| child.path())).collect::<io::Result<Vec<_>>>()
        }),
    };
    let mut caches = listing.map_err(unreadable(directory.to_path_buf()))?;
    caches.sort();
    Ok(caches)
}

fn archives<'a>(caches: &'a [PathBuf], locked: &LockedCrate) -> impl Iterator<Item = PathBuf> + use<'a> {
    let name = format!("{}.crate", locked.name);
    caches.iter().map(move |cache| cache.join(&name)).filter(|path| path.symlink_metadata().is_ok())
}

/// The bytes of the archive that the lock names.
fn archive(caches: &[PathBuf], locked: &LockedCrate) -> Result<Vec<u8>, VolumeCaptureError> {
    let mut altered = None;
    for path in archives(caches, locked) {
        let bytes = read_whole(&path, limits::CRATE_BYTES)?;
        if Digest::of(&bytes).to_hex() == locked.checksum {
            return Ok(bytes);
        }
        altered = Some(path);
    }
    Err(match altered {
        Some(path) => VolumeCaptureError::CrateAltered { path },
        None => VolumeCaptureError::CratesMissing(vec![locked.name.clone()]),
    })
}
