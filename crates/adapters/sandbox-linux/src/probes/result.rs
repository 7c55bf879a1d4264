use ambit_ports::sandbox::{Probe, ProbeFamily};

/// The result of a probe.
pub(super) fn probe(family: ProbeFamily, id: &str, passed: bool, observed: impl Into<String>) -> Probe {
    Probe { id: id.into(), family, passed, observed: observed.into() }
}
