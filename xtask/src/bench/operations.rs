//! What is measured.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitStatus};

use super::arm::{self, Closure, Process, Start};
use crate::failure::Failure;

/// Something a user waits for.
pub(super) struct Operation {
    pub(super) name: &'static str,
    pub(super) says: &'static str,
    pub(super) rounds: usize,
    /// How often an arm performs it in one turn.
    pub(super) performances: usize,
    pub(super) arms: &'static [ArmPlan],
}

/// One way of doing it.
pub(super) struct ArmPlan {
    pub(super) name: &'static str,
    pub(super) role: Role,
    pub(super) start: fn() -> Result<Start, Failure>,
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

pub(super) const OPERATIONS: &[Operation] = &[Operation {
    name: "spawn",
    says: "start /bin/true and wait for it",
    rounds: 30,
    performances: 5,
    arms: &[
        ArmPlan {
            name: "vfork-exec",
            role: Role::Limit,
            start: || Ok(Start::Ready(Box::new(spawn_directly()))),
        },
        ArmPlan { name: "shell", role: Role::Peer, start: || answered_by_child("spawn-shell") },
    ],
}];

/// Performs an arm as a child of the harness.
pub(super) fn answer(name: &str) -> Result<(), Failure> {
    match name {
        "spawn-shell" => arm::answer(Start::Ready(Box::new(spawn_through_a_shell()))),
        other => Err(Failure::new(format!("there is no arm {other:?}"))),
    }
}

/// This program once more, as the child that answers for an arm.
fn answered_by_child(name: &str) -> Result<Start, Failure> {
    let program =
        std::env::current_exe().map_err(|cause| Failure::caused("this program has no path", cause))?;
    Process::start(name, Command::new(program).args(["bench", "--answer", name]))
}

/// The standard library spawns by `vfork` and `exec` where nothing must run between the two.
fn spawn_directly() -> Closure<impl FnMut() -> Result<(), Failure>> {
    Closure::new(|| succeed(Command::new("/bin/true").status()), faults_of_children)
}

fn spawn_through_a_shell() -> Closure<impl FnMut() -> Result<(), Failure>> {
    Closure::new(
        || succeed(Command::new("/bin/sh").args(["-c", "/bin/true; exit $?"]).status()),
        faults_of_children,
    )
}

fn succeed(status: std::io::Result<ExitStatus>) -> Result<(), Failure> {
    let status = status.map_err(|cause| Failure::caused("/bin/true cannot be started", cause))?;
    if status.success() { Ok(()) } else { Err(Failure::new(format!("/bin/true ended with {status}"))) }
}

/// Page faults of the children that were waited for.
fn faults_of_children() -> Result<BTreeMap<String, u64>, Failure> {
    let path = Path::new("/proc/self/stat");
    let text = fs::read_to_string(path).map_err(Failure::at("read", path))?;
    // The name of the program may hold anything; the fields after it begin with the state, the third of all.
    let fields = text.rsplit_once(") ").map_or("", |(_, fields)| fields);
    let minor: u64 = fields
        .split(' ')
        .nth(8)
        .and_then(|field| field.parse().ok())
        .ok_or_else(|| Failure::new("/proc/self/stat has no eleventh field"))?;
    Ok(BTreeMap::from([("minorFaults".to_owned(), minor)]))
}

#[cfg(test)]
mod tests {
    use super::super::arm::Arm;
    use super::*;

    #[test]
    fn the_ways_of_spawning_take_time_and_fault() {
        for sample in [spawn_directly().operate().unwrap(), spawn_through_a_shell().operate().unwrap()] {
            assert!(sample.wall_ns > 0);
            assert!(sample.counts["minorFaults"] > 0);
        }
    }

    #[test]
    fn names_are_told_apart() {
        let mut names: Vec<&str> = OPERATIONS.iter().map(|operation| operation.name).collect();
        names.dedup();
        assert_eq!(names.len(), OPERATIONS.len());
        assert!(answer("no-such-arm").is_err());
    }
}
