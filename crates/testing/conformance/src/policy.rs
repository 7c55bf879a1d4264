//! The suite of [`PolicyEngine`](ambit_ports::policy::PolicyEngine): what every engine answers to the same rules.
//!
//! An engine may deny more by itself, under a name that begins with `pin.`, and never permits more.

mod reference;
pub mod sample;

use ambit_blueprint::{BUILT_IN_RULES, ExpectedVerdict, RuleCondition, ToolRule};
use ambit_ids::{Digest, RuleId};
use ambit_policy::{Answer, Capability, Decision, DenialKind, Fact, FactKind, Request, ToolName, Verdict};
use ambit_ports::policy::PolicyEngine;

pub use reference::reference;
use sample::{Chance, arguments, asking, call, dependency, policy, rule, rule_id, with_approval};

const PATCH: ToolName = ToolName::ApplyProjectPatch;
const ENDS: Verdict = Verdict::Deny(DenialKind::Terminating);

/// Runs every check. `make` must answer an engine for the rules of a policy set, or the code of why there is none.
pub fn suite<E, F>(make: F)
where
    E: PolicyEngine,
    F: Fn(Digest, &[ToolRule]) -> Result<E, String>,
{
    every_answer_is_that_of_the_rules(&make, 1, 24, 48);
    silence_ends_the_run(&make);
    another_bundle_decides_nothing(&make);
    what_cannot_be_classified_is_denied(&make);
    an_approval_lifts_its_own_rule_for_its_own_arguments(&make);
    a_decision_can_be_made_again(&make);
    an_engine_says_what_is_possible_instead(&make);
    a_bundle_from_before_means_directives_by_its_markers(&make);
    what_is_no_bundle_is_refused(&make);
}

/// Whether the engine itself makes this denial.
#[must_use]
pub fn is_built_in(rule: &RuleId) -> bool {
    rule.as_str().starts_with(BUILT_IN_RULES)
}

/// On random rules and requests, the engine answers what a naive reading of the rules answers, or denies by a name of its
/// own; the order of the rules makes no difference.
pub fn every_answer_is_that_of_the_rules<E: PolicyEngine>(
    make: &impl Fn(Digest, &[ToolRule]) -> Result<E, String>,
    seed: u64,
    bundles: usize,
    requests: usize,
) {
    let mut chance = Chance::new(seed);
    for _ in 0..bundles {
        let rules = sample::any_rules(&mut chance);
        let engine = make(policy(), &rules).unwrap();
        let backwards: Vec<ToolRule> = rules.iter().rev().cloned().collect();
        let backwards = make(policy(), &backwards).unwrap();
        for _ in 0..requests {
            let request = sample::any_request(&mut chance);
            let decision = engine.decide(&request);
            assert_eq!(decision, backwards.decide(&request), "the order of the rules");
            assert_answers(&decision, reference(&rules, &request), &rules, &request);
        }
    }
}

fn assert_answers(
    decision: &Decision,
    (verdict, by): (Verdict, Vec<RuleId>),
    rules: &[ToolRule],
    request: &Request,
) {
    let (pins, cited): (Vec<RuleId>, Vec<RuleId>) = decision.rules.iter().cloned().partition(is_built_in);
    let shown = || format!("{request:#?}\nby {rules:#?}\nis {decision:#?}");
    if pins.is_empty() {
        assert_eq!((decision.verdict, &cited), (verdict, &by), "{}", shown());
        return;
    }
    assert!(matches!(decision.verdict, Verdict::Deny(_)), "a built-in rule only denies: {}", shown());
    // Silence is no rule's: a denial of the call that has a name takes its place.
    assert!(freedom(decision.verdict) <= freedom(verdict) || by.is_empty(), "{}", shown());
    if decision.verdict == verdict {
        assert_eq!(cited, by, "{}", shown());
    } else {
        assert!(cited.is_empty(), "{}", shown());
    }
}

/// How much a verdict lets through.
#[must_use]
pub const fn freedom(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Deny(DenialKind::Terminating) => 0,
        Verdict::Deny(DenialKind::Call) => 1,
        Verdict::NeedsApproval(_) => 2,
        Verdict::Allow => 3,
    }
}

/// What no rule speaks of is denied and ends the run, and the decision names no rule.
pub fn silence_ends_the_run<E: PolicyEngine>(make: &impl Fn(Digest, &[ToolRule]) -> Result<E, String>) {
    let engine = make(policy(), &[permit()]).unwrap();
    assert_eq!(engine.decide(&call(PATCH, &[])).verdict, Verdict::Allow);
    let silent = engine.decide(&call(ToolName::RunNamedGate, &[]));
    assert_eq!((silent.verdict, silent.rules), (ENDS, Vec::new()));
    let empty = make(policy(), &[]).unwrap();
    for tool in ToolName::ALL {
        assert_eq!(empty.decide(&call(*tool, &[])).verdict, ENDS);
    }
}

/// A request that is pinned to another policy set is denied, ends the run, and is not answered by the rules.
pub fn another_bundle_decides_nothing<E: PolicyEngine>(
    make: &impl Fn(Digest, &[ToolRule]) -> Result<E, String>,
) {
    let engine = make(policy(), &[permit()]).unwrap();
    assert_eq!(engine.decide(&call(PATCH, &[])).verdict, Verdict::Allow);
    let other = Request { policy: Digest::of(b"another policy set"), ..call(PATCH, &[]) };
    let decision = engine.decide(&other);
    assert_eq!((decision.verdict, decision.rules), (ENDS, vec![rule_id("pin.policy-digest")]));
}

/// No bundle permits what trusted code could not classify.
pub fn what_cannot_be_classified_is_denied<E: PolicyEngine>(
    make: &impl Fn(Digest, &[ToolRule]) -> Result<E, String>,
) {
    let engine = make(policy(), &[permit()]).unwrap();
    let decision = engine.decide(&call(PATCH, &[sample::fact(FactKind::Unclassified)]));
    assert_eq!((decision.verdict, decision.rules), (ENDS, vec![rule_id("pin.unclassified")]));
}

/// Only an approval of the same capability and of exactly the arguments lifts a rule.
pub fn an_approval_lifts_its_own_rule_for_its_own_arguments<E: PolicyEngine>(
    make: &impl Fn(Digest, &[ToolRule]) -> Result<E, String>,
) {
    let asked = Capability::DependencyAdd;
    let ask = ToolRule {
        unless: Some(ambit_blueprint::RuleException { approved: asked }),
        ..rule(
            "ask",
            Answer::RequireApproval(asked),
            PATCH,
            RuleCondition::AnyFact(vec![FactKind::DependencyAdded]),
            sample::example(PATCH, &[dependency()], ExpectedVerdict::NeedsApproval),
        )
    };
    let engine = make(policy(), &[permit(), ask]).unwrap();
    let patch = call(PATCH, &[dependency()]);
    assert_eq!(engine.decide(&patch).verdict, Verdict::NeedsApproval(asked));
    for approved in Capability::ALL.iter().copied() {
        let lifted = engine.decide(&with_approval(patch.clone(), approved, arguments())).verdict;
        assert_eq!(lifted == Verdict::Allow, approved == asked, "{approved}");
        let other = with_approval(patch.clone(), approved, Digest::of(b"other arguments"));
        assert_eq!(engine.decide(&other).verdict, Verdict::NeedsApproval(asked));
        assert_eq!(engine.decide(&with_approval(asking(asked), approved, arguments())).verdict, ENDS);
    }
}

/// A decision names its engine and the digest of what was asked, and is the same when it is made again elsewhere.
pub fn a_decision_can_be_made_again<E: PolicyEngine>(
    make: &impl Fn(Digest, &[ToolRule]) -> Result<E, String>,
) {
    let (one, other) = (make(policy(), &[permit()]).unwrap(), make(policy(), &[permit()]).unwrap());
    let asked = call(PATCH, &[]);
    let decision = one.decide(&asked);
    assert_eq!(decision.input, asked.to_canonical().unwrap().digest());
    assert!(decision.engine.0.contains('/'), "{} has a name and a version", decision.engine);
    assert_eq!(decision, other.decide(&asked));
    assert_eq!(decision, one.decide(&asked));
    assert_ne!(decision.input, one.decide(&call(PATCH, &[dependency()])).input);
}

/// The words of a rule of the bundle are told, and none of another name.
pub fn an_engine_says_what_is_possible_instead<E: PolicyEngine>(
    make: &impl Fn(Digest, &[ToolRule]) -> Result<E, String>,
) {
    let words = "Ask for \"less\", \\ or nothing: {x} @id(1) \u{e9}\u{4e2d}.".to_owned();
    let engine = make(policy(), &[ToolRule { instead: Some(words.clone()), ..permit() }]).unwrap();
    assert_eq!(engine.instead(&rule_id("permit-patch")), Some(words));
    assert_eq!(engine.instead(&rule_id("another")), None);
    assert_eq!(make(policy(), &[permit()]).unwrap().instead(&rule_id("permit-patch")), None);
}

/// What forbids markers and speaks of no directive forbids directives; what speaks of either means what it says.
pub fn a_bundle_from_before_means_directives_by_its_markers<E: PolicyEngine>(
    make: &impl Fn(Digest, &[ToolRule]) -> Result<E, String>,
) {
    let forbid = |id: &str, kind: FactKind| {
        let example = sample::example(PATCH, &[sample::fact(kind)], ExpectedVerdict::DenyTerminating);
        let when = RuleCondition::AnyFact(vec![kind]);
        rule(id, Answer::Forbid(DenialKind::Terminating), PATCH, when, example)
    };
    let marker = forbid("no-marker", FactKind::SkipMarkerAdded);
    let earlier = make(policy(), &[permit(), marker.clone()]).unwrap();
    let blanket = forbid("no-blanket", FactKind::BlanketDirectiveAdded);
    let later = make(policy(), &[permit(), marker, blanket]).unwrap();
    for (kind, before, after) in [
        (FactKind::SkipMarkerAdded, ENDS, ENDS),
        (FactKind::DirectiveAdded, ENDS, Verdict::Allow),
        (FactKind::BlanketDirectiveAdded, ENDS, ENDS),
        (FactKind::CheckSilenced, Verdict::Allow, Verdict::Allow),
    ] {
        let patch = call(PATCH, &[sample::fact(kind)]);
        assert_eq!(earlier.decide(&patch).verdict, before, "{kind}");
        assert_eq!(later.decide(&patch).verdict, after, "{kind}");
    }
}

/// Rules that are no bundle make no engine.
pub fn what_is_no_bundle_is_refused<E: PolicyEngine>(
    make: &impl Fn(Digest, &[ToolRule]) -> Result<E, String>,
) {
    let mut wrong = permit();
    wrong.examples[0].expect = ExpectedVerdict::DenyCall;
    let cases = [
        (vec![permit(), permit()], "POLICY_RULE_DUPLICATE"),
        (vec![ToolRule { id: rule_id("pin.mine"), ..permit() }], "POLICY_RULE_RESERVED"),
        (vec![ToolRule { tools: Vec::new(), ..permit() }], "POLICY_RULE_WITHOUT_TOOL"),
        (vec![ToolRule { examples: Vec::new(), ..permit() }], "POLICY_RULE_WITHOUT_EXAMPLE"),
        (vec![wrong], "POLICY_EXAMPLE_FAILS"),
    ];
    for (rules, code) in cases {
        assert_eq!(make(policy(), &rules).err().as_deref(), Some(code));
    }
    assert!(make(policy(), &[permit()]).is_ok());
}

fn permit() -> ToolRule {
    let example = sample::example(PATCH, &[] as &[Fact], ExpectedVerdict::Allow);
    rule("permit-patch", Answer::Permit, PATCH, RuleCondition::Always, example)
}
