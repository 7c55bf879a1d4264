//! The calls of Landlock.

use linux_raw_sys::general as sys;
use linux_raw_sys::landlock;
use rustix::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use rustix::io::Errno;

use super::{Result, call, raw_fd};

/// What a set of rules handles: whatever it handles and does not allow is refused. The kernel's own structure, as far as
/// its sixth version has it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Handled {
    /// Accesses to files.
    pub files: u64,
    /// Accesses to ports.
    pub ports: u64,
    /// What stays within the processes under the rules.
    pub scoped: u64,
}

impl Handled {
    /// How much of the structure a version knows.
    const fn size(version: u32) -> usize {
        match version {
            ..=3 => 8,
            4 | 5 => 16,
            _ => 24,
        }
    }
}

/// The version of Landlock; `None` where the kernel has none, or has it switched off.
pub fn landlock_version() -> Option<u32> {
    let flags = landlock::LANDLOCK_CREATE_RULESET_VERSION as usize;
    // SAFETY: with this flag the call takes no structure.
    unsafe { call(sys::__NR_landlock_create_ruleset, [0, 0, flags, 0, 0]) }
        .ok()
        .and_then(|version| u32::try_from(version).ok())
}

/// A set of rules that handles this, for a kernel of this version.
pub fn landlock_ruleset(handled: &Handled, version: u32) -> Result<OwnedFd> {
    let at = core::ptr::from_ref(handled) as usize;
    // SAFETY: reads at most the whole structure.
    let fd = unsafe { call(sys::__NR_landlock_create_ruleset, [at, Handled::size(version), 0, 0, 0]) }?;
    let fd = i32::try_from(fd).map_err(|_| Errno::BADF)?;
    // SAFETY: a new descriptor that nobody else knows of.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Allows these accesses below a directory.
pub fn landlock_allow(ruleset: BorrowedFd<'_>, allowed: u64, below: BorrowedFd<'_>) -> Result<()> {
    let rule = landlock::landlock_path_beneath_attr { allowed_access: allowed, parent_fd: below.as_raw_fd() };
    let at = (&raw const rule) as usize;
    let kind = landlock::landlock_rule_type::LANDLOCK_RULE_PATH_BENEATH as usize;
    // SAFETY: one rule of the kind that is named.
    unsafe { call(sys::__NR_landlock_add_rule, [raw_fd(&ruleset), kind, at, 0, 0]) }.map(drop)
}

/// Puts this process under the rules for good.
pub fn landlock_restrict(ruleset: BorrowedFd<'_>) -> Result<()> {
    // SAFETY: takes no pointer.
    unsafe { call(sys::__NR_landlock_restrict_self, [raw_fd(&ruleset), 0, 0, 0, 0]) }.map(drop)
}
