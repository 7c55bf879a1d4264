//! Looking at runs, without touching them.

use ambit_evidence::Link;
use ambit_ids::{DurationMs, UnixMs};
use ambit_orchestrator::{Driver, RunRef, RunView, view};
use ambit_revision::Totals;
use ambit_run::{Limit, Phase, State, StopReason};
use serde_json::{Value, json};

use crate::agent;
use crate::answer::Answer;
use crate::calls::{calls, patches, section};
use crate::compose::Services;
use crate::context::{Context, ambit_in};
use crate::cost::Cost;
use crate::decision::{Waiting, asked, waiting};
use crate::ending::ending;
use crate::failure::{Failure, exit};
use crate::interrupt::Signals;
use crate::live::{Keyboard, Live};
use crate::outputs;
use crate::question::{Question, question};
use crate::text::{Sections, first_line, left_alone, next_steps, run_page};

/// How long nobody must drive a run before whoever watches it is told so: it is handed from one process to the next.
const HANDOVER_MS: DurationMs = DurationMs::new(1_000);

/// A run as a page, and in JSON with every call and patch too. Whoever followed the run was told of the calls.
pub(crate) async fn shown(services: &Services, run: &RunRef, state: &State) -> Result<Answer, Failure> {
    page(services, run, state, false).await
}

async fn page(services: &Services, run: &RunRef, state: &State, with_calls: bool) -> Result<Answer, Failure> {
    let links = links(services, run).await?;
    let now = as_of(services, &links, state)?;
    let missing = || Failure::new("RUN_NOT_FOUND", "there is no such run");
    let mut seen = view(state, now).ok_or_else(missing)?;
    let decided = match asked(state) {
        Some(pending) => waiting(services, run, pending).await?,
        None => None,
    };
    let decided = decided.map(|decision| Waiting::correct(&decision, &mut seen));
    let calls = calls(&links);
    let question = question(services, &run.scope, &links, &seen).await?;
    let changes = changes(services, run, state).await;
    let cost = state.dossier().map(|dossier| Cost::of(&links, dossier));
    let outputs = match state.dossier() {
        Some(dossier) => outputs::outputs(services, run, dossier).await,
        None => Vec::new(),
    };
    let sections = Sections {
        calls: if with_calls { section(&calls) } else { String::new() },
        outputs: outputs::section(&outputs),
        asked: question.as_ref().map(Question::page).unwrap_or_default(),
        lines: changes.as_ref().map(|changes| changes.lines),
        cost: cost.as_ref().map(Cost::page).unwrap_or_default(),
        ending: state.stop_reason().and_then(ending),
    };
    let mut text = run_page(&seen, &sections, !with_calls && state.stop_reason().is_some(), now);
    let driver = driver(services, run, state).await?;
    match driver {
        Some(Driver::Gone | Driver::Nobody) => {
            let agent = state.dossier().map_or("", |dossier| agent::option(&dossier.pins.agent));
            text.push_str(&left_alone(&seen, driver == Some(Driver::Gone), agent));
        }
        _ if !with_calls => text.push_str(&next_steps(&seen)),
        _ => {}
    }
    let mut answer = Answer::of(text, &seen)?.prose().exiting(exit_of(state));
    answer.json["driver"] = json!(driver.map(Driver::as_str));
    answer.json["calls"] = json!(calls);
    answer.json["outputs"] = json!(outputs);
    if let Some(question) = question {
        answer.json["question"] = json!(question);
    }
    if let Some(decided) = decided {
        answer.json["decision"] = json!(decided);
    }
    answer.json["cost"] = json!(cost);
    answer.json["changes"] = json!(changes);
    answer.json["patches"] = json!(state.dossier().map(patches));
    Ok(answer)
}

/// How far a run's tree is from its base, in numbers. A page is shown without them where the trees cannot be read.
async fn changes(services: &Services, run: &RunRef, state: &State) -> Option<Totals> {
    let dossier = state.dossier().filter(|dossier| !dossier.patches.is_empty())?;
    let base = services.revisions.load(&run.scope, dossier.pins.base.tree).await.ok()?;
    let head = services.revisions.load(&run.scope, dossier.head).await.ok()?;
    let diff = services.revisions.difference(&run.scope, &base, &head).await.ok()?;
    Some(diff.comparison.totals)
}

/// Who drives a run that has not ended.
async fn driver(services: &Services, run: &RunRef, state: &State) -> Result<Option<Driver>, Failure> {
    if matches!(state, State::Ended(_)) {
        return Ok(None);
    }
    let driver = services.orchestrator.driver(run).await;
    driver.map(Some).map_err(|error| Failure::of(error.code(), &error))
}

/// The moment at which a run is looked at. What ended stays as it was at its last record.
pub(crate) fn as_of(services: &Services, links: &[Link], state: &State) -> Result<UnixMs, Failure> {
    match (state, links.last()) {
        (State::Ended(_), Some(last)) => {
            last.record.ts.parse().map_err(|error| Failure::of("RECORD_UNREADABLE", &error))
        }
        _ => Ok(services.clock.now()),
    }
}

pub(crate) async fn links(services: &Services, run: &RunRef) -> Result<Vec<Link>, Failure> {
    let loaded =
        services.journal.load(&run.stream()).await.map_err(|error| Failure::of(error.code(), &error))?;
    Ok(loaded.links)
}

/// The exit code of a run: what it ended by.
fn exit_of(state: &State) -> u8 {
    match (state.phase(), state.stop_reason()) {
        (Some(Phase::NeedsApproval), _) => exit::NEEDS_APPROVAL,
        (_, None) => exit::OK,
        (_, Some(reason)) => match reason {
            StopReason::GatesPassed => exit::OK,
            StopReason::BudgetExhausted(Limit::RepeatedFailure) => exit::RUN_FAILED,
            StopReason::BudgetExhausted(_) => exit::BUDGET,
            StopReason::PolicyDenied(_) => exit::DENIED,
            StopReason::CustomerCancelled => exit::CANCELLED,
            StopReason::ApprovalExpired => exit::APPROVAL,
            StopReason::AgentStopped | StopReason::HiddenCheckFailed => exit::RUN_FAILED,
            StopReason::InfrastructureFailure(code)
                if ["BACKEND", "SANDBOX", "IMAGE"].iter().any(|part| code.starts_with(part)) =>
            {
                exit::UNAVAILABLE
            }
            StopReason::InfrastructureFailure(_) => exit::INTERNAL,
        },
    }
}

pub(crate) async fn list(context: &Context) -> Result<Answer, Failure> {
    let services = context.open()?;
    let mut text = String::new();
    let mut runs: Vec<Value> = Vec::new();
    for run in services.run_ids(&context.scope).await? {
        let run = RunRef { scope: context.scope.clone(), run };
        let state =
            services.orchestrator.state(&run).await.map_err(|error| Failure::of(error.code(), &error))?;
        let Some(seen) = view(&state, services.clock.now()) else { continue };
        text.push_str(&row(&seen));
        runs.push(json!({
            "run": seen.run, "name": seen.name, "goal": seen.goal, "phase": seen.phase, "revision": seen.revision,
            "stopReason": seen.stop_reason, "previewReady": seen.preview_ready,
        }));
    }
    if runs.is_empty() {
        text.push_str("no run yet\n");
    }
    Ok(Answer::new(text, json!({"runs": runs})).prose())
}

/// A run in a list: how it stands, and below what it is for.
fn row(seen: &RunView) -> String {
    let reason = seen.stop_reason.as_deref().unwrap_or_default();
    let stands = format!("{:<30}  {:<14}  {:<8}  {reason}", seen.run.as_str(), seen.phase, seen.revision);
    let name = seen.name.as_deref().map(|name| format!("{name}: ")).unwrap_or_default();
    format!("{}\n  {name}{}\n", stands.trim_end(), first_line(&seen.goal))
}

pub(crate) async fn show(context: &Context, named: &str) -> Result<Answer, Failure> {
    let services = context.open()?;
    let (run, state) = services.run(&context.scope, named).await?;
    Ok(page(&services, &run, &state, true).await?.exiting(exit::OK))
}

/// Follows a run that another process drives, from its first record on, until it ends or nobody drives it.
pub(crate) async fn watch(context: &Context, named: &str) -> Result<Answer, Failure> {
    let services = context.open()?;
    let (run, _) = services.run(&context.scope, named).await?;
    let live = Live::from_the_first(context, &services, &run, &links(&services, &run).await?).await?;
    let mut signals = Signals::at_terminal();
    let (state, code) = tokio::select! {
        seen = until_over(&services, &run, &live) => seen?,
        code = live.attend(&mut signals, Keyboard::Leaves) => {
            live.end();
            context.note(&format!("no longer watching; the run goes on\n{}", still_open(context, named)));
            let state = services.orchestrator.state(&run).await;
            (state.map_err(|error| Failure::of(error.code(), &error))?, Some(code))
        }
    };
    live.end();
    let answer = shown(&services, &run, &state).await?.last_line();
    Ok(match code {
        Some(code) => answer.exiting(code),
        None => answer,
    })
}

/// What can be done about a run that goes on.
fn still_open(context: &Context, named: &str) -> String {
    let ambit = ambit_in(&context.scope);
    format!(
        "next         {ambit} run watch {named}   looks on again\n             {ambit} run cancel {named}   ends it"
    )
}

/// Tells of a run until it has ended or nobody drives it, and then with which exit code to say so.
async fn until_over(services: &Services, run: &RunRef, live: &Live) -> Result<(State, Option<u8>), Failure> {
    let mut alone_since = None;
    loop {
        let links = links(services, run).await?;
        live.catch_up(&links)?;
        let state =
            ambit_orchestrator::fold(&links).map_err(|error| Failure::of("RECORD_UNREADABLE", &error))?;
        let now = services.clock.now();
        let is_over = match driver(services, run, &state).await? {
            None => return Ok((state, None)),
            Some(Driver::Process) => {
                alone_since = None;
                false
            }
            Some(Driver::Gone) => true,
            Some(Driver::Nobody) => now.since(*alone_since.get_or_insert(now)) >= HANDOVER_MS,
        };
        if is_over {
            let waits = state.phase() == Some(Phase::NeedsApproval);
            let code = if waits { exit::NEEDS_APPROVAL } else { exit::INTERNAL };
            return Ok((state, Some(code)));
        }
        services.clock.sleep_until(now.saturating_add(DurationMs::new(100))).await;
    }
}
