use ambit_blueprint::{
    AggregateLimits, Document, DocumentKind, ExecutionCapabilityProfile, ProblemCode, RequiredEgress,
    RequiredIsolation, builtin,
};
use ambit_ids::{DurationMs, MicroUsd};

use crate::page::{codes, edited, problems, sample};

// proves E-I06
// break crates/domain/blueprint/src/profile.rs: `let evidence = word(&mut fields, "evidence");` -> `let evidence = word(&mut fields, "isolation");`
#[test]
fn the_profile_for_secure_generation_says_what_it_must() {
    let text = builtin::SECURE_GENERATION_V1.text;
    let profile = ExecutionCapabilityProfile::parse("p.yaml", text.as_bytes()).unwrap();
    assert_eq!(profile.metadata.name.as_str(), "secure-generation-v1");
    let required = profile.spec.required;
    let words = [
        required.isolation.as_str(),
        required.egress.as_str(),
        required.secret_delivery.as_str(),
        required.preview.as_str(),
        required.cancellation.as_str(),
        required.evidence.as_str(),
        required.aggregate_limits.as_str(),
    ];
    let expected = [
        "dedicated-sandbox-per-run",
        "deny-all",
        "brokered-no-plaintext",
        "disabled-until-explicit-grant",
        "process-stop-then-destroy",
        "immutable-positive-and-negative-probes",
        "enforced",
    ];
    assert_eq!(words, expected);
    let refs = &profile.spec.policy_refs;
    let refs = [&refs.commands, &refs.network, &refs.secrets, &refs.retention].map(ToString::to_string);
    assert_eq!(
        refs,
        [
            "policy://named-commands/v3",
            "policy://generation-egress/v5",
            "policy://secret-broker/v4",
            "policy://run-evidence-retention/v2",
        ]
    );
    assert_eq!(
        problems(&edited(text, "  required:\n", "  required:\n    network: open\n")),
        [(ProblemCode::UnknownField, 7, 5)]
    );
}

// proves E-I06 C6 C7
// break crates/domain/blueprint/src/cursor/scalar.rs: `W::WORDS.iter().find(|word| word.spelled() == text)` -> `W::WORDS.iter().find(|word| word.spelled() == text || text == "danger-full-access")`
#[test]
fn no_other_level_can_be_asked_for() {
    let text = builtin::SECURE_GENERATION_V1.text;
    for (word, others) in [
        ("dedicated-sandbox-per-run", ["shared-sandbox", "danger-full-access", "host"]),
        ("deny-all", ["allow-all", "explicit-allowlist", "danger-full-access"]),
        ("brokered-no-plaintext", ["environment", "plaintext", "danger-full-access"]),
        ("disabled-until-explicit-grant", ["authenticated", "enabled", "danger-full-access"]),
        ("process-stop-then-destroy", ["destroy", "best-effort", "danger-full-access"]),
        ("immutable-positive-and-negative-probes", ["declared", "positive-probes", "danger-full-access"]),
    ] {
        for other in others {
            assert_eq!(codes(&edited(text, word, other)), [ProblemCode::UnknownWord], "{word} -> {other}");
        }
    }
    let absent = edited(text, "    egress: deny-all\n", "");
    assert_eq!(codes(&absent), [ProblemCode::MissingField]);
}

#[test]
fn a_profile_may_set_some_ceilings_and_relax_one_demand() {
    let text = sample(DocumentKind::ExecutionCapabilityProfile);
    let profile = ExecutionCapabilityProfile::parse("p.yaml", text.as_bytes()).unwrap();
    assert_eq!(profile.spec.run_budget.max_elapsed, DurationMs::from_minutes(10));
    assert_eq!(profile.spec.run_budget.max_tool_cost, Some(MicroUsd::new(500_000)));
    assert_eq!(profile.spec.run_budget.max_model_steps, None);
    assert_eq!(profile.spec.required.egress, RequiredEgress::DenyAll);
    assert_eq!(profile.spec.required.isolation, RequiredIsolation::DedicatedSandboxPerRun);

    let laptop = builtin::LAPTOP_V1.parse().unwrap();
    let Document::Profile(laptop) = laptop else { panic!() };
    assert_eq!(laptop.spec.required.aggregate_limits, AggregateLimits::BestEffort);

    for (from, to, code) in [
        ("aggregateLimits: enforced", "aggregateLimits: none", ProblemCode::UnknownWord),
        ("maxElapsedMinutes: 10", "maxElapsedMinutes: 0", ProblemCode::OutOfRange),
        ("maxElapsedMinutes: 10", "maxElapsedSeconds: 10", ProblemCode::UnknownField),
        ("policy://named-commands/v3", "named-commands/v3", ProblemCode::Malformed),
        ("policy://named-commands/v3", "policy://named-commands/latest", ProblemCode::Malformed),
        ("name: short-runs-v1", "name: short-runs-v1\n  version: 1", ProblemCode::UnknownField),
        ("coding-agent.enterprise/v1", "coding-agent.enterprise/v2", ProblemCode::UnknownVersion),
        ("kind: ExecutionCapabilityProfile", "kind: ExecutionProfile", ProblemCode::UnknownWord),
    ] {
        assert_eq!(codes(&edited(text, from, to)), [code], "{to}");
    }
}
