//! Blueprints of goals.

use ambit_blueprint::Blueprint;
use ambit_project_survey::{blueprint_of_goal, survey};

use crate::repositories::named;

fn template() -> Blueprint {
    let plan = survey(named("unittest").path()).unwrap().settle(&[]).unwrap();
    Blueprint::parse("b", plan.blueprint("ada").as_bytes()).unwrap()
}

#[test]
fn one_goal_on_one_template_is_one_blueprint() {
    let template = template();
    let of = |goal: &str| blueprint_of_goal(&template, goal).unwrap();
    let first = of("Make add work.");
    assert_eq!(first, of("  Make add work.\n"));
    assert_ne!(first.metadata.name, of("Make add work!").metadata.name);
    let mut other = template.clone();
    other.spec.run_budget.max_model_steps -= 1;
    assert_ne!(first.metadata.name, blueprint_of_goal(&other, "Make add work.").unwrap().metadata.name);
    assert_eq!(
        (first.spec.goal.as_str(), first.metadata.title.as_str()),
        ("Make add work.", "Make add work.")
    );
    assert_eq!(first.spec.scope, template.spec.scope);
    assert_eq!(first.spec.gates, template.spec.gates);
}

#[test]
fn a_goal_is_text_that_everybody_sees() {
    let template = template();
    for (goal, code) in [
        ("", "GOAL_EMPTY"),
        (" \n\t", "GOAL_EMPTY"),
        ("a\u{202e}b", "GOAL_UNPRINTABLE"),
        ("a\u{1b}[2Kb", "GOAL_UNPRINTABLE"),
        (&"ü".repeat(2001), "GOAL_TOO_LONG"),
    ] {
        assert_eq!(blueprint_of_goal(&template, goal).unwrap_err().code(), code, "{goal:.20}");
    }
    for goal in ["a: [b] # c", "- x", "%YAML", "'\"\\", "first\nsecond\tthird", &"ü".repeat(2000), "null"] {
        let made = blueprint_of_goal(&template, goal).unwrap();
        let bytes = made.to_canonical().unwrap();
        assert_eq!(Blueprint::parse("g", bytes.as_bytes()).unwrap(), made, "{goal:.20}");
    }
}
