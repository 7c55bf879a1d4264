//! The verbs of backends.

use clap::Subcommand;

use super::{DEFAULT_PROFILE, ProfileArg};
use crate::backends::BackendName;

#[derive(Debug, Subcommand)]
pub(crate) enum BackendVerb {
    /// Show what the probes found of a backend. They run where nothing is kept that still holds.
    Inspect {
        /// The backend, `linux` or `oci:RUNTIME`.
        #[arg(env = "AMBIT_BACKEND", default_value = "linux")]
        backend: BackendName,
    },
    /// Run every probe of a backend anew, and show them by their families.
    Probe {
        /// The backend, `linux` or `oci:RUNTIME`.
        #[arg(env = "AMBIT_BACKEND", default_value = "linux")]
        backend: BackendName,
    },
    /// Say whether a backend is admitted for a profile, and which requirement is not met.
    Admit {
        /// The backend, `linux` or `oci:RUNTIME`.
        #[arg(env = "AMBIT_BACKEND", default_value = "linux")]
        backend: BackendName,
        /// The execution profile: one that comes with the program, or the file of one.
        #[arg(long, value_name = "PROFILE|FILE", default_value = DEFAULT_PROFILE)]
        profile: ProfileArg,
    },
}
