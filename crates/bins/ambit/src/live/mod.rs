//! A run as it is told while it goes on: a block at the bottom of a terminal, plain lines, or events in JSON.

mod block;
mod budget;
pub(crate) mod events;
mod frame;
mod output;
mod painter;
mod plan;
mod render;
mod state;
#[cfg(test)]
mod tests;
mod tty;
mod who;

use std::io::{IsTerminal as _, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ambit_evidence::Link;
use ambit_ids::{DurationMs, GateId, UnixMs};
use ambit_orchestrator::{Observer, RunRef};
use ambit_ports::runtime::Clock;
use ambit_ports::sandbox::Tap;
use ambit_run::{Event, State, evolve};

use self::block::Block;
pub(crate) use self::state::Cancel;
use self::state::LiveState;
use crate::compose::Services;
use crate::context::Context;
use crate::failure::{Failure, exit};
use crate::interrupt::{Signal, Signals};
use crate::watch::{Narrator, lines};

/// How often a block is drawn anew, for what changes with time alone.
const BEAT_MS: DurationMs = DurationMs::new(100);

/// Whoever looks on while a run goes on.
pub(crate) struct Live {
    clock: Arc<dyn Clock>,
    /// Whether every event is one line of JSON on standard output.
    is_json: bool,
    narrator: Narrator,
    block: Mutex<Option<Block>>,
    seen: Mutex<Seen>,
}

/// How far a run was told.
#[derive(Default)]
struct Seen {
    events: u64,
    state: State,
}

/// What an interrupt from the keyboard means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keyboard {
    /// That whoever looks on may want the run to end: at a terminal that is asked first.
    Asks,
    /// That whoever looks on wants to look no longer.
    Leaves,
    /// Nothing any more: the run is told to end, and sees to what it holds.
    Waits,
}

impl Live {
    /// Begins to tell of a run. What these records say of it is known already.
    pub(crate) async fn begin(
        context: &Context,
        services: &Services,
        run: &RunRef,
        links: &[Link],
    ) -> Result<Self, Failure> {
        let folded = folded(services, run, links).await?;
        let seen = Seen { events: links.len() as u64, state: folded.state.clone() };
        let live = Self::new(context, services, folded, seen);
        live.draw("");
        Ok(live)
    }

    /// Begins to tell of a run from its first record on.
    pub(crate) async fn from_the_first(
        context: &Context,
        services: &Services,
        run: &RunRef,
        links: &[Link],
    ) -> Result<Self, Failure> {
        let gate_limits = folded(services, run, links).await?.gate_limits;
        let folded = LiveState { gate_limits, ..LiveState::default() };
        Ok(Self::new(context, services, folded, Seen::default()))
    }

    fn new(context: &Context, services: &Services, folded: LiveState, seen: Seen) -> Self {
        // Lines of JSON may go to the same terminal, or to a program that draws on it.
        let is_wanted = !context.is_quiet() && !context.json && std::io::stderr().is_terminal();
        Self {
            clock: services.clock.clone(),
            is_json: context.json,
            narrator: Narrator::new(context.is_quiet()),
            block: Mutex::new(if is_wanted { Block::take(folded) } else { None }),
            seen: Mutex::new(seen),
        }
    }

    /// The same without JSON, of which there is nothing but the answer.
    pub(crate) fn without_json(mut self) -> Self {
        self.is_json = false;
        self
    }

    /// Tells what these records of the run hold beyond what was told.
    pub(crate) fn catch_up(&self, links: &[Link]) -> Result<(), Failure> {
        let unreadable = |error| Failure::of("RECORD_UNREADABLE", &error);
        let (told, mut state) = {
            let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            (usize::try_from(seen.events).unwrap_or(usize::MAX), seen.state.clone())
        };
        let mut told_now = String::new();
        for link in links.iter().skip(told) {
            let event = link.record.event().map_err(unreadable)?;
            state = evolve(state, &event);
            let at = link.record.ts.parse().unwrap_or_else(|_| self.clock.now());
            told_now.push_str(&self.take(at, link.record.seq, &state, &[event]));
        }
        // What was committed together is shown together: between two events of one step a run waits for nobody.
        self.draw(&told_now);
        Ok(())
    }

    /// Takes what happened: these events, the first of them at this position, led to this state. Answers what is to be
    /// told above a block; where there is none, it is told already.
    fn take(&self, at: UnixMs, first: u64, state: &State, events: &[Event]) -> String {
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) =
            Seen { events: first + events.len() as u64, state: state.clone() };
        if self.is_json {
            tell_json(at, first, state, events);
        }
        if let Some(block) = self.block().as_mut() {
            block.live.told(at, state, events);
            return lines(state, events);
        }
        self.narrator.changed(state, events);
        String::new()
    }

    /// Tells something that is not an event.
    pub(crate) fn note(&self, context: &Context, line: &str) {
        match self.block().as_mut() {
            Some(block) => block.draw(&format!("{line}\n"), self.clock.now()),
            None => context.note(line),
        }
    }

    /// Keeps the block as it is now, until somebody wants the run to end, and answers with the exit code that says so.
    pub(crate) async fn attend(&self, signals: &mut Signals, keyboard: Keyboard) -> u8 {
        loop {
            let beat = self.clock.now().saturating_add(BEAT_MS);
            tokio::select! {
                () = self.clock.sleep_until(beat) => {}
                signal = signals.next() => {
                    if let Some(code) = self.takes(signal, keyboard) {
                        return code;
                    }
                }
            }
            if keyboard == Keyboard::Asks && self.answered() == Some(true) {
                return exit::INTERRUPTED;
            }
            self.draw("");
        }
    }

    /// What follows from a signal, if anything does.
    fn takes(&self, signal: Signal, keyboard: Keyboard) -> Option<u8> {
        match signal {
            Signal::Keyboard if keyboard == Keyboard::Asks => {
                self.block().as_mut().is_none_or(Block::ask).then_some(exit::INTERRUPTED)
            }
            Signal::Quit => {
                self.end();
                std::process::exit(i32::from(exit::QUIT))
            }
            Signal::Suspend => {
                self.suspend();
                None
            }
            _ if keyboard == Keyboard::Waits => None,
            Signal::Keyboard => Some(exit::INTERRUPTED),
            Signal::Terminated => Some(exit::TERMINATED),
            Signal::HungUp => Some(exit::HUNG_UP),
        }
    }

    /// Says that the run is told to end.
    pub(crate) fn cancels(&self) {
        if let Some(block) = self.block().as_mut() {
            block.live.cancel = Cancel::Wanted;
        }
        self.draw("");
    }

    /// Takes the block away. What was told stays.
    pub(crate) fn end(&self) {
        if let Some(mut block) = self.block().take() {
            block.end();
        }
    }

    /// Stops as any job does, with the terminal as it was, and goes on when it is told to.
    fn suspend(&self) {
        let mut held = self.block();
        if let Some(block) = held.as_mut() {
            block.end();
        }
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::STOP);
        if let Some(block) = held.as_mut() {
            block.begin_again();
        }
    }

    fn answered(&self) -> Option<bool> {
        self.block().as_mut().and_then(Block::answered)
    }

    fn draw(&self, told: &str) {
        if let Some(block) = self.block().as_mut() {
            block.draw(told, self.clock.now());
        }
    }

    fn block(&self) -> MutexGuard<'_, Option<Block>> {
        self.block.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Live {
    fn changed(&self, state: &State, events: &[Event]) {
        let all = state.dossier().map_or(0, |dossier| dossier.events);
        let told = self.take(self.clock.now(), all.saturating_sub(events.len() as u64), state, events);
        self.draw(&told);
    }

    /// Only a block has room for it.
    fn gate_begins(&self, _: &GateId) -> Option<Tap> {
        self.block().as_mut().map(Block::watch)
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.end();
    }
}

async fn folded(services: &Services, run: &RunRef, links: &[Link]) -> Result<LiveState, Failure> {
    let mut live = LiveState::of(links).map_err(|error| Failure::of("RECORD_UNREADABLE", &error))?;
    let Some(dossier) = live.state.dossier() else { return Ok(live) };
    // How long a gate may take is a help and no more: a run whose catalog cannot be read says so itself.
    if let Ok(catalog) = services.documents().catalog(&run.scope, dossier.pins.catalog).await {
        let gates = dossier.pins.gates.iter();
        live.gate_limits = gates
            .filter_map(|gate| Some((gate.id.clone(), catalog.command(&gate.id)?.resources.limits.wall_ms)))
            .collect();
    }
    Ok(live)
}

fn tell_json(at: UnixMs, first: u64, state: &State, events: &[Event]) {
    let Some(dossier) = state.dossier() else { return };
    let mut out = std::io::stdout().lock();
    for (seq, event) in (first..).zip(events) {
        for told in events::told(event) {
            let line = ambit_verify::printable_json_line(&told.line(seq, at, &dossier.pins.run));
            // A reader that went away has read what it wanted.
            let _ = out.write_all(line.as_bytes());
        }
    }
    let _ = out.flush();
}
