//! The operations on sandboxes that a control plane and its customers wait for: `cargo xtask bench sandbox`.

use std::path::PathBuf;
use std::process::Command;

use super::containers::apart;
use super::operations::{ArmPlan, BARE, BWRAP, Ground, NOTHING, Operation, Role, at_least, at_most};
use super::setup;
use crate::failure::Failure;

type Program = fn(&Ground) -> Result<Command, Failure>;

const fn ours(name: &'static str, program: Program) -> ArmPlan {
    ArmPlan { name, role: Role::Ours, lacks: "", program }
}

const fn peer(name: &'static str, lacks: &'static str, program: Program) -> ArmPlan {
    ArmPlan { name, role: Role::Peer, lacks, program }
}

const OCI: &str =
    "a system-call filter; a workspace with files in it; a user of its own; a bound on processor time";

const CRUN: ArmPlan = peer("crun", OCI, |ground| Ok(apart(&with_libraries(ground, "crun")?)));
const RUNC: ArmPlan = peer("runc", OCI, |ground| Ok(apart(&with_libraries(ground, "runc")?)));
const DOCKER: ArmPlan =
    peer("docker", "a workspace with files in it; a user of its own; a bound on processor time", |ground| {
        ground.own_in_image("docker")
    });
const SRT: ArmPlan =
    peer("srt", "limits; an image of its own (it shows the machine's files); a workspace", |ground| {
        with_libraries(ground, "srt")
    });

/// An arm of a program that may have been unpacked together with its libraries.
fn with_libraries(ground: &Ground, arm: &str) -> Result<Command, Failure> {
    let mut command = ground.own_in_image(arm)?;
    command.env("LD_LIBRARY_PATH", setup::library_path(&ground.folder));
    Ok(command)
}

static LEASE: [ArmPlan; 8] = [
    BARE,
    ours("ambit", |ground| ground.product(&["lease", "20000"])),
    ArmPlan {
        role: Role::Peer,
        ..ours("ambit-listed", |ground| ground.product(&["lease", "20000", "listed"]))
    },
    BWRAP,
    CRUN,
    RUNC,
    DOCKER,
    SRT,
];

static COLD: [ArmPlan; 6] =
    [BARE, ours("ambit", |ground| ground.product(&["fresh", "none"])), BWRAP, CRUN, RUNC, DOCKER];

static EXEC: [ArmPlan; 3] = [
    BARE,
    ours("ambit", |ground| ground.product(&["exec", "5"])),
    peer("swe-rex", "a sandbox: it runs commands in a shell of this machine", |ground| {
        let mut command = Command::new("python3");
        let python: PathBuf = setup::peers(&ground.folder).join("python");
        command.env("PYTHONPATH", python).args(["-c", include_str!("swe_rex.py")]);
        Ok(command)
    }),
];

static WORKSPACE: [ArmPlan; 3] = [
    ours("1000-files", |ground| ground.product(&["lease", "1000"])),
    ours("20000-files", |ground| ground.product(&["lease", "20000"])),
    ours("200000-files", |ground| ground.product(&["lease", "200000"])),
];

static CANCEL: [ArmPlan; 2] = [
    ours("quiet", |ground| ground.product(&["cancel", "64"])),
    ours("contended", |ground| ground.product(&["cancel", "64", "contended"])),
];

static PARKED: [ArmPlan; 2] = [BARE, ours("ambit", |ground| ground.product(&["parked", "2000", "100"]))];

static BURST: [ArmPlan; 2] = [BARE, ours("ambit", |ground| ground.product(&["burst", "100"]))];

const fn operation(
    name: &'static str,
    says: &'static str,
    (rounds, performances): (usize, usize),
    arms: &'static [ArmPlan],
    goals: &'static [super::operations::Goal],
) -> Operation {
    Operation {
        name,
        says,
        rounds,
        performances,
        traced: false,
        isolates: false,
        before: NOTHING,
        arms,
        goals,
    }
}

/// All of them; their names begin alike.
pub(super) static OPERATIONS: &[Operation] = &[
    Operation {
        traced: true,
        isolates: true,
        ..operation(
            "sandbox-lease",
            "a fresh sandbox with a private workspace over 20,000 files to the first output, where a slot waits",
            (12, 1),
            &LEASE,
            &[
                at_most("ambit", "exec", 1.15),
                at_least("bwrap", "ambit", 4.0),
                at_least("crun", "ambit", 7.0),
                at_least("docker", "ambit", 200.0),
                at_least("srt", "ambit", 250.0),
            ],
        )
    },
    Operation {
        isolates: true,
        ..operation(
            "sandbox-cold",
            "a fresh sandbox to the first output, everything made after it was asked for",
            (12, 2),
            &COLD,
            &[
                at_most("ambit", "exec", 2.0),
                at_least("bwrap", "ambit", 2.0),
                at_least("crun", "ambit", 3.5),
                at_least("runc", "ambit", 10.0),
                at_least("docker", "ambit", 100.0),
            ],
        )
    },
    Operation {
        isolates: true,
        ..operation(
            "sandbox-exec",
            "one more command in a running sandbox",
            (15, 2),
            &EXEC,
            &[at_most("ambit", "exec", 1.05), at_least("swe-rex", "ambit", 110.0)],
        )
    },
    operation(
        "sandbox-workspace",
        "a fresh sandbox with a private workspace over so many files to the first output",
        (12, 2),
        &WORKSPACE,
        &[at_most("20000-files", "1000-files", 1.05), at_most("200000-files", "1000-files", 1.05)],
    ),
    operation(
        "sandbox-cancel",
        "from the wish to end a command of 64 processes to the proof that none is left",
        (15, 2),
        &CANCEL,
        &[],
    ),
    operation(
        "sandbox-parked",
        "a fresh sandbox to the first output beside 2,000 slots that wait and 100 sandboxes in use",
        (10, 1),
        &PARKED,
        &[],
    ),
    operation("sandbox-burst", "100 leases at once, to the first output of the last", (5, 1), &BURST, &[]),
];
