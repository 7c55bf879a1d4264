//! What this machine is, as far as a measurement depends on it.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::OnceLock;

use ambit_control_groups::Layout;
use ambit_ids::Digest;
use ambit_measurements::Facts;
use ambit_ports::sandbox::{Advisory, MissingFeature, SandboxError};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::process::{PidfdFlags, getpid, pidfd_open};
use rustix::system::uname;

use crate::missing;
use crate::program::PROGRAM;

/// The first kernel that counts the processes of a user apart for every user namespace.
const OLDEST_KERNEL: (u32, u32) = (5, 14);

/// Refuses a machine on which no sandbox can hold what it promises. One on which it can is looked at once.
pub(crate) fn check() -> Result<(), SandboxError> {
    static HOLDS: OnceLock<()> = OnceLock::new();
    if HOLDS.get().is_none() {
        look()?;
        let _ = HOLDS.set(());
    }
    Ok(())
}

fn look() -> Result<(), SandboxError> {
    if PROGRAM.is_empty() {
        return Err(SandboxError::Unavailable(vec![missing::processor_family()]));
    }
    check_proc()?;
    let name = uname();
    let release = name.release().to_string_lossy();
    if version(&release) < Some(OLDEST_KERNEL) {
        return Err(SandboxError::Unavailable(vec![missing::old_kernel(&release)]));
    }
    let refused = system_calls();
    if refused.is_empty() { Ok(()) } else { Err(SandboxError::Unavailable(refused)) }
}

/// Refuses a machine on which no process can be looked at.
pub(crate) fn check_proc() -> Result<(), SandboxError> {
    match fs::symlink_metadata("/proc/self/ns") {
        Ok(_) => Ok(()),
        Err(_) => Err(SandboxError::Unavailable(vec![missing::proc()])),
    }
}

fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// Calls without which nothing can be ended with proof, or opened without following links. They are refused before
/// anything is made, since nobody would miss them until then.
fn system_calls() -> Vec<MissingFeature> {
    let own = pidfd_open(getpid(), PidfdFlags::empty()).map(drop);
    let root = openat2(CWD, "/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::NO_MAGICLINKS);
    let tried = [
        ("pidfd_open", own, "no process could be ended for certain: its number may be another's by then"),
        ("openat2", root.map(drop), "no output could be read without following the links of a command"),
    ];
    let refused = tried.into_iter().filter(|(_, tried, _)| tried.is_err());
    refused.map(|(call, _, consequence)| missing::system_call(call, consequence)).collect()
}

/// What is known of this kernel.
pub(crate) fn advisories() -> Vec<Advisory> {
    let name = uname();
    ambit_advisories::kernel(&name.release().to_string_lossy(), &name.version().to_string_lossy())
}

/// The digest of everything that a measurement depends on. `root` is where the adapter keeps its trees.
pub(crate) fn environment(layout: &Layout, root: &Path) -> Digest {
    let place = fs::metadata(root).map(|it| it.dev()).unwrap_or_default();
    let kind = rustix::fs::statfs(root).map(|it| it.f_type).unwrap_or_default();
    Facts::here()
        .and("adapter", env!("CARGO_PKG_VERSION"))
        .and("guest", &Digest::of(PROGRAM).to_string())
        .and("layout", &format!("{layout:?}"))
        .and("root", &format!("{place} {kind}"))
        .digest()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_read_as_numbers() {
        assert_eq!(version("6.18.44-fc-v657"), Some((6, 18)));
        assert_eq!(version("5.4.0"), Some((5, 4)));
        assert_eq!(version("5"), None);
        assert!(version("nonsense") < Some(OLDEST_KERNEL));
    }
}
