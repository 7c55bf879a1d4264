//! Directories that a tool made and that say so: what is in them is installed or built again, and is no source.

use std::ffi::CStr;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, FileType, statat};

use crate::open::OpenFile;

/// Where package managers of JavaScript install.
const NODE_MODULES: &CStr = c"node_modules";
/// What makes a directory a virtual environment of Python (PEP 405).
const ENVIRONMENT: &CStr = c"pyvenv.cfg";
/// The mark of a cache, as cargo, pytest and others leave it, and how it must begin (Cache Directory Tagging Specification).
const CACHE_TAG: &CStr = c"CACHEDIR.TAG";
const CACHE_SIGNATURE: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55";

pub(crate) fn is_made(name: &CStr, directory: &OwnedFd) -> bool {
    name == NODE_MODULES || holds_file(directory, ENVIRONMENT) || is_cache(directory)
}

fn holds_file(directory: &OwnedFd, name: &CStr) -> bool {
    let stat = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW);
    stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile)
}

fn is_cache(directory: &OwnedFd) -> bool {
    holds_file(directory, CACHE_TAG)
        && OpenFile::open(directory, CACHE_TAG)
            .and_then(|mut file| file.read(CACHE_SIGNATURE.len()))
            .is_ok_and(|bytes| bytes == CACHE_SIGNATURE)
}
