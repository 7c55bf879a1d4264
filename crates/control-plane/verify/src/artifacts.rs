//! What a run made, as one document.

use ambit_blueprint::NamedCommandCatalog;
use ambit_evidence::artifacts::{
    Approval, Budget, Check, CheckVerdict, DocumentKind, Grant, LogReference, PatchReference, RunArtifacts,
    TreeReference,
};
use ambit_evidence::v1::{AmountsV1, LimitsV1, PatchV1};
use ambit_gates::{Ending, ResourceLimit};
use ambit_ids::{ByteCount, ProposalId};
use ambit_orchestrator::RunRef;
use ambit_ports::sandbox::{ExecutionObservation, OutputCapture};
use ambit_revision::Diff;
use ambit_run::{Dossier, GateRecord, State};

use crate::compose::Services;
use crate::failure::Failure;
use crate::outputs::OBSERVATION_LIMIT;

/// The canonical difference from a run's base to its newest tree.
pub(crate) async fn changes(services: &Services, run: &RunRef, dossier: &Dossier) -> Result<Diff, Failure> {
    let failed = |error: ambit_revisions::RevisionError| Failure::of(error.code(), &error);
    let base = services.revisions.load(&run.scope, dossier.pins.base.tree).await.map_err(failed)?;
    let head = services.revisions.load(&run.scope, dossier.head).await.map_err(failed)?;
    services.revisions.difference(&run.scope, &base, &head).await.map_err(failed)
}

/// What a run made. `changes` is the difference from its base to its newest tree.
pub(crate) async fn artifacts(
    services: &Services,
    run: &RunRef,
    state: &State,
    dossier: &Dossier,
    changes: &Diff,
) -> Result<RunArtifacts, Failure> {
    let pins = &dossier.pins;
    let catalog = services.documents().catalog(&run.scope, pins.catalog).await;
    let catalog = catalog.map_err(|error| Failure::of(error.code(), &error))?;
    let mut verification = Vec::new();
    for record in dossier.gates.records() {
        verification.push(check(services, run, &catalog, record, false).await?);
    }
    for record in &dossier.hidden {
        verification.push(check(services, run, &catalog, record, true).await?);
    }
    let phase = state.phase().ok_or_else(|| Failure::new("RUN_NOT_FOUND", "there is no such run"))?;
    Ok(RunArtifacts {
        kind: DocumentKind::V1,
        run: run.run.clone(),
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
    services: &Services,
    run: &RunRef,
    catalog: &NamedCommandCatalog,
    record: &GateRecord,
    hidden: bool,
) -> Result<Check, Failure> {
    let bytes = services.blobs.get(&run.scope, record.artifact, OBSERVATION_LIMIT).await;
    let bytes = bytes.map_err(|error| Failure::of(error.code(), &error))?;
    let seen: ExecutionObservation =
        serde_json::from_slice(&bytes).map_err(|error| Failure::of("OBSERVATION_UNREADABLE", &error))?;
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
