use ambit_ids::{Digest, GateId, vocabulary};
use serde::{Deserialize, Serialize};

use super::{Predicate, PredicateType, all_refer};
use crate::statement::ResourceDescriptor;
use crate::wording::{Name, Uri, WordingError};

vocabulary!(
    /// How a test ended.
    Outcome {
        /// Nothing failed.
        Passed = "PASSED",
        /// Nothing failed, and there is something to look at.
        Warned = "WARNED",
        /// Something failed.
        Failed = "FAILED",
    }
);

/// How a gate ended on a revision (in-toto test result, version 0.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TestResult {
    /// How it ended.
    pub result: Outcome,
    /// What ran, in what, on which orders.
    pub configuration: Vec<ResourceDescriptor>,
    /// The gate, where it passed.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub passed_tests: Vec<Name>,
    /// The gate, where it passed with something to look at.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub warned_tests: Vec<Name>,
    /// The gate, where it failed.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub failed_tests: Vec<Name>,
}

/// What the record of a gate says.
#[derive(Clone, Debug)]
pub struct GateFacts {
    /// The gate.
    pub gate: GateId,
    /// Whether it passed: by its exit status, and without an objection.
    pub passed: bool,
    /// The command that it names.
    pub command: Digest,
    /// The catalog that names the command.
    pub catalog: Digest,
    /// The image that it ran in.
    pub image: Digest,
    /// The manifest of the sandbox that it ran in.
    pub manifest: Digest,
    /// What it put out.
    pub output: Digest,
}

impl TestResult {
    /// What these facts make of it.
    ///
    /// # Errors
    /// [`WordingError`] where a part of them cannot be named.
    pub fn of_gate(facts: &GateFacts) -> Result<Self, WordingError> {
        let parts = [
            ("catalog", facts.catalog),
            ("command", facts.command),
            ("image", facts.image),
            ("output", facts.output),
            ("sandbox-manifest", facts.manifest),
        ];
        let configuration = parts
            .into_iter()
            .map(|(name, digest)| Name::new(name).map(|name| ResourceDescriptor::named(name, digest)))
            .collect::<Result<_, _>>()?;
        let gate = vec![Name::new(facts.gate.as_str())?];
        let (result, passed_tests, failed_tests) = match facts.passed {
            true => (Outcome::Passed, gate, Vec::new()),
            false => (Outcome::Failed, Vec::new(), gate),
        };
        Ok(Self { result, configuration, passed_tests, warned_tests: Vec::new(), failed_tests })
    }

    /// Whether it says that this gate passed.
    #[must_use]
    pub fn says_passed(&self, gate: &GateId) -> bool {
        self.result == Outcome::Passed && self.passed_tests.iter().any(|name| name.as_str() == gate.as_str())
    }
}

impl Predicate for TestResult {
    const TYPE: PredicateType = PredicateType::TestResult;

    fn check(&self) -> Result<(), &'static str> {
        if self.result == Outcome::Passed && !(self.failed_tests.is_empty() && self.warned_tests.is_empty()) {
            return Err("it passed, and a test of it did not");
        }
        if self.result == Outcome::Warned && !self.failed_tests.is_empty() {
            return Err("it passed with a warning, and a test of it failed");
        }
        if self.result != Outcome::Failed && self.passed_tests.is_empty() && self.warned_tests.is_empty() {
            return Err("it passed, and nothing ran");
        }
        all_refer(&self.configuration)
    }

    fn deployment(&self) -> Option<&Uri> {
        None
    }
}
