//! The whole set: lanes of sandboxes side by side, a rival among them, and a watcher outside.

use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use ambit_ports::sandbox::Enforcer;

use super::case::{self, Case};
use super::lane::Lane;
use super::outside::{self, Doors};
use super::rival::Rival;
use super::row::Row;
use super::{Plants, own, rows, stops};
use crate::sandbox::Bench;

/// A probe that a backend is known not to hold.
#[derive(Clone, Copy, Debug)]
pub struct Exception {
    /// The probe.
    pub probe: &'static str,
    /// Why the backend cannot hold it.
    pub reason: &'static str,
}

/// What the suite is given.
pub struct Ground<'a> {
    /// The backend, with an image that has a shell and Python.
    pub bench: Bench,
    /// What was planted.
    pub plants: Plants,
    /// Where the backend keeps its files.
    pub state: &'a Path,
    /// Where below it a backend keeps trees, which come from the control plane, beyond their leases. What a command wrote
    /// must not be there, either.
    pub trees: Option<&'a Path>,
    /// What stands in the name of every control group that it makes, and of no other on this machine.
    pub group: &'a str,
    /// Whether the processes of a command are processes of the host as well. Where a kernel of the runtime's own keeps them
    /// to itself, the watcher cannot count them, and only what they do can be seen.
    pub processes_are_seen: bool,
    /// What the backend is known not to hold. One that holds after all is a failure.
    pub exceptions: &'a [Exception],
}

/// How many sandboxes run the cases side by side.
const LANES: usize = 4;

/// What the lanes share.
pub(super) struct Shared<'a> {
    pub(super) bench: &'a Bench,
    pub(super) plants: &'a Plants,
    pub(super) doors: &'a Doors,
    pub(super) rival: &'a Rival,
    pub(super) state: &'a Path,
    pub(super) processes_are_seen: bool,
    queue: Mutex<VecDeque<(Case, Row)>>,
}

impl Shared<'_> {
    pub(super) fn next(&self) -> Option<(Case, Row)> {
        self.queue.lock().unwrap().pop_front()
    }
}

/// What came of the cases.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// Those that held.
    pub(super) held: BTreeSet<String>,
    /// Those that did not, with what was seen.
    pub(super) broken: Vec<(String, String)>,
    /// Those that could not be tried, with what is missing.
    pub(super) skipped: Vec<(String, String)>,
}

impl Outcome {
    fn join(&mut self, other: Self) {
        self.held.extend(other.held);
        self.broken.extend(other.broken);
        self.skipped.extend(other.skipped);
    }
}

/// Runs every case, and a few of the suite's own, and asserts that each holds and that nothing outside was touched.
///
/// # Panics
/// With every case that does not hold; where a line of the file has no row, or a row no line; where an exception holds.
pub async fn every_probe(ground: Ground<'_>) {
    let Ground { bench, plants, state, trees, group, processes_are_seen, exceptions } = ground;
    let mounts = outside::mounts();
    let doors = Doors::open(plants.socket());
    let rival = Rival::start(&bench, &plants, processes_are_seen).await;
    let limits = bench.port.inspect_capabilities().await.unwrap().limits;
    let in_group = |enforcer| enforcer != Enforcer::RlimitPerProcess;
    let counted = in_group(limits.processes);
    let has_groups = counted || in_group(limits.memory) || in_group(limits.cpu);
    assert_eq!(
        !outside::groups(group).is_empty(),
        has_groups,
        "the watcher sees the control groups that are there"
    );
    let shared = Shared {
        bench: &bench,
        plants: &plants,
        doors: &doors,
        rival: &rival,
        state,
        processes_are_seen,
        queue: Mutex::new(queue(&case::read())),
    };
    let mut outcome = Outcome::default();
    let lanes: [Lane<'_>; LANES] = [0, 1, 2, 3].map(|number| Lane::new(number, &shared));
    let [a, b, c, d] = &lanes;
    let found = tokio::join!(
        a.run(),
        b.run(),
        c.run(),
        d.run(),
        stops::are_final(&bench, processes_are_seen, counted)
    );
    [found.0, found.1, found.2, found.3].into_iter().for_each(|lane| outcome.join(lane));
    plants.assert_untouched();
    assert_eq!(doors.knocks(), 0, "a socket of the host was reached");
    rival.end(&bench).await;

    drop(bench);
    assert_eq!(outside::files(state, &["AFTER", "LATE"], None), Vec::<PathBuf>::new());
    let mut told = outside::files(state, &[], Some(&plants.canary));
    told.retain(|file| trees.is_none_or(|trees| !file.starts_with(trees)));
    assert_eq!(told, Vec::<PathBuf>::new(), "a secret is left");
    let left: Vec<String> = outside::mounts().difference(&mounts).cloned().collect();
    assert!(left.is_empty(), "mounts are left: {left:?}");
    assert_eq!(outside::groups(group), Vec::<PathBuf>::new(), "control groups are left");
    report(&outcome, exceptions);
}

/// The cases, each with its row, the slow ones first.
fn queue(cases: &[Case]) -> VecDeque<(Case, Row)> {
    let rows: Vec<&Row> = rows::all().collect();
    let known: BTreeSet<&str> = rows.iter().flat_map(|row| row.ids.iter().copied()).collect();
    let given: BTreeSet<&str> = cases.iter().map(|case| case.id.as_str()).collect();
    let without: Vec<&&str> = given.difference(&known).collect();
    assert!(without.is_empty(), "no row says what must be seen of {without:?}");
    let stale: Vec<&&str> = known.difference(&given).collect();
    assert!(stale.is_empty(), "no case is named {stale:?}");
    let mut queue: Vec<(Case, Row)> = cases
        .iter()
        .map(|case| {
            let mut matching = rows.iter().filter(|row| row.ids.contains(&case.id.as_str()));
            let row = matching.next().expect("every case has a row");
            assert!(matching.next().is_none(), "two rows name {}", case.id);
            (case.clone(), **row)
        })
        .chain(own::all())
        .collect();
    queue.sort_by_key(|(_, row)| !row.is_slow());
    queue.into()
}

#[expect(clippy::print_stdout, reason = "what was left out must be seen in what the test said")]
fn report(outcome: &Outcome, exceptions: &[Exception]) {
    let excepted = |id: &str| exceptions.iter().find(|exception| exception.probe == id);
    let broken: Vec<String> = outcome
        .broken
        .iter()
        .filter(|(id, _)| excepted(id).is_none())
        .map(|(id, seen)| format!("{id}: {seen}"))
        .collect();
    println!("{} held", outcome.held.len());
    for (id, seen) in &outcome.broken {
        if let Some(exception) = excepted(id) {
            println!("exception: {id}: {}: {seen}", exception.reason);
        }
    }
    for (id, missing) in &outcome.skipped {
        println!("skipped: TOOL_ABSENT {id}: {missing} is not in the image");
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    for exception in exceptions {
        let mut not_held = outcome.broken.iter().chain(&outcome.skipped).map(|(id, _)| id);
        let is_true = not_held.any(|id| id == exception.probe);
        assert!(
            is_true,
            "{} is excepted because {:?}, and holds or is none",
            exception.probe, exception.reason
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome() -> Outcome {
        Outcome { broken: vec![("uid".into(), "0".into())], ..Outcome::default() }
    }

    #[test]
    #[should_panic(expected = "no row says what must be seen of [\"new\"]")]
    fn a_case_without_a_row_is_a_failure() {
        let case = |id: &str| Case { id: id.into(), command: "true".into(), expect: String::new() };
        let known = rows::all().flat_map(|row| row.ids.iter().map(|id| case(id)));
        queue(&known.chain([case("new")]).collect::<Vec<_>>());
    }

    #[test]
    #[should_panic(expected = "no case is named")]
    fn a_row_without_a_case_is_a_failure() {
        queue(&[]);
    }

    #[test]
    #[should_panic(expected = "uid: 0")]
    fn what_does_not_hold_is_a_failure() {
        report(&outcome(), &[]);
    }

    #[test]
    fn what_is_excepted_may_not_hold() {
        report(&outcome(), &[Exception { probe: "uid", reason: "a limit of the runtime" }]);
    }

    #[test]
    #[should_panic(expected = "is excepted")]
    fn an_exception_that_holds_is_a_failure() {
        let held = Exception { probe: "caps", reason: "a limit of the runtime" };
        report(&outcome(), &[Exception { probe: "uid", reason: "likewise" }, held]);
    }
}
