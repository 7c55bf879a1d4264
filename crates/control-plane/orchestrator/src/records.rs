//! Events of a run as entries of its stream.

use ambit_evidence::v1::{Body, Environment, Precondition, RunBody};
use ambit_journal::Entry;
use ambit_run::{Event, Pins, State, evolve};

/// Each event as an entry, with what held before it.
pub(crate) fn entries(program: &str, state: &State, events: &[Event]) -> Vec<Entry> {
    let mut before = state.clone();
    events
        .iter()
        .map(|event| {
            let after = evolve(before.clone(), event);
            let entry = entry(program, &before, &after, event);
            before = after;
            entry
        })
        .collect()
}

fn entry(program: &str, before: &State, after: &State, event: &Event) -> Entry {
    let body = RunBody::from(event);
    let pins = after.dossier().map(|dossier| &dossier.pins);
    let run = pins.map(|pins| pins.run.clone());
    let actor = match &run {
        Some(run) => body.actor(run),
        None => ambit_evidence::v1::Actor {
            kind: ambit_evidence::v1::ActorKind::Service,
            id: "orchestrator".to_owned(),
        },
    };
    Entry {
        actor,
        precondition: Precondition {
            tree: before.dossier().map(|dossier| dossier.head),
            phase: before.phase().map(|phase| phase.as_str().to_owned()),
        },
        artifact: body.artifact(),
        environment: environment(program, pins, after),
        body: Body::Run(Box::new(body)),
    }
}

fn environment(program: &str, pins: Option<&Pins>, state: &State) -> Environment {
    let manifest = match state {
        State::Open(open) => open.sandbox.as_ref(),
        State::Closing(closing) => closing.sandbox.as_ref(),
        State::Vacant | State::Ended(_) => None,
    };
    Environment {
        program: program.to_owned(),
        blueprint: pins.map(|pins| pins.blueprint.digest),
        policy: pins.map(|pins| pins.policy),
        profile: pins.map(|pins| format!("{}@{}", pins.profile.name, pins.profile.digest)),
        image: pins.map(|pins| pins.image),
        manifest: manifest.map(|held| held.manifest),
    }
}
