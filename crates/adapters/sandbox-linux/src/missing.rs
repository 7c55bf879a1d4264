//! What a failed step says about the machine.

use std::fs;
use std::io;

use ambit_ports::sandbox::{MissingFeature, SandboxError};
use ambit_sandbox_guest::Step;
use ambit_sandbox_guest::wire::Failed;
use rustix::io::Errno;

use crate::namespaces;

/// Where Ubuntu's kernels forbid capabilities in the user namespaces of ordinary programs.
const APPARMOR_SWITCH: &str = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";
/// Where Debian's kernels once forbade the namespaces themselves.
const DEBIAN_SWITCH: &str = "/proc/sys/kernel/unprivileged_userns_clone";
const USER_NAMESPACES: &str = "/proc/sys/user/max_user_namespaces";

pub(crate) fn missing(feature: &str, consequence: &str, mend: &str) -> MissingFeature {
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
    if failed.step == Step::UserMap && failed.errno == Errno::NOENT.raw_os_error() {
        return Some(proc());
    }
    if !is_refusal(failed.errno) {
        return None;
    }
    match failed.step {
        Step::Namespaces if failed.errno == Errno::NOSYS.raw_os_error() => {
            Some(system_call("clone3", "no process can be started in namespaces of its own"))
        }
        Step::Namespaces | Step::UserMap => Some(namespaces::forbidden().unwrap_or_else(user_namespaces)),
        Step::CgroupNamespace => Some(namespaces::forbidden().unwrap_or_else(namespaces::of_control_groups)),
        step if is_mounting(step) && failed.errno == Errno::NOSYS.raw_os_error() => Some(missing(
            "the mount API of Linux 5.12",
            "no root of its own can be built for a sandbox",
            "let fsopen, fsconfig, fsmount, open_tree, move_mount and mount_setattr through (in a container: its seccomp profile)",
        )),
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
        step if is_mounting(step) => Some(missing(
            "mounts in a mount namespace of its own",
            "no root of its own can be built for a sandbox",
            "let mount, umount2, pivot_root and the mount API through (in a container: its seccomp profile)",
        )),
        Step::Network => Some(missing(
            "a network namespace of its own",
            "a command would have the network of the host",
            "let unshare, socket and ioctl through (in a container: its seccomp profile)",
        )),
        _ => None,
    }
}

/// Whether a step makes mounts.
const fn is_mounting(step: Step) -> bool {
    matches!(
        step,
        Step::Root
            | Step::Pivot
            | Step::Proc
            | Step::ProcMask
            | Step::Devices
            | Step::Image
            | Step::Share
            | Step::ReadOnly
            | Step::Volumes
    )
}

/// The table of processes, through which everything that a sandbox is made of is named.
pub(crate) fn proc() -> MissingFeature {
    missing(
        "a /proc of this process namespace",
        "no process can be found in it, and no user be mapped",
        "mount it (mount -t proc proc /proc), anew where the namespace was made (unshare --mount-proc)",
    )
}

/// A system call that is not to be had.
pub(crate) fn system_call(name: &str, consequence: &str) -> MissingFeature {
    missing(
        &format!("the system call {name}"),
        consequence,
        &format!("let {name} through (in a container: its seccomp profile), or use a newer kernel"),
    )
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
