//! Rules like those that come with a generation run.

use ambit_blueprint::{ExpectedVerdict, RuleCondition, RuleExample, RuleException, ToolRule};
use ambit_policy::{Answer, Capability, DenialKind, Fact, FactKind, ToolName};

use crate::{dependency, rule_id, unclassified};

const PATCH: ToolName = ToolName::ApplyProjectPatch;

fn example(tool: ToolName, facts: &[Fact], expect: ExpectedVerdict) -> RuleExample {
    RuleExample { tool, facts: facts.to_vec(), asked: None, approved: None, expect }
}

fn rule(
    id: &str,
    answer: Answer,
    on: &[ToolName],
    when: RuleCondition,
    examples: Vec<RuleExample>,
) -> ToolRule {
    ToolRule {
        id: rule_id(id),
        answer,
        tools: on.to_vec(),
        when,
        unless: None,
        why: format!("why of {id}"),
        instead: Some(format!("instead of {id}")),
        examples,
    }
}

fn protected() -> Fact {
    Fact::ProtectedPathTouched { path: "tests/test_todo.py".parse().unwrap() }
}

fn permits() -> Vec<ToolRule> {
    let reading = [ToolName::ReadProjectFile, ToolName::ListProjectFiles, ToolName::SearchProjectText];
    let allow = |tool| vec![example(tool, &[], ExpectedVerdict::Allow)];
    let asking = RuleCondition::Asked([Capability::DependencyAdd].into());
    let asked = RuleExample {
        asked: Some(Capability::DependencyAdd),
        ..example(ToolName::RequestScopedApproval, &[], ExpectedVerdict::Allow)
    };
    vec![
        rule("permit-reading", Answer::Permit, &reading, RuleCondition::Always, allow(reading[0])),
        rule("permit-patch", Answer::Permit, &[PATCH], RuleCondition::Always, allow(PATCH)),
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
pub(crate) fn rules() -> Vec<ToolRule> {
    let terminating = Answer::Forbid(DenialKind::Terminating);
    let call = Answer::Forbid(DenialKind::Call);
    let about = |kind: FactKind| RuleCondition::AnyFact([kind].into());
    let scope = Fact::ScopeLeft { path: "deploy/production.yaml".parse().unwrap() };
    let prohibited = Capability::ALL.iter().copied().filter(|c| *c != Capability::DependencyAdd);
    let approved = RuleExample {
        approved: Some(Capability::DependencyAdd),
        ..example(PATCH, &[dependency()], ExpectedVerdict::Allow)
    };
    let mut rules = permits();
    rules.extend([
        rule(
            "forbid-protected-path",
            terminating,
            &[PATCH],
            about(FactKind::ProtectedPathTouched),
            vec![example(PATCH, &[protected()], ExpectedVerdict::DenyTerminating)],
        ),
        rule(
            "forbid-unclassified",
            terminating,
            &[PATCH],
            about(FactKind::Unclassified),
            vec![example(PATCH, &[unclassified()], ExpectedVerdict::DenyTerminating)],
        ),
        rule(
            "forbid-leaving-scope",
            call,
            &[PATCH],
            about(FactKind::ScopeLeft),
            vec![
                example(PATCH, std::slice::from_ref(&scope), ExpectedVerdict::DenyCall),
                example(PATCH, &[scope, protected()], ExpectedVerdict::DenyTerminating),
            ],
        ),
        ToolRule {
            unless: Some(RuleException { approved: Capability::DependencyAdd }),
            ..rule(
                "require-approval-of-dependency",
                Answer::RequireApproval(Capability::DependencyAdd),
                &[PATCH],
                about(FactKind::DependencyAdded),
                vec![example(PATCH, &[dependency()], ExpectedVerdict::NeedsApproval), approved],
            )
        },
        rule(
            "forbid-asking-for-what-is-prohibited",
            call,
            &[ToolName::RequestScopedApproval],
            RuleCondition::Asked(prohibited.clone().collect()),
            prohibited
                .map(|capability| RuleExample {
                    asked: Some(capability),
                    ..example(ToolName::RequestScopedApproval, &[], ExpectedVerdict::DenyCall)
                })
                .collect(),
        ),
    ]);
    rules
}
