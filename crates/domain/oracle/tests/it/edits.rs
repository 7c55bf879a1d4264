//! Tables of edits: one change of a file each, and what must be told of it.

use ambit_policy::{Fact, Side};

use crate::{facts, guard};

/// A file that edits are made in.
pub(crate) struct Base {
    pub(crate) path: &'static str,
    pub(crate) text: &'static str,
}

/// What is done; the text that stood there, which the base holds once; the text that stands there now; and the fact:
/// its kind, a space, and text of the line that it is told of.
pub(crate) type Weakened = (&'static str, &'static str, &'static str, &'static str);

/// What is done; the text that stood there; the text that stands there now.
pub(crate) type Honest = (&'static str, &'static str, &'static str);

impl Base {
    /// The file with one text put in the place of another.
    fn edited(&self, old: &str, new: &str) -> String {
        assert_eq!(self.text.matches(old).count(), 1, "{} holds this once: {old}", self.path);
        self.text.replacen(old, new, 1)
    }

    fn told(&self, after: &str) -> Vec<Fact> {
        facts(&guard(), &[(self.path, Some(self.text), Some(after))])
    }

    /// Which of the weakenings are not told, or not as what they are, or not where they are.
    pub(crate) fn untold(&self, weakenings: &[Weakened]) -> Vec<String> {
        let untold = weakenings.iter().filter_map(|(is, old, new, expected)| {
            let after = self.edited(old, new);
            let (kind, text) = expected.split_once(' ').unwrap();
            let found = self.told(&after);
            let told = found.iter().any(|fact| {
                fact.kind().as_str() == kind
                    && self.line_of(fact, &after).is_some_and(|line| line.contains(text))
            });
            (!told).then(|| format!("{is}: {expected}, and told was {}", texts(&found)))
        });
        untold.collect()
    }

    /// What is wrongly told of honest edits.
    pub(crate) fn wrong(&self, honest: &[Honest]) -> Vec<String> {
        let wrong = honest.iter().filter_map(|(is, old, new)| {
            let found = self.told(&self.edited(old, new));
            (!found.is_empty()).then(|| format!("{is}: {}", texts(&found)))
        });
        wrong.collect()
    }

    /// The text of the line that a fact is told of.
    fn line_of<'a>(&self, fact: &Fact, after: &'a str) -> Option<&'a str>
    where
        Self: 'a,
    {
        let (line, side) = match fact {
            Fact::SkipMarkerAdded { line, .. } => (*line, Side::After),
            other => other.weakening().map(|weakening| (weakening.line, weakening.side))?,
        };
        let text = match side {
            Side::Before => self.text,
            Side::After => after,
        };
        text.lines().nth(usize::try_from(line).ok()?.checked_sub(1)?)
    }
}

fn texts(facts: &[Fact]) -> String {
    let texts: Vec<String> = facts.iter().map(ToString::to_string).collect();
    format!("[{}]", texts.join("; "))
}
