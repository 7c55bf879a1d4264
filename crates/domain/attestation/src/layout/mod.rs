//! Layouts and links as in-toto's own verifier reads them (in-toto 0.9): which step had to take what an earlier one made, and
//! whose key had to say so.
//!
//! Only rules are written and read that every implementation understands alike: implementations disagree about negated classes in
//! patterns, so there are no classes, and a list of rules ends by disallowing what no rule before it took, since what a list does
//! not mention is otherwise allowed.

mod link_file;
mod of_run;
mod rule;
mod text;

pub use link_file::{LinkFile, file_name};
pub use of_run::{GATE_STEP, PATCH_STEP, RunLayout, TREE};
pub use rule::{ArtifactKind, Pattern, PatternError, Rule};

use std::collections::{BTreeMap, BTreeSet};

use ambit_ids::UnixMs;

use crate::envelope::ReadError;
use crate::key::{KeyId, PublicKey};
use crate::wording::{Moment, Name};

/// The most steps of a layout.
pub const STEPS: usize = 128;
/// The most rules of one list.
pub const RULES: usize = 64;

/// The steps that a revision must have gone through. Whoever owns the project signs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    expires: Moment,
    readme: String,
    keys: BTreeMap<KeyId, PublicKey>,
    steps: Vec<Step>,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What its links call it.
    pub name: Name,
    /// Whose links count, by key.
    pub keys: BTreeSet<KeyId>,
    /// How many different keys must agree.
    pub threshold: u32,
    /// What it may take.
    pub materials: Vec<Rule>,
    /// What it may make.
    pub products: Vec<Rule>,
}

impl Layout {
    /// These steps by these keys, until some whole second.
    ///
    /// # Errors
    /// [`ReadError::Content`] where no link could ever fit it, or any link would.
    pub fn new(
        expires: UnixMs,
        readme: String,
        keys: impl IntoIterator<Item = PublicKey>,
        steps: Vec<Step>,
    ) -> Result<Self, ReadError> {
        let wrong = |why| Err(ReadError::Content(why));
        let expires = Moment::new(expires).ok().filter(|moment| moment.get().get().is_multiple_of(1_000));
        let Some(expires) = expires else { return wrong("a layout ends at a whole second") };
        if steps.is_empty() || steps.len() > STEPS {
            return wrong("a layout has 1 to 128 steps");
        }
        let keys: BTreeMap<KeyId, PublicKey> = keys.into_iter().map(|key| (key.id(), key)).collect();
        let mut earlier = BTreeSet::new();
        for step in &steps {
            step.check(&keys, &earlier).map_err(ReadError::Content)?;
            if !earlier.insert(step.name.clone()) {
                return wrong("two steps have one name");
            }
        }
        Ok(Self { expires, readme, keys, steps })
    }

    /// The last moment at which it counts.
    #[must_use]
    pub const fn expires(&self) -> Moment {
        self.expires
    }

    /// Whether it counts no more at `now`. Unlike a statement, which says what was, it says what is to be asked for: what decides is when
    /// it is asked for.
    #[must_use]
    pub fn has_ended(&self, now: Moment) -> bool {
        now > self.expires
    }

    /// The keys of those who carry out steps.
    #[must_use]
    pub const fn keys(&self) -> &BTreeMap<KeyId, PublicKey> {
        &self.keys
    }

    /// The steps, in order.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }
}

impl Step {
    fn check(&self, keys: &BTreeMap<KeyId, PublicKey>, earlier: &BTreeSet<Name>) -> Result<(), &'static str> {
        if !self.keys.iter().all(|key| keys.contains_key(key)) {
            return Err("a step names a key that the layout does not have");
        }
        if self.threshold == 0 || self.keys.len() < usize::try_from(self.threshold).unwrap_or(usize::MAX) {
            return Err("a step needs at least one key, and no more than it names");
        }
        for rules in [&self.materials, &self.products] {
            if rules.len() > RULES {
                return Err("a list has more rules than are read");
            }
            if rules.last() != Some(&Rule::disallow_all()) {
                return Err("a list of rules does not end by disallowing the rest");
            }
            let matched = rules.iter().filter_map(Rule::matched_step);
            if matched.into_iter().any(|step| !earlier.contains(step)) {
                return Err("a step matches what no step before it made");
            }
        }
        Ok(())
    }
}
