use ambit_blueprint::{RuleCondition, ToolRule, as_meant};
use ambit_policy::Answer;

/// The rules as Cedar policies, by their names: what an engine for them decides by, besides what stands around every bundle.
#[must_use]
pub fn cedar_text(rules: &[ToolRule]) -> String {
    let meant = as_meant(rules);
    let mut sorted: Vec<&ToolRule> = meant.iter().collect();
    sorted.sort_by_key(|rule| &rule.id);
    sorted.into_iter().map(policy_text).collect::<Vec<_>>().join("\n")
}

/// One rule as a Cedar policy.
pub(crate) fn policy_text(rule: &ToolRule) -> String {
    let mut text = annotation("id", rule.id.as_str());
    let effect = match rule.answer {
        Answer::Permit => "permit",
        Answer::RequireApproval(capability) => {
            text.push_str(&annotation("approvable", capability.as_str()));
            "forbid"
        }
        Answer::Forbid(kind) => {
            text.push_str(&annotation("denial", kind.as_str()));
            "forbid"
        }
    };
    text.push_str(&annotation("why", &rule.why));
    if let Some(instead) = &rule.instead {
        text.push_str(&annotation("instead", instead));
    }
    let tools = members("Action", &rule.tools);
    text.push_str(&format!("{effect} (principal is Run, action in {tools}, resource is Project)"));
    match &rule.when {
        RuleCondition::Always => {}
        RuleCondition::AnyFact(kinds) => {
            let kinds = members("FactKind", kinds);
            text.push_str(&format!("\nwhen {{ context.facts.containsAny({kinds}) }}"));
        }
        RuleCondition::Asked(capabilities) => {
            let asked = members("Capability", capabilities);
            text.push_str(&format!("\nwhen {{ context has asked && {asked}.contains(context.asked) }}"));
        }
    }
    if let Some(unless) = rule.unless {
        let approved = quoted(unless.approved.as_str());
        text.push_str(&format!(
            "\nunless {{\n  context has approval &&\n  context.approval.capability == Capability::{approved} &&\n  \
             context.approval.subject == context.arguments\n}}"
        ));
    }
    text.push_str(";\n");
    text
}

fn annotation(name: &str, value: &str) -> String {
    format!("@{name}({})\n", quoted(value))
}

/// A set of entities of one type.
pub(crate) fn members<W: std::fmt::Display>(kind: &str, words: &[W]) -> String {
    let words: Vec<String> =
        words.iter().map(|word| format!("{kind}::{}", quoted(&word.to_string()))).collect();
    format!("[{}]", words.join(", "))
}

/// Text as a literal of Cedar. What is not printable ASCII is spelled as an escape, so that nothing in a policy is
/// invisible or reads differently than it is.
pub(crate) fn quoted(text: &str) -> String {
    let mut literal = String::with_capacity(text.len() + 2);
    literal.push('"');
    for symbol in text.chars() {
        match symbol {
            '"' | '\\' => literal.extend(['\\', symbol]),
            ' '..='~' => literal.push(symbol),
            other => literal.push_str(&format!("\\u{{{:x}}}", u32::from(other))),
        }
    }
    literal.push('"');
    literal
}
