//! What a run left behind, as its trace and the revisions of its project tell it.

use serde_json::Value;

use crate::rig::{Answered, Project};

/// What may still be recorded once a run is stopping: the cleanup, and that the run is over.
const CLEANUP: [&str; 7] = [
    "process.terminated",
    "artifact.exported",
    "sandbox.destroyed",
    "cleanup.failed",
    "revision.eligible",
    "revision.ineligible",
    "run.terminal",
];

impl Project {
    /// The records of a run, oldest first.
    pub(crate) fn records(&self, run: &str) -> Vec<Value> {
        let mut shown = self.ambit(["trace", "show", run, "--json"]).well().json();
        let Value::Array(links) = shown["records"].take() else { panic!("a trace is a list of records") };
        links.into_iter().map(|mut link| link["record"].take()).collect()
    }

    /// The revisions of the project, newest last.
    pub(crate) fn revisions(&self) -> Value {
        self.ambit(["revision", "log", "--json"]).well().json()
    }

    /// The tree of a revision.
    pub(crate) fn tree(&self, revision: &str) -> String {
        let shown = self.ambit(["revision", "show", revision, "--json"]).well().json();
        shown["tree"].as_str().unwrap().to_owned()
    }

    /// Everything that a run may have touched: its records and the project's revisions.
    pub(crate) fn standing(&self, run: &str) -> (Vec<Value>, Value) {
        (self.records(run), self.revisions())
    }
}

impl Answered {
    /// The failure that the command told, in JSON, after whatever it said of its progress.
    pub(crate) fn failure(&self) -> Value {
        let start = self.err.find("{\n").unwrap_or_else(|| panic!("no failure: {self:?}"));
        let mut told: Value = serde_json::from_str(&self.err[start..]).unwrap();
        let failure = told["error"].take();
        for member in ["message", "code", "help"] {
            assert!(failure[member].is_string(), "{self:?}");
        }
        failure
    }

    /// The stable code of the failure that the command told, in JSON.
    pub(crate) fn code_of_failure(&self) -> String {
        self.failure()["code"].as_str().unwrap().to_owned()
    }
}

/// The kinds of records, in their order.
pub(crate) fn kinds(records: &[Value]) -> Vec<&str> {
    records.iter().map(|record| record["kind"].as_str().unwrap()).collect()
}

/// How many records are of a kind.
pub(crate) fn count(records: &[Value], kind: &str) -> usize {
    kinds(records).into_iter().filter(|found| *found == kind).count()
}

/// A run stops once, says why in the record of that, and records nothing but its cleanup afterwards.
#[track_caller]
pub(crate) fn assert_stopped(records: &[Value], reason: &str) {
    let kinds = kinds(records);
    let stop = kinds.iter().position(|kind| *kind == "run.stopping").expect("the run stops");
    assert_eq!(records[stop]["body"]["reason"]["code"], reason, "{}", records[stop]);
    let later: Vec<&str> = kinds[stop + 1..].to_vec();
    assert!(later.iter().all(|kind| CLEANUP.contains(kind)), "an effect after the stop: {later:?}");
    assert_eq!(later.last(), Some(&"run.terminal"), "{later:?}");
    assert!(later.contains(&"sandbox.destroyed"), "{later:?}");
}
