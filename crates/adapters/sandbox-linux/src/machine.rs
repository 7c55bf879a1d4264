//! What this machine is, as far as a measurement depends on it.

use std::fs;

use ambit_ids::Digest;
use ambit_ports::sandbox::{LimitEnforcement, SandboxError};
use rustix::system::uname;

use crate::missing;
use crate::program::PROGRAM;

/// The first kernel that counts the processes of a user apart for every user namespace.
const OLDEST_KERNEL: (u32, u32) = (5, 14);

/// Refuses a machine on which no sandbox can hold what it promises.
pub(crate) fn check() -> Result<(), SandboxError> {
    if PROGRAM.is_empty() {
        return Err(SandboxError::Unavailable(vec![missing::processor_family()]));
    }
    let name = uname();
    let release = name.release().to_string_lossy();
    if version(&release) < Some(OLDEST_KERNEL) {
        return Err(SandboxError::Unavailable(vec![missing::old_kernel(&release)]));
    }
    Ok(())
}

fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// The digest of everything that a measurement depends on.
pub(crate) fn environment(limits: &LimitEnforcement) -> Digest {
    let name = uname();
    let switches = [
        "/proc/sys/user/max_user_namespaces",
        "/proc/sys/kernel/unprivileged_userns_clone",
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
    ];
    let facts = [
        name.release().to_string_lossy().into_owned(),
        name.version().to_string_lossy().into_owned(),
        name.machine().to_string_lossy().into_owned(),
        env!("CARGO_PKG_VERSION").to_owned(),
        Digest::of(PROGRAM).to_string(),
        rustix::process::geteuid().as_raw().to_string(),
        format!("{limits:?}"),
        switches.map(|path| fs::read_to_string(path).unwrap_or_default()).concat(),
    ];
    Digest::of(facts.join("\0").as_bytes())
}

/// Whether the process that a control group's name starts with is there.
pub(crate) fn is_process_alive(group: &str) -> bool {
    let pid =
        group.split('-').next().and_then(|pid| pid.parse().ok()).and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
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
