//! What a repository may ask for.

use std::sync::LazyLock;

use ambit_blueprint::Blueprint;
use ambit_ids::RepoPath;
use ambit_project_survey::{Requests, RequestsError, survey};
use proptest::prelude::*;

use crate::repositories::named;

fn template() -> Blueprint {
    static TEMPLATE: LazyLock<Blueprint> = LazyLock::new(|| {
        let plan = survey(named("unittest").path()).unwrap().settle(&[]).unwrap();
        Blueprint::parse("b", plan.blueprint("ada").as_bytes()).unwrap()
    });
    TEMPLATE.clone()
}

fn narrowed(text: &str) -> Result<Blueprint, RequestsError> {
    Requests::read(text.as_bytes())?.narrow(&template())
}

#[test]
fn a_repository_gets_the_less_that_it_asks_for() {
    let less = narrowed(
        "[budget]\nmaxModelSteps = 3\nmaxElapsedMinutes = 2\nmaxToolCostUsd = \"0.50\"\n[scope]\npaths = [\"calc/*.py\"]\n[protected]\npaths = [\"calc/fixed.py\"]\n",
    )
    .unwrap();
    let budget = less.spec.run_budget;
    assert_eq!((budget.max_model_steps, budget.max_tool_cost.get()), (3, 500_000));
    assert_eq!(budget.max_elapsed.get(), 120_000);
    let path = |text: &str| text.parse::<RepoPath>().unwrap();
    assert!(
        less.spec.scope.paths.contains(&path("calc/a.py"))
            && !less.spec.scope.paths.contains(&path("calc/b/a.py"))
    );
    assert!(less.spec.protects(&path("calc/fixed.py")) && less.spec.protects(&path("tests/test_add.py")));
    assert_eq!(narrowed("").unwrap(), template());
}

#[test]
fn more_than_was_approved_is_refused_by_its_key() {
    for (text, key) in [
        ("[budget]\nmaxModelSteps = 41\n", "budget.maxModelSteps"),
        ("[budget]\nmaxModelSteps = 4294967297\n", "budget.maxModelSteps"),
        ("[budget]\nmaxAddedDependencies = 1\n", "budget.maxAddedDependencies"),
        ("[budget]\nmaxToolCostUsd = 5\n", "budget.maxToolCostUsd"),
        ("[budget]\nmaxElapsedMinutes = 9999\n", "budget.maxElapsedMinutes"),
        ("[budget]\nmaxOutputBytes = 99999999999\n", "budget.maxOutputBytes"),
        ("[scope]\npaths = [\"**\"]\n", "scope.paths"),
        ("[scope]\npaths = [\"calc/**\", \"other/**\"]\n", "scope.paths"),
        ("[scope]\npaths = [\"{calc,x}/**\"]\n", "scope.paths"),
        ("[scope]\npaths = [\"calcs/a.py\"]\n", "scope.paths"),
    ] {
        match narrowed(text) {
            Err(RequestsError::AsksForMore { key: told, .. }) => assert_eq!(told, key, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn what_is_not_known_is_refused() {
    let bomb = format!("a = {}", "[".repeat(60_000));
    let large = "#".repeat(70_000);
    for text in [
        "[gates]\nskip = [\"python.tests\"]\n",
        "agent = \"x\"\n",
        "project = \"other\"\n",
        "[budget]\nmaxModelStep = 1\n",
        "[budget]\nmaxModelSteps = 0\n",
        "[budget]\nmaxModelSteps = -1\n",
        "[budget]\nmaxModelSteps = \"3\"\n",
        "[budget]\nmaxToolCostUsd = 0.5\n",
        "[budget]\nmaxToolCostUsd = \"a lot\"\n",
        "[budget]\nmaxModelSteps = 1\nmaxModelSteps = 1\n",
        "[scope]\npaths = []\n",
        "[scope]\npaths = [\"../x\"]\n",
        "[scope]\npaths = [\"a\\u202eb\"]\n",
        "[protected]\npaths = \"x\"\n",
        "[protected]\nopen = [\"tests/**\"]\n",
        "[[budget]]\n",
        "\u{1}",
        &bomb,
        &large,
    ] {
        let refused = Requests::read(text.as_bytes()).and_then(|requests| requests.narrow(&template()));
        assert!(
            matches!(refused, Err(RequestsError::Malformed(_) | RequestsError::TooLarge)),
            "{text:.60}: {refused:?}"
        );
    }
    assert!(Requests::read(b"\xff").is_err());
}

fn pattern() -> impl Strategy<Value = String> {
    let part =
        prop::sample::select(vec!["calc", "tests", "src", "*", "**", "a.py", "*.py", "{calc,src}", "c[a]lc"]);
    prop::collection::vec(part, 1..4).prop_map(|parts| parts.join("/"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(7), ..ProptestConfig::default() })]

    /// Whatever a repository writes, nothing of a run is wider than without it.
    #[test]
    fn nothing_is_ever_wider(
        steps in 0_u64..60, files in 0_u64..40, minutes in 0_u64..60, cost in 0_u64..4_000_000,
        scope in prop::collection::vec(pattern(), 0..4), protected in prop::collection::vec(pattern(), 0..3),
        paths in prop::collection::vec(pattern(), 1..8),
    ) {
        let list = |patterns: &[String]| serde_json::to_string(patterns).unwrap();
        let mut text = format!(
            "[budget]\nmaxModelSteps = {steps}\nmaxChangedFiles = {files}\nmaxElapsedMinutes = {minutes}\nmaxToolCostUsd = \"{}.{:06}\"\n[protected]\npaths = {}\n",
            cost / 1_000_000, cost % 1_000_000, list(&protected)
        );
        if !scope.is_empty() {
            text.push_str(&format!("[scope]\npaths = {}\n", list(&scope)));
        }
        let before = template();
        if let Ok(after) = Requests::read(text.as_bytes()).and_then(|requests| requests.narrow(&before)) {
            let (old, new) = (&before.spec, &after.spec);
            prop_assert!(new.run_budget.max_model_steps <= old.run_budget.max_model_steps);
            prop_assert!(new.run_budget.max_changed_files <= old.run_budget.max_changed_files);
            prop_assert!(new.run_budget.max_elapsed <= old.run_budget.max_elapsed);
            prop_assert!(new.run_budget.max_tool_cost <= old.run_budget.max_tool_cost);
            prop_assert_eq!(&new.gates, &old.gates);
            let fixed = ["calc/a.py", "calc/x/a.py", "tests/test_add.py", "src/a.py", "a.py", "x"];
            for path in fixed.iter().map(ToString::to_string).chain(paths) {
                let Ok(path) = path.parse::<RepoPath>() else { continue };
                prop_assert!(!new.scope.paths.contains(&path) || old.scope.paths.contains(&path), "{}", path);
                prop_assert!(new.protects(&path) || !old.protects(&path), "{}", path);
            }
        }
    }
}
