use std::collections::BTreeMap;

use ambit_ids::Digest;
use serde::{Deserialize, Serialize};

use crate::rule::{Rule, rules_digest};

/// What was taken out of a text before it was kept: by which rules, and how often by each. Nothing was found where it holds
/// no number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Redactions {
    /// The digest of the rules.
    pub rules: Digest,
    /// How many texts were taken out, by what they were taken for.
    pub found: BTreeMap<Rule, u32>,
}

/// What a text still holds, or should hold and does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MoreFound {
    /// A secret that was not taken out.
    Secret(Rule),
    /// Fewer marks than texts that are said to have been taken out.
    FewerMarks(Rule),
}

impl Default for Redactions {
    fn default() -> Self {
        Self { rules: rules_digest(), found: BTreeMap::new() }
    }
}

impl Redactions {
    /// One more.
    pub(crate) fn count(&mut self, rule: Rule) {
        let found = self.found.entry(rule).or_default();
        *found = found.saturating_add(1);
    }

    /// All of both.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        for (rule, more) in &other.found {
            let found = self.found.entry(*rule).or_default();
            *found = found.saturating_add(*more);
        }
        self
    }

    /// How many in all.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.found.values().fold(0, |sum, found| sum.saturating_add(*found))
    }

    /// Those that follow from the text alone: without keys that only whoever held them could find.
    #[must_use]
    pub fn by_form(&self) -> Self {
        let mut formed = self.clone();
        formed.found.remove(&Rule::Key);
        formed
    }

    /// Whether a text that is kept can have come of this: it holds no secret any more, and a mark for each that was taken
    /// out. `None` where it can.
    #[must_use]
    pub fn contradicted_by(&self, kept: &[u8]) -> Option<MoreFound> {
        if self.rules != rules_digest() {
            return None;
        }
        let still = crate::Redactor::by_rules().bytes(kept).redactions;
        if let Some(rule) = still.found.into_keys().next() {
            return Some(MoreFound::Secret(rule));
        }
        let has_too_few = |(rule, said): (&Rule, &u32)| {
            let mark = rule.mark();
            let marks = kept.windows(mark.len()).filter(|window| *window == mark.as_bytes());
            marks.take(*said as usize).count() < *said as usize
        };
        let short = self.found.iter().find(|entry| has_too_few((entry.0, entry.1)));
        short.map(|(rule, _)| MoreFound::FewerMarks(*rule))
    }
}
