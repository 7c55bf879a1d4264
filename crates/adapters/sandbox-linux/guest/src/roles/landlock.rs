//! A second wall around files, behind the mounts: even where a mount could be written, only the volumes are.
//!
//! It is as high as the kernel's version of Landlock lets it be, and what it holds is measured by probes. Ports are left to
//! the network namespace: rules for them know only numbers, and a server of a gate on loopback may have any.
//!
//! A command is put behind it ahead of time, by the process that becomes it, and most of it needs no volumes: 11 system calls
//! to raise it, and 4 to close it once the volumes are there.

use core::ffi::CStr;

use rustix::fd::{AsFd as _, BorrowedFd, OwnedFd};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

use crate::roles::raw::{self, Handled};

const EXECUTE: u64 = 1 << 0;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
const MAKE_CHAR: u64 = 1 << 6;
const MAKE_BLOCK: u64 = 1 << 11;
const TRUNCATE: u64 = 1 << 14;
const IOCTL_DEV: u64 = 1 << 15;

const READ: u64 = EXECUTE | READ_FILE | READ_DIR;

/// Sockets with a name that is no file, and signals.
const SCOPES: u64 = 0b11;

/// The first version under which a file can be renamed from one directory to another at all.
const LEAST_VERSION: u32 = 2;

/// All that a version can handle.
const fn handled(version: u32) -> Handled {
    let file_accesses = match version {
        ..=2 => 14,
        3 | 4 => 15,
        _ => 16,
    };
    Handled { files: (1 << file_accesses) - 1, ports: 0, scoped: if version >= 6 { SCOPES } else { 0 } }
}

/// The wall while it is open.
pub(crate) struct Wall {
    ruleset: OwnedFd,
    volume: u64,
}

impl Wall {
    /// Raises it, as far as it depends on no volume; `None` where the kernel has none.
    pub(crate) fn raise() -> Result<Option<Self>, Errno> {
        let Some(version) = raw::landlock_version().filter(|version| *version >= LEAST_VERSION) else {
            return Ok(None);
        };
        let handled = handled(version);
        let ruleset = raw::landlock_ruleset(&handled, version)?;
        let allow = |path: &CStr, allowed: u64| -> Result<(), Errno> {
            let below = openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
            raw::landlock_allow(ruleset.as_fd(), allowed & handled.files, below.as_fd())
        };
        allow(c"/", READ)?;
        allow(c"/dev", READ_FILE | READ_DIR | WRITE_FILE | TRUNCATE)?;
        allow(c"/proc", WRITE_FILE)?;
        let volume = handled.files & !(MAKE_CHAR | MAKE_BLOCK | IOCTL_DEV);
        Ok(Some(Self { ruleset, volume }))
    }

    /// Puts this process behind it for good, with these volumes, which can be written.
    pub(crate) fn close(self, volumes: [BorrowedFd<'_>; 2]) -> Result<(), Errno> {
        for volume in volumes {
            raw::landlock_allow(self.ruleset.as_fd(), self.volume, volume)?;
        }
        raw::landlock_restrict(self.ruleset.as_fd())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_asked_for_what_it_knows() {
        let bits = |version| handled(version).files.count_ones();
        assert_eq!([2, 3, 4, 5, 6, 9].map(bits), [14, 15, 15, 16, 16, 16]);
        assert_eq!([2, 5, 6, 7].map(|version| handled(version).scoped), [0, 0, SCOPES, SCOPES]);
        assert_eq!(handled(9).ports, 0);
    }
}
