//! Whole runs: a model behind the loop, in a world in memory.

use std::sync::Arc;

use ambit_agent_models::{Message, ModelAgent, ModelReply, ModelRequest, request_bytes};
use ambit_ports::agent::Agent as _;
use ambit_simulation::{Driven, OneEngine, Permissive, Setup, World, edit};
use serde_json::{Value, json};

use crate::bounds::check_form;
use crate::talk::{Parrot, agent, call, made, platform_text, reply, silence, wait};

const WORD: &str = "src/word.txt";

async fn world() -> World {
    let mut setup = Setup::standard();
    setup.files.push(("AGENTS.md".to_owned(), b"Words live in src.\n".to_vec()));
    World::build(setup, Arc::new(OneEngine(Arc::new(Permissive)))).await
}

/// Starts a run that this agent answers.
macro_rules! start {
    ($world:expr, $agent:expr) => {{
        let stand_in = $world.worker();
        let mut request = $world.request(&stand_in, None);
        request.agent.id = $agent.id().clone();
        request.agent.definition = $agent.definition();
        request.agent.turn_quote = $agent.turn_quote();
        $world.orchestrator().start(request).await.unwrap().run
    }};
}

fn plan() -> Value {
    json!({"steps": [{"id": "s1", "summary": "say it", "work": "domain", "cases": ["AC-1", "AC-2"]}]})
}

fn patch(before: &str, after: &str) -> Value {
    json!({"step": "s1", "patch": edit(WORD, before, after)})
}

fn requires_hypothesis(request: &ModelRequest) -> bool {
    let patch = request.tools.iter().find(|tool| tool.name == "apply_project_patch");
    patch.is_some_and(|tool| tool.schema["required"].as_array().unwrap().contains(&json!("hypothesis")))
}

#[test]
fn a_run_goes_from_a_plan_over_a_failure_and_its_cause_to_gates_that_pass() {
    let explained = {
        let mut input = patch("wrong\n", "right\n");
        input["hypothesis"] = json!("the word was not the right one");
        input
    };
    let model = Parrot::script(vec![
        ("propose_plan", plan()),
        ("read_project_file", json!({"path": WORD})),
        ("apply_project_patch", patch("undone\n", "wrong\n")),
        ("run_named_gate", json!({"gateId": "unit"})),
        ("apply_project_patch", patch("wrong\n", "right\n")),
        ("apply_project_patch", explained),
        ("run_named_gate", json!({"gateId": "unit"})),
        ("run_named_gate", json!({"gateId": "integration"})),
    ]);
    let agent = agent(&model, 30_000);
    wait(async {
        let world = world().await;
        let run = start!(world, agent);
        let state = world.drive(&run, &agent).await.ended();
        assert_eq!(state.stop_reason().unwrap().code(), "gates-passed");
        assert_eq!(state.dossier().unwrap().proposals, 8);
    });
    let asked = model.asked();
    let text = |turn: usize| platform_text(&asked[turn]);
    assert_eq!(asked.len(), 8);
    assert!(text(0).contains("| Words live in src.") && text(0).contains("Plan: none is accepted yet"));
    assert!(text(1).contains("The plan is accepted."));
    assert!(text(2).contains("   1| undone\n"), "{}", text(2));
    assert!(text(3).contains("patch for step s1: applied to src/word.txt"));
    assert!(
        text(4).contains("gate unit: failed (exit 1)") && text(4).contains("| AssertionError"),
        "{}",
        text(4)
    );
    let required: Vec<bool> = asked.iter().map(requires_hypothesis).collect();
    assert_eq!(required, [false, false, false, false, true, true, false, false]);
    assert!(text(5).contains("Denied: HYPOTHESIS_MISSING"), "{}", text(5));
    assert!(text(7).contains("- unit (AC-1): passed on this tree"), "{}", text(7));
    for request in &asked {
        check_form(request);
        assert!(request_bytes(request) <= 90_000);
    }
}

#[test]
fn several_calls_of_one_answer_get_each_its_own_result() {
    let mut turns = vec![
        reply(
            "all at once",
            vec![
                made("a", "propose_plan", plan()),
                made("b", "read_project_file", json!({"path": "nothing.txt"})),
                made("c", "run_named_gate", json!({"gateId": "unit"})),
                made("d", "apply_project_patch", {
                    let mut input = patch("undone\n", "right\n");
                    input["hypothesis"] = json!("nothing was done");
                    input
                }),
                made("e", "run_named_gate", json!({"gateId": "unit"})),
                made("f", "run_named_gate", json!({"gateId": "unit"})),
            ],
            ambit_agent_models::StopCause::Calls,
        ),
        call("run_named_gate", json!({"gateId": "unit"})),
        call("run_named_gate", json!({"gateId": "integration"})),
    ]
    .into_iter();
    let model = Parrot::new(move |_| Ok(turns.next().unwrap_or_else(silence)));
    let agent = agent(&model, 30_000);
    wait(async {
        let world = world().await;
        let run = start!(world, agent);
        let state = world.drive(&run, &agent).await.ended();
        assert_eq!(state.stop_reason().unwrap().code(), "gates-passed");
        assert_eq!(world.sandbox.executed().len(), 3, "what ran on a tree is not run there again");
    });
    let asked = model.asked();
    let Some(Message::ToolResults(results)) = asked[1].messages.last() else { panic!("no results") };
    let expected = [
        ("a", "The plan is accepted."),
        ("b", "Denied: PATH_NOT_FOUND"),
        ("c", "gate unit: failed (exit 1)"),
        ("d", "patch for step s1: applied"),
        ("e", "gate unit: passed"),
        ("f", "This was done before on this very tree."),
    ];
    assert_eq!(results.len(), expected.len());
    for (result, (id, told)) in results.iter().zip(expected) {
        assert_eq!(result.call, id);
        assert!(result.content.starts_with(told), "{id}: {}", result.content);
    }
    assert!(platform_text(&asked[2]).contains("This was done before on this very tree."));
}

#[test]
fn what_was_denied_or_failed_is_recognised_when_it_comes_again() {
    let explained = |before: &str, after: &str| {
        let mut input = patch(before, after);
        input["hypothesis"] = json!("another one");
        input
    };
    let model = Parrot::script(vec![
        ("propose_plan", plan()),
        ("apply_project_patch", patch("another\n", "right\n")),
        ("apply_project_patch", patch("another\n", "right\n")),
        ("apply_project_patch", patch("undone\n", "wrong\n")),
        ("run_named_gate", json!({"gateId": "unit"})),
        ("apply_project_patch", explained("wrong\n", "undone\n")),
        ("apply_project_patch", explained("undone\n", "wrong\n")),
        ("apply_project_patch", explained("undone\n", "right\n")),
        ("run_named_gate", json!({"gateId": "unit"})),
        ("run_named_gate", json!({"gateId": "integration"})),
    ]);
    let agent = agent(&model, 30_000);
    wait(async {
        let world = world().await;
        let run = start!(world, agent);
        let state = world.drive(&run, &agent).await.ended();
        assert_eq!(state.stop_reason().unwrap().code(), "gates-passed");
    });
    let asked = model.asked();
    let last = |turn: usize| match asked[turn].messages.last() {
        Some(Message::ToolResults(results)) => results[0].content.clone(),
        other => panic!("{other:?}"),
    };
    assert!(last(2).starts_with("Denied: PATCH_REFUSED"), "{}", last(2));
    assert!(last(3).starts_with("Denied: PROPOSAL_REPEATED"), "{}", last(3));
    assert!(last(3).contains("the same call was denied in turn 2"), "{}", last(3));
    assert!(last(7).starts_with("Denied: PROPOSAL_REPEATED"), "{}", last(7));
    assert!(last(7).contains("unit failed on what came of it (attempt 1"), "{}", last(7));
}

/// A model that knows nothing but its newest request.
fn sensible(request: &ModelRequest) -> ModelReply {
    let text = platform_text(request);
    let state = text.rsplit("# State of the run").next().unwrap();
    let offers = |name: &str| request.tools.iter().any(|tool| tool.name == name);
    if !offers("apply_project_patch") {
        return call("propose_plan", plan());
    }
    if state.contains("nothing is changed yet") {
        return call("apply_project_patch", patch("undone\n", "wrong\n"));
    }
    if state.contains("- unit (AC-1): failed") {
        let mut input = patch("wrong\n", "right\n");
        if requires_hypothesis(request) {
            input["hypothesis"] = json!("the word was wrong");
        }
        return call("apply_project_patch", input);
    }
    let gate = if state.contains("- unit (AC-1): passed") { "integration" } else { "unit" };
    call("run_named_gate", json!({"gateId": gate}))
}

#[test]
fn after_a_crash_a_new_agent_goes_on_from_the_context_alone() {
    let mut resumed = 0;
    for boundary in [12, 25, 34, 43, 52, 61, 70] {
        let model = Parrot::new(|request| Ok(sensible(request)));
        let (before, after): (Arc<ModelAgent>, Arc<ModelAgent>) =
            (agent(&model, 30_000), agent(&model, 30_000));
        wait(async {
            let world = world().await;
            let run = start!(world, before);
            world.faults.crash_after(boundary);
            let crashed = world.drive(&run, &before).await;
            assert!(matches!(crashed, Driven::Crashed), "{boundary}: {crashed:?}");
            let asked = model.asked().len();
            world.clock.pass(ambit_ids::DurationMs::new(10_001)).await;
            let (state, _) = world.settle(&run, &after, 3).await;
            assert_eq!(state.stop_reason().unwrap().code(), "gates-passed", "{boundary}");
            if let Some(first) = model.asked().get(asked) {
                check_form(first);
                resumed += usize::from(platform_text(first).contains("This run began before"));
            }
        });
    }
    assert!(resumed >= 4, "only {resumed} runs were gone on with in the middle");
}
