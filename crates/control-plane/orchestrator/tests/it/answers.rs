//! Whatever an agent answers: the run goes on within its bounds, and the trace tells what was refused.

use std::sync::Arc;

use ambit_ids::{RuleId, limits};
use ambit_policy::{Decision, DenialKind, Request, Verdict};
use ambit_ports::policy::PolicyEngine;
use ambit_run::{DenialCode, Event, State};
use ambit_simulation::{OneEngine, Permissive, Reply, Setup, World, edit, simulate};
use serde_json::{Value, json};

use crate::invariants::check_ended;
use crate::policies::world;

/// The codes of the denials of a run, in order.
async fn denials(world: &World, run: &ambit_orchestrator::RunRef) -> Vec<DenialCode> {
    let events = world.links(run).await.into_iter().map(|link| link.record.event().unwrap());
    events
        .filter_map(|event| match event {
            Event::ProposalDenied { denial, .. } => Some(denial.code),
            Event::CallDecided(decided) => match decided.outcome {
                ambit_run::CallOutcome::Denied(denial) => Some(denial.code),
                _ => None,
            },
            _ => None,
        })
        .collect()
}

fn call() -> Value {
    json!({"tool": "list_project_files", "input": {"projectId": "shop", "revisionId": "rev-1"}})
}

fn answers() -> Vec<(String, DenialCode)> {
    let calls = |count: usize| json!({"calls": vec![call(); count]}).to_string();
    let read = |path: Value| {
        let input = json!({"projectId": "shop", "revisionId": "rev-1", "path": path});
        json!({"tool": "read_project_file", "input": input}).to_string()
    };
    vec![
        ("Sure! I will now fix the bug.".to_owned(), DenialCode::AnswerMalformed),
        (String::new(), DenialCode::AnswerMalformed),
        ("{\"tool\":".to_owned(), DenialCode::AnswerMalformed),
        ("{\"tool\":\"a\",\"tool\":\"b\",\"input\":{}}".to_owned(), DenialCode::AnswerMalformed),
        ("{\"plan\":1.5}".to_owned(), DenialCode::AnswerMalformed),
        ("\u{feff}{}".to_owned(), DenialCode::AnswerMalformed),
        (format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000)), DenialCode::AnswerMalformed),
        (json!({"acceptanceMet": true}).to_string(), DenialCode::AnswerMalformed),
        (
            json!({"tool": "set_acceptance", "input": {"acceptanceMet": true}}).to_string(),
            DenialCode::ToolUnknown,
        ),
        (json!({"tool": "run_shell", "input": {"command": "id"}}).to_string(), DenialCode::ToolUnknown),
        (
            json!({"tool": "list_project_files", "input": {"projectId": "shop"}}).to_string(),
            DenialCode::InputInvalid,
        ),
        (read(json!(["a.txt"])), DenialCode::InputInvalid),
        (read(json!("../other/.env")), DenialCode::PathRefused),
        (read(json!("nothing.txt")), DenialCode::PathNotFound),
        (calls(10_000), DenialCode::TooManyCalls),
        (json!({"tool": "x".repeat(limits::AGENT_ANSWER_BYTES)}).to_string(), DenialCode::AnswerTooLarge),
        (
            json!({"plan": [{"id": "s1", "summary": "", "work": "domain", "cases": []}]}).to_string(),
            DenialCode::StepUncited,
        ),
        (
            json!({"plan": [{"id": "s1", "summary": "", "work": "deployment", "cases": ["AC-1"]}]})
                .to_string(),
            DenialCode::WorkOutOfScope,
        ),
    ]
}

// proves E-C04 E-C10 E-E06 E-E08 E-C02 E-C03
// break crates/domain/run/src/answer.rs: `if calls.len() > limits::QUEUED_CALLS {` -> `if calls.len() > 1000 * limits::QUEUED_CALLS {`
#[test]
fn an_answer_that_is_no_proposal_is_denied_recorded_and_counted_and_the_run_goes_on() {
    let expected: Vec<DenialCode> = answers().iter().map(|(_, code)| *code).collect();
    simulate(async {
        let world = world(Setup::standard()).await;
        let agent = world.agent(|turn| match answers().into_iter().nth(turn.proposals()) {
            Some((text, _)) => Reply::Text(text),
            None => Reply::Finished,
        });
        let run = world.start(&agent).await;
        let state = world.drive(&run, &agent).await.ended();
        assert_eq!(denials(&world, &run).await, expected);
        let State::Ended(ended) = &state else { panic!("the run is not over") };
        assert_eq!(ended.dossier.denials as usize, expected.len());
        assert_eq!(ended.reason.code(), "agent-stopped", "none of them ended the run");
        assert!(world.sandbox.executed().is_empty() && ended.dossier.patches.is_empty());
        check_ended(&world, &run, &state, "answers that are no proposals").await;
    });
}

// proves E-C01 E-C04
// break crates/control-plane/orchestrator/src/turn.rs: `if let Some((digest, next)) = turn.conversation.next_queued() {` -> `if let Some((digest, next)) = turn.conversation.next_queued().filter(|_| number % 2 == 0) {`
#[test]
fn several_calls_in_one_answer_are_taken_one_a_turn() {
    simulate(async {
        let world = world(Setup::standard()).await;
        let agent = world.agent(|turn| match turn.proposals() {
            0 => Reply::Say(json!({"calls": [
                turn.plan(&["AC-1"]),
                {"tool": "run_shell", "input": {}},
                turn.patch(&edit("src/word.txt", "undone\n", "right\n")),
                turn.gate_once("unit"),
            ]})),
            _ => Reply::Finished,
        });
        let run = world.start(&agent).await;
        let state = world.drive(&run, &agent).await.ended();
        assert_eq!(agent.told().len(), 2, "the agent is asked when the queue is empty");
        let kinds = world.kinds(&run).await;
        let decided: Vec<&str> = kinds
            .iter()
            .copied()
            .filter(|kind| !matches!(*kind, "turn.opened" | "budget.charged") && !kind.starts_with("run."))
            .collect();
        let expected = [
            "lease.allocated",
            "plan.accepted",
            "proposal.rejected",
            "tool.decided",
            "patch.applied",
            "tool.decided",
        ];
        assert_eq!(decided[..6], expected);
        assert_eq!(decided[6], "gate.finished");
        assert_eq!(state.dossier().unwrap().turns, 5);
        check_ended(&world, &run, &state, "a queue").await;
    });
}

/// Denies every call in more words than a record has room for beside a large call.
struct Wordy;

impl PolicyEngine for Wordy {
    fn decide(&self, request: &Request) -> Decision {
        let verdict = Verdict::Deny(DenialKind::Call);
        Decision { verdict, rules: vec!["wordy".parse().unwrap()], ..Permissive.decide(request) }
    }

    fn instead(&self, _: &RuleId) -> Option<String> {
        Some("x".repeat(limits::AGENT_TEXT_BYTES))
    }
}

// proves E-D13
// break crates/control-plane/orchestrator/src/drive.rs: `(Err(DriveError::Journal(JournalError::RecordTooLarge { .. })), Some(instead)) => {` -> `(Err(DriveError::AnotherAgent), Some(instead)) => {`
#[test]
fn a_proposal_that_does_not_fit_a_record_does_not_stop_the_run_for_ever() {
    simulate(async {
        let world = World::build(Setup::standard(), Arc::new(OneEngine(Arc::new(Wordy)))).await;
        let agent = world.agent(|turn| match turn.proposals() {
            0 => {
                // Control characters are told by escapes, and so are bytes of a path that are none, twice.
                let mut search = turn.search(&"\u{1}".repeat(limits::AGENT_TEXT_BYTES));
                search["input"]["under"] = json!(["\\xff".repeat(250).as_str(); 4].join("/"));
                Reply::Say(search)
            }
            _ => Reply::Finished,
        });
        let run = world.start(&agent).await;
        let state = world.drive(&run, &agent).await.ended();
        assert_eq!(denials(&world, &run).await, [DenialCode::AnswerTooLarge]);
        assert_eq!(agent.heard()[1]["denied"]["code"], "ANSWER_TOO_LARGE");
        check_ended(&world, &run, &state, "a large record").await;
    });
}
