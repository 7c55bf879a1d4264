//! Which turn answers a request, and what goes wrong with it this time.

use std::collections::BTreeMap;

use regex::Regex;

use crate::fault::Fault;
use crate::random;
use crate::request_text::captured;
use crate::script::{Script, ScriptError, Selection, Turn};
use crate::wire::Asked;

/// A script and how far it has come.
pub(crate) struct Stage {
    script: Script,
    captures: BTreeMap<String, Regex>,
    turns: Vec<Place>,
    default: Option<Place>,
}

/// A turn with its pattern, and what happened to it.
struct Place {
    turn: Turn,
    when: Option<Regex>,
    used: bool,
    faults_met: usize,
}

/// What a request is answered with.
pub(crate) struct Cue {
    pub(crate) turn: Turn,
    pub(crate) fault: Option<Fault>,
    pub(crate) captures: BTreeMap<String, String>,
}

/// The request as far as the choice looks at it.
pub(crate) struct Seen<'a> {
    pub(crate) number: u64,
    pub(crate) text: &'a str,
    pub(crate) body_bytes: usize,
    pub(crate) asked: &'a Asked,
}

impl Stage {
    pub(crate) fn of(script: Script) -> Result<Self, ScriptError> {
        let captures = script
            .captures
            .iter()
            .map(|(name, pattern)| Ok((name.clone(), compiled(pattern)?)))
            .collect::<Result<_, ScriptError>>()?;
        let turns = script.turns.iter().map(Place::of).collect::<Result<_, _>>()?;
        let default = script.default.as_ref().map(Place::of).transpose()?;
        Ok(Self { script, captures, turns, default })
    }

    /// `None` where the script has no answer.
    pub(crate) fn cue(&mut self, seen: &Seen<'_>) -> Option<Cue> {
        let captures = captured(&self.captures, seen.text);
        let chosen = self.chosen(seen);
        let place = match chosen {
            Some(index) => self.turns.get_mut(index),
            None => self.default.as_mut(),
        };
        if let Some(place) = place {
            let (turn, fault) = place.take(self.script.select);
            return Some(Cue { turn, fault, captures });
        }
        let plan = self.script.random.as_ref()?;
        let (turn, fault) = random::turn(plan, seen.number, seen.asked, seen.body_bytes);
        Some(Cue { turn, fault, captures })
    }

    /// Takes the next turn if it resets the connection whatever the request says.
    pub(crate) fn takes_reset(&mut self) -> bool {
        if self.script.select != Selection::Order {
            return false;
        }
        match self.turns.iter_mut().find(|place| !place.used) {
            Some(next) if next.when.is_none() && next.next_fault() == Some(&Fault::Reset) => {
                next.take(Selection::Order);
                true
            }
            _ => false,
        }
    }

    /// The places of the turns that no request has used up, from 0.
    pub(crate) fn unused(&self) -> Vec<usize> {
        self.turns.iter().enumerate().filter(|(_, place)| !place.used).map(|(index, _)| index).collect()
    }

    fn chosen(&self, seen: &Seen<'_>) -> Option<usize> {
        let first = match self.script.select {
            Selection::Order => 0,
            Selection::Answers => seen.asked.answers,
            Selection::ToolResults => seen.asked.tool_results,
        };
        let in_order = self.script.select == Selection::Order;
        let meant = |place: &Place| {
            !(in_order && place.used && !place.turn.repeat)
                && place.when.as_ref().is_none_or(|pattern| pattern.is_match(seen.text))
        };
        self.turns.iter().enumerate().skip(first).find(|(_, place)| meant(place)).map(|(index, _)| index)
    }
}

impl Place {
    fn of(turn: &Turn) -> Result<Self, ScriptError> {
        let when = turn.when.as_deref().map(compiled).transpose()?;
        Ok(Self { turn: turn.clone(), when, used: false, faults_met: 0 })
    }

    fn next_fault(&self) -> Option<&Fault> {
        self.turn.before.get(self.faults_met).or(self.turn.fault.as_ref())
    }

    fn take(&mut self, select: Selection) -> (Turn, Option<Fault>) {
        let fault = self.next_fault().cloned();
        if self.faults_met < self.turn.before.len() {
            self.faults_met += 1;
        } else {
            self.used = true;
            if select == Selection::Order && self.turn.repeat {
                self.faults_met = 0;
            }
        }
        (self.turn.clone(), fault)
    }
}

fn compiled(pattern: &str) -> Result<Regex, ScriptError> {
    Regex::new(pattern).map_err(|source| ScriptError::Pattern { pattern: pattern.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(stage: &mut Stage, text: &str, asked: &Asked) -> Option<(String, Option<Fault>)> {
        let cue = stage.cue(&Seen { number: 1, text, body_bytes: 1, asked })?;
        Some((cue.turn.text.unwrap(), cue.fault))
    }

    #[test]
    fn turns_come_in_order_and_side_requests_do_not_move_them() {
        let script = Script::of([
            Turn::text("title").when("name this").repeated(),
            Turn::text("one").after(Fault::RateLimited).after(Fault::Overloaded),
            Turn::text("two").when("ready"),
            Turn::text("three"),
        ])
        .default_turn(Turn::text("default"));
        let mut stage = Stage::of(script).unwrap();
        let asked = Asked::default();
        let mut next = |text| said(&mut stage, text, &asked).unwrap();
        assert_eq!(next("a"), ("one".to_owned(), Some(Fault::RateLimited)));
        assert_eq!(next("name this"), ("title".to_owned(), None));
        assert_eq!(next("a"), ("one".to_owned(), Some(Fault::Overloaded)));
        assert_eq!(next("a"), ("one".to_owned(), None));
        assert_eq!(next("a").0, "three");
        assert_eq!(next("name this").0, "title");
        assert_eq!(next("ready").0, "two");
        assert_eq!(next("ready").0, "default");
        assert!(stage.unused().is_empty());
    }

    #[test]
    fn turns_are_found_by_what_a_request_repeats() {
        let script = Script::of([Turn::text("zero"), Turn::text("one").when("yes"), Turn::text("two")]);
        for (select, asked) in [
            (Selection::Answers, Asked { answers: 1, ..Asked::default() }),
            (Selection::ToolResults, Asked { tool_results: 1, ..Asked::default() }),
        ] {
            let mut stage = Stage::of(script.clone().select(select)).unwrap();
            assert_eq!(said(&mut stage, "", &Asked::default()).unwrap().0, "zero");
            assert_eq!(said(&mut stage, "yes", &asked).unwrap().0, "one");
            assert_eq!(said(&mut stage, "no", &asked).unwrap().0, "two");
            assert_eq!(said(&mut stage, "yes", &asked).unwrap().0, "one");
            let past = Asked { answers: 3, tool_results: 3, ..Asked::default() };
            assert_eq!(said(&mut stage, "", &past), None);
        }
    }

    #[test]
    fn only_a_reset_that_depends_on_nothing_comes_before_reading() {
        let script = Script::of([
            Turn::fault(Fault::Reset),
            Turn::fault(Fault::Reset).when("x"),
            Turn::text("after").after(Fault::Reset),
        ]);
        let mut stage = Stage::of(script).unwrap();
        assert!(stage.takes_reset());
        assert!(!stage.takes_reset());
        assert_eq!(said(&mut stage, "x", &Asked::default()).unwrap().1, Some(Fault::Reset));
        assert!(stage.takes_reset());
        assert!(!stage.takes_reset());
        assert_eq!(said(&mut stage, "", &Asked::default()).unwrap(), ("after".to_owned(), None));
    }
}
