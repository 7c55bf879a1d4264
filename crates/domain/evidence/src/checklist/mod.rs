//! The completion checklist of a run: each of its items resolves to records of the run and to artifacts that cannot
//! change, or it says what is missing (requirement E-M04).
//!
//! It points to evidence and judges no chain: whoever wants to know whether the records themselves hold verifies them
//! first.

mod resolve;

use ambit_ids::{Digest, vocabulary};
use serde::Serialize;

pub use resolve::checklist;

vocabulary!(
    /// What a completed run has to show. The words are stable.
    ChecklistItem {
        /// To whom and to what the run is pinned.
        Pinned = "pinned",
        /// What the customer can see of it.
        Visible = "visible",
        /// How tools were called.
        Authorized = "authorized",
        /// What the sandbox could reach of its host.
        Isolated = "isolated",
        /// What it could reach of a network.
        Network = "network",
        /// What stays in the trace.
        Kept = "kept",
        /// What was spent.
        Budgets = "budgets",
        /// What a person decided.
        Approval = "approval",
        /// What became of the revision.
        PreviewReady = "preview-ready",
    }
);

impl ChecklistItem {
    /// What holds where the item resolves, in a sentence.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Pinned => {
                "the run is pinned to organization, project, approved blueprint, base revision and policy"
            }
            Self::Visible => {
                "phase, plan, changed files, gates, budget, approvals and stop reason can be seen"
            }
            Self::Authorized => "every effect follows a typed call that was decided outside of the model",
            Self::Isolated => "every sandbox was measured from inside before it was used, and is gone",
            Self::Network => "no sandbox could reach a network, or each connection was decided",
            Self::Kept => {
                "failures, denials, patches and the results of the current revision are in the trace"
            }
            Self::Budgets => "every budget was set before the run began, and every turn was charged",
            Self::Approval => "every approval was of one proposal, in time, and used once by the broker",
            Self::PreviewReady => "the revision is preview-ready, which is no release for production",
        }
    }
}

vocabulary!(
    /// How an item stands.
    ItemStanding {
        /// What is named beside it shows it.
        Resolved = "resolved",
        /// Nothing of the sort happened in the run, so there is nothing to show.
        NotExercised = "not-exercised",
        /// Something is missing, or contradicts it.
        Unresolved = "unresolved",
    }
);

/// What a measured manifest says that a sandbox can reach of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkReach {
    /// Nothing, or nothing that is not decided at the moment of its connection.
    Denied,
    /// More than that.
    Open,
}

/// A record of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EventReference {
    /// Its position in the run's trace.
    pub seq: u64,
    /// Its kind.
    pub kind: &'static str,
    /// Its leaf hash.
    pub leaf: Digest,
}

/// Something that lies under its digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactReference {
    /// What it is, in a word or two.
    pub what: &'static str,
    /// Its digest.
    pub digest: Digest,
}

/// One item with what shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Resolution {
    /// The item.
    pub item: ChecklistItem,
    /// What holds where it resolves.
    pub title: &'static str,
    /// How it stands.
    pub standing: ItemStanding,
    /// The records that show it, in their order.
    pub events: Vec<EventReference>,
    /// The artifacts that show it, each once.
    pub artifacts: Vec<ArtifactReference>,
    /// What keeps it from being resolved; empty where nothing does.
    pub missing: Vec<String>,
}
