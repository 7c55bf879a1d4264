use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use ambit_blueprint::RuleCondition;
use ambit_policy::{Capability, FactKind, ToolName};
use cedar_policy::{Policy, PolicySet};

use crate::law::Law;
use crate::refusal::CedarError;

/// The policies that can apply to a call, found without looking at the others: Cedar's cost is linear in the policies that
/// it is given.
#[derive(Debug)]
pub(crate) struct Slices {
    by_tool: BTreeMap<ToolName, Slice>,
}

/// What can apply to the calls of one tool.
#[derive(Debug, Default)]
struct Slice {
    always: BTreeSet<usize>,
    by_fact: BTreeMap<FactKind, BTreeSet<usize>>,
    by_asked: BTreeMap<Capability, BTreeSet<usize>>,
    policies: BTreeMap<usize, Policy>,
    /// The sets of calls with one fact or none, which most are, made beforehand.
    made: BTreeMap<(Option<FactKind>, Option<Capability>), PolicySet>,
}

impl Slices {
    pub(crate) fn new(laws: &[Law]) -> Result<Self, CedarError> {
        let mut by_tool = BTreeMap::new();
        for tool in ToolName::ALL {
            by_tool.insert(*tool, Slice::new(*tool, laws)?);
        }
        Ok(Self { by_tool })
    }

    /// The policies that can apply to a call with these facts that asks for this. `None` where there is no such set.
    pub(crate) fn of(
        &self,
        tool: ToolName,
        kinds: &BTreeSet<FactKind>,
        asked: Option<Capability>,
    ) -> Option<Cow<'_, PolicySet>> {
        self.by_tool.get(&tool)?.of(kinds, asked)
    }
}

impl Slice {
    fn new(tool: ToolName, laws: &[Law]) -> Result<Self, CedarError> {
        let mut slice = Self::default();
        for (at, law) in laws.iter().enumerate().filter(|(_, law)| law.tools.contains(&tool)) {
            slice.policies.insert(at, law.policy.clone());
            match &law.when {
                RuleCondition::Always => {
                    slice.always.insert(at);
                }
                RuleCondition::AnyFact(kinds) => {
                    for kind in kinds {
                        slice.by_fact.entry(*kind).or_default().insert(at);
                    }
                }
                RuleCondition::Asked(capabilities) => {
                    for capability in capabilities {
                        slice.by_asked.entry(*capability).or_default().insert(at);
                    }
                }
            }
        }
        let facts = slice.by_fact.keys().map(|kind| (Some(*kind), None));
        let asked = slice.by_asked.keys().map(|capability| (None, Some(*capability)));
        let keys: Vec<_> = [(None, None)].into_iter().chain(facts).chain(asked).collect();
        for key in keys {
            let made = slice.make(&key.0.into_iter().collect(), key.1);
            let made = made.ok_or_else(|| CedarError::Unusable("two policies have one name".to_owned()))?;
            slice.made.insert(key, made);
        }
        Ok(slice)
    }

    fn of(&self, kinds: &BTreeSet<FactKind>, asked: Option<Capability>) -> Option<Cow<'_, PolicySet>> {
        let known: BTreeSet<FactKind> =
            kinds.iter().copied().filter(|kind| self.by_fact.contains_key(kind)).collect();
        let asked = asked.filter(|asked| self.by_asked.contains_key(asked));
        if known.len() <= 1
            && let Some(made) = self.made.get(&(known.first().copied(), asked))
        {
            return Some(Cow::Borrowed(made));
        }
        self.make(&known, asked).map(Cow::Owned)
    }

    fn make(&self, kinds: &BTreeSet<FactKind>, asked: Option<Capability>) -> Option<PolicySet> {
        let facts = kinds.iter().filter_map(|kind| self.by_fact.get(kind)).flatten();
        let asked = asked.and_then(|asked| self.by_asked.get(&asked)).into_iter().flatten();
        let chosen: BTreeSet<usize> = self.always.iter().chain(facts).chain(asked).copied().collect();
        let policies = chosen.iter().filter_map(|at| self.policies.get(at)).cloned();
        PolicySet::from_policies(policies).ok()
    }
}
