//! What the documents of a run say about it: the same for whoever admits a run and for whoever checks it afterwards.

use std::collections::BTreeSet;

use ambit_blueprint::{
    Blueprint, BudgetCeilings, CatalogCommand, ExecutionCapabilityProfile, NamedCommandCatalog, RunBudget,
};
use ambit_canonical::EncodeError;
use ambit_ids::{BackendId, Digest, GateId, RevisionId, RunId, RunName, Scope, VolumeMount, limits};

use crate::ledger::Limits;
use crate::pins::{
    Accountability, AgentPin, BlueprintPin, GatePin, Pins, ProfilePin, RequestPin, RevisionPin, Rules,
};

/// The documents that a run is pinned to, each with its digest.
#[derive(Clone, Copy, Debug)]
pub struct PinnedDocuments<'a> {
    /// What is to be built.
    pub blueprint: (&'a Blueprint, Digest),
    /// What a backend must prove.
    pub profile: (&'a ExecutionCapabilityProfile, Digest),
    /// What the names of gates mean.
    pub catalog: (&'a NamedCommandCatalog, Digest),
    /// The digest of the policy set that names the profile, the catalog and every rule.
    pub policy: Digest,
}

/// What no document says about a run.
#[derive(Clone, Debug)]
pub struct Circumstances {
    /// Who owns the run.
    pub scope: Scope,
    /// The run.
    pub run: RunId,
    /// The name that a person gave it.
    pub name: Option<RunName>,
    /// The revision that it starts from.
    pub base: RevisionPin,
    /// The fresh revision that it opens.
    pub revision: RevisionId,
    /// Caps of the command that starts it.
    pub ceilings: BudgetCeilings,
    /// The backend that makes its sandbox.
    pub backend: BackendId,
    /// Who answers the turns.
    pub agent: AgentPin,
    /// The revision request that it answers, with its words, which become the goal.
    pub request: Option<(RequestPin, String)>,
    /// The rules by which its proposals are judged.
    pub rules: Rules,
}

/// Why documents make no pins.
#[derive(Debug, thiserror::Error)]
pub enum PinsError {
    /// The blueprint names a command that the catalog does not hold.
    #[error("the catalog has no command {0}")]
    CommandMissing(GateId),
    /// The commands name several images, and a run has one sandbox.
    #[error("the gates name two images, {0} and {1}")]
    ImagesMixed(Digest, Digest),
    /// The commands name more volumes than a sandbox can hold.
    #[error("the gates name {0} volumes together; a run has at most {limit}", limit = limits::RUN_VOLUMES)]
    VolumesTooMany(usize),
    /// The blueprint has no gate.
    #[error("the blueprint has no gate")]
    NoGate,
    /// A command has no canonical form.
    #[error("the command {0} has no canonical form")]
    Command(GateId, #[source] EncodeError),
}

impl Pins {
    /// The pins of a run under these documents. The limits are the least of blueprint, profile and command.
    ///
    /// # Errors
    /// [`PinsError`] where blueprint and catalog do not fit each other.
    pub fn derive(documents: &PinnedDocuments<'_>, circumstances: Circumstances) -> Result<Self, PinsError> {
        let (blueprint, blueprint_digest) = documents.blueprint;
        let (profile, profile_digest) = documents.profile;
        let (catalog, catalog_digest) = documents.catalog;
        let spec = &blueprint.spec;
        let budget = spec.run_budget.min(&profile.spec.run_budget).min(&circumstances.ceilings);
        let (request, goal) = match circumstances.request {
            Some((request, words)) => (Some(request), words),
            None => (None, spec.goal.clone()),
        };
        Ok(Self {
            scope: circumstances.scope,
            run: circumstances.run,
            name: circumstances.name,
            goal,
            blueprint: BlueprintPin { id: blueprint.metadata.name.clone(), digest: blueprint_digest },
            stage: spec.stage,
            accountability: accountability(blueprint),
            base: circumstances.base,
            revision: circumstances.revision,
            policy: documents.policy,
            profile: ProfilePin { name: profile.metadata.name.clone(), digest: profile_digest },
            catalog: catalog_digest,
            image: image(blueprint, catalog)?,
            backend: circumstances.backend,
            volumes: volumes(blueprint, catalog)?,
            paths: spec.scope.paths.clone(),
            work: spec.scope.work.iter().map(|work| work.as_str().to_owned()).collect(),
            cases: spec.acceptance_cases.iter().map(|case| case.id.clone()).collect(),
            gates: gates(blueprint, catalog, circumstances.rules)?,
            limits: Limits::from(&budget),
            agent: circumstances.agent,
            request,
            rules: circumstances.rules,
        })
    }
}

fn accountability(blueprint: &Blueprint) -> Accountability {
    let accountability = &blueprint.spec.accountability;
    let cleanup = &accountability.cleanup;
    Accountability {
        owner: accountability.owner.clone(),
        later_owner: accountability.later_owner.clone(),
        cleanup: format!("{} (after {} days)", cleanup.obligation, cleanup.after_days),
    }
}

/// The one image that all commands of the blueprint, hidden ones included, run in.
fn image(blueprint: &Blueprint, catalog: &NamedCommandCatalog) -> Result<Digest, PinsError> {
    let mut found = None;
    for gate in &blueprint.spec.gates {
        for id in std::iter::once(&gate.id).chain(&gate.hidden_check) {
            let image = command(catalog, id)?.image;
            match found {
                Some(first) if first != image => return Err(PinsError::ImagesMixed(first, image)),
                _ => found = Some(image),
            }
        }
    }
    found.ok_or(PinsError::NoGate)
}

/// Every volume that a command of the blueprint, hidden ones included, names.
fn volumes(blueprint: &Blueprint, catalog: &NamedCommandCatalog) -> Result<Vec<VolumeMount>, PinsError> {
    let mut found = BTreeSet::new();
    for gate in &blueprint.spec.gates {
        for id in std::iter::once(&gate.id).chain(&gate.hidden_check) {
            found.extend(command(catalog, id)?.volumes.iter().cloned());
        }
    }
    if found.len() > limits::RUN_VOLUMES {
        return Err(PinsError::VolumesTooMany(found.len()));
    }
    Ok(found.into_iter().collect())
}

fn gates(
    blueprint: &Blueprint,
    catalog: &NamedCommandCatalog,
    rules: Rules,
) -> Result<Vec<GatePin>, PinsError> {
    blueprint
        .spec
        .gates
        .iter()
        .map(|gate| {
            let command = command(catalog, &gate.id)?;
            let digest = ambit_canonical::encode(command)
                .map_err(|error| PinsError::Command(gate.id.clone(), error))?
                .digest();
            Ok(GatePin {
                id: gate.id.clone(),
                cases: gate.cases.iter().cloned().collect(),
                command: digest,
                cost: command.cost,
                output: command.resources.limits.output_bytes,
                processes: command.resources.parallel_processes,
                reports: rules >= Rules::Watched && command.report.is_some(),
                hidden_check: gate.hidden_check.clone(),
            })
        })
        .collect()
}

fn command<'a>(catalog: &'a NamedCommandCatalog, id: &GateId) -> Result<&'a CatalogCommand, PinsError> {
    catalog.command(id).ok_or_else(|| PinsError::CommandMissing(id.clone()))
}

impl From<&RunBudget> for Limits {
    fn from(budget: &RunBudget) -> Self {
        Self {
            model_steps: budget.max_model_steps,
            patch_attempts_per_gate: budget.max_patch_attempts_per_gate,
            elapsed: budget.max_elapsed,
            changed_files: budget.max_changed_files,
            added_dependencies: budget.max_added_dependencies,
            parallel_processes: budget.max_parallel_processes,
            tool_cost: budget.max_tool_cost,
            repeated_failure: budget.stop_on_repeated_failure_fingerprint,
            output: budget.max_output,
            side_effects: budget.max_side_effects,
        }
    }
}

impl From<&Limits> for BudgetCeilings {
    /// Limits as caps: whatever they are taken from stays at or above each of them, or it changes.
    fn from(limits: &Limits) -> Self {
        Self {
            max_model_steps: Some(limits.model_steps),
            max_patch_attempts_per_gate: Some(limits.patch_attempts_per_gate),
            max_elapsed: Some(limits.elapsed),
            max_changed_files: Some(limits.changed_files),
            max_added_dependencies: Some(limits.added_dependencies),
            max_parallel_processes: Some(limits.parallel_processes),
            max_tool_cost: Some(limits.tool_cost),
            stop_on_repeated_failure_fingerprint: Some(limits.repeated_failure),
            max_output: Some(limits.output),
            max_side_effects: Some(limits.side_effects),
        }
    }
}
