use crate::class::Class;
use crate::redactions::Redactions;
use crate::redactor::Redactor;
use crate::rule::Rule;
use crate::scan::{Ahead, Look};

/// A text that arrives in pieces. What cannot be told yet waits: as a rule nothing, at most the longest key.
pub struct Stream {
    redactor: Redactor,
    held: Vec<u8>,
    /// How much must be held before it is worth looking again.
    again_at: usize,
    /// The last bytes that were let through, marks included.
    before: [u8; 3],
    /// What still belongs to the secret that was found last.
    going_on: Option<Class>,
    redactions: Redactions,
}

/// From so many held bytes on they are looked at again only when they are half as many more, so that whoever writes byte by
/// byte costs no more than their length.
const SMALL: usize = 512;

impl Stream {
    pub(crate) fn new(redactor: Redactor) -> Self {
        let redactions = Redactions::default();
        Self { redactor, held: Vec::new(), again_at: 0, before: *b"\n\n\n", going_on: None, redactions }
    }

    /// Takes a piece, and puts behind `clean` what is certain to be no secret, with a mark for what is one.
    pub fn push(&mut self, piece: &[u8], clean: &mut Vec<u8>) {
        if self.held.is_empty() {
            let done = self.go_through(piece, false, clean);
            self.held.extend_from_slice(&piece[done..]);
        } else {
            self.held.extend_from_slice(piece);
            if self.held.len() < self.again_at {
                return;
            }
            let mut held = std::mem::take(&mut self.held);
            let done = self.go_through(&held, false, clean);
            held.drain(..done);
            self.held = held;
        }
        let held = self.held.len();
        self.again_at = if held < SMALL { 0 } else { held + held / 2 };
    }

    /// How many bytes wait to be told what they are.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.held.len()
    }

    /// Ends the text: what waited is told, and another text can begin.
    pub fn finish(&mut self, clean: &mut Vec<u8>) -> Redactions {
        let held = std::mem::take(&mut self.held);
        self.go_through(&held, true, clean);
        let fresh = Self::new(self.redactor.clone());
        std::mem::replace(self, fresh).redactions
    }

    /// Decides as much as can be decided, and answers how many bytes that is.
    fn go_through(&mut self, bytes: &[u8], is_all: bool, clean: &mut Vec<u8>) -> usize {
        let (mut kept, mut at) = (0, 0);
        loop {
            if let Some(class) = self.going_on {
                at += class.run(&bytes[at..], usize::MAX);
                kept = at;
                if at == bytes.len() {
                    return at;
                }
                self.going_on = None;
            }
            let Some(place) = self.redactor.next(bytes, at) else { break };
            let ahead = Ahead { bytes: &bytes[place..], is_all };
            match self.redactor.look(ahead, self.before(&bytes[kept..place])) {
                (Look::Nothing, _) => at = place + 1,
                (Look::More, _) => {
                    self.let_through(&bytes[kept..place], clean);
                    return place;
                }
                (Look::Secret { from, to, then }, rule) => {
                    self.let_through(&bytes[kept..place + from], clean);
                    self.take_out(rule, &bytes[place + from..place + to], clean);
                    (kept, at, self.going_on) = (place + to, place + to, then);
                }
            }
        }
        let is_half = match bytes[at..].split_last() {
            Some((last, _)) if !is_all => {
                self.redactor.may_begin_with(*last, self.before(&bytes[kept..bytes.len() - 1]))
            }
            _ => false,
        };
        let end = bytes.len() - usize::from(is_half);
        self.let_through(&bytes[kept..end], clean);
        end
    }

    /// The last three bytes behind which these stand.
    fn before(&self, bytes: &[u8]) -> [u8; 3] {
        let mut before = self.before;
        for byte in &bytes[bytes.len().saturating_sub(3)..] {
            before = [before[1], before[2], *byte];
        }
        before
    }

    fn let_through(&mut self, bytes: &[u8], clean: &mut Vec<u8>) {
        self.before = self.before(bytes);
        clean.extend_from_slice(bytes);
    }

    /// Puts a mark in the place of a secret, with as many line feeds, so that every line keeps its number.
    fn take_out(&mut self, rule: Rule, secret: &[u8], clean: &mut Vec<u8>) {
        self.let_through(rule.mark().as_bytes(), clean);
        for _ in secret.iter().filter(|byte| **byte == b'\n') {
            self.let_through(b"\n", clean);
        }
        self.redactions.count(rule);
    }
}
