//! The sandboxes of a run: measured, its own, and provably gone.

use ambit_blueprint::ExecutionCapabilityProfile;
use ambit_ports::sandbox::{CancellationReceipt, CapabilityManifest, DestructionReceipt, SandboxLease};
use ambit_run::{Event, Pins, SandboxHeld};
use ambit_sandboxes::unmet;

use crate::finding::{Finding, LinkName};
use crate::findings::{Findings, refuting};
use crate::trace::Trace;
use crate::vault::Vault;

/// Checks every allocation: the lease is this run's, and the manifest was measured and meets the profile.
pub(crate) async fn check(
    trace: &Trace<'_>,
    pins: &Pins,
    profile: &ExecutionCapabilityProfile,
    vault: &Vault,
) -> Findings {
    let mut findings = Findings::default();
    for (at, event) in trace.events() {
        let Event::SandboxAllocated(held) = event else { continue };
        let link = trace.name(at);
        let lease = SandboxLease::id_of(&pins.scope, &pins.run);
        if held.lease != lease {
            findings.refute(link.clone(), format!("the lease of this run is {lease}"));
        }
        if held.backend != pins.backend {
            findings.refute(link.clone(), format!("the run is pinned to the backend {}", pins.backend));
        }
        let manifest =
            vault.read_value::<CapabilityManifest>(&pins.scope, "the sandbox manifest", held.manifest).await;
        let Some(manifest) = findings.take(manifest) else { continue };
        if manifest.backend_id != held.backend {
            findings.refute(link, format!("its manifest is of the backend {}", manifest.backend_id));
            continue;
        }
        for unmet in unmet(profile, &manifest) {
            findings.refute(
                link.clone(),
                format!("its manifest does not meet the profile: {} ({})", unmet.requirement, unmet.measured),
            );
        }
    }
    findings
}

/// Checks every receipt of the cleanup.
pub(crate) async fn check_cleanup(trace: &Trace<'_>, pins: &Pins, vault: &Vault) -> Findings {
    let mut findings = Findings::default();
    for (at, event) in trace.events() {
        let checked = match event {
            Event::ProcessesTerminated { killed, receipt } => {
                let what = "the cancellation receipt";
                let kept = vault.read_value::<CancellationReceipt>(&pins.scope, what, *receipt).await;
                kept.and_then(|kept| cancelled(trace.name(at), pins, trace.sandbox(at), &kept, *killed))
            }
            Event::SandboxDestroyed { receipt } => {
                let what = "the destruction receipt";
                let kept = vault.read_value::<DestructionReceipt>(&pins.scope, what, *receipt).await;
                kept.and_then(|kept| destroyed(trace.name(at), pins, trace.sandbox(at), &kept))
            }
            _ => continue,
        };
        findings.take(checked);
    }
    findings
}

fn cancelled(
    link: LinkName,
    pins: &Pins,
    held: Option<&SandboxHeld>,
    receipt: &CancellationReceipt,
    killed: u32,
) -> Result<(), Finding> {
    if receipt.lease != SandboxLease::id_of(&pins.scope, &pins.run) {
        return Err(refuting(link, "its receipt is about the sandbox of another run"));
    }
    if held.is_some_and(|held| held.incarnation != receipt.incarnation) {
        return Err(refuting(link, "its receipt is about another life of the sandbox"));
    }
    if receipt.remaining_processes != 0 {
        return Err(refuting(link, format!("{} processes remain", receipt.remaining_processes)));
    }
    if receipt.killed_processes != killed {
        return Err(refuting(link, format!("its receipt says {} processes", receipt.killed_processes)));
    }
    Ok(())
}

/// A run that held no sandbox at its end removes whatever life of its lease there may be, so the receipt may name any.
fn destroyed(
    link: LinkName,
    pins: &Pins,
    held: Option<&SandboxHeld>,
    receipt: &DestructionReceipt,
) -> Result<(), Finding> {
    if receipt.lease != SandboxLease::id_of(&pins.scope, &pins.run) {
        return Err(refuting(link, "its receipt is about the sandbox of another run"));
    }
    if held.is_some_and(|held| held.incarnation != receipt.incarnation) {
        return Err(refuting(link, "its receipt is about another life of the sandbox"));
    }
    if !receipt.is_proof() {
        return Err(refuting(link, "its receipt does not prove that nothing is left"));
    }
    Ok(())
}
