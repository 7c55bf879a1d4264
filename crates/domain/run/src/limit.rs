use ambit_ids::vocabulary;

vocabulary!(
    /// The limits of a run. Reaching any of them ends the run before the effect that would pass it.
    ///
    /// They stand in the order in which documents list them, and each is spelled as its key in a document's `runBudget`.
    Limit {
        /// Turns of the agent.
        ModelSteps = "maxModelSteps",
        /// Patches against one gate that does not pass.
        PatchAttemptsPerGate = "maxPatchAttemptsPerGate",
        /// Time by the clock since admission.
        Elapsed = "maxElapsedMinutes",
        /// Files that differ from the base revision.
        ChangedFiles = "maxChangedFiles",
        /// Dependencies that the base revision did not have.
        AddedDependencies = "maxAddedDependencies",
        /// Processes of named commands at any one time.
        ParallelProcesses = "maxParallelProcesses",
        /// Money: model calls and named commands.
        ToolCost = "maxToolCostUsd",
        /// Sightings of one failure fingerprint after claimed fixes.
        RepeatedFailure = "stopOnRepeatedFailureFingerprint",
        /// Bytes of output of named commands.
        OutputBytes = "maxOutputBytes",
        /// Calls with a side effect.
        SideEffects = "maxSideEffects",
    }
);
