//! What a model was asked and answered in a run, as far as it is still shown.

use std::collections::VecDeque;

use ambit_ids::Digest;

use crate::allowance::messages_bytes;
use crate::dialogue::Message;
use crate::exchange::Exchange;
use crate::observation::{Denied, GateRun, Observed};
use crate::quoting::in_short;
use crate::telling;
use crate::turn_context::Told;

/// The most lines that are kept of what is no longer shown.
const FOLDED_LINES: usize = 200;
/// The most bytes of such a line.
const FOLDED_BYTES: usize = 240;

/// The conversation of one run.
#[derive(Debug, Default)]
pub(crate) struct History {
    exchanges: VecDeque<Exchange>,
    /// The newest answers that held no call that could be taken.
    empty_in_a_row: u32,
    /// The digest of the newest answer.
    answer: Option<Digest>,
    folded: VecDeque<String>,
    folded_in_all: usize,
    news: Vec<Observed>,
    failure: Option<Last<GateRun>>,
    denial: Option<Last<Denied>>,
}

/// The newest of its kind, with the turn and the call that it belongs to.
#[derive(Debug)]
pub(crate) struct Last<T> {
    pub(crate) turn: u32,
    pub(crate) subject: String,
    pub(crate) what: T,
}

impl History {
    /// Whether nothing is known of the run but its context.
    pub(crate) fn is_empty(&self) -> bool {
        self.exchanges.is_empty() && self.folded.is_empty()
    }

    /// How many answers in a row, up to the newest, held no call that could be taken.
    pub(crate) const fn empty_in_a_row(&self) -> u32 {
        self.empty_in_a_row
    }

    /// Puts what came of the calls of the newest answer beside them. What belongs to none of them is news.
    pub(crate) fn hear(&mut self, since: Vec<Told>) {
        self.news.clear();
        for told in since {
            let place = (told.answer.is_some() && told.answer == self.answer).then_some(told.index);
            let newest = self.exchanges.back_mut();
            let heard = newest.and_then(|exchange| Some((exchange.turn, exchange.put(place, &told.reply)?)));
            match heard {
                Some((turn, subject)) => self.note(turn, subject, &told.reply),
                None => self.news.push(told.reply),
            }
        }
    }

    fn note(&mut self, turn: u32, subject: String, reply: &Observed) {
        if let Observed::Denied { denied } = reply {
            self.denial = Some(Last { turn, subject, what: denied.clone() });
        } else if let Some(run) = reply.gate_run() {
            if !run.passed() {
                self.failure = Some(Last { turn, subject, what: run.clone() });
            } else if self.failure.as_ref().is_some_and(|failure| failure.subject == subject) {
                self.failure = None;
            }
        }
    }

    /// Whether a call that is still shown has this id.
    pub(crate) fn has_call(&self, id: &str) -> bool {
        self.exchanges.iter().flat_map(|exchange| &exchange.calls).any(|call| call.id == id)
    }

    /// Keeps a new answer.
    pub(crate) fn push(&mut self, exchange: Exchange, answer: Digest) {
        self.empty_in_a_row = if exchange.calls.is_empty() { self.empty_in_a_row + 1 } else { 0 };
        self.exchanges.push_back(exchange);
        self.answer = Some(answer);
    }

    /// What came of no call that is known here, since the model was last asked.
    pub(crate) fn news(&self) -> &[Observed] {
        &self.news
    }

    /// The newest failure of a gate that has not passed since, unless it is still shown.
    pub(crate) fn hidden_failure(&self) -> Option<&Last<GateRun>> {
        self.failure.as_ref().filter(|last| !self.shows(last.turn))
    }

    /// The newest denial, unless it is still shown.
    pub(crate) fn hidden_denial(&self) -> Option<&Last<Denied>> {
        self.denial.as_ref().filter(|last| !self.shows(last.turn))
    }

    fn shows(&self, turn: u32) -> bool {
        self.exchanges.iter().any(|exchange| exchange.turn == turn && !exchange.is_brief)
    }

    /// One line for each call that is no longer shown, newest last, within so many bytes.
    pub(crate) fn folded(&self, room: usize) -> String {
        let mut left = room;
        let fitting = self.folded.iter().rev().take_while(|line| match left.checked_sub(line.len() + 3) {
            Some(rest) => {
                left = rest;
                true
            }
            None => false,
        });
        let shown = fitting.count();
        let mut text = String::new();
        if shown < self.folded_in_all {
            text.push_str(&format!("[{} earlier calls are left out]\n", self.folded_in_all - shown));
        }
        for line in self.folded.iter().skip(self.folded.len() - shown) {
            text.push_str(&format!("- {line}\n"));
        }
        text
    }

    /// Makes what is shown fit into so many bytes, oldest detail first to go. Where it does not fit, more goes than must,
    /// so that the beginning of the conversation stays the same for some turns.
    pub(crate) fn trim(&mut self, room: usize) {
        let mut sizes: VecDeque<usize> =
            self.exchanges.iter().map(|exchange| messages_bytes(&exchange.messages(room))).collect();
        let mut bytes: usize = sizes.iter().sum();
        if bytes <= room {
            return;
        }
        let goal = room * 3 / 4;
        let older = self.exchanges.len().saturating_sub(1);
        for (exchange, size) in self.exchanges.iter_mut().zip(&mut sizes).take(older) {
            if bytes <= goal {
                return;
            }
            exchange.is_brief = true;
            let brief = messages_bytes(&exchange.messages(room));
            bytes = bytes - *size + brief;
            *size = brief;
        }
        while bytes > if sizes.len() > 1 { goal } else { room } {
            bytes -= sizes.pop_front().unwrap_or(bytes);
            self.fold_oldest();
        }
    }

    /// Shows nothing any more but a line for each call.
    pub(crate) fn fold_all(&mut self) {
        while !self.exchanges.is_empty() {
            self.fold_oldest();
        }
    }

    fn fold_oldest(&mut self) {
        let Some(exchange) = self.exchanges.pop_front() else { return };
        for line in exchange.lines() {
            self.folded_in_all += 1;
            self.folded.push_back(in_short(&line, FOLDED_BYTES));
        }
        let surplus = self.folded.len().saturating_sub(FOLDED_LINES);
        self.folded.drain(..surplus);
    }

    /// What is still shown, as messages: of the model, and of the platform, by turns.
    pub(crate) fn messages(&self, room: usize) -> Vec<Message> {
        self.exchanges.iter().flat_map(|exchange| exchange.messages(room)).collect()
    }
}

impl Last<GateRun> {
    /// The failure in short.
    pub(crate) fn told(&self, room: usize) -> String {
        format!("(turn {}) {}", self.turn, telling::gate_in_full(&self.subject, &self.what, room))
    }
}

impl Last<Denied> {
    /// The denial in short.
    pub(crate) fn told(&self, room: usize) -> String {
        format!("(turn {}) {}: {}", self.turn, self.subject, telling::denial(&self.what, room))
    }
}
