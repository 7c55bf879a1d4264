//! How the words of an earlier bundle are read today.

use ambit_policy::FactKind;

use super::{RuleCondition, ToolRule};

/// Kinds that were told as [`FactKind::SkipMarkerAdded`] once.
const SPLIT_OFF: [FactKind; 2] = [FactKind::DirectiveAdded, FactKind::BlanketDirectiveAdded];

/// The rules as whoever wrote them meant them.
///
/// A bundle that names neither kind of directive was written when both were told as markers. What it says of markers it says
/// of directives, so that no run goes on with less than its bundle forbade. One that names either knows both.
#[must_use]
pub fn as_meant(rules: &[ToolRule]) -> Vec<ToolRule> {
    let names = |rule: &ToolRule, kind: FactKind| matches!(&rule.when, RuleCondition::AnyFact(kinds) if kinds.contains(&kind));
    let mut meant = rules.to_vec();
    if rules.iter().any(|rule| SPLIT_OFF.iter().any(|kind| names(rule, *kind))) {
        return meant;
    }
    for rule in &mut meant {
        if let RuleCondition::AnyFact(kinds) = &mut rule.when
            && kinds.contains(&FactKind::SkipMarkerAdded)
        {
            kinds.extend(SPLIT_OFF);
        }
    }
    meant
}
