//! What a run made, as one document.

use ambit_blueprint::{Document, NamedCommandCatalog};
use ambit_evidence::artifacts::{
    Approval, Budget, Check, CheckVerdict, DocumentKind, Grant, LogReference, PatchReference, RunArtifacts,
    TreeReference,
};
use ambit_evidence::v1::{AmountsV1, LimitsV1, PatchV1};
use ambit_gates::{Ending, ResourceLimit};
use ambit_ids::{ByteCount, ProposalId, Scope};
use ambit_ports::sandbox::{ExecutionObservation, OutputCapture};
use ambit_revision::Diff;
use ambit_revisions::Revisions;
use ambit_run::{Dossier, GateRecord, State};

use crate::documents::read_document;
use crate::finding::{Finding, LinkName};
use crate::findings::refuting;
use crate::vault::{Vault, of_revision};

/// The canonical difference from a run's base to its newest tree.
pub(crate) async fn changes(
    revisions: &Revisions,
    scope: &Scope,
    dossier: &Dossier,
) -> Result<Diff, Finding> {
    let failed = |error: ambit_revisions::RevisionError| of_revision(&error);
    let base = revisions.load(scope, dossier.pins.base.tree).await.map_err(failed)?;
    let head = revisions.load(scope, dossier.head).await.map_err(failed)?;
    revisions.difference(scope, &base, &head).await.map_err(failed)
}

/// What a run made. `changes` is the difference from its base to its newest tree.
pub(crate) async fn artifacts(
    vault: &Vault,
    state: &State,
    dossier: &Dossier,
    changes: &Diff,
    unfit: &LinkName,
) -> Result<RunArtifacts, Finding> {
    let pins = &dossier.pins;
    let catalog = match read_document(vault, &pins.scope, "the command catalog", pins.catalog).await? {
        Document::Catalog(catalog) => catalog,
        other => return Err(refuting(unfit.clone(), format!("its catalog is a {}", other.kind()))),
    };
    let mut verification = Vec::new();
    for record in dossier.gates.records() {
        verification.push(check(vault, &pins.scope, &catalog, record, false).await?);
    }
    for record in &dossier.hidden {
        verification.push(check(vault, &pins.scope, &catalog, record, true).await?);
    }
    let phase = state.phase().ok_or_else(|| refuting(unfit.clone(), "the run has no phase"))?;
    Ok(RunArtifacts {
        kind: DocumentKind::V1,
        run: pins.run.clone(),
        phase,
        stop: state.stop_reason().map(Into::into),
        preview_ready: matches!(state, State::Ended(ended) if ended.preview_ready),
        blueprint: pins.blueprint.digest,
        base: TreeReference { revision: pins.base.id, tree: pins.base.tree, commit: None },
        head: TreeReference { revision: pins.revision, tree: dossier.head, commit: None },
        patch: PatchReference {
            digest: changes.digest,
            size_bytes: ByteCount::new(changes.text.len() as u64),
            applied: dossier.patches.iter().map(PatchV1::from).collect(),
        },
        touched: changes.comparison.touched(),
        verification,
        approvals: approvals(dossier),
        budget: budget(dossier),
    })
}

async fn check(
    vault: &Vault,
    scope: &Scope,
    catalog: &NamedCommandCatalog,
    record: &GateRecord,
    hidden: bool,
) -> Result<Check, Finding> {
    let what = "the observation of an execution";
    let seen: ExecutionObservation = vault.read_value(scope, what, record.artifact).await?;
    let cut = record.breaches.contains(&ResourceLimit::Output);
    let log =
        |capture: &OutputCapture| LogReference { digest: capture.artifact, size_bytes: capture.bytes, cut };
    Ok(Check {
        gate: record.gate.clone(),
        attempt: record.attempt,
        hidden,
        command: catalog.command(&record.gate).map(|command| command.argv.clone()).unwrap_or_default(),
        verdict: CheckVerdict::of(record.ending, &record.objections),
        exit: match record.ending {
            Ending::Exited { code } => Some(code),
            _ => None,
        },
        ending: record.ending,
        objections: record.objections.clone(),
        tree: record.tree,
        duration_ms: record.duration,
        observation: record.artifact,
        stdout: log(&seen.stdout),
        stderr: log(&seen.stderr),
    })
}

fn approvals(dossier: &Dossier) -> Vec<Approval> {
    let granted = |proposal: &ProposalId| {
        let receipt = dossier.approvals.receipts().find(|receipt| receipt.proposal == *proposal)?;
        Some(Grant { receipt: receipt.id.clone(), expires_ms: receipt.expires, used: receipt.consumed })
    };
    let held = dossier.approvals.proposals();
    held.map(|(proposal, held)| Approval {
        proposal: proposal.clone(),
        capability: held.capability,
        patch: held.subject,
        tree: held.expected_effect,
        granted: granted(proposal),
    })
    .collect()
}

fn budget(dossier: &Dossier) -> Budget {
    let spent = dossier.ledger.spent();
    Budget {
        limits: LimitsV1::from(dossier.ledger.limits()),
        spent: AmountsV1 {
            model_steps: spent.model_steps,
            micro_usd: spent.cost,
            output_bytes: spent.output,
            side_effects: spent.side_effects,
            processes: spent.processes,
        },
    }
}
