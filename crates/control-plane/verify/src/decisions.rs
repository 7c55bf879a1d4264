//! Assesses every call again from the source, and decides it again by the pinned rules.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ambit_broker::{Assessment, BrokerError, Ground, Source};
use ambit_ids::Digest;
use ambit_policy::{ApprovalInHand, EngineVersion, Request, Verdict};
use ambit_ports::policy::{Policies, PolicyEngine};
use ambit_run::{
    CallDecided, CallOutcome, DenialCode, Event, Inspection, Pins, ProposedCall, Rules, ToolCall,
};
use serde_json::Value;

use crate::finding::{Finding, LinkName};
use crate::findings::{Findings, refuting, unsettled};
use crate::trace::Trace;
use crate::vault::{RECEIPT_BYTES, Vault, of_revision};

/// What every call would do, by the position of its record.
pub(crate) type Assessments = BTreeMap<usize, Result<Assessment, Finding>>;

/// Finds out again what every call of the run would do to the tree that was current.
pub(crate) async fn assess(
    trace: &Trace<'_>,
    ground: &Ground,
    source: &Source,
    vault: &Vault,
) -> Assessments {
    let mut assessments = Assessments::new();
    for (at, decided) in trace.calls() {
        assessments.insert(at, assess_one(trace, at, decided, ground, source, vault).await);
    }
    assessments
}

async fn assess_one(
    trace: &Trace<'_>,
    at: usize,
    decided: &CallDecided,
    ground: &Ground,
    source: &Source,
    vault: &Vault,
) -> Result<Assessment, Finding> {
    let head = match trace.dossier(at) {
        Some(dossier) => dossier.head,
        None => return Err(refuting(trace.name(at), "there is no run yet")),
    };
    let patch = match &decided.call {
        ToolCall::ApplyProjectPatch { patch, patch_bytes, .. } => {
            let what = "the proposed patch";
            let bytes = vault.read(&ground.pins.scope, what, *patch, *patch_bytes).await?;
            if bytes.len() as u64 != patch_bytes.get() {
                return Err(refuting(trace.name(at), format!("the patch has {} bytes", bytes.len())));
            }
            Some(bytes.to_vec())
        }
        _ => None,
    };
    // The words of a hypothesis change nothing about what a call would do.
    let proposed =
        ProposedCall { call: decided.call.clone(), patch, step: decided.step.clone(), hypothesis: None };
    source.assess(ground, head, &proposed).await.map_err(|error| of_broker(trace.name(at), &error))
}

/// What a failure to look at the source says.
pub(crate) fn of_broker(link: LinkName, error: &BrokerError) -> Finding {
    match error {
        BrokerError::Revision(error) => of_revision(error),
        BrokerError::Altered(what) => refuting(link, *what),
        other => unsettled(Some(link), format!("{other} ({})", other.code())),
    }
}

/// Makes every request again, compares it with the one that was kept, and decides it again.
pub(crate) async fn check(
    trace: &Trace<'_>,
    pins: &Pins,
    assessments: &Assessments,
    policies: &dyn Policies,
    vault: &Vault,
) -> Findings {
    let mut findings = Findings::default();
    if assessments.is_empty() {
        return findings;
    }
    let engines = engines(trace, pins, policies, &mut findings).await;
    for (at, decided) in trace.calls() {
        match assessments.get(&at) {
            Some(Ok(assessment)) => {
                let request = check_request(trace, at, decided, pins, assessment, vault).await;
                let Some(request) = findings.take(request) else { continue };
                if let Some(engine) = engines.get(&decided.decision.engine) {
                    findings.take(check_answer(trace, at, decided, &request, engine.as_ref()));
                }
                if let Some(view) = view_of(decided, pins, assessment) {
                    findings.take(vault.read(&pins.scope, "the view of a call", view, RECEIPT_BYTES).await);
                }
            }
            Some(Err(finding)) => findings.push(finding.clone()),
            None => findings.push(unsettled(Some(trace.name(at)), "the call was not assessed")),
        }
    }
    findings
}

/// The engines by which the run's decisions say that they were made. One that there is none of is told once, and leaves its
/// decisions unsettled.
async fn engines(
    trace: &Trace<'_>,
    pins: &Pins,
    policies: &dyn Policies,
    findings: &mut Findings,
) -> BTreeMap<EngineVersion, Arc<dyn PolicyEngine>> {
    let named: BTreeSet<&EngineVersion> =
        trace.calls().map(|(_, decided)| &decided.decision.engine).collect();
    let mut engines = BTreeMap::new();
    for name in named {
        match policies.engine_named(&pins.scope, pins.policy, name).await {
            Ok(engine) => {
                engines.insert(name.clone(), engine);
            }
            Err(error) => {
                let link = LinkName::Document { what: "the policy set".to_owned(), digest: pins.policy };
                findings.push(unsettled(Some(link), error.to_string()));
            }
        }
    }
    engines
}

/// The view that must have been kept before anybody could be asked about a call.
fn view_of(decided: &CallDecided, pins: &Pins, assessment: &Assessment) -> Option<Digest> {
    let is_asked = matches!(decided.decision.verdict, Verdict::NeedsApproval(_));
    match &assessment.view.inspection {
        Inspection::Whole(view) if is_asked && pins.rules >= Rules::Consent => Some(*view),
        Inspection::Whole(_) | Inspection::Impossible(_) => None,
    }
}

/// The request that must have been decided, if it is the one whose digest the record names and whose bytes were kept.
async fn check_request(
    trace: &Trace<'_>,
    at: usize,
    decided: &CallDecided,
    pins: &Pins,
    assessment: &Assessment,
    vault: &Vault,
) -> Result<Request, Finding> {
    if assessment.arguments != decided.arguments {
        let why = format!("the arguments have the digest {}", assessment.arguments);
        return Err(refuting(trace.name(at), why));
    }
    let input = decided.decision.input;
    let kept = vault.read(&pins.scope, "the policy request", input, RECEIPT_BYTES).await?;
    let requests = requests(trace, at, decided, pins, assessment);
    for request in &requests {
        if request.to_canonical().is_ok_and(|bytes| bytes.as_bytes() == kept) {
            return Ok(request.clone());
        }
    }
    let differing = requests.first().map_or_else(|| "everything".to_owned(), |made| differing(made, &kept));
    Err(refuting(trace.name(at), format!("the request that was decided differs in: {differing}")))
}

/// The requests that can have been made: an approval that was in hand when the turn was offered, or when the call was looked
/// at, may have ended by the time it was decided.
fn requests(
    trace: &Trace<'_>,
    at: usize,
    decided: &CallDecided,
    pins: &Pins,
    assessment: &Assessment,
) -> Vec<Request> {
    let settled = (0..at).rev().find(|before| matches!(trace.events[*before], Event::TurnSettled { .. }));
    let Some(settled) = settled else { return Vec::new() };
    let opened = (0..settled).rev().find(|before| matches!(trace.events[*before], Event::TurnOpened { .. }));
    let moments = [trace.times[settled], trace.times[settled.saturating_sub(1)]];
    let mut approvals: Vec<Option<ApprovalInHand>> = Vec::new();
    for seen in (opened.map_or(settled, |opened| opened + 1)..=settled).rev() {
        for moment in moments {
            let Some(dossier) = trace.dossier(seen) else { continue };
            let approval = dossier.approvals.as_fact(assessment.arguments, moment);
            if !approvals.contains(&approval) {
                approvals.push(approval);
            }
        }
    }
    let request = |approval| Request {
        scope: pins.scope.clone(),
        run: pins.run.clone(),
        blueprint: pins.blueprint.digest,
        policy: pins.policy,
        tool: decided.call.tool(),
        arguments: assessment.arguments,
        facts: assessment.facts.clone(),
        asked: match &decided.call {
            ToolCall::RequestScopedApproval { capability, .. } => Some(*capability),
            _ => None,
        },
        approval,
    };
    approvals.into_iter().map(request).collect()
}

/// The approval of which the policy was told when it decided a call: the one with which the request has the digest that the
/// record names.
pub(crate) fn approval_of(
    trace: &Trace<'_>,
    at: usize,
    decided: &CallDecided,
    assessment: &Assessment,
) -> Option<ApprovalInHand> {
    let pins = trace.pins()?;
    let is_named = |request: &Request| {
        request.to_canonical().is_ok_and(|bytes| bytes.digest() == decided.decision.input)
    };
    requests(trace, at, decided, pins, assessment).into_iter().find(is_named)?.approval
}

/// The members in which a kept request differs from the one that follows from the run.
fn differing(made: &Request, kept: &[u8]) -> String {
    let (made, kept) = (serde_json::to_value(made), serde_json::from_slice::<Value>(kept));
    let (Ok(Value::Object(made)), Ok(Value::Object(kept))) = (made, kept) else {
        return "everything".to_owned();
    };
    let mut names: Vec<&str> = made
        .iter()
        .filter(|(name, value)| kept.get(*name) != Some(value))
        .map(|(name, _)| name.as_str())
        .collect();
    names.sort_unstable();
    if names.is_empty() { "its form".to_owned() } else { names.join(", ") }
}

fn check_answer(
    trace: &Trace<'_>,
    at: usize,
    decided: &CallDecided,
    request: &Request,
    engine: &dyn PolicyEngine,
) -> Result<(), Finding> {
    let answer = engine.decide(request);
    let recorded = &decided.decision;
    if (answer.verdict, &answer.rules) == (recorded.verdict, &recorded.rules) {
        let told = told_instead(decided);
        let possible = engine.alternatives(&answer);
        let says = |told: &String| {
            *told == possible || (possible.is_empty() && *told == DenialCode::PolicyDenied.instead())
        };
        return if told.is_none_or(says) {
            Ok(())
        } else {
            Err(refuting(trace.name(at), "the pinned rules say something else is possible instead"))
        };
    }
    let rules: Vec<&str> = answer.rules.iter().map(ambit_ids::RuleId::as_str).collect();
    let why = format!("the pinned rules answer {:?} by {}", answer.verdict, rules.join(", "));
    Err(refuting(trace.name(at), why))
}

/// What was told to be possible instead of a call that the policy denied. Ends of runs told nothing of it once.
pub(crate) fn told_instead(decided: &CallDecided) -> Option<&String> {
    match &decided.outcome {
        CallOutcome::Denied(denial) if denial.code == DenialCode::PolicyDenied => Some(&denial.instead),
        CallOutcome::Ends { instead, .. } if !instead.is_empty() => Some(instead),
        _ => None,
    }
}
