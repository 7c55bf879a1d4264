//! What a machine lacks for containers of an ordinary user, told from the step of the keeper that failed.

use std::fs;
use std::io;
use std::path::Path;

use ambit_ports::sandbox::{MissingFeature, SandboxError};
use rustix::io::Errno;

use crate::missing::missing;

/// Where Ubuntu's kernels forbid capabilities in the user namespaces of ordinary programs.
const APPARMOR_SWITCH: &str = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";
/// Where Debian's kernels once forbade the namespaces themselves.
const DEBIAN_SWITCH: &str = "/proc/sys/kernel/unprivileged_userns_clone";
const APPARMOR_MEND: &str = "install an AppArmor profile that allows `userns` for this program, or set \
    kernel.apparmor_restrict_unprivileged_userns=0";

/// The kinds of namespace: the name of their switch, their name, and what does not hold without them.
const KINDS: [(&str, &str, &str); 7] = [
    ("user", "user namespaces", "an ordinary user can make no container without them"),
    ("mnt", "mount namespaces", "a container cannot be given a root of its own"),
    ("pid", "PID namespaces", "processes of a container could outlive it"),
    ("net", "network namespaces", "commands could reach the network of the host"),
    ("ipc", "IPC namespaces", "commands could reach shared memory and queues of the host"),
    ("uts", "UTS namespaces", "commands could read and set the name of the host"),
    ("cgroup", "control group namespaces", "commands could read where on the host they are"),
];

/// The error of a keeper that said `failed STEP ERRNO`, or anything else that was not expected of it.
pub(crate) fn error_of(line: &str) -> SandboxError {
    let words: Vec<&str> = line.split(' ').collect();
    let ["failed", step, errno] = words[..] else {
        let source = io::Error::new(io::ErrorKind::InvalidData, line.to_owned());
        return SandboxError::ControlFailed { control: "the keeper of the container".into(), source };
    };
    let errno = errno.parse().unwrap_or(0);
    match feature_of(step, errno) {
        Some(feature) => SandboxError::Unavailable(vec![feature]),
        None => SandboxError::ControlFailed {
            control: format!("the keeper of the container ({step})"),
            source: io::Error::from_raw_os_error(errno),
        },
    }
}

fn feature_of(step: &str, errno: i32) -> Option<MissingFeature> {
    let is = |errnos: &[Errno]| errnos.iter().any(|refusal| refusal.raw_os_error() == errno);
    let is_refusal = is(&[Errno::PERM, Errno::ACCESS, Errno::NOSYS, Errno::INVAL, Errno::USERS]);
    match step {
        "namespaces" if is_refusal || is(&[Errno::NOSPC]) => {
            Some(forbidden().unwrap_or_else(user_namespaces))
        }
        "namespaces" if is(&[Errno::NOENT]) => Some(missing(
            "a /proc of this process namespace",
            "no process can be found in it, and no user be mapped",
            "mount it anew where the namespace was made (unshare --mount-proc)",
        )),
        // The namespace was made, but grants nothing: the sign of AppArmor's restriction.
        "mounts" | "proc" | "root" | "workspace"
            if is(&[Errno::PERM, Errno::ACCESS]) && switch(APPARMOR_SWITCH) == Some(1) =>
        {
            Some(missing(
                "capabilities in user namespaces",
                "no mount can be made for a container",
                APPARMOR_MEND,
            ))
        }
        "proc" if is_refusal => Some(missing(
            "a fresh /proc",
            "commands would see the processes of the host",
            "run outside of a container, or in one whose /proc is not masked (Docker: --security-opt \
             systempaths=unconfined)",
        )),
        "workspace" if is_refusal => Some(missing(
            "an overlay in a user namespace, with extended attributes on tmpfs",
            "no command could be given a workspace of its own",
            "use Linux 6.6 or newer, and keep the state directory on a file system that can be the lower layer of an \
             overlay",
        )),
        "mounts" | "root" if is_refusal => Some(missing(
            "mounts in a mount namespace of its own",
            "no root of its own can be built for a container",
            "let mount and mount_setattr through (in a container: its seccomp profile), and keep the state directory on a \
             file system that can be the lower layer of an overlay",
        )),
        _ => None,
    }
}

fn switch(path: impl AsRef<Path>) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// The first kind that the kernel lacks or a switch forbids.
fn forbidden() -> Option<MissingFeature> {
    KINDS.into_iter().find_map(|(kind, name, consequence)| {
        if fs::symlink_metadata(Path::new("/proc/self/ns").join(kind)).is_err() {
            return Some(missing(name, consequence, "use a kernel that has them"));
        }
        let name_of_switch = format!("max_{kind}_namespaces");
        let is_forbidden = switch(Path::new("/proc/sys/user").join(&name_of_switch)) == Some(0);
        let mend = format!("set user.{name_of_switch} to at least 1000");
        is_forbidden.then(|| missing(name, consequence, &mend))
    })
}

fn user_namespaces() -> MissingFeature {
    let mend = if switch(DEBIAN_SWITCH) == Some(0) {
        "set kernel.unprivileged_userns_clone=1"
    } else if switch(APPARMOR_SWITCH) == Some(1) {
        APPARMOR_MEND
    } else {
        "allow unprivileged user namespaces (in a container: a seccomp profile that lets unshare make them)"
    };
    let [(_, name, consequence), ..] = KINDS;
    missing(name, consequence, mend)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_is_refused_names_what_is_missing() {
        for (line, feature) in [
            ("failed proc 1", "a fresh /proc"),
            ("failed workspace 22", "an overlay in a user namespace, with extended attributes on tmpfs"),
            ("failed namespaces 2", "a /proc of this process namespace"),
        ] {
            let SandboxError::Unavailable(missing) = error_of(line) else { panic!("{line}") };
            assert_eq!(missing[0].feature, feature);
            assert!(!missing[0].mend.is_empty());
        }
        for line in ["failed workspace 28", "failed processes 11", "nonsense", "failed"] {
            assert!(matches!(error_of(line), SandboxError::ControlFailed { .. }), "{line}");
        }
    }
}
