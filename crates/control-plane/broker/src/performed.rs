use ambit_run::Observation;
use serde_json::Value;

/// What came of a call: what the run is told, and what the agent gets to read.
#[derive(Clone, Debug, PartialEq)]
pub struct Performed {
    /// What was seen, with contents by their digest.
    pub observation: Observation,
    /// The tool's output, in the shape of its contract.
    pub reply: Value,
}
