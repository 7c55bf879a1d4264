//! What is measured, in which ways, and what is aimed at.

use std::process::Command;

use super::{oracle, peers, policy, sandbox, source};
use crate::failure::Failure;

pub(super) use super::ground::Ground;

/// Something a user waits for.
pub(super) struct Operation {
    pub(super) name: &'static str,
    pub(super) says: &'static str,
    pub(super) rounds: usize,
    /// How often an arm performs it in one turn.
    pub(super) performances: usize,
    /// Whether what it asks of the kernel is counted; with very many calls, counting them takes minutes.
    pub(super) traced: bool,
    /// Whether its arms keep a program apart, which probes see before they are timed.
    pub(super) isolates: bool,
    /// What is brought about before each performance, outside the time.
    pub(super) before: fn(&Ground) -> Result<(), Failure>,
    pub(super) arms: &'static [ArmPlan],
    pub(super) goals: &'static [Goal],
}

/// One way of doing it: a program that speaks the protocol of [`super::arm`].
pub(super) struct ArmPlan {
    pub(super) name: &'static str,
    pub(super) role: Role,
    /// What this way does not give that ours does; empty where nothing is missing.
    pub(super) lacks: &'static str,
    pub(super) program: fn(&Ground) -> Result<Command, Failure>,
}

/// What an arm stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The least that the machine allows.
    Limit,
    /// This project.
    Ours,
    /// What one would take instead.
    Peer,
}

impl Role {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Limit => "limit",
            Self::Ours => "ours",
            Self::Peer => "peer",
        }
    }
}

/// What the ratio of two arms is to be.
pub(super) struct Goal {
    pub(super) over: &'static str,
    pub(super) under: &'static str,
    pub(super) bound: Bound,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

pub(super) const fn at_most(over: &'static str, under: &'static str, ratio: f64) -> Goal {
    Goal { over, under, bound: Bound::AtMost(ratio) }
}

pub(super) const fn at_least(over: &'static str, under: &'static str, ratio: f64) -> Goal {
    Goal { over, under, bound: Bound::AtLeast(ratio) }
}

pub(super) const BARE: ArmPlan = ArmPlan {
    name: "exec",
    role: Role::Limit,
    lacks: "everything but the program: it only starts it and waits",
    program: |ground| ground.own_in_image("bare"),
};

pub(super) const BWRAP: ArmPlan = ArmPlan {
    name: "bwrap",
    role: Role::Peer,
    lacks: "limits on memory, processes and processor time; a system-call filter; a workspace with files in it",
    program: |ground| ground.own_in_image("bwrap"),
};

const UNSHARE: ArmPlan = ArmPlan {
    name: "unshare-chroot",
    role: Role::Peer,
    lacks: "limits; a system-call filter; a read-only root; a workspace; `/proc`",
    program: |ground| ground.own_in_image("unshare-chroot"),
};

const fn fresh(program: fn(&Ground) -> Result<Command, Failure>) -> [ArmPlan; 4] {
    [BARE, ArmPlan { name: "ambit", role: Role::Ours, lacks: "", program }, BWRAP, UNSHARE]
}

static FRESH_WAITING: [ArmPlan; 4] = fresh(|ground| ground.product(&["fresh", "waiting"]));
static FRESH: [ArmPlan; 4] = fresh(|ground| ground.product(&["fresh", "none"]));

const fn exec(program: fn(&Ground) -> Result<Command, Failure>) -> [ArmPlan; 4] {
    [
        BARE,
        ArmPlan { name: "ambit", role: Role::Ours, lacks: "", program },
        ArmPlan {
            name: "nsenter",
            role: Role::Peer,
            lacks: "limits; a system-call filter; a pristine workspace for every command; an end to what the command leaves running",
            program: |ground| ground.own_in_image("nsenter"),
        },
        ArmPlan { name: "bwrap-anew", ..BWRAP },
    ]
}

static EXEC: [ArmPlan; 4] = exec(|ground| ground.product(&["exec", "5"]));
static EXEC_AGAIN: [ArmPlan; 4] = exec(|ground| ground.product(&["exec", "0"]));

static SPAWN: [ArmPlan; 2] = [
    ArmPlan { name: "vfork-exec", role: Role::Limit, lacks: "", program: |ground| ground.own("spawn") },
    ArmPlan { name: "shell", role: Role::Peer, lacks: "", program: |ground| ground.own("spawn-shell") },
];

static STEP: [ArmPlan; 3] = [
    ArmPlan {
        name: "write-append",
        role: Role::Limit,
        lacks: "everything but durability: it writes the file, syncs it, and appends one record, synced",
        program: |ground| ground.own("write-append"),
    },
    ArmPlan { name: "ambit", role: Role::Ours, lacks: "", program: |ground| ground.product(&["step"]) },
    ArmPlan {
        name: "git-commit",
        role: Role::Peer,
        lacks: "a policy, an oracle guard, a signature, a budget",
        program: |ground| ground.own("git-commit"),
    },
];

const APPEND: &str = "everything but durability: no check, no index, no transaction";
const RAW: &str = "a fence, an expected position, a signed head, claims";

static COMMIT: [ArmPlan; 3] = [
    ArmPlan { name: "append", role: Role::Limit, lacks: APPEND, program: |ground| ground.own("append") },
    ArmPlan {
        name: "ambit",
        role: Role::Ours,
        lacks: "",
        program: |ground| ground.product(&["commit", "1"]),
    },
    ArmPlan { name: "raw-sqlite", role: Role::Peer, lacks: RAW, program: |_| Ok(peers::raw_sqlite(1)) },
];

static COMMIT_64: [ArmPlan; 3] = [
    ArmPlan { name: "append", role: Role::Limit, lacks: APPEND, program: |ground| ground.own("append-64") },
    ArmPlan {
        name: "ambit",
        role: Role::Ours,
        lacks: "",
        program: |ground| ground.product(&["commit", "64"]),
    },
    ArmPlan { name: "raw-sqlite", role: Role::Peer, lacks: RAW, program: |_| Ok(peers::raw_sqlite(64)) },
];

pub(super) const NOTHING: fn(&Ground) -> Result<(), Failure> = |_| Ok(());

/// All that is measured.
pub(super) fn operations() -> impl Iterator<Item = &'static Operation> {
    OPERATIONS
        .iter()
        .chain(sandbox::OPERATIONS)
        .chain(source::OPERATIONS)
        .chain(policy::OPERATIONS)
        .chain(oracle::OPERATIONS)
}

pub(super) static OPERATIONS: &[Operation] = &[
    Operation {
        name: "spawn",
        says: "start /bin/true and wait for it",
        rounds: 30,
        performances: 5,
        traced: true,
        isolates: false,
        before: NOTHING,
        arms: &SPAWN,
        goals: &[],
    },
    Operation {
        name: "fresh-waiting",
        says: "a fresh sandbox to the first output, where a guest waits for a run; the image was read before",
        rounds: 30,
        performances: 1,
        traced: true,
        isolates: false,
        before: NOTHING,
        arms: &FRESH_WAITING,
        goals: &[at_most("ambit", "exec", 1.15), at_least("bwrap", "ambit", 4.0)],
    },
    Operation {
        name: "fresh-warm",
        says: "a fresh sandbox to the first output, made from nothing; the image was read before",
        rounds: 30,
        performances: 1,
        traced: true,
        isolates: false,
        before: NOTHING,
        arms: &FRESH,
        goals: &[at_most("ambit", "exec", 1.8), at_least("bwrap", "ambit", 2.5)],
    },
    Operation {
        name: "fresh-cold",
        says: "a fresh sandbox to the first output, made from nothing; no file of the image is in memory",
        rounds: 10,
        performances: 1,
        traced: true,
        isolates: false,
        before: Ground::forget_image,
        arms: &FRESH,
        goals: &[],
    },
    Operation {
        name: "exec",
        says: "one more command in a running sandbox, 5 ms after the one before",
        rounds: 30,
        performances: 2,
        traced: true,
        isolates: false,
        before: NOTHING,
        arms: &EXEC,
        goals: &[at_most("ambit", "exec", 1.05)],
    },
    Operation {
        name: "exec-again",
        says: "one more command in a running sandbox, right after the one before",
        rounds: 30,
        performances: 2,
        traced: true,
        isolates: false,
        before: NOTHING,
        arms: &EXEC_AGAIN,
        goals: &[],
    },
    Operation {
        name: "step",
        says: "one governed step without a gate: the agent's answer is read, assessed and decided, its patch applied and kept, and the next turn offered",
        rounds: 15,
        performances: 1,
        traced: true,
        isolates: false,
        before: NOTHING,
        arms: &STEP,
        goals: &[],
    },
    Operation {
        name: "commit",
        says: "one record of 450 bytes made durable",
        rounds: 30,
        performances: 5,
        traced: true,
        isolates: false,
        before: NOTHING,
        arms: &COMMIT,
        goals: &[at_most("ambit", "append", 1.1), at_least("raw-sqlite", "ambit", 2.5)],
    },
    Operation {
        name: "commit-64",
        says: "64 runs make one record of 450 bytes durable at the same time",
        rounds: 15,
        performances: 1,
        traced: true,
        isolates: false,
        before: NOTHING,
        arms: &COMMIT_64,
        goals: &[],
    },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_told_apart() {
        let names: BTreeSet<&str> = operations().map(|operation| operation.name).collect();
        assert_eq!(names.len(), operations().count());
        for operation in operations() {
            let arms: BTreeSet<&str> = operation.arms.iter().map(|arm| arm.name).collect();
            assert_eq!(arms.len(), operation.arms.len(), "{}", operation.name);
        }
    }

    #[test]
    fn a_goal_names_two_arms_of_its_operation() {
        for operation in operations() {
            for goal in operation.goals {
                let is_there = |name| operation.arms.iter().any(|arm| arm.name == name);
                assert!(is_there(goal.over) && is_there(goal.under), "{}", operation.name);
            }
        }
    }
}
