//! Every way of weakening the bundle by one step is seen: by the bundle's own examples, or by the table of its decisions.

use ambit_blueprint::{RuleCondition, ToolRule};
use ambit_conformance::policy::sample::policy;
use ambit_policy::{Answer, DenialKind};
use ambit_policy_cedar::{CedarEngine, CedarError};

use crate::table::{is_as_agreed, rules};

/// A bundle with one change, and what the change is.
struct Mutant {
    says: String,
    rules: Vec<ToolRule>,
}

/// What sees a mutant.
#[derive(Debug, PartialEq, Eq)]
enum Seen {
    AtLoad,
    ByTheTable,
    ByNothing,
}

impl Mutant {
    fn seen(&self) -> Seen {
        match CedarEngine::new(policy(), &self.rules) {
            Err(CedarError::Rules(_) | CedarError::NeverApprovable { .. }) => Seen::AtLoad,
            Err(error) => panic!("{}: {error}", self.says),
            Ok(engine) if is_as_agreed(&engine) => Seen::ByNothing,
            Ok(_) => Seen::ByTheTable,
        }
    }
}

/// The bundle with one of its rules changed.
fn changed(at: usize, what: &str, change: impl FnOnce(&mut ToolRule)) -> Mutant {
    let mut rules = rules();
    change(&mut rules[at]);
    Mutant { says: format!("{} {what}", rules[at].id), rules }
}

/// Drops the rule, its condition and its exception, and turns its effect round.
fn mutants_of(at: usize, rule: &ToolRule) -> Vec<Mutant> {
    let mut without = rules();
    without.remove(at);
    let mut mutants = vec![Mutant { says: format!("without {}", rule.id), rules: without }];
    if rule.when != RuleCondition::Always {
        mutants.push(changed(at, "without its condition", |rule| rule.when = RuleCondition::Always));
    }
    if rule.unless.is_some() {
        mutants.push(changed(at, "without its exception", |rule| rule.unless = None));
    }
    let turned = match rule.answer {
        Answer::Permit => Answer::Forbid(DenialKind::Call),
        Answer::RequireApproval(_) | Answer::Forbid(_) => Answer::Permit,
    };
    mutants.push(changed(at, "with its effect turned round", |rule| rule.answer = turned));
    if let Answer::Forbid(kind) = rule.answer {
        let other = match kind {
            DenialKind::Call => DenialKind::Terminating,
            DenialKind::Terminating => DenialKind::Call,
        };
        mutants.push(changed(at, "with the other denial", |rule| rule.answer = Answer::Forbid(other)));
    }
    mutants
}

/// Drops each word of a list by itself: a tool, a kind of fact, a capability.
fn mutants_of_lists(at: usize, rule: &ToolRule) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    for tool in rule.tools.iter().skip(usize::from(rule.tools.len() == 1)) {
        mutants.push(changed(at, &format!("without {tool}"), |rule| rule.tools.retain(|it| it != tool)));
    }
    match &rule.when {
        RuleCondition::AnyFact(kinds) if kinds.len() > 1 => {
            mutants.extend(kinds.iter().map(|kind| {
                let rest = kinds.iter().copied().filter(|it| it != kind).collect();
                changed(at, &format!("without {kind}"), |rule| rule.when = RuleCondition::AnyFact(rest))
            }));
        }
        RuleCondition::Asked(capabilities) if capabilities.len() > 1 => {
            mutants.extend(capabilities.iter().map(|capability| {
                let rest = capabilities.iter().copied().filter(|it| it != capability).collect();
                changed(at, &format!("without {capability}"), |rule| rule.when = RuleCondition::Asked(rest))
            }));
        }
        RuleCondition::AnyFact(_) | RuleCondition::Asked(_) | RuleCondition::Always => {}
    }
    mutants
}

fn assert_all_are_seen(mutants: &[Mutant]) {
    let unseen: Vec<&str> =
        mutants.iter().filter(|mutant| mutant.seen() == Seen::ByNothing).map(|it| it.says.as_str()).collect();
    assert!(unseen.is_empty(), "of {} mutants nothing sees {unseen:#?}", mutants.len());
}

// The positive control: nothing sees the bundle itself.
#[test]
fn the_bundle_as_it_is_is_no_mutant() {
    let same = Mutant { says: "the bundle".to_owned(), rules: rules() };
    assert_eq!(same.seen(), Seen::ByNothing);
}

// proves E-H02
#[test]
fn a_rule_that_loses_its_condition_its_exception_or_its_effect_is_seen() {
    let rules = rules();
    let mutants: Vec<Mutant> = rules.iter().enumerate().flat_map(|(at, rule)| mutants_of(at, rule)).collect();
    assert!(mutants.len() > 3 * rules.len(), "{} mutants", mutants.len());
    assert_all_are_seen(&mutants);
}

// proves E-H02
#[test]
fn a_rule_that_loses_a_tool_a_kind_of_fact_or_a_capability_is_seen() {
    let rules = rules();
    let mutants: Vec<Mutant> =
        rules.iter().enumerate().flat_map(|(at, rule)| mutants_of_lists(at, rule)).collect();
    assert!(mutants.len() > rules.len(), "{} mutants", mutants.len());
    assert_all_are_seen(&mutants);
}
