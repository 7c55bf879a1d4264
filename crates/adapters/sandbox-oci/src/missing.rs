//! What a machine or a runtime lacks, in words.

use ambit_ports::sandbox::{Enforcer, LimitEnforcement, MissingFeature};

use crate::runtime::{Kind, RuntimeName};

pub(crate) fn missing(feature: &str, consequence: &str, mend: &str) -> MissingFeature {
    MissingFeature { feature: feature.into(), consequence: consequence.into(), mend: mend.into() }
}

/// There is no such runtime.
pub(crate) fn runtime(name: &RuntimeName) -> MissingFeature {
    missing(
        &format!("the runtime {name}"),
        "there is nothing to make containers with",
        &format!("install {name} in one of the system's directories for programs, or name another backend"),
    )
}

/// The runtime does not tell its version.
pub(crate) fn answer(name: &RuntimeName) -> MissingFeature {
    missing(
        &format!("an answer of the runtime {name} to `--version`"),
        "a runtime that says nothing for 10 seconds makes no container, either",
        &format!("see what `{name} --version` waits for, or name another backend"),
    )
}

/// There is no control group for everything that must be bounded.
pub(crate) fn groups() -> MissingFeature {
    missing(
        "control groups for memory, processes and processor time",
        "neither a limit nor the end of a container could be proven",
        "run where this process may make control groups (in a container: with /sys/fs/cgroup writable)",
    )
}

/// The program of the first process is not written for this processor family.
pub(crate) fn processor_family() -> MissingFeature {
    missing(
        "an x86-64 processor",
        "the first process of a container is written for this family only",
        "use another backend on this machine",
    )
}

/// What is enforced under a runtime, given what control groups there are.
pub(crate) const fn enforced(kind: Kind, groups: LimitEnforcement) -> LimitEnforcement {
    match kind {
        Kind::Crun | Kind::Runc => groups,
        Kind::Runsc => LimitEnforcement { processes: Enforcer::RlimitPerProcess, ..groups },
    }
}

/// What the containers of an ordinary user lack.
fn without_root(kind: Kind) -> Vec<MissingFeature> {
    const MEND: &str = "run as root; `linux` bounds more of it for an ordinary user, and all under a control group that is \
        delegated";
    let mut lacks = vec![
        missing("a control group for memory", MEMORY_WITHOUT_A_GROUP, MEND),
        missing(
            "a control group for processes",
            "processes are limited for the container's user, and a refused one is not told",
            MEND,
        ),
        missing(
            "a control group for processor time",
            "no share of a processor is enforced. Processor time of all processes is added up every 20 ms, without what a \
             process spent whose parent ignores its end",
            MEND,
        ),
    ];
    if kind.user_inside() == 0 {
        lacks.push(missing(
            "a user of the command that is not numbered 0",
            "the runtime needs the one number that an ordinary user can have for root: the command is root by number, of \
             a user namespace or a kernel in which there is nobody else, and without any capability",
            "use `oci:crun` or `linux`, or run as root",
        ));
    }
    lacks
}

/// What the keeper does about memory by itself, and what that leaves.
const MEMORY_WITHOUT_A_GROUP: &str = "the kernel bounds the memory of single processes only, and a process that is refused \
    more is not told apart from another failure. What all processes of a container hold is added up every 20 ms, and a \
    command that holds more than its limit is ended; for that long it can hold more. Not counted are pages of /dev/zero that \
    are mapped shared while no process has them in reach, the files below /tmp and in the workspace, which the disk limit \
    bounds, and the buffers of the 1,024 sockets and pipes that a process may have. memfd_create, vmsplice, shared mappings \
    without a file, and shared memory, queues and semaphores of System V are absent";

/// What a runtime lacks by its nature, for an ordinary user or for root.
pub(crate) fn of(kind: Kind, ordinary: bool) -> Vec<MissingFeature> {
    let mut lacks = if ordinary {
        without_root(kind)
    } else {
        vec![missing(
            "a user namespace",
            "the command is a user of its own without any capability, but of the machine's own user namespace",
            "use the backend `linux`",
        )]
    };
    match kind {
        Kind::Runsc => lacks.push(missing(
            "a count of the command's processes",
            "the kernel of the machine sees threads of the runtime's own kernel and not the command's processes: the \
             runtime bounds these by itself and does not tell a refused one, what runs out of memory ends the whole \
             sandbox, and no peak of memory is told",
            "use `oci:crun`, `oci:runc` or `linux` where these must be told exactly",
        )),
        Kind::Crun | Kind::Runc => lacks.push(missing(
            "Landlock",
            "the mounts are the only wall around files; there is no second one behind them",
            "use the backend `linux`",
        )),
    }
    if kind == Kind::Runsc {
        lacks.push(missing(
            "a first process that a command cannot end",
            "the kernel of the runtime lets a command kill it; then nobody tells how the command ended, which never counts \
             as a success",
            "use `oci:crun`, `oci:runc` or `linux`",
        ));
    }
    lacks
}
