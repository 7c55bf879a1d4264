use ambit_blueprint::{
    Document, ExpectedVerdict, PolicyBundle, RuleCondition, RuleExample, ToolRule, builtin,
};
use ambit_ids::RuleId;
use ambit_policy::{Answer, Capability, DenialKind, FactKind, ToolName, Verdict, combine};

#[test]
fn every_document_that_comes_with_ambit_is_one_and_keeps_its_digest() {
    let documents = builtin::parse_all().unwrap();
    let digests: Vec<String> = builtin::ALL
        .iter()
        .zip(&documents)
        .map(|(builtin, document)| format!("{} {}", document.digest().unwrap(), builtin.path))
        .collect();
    insta::assert_snapshot!(digests.join("\n"), @r#"
    sha256:35a6765cc98888cab57d220d81d758c587c6fddd5eb30e644f5eea53d68dfa8f documents/profiles/secure-generation-v1.yaml
    sha256:8c9edbb73a3444e87e5693d29115b4e6990afeb200be2858fabe21af4db39f2b documents/profiles/laptop-v1.yaml
    sha256:36b3595d90095fdc82329f38c2b634f55bcfa4327b117c3fda18677cdf8fb98f documents/policies/generation-tools-v1.yaml
    sha256:069e848ba7140bd09e316fe4684fb946ade66cc329e7ec3b3be2c74b6517e16d documents/policies/generation-tools-v2.yaml
    sha256:7c7ad587da6b441e915dc409ca74a819b062fd131c4bd31c980b3863bfb96c0c documents/policies/generation-egress-v5.yaml
    sha256:f7fb98fbc3ec873b6a27b7aa656ce102cd15c0351c7eaf994b9ce991360ca5b9 documents/policies/secret-broker-v4.yaml
    sha256:74db805bcc8f903d7b5e5b4c14152cbb6c23d9f456dcf1ef53828bcbee59764c documents/policies/run-evidence-retention-v2.yaml
    "#);
}

fn default_rules() -> Vec<ToolRule> {
    let text = builtin::GENERATION_TOOLS_V2.text;
    let bundle = PolicyBundle::parse("rules.yaml", text.as_bytes()).unwrap();
    bundle.tool_rules().unwrap().to_vec()
}

/// The rules as their documentation states them, in as few words as possible.
fn answers(rules: &[ToolRule], call: &RuleExample) -> Vec<(RuleId, Answer)> {
    let applies = |rule: &&ToolRule| {
        let holds = match &rule.when {
            RuleCondition::AnyFact(kinds) => call.facts.iter().any(|fact| kinds.contains(&fact.kind())),
            RuleCondition::Asked(capabilities) => {
                call.asked.is_some_and(|asked| capabilities.contains(&asked))
            }
            RuleCondition::Always => true,
        };
        let excepted = rule.unless.is_some_and(|unless| call.approved == Some(unless.approved));
        rule.tools.contains(&call.tool) && holds && !excepted
    };
    rules.iter().filter(applies).map(|rule| (rule.id.clone(), rule.answer)).collect()
}

fn verdict(rules: &[ToolRule], call: &RuleExample) -> ExpectedVerdict {
    match combine(&answers(rules, call)).0 {
        Verdict::Allow => ExpectedVerdict::Allow,
        Verdict::NeedsApproval(_) => ExpectedVerdict::NeedsApproval,
        Verdict::Deny(DenialKind::Call) => ExpectedVerdict::DenyCall,
        Verdict::Deny(DenialKind::Terminating) => ExpectedVerdict::DenyTerminating,
    }
}

#[test]
fn the_default_rules_answer_as_their_examples_say() {
    let rules = default_rules();
    for rule in &rules {
        for example in &rule.examples {
            assert_eq!(verdict(&rules, example), example.expect, "{}: {example:?}", rule.id);
        }
    }
}

#[test]
fn every_default_rule_decides_one_of_its_own_examples() {
    let rules = default_rules();
    for rule in &rules {
        let decides = |example: &RuleExample| combine(&answers(&rules, example)).1.contains(&rule.id);
        assert!(rule.examples.iter().any(decides), "{}", rule.id);
    }
}

#[test]
fn a_generation_run_can_ask_for_a_dependency_or_a_silenced_check_and_for_none_of_the_other_powers() {
    let rules = default_rules();
    assert_eq!(Capability::ALL.len(), 12);
    for capability in Capability::ALL {
        let call = RuleExample {
            tool: ToolName::RequestScopedApproval,
            facts: Vec::new(),
            asked: Some(*capability),
            approved: None,
            expect: ExpectedVerdict::Allow,
        };
        let expected = match capability {
            Capability::DependencyAdd | Capability::CheckSilence => ExpectedVerdict::Allow,
            _ => ExpectedVerdict::DenyCall,
        };
        assert_eq!(verdict(&rules, &call), expected, "{capability}");
    }
}

#[test]
fn reads_patches_and_named_checks_need_no_approval() {
    let rules = default_rules();
    for tool in ToolName::ALL.iter().filter(|tool| **tool != ToolName::RequestScopedApproval) {
        let call = RuleExample {
            tool: *tool,
            facts: Vec::new(),
            asked: None,
            approved: None,
            expect: ExpectedVerdict::Allow,
        };
        assert_eq!(verdict(&rules, &call), ExpectedVerdict::Allow, "{tool}");
    }
}

#[test]
fn every_kind_of_fact_is_answered_by_a_rule_that_restrains() {
    let rules = default_rules();
    for kind in FactKind::ALL {
        let restrains = |rule: &ToolRule| {
            rule.answer != Answer::Permit
                && matches!(&rule.when, RuleCondition::AnyFact(kinds) if kinds.contains(kind))
        };
        assert!(rules.iter().any(restrains), "{kind}");
    }
    for rule in rules.iter().filter(|rule| rule.answer != Answer::Permit) {
        assert!(rule.instead.is_some(), "{} does not say what is possible instead", rule.id);
    }
}

#[test]
fn a_builtin_document_is_named_like_its_file() {
    for builtin in builtin::ALL {
        let document = builtin.parse().unwrap();
        let file = builtin.path.rsplit('/').next().unwrap();
        let expected = match document.policy_key() {
            Some(key) => format!("{}-v{}.yaml", key.name, key.version),
            None => format!("{}.yaml", document.name()),
        };
        assert_eq!(file, expected);
        assert!(!matches!(document, Document::Blueprint(_)));
    }
}
