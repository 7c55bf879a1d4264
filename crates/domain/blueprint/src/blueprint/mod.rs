//! The blueprint: what a customer approved to be built, within which bounds.

mod probe;
mod read;
mod scope;

use ambit_ids::{BlueprintId, CaseId, Digest, GateId, RepoPath};
use ambit_policy::{LifecycleStage, Plane};
use serde::Serialize;

pub use probe::{ArchetypeProbe, ExpectedOutcome, ProbeCase};
pub use scope::{Authorization, BlueprintScope, DependencyScope, ProtectedOracles};

use crate::budget::RunBudget;
use crate::catalog::NamedCommandCatalog;
use crate::envelope::{DocumentKind, document};

/// What a customer approved to be built, within which bounds. Only together with its digest does a run start from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blueprint {
    /// How it is named.
    pub metadata: BlueprintMetadata,
    /// What was approved.
    pub spec: BlueprintSpec,
}

/// How a blueprint is named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BlueprintMetadata {
    /// Its name within its project (`bp-1`).
    pub name: BlueprintId,
    /// Its version, from 1. A wider scope takes a new one.
    pub version: u32,
    /// What people call it.
    pub title: String,
}

/// What was approved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BlueprintSpec {
    /// What is to be reached, for the agent and for people; 1 to 4000 bytes.
    pub goal: String,
    /// The stage of the lifecycle that it belongs to. Every stage can be written; admission refuses all but `generate`.
    pub stage: LifecycleStage,
    /// Who answers for it, now and later.
    pub accountability: Accountability,
    /// What must hold in the end; never empty. Plan steps and gates cite the cases.
    pub acceptance_cases: Vec<AcceptanceCase>,
    /// What belongs to the work.
    pub scope: BlueprintScope,
    /// What decides whether the work is done, and is therefore not part of it.
    pub protected_oracles: ProtectedOracles,
    /// The gates, from the cheapest to the dearest; never empty. Together they cover every acceptance case.
    pub gates: Vec<BlueprintGate>,
    /// What may be depended on.
    pub dependencies: DependencyScope,
    /// What a run of it may use.
    pub run_budget: RunBudget,
    /// Proposals of other kinds of applications, and what the contract answers to them.
    pub archetype_probes: Vec<ArchetypeProbe>,
    /// Who holds what in each of the four planes, each plane once.
    pub boundary_map: Vec<PlaneBoundary>,
    /// Protected paths that this very version opens.
    pub authorizes: Vec<Authorization>,
}

/// Who answers for what a run makes. Without all of it no compute is allocated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Accountability {
    /// Who owns the work of this stage.
    pub owner: String,
    /// Who owns the result in the next stage.
    pub later_owner: String,
    /// What must be removed in the end.
    pub cleanup: CleanupObligation,
}

/// What must be removed, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CleanupObligation {
    /// What is to be done.
    pub obligation: String,
    /// Days after the end of a run by which it is done; 0 is at once.
    pub after_days: u32,
}

/// Something that must hold in the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AcceptanceCase {
    /// How plans and gates cite it.
    pub id: CaseId,
    /// What must hold.
    pub statement: String,
}

/// A gate, and the acceptance cases that its passing speaks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BlueprintGate {
    /// The gate, and the command of that name in the catalog.
    pub id: GateId,
    /// The cases that it speaks for.
    pub cases: Vec<CaseId>,
    /// A command of the catalog that must pass too and that no agent can name or see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hidden_check: Option<GateId>,
    /// Files that lie over the source for the hidden check alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hidden_files: Option<HiddenFiles>,
}

/// The files of a hidden check: a folder beside the blueprint, pinned by its content. They are part of no revision, and no
/// sandbox that an agent's calls run in ever has them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HiddenFiles {
    /// Where the folder lies, seen from the blueprint's own.
    pub from: RepoPath,
    /// The digest of the folder, as a tree of source.
    pub digest: Digest,
}

/// Who holds authority and data of one plane. What is granted in one plane implies nothing in another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlaneBoundary {
    /// The plane.
    pub plane: Plane,
    /// What lies there.
    pub holds: String,
    /// Who grants it, and revokes it.
    pub granted_by: String,
}

document!(Blueprint, DocumentKind::Blueprint);

impl BlueprintSpec {
    /// Whether a patch may not touch a path: it is protected, and this version does not open it.
    #[must_use]
    pub fn protects(&self, path: &RepoPath) -> bool {
        let opened = || self.authorizes.iter().any(|authorization| authorization.path.matches(path));
        self.protected_oracles.paths.contains(path) && !opened()
    }
}

impl Blueprint {
    /// The files of every hidden check that has some, in the order of the gates.
    pub fn hidden_files(&self) -> impl Iterator<Item = (&GateId, &HiddenFiles)> {
        self.spec.gates.iter().filter_map(|gate| Some((&gate.id, gate.hidden_files.as_ref()?)))
    }

    /// The commands that the blueprint names and the catalog does not hold, in the order of the gates. A run needs
    /// them all.
    #[must_use]
    pub fn commands_missing_in<'a>(&'a self, catalog: &NamedCommandCatalog) -> Vec<&'a GateId> {
        let named =
            self.spec.gates.iter().flat_map(|gate| std::iter::once(&gate.id).chain(&gate.hidden_check));
        named.filter(|id| catalog.command(id).is_none()).collect()
    }
}
