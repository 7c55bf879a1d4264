use ambit_ids::{Digest, LeaseId, VolumeName};

use super::{CommandUnfit, MissingFeature};

/// Why a backend refused or failed.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// This machine cannot run such a sandbox.
    #[error("{}", describe_missing(.0))]
    Unavailable(Vec<MissingFeature>),
    /// What has the name of a runtime is another program.
    #[error("{program} is no OCI runtime: asked for its version, it says {said:?}")]
    NotARuntime {
        /// The program.
        program: String,
        /// The first line of what it says.
        said: String,
    },
    /// The image is not on this machine, or is not what its digest says.
    #[error("the image cannot be used")]
    Image(#[from] crate::images::ImageError),
    /// A volume is not on this machine, or is not what its digest says.
    #[error("the volume cannot be used")]
    Volume(#[from] crate::volumes::VolumeError),
    /// The command cannot be handed over. Nothing ran.
    #[error("the command cannot be handed to a sandbox; nothing was run")]
    Command(#[from] CommandUnfit),
    /// The command names a volume that the sandbox was not made with.
    #[error("the sandbox was made without the volume {name} ({digest})")]
    VolumeMissing {
        /// The name of the mount.
        name: VolumeName,
        /// The volume.
        digest: Digest,
    },
    /// The sandbox of this lease is gone.
    #[error("the sandbox of {0} is gone")]
    Gone(LeaseId),
    /// The run has a sandbox already, and it was made from another image or with other volumes.
    #[error(
        "{0} was allocated with another image or other volumes; destroy it before the run is given a new one"
    )]
    Conflict(LeaseId),
    /// The command names a tree that was not brought to the sandbox.
    #[error("the tree {0} was not brought to the sandbox")]
    TreeMissing(Digest),
    /// The tree that was brought is not what its digest says, or not what came under its name before.
    #[error("the tree {expected} arrived as {found}")]
    TreeMismatch {
        /// The digest that the caller named.
        expected: Digest,
        /// The digest of what arrived.
        found: Digest,
    },
    /// A control could not be put in place. Nothing ran.
    #[error("{control} could not be put in place; nothing was run")]
    ControlFailed {
        /// The control.
        control: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The preview is disabled under this profile.
    #[error("previews are disabled until an explicit grant; nothing was exposed")]
    PreviewDenied,
    /// Something of the sandbox remains and could not be removed.
    #[error("{} of {lease} remain and could not be removed", describe_remaining(.remaining))]
    DestructionUnproven {
        /// The lease.
        lease: LeaseId,
        /// What remains.
        remaining: Vec<(String, u32)>,
    },
    /// Blobs could not be read or written.
    #[error("the blobs of the sandbox failed")]
    Blobs(#[from] crate::blobs::BlobError),
    /// The disk under the sandboxes is full.
    #[error("no space is left for the sandbox")]
    NoSpace(#[source] std::io::Error),
    /// The backend could not be reached for now, and nothing is known of the verb. Every verb but `execute_named` can be
    /// asked for again as it is, because asking twice is asking once.
    #[error("the sandbox backend cannot be reached for now")]
    Unreachable(#[source] std::io::Error),
    /// Anything else of the machine.
    #[error("the sandbox failed: {what}")]
    Io {
        /// What was being done.
        what: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

impl SandboxError {
    /// An input or output error while something was being done; a full disk is told apart.
    pub fn during(what: &str) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |source| match source.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => Self::NoSpace(source),
            _ => Self::Io { what: what.into(), source },
        }
    }

    /// A process or a thread of the backend's own that could not be started while something was being done. Where the
    /// machine allows no more of them, or none, that is what it lacks.
    pub fn starting(what: &str) -> impl FnOnce(std::io::Error) -> Self + '_ {
        use std::io::ErrorKind::{PermissionDenied, Unsupported, WouldBlock};
        let lack = move |feature: &str, mend: &str| {
            Self::Unavailable(vec![MissingFeature {
                feature: feature.to_owned(),
                consequence: format!("{what} failed, and no sandbox is made without"),
                mend: mend.to_owned(),
            }])
        };
        move |source| match source.kind() {
            WouldBlock => lack(
                "room for one more process",
                "end other processes of this user, or raise the limit of them (ulimit -u, or pids.max of the control group)",
            ),
            PermissionDenied | Unsupported => lack(
                "the right to start processes and threads",
                "let clone3, clone and vfork through (in a container: its seccomp profile)",
            ),
            _ => Self::during(what)(source),
        }
    }

    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unavailable(_) => "SANDBOX_UNAVAILABLE",
            Self::NotARuntime { .. } => "BACKEND_NOT_A_RUNTIME",
            Self::Image(error) => error.code(),
            Self::Volume(error) => error.code(),
            Self::Command(error) => error.code(),
            Self::VolumeMissing { .. } => "SANDBOX_VOLUME_MISSING",
            Self::Gone(_) => "SANDBOX_GONE",
            Self::Conflict(_) => "SANDBOX_CONFLICT",
            Self::TreeMissing(_) => "SANDBOX_TREE_MISSING",
            Self::TreeMismatch { .. } => "SANDBOX_TREE_MISMATCH",
            Self::ControlFailed { .. } => "SANDBOX_CONTROL_FAILED",
            Self::PreviewDenied => "PREVIEW_DENIED",
            Self::DestructionUnproven { .. } => "DESTRUCTION_UNPROVEN",
            Self::Blobs(error) => error.code(),
            Self::NoSpace(_) => "STORAGE_FULL",
            Self::Unreachable(_) => "SANDBOX_UNREACHABLE",
            Self::Io { .. } => "SANDBOX_FAILED",
        }
    }
}

fn describe_missing(missing: &[MissingFeature]) -> String {
    let parts: Vec<String> = missing
        .iter()
        .map(|lack| format!("{} is missing ({}); {}", lack.feature, lack.consequence, lack.mend))
        .collect();
    format!("the sandbox is unavailable on this machine: {}", parts.join("; "))
}

fn describe_remaining(remaining: &[(String, u32)]) -> String {
    let parts: Vec<String> = remaining
        .iter()
        .filter(|(_, left)| *left > 0)
        .map(|(surface, left)| format!("{left} {surface}"))
        .collect();
    parts.join(", ")
}
