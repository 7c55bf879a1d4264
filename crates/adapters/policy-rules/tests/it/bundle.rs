//! Rules like those that come with a generation run.

use ambit_policy::{Answer, Capability, DenialKind, Fact, FactKind, ToolName};
use ambit_policy_rules::{Condition, Example, Expected, Rule};

use crate::{dependency, rule_id, tools, unclassified};

const PATCH: ToolName = ToolName::ApplyProjectPatch;

fn example(tool: ToolName, facts: &[Fact], expect: Expected) -> Example {
    Example { tool, facts: facts.to_vec(), asked: None, approved: None, expect }
}

fn rule(id: &str, answer: Answer, on: &[ToolName], when: Condition, examples: Vec<Example>) -> Rule {
    Rule {
        id: rule_id(id),
        answer,
        tools: tools(on),
        when,
        unless_approved: None,
        why: format!("why of {id}"),
        instead: Some(format!("instead of {id}")),
        examples,
    }
}

fn protected() -> Fact {
    Fact::ProtectedPathTouched { path: "tests/test_todo.py".parse().unwrap() }
}

fn permits() -> Vec<Rule> {
    let reading = [ToolName::ReadProjectFile, ToolName::ListProjectFiles, ToolName::SearchProjectText];
    let allow = |tool| vec![example(tool, &[], Expected::Allow)];
    let asking = Condition::Asked([Capability::DependencyAdd].into());
    let asked = Example {
        asked: Some(Capability::DependencyAdd),
        ..example(ToolName::RequestScopedApproval, &[], Expected::Allow)
    };
    vec![
        rule("permit-reading", Answer::Permit, &reading, Condition::Always, allow(reading[0])),
        rule("permit-patch", Answer::Permit, &[PATCH], Condition::Always, allow(PATCH)),
        rule(
            "permit-asking-for-a-dependency",
            Answer::Permit,
            &[ToolName::RequestScopedApproval],
            asking,
            vec![asked],
        ),
    ]
}

/// Everything that is permitted, asked for and prohibited.
pub(crate) fn rules() -> Vec<Rule> {
    let terminating = Answer::Forbid(DenialKind::Terminating);
    let call = Answer::Forbid(DenialKind::Call);
    let about = |kind: FactKind| Condition::AnyFact([kind].into());
    let scope = Fact::ScopeLeft { path: "deploy/production.yaml".parse().unwrap() };
    let prohibited = Capability::ALL.iter().copied().filter(|c| *c != Capability::DependencyAdd);
    let approved = Example {
        approved: Some(Capability::DependencyAdd),
        ..example(PATCH, &[dependency()], Expected::Allow)
    };
    let mut rules = permits();
    rules.extend([
        rule(
            "forbid-protected-path",
            terminating,
            &[PATCH],
            about(FactKind::ProtectedPathTouched),
            vec![example(PATCH, &[protected()], Expected::DenyTerminating)],
        ),
        rule(
            "forbid-unclassified",
            terminating,
            &[PATCH],
            about(FactKind::Unclassified),
            vec![example(PATCH, &[unclassified()], Expected::DenyTerminating)],
        ),
        rule(
            "forbid-leaving-scope",
            call,
            &[PATCH],
            about(FactKind::ScopeLeft),
            vec![
                example(PATCH, std::slice::from_ref(&scope), Expected::DenyCall),
                example(PATCH, &[scope, protected()], Expected::DenyTerminating),
            ],
        ),
        Rule {
            unless_approved: Some(Capability::DependencyAdd),
            ..rule(
                "require-approval-of-dependency",
                Answer::RequireApproval(Capability::DependencyAdd),
                &[PATCH],
                about(FactKind::DependencyAdded),
                vec![example(PATCH, &[dependency()], Expected::NeedsApproval), approved],
            )
        },
        rule(
            "forbid-asking-for-what-is-prohibited",
            call,
            &[ToolName::RequestScopedApproval],
            Condition::Asked(prohibited.clone().collect()),
            prohibited
                .map(|capability| Example {
                    asked: Some(capability),
                    ..example(ToolName::RequestScopedApproval, &[], Expected::DenyCall)
                })
                .collect(),
        ),
    ]);
    rules
}
