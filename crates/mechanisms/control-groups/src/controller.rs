use serde::{Deserialize, Serialize};

/// The controllers that a sandbox needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Controller {
    /// Memory.
    Memory,
    /// Processes and threads.
    Pids,
    /// Processor share.
    Cpu,
    /// Processor time, a controller of its own only on the legacy hierarchy.
    CpuAccounting,
}

impl Controller {
    pub(crate) const ALL: [Self; 4] = [Self::Memory, Self::Pids, Self::Cpu, Self::CpuAccounting];

    /// Its name on the legacy hierarchy.
    pub(crate) const fn legacy_name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Pids => "pids",
            Self::Cpu => "cpu",
            Self::CpuAccounting => "cpuacct",
        }
    }

    /// Its name on the unified hierarchy.
    pub(crate) const fn unified_name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Pids => "pids",
            Self::Cpu | Self::CpuAccounting => "cpu",
        }
    }
}

/// Which hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Hierarchy {
    /// The unified one.
    Unified,
    /// The legacy one.
    Legacy,
}
