use ambit_run::State;

/// Tells whoever looks on that a run has changed. The stream is the truth; this only saves waiting.
pub trait Observer: Send + Sync {
    /// The run is now in this state; these events led there.
    fn changed(&self, state: &State, events: &[ambit_run::Event]);
}
