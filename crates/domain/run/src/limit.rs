use std::fmt;
use std::str::FromStr;

/// The limits of a run. Reaching any of them ends the run before the effect that would pass it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Limit {
    /// Turns of the agent.
    ModelSteps,
    /// Patches against one gate that does not pass.
    PatchAttemptsPerGate,
    /// Time by the clock since admission.
    Elapsed,
    /// Files that differ from the base revision.
    ChangedFiles,
    /// Dependencies that the base revision did not have.
    AddedDependencies,
    /// Processes of named commands at any one time.
    ParallelProcesses,
    /// Money: model calls and named commands.
    ToolCost,
    /// Sightings of one failure fingerprint after claimed fixes.
    RepeatedFailure,
    /// Bytes of output of named commands.
    OutputBytes,
    /// Calls with a side effect.
    SideEffects,
}

impl Limit {
    /// Every limit, in the order in which documents list them.
    pub const ALL: [Self; 10] = [
        Self::ModelSteps,
        Self::PatchAttemptsPerGate,
        Self::Elapsed,
        Self::ChangedFiles,
        Self::AddedDependencies,
        Self::ParallelProcesses,
        Self::ToolCost,
        Self::RepeatedFailure,
        Self::OutputBytes,
        Self::SideEffects,
    ];

    /// The name of the limit's key in a document's `runBudget`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ModelSteps => "maxModelSteps",
            Self::PatchAttemptsPerGate => "maxPatchAttemptsPerGate",
            Self::Elapsed => "maxElapsedMinutes",
            Self::ChangedFiles => "maxChangedFiles",
            Self::AddedDependencies => "maxAddedDependencies",
            Self::ParallelProcesses => "maxParallelProcesses",
            Self::ToolCost => "maxToolCostUsd",
            Self::RepeatedFailure => "stopOnRepeatedFailureFingerprint",
            Self::OutputBytes => "maxOutputBytes",
            Self::SideEffects => "maxSideEffects",
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Limit {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|limit| limit.as_str() == text).ok_or(())
    }
}
