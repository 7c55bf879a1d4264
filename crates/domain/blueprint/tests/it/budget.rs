use ambit_blueprint::{Blueprint, BudgetCeilings, DocumentKind, ProblemCode, RunBudget, StartBoundsError};
use ambit_ids::{ByteCount, DurationMs, MicroUsd};

use crate::page::{codes, edited, problems, sample};

fn budget() -> RunBudget {
    let text = sample(DocumentKind::Blueprint);
    Blueprint::parse("bp.yaml", text.as_bytes()).unwrap().spec.run_budget
}

#[test]
fn the_ten_limits_are_read_in_their_units() {
    assert_eq!(
        budget(),
        RunBudget {
            max_model_steps: 24,
            max_patch_attempts_per_gate: 4,
            max_elapsed: DurationMs::new(30 * 60_000),
            max_changed_files: 12,
            max_added_dependencies: 1,
            max_parallel_processes: 2,
            max_tool_cost: MicroUsd::new(4_000_000),
            stop_on_repeated_failure_fingerprint: 2,
            max_output: ByteCount::new(64 << 20),
            max_side_effects: 60,
        }
    );
}

#[test]
fn every_limit_has_a_range_and_both_of_its_ends_are_in_it() {
    for (key, standing, low, high) in [
        ("maxModelSteps", "24", 1_u64, 100_u64),
        ("maxPatchAttemptsPerGate", "4", 1, 20),
        ("maxElapsedMinutes", "30", 1, 1440),
        ("maxChangedFiles", "12", 1, 1000),
        ("maxAddedDependencies", "1", 0, 50),
        ("maxParallelProcesses", "2", 1, 64),
        ("maxToolCostUsd", "4.00", 0, 100),
        ("stopOnRepeatedFailureFingerprint", "2", 1, 10),
        ("maxOutputBytes", "67108864", 1, 16 << 30),
        ("maxSideEffects", "60", 1, 1000),
    ] {
        let line = format!("    {key}: {standing}\n");
        let with =
            |value: String| edited(sample(DocumentKind::Blueprint), &line, &format!("    {key}: {value}\n"));
        assert_eq!(codes(&with(low.to_string())), [], "{key}");
        assert_eq!(codes(&with(high.to_string())), [], "{key}");
        assert_eq!(codes(&with((high + 1).to_string())), [ProblemCode::OutOfRange], "{key}");
        let below = if low == 0 { "-1".to_owned() } else { (low - 1).to_string() };
        assert_eq!(codes(&with(below)), [ProblemCode::OutOfRange], "{key}");
        let without = edited(sample(DocumentKind::Blueprint), &line, "");
        assert_eq!(codes(&without), [ProblemCode::MissingField], "{key}");
    }
}

// proves D12
// break crates/domain/ids/src/quantity.rs: `Ok(Self(dollars * 1_000_000 + micros))` -> `Ok(Self(dollars * 1_000_000 + micros / 10_000 * 10_000))`
#[test]
fn money_is_read_from_its_digits_and_not_rounded() {
    let text = sample(DocumentKind::Blueprint);
    for (spelled, micro_usd) in [
        ("maxToolCostUsd: 0.000001", 1),
        ("maxToolCostUsd: 0.1", 100_000),
        ("maxToolCostUsd: 1.234567", 1_234_567),
        ("maxToolCostUsd: 99.999999", 99_999_999),
        ("maxToolCostMicroUsd: 1", 1),
    ] {
        let text = edited(text, "maxToolCostUsd: 4.00", spelled);
        let blueprint = Blueprint::parse("bp.yaml", text.as_bytes()).unwrap();
        assert_eq!(blueprint.spec.run_budget.max_tool_cost, MicroUsd::new(micro_usd), "{spelled}");
    }
    for (spelled, code) in [
        ("maxToolCostUsd: 0.0000001", ProblemCode::Malformed),
        ("maxToolCostUsd: 4e0", ProblemCode::WrongType),
        ("maxToolCostUsd: '4.00'", ProblemCode::WrongType),
        ("maxToolCostUsd: 4,00", ProblemCode::WrongType),
        ("maxToolCostUsd: $4", ProblemCode::WrongType),
        ("maxToolCostUsd: .5", ProblemCode::WrongType),
        ("maxToolCostUsd: -1.5", ProblemCode::WrongType),
        ("maxToolCostMicroUsd: 1.5", ProblemCode::WrongType),
        ("maxToolCostMicroUsd: 100000001", ProblemCode::OutOfRange),
        ("maxToolCostUsd: 4\n    maxToolCostMicroUsd: 4000000", ProblemCode::Contradiction),
    ] {
        assert_eq!(codes(&edited(text, "maxToolCostUsd: 4.00", spelled)), [code], "{spelled}");
    }
}

#[test]
fn a_budget_holds_limits_by_name_and_no_others() {
    let text =
        edited(sample(DocumentKind::Blueprint), "    maxSideEffects: 60\n", "    maxNetworkBytes: 60\n");
    assert_eq!(problems(&text), [(ProblemCode::MissingField, 40, 3), (ProblemCode::UnknownField, 50, 5)]);
}

#[test]
fn what_holds_is_the_lowest_limit_by_limit() {
    let approved = budget();
    assert_eq!(approved.min(&BudgetCeilings::default()), approved);
    assert_eq!(approved.min(&BudgetCeilings::from(approved)), approved);

    let start = BudgetCeilings::of_start_command(Some(10), Some(MicroUsd::new(9_000_000))).unwrap();
    let profile = BudgetCeilings {
        max_model_steps: Some(20),
        max_elapsed: Some(DurationMs::new(60_000)),
        max_output: Some(ByteCount::new(1)),
        ..BudgetCeilings::default()
    };
    let expected = RunBudget {
        max_model_steps: 10,
        max_elapsed: DurationMs::new(60_000),
        max_output: ByteCount::new(1),
        ..approved
    };
    assert_eq!(approved.min(&start).min(&profile), expected);
    assert_eq!(approved.min(&profile).min(&start), expected);
}

#[test]
fn every_limit_can_be_lowered_and_none_raised() {
    let approved = budget();
    let lowest = BudgetCeilings {
        max_model_steps: Some(1),
        max_patch_attempts_per_gate: Some(1),
        max_elapsed: Some(DurationMs::new(1)),
        max_changed_files: Some(1),
        max_added_dependencies: Some(0),
        max_parallel_processes: Some(1),
        max_tool_cost: Some(MicroUsd::ZERO),
        stop_on_repeated_failure_fingerprint: Some(1),
        max_output: Some(ByteCount::new(1)),
        max_side_effects: Some(1),
    };
    assert_eq!(BudgetCeilings::from(approved.min(&lowest)), lowest);
    let highest = BudgetCeilings {
        max_model_steps: Some(u32::MAX),
        max_patch_attempts_per_gate: Some(u32::MAX),
        max_elapsed: Some(DurationMs::new(u64::MAX)),
        max_changed_files: Some(u32::MAX),
        max_added_dependencies: Some(u32::MAX),
        max_parallel_processes: Some(u32::MAX),
        max_tool_cost: Some(MicroUsd::new(u64::MAX)),
        stop_on_repeated_failure_fingerprint: Some(u32::MAX),
        max_output: Some(ByteCount::new(u64::MAX)),
        max_side_effects: Some(u32::MAX),
    };
    assert_eq!(approved.min(&highest), approved);
}

#[test]
fn a_start_command_is_bounded_itself() {
    let steps = |steps| BudgetCeilings::of_start_command(Some(steps), None);
    let cost = |micro| BudgetCeilings::of_start_command(None, Some(MicroUsd::new(micro)));
    assert_eq!(steps(0), Err(StartBoundsError::Steps(0)));
    assert!(steps(1).is_ok() && steps(100).is_ok());
    assert_eq!(steps(101), Err(StartBoundsError::Steps(101)));
    assert_eq!(cost(0), Err(StartBoundsError::Cost(MicroUsd::ZERO)));
    assert!(cost(1).is_ok() && cost(100_000_000).is_ok());
    assert_eq!(cost(100_000_001), Err(StartBoundsError::Cost(MicroUsd::new(100_000_001))));
    assert_eq!(BudgetCeilings::of_start_command(None, None), Ok(BudgetCeilings::default()));
}

#[test]
fn a_time_that_no_document_could_hold_has_no_canonical_form() {
    let text = sample(DocumentKind::Blueprint);
    let mut blueprint = Blueprint::parse("bp.yaml", text.as_bytes()).unwrap();
    blueprint.spec.run_budget.max_elapsed = DurationMs::new(61_000);
    assert!(blueprint.to_canonical().is_err());
    blueprint.spec.run_budget.max_elapsed = DurationMs::new(60_000);
    assert!(blueprint.to_canonical().is_ok());
}
