use ambit_ids::GateId;
use ambit_ports::sandbox::Tap;
use ambit_run::State;

/// Tells whoever looks on that a run has changed. The stream is the truth; this only saves waiting.
pub trait Observer: Send + Sync {
    /// The run is now in this state; these events led there.
    fn changed(&self, state: &State, events: &[ambit_run::Event]);

    /// A gate is about to run: where its output is to be poured, if anyone wants to see it. Of a check that the agent does not
    /// know of nobody is asked.
    fn gate_begins(&self, gate: &GateId) -> Option<Tap>;
}
