//! Events of a run as entries of its stream. Everything in an entry follows from the events before it, so whoever reads
//! a stream can make each entry again.

use std::collections::BTreeSet;

use ambit_ids::Digest;
use ambit_run::{Event, Pins, State, evolve};

use super::body::RunBody;
use super::record::{Actor, ActorKind, Body, Environment, Precondition};

/// What happened, ready to become a record: all of it but its place in the stream, its time and its salt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Who acted or decided.
    pub actor: Actor,
    /// What held before.
    pub precondition: Precondition,
    /// The digest of the exact object.
    pub artifact: Option<Digest>,
    /// Where it happened.
    pub environment: Environment,
    /// What happened.
    pub body: Body,
}

/// Each event as an entry, with what held before it. `program` is the name and version of what writes them.
#[must_use]
pub fn entries(program: &str, state: &State, events: &[Event]) -> Vec<Entry> {
    let mut before = state.clone();
    events
        .iter()
        .map(|event| {
            let after = evolve(before.clone(), event);
            let entry = Entry::of(program, &before, &after, event);
            before = after;
            entry
        })
        .collect()
}

impl Entry {
    /// The entry of one event, which led from `before` to `after`.
    #[must_use]
    pub fn of(program: &str, before: &State, after: &State, event: &Event) -> Self {
        let body = RunBody::from(event);
        let pins = after.dossier().map(|dossier| &dossier.pins);
        let actor = match pins {
            Some(pins) => body.actor(&pins.run),
            None => Actor { kind: ActorKind::Service, id: "orchestrator".to_owned() },
        };
        Self {
            actor,
            precondition: Precondition {
                tree: before.dossier().map(|dossier| dossier.head),
                phase: before.phase().map(|phase| phase.as_str().to_owned()),
                project: None,
            },
            artifact: body.artifact(),
            environment: environment(program, pins, after),
            body: Body::Run(Box::new(body)),
        }
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
        volumes: pins.map(volumes).unwrap_or_default(),
        manifest: manifest.map(|held| held.manifest),
    }
}

/// Each volume once, whatever the names of its mounts.
fn volumes(pins: &Pins) -> Vec<Digest> {
    let digests: BTreeSet<Digest> = pins.volumes.iter().map(|volume| volume.digest).collect();
    digests.into_iter().collect()
}
