//! The backends that this program holds, and what they are called: the one place where a name becomes an adapter.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use ambit_ids::BackendId;
use ambit_measurements::Trust;
use ambit_ports::images::ImageStore;
use ambit_ports::runtime::{Clock, IdGenerator};
use ambit_ports::sandbox::{LeakScan, SandboxError, SandboxPort};
use ambit_ports::volumes::VolumeStore;
use ambit_sandbox_linux::{LinuxRemains, LinuxSandboxes, PROBER, Settings};
use ambit_sandbox_oci::{OciRemains, OciSandboxes, RuntimeError};

use crate::failure::Failure;
use crate::home::Home;

/// The longest name of a runtime.
const RUNTIME_BYTES: usize = 32;

/// A backend as it is named on the command line and in records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BackendName {
    /// `linux`: the kernel's own means, without a daemon.
    Linux,
    /// `oci:RUNTIME`: a runtime that makes containers from bundles (OCI runtime specification).
    Oci(RuntimeName),
}

/// What a runtime is called: a lower-case letter, then lower-case letters, digits, `-` and `_`, 32 at most. Never a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RuntimeName(String);

/// A text that names no backend.
#[derive(Debug, thiserror::Error)]
#[error("no backend is called so; there are `linux` and `oci:RUNTIME`, such as `oci:crun`")]
pub(crate) struct BackendUnknown;

impl RuntimeName {
    fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for RuntimeName {
    type Err = BackendUnknown;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fits = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, b'-' | b'_');
        let starts_well = text.starts_with(|c: char| c.is_ascii_lowercase());
        if starts_well && text.len() <= RUNTIME_BYTES && text.bytes().all(fits) {
            return Ok(Self(text.to_owned()));
        }
        Err(BackendUnknown)
    }
}

impl FromStr for BackendName {
    type Err = BackendUnknown;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once(':') {
            None if text == LinuxSandboxes::ID => Ok(Self::Linux),
            Some(("oci", runtime)) => runtime.parse().map(Self::Oci),
            _ => Err(BackendUnknown),
        }
    }
}

impl fmt::Display for BackendName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Linux => f.write_str(LinuxSandboxes::ID),
            Self::Oci(runtime) => write!(f, "oci:{}", runtime.as_str()),
        }
    }
}

impl BackendName {
    /// The backend that a record names.
    pub(crate) fn of(id: &BackendId) -> Result<Self, Failure> {
        id.as_str().parse().map_err(|_: BackendUnknown| {
            Failure::new("BACKEND_UNKNOWN", format!("this program holds no backend {id}"))
                .help("nothing was started; use a version of ambit that holds it")
        })
    }

    /// Its id in records.
    pub(crate) fn id(&self) -> Result<BackendId, Failure> {
        BackendId::new(self.to_string()).map_err(|error| Failure::of("BACKEND_UNKNOWN", &error))
    }
}

/// What every backend is given of this machine.
pub(crate) struct Machine {
    pub(crate) images: Arc<dyn ImageStore>,
    pub(crate) volumes: Arc<dyn VolumeStore>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdGenerator>,
    /// Whether what was measured before counts.
    pub(crate) trust: Trust,
}

/// A backend that was opened.
pub(crate) struct Opened {
    pub(crate) port: Arc<dyn SandboxPort>,
    /// Finds what is left of its sandboxes on this machine.
    pub(crate) scan: Arc<dyn LeakScan>,
}

/// The adapter of a name. What it keeps on disk lies in a directory of the home that no other backend uses.
pub(crate) fn open(name: &BackendName, home: &Home, machine: Machine) -> Result<Opened, Failure> {
    let Machine { images, volumes, clock, ids, trust } = machine;
    match name {
        BackendName::Linux => {
            let settings = Settings { root: home.sandboxes(), spare_guests: 0 };
            let linux = LinuxSandboxes::new(settings, images, volumes, clock, ids)
                .map_err(|error| Failure::of(error.code(), &error))?;
            let linux = Arc::new(match trust {
                Trust::Kept => linux,
                Trust::Anew => linux.measured_anew(),
            });
            Ok(Opened { port: linux.clone(), scan: linux })
        }
        BackendName::Oci(runtime) => {
            let parsed = runtime.as_str().parse();
            let settings = ambit_sandbox_oci::Settings {
                root: home.containers(runtime.as_str()),
                runtime: parsed.map_err(|error: RuntimeError| Failure::of("BACKEND_ABSENT", &error))?,
                program: PROBER,
            };
            let oci = OciSandboxes::new(settings, images, volumes, clock, ids)
                .map_err(|error| Failure::of(error.code(), &error))?;
            let oci = Arc::new(match trust {
                Trust::Kept => oci,
                Trust::Anew => oci.measured_anew(),
            });
            Ok(Opened { port: oci.clone(), scan: oci })
        }
    }
}

/// What finds the remains of the sandboxes of a backend below a home, of which nothing is opened or made.
pub(crate) fn remains(name: &BackendName, home: &Home) -> Result<Arc<dyn LeakScan>, Failure> {
    let failed = |error: SandboxError| Failure::of(error.code(), &error);
    match name {
        BackendName::Linux => Ok(Arc::new(LinuxRemains::below(home.sandboxes()).map_err(failed)?)),
        BackendName::Oci(runtime) => {
            let parsed = runtime.as_str().parse();
            let parsed = parsed.map_err(|error: RuntimeError| Failure::of("BACKEND_ABSENT", &error))?;
            Ok(Arc::new(OciRemains::below(&home.containers(runtime.as_str()), &parsed).map_err(failed)?))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_spelling_and_is_never_a_path() {
        for good in ["linux", "oci:crun", "oci:runc", "oci:runsc", "oci:kata-fc_2"] {
            let name: BackendName = good.parse().unwrap();
            assert_eq!(name.to_string(), good);
            assert_eq!(BackendName::of(&name.id().unwrap()).unwrap(), name);
        }
        let long = format!("oci:{}", "x".repeat(RUNTIME_BYTES + 1));
        for bad in [
            "",
            "Linux",
            "linux ",
            "linux:",
            "oci",
            "oci:",
            "oci:/usr/bin/crun",
            "oci:..",
            "oci:-x",
            "oci:Crun",
            &long,
        ] {
            assert!(bad.parse::<BackendName>().is_err(), "{bad:?}");
        }
        assert!(format!("oci:{}", "x".repeat(RUNTIME_BYTES)).parse::<BackendName>().is_ok());
    }
}
