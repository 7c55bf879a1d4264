//! Driving runs, and ending them.

use std::sync::Arc;

use ambit_ids::DurationMs;
use ambit_orchestrator::{DriveError, InboxCommand, RunRef};
use ambit_ports::agent::Agent;
use ambit_run::{Phase, State, StopReason};

use crate::agent;
use crate::answer::Answer;
use crate::compose::Services;
use crate::context::{Context, ambit_in};
use crate::failure::{Failure, exit};
use crate::interrupt::Signals;
use crate::live::{Keyboard, Live};
use crate::verbs::run_view::{links, shown};

/// Drives a run until it is over; whoever interrupts it cancels it first.
pub(crate) async fn drive(
    context: &Context,
    services: &Services,
    run: &RunRef,
    worker: Arc<dyn Agent>,
) -> Result<Answer, Failure> {
    let links = links(services, run).await?;
    let live = if links.len() == 1 {
        let live = Live::from_the_first(context, services, run, &links).await?;
        live.catch_up(&links)?;
        live
    } else {
        Live::begin(context, services, run, &links).await?
    };
    let again = {
        let (ambit, agent) = (ambit_in(&context.scope), agent::option(&agent::pin(worker.as_ref())));
        format!("drive the run on with `{ambit} run resume {}{agent}`", run.run)
    };
    let driving = async {
        if context.is_alone() {
            services.orchestrator.drive_alone(run, worker, &live).await
        } else {
            services.orchestrator.drive(run, worker, &live).await
        }
    };
    tokio::pin!(driving);
    let mut signals = Signals::at_terminal();
    let mut cut_off = None;
    let state = loop {
        let keyboard = if cut_off.is_none() { Keyboard::Asks } else { Keyboard::Waits };
        let code = tokio::select! {
            result = &mut driving => break result.map_err(|error| drive_failure(&error, &again))?,
            code = live.attend(&mut signals, keyboard) => code,
        };
        cut_off = Some(code);
        live.cancels();
        live.note(context, "cancelling; the run stops its processes and keeps its trace");
        leave_cancel(services, run).await?;
    };
    live.end();
    if state.phase() == Some(Phase::NeedsApproval) {
        context.note("a person must decide, and nobody may be asked: the run is left as it is");
    }
    let answer = shown(services, run, &state).await?.last_line();
    Ok(match cut_off {
        Some(code) if state.stop_reason() == Some(&StopReason::CustomerCancelled) => answer.exiting(code),
        _ => answer,
    })
}

/// `again` says how the same is done again.
fn drive_failure(error: &DriveError, again: &str) -> Failure {
    let failure = Failure::of(error.code(), error);
    match error {
        DriveError::Lease(_) => {
            failure.help("wait until the other process is done, or watch it with `ambit run watch`")
        }
        DriveError::Journal(_) => failure.help(format!("nothing that was committed is lost; {again}")),
        _ => failure,
    }
}

async fn leave_cancel(services: &Services, run: &RunRef) -> Result<(), Failure> {
    let command = InboxCommand::Cancel { by: Context::user() };
    let bytes = command.to_canonical().map_err(|error| Failure::of("CANCEL_UNWRITABLE", &error))?;
    services.store.send(&run.stream(), bytes).await.map_err(|error| Failure::of(error.code(), &error))?;
    Ok(())
}

/// Ends a run. Where nobody drives it, this process takes it over and sees it to its end.
pub(crate) async fn cancel(context: &Context, named: &str) -> Result<Answer, Failure> {
    let services = context.open()?;
    let (run, state) = services.run(&context.scope, named).await?;
    let services = services.on_that_of(&state)?;
    if matches!(state, State::Ended(_)) {
        return Err(Failure::new("RUN_ENDED", format!("{} has ended already", run.run)).help(format!(
            "nothing was changed; `{} run show {named}` says how it ended",
            ambit_in(&context.scope)
        )));
    }
    leave_cancel(&services, &run).await?;
    let live = Live::begin(context, &services, &run, &links(&services, &run).await?).await?.without_json();
    live.cancels();
    let mut signals = Signals::at_terminal();
    let state = tokio::select! {
        state = until_ended(&services, &run, &live) => state?,
        code = live.attend(&mut signals, Keyboard::Leaves) => {
            live.end();
            context.note("no longer waiting; the run is told to end, and `ambit run cancel` waits for it again");
            let state = services.orchestrator.state(&run).await;
            let state = state.map_err(|error| Failure::of(error.code(), &error))?;
            return Ok(shown(&services, &run, &state).await?.exiting(code));
        }
    };
    live.end();
    Ok(shown(&services, &run, &state).await?.exiting(exit::OK))
}

/// Waits until whoever drives a run has ended it, or drives it to its end where nobody does.
async fn until_ended(services: &Services, run: &RunRef, live: &Live) -> Result<State, Failure> {
    loop {
        let links = links(services, run).await?;
        let state =
            ambit_orchestrator::fold(&links).map_err(|error| Failure::of("RECORD_UNREADABLE", &error))?;
        live.catch_up(&links)?;
        if matches!(state, State::Ended(_)) {
            return Ok(state);
        }
        match services.orchestrator.wind_down(run, live).await {
            Ok(state) => return Ok(state),
            Err(DriveError::Lease(_)) => {
                let pause = services.clock.now().saturating_add(DurationMs::new(100));
                services.clock.sleep_until(pause).await;
            }
            Err(error) => return Err(drive_failure(&error, "cancel the run again")),
        }
    }
}
