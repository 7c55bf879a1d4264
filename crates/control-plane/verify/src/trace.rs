//! A run as its checked records tell it.

use ambit_evidence::Link;
use ambit_evidence::v1::Record;
use ambit_ids::UnixMs;
use ambit_ports::store::StoredRecord;
use ambit_run::{CallDecided, Dossier, Event, InFlight, Pins, SandboxHeld, Stage, State, evolve};

use crate::finding::{Finding, LinkName};
use crate::findings::{record_name, refuting};

/// The records of a run with what each of them stands for.
pub(crate) struct Trace<'a> {
    pub(crate) rows: &'a [StoredRecord],
    pub(crate) links: &'a [Link],
    pub(crate) events: Vec<Event>,
    pub(crate) times: Vec<UnixMs>,
    /// The state before each event, and the one after the last.
    states: Vec<State>,
}

impl<'a> Trace<'a> {
    /// Reads the events of a chain that holds.
    pub(crate) fn of(rows: &'a [StoredRecord], links: &'a [Link]) -> Result<Self, Finding> {
        let mut trace =
            Self { rows, links, events: Vec::new(), times: Vec::new(), states: vec![State::Vacant] };
        for link in links {
            let event =
                link.record.event().map_err(|error| refuting(record_name(link), error.to_string()))?;
            let time = link.record.ts.parse::<UnixMs>();
            trace.times.push(time.map_err(|error| refuting(record_name(link), error.to_string()))?);
            let next = evolve(trace.state(trace.events.len()).clone(), &event);
            trace.states.push(next);
            trace.events.push(event);
        }
        Ok(trace)
    }

    pub(crate) fn record(&self, at: usize) -> &Record {
        &self.links[at].record
    }

    pub(crate) fn name(&self, at: usize) -> LinkName {
        record_name(&self.links[at])
    }

    /// The state before the event at this position.
    pub(crate) fn state(&self, at: usize) -> &State {
        &self.states[at]
    }

    /// Where the records lead.
    pub(crate) fn last_state(&self) -> &State {
        &self.states[self.events.len()]
    }

    pub(crate) fn is_over(&self) -> bool {
        matches!(self.last_state(), State::Ended(_))
    }

    pub(crate) fn pins(&self) -> Option<&Pins> {
        self.last_state().dossier().map(|dossier| &dossier.pins)
    }

    pub(crate) fn dossier(&self, at: usize) -> Option<&Dossier> {
        self.state(at).dossier()
    }

    /// The events with their positions.
    pub(crate) fn events(&self) -> impl Iterator<Item = (usize, &Event)> {
        self.events.iter().enumerate()
    }

    /// The decided calls with their positions.
    pub(crate) fn calls(&self) -> impl Iterator<Item = (usize, &CallDecided)> {
        self.events().filter_map(|(at, event)| match event {
            Event::CallDecided(decided) => Some((at, decided.as_ref())),
            _ => None,
        })
    }

    /// The call that was in flight when the event at this position happened.
    pub(crate) fn flight(&self, at: usize) -> Option<&InFlight> {
        match self.state(at) {
            State::Open(open) => match &open.stage {
                Stage::Call(flight) => Some(flight),
                _ => None,
            },
            State::Closing(closing) => closing.in_flight.as_ref(),
            State::Vacant | State::Ended(_) => None,
        }
    }

    /// The sandbox that the run held when the event at this position happened.
    pub(crate) fn sandbox(&self, at: usize) -> Option<&SandboxHeld> {
        match self.state(at) {
            State::Open(open) => open.sandbox.as_ref(),
            State::Closing(closing) => closing.sandbox.as_ref(),
            State::Vacant | State::Ended(_) => None,
        }
    }
}
