use std::collections::{BTreeMap, BTreeSet};

use ambit_blueprint::{ExpectedVerdict, RuleCondition, RuleExample, ToolRule, as_meant};
use ambit_ids::RuleId;
use ambit_policy::{Capability, DenialKind, FactKind, ToolName, Verdict};

use crate::engine::CedarEngine;
use crate::refusal::CedarError;

/// A call that two bundles answer otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The call, as an example of the new bundle.
    pub call: RuleExample,
    /// What the old bundle answers.
    pub was: ExpectedVerdict,
    /// The rules that determined that.
    pub was_by: Vec<RuleId>,
    /// The rules that determine what the new bundle answers.
    pub now_by: Vec<RuleId>,
    /// Whether the new bundle lets more through.
    pub widens: bool,
}

/// One side of a comparison.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    /// Its rules.
    pub rules: &'a [ToolRule],
    /// Their engine.
    pub engine: &'a CedarEngine,
}

/// What two bundles answer otherwise, each difference by the smallest call that shows it.
///
/// Every call is a call of one tool with facts, of what is asked for and of what is approved. Rules look at the kinds of facts,
/// each for itself, so that calls with at most two kinds show every difference: one for the rule that is the strictest on one
/// side, and one for a rule that speaks on the other. Kinds, capabilities and approvals that no rule of the tool names are all
/// alike, and one of them stands for all.
///
/// # Errors
/// [`CedarError::Unusable`] where a call cannot be made up.
pub fn differences(old: Side<'_>, new: Side<'_>) -> Result<Vec<Difference>, CedarError> {
    let mut found: Vec<Difference> = Vec::new();
    let meant = [as_meant(old.rules), as_meant(new.rules)].concat();
    for tool in ToolName::ALL.iter().copied() {
        let rules: Vec<&ToolRule> = meant.iter().filter(|rule| rule.tools.contains(&tool)).collect();
        for kinds in facts(&rules) {
            for asked in asked(tool, &rules) {
                for approved in approvals(&rules) {
                    let call = call(tool, &kinds, asked, approved)?;
                    let Some(difference) = compare(old.engine, new.engine, call)? else { continue };
                    if !found.iter().any(|smaller| shows(smaller, &difference)) {
                        found.push(difference);
                    }
                }
            }
        }
    }
    Ok(found)
}

/// Nothing, each kind that a rule names and one that none does, and each two that different rules name; the smaller first.
fn facts(rules: &[&ToolRule]) -> Vec<Vec<FactKind>> {
    let named: BTreeSet<FactKind> = rules
        .iter()
        .filter_map(|rule| match &rule.when {
            RuleCondition::AnyFact(kinds) => Some(kinds),
            RuleCondition::Asked(_) | RuleCondition::Always => None,
        })
        .flatten()
        .copied()
        .collect();
    let other = FactKind::ALL.iter().copied().find(|kind| !named.contains(kind));
    let kinds: Vec<FactKind> = named.into_iter().chain(other).collect();
    let mut sets = vec![Vec::new()];
    sets.extend(kinds.iter().map(|kind| vec![*kind]));
    // Kinds that the same rules name are alike beside another one.
    let mut alike: BTreeMap<Vec<usize>, FactKind> = BTreeMap::new();
    for kind in kinds {
        alike.entry(naming(rules, kind)).or_insert(kind);
    }
    let apart: Vec<FactKind> = alike.into_values().collect();
    for (at, one) in apart.iter().enumerate() {
        sets.extend(apart.iter().skip(at + 1).map(|other| vec![*one, *other]));
    }
    sets
}

/// The rules that name the kind.
fn naming(rules: &[&ToolRule], kind: FactKind) -> Vec<usize> {
    let names =
        |rule: &ToolRule| matches!(&rule.when, RuleCondition::AnyFact(kinds) if kinds.contains(&kind));
    rules.iter().enumerate().filter(|(_, rule)| names(rule)).map(|(at, _)| at).collect()
}

/// Only one tool asks for a capability, and it always does.
fn asked(tool: ToolName, rules: &[&ToolRule]) -> Vec<Option<Capability>> {
    if tool != ToolName::RequestScopedApproval {
        return vec![None];
    }
    let named = rules.iter().any(|rule| matches!(rule.when, RuleCondition::Asked(_)));
    let all = Capability::ALL.iter().copied().map(Some);
    if named { all.collect() } else { all.take(1).collect() }
}

/// No approval, each one that lifts a rule, and one that lifts none.
fn approvals(rules: &[&ToolRule]) -> Vec<Option<Capability>> {
    let named: BTreeSet<Capability> =
        rules.iter().filter_map(|rule| rule.unless).map(|unless| unless.approved).collect();
    let other = Capability::ALL.iter().copied().find(|capability| !named.contains(capability));
    std::iter::once(None).chain(named.into_iter().chain(other).map(Some)).collect()
}

fn call(
    tool: ToolName,
    kinds: &[FactKind],
    asked: Option<Capability>,
    approved: Option<Capability>,
) -> Result<RuleExample, CedarError> {
    let facts: Option<Vec<_>> = kinds.iter().map(|kind| kind.example()).collect();
    let facts = facts.ok_or_else(|| CedarError::Unusable("a kind of fact has no example".to_owned()))?;
    Ok(RuleExample { tool, facts, asked, approved, expect: ExpectedVerdict::DenyTerminating })
}

fn compare(
    old: &CedarEngine,
    new: &CedarEngine,
    call: RuleExample,
) -> Result<Option<Difference>, CedarError> {
    let (was, now) = (old.decide_example(&call)?, new.decide_example(&call)?);
    let (before, after) = (freedom(was.verdict), freedom(now.verdict));
    let call = RuleExample { expect: now.verdict.into(), ..call };
    Ok((before != after).then(|| Difference {
        call,
        was: was.verdict.into(),
        was_by: was.rules,
        now_by: now.rules,
        widens: after > before,
    }))
}

/// Whether the one already shows what the other does: the same change, for a call of which less is true.
fn shows(smaller: &Difference, other: &Difference) -> bool {
    let same = |one: &RuleExample, other: &RuleExample| {
        one.tool == other.tool
            && one.asked == other.asked
            && (one.approved.is_none() || one.approved == other.approved)
            && one.facts.iter().all(|fact| other.facts.contains(fact))
    };
    smaller.widens == other.widens
        && (smaller.was, smaller.call.expect) == (other.was, other.call.expect)
        && same(&smaller.call, &other.call)
}

/// How much a verdict lets through.
const fn freedom(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Deny(DenialKind::Terminating) => 0,
        Verdict::Deny(DenialKind::Call) => 1,
        Verdict::NeedsApproval(_) => 2,
        Verdict::Allow => 3,
    }
}
