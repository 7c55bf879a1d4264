use ambit_evidence::CredentialForm;
use ambit_ids::{DurationMs, ProposalId, UnixMs};
use ambit_orchestrator::{Driver, InboxCommand, RunRef, SignedDecision, view};
use ambit_ports::store::StoreError;
use ambit_run::{ApprovalVerdict, PendingApproval};
use serde_json::json;

use crate::answer::Answer;
use crate::ask;
use crate::cli::DecideArgs;
use crate::compose::Services;
use crate::context::{Context, ambit_in};
use crate::credential::credential;
use crate::decision::{asked, waiting};
use crate::failure::Failure;
use crate::question::question;
use crate::verbs::run_view::links;

/// Decides about a proposal. The decision is signed here, and left for whoever drives the run.
pub(crate) async fn decide(
    context: &Context,
    arguments: DecideArgs,
    approve: bool,
) -> Result<Answer, Failure> {
    let services = context.open()?;
    let (run, pending) = find(&services, context, &arguments.proposal).await?;
    if pending.digest != arguments.digest {
        return Err(Failure::new(
            "APPROVAL_NOT_AWAITED",
            format!("{} has the digest {}, not {}", arguments.proposal, pending.digest, arguments.digest),
        )
        .help("look at the proposal again with `ambit run show`, and quote its digest"));
    }
    in_time(&pending, services.clock.now())?;
    // What is approved is there, whole and unaltered, whether or not it is shown here.
    if approve || context.can_ask() {
        let page = shown(&services, &run, &pending, approve).await?;
        if context.can_ask() {
            ask::show(&page);
        }
    }
    let credential = credential(context, &services, &arguments.credential).await?;
    let verdict = if approve { ApprovalVerdict::Approved } else { ApprovalVerdict::Rejected };
    let decision = services
        .projects
        .sign_decision(
            &context.scope,
            &pending.proposal,
            pending.digest,
            pending.asked_at,
            verdict,
            &credential,
        )
        .await
        .map_err(|error| Failure::of(error.code(), &error))?;
    let (approver, form) = (decision.approver.clone(), credential.form());
    leave(&services, &run, &pending, decision).await?;
    let taken = wait_until_taken(&services, &run, &pending).await?;
    let state = if taken {
        "and the run has taken it".to_owned()
    } else {
        format!("and waits for the run to be driven on before {}", pending.expires)
    };
    Ok(Answer::new(
        format!("{} is {} by {approver}, {state}{}\n", pending.proposal, verdict.as_str(), told(form)),
        json!({"proposal": pending.proposal, "decision": verdict.as_str(), "approver": approver,
            "credential": form, "taken": taken}),
    )
    .prose())
}

/// A question whose time is over is decided no more: the run ends of it as soon as it is driven on.
fn in_time(pending: &PendingApproval, now: UnixMs) -> Result<(), Failure> {
    if now < pending.expires {
        return Ok(());
    }
    let what = format!("the time to decide about {} was over at {}", pending.proposal, pending.expires);
    Err(Failure::new("APPROVAL_EXPIRED", what).help(
        "nothing was signed, and the proposal was not done; `ambit run resume` lets the run end, and another \
         start asks again",
    ))
}

/// What whoever is about to decide is shown of what the decision is about, in the words that its digest covers.
async fn shown(
    services: &Services,
    run: &RunRef,
    pending: &PendingApproval,
    approves: bool,
) -> Result<String, Failure> {
    let failed = |error: ambit_orchestrator::DriveError| Failure::of(error.code(), &error);
    let state = services.orchestrator.state(run).await.map_err(failed)?;
    // What cannot be shown is not decided about.
    let unseen = || {
        Failure::new("PROPOSAL_UNINSPECTABLE", format!("what {} asks for cannot be shown", pending.proposal))
            .help("nothing was signed; `ambit run show RUN` says where the run stands")
    };
    let seen = view(&state, services.clock.now()).ok_or_else(unseen)?;
    let links = links(services, run).await?;
    let asked = question(services, &run.scope, &links, &seen).await?.ok_or_else(unseen)?;
    let act = if approves { "approve" } else { "deny" };
    let name = seen.name.as_deref().unwrap_or(seen.run.as_str());
    Ok(format!("you {act} {} for {name}, {}\n{}", pending.capability, pending.proposal, asked.page()))
}

/// What is said of a decision that any process of the same user could have made.
fn told(form: CredentialForm) -> &'static str {
    match form {
        CredentialForm::Sealed => "",
        CredentialForm::Open => {
            "\nThe credential is open, and the decision says so; `ambit approver seal` seals it with a passphrase."
        }
    }
}

/// Leaves a decision for the run, which takes the first one. The same decision is left once; another one is refused.
async fn leave(
    services: &Services,
    run: &RunRef,
    asked: &PendingApproval,
    decision: SignedDecision,
) -> Result<(), Failure> {
    if let Some(first) = waiting(services, run, asked).await? {
        return if is_same(&first, &decision) { Ok(()) } else { Err(comes_second(run, &first)) };
    }
    let command = InboxCommand::Decide(decision.clone());
    let bytes = command.to_canonical().map_err(|error| Failure::of("DECISION_UNWRITABLE", &error))?;
    let failed = |error: StoreError| Failure::of(error.code(), &error);
    let id = services.store.send(&run.stream(), bytes).await.map_err(failed)?;
    // Somebody else may have decided since the first look.
    match waiting(services, run, asked).await? {
        Some(first) if !is_same(&first, &decision) => {
            services.store.dismiss(&run.stream(), id).await.map_err(failed)?;
            Err(comes_second(run, &first))
        }
        _ => Ok(()),
    }
}

fn is_same(one: &SignedDecision, other: &SignedDecision) -> bool {
    one.approver == other.approver && one.approved == other.approved
}

fn comes_second(run: &RunRef, first: &SignedDecision) -> Failure {
    let (proposal, verdict, approver) = (&first.proposal, first.verdict().as_str(), &first.approver);
    Failure::new(
        "DECISION_WAITS",
        format!("{proposal} is {verdict} by {approver} already, and the run takes that when it is driven on"),
    )
    .help(format!(
        "nothing was changed; `{} run show {}` says how it goes on",
        ambit_in(&run.scope),
        run.run
    ))
}

/// The run that waits for this proposal.
async fn find(
    services: &Services,
    context: &Context,
    proposal: &ProposalId,
) -> Result<(RunRef, PendingApproval), Failure> {
    for run in services.run_ids(&context.scope).await? {
        let run = RunRef { scope: context.scope.clone(), run };
        let state =
            services.orchestrator.state(&run).await.map_err(|error| Failure::of(error.code(), &error))?;
        if let Some(pending) = asked(&state).filter(|pending| pending.proposal == *proposal) {
            return Ok((run, pending.clone()));
        }
    }
    Err(Failure::new("PROPOSAL_NOT_FOUND", format!("no run of {} waits for {proposal}", context.scope))
        .help("`ambit run list` shows the runs that need an approval"))
}

/// Waits a little for the process that drives the run, as long as there is one. A run that nobody drives takes the
/// decision later.
async fn wait_until_taken(
    services: &Services,
    run: &RunRef,
    question: &PendingApproval,
) -> Result<bool, Failure> {
    for _ in 0..20 {
        // Asked for first: whoever drives it may take the decision and be done before it is looked at.
        let driver =
            services.orchestrator.driver(run).await.map_err(|error| Failure::of(error.code(), &error))?;
        let state =
            services.orchestrator.state(run).await.map_err(|error| Failure::of(error.code(), &error))?;
        if asked(&state) != Some(question) {
            return Ok(true);
        }
        if driver != Driver::Process {
            return Ok(false);
        }
        services.clock.sleep_until(services.clock.now().saturating_add(DurationMs::new(50))).await;
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use ambit_ids::Digest;
    use ambit_policy::Capability;

    use super::*;

    // proves E-H03
    // break crates/bins/ambit/src/verbs/approve.rs: `if now < pending.expires {` -> `if now <= pending.expires {`
    #[test]
    fn a_question_is_decided_until_its_time_is_over_and_no_later() {
        let pending = PendingApproval {
            proposal: ProposalId::new("prop_0123456789abcdef").unwrap(),
            digest: Digest::of(b"what is asked"),
            capability: Capability::DependencyAdd,
            asked_at: 7,
            expires: UnixMs::new(1_000),
        };
        assert!(in_time(&pending, UnixMs::new(999)).is_ok());
        for late in [1_000, 1_001, u64::MAX] {
            let refused = in_time(&pending, UnixMs::new(late)).unwrap_err();
            assert_eq!(refused.code(), "APPROVAL_EXPIRED", "{late}");
        }
    }
}
