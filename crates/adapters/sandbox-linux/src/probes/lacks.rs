//! What this machine lacks, in words.

use ambit_ports::sandbox::{Enforcer, LimitEnforcement, MissingFeature};

use super::wall;

/// What the guest does about memory by itself, and what that leaves.
const MEMORY_WITHOUT_A_GROUP: &str = "the kernel bounds the memory of single processes only, and a process that is refused more \
    is not told apart from another failure. What all processes of a sandbox hold is added up every 20 ms, and a command \
    that holds more than its limit is ended; for that long it can hold more. What they share without a file is counted up \
    to the limit once more. Not counted are the two volumes, each of the disk limit, and the buffers of sockets and pipes, \
    about 0.2 MiB for each of 1024 descriptors of a process. memfd_create, vmsplice, and queues and semaphores of System V \
    are absent";

fn lack(feature: &str, consequence: &str, mend: &str) -> MissingFeature {
    MissingFeature { feature: feature.into(), consequence: consequence.into(), mend: mend.into() }
}

/// Everything that is missing.
pub(super) fn of(limits: &LimitEnforcement, copied: bool, told: bool) -> Vec<MissingFeature> {
    const DELEGATE: &str = "run as root, or under a control group that is delegated with its controllers (systemd-run --user --scope -p Delegate=yes)";
    let mut lacks = Vec::new();
    let mut unless_grouped = |enforcer, feature, consequence| {
        if enforcer == Enforcer::RlimitPerProcess {
            lacks.push(lack(feature, consequence, DELEGATE));
        }
    };
    unless_grouped(limits.memory, "a control group for memory", MEMORY_WITHOUT_A_GROUP);
    unless_grouped(
        limits.processes,
        "a control group for processes",
        "processes are limited for the sandbox's user, and a refused one is not told",
    );
    unless_grouped(
        limits.cpu,
        "a control group for processor time",
        "no share of a processor is enforced, and processor time is limited for each process only",
    );
    lacks.extend(wall::lack());
    if !told {
        lacks.push(lack(
            "a listener for system calls",
            "what a command tries beyond what it may is refused and not counted",
            "run outside of a container whose own filter has a listener",
        ));
    }
    if copied {
        lacks.push(lack(
            "an overlay in a user namespace, with extended attributes on tmpfs",
            "every command works on a private copy of the tree, which takes as long as copying it",
            "use Linux 6.6 or newer, and keep the state directory on a file system that can be the lower layer of an overlay",
        ));
    }
    lacks
}
