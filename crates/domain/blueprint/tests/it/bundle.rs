use ambit_blueprint::{DocumentKind, Erasure, PolicyBundle, PolicyRules, ProblemCode, RuleEffect, builtin};
use ambit_policy::{Answer, Capability, DenialKind};

use crate::page::{codes, edited, problems, sample};

fn text() -> &'static str {
    sample(DocumentKind::PolicyBundle)
}

#[test]
fn a_rule_says_what_it_answers_and_how() {
    let bundle = PolicyBundle::parse("rules.yaml", text().as_bytes()).unwrap();
    let rules = bundle.tool_rules().unwrap();
    let answers: Vec<Answer> = rules.iter().map(|rule| rule.answer).collect();
    assert_eq!(
        answers,
        [
            Answer::Permit,
            Answer::RequireApproval(Capability::DependencyAdd),
            Answer::Forbid(DenialKind::Terminating)
        ]
    );
    assert_eq!(rules[2].effect(), RuleEffect::Forbid);
}

#[test]
fn a_rule_that_says_too_much_or_too_little_is_refused() {
    let permit = "effect: permit";
    let forbid = "      effect: forbid\n      denial: terminating\n";
    let require = "      effect: require-approval\n      capability: dependency.add\n";
    for (from, to, code) in [
        (permit, "effect: permit\n      denial: call", ProblemCode::Contradiction),
        (permit, "effect: permit\n      capability: deploy", ProblemCode::Contradiction),
        (permit, "effect: allow", ProblemCode::UnknownWord),
        (forbid, "      effect: forbid\n", ProblemCode::MissingField),
        (forbid, "      effect: forbid\n      denial: soft\n", ProblemCode::UnknownWord),
        (
            forbid,
            "      effect: forbid\n      denial: call\n      capability: deploy\n",
            ProblemCode::Contradiction,
        ),
        (require, "      effect: require-approval\n", ProblemCode::MissingField),
        (require, "      effect: require-approval\n      capability: deploy\n", ProblemCode::Contradiction),
        ("      unless: {approved: dependency.add}\n", "", ProblemCode::Contradiction),
        ("unless: {approved: dependency.add}", "unless: {approved: deploy}", ProblemCode::Contradiction),
        ("unless: {approved: dependency.add}", "unless: {approved: yes}", ProblemCode::Ambiguous),
        ("when: {always: true}", "when: {always: false}", ProblemCode::WrongType),
        ("when: {always: true}", "when: {always: yes}", ProblemCode::WrongType),
        ("when: {always: true}", "when: {}", ProblemCode::MissingField),
        ("when: {always: true}", "when: {always: true, anyFact: [unclassified]}", ProblemCode::Contradiction),
        ("when: {always: true}", "when: {asked: [deploy]}", ProblemCode::Contradiction),
        ("when: {always: true}", "when: {anyFact: []}", ProblemCode::OutOfRange),
        ("when: {always: true}", "when: {anyFact: [scope-left, scope-left]}", ProblemCode::DuplicateId),
        ("when: {always: true}", "when: {anyFact: [shell-used]}", ProblemCode::UnknownWord),
        ("when: {always: true}", "when: {path: \"**\"}", ProblemCode::UnknownField),
        ("- id: forbid-protected-path", "- id: permit-patch", ProblemCode::DuplicateId),
        (
            "{tool: apply_project_patch, facts: [], expect: allow}",
            "{tool: run_named_gate, facts: [], expect: allow}",
            ProblemCode::UnknownReference,
        ),
        ("facts: [], expect: allow}", "facts: [], asked: deploy, expect: allow}", ProblemCode::Contradiction),
        ("facts: [], expect: allow}", "facts: [], expect: deny}", ProblemCode::UnknownWord),
        ("facts: [], expect: allow}", "expect: allow}", ProblemCode::MissingField),
        ("name: attrs}]", "name: attrs, path: x}]", ProblemCode::UnknownField),
    ] {
        assert_eq!(codes(&edited(text(), from, to)), [code], "{to}");
    }
    let first = text().find("      examples:").unwrap();
    let second = text().find("    - id: require").unwrap();
    let without_examples = format!("{}{}", &text()[..first], &text()[second..]);
    assert_eq!(codes(&without_examples), [ProblemCode::MissingField]);
}

#[test]
fn what_is_asked_for_belongs_to_one_tool() {
    let text = builtin::GENERATION_TOOLS_V2.text;
    let example = "{tool: request_scoped_approval, facts: [], asked: dependency.add, expect: allow}";
    let silent = edited(text, example, "{tool: request_scoped_approval, facts: [], expect: allow}");
    assert_eq!(codes(&silent), [ProblemCode::MissingField]);
    assert_eq!(codes(&edited(text, "asked: deploy,", "asked: everything,")), [ProblemCode::UnknownWord]);
}

#[test]
fn a_bundle_is_about_exactly_one_subject() {
    let retention = builtin::RUN_EVIDENCE_RETENTION_V2.text;
    let bundle = PolicyBundle::parse("retention.yaml", retention.as_bytes()).unwrap();
    let PolicyRules::Retention(policy) = bundle.spec else { panic!() };
    assert_eq!((policy.keep_days, policy.erase_by), (400, Erasure::RecordedShredding));
    assert!(bundle.tool_rules().is_none());

    let both = format!("{retention}  egress: {{default: deny-all}}\n");
    assert_eq!(problems(&both), [(ProblemCode::Contradiction, 7, 3)]);
    let start = retention.find("  retention:").unwrap();
    assert_eq!(problems(&format!("{}  {{}}\n", &retention[..start])), [(ProblemCode::MissingField, 6, 1)]);
    for (from, to, code) in [
        ("keepDays: 400", "keepDays: 0", ProblemCode::OutOfRange),
        ("keepDays: 400", "keepDays: forever", ProblemCode::WrongType),
        ("eraseBy: recorded-shredding", "eraseBy: deletion", ProblemCode::UnknownWord),
        ("    eraseBy: recorded-shredding\n", "", ProblemCode::MissingField),
        ("  retention:", "  retentoin:", ProblemCode::UnknownField),
    ] {
        assert_eq!(codes(&edited(retention, from, to)), [code], "{to}");
    }
    let egress = builtin::GENERATION_EGRESS_V5.text;
    assert_eq!(codes(&edited(egress, "deny-all", "allow-all")), [ProblemCode::UnknownWord]);
    let secrets = builtin::SECRET_BROKER_V4.text;
    assert_eq!(codes(&edited(secrets, "none", "environment")), [ProblemCode::UnknownWord]);
}
