use std::collections::{BTreeMap, BTreeSet};

use ambit_gates::{BaseTests, Ending, GateTests, Objection, ResourceLimit};
use ambit_ids::{ByteCount, Digest, DurationMs, GateId, IdempotencyKey};
use ambit_redaction::Redactions;

/// One execution of a gate, bound to exactly the tree that it ran on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateRecord {
    /// The gate.
    pub gate: GateId,
    /// Which execution of this gate, counted from 1.
    pub attempt: u32,
    /// The key under which the agent asked for it.
    pub key: IdempotencyKey,
    /// The digest of the tree that it ran on.
    pub tree: Digest,
    /// How it ended.
    pub ending: Ending,
    /// Limits that were hit on the way.
    pub breaches: BTreeSet<ResourceLimit>,
    /// The failure's fingerprint; `None` for a success.
    pub fingerprint: Option<Digest>,
    /// The digest of the whole observation, output included by digest.
    pub artifact: Digest,
    /// The bytes of output that were kept.
    pub output: ByteCount,
    /// What was taken out of its output before that was kept; `None` for executions from before there were rules.
    pub redactions: Option<Redactions>,
    /// From start to end.
    pub duration: DurationMs,
    /// What takes from it that it exited with 0; empty for the runs of earlier rules.
    pub objections: Vec<Objection>,
    /// The tests that its command reported; `None` where the command names no report.
    pub tests: Option<GateTests>,
}

impl GateRecord {
    /// Whether it speaks for its tree: it exited with 0, and nothing objects to that.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.ending.is_success() && self.objections.is_empty()
    }
}

/// Where a gate stands on one tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateStatus {
    /// It never ran on this tree. Results of other trees do not count.
    NotRun,
    /// It ran at least once and always passed.
    Passed,
    /// It ran at least once and never passed.
    Failed,
    /// It both passed and failed on this one tree, which is not a pass.
    Flaky,
}

impl GateStatus {
    /// What the executions on one tree come to, each of which passed or not.
    #[must_use]
    pub fn of(passed: impl Iterator<Item = bool>) -> Self {
        match passed.fold((false, false), |(passed, failed), ok| (passed || ok, failed || !ok)) {
            (false, false) => Self::NotRun,
            (true, false) => Self::Passed,
            (true, true) => Self::Flaky,
            (false, true) => Self::Failed,
        }
    }

    /// The standing as views spell it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotRun => "not-run",
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Flaky => "flaky",
        }
    }
}

/// Every execution of every gate of a run, in order. Nothing is ever taken out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GateBook {
    records: Vec<GateRecord>,
}

impl GateBook {
    /// The records, oldest first.
    #[must_use]
    pub fn records(&self) -> &[GateRecord] {
        &self.records
    }

    /// The book with one more record.
    #[must_use]
    pub fn with(mut self, record: GateRecord) -> Self {
        self.records.push(record);
        self
    }

    /// The number that the next execution of `gate` has.
    #[must_use]
    pub fn next_attempt(&self, gate: &GateId) -> u32 {
        let attempts = self.records.iter().filter(|record| record.gate == *gate).count();
        u32::try_from(attempts).unwrap_or(u32::MAX).saturating_add(1)
    }

    /// Where `gate` stands on exactly `tree`.
    #[must_use]
    pub fn status(&self, gate: &GateId, tree: Digest) -> GateStatus {
        let records = self.records.iter().filter(|record| record.gate == *gate && record.tree == tree);
        GateStatus::of(records.map(GateRecord::passed))
    }

    /// What `gate` reports on the tree that the run began with, as far as it was found out: by an execution there, or
    /// beside one on another tree.
    #[must_use]
    pub fn base_tests(&self, gate: &GateId, base: Digest) -> Option<BaseTests> {
        let mut found = None;
        for record in self.records.iter().filter(|record| record.gate == *gate) {
            let Some(tests) = record.tests else { continue };
            let here = (record.tree == base && matches!(record.ending, Ending::Exited { .. }))
                .then_some(BaseTests { artifact: record.artifact, tests: tests.own });
            match here.or(tests.base) {
                Some(known) if known.tests.is_some() => return Some(known),
                known => found = found.or(known),
            }
        }
        found
    }

    /// The execution that was asked for under `key`.
    #[must_use]
    pub fn by_key(&self, key: &IdempotencyKey) -> Option<&GateRecord> {
        self.records.iter().find(|record| record.key == *key)
    }

    /// How often each failure was seen on a tree other than the one of its sighting before: the first failure, and one
    /// more for every claimed fix that changed nothing about it.
    #[must_use]
    pub fn sightings(&self) -> BTreeMap<Digest, u32> {
        let mut seen: BTreeMap<Digest, (u32, Digest)> = BTreeMap::new();
        for record in &self.records {
            let Some(fingerprint) = record.fingerprint else { continue };
            seen.entry(fingerprint)
                .and_modify(|(count, tree)| {
                    if *tree != record.tree {
                        *count += 1;
                        *tree = record.tree;
                    }
                })
                .or_insert((1, record.tree));
        }
        seen.into_iter().map(|(fingerprint, (count, _))| (fingerprint, count)).collect()
    }
}
