use ambit_blueprint::{RuleCondition, ToolRule};
use ambit_ids::RuleId;
use ambit_policy::{Answer, DenialKind, FactKind, Request, Verdict};

/// What the rules answer, read one after the other as they are written down and ranked by hand: slow, and with nothing in
/// common with an engine.
#[must_use]
pub fn reference(rules: &[ToolRule], request: &Request) -> (Verdict, Vec<RuleId>) {
    let mut applying: Vec<&ToolRule> =
        rules.iter().filter(|rule| applies(rule, request, is_earlier(rules))).collect();
    applying.sort_by(|one, other| one.id.cmp(&other.id));
    let named = |wanted: &dyn Fn(Answer) -> bool| -> Vec<RuleId> {
        applying.iter().filter(|rule| wanted(rule.answer)).map(|rule| rule.id.clone()).collect()
    };
    for kind in [DenialKind::Terminating, DenialKind::Call] {
        let forbidding = named(&|answer| answer == Answer::Forbid(kind));
        if !forbidding.is_empty() {
            return (Verdict::Deny(kind), forbidding);
        }
    }
    let asked_first = applying.iter().find_map(|rule| match rule.answer {
        Answer::RequireApproval(capability) => Some(capability),
        Answer::Permit | Answer::Forbid(_) => None,
    });
    if let Some(capability) = asked_first {
        let asking = named(&|answer| answer == Answer::RequireApproval(capability));
        return (Verdict::NeedsApproval(capability), asking);
    }
    let permitting = named(&|answer| answer == Answer::Permit);
    if permitting.is_empty() {
        (Verdict::Deny(DenialKind::Terminating), permitting)
    } else {
        (Verdict::Allow, permitting)
    }
}

/// Whether a bundle speaks of no directive, and was therefore written when one was a marker.
fn is_earlier(rules: &[ToolRule]) -> bool {
    let mut speaks = false;
    for rule in rules {
        if let RuleCondition::AnyFact(kinds) = &rule.when {
            speaks |= kinds.contains(&FactKind::DirectiveAdded);
            speaks |= kinds.contains(&FactKind::BlanketDirectiveAdded);
        }
    }
    !speaks
}

fn applies(rule: &ToolRule, request: &Request, is_earlier: bool) -> bool {
    let mut tool = false;
    for named in &rule.tools {
        tool |= *named == request.tool;
    }
    let mut holds = rule.when == RuleCondition::Always;
    if let RuleCondition::AnyFact(kinds) = &rule.when {
        for fact in &request.facts {
            holds |= kinds.contains(&fact.kind());
            let was_marker =
                matches!(fact.kind(), FactKind::DirectiveAdded | FactKind::BlanketDirectiveAdded);
            holds |= is_earlier && was_marker && kinds.contains(&FactKind::SkipMarkerAdded);
        }
    }
    if let (RuleCondition::Asked(capabilities), Some(asked)) = (&rule.when, request.asked) {
        holds |= capabilities.contains(&asked);
    }
    let lifted = match (&rule.unless, &request.approval) {
        (Some(unless), Some(approval)) => {
            approval.capability == unless.approved && approval.subject == request.arguments
        }
        _ => false,
    };
    tool && holds && !lifted
}
