use ambit_ids::{BackendId, LeaseId};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::SandboxError;

/// Finds what is left of the sandboxes of a backend on this machine, and removes single things of it.
///
/// It stands beside [`SandboxPort`](super::SandboxPort), and serves people and the control plane, never a run.
///
/// - [`survey`](Self::survey) MUST look at the machine, in tables that the kernel or the backend's daemon keeps, and never
///   at what this process remembers of its own sandboxes. What it cannot look at, it MUST name.
/// - [`remove`](Self::remove) MUST look again, and MUST refuse what is not proven to have lost its [`Maker`]. Its success
///   says nothing: whoever wants to know what is left surveys again.
#[async_trait]
pub trait LeakScan: Send + Sync {
    /// Which backend this is.
    fn backend_id(&self) -> &BackendId;

    /// Everything of this backend that is there now, of whatever process and run.
    async fn survey(&self) -> Result<Survey, SandboxError>;

    /// The same, also where this backend makes nothing from this process: in the control groups of other sessions, say. It
    /// may take long on a machine with many.
    async fn survey_everywhere(&self) -> Result<Survey, SandboxError>;

    /// Removes one thing whose maker is gone.
    async fn remove(&self, found: &Found) -> Result<(), SandboxError>;
}

/// What a look at the machine found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// The surfaces that were looked at.
    pub looked_at: Vec<Surface>,
    /// What was not looked at and could hold something, each with the reason.
    pub not_looked_at: Vec<Unseen>,
    /// What was found, sorted.
    pub found: Vec<Found>,
}

/// Something that was not looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Unseen {
    /// What.
    pub what: String,
    /// Why not.
    pub why: String,
}

/// Where something of a sandbox can be left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Surface {
    /// Processes of the backend's own program.
    Processes,
    /// Control groups.
    ControlGroups,
    /// Containers of a runtime or daemon.
    Containers,
    /// Mounts of the host.
    Mounts,
    /// The directory of a lease: its record, and the files that were staged for it.
    Leases,
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Found {
    /// Where.
    pub surface: Surface,
    /// What it is called there: a path, an identifier.
    pub reference: String,
    /// The lease that it belongs to, where that can be told. Not every sandbox was given to a run already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<LeaseId>,
    /// The process that made it.
    pub maker: Maker,
}

/// The control plane that made something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Maker {
    /// It lives, as far as can be told.
    Lives,
    /// It is proven to live no longer.
    Gone,
    /// Nothing is known of it.
    Unknown,
}
