//! Which kind of namespace this machine forbids.

use std::fs;
use std::path::Path;

use ambit_ports::sandbox::MissingFeature;

use crate::missing::missing;

/// A kind: its file below `/proc/self/ns`, its name, and what does not hold without it.
type Kind = (&'static str, &'static str, &'static str);

const KINDS: [Kind; 6] = [
    ("mnt", "mount namespaces", "a sandbox cannot be given a root of its own"),
    ("pid", "PID namespaces", "processes of a sandbox could outlive it"),
    ("net", "network namespaces", "commands could reach the network of the host"),
    ("ipc", "IPC namespaces", "commands could reach shared memory and queues of the host"),
    ("uts", "UTS namespaces", "commands could read and set the name of the host"),
    CONTROL_GROUPS,
];

const CONTROL_GROUPS: Kind =
    ("cgroup", "control group namespaces", "commands could read where on the host they are");

/// The first kind that the kernel lacks or a switch forbids, and that is not the user namespace itself.
pub(crate) fn forbidden() -> Option<MissingFeature> {
    KINDS.into_iter().find_map(|kind| {
        let (file, name, consequence) = kind;
        if fs::symlink_metadata(Path::new("/proc/self/ns").join(file)).is_err() {
            return Some(missing(name, consequence, "use a kernel that has them"));
        }
        let switch = format!("max_{file}_namespaces");
        let most = fs::read_to_string(Path::new("/proc/sys/user").join(&switch)).ok()?;
        let mend = format!("set user.{switch} to at least 1000");
        (most.trim() == "0").then(|| missing(name, consequence, &mend))
    })
}

/// The one kind that is made by another call than the rest.
pub(crate) fn of_control_groups() -> MissingFeature {
    let (_, name, consequence) = CONTROL_GROUPS;
    missing(name, consequence, "let unshare make them (in a container: its seccomp profile)")
}
