//! What holds of every run, whatever happened to it.

use std::collections::{BTreeMap, BTreeSet};

use ambit_evidence::v1::{Body, ProjectBody};
use ambit_ids::Digest;
use ambit_orchestrator::{RunRef, fold};
use ambit_ports::runtime::Clock as _;
use ambit_ports::store::Store as _;
use ambit_run::{
    Acceptance, Amounts, CallOutcome, Dossier, Event, Limit, Observation, Phase, State, StopReason, ToolCall,
    acceptance, pending,
};
use ambit_simulation::World;

/// Everything that holds of a run which is over. `told` says in which history, so that it can be played again.
pub(crate) async fn check_ended(world: &World, run: &RunRef, state: &State, told: &str) {
    let links = world.links(run).await;
    assert_eq!(fold(&links).unwrap(), *state, "{told}: the records are not the state");
    let State::Ended(ended) = state else { panic!("{told}: the run is not over") };
    assert!(pending(state).is_empty(), "{told}: something is pending");
    assert!(world.waiting(run).await.is_empty(), "{told}: a command waits");
    let events: Vec<Event> = links.iter().map(|link| link.record.event().unwrap()).collect();
    check_alternation(&events, told);
    check_effects(world, &events, told);
    check_budget(&ended.dossier, &ended.reason, told);
    check_artifacts(world, &ended.dossier, told);
    check_outbox(world, run, ended.phase, told).await;
    check_closed(world, run, links.last().unwrap().leaf, links.len() as u64 - 1, told).await;
    if ended.cleanup_proven {
        assert!(!world.sandbox.live().iter().any(|lease| lease.run == run.run), "{told}: a sandbox is left");
    }
    let now = world.clock.now();
    let mine = world.store.leased().into_iter().filter(|lease| lease.stream == run.stream());
    let live = mine.into_iter().find(|lease| lease.expires > now);
    assert_eq!(live, None, "{told}: a lease is left");
    assert_eq!(ended.preview_ready, ended.phase == Phase::Completed, "{told}");
    if ended.preview_ready {
        assert_eq!(acceptance(&ended.dossier), Acceptance::Met, "{told}: accepted without its gates");
        assert!(ended.cleanup_proven, "{told}: accepted with something left");
    }
}

/// One small proposal, one decision about it, one observation of it: turn by turn, never two at once, and none after the
/// run began to end.
pub(crate) fn check_alternation(events: &[Event], told: &str) {
    let (mut turn, mut decided, mut open, mut stopping) = (0, true, None, false);
    for event in events {
        match event {
            Event::TurnOpened { turn: next, .. } => {
                assert!(open.is_none(), "{told}: a turn while a call is in flight");
                assert_eq!(*next, turn + 1, "{told}: a turn is left out");
                assert!(!stopping, "{told}: a turn after the end began");
                (turn, decided) = (*next, false);
            }
            Event::PlanAccepted { .. } | Event::ProposalDenied { .. } | Event::CallDecided(_) => {
                assert!(!decided, "{told}: a second decision in turn {turn}");
                assert!(!stopping, "{told}: a decision after the end began");
                decided = true;
                if let Event::CallDecided(made) = event
                    && made.outcome == CallOutcome::Perform
                {
                    let asks = matches!(made.call, ToolCall::RequestScopedApproval { .. });
                    open = Some((made.turn, asks));
                }
            }
            Event::CallObserved { turn, .. } => {
                let of = open.take().map(|(turn, _)| turn);
                assert_eq!(of, Some(*turn), "{told}: an observation of nothing");
            }
            Event::Stopping { .. } => {
                assert!(!stopping, "{told}: the run stopped twice");
                stopping = true;
            }
            _ => {}
        }
    }
    // Only a question to a person can end with its run, before anybody has answered it.
    assert!(open.is_none_or(|(_, asks)| asks && stopping), "{told}: a call was never observed");
}

/// No command ran twice under one identity, and none was observed that did not run.
fn check_effects(world: &World, events: &[Event], told: &str) {
    let mut begun: BTreeMap<String, u32> = BTreeMap::new();
    for executed in world.sandbox.executed() {
        *begun.entry(executed.effect.to_string()).or_default() += 1;
    }
    for (effect, times) in &begun {
        assert!(*times == 1 || effect.contains(".hidden."), "{told}: {effect} ran {times} times");
    }
    let mut observed = BTreeSet::new();
    for (seq, event) in events.iter().enumerate() {
        if let Event::CallObserved { turn, observation: Observation::GateFinished(record) } = event {
            let intent =
                events[..seq].iter().rposition(|event| matches!(event, Event::CallDecided(_))).unwrap();
            let ran = begun.keys().any(|effect| effect.ends_with(&format!(".call.{intent}")));
            assert!(ran, "{told}: {} of turn {turn} was seen and never ran", record.gate);
            assert!(
                observed.insert((record.gate.clone(), record.attempt)),
                "{told}: one execution seen twice"
            );
        }
    }
}

fn check_budget(dossier: &Dossier, reason: &StopReason, told: &str) {
    let (ledger, limits) = (&dossier.ledger, &dossier.pins.limits);
    assert_eq!(*ledger.reserved(), Amounts::default(), "{told}: a reservation is left");
    let spent = ledger.spent();
    assert!(spent.model_steps <= limits.model_steps, "{told}: too many turns");
    assert!(spent.side_effects <= limits.side_effects, "{told}: too many side effects");
    // What an agent reports above its reservation is charged in full, and ends the run.
    let overdrawn = *reason == StopReason::BudgetExhausted(Limit::ToolCost);
    assert!(spent.cost <= limits.tool_cost || overdrawn, "{told}: too dear");
    assert!(spent.output <= limits.output, "{told}: too much output");
    let changed = dossier.patches.last().map_or(0, |patch| patch.changed_from_base);
    assert!(changed <= limits.changed_files, "{told}: too many files");
}

/// Everything that a record names by its digest is there.
fn check_artifacts(world: &World, dossier: &Dossier, told: &str) {
    let patches = dossier.patches.iter().flat_map(|patch| [patch.proposed, patch.canonical, patch.tree]);
    let gates = dossier.gates.records().iter().map(|record| record.artifact);
    for digest in patches.chain(gates) {
        let bytes = world.blob(digest);
        assert_eq!(bytes.map(|bytes| Digest::of(&bytes)), Some(digest), "{told}: {digest} is not kept");
    }
}

async fn check_outbox(world: &World, run: &RunRef, phase: Phase, told: &str) {
    let messages = world.store.outbox(&world.scope, 0, 1_000).await.unwrap();
    let about = messages.iter().filter(|message| {
        let body: serde_json::Value = serde_json::from_slice(&message.bytes).unwrap();
        message.event_type == "RunCompleted.v1" && body["run"] == run.run.as_str()
    });
    assert_eq!(about.count(), usize::from(phase == Phase::Completed), "{told}: completion is told");
}

/// The end of the run's chain is bound into its project's, once.
async fn check_closed(world: &World, run: &RunRef, leaf: Digest, last: u64, told: &str) {
    let mut closed = Vec::new();
    for link in world.project_links().await {
        if let Body::Project(body) = link.record.body
            && let ProjectBody::RunClosed { run: of, last_seq, leaf, .. } = *body
            && of == run.run
        {
            closed.push((last_seq, leaf));
        }
    }
    assert_eq!(closed, [(last, leaf)], "{told}: the run is closed in its project");
}
