use ambit_blueprint::RuleCondition;
use ambit_policy::{ActionClass, Capability, FactKind};

use crate::compile::{members, quoted};
use crate::schema::class_action;

/// Denies what was asked of another policy set's engine.
pub(crate) const POLICY_PIN: &str = "pin.policy-digest";
/// Denies what trusted code cannot classify.
pub(crate) const UNCLASSIFIED: &str = "pin.unclassified";
/// Denies a call on a project that the run is not in.
pub(crate) const OTHER_PROJECT: &str = "pin.other-project";
/// Denies asking for what no approval can give.
pub(crate) const NEVER_APPROVABLE: &str = "pin.never-approvable";
/// Denies what no run does itself.
pub(crate) const NEVER_FOR_A_RUN: &str = "pin.never-for-a-run";

/// The classes of which a run does nothing itself.
pub(crate) const NEVER_BY_A_RUN: [ActionClass; 3] =
    [ActionClass::Network, ActionClass::SecretUse, ActionClass::External];

/// The capabilities that no approval gives to a run.
pub(crate) fn never_approvable() -> Vec<Capability> {
    Capability::ALL.iter().copied().filter(|capability| !capability.is_approvable()).collect()
}

/// The calls that a standing forbid can apply to at all.
pub(crate) fn condition_of(name: &str) -> RuleCondition {
    match name {
        UNCLASSIFIED => RuleCondition::AnyFact(vec![FactKind::Unclassified]),
        NEVER_APPROVABLE => RuleCondition::Asked(never_approvable()),
        _ => RuleCondition::Always,
    }
}

/// The forbids that stand around every bundle, as Cedar policies.
#[must_use]
pub fn standing_text() -> String {
    let unclassified = members("FactKind", &[FactKind::Unclassified]);
    let never = members("Capability", &never_approvable());
    let classes: Vec<String> =
        NEVER_BY_A_RUN.iter().map(|class| format!("Action::{}", quoted(&class_action(*class)))).collect();
    let classes = classes.join(", ");
    let any = "principal is Run, action, resource is Project";
    format!(
        r#"@id("{POLICY_PIN}")
@denial("terminating")
@why("The run is pinned to another policy bundle than the one that was asked.")
forbid ({any})
unless {{ context.policy == principal.policy }};

@id("{UNCLASSIFIED}")
@denial("terminating")
@why("What trusted code cannot classify is never permitted.")
forbid ({any})
when {{ context.facts.containsAny({unclassified}) }};

@id("{OTHER_PROJECT}")
@denial("call")
@why("A run acts in the project that it belongs to, and membership in another one is never inferred.")
forbid ({any})
unless {{ principal in resource }};

@id("{NEVER_APPROVABLE}")
@denial("call")
@why("What reaches beyond the run's project belongs to other stages, and no approval gives it to a run.")
forbid ({any})
when {{ context has asked && {never}.contains(context.asked) }};

@id("{NEVER_FOR_A_RUN}")
@denial("terminating")
@why("A run reaches no network, uses no secret and changes nothing outside of its project.")
forbid (principal is Run, action in [{classes}], resource is Project);
"#
    )
}
