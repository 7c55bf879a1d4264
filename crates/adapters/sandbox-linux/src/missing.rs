//! What a failed step says about the machine.

use std::fs;
use std::io;

use ambit_ports::sandbox::{MissingFeature, SandboxError};
use ambit_sandbox_guest::Step;
use ambit_sandbox_guest::wire::Failed;
use rustix::io::Errno;

/// Where Ubuntu's kernels forbid capabilities in the user namespaces of ordinary programs.
const APPARMOR_SWITCH: &str = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";
/// Where Debian's kernels once forbade the namespaces themselves.
const DEBIAN_SWITCH: &str = "/proc/sys/kernel/unprivileged_userns_clone";
const USER_NAMESPACES: &str = "/proc/sys/user/max_user_namespaces";

fn missing(feature: &str, consequence: &str, mend: &str) -> MissingFeature {
    MissingFeature { feature: feature.into(), consequence: consequence.into(), mend: mend.into() }
}

fn switch(path: &str) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

fn is_refusal(errno: i32) -> bool {
    [Errno::PERM, Errno::ACCESS, Errno::NOSPC, Errno::NOSYS, Errno::INVAL, Errno::USERS]
        .iter()
        .any(|refusal| refusal.raw_os_error() == errno)
}

/// The error of a sandbox that could not be made. Where the kernel refused a feature as such, the answer names it and
/// what an operator can do; anything else is the failure of one control.
pub(crate) fn error_of(failed: Failed) -> SandboxError {
    let source = io::Error::from_raw_os_error(failed.errno);
    match feature_of(failed) {
        Some(feature) => SandboxError::Unavailable(vec![feature]),
        None => SandboxError::ControlFailed { control: failed.step.to_string(), source },
    }
}

fn feature_of(failed: Failed) -> Option<MissingFeature> {
    if !is_refusal(failed.errno) {
        return None;
    }
    match failed.step {
        Step::Namespaces | Step::UserMap => Some(user_namespaces()),
        // The namespace was made, but grants nothing: the sign of AppArmor's restriction.
        Step::Identity | Step::Hostname | Step::Network | Step::Root | Step::Pivot
            if switch(APPARMOR_SWITCH) == Some(1) =>
        {
            Some(apparmor())
        }
        Step::Pivot => Some(missing(
            "a root file system that can be left",
            "a sandbox cannot be given a root of its own while the host's is the boot loader's initial one",
            "run from a mounted root file system (switch_root)",
        )),
        Step::Proc => Some(missing(
            "a fresh /proc",
            "commands would see the processes of the host",
            "run outside of a container, or in one whose /proc is not masked (Docker: --security-opt systempaths=unconfined)",
        )),
        Step::Filter => Some(missing(
            "seccomp filters",
            "commands could make every system call",
            "use a kernel with CONFIG_SECCOMP_FILTER",
        )),
        _ => None,
    }
}

fn apparmor() -> MissingFeature {
    missing(
        "capabilities in user namespaces",
        "no mount, network or host name can be made for a sandbox",
        "install an AppArmor profile that allows `userns` for this program, or set kernel.apparmor_restrict_unprivileged_userns=0",
    )
}

fn user_namespaces() -> MissingFeature {
    let mend = if switch(USER_NAMESPACES) == Some(0) {
        "set user.max_user_namespaces to at least 1000"
    } else if switch(DEBIAN_SWITCH) == Some(0) {
        "set kernel.unprivileged_userns_clone=1"
    } else if switch(APPARMOR_SWITCH) == Some(1) {
        "install an AppArmor profile that allows `userns` for this program, or set kernel.apparmor_restrict_unprivileged_userns=0"
    } else {
        "allow unprivileged user namespaces (in a container: a seccomp profile that lets clone make them)"
    };
    missing(
        "user namespaces",
        "there is no sandbox without them, and no command runs without a sandbox",
        mend,
    )
}

/// The kernel is too old for what the sandbox rests on.
pub(crate) fn old_kernel(release: &str) -> MissingFeature {
    missing(
        "Linux 5.14",
        &format!("this kernel is {release}: limits of processes would count the user's other processes too"),
        "use a newer kernel",
    )
}

/// The guest is not written for this processor family.
pub(crate) fn processor_family() -> MissingFeature {
    missing(
        "an x86-64 processor",
        "the program inside the sandbox is written for this family only",
        "use another backend on this machine",
    )
}
