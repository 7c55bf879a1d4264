//! What becomes of what a model answers, and of requests that get no answer.

use std::sync::Arc;

use ambit_agent_models::{
    CallArguments, CallFailure, Charge, Message, ModelAgent, ModelCall, ModelReply, StopCause, ToolSpec,
};
use ambit_ids::{Digest, MicroUsd};
use ambit_ports::agent::{Agent, AgentError};
use serde_json::{Value, json};

use crate::talk::{
    Parrot, USED, agent, call, context, denied, made, offer, platform_text, reply, settings, silence, told,
    wait,
};

fn answered(said: ModelReply, context: &Value) -> Value {
    let model = Parrot::new(move |_| Ok(said.clone()));
    let agent = agent(&model, 30_000);
    let answer = wait(offer(&agent, context)).unwrap();
    assert_eq!(answer.cost, Some(MicroUsd::new(210)), "what was used is charged whatever was said");
    serde_json::from_slice(&answer.bytes).unwrap()
}

#[test]
fn what_the_platform_knows_is_filled_in() {
    let head = Digest::of(b"tree").to_string();
    let context = context(3);
    let of = |name: &str, input: Value| answered(call(name, input), &context);
    assert_eq!(
        of("read_project_file", json!({"path": "a", "revision": "base"})),
        json!({"tool": "read_project_file", "input": {"projectId": "shop", "revisionId": "rev-0", "path": "a"}})
    );
    assert_eq!(
        of("list_project_files", json!({"under": ".", "revision": null})),
        json!({"tool": "list_project_files", "input": {"projectId": "shop", "revisionId": "rev-1"}})
    );
    assert_eq!(
        of("apply_project_patch", json!({"patch": "p", "step": "s1", "hypothesis": "h"})),
        json!({"tool": "apply_project_patch", "planStep": "s1", "hypothesis": "h",
            "input": {"revisionId": "rev-1", "expectedBaseSha": head, "patch": "p"}})
    );
    let steps = json!([{"id": "s1", "summary": "x", "work": "domain", "cases": ["AC-1"]}]);
    assert_eq!(of("propose_plan", json!({"steps": steps})), json!({"plan": steps}));
    assert_eq!(
        of("read_project_file", json!({"path": "a", "projectId": "ledger", "shell": true})),
        json!({"tool": "read_project_file",
            "input": {"projectId": "ledger", "revisionId": "rev-1", "path": "a", "shell": true}}),
        "what a model says itself is for the platform to judge"
    );
}

#[test]
fn the_same_gate_on_the_same_tree_has_the_same_key() {
    let key = |context: &Value, calls: Vec<ModelCall>| {
        let answer = answered(reply("", calls, StopCause::Calls), context);
        let last = answer["calls"].as_array().map_or(&answer, |calls| calls.last().unwrap());
        last["input"]["idempotencyKey"].as_str().unwrap().to_owned()
    };
    let run = || made("g", "run_named_gate", json!({"gateId": "unit"}));
    let patch = || made("p", "apply_project_patch", json!({"patch": "p", "step": "s1"}));
    let (mut ran, mut moved) = (context(4), context(5));
    let first = key(&context(3), vec![run()]);
    assert_eq!(key(&context(7), vec![run()]), first, "it did not run meanwhile");
    assert_eq!(key(&context(3), vec![run(), run()]), first);
    assert_ne!(key(&context(3), vec![patch(), run()]), first, "after a patch it is another tree");
    moved["head"] = json!(Digest::of(b"another tree"));
    assert_ne!(key(&moved, vec![run()]), first);
    ran["gates"][0]["runs"] = json!(1);
    assert_ne!(key(&ran, vec![run()]), first, "that execution came to no ending of its own");
    ran["gates"][0]["ranAs"] = json!("known");
    assert_eq!(key(&ran, vec![run()]), "known");
    assert!(first.parse::<ambit_ids::IdempotencyKey>().is_ok());
}

#[test]
fn an_answer_that_proposes_nothing_says_why() {
    let context = context(2);
    let calls = || vec![made("1", "read_project_file", json!({"path": "a"}))];
    for (said, expected) in [
        (silence(), "without-call"),
        (reply("", Vec::new(), StopCause::Calls), "without-call"),
        (reply("half a th", calls(), StopCause::Length), "cut-off"),
        (reply("I cannot", calls(), StopCause::Refused), "refused"),
        (reply("", Vec::new(), StopCause::Refused), "refused"),
    ] {
        assert_eq!(answered(said, &context), json!({"nothing": expected}));
    }
    let many = answered(
        reply(
            "",
            vec![
                ModelCall {
                    id: "1".to_owned(),
                    name: "read_project_file".to_owned(),
                    arguments: CallArguments::Unreadable("{\"path\":".to_owned()),
                },
                made("2", "run_shell", json!({"command": "id"})),
                made("3", "list_project_files", json!({"under": {"a": [1.5]}})),
                made("4", "list_project_files", json!({})),
            ],
            StopCause::Calls,
        ),
        &context,
    );
    assert_eq!(many["calls"][0], json!({"tool": "read_project_file", "input": "unreadable"}));
    assert_eq!(many["calls"][1], json!({"tool": "run_shell", "input": {"command": "id"}}));
    assert_eq!(many["calls"][2], json!({"tool": "list_project_files", "input": "unreadable"}));
    assert_eq!(many["calls"][3]["input"]["revisionId"], "rev-1");
}

#[test]
fn a_model_that_makes_no_call_time_and_again_is_asked_no_more() {
    let context = context(2);
    let mut said =
        [silence(), silence(), silence(), silence(), call("list_project_files", json!({"under": "."}))]
            .into_iter()
            .chain((0..5).map(|_| silence()));
    let model = Parrot::new(move |_| Ok(said.next().unwrap()));
    let agent = agent(&model, 30_000);
    for turn in 1..10 {
        assert!(
            wait(offer(&agent, &context)).is_ok(),
            "turn {turn}: a call in between begins the count anew"
        );
    }
    let Err(AgentError::Failed { code, cost, .. }) = wait(offer(&agent, &context)) else {
        panic!("the fifth answer in a row without a call ends it");
    };
    assert_eq!(
        (code.as_str(), cost),
        ("MODEL_WITHOUT_CALLS", Some(MicroUsd::new(210))),
        "it was paid all the same"
    );
}

#[test]
fn a_model_is_told_what_was_wrong_with_its_answer_and_each_call_gets_its_own_result() {
    let mut said = vec![
        reply(
            "",
            vec![
                ModelCall {
                    id: "a".to_owned(),
                    name: "run_named_gate".to_owned(),
                    arguments: CallArguments::Unreadable("gate=unit".to_owned()),
                },
                made("b", "apply_project_patch", json!({"patch": "p", "step": "s1"})),
                made("c", "run_named_gate", json!({"gateId": "unit"})),
            ],
            StopCause::Calls,
        ),
        reply("too long", Vec::new(), StopCause::Length),
        silence(),
    ]
    .into_iter();
    let model = Parrot::new(move |_| Ok(said.next().unwrap()));
    let agent = agent(&model, 30_000);
    wait(async {
        let answer = offer(&agent, &context(2)).await.unwrap();
        let replies = [
            denied("INPUT_INVALID", "run_named_gate: invalid type: a text", ""),
            denied("POLICY_DENIED", "path out of scope", "touch only paths within the scope"),
        ];
        let answer = offer(&agent, &told(context(4), &answer, &replies)).await.unwrap();
        let cut = denied("ANSWER_CUT_OFF", "cut", "less");
        offer(&agent, &told(context(5), &answer, &[cut])).await.unwrap();
    });
    let asked = model.asked();
    let Some(Message::ToolResults(results)) = asked[1].messages.last() else { panic!("no results") };
    let expected = [
        ("a", vec!["gate=unit", "Denied: INPUT_INVALID"]),
        (
            "b",
            vec![
                "Denied: POLICY_DENIED",
                "| path out of scope",
                "By the rules: some-rule",
                "Instead: touch only",
            ],
        ),
        ("c", vec!["Nothing was told of this call", "# State of the run, turn 4"]),
    ];
    for (result, (id, words)) in results.iter().zip(expected) {
        assert_eq!(result.call, id);
        assert!(result.is_error, "{id}");
        for word in words {
            assert!(result.content.contains(word), "{word} is not in {}", result.content);
        }
    }
    let Some(Message::User(text)) = asked[2].messages.last() else { panic!("no word of the platform") };
    assert!(text.contains("was cut off, so none of it was taken"), "{text}");
}

#[test]
fn what_is_owed_for_a_request_without_a_reply_is_what_its_charge_says() {
    for (charge, cost) in [
        (Charge::Nothing, Some(MicroUsd::ZERO)),
        (Charge::Settled(USED), Some(MicroUsd::new(210))),
        (Charge::Unsettled, None),
    ] {
        let model = Parrot::new(move |_| {
            Err(CallFailure { code: "MODEL_OVERLOADED", detail: "busy".to_owned(), charge })
        });
        let failed = wait(offer(&agent(&model, 30_000), &context(1)));
        let Err(AgentError::Failed { code, cost: told, .. }) = failed else { panic!("{failed:?}") };
        assert_eq!((code.as_str(), told), ("MODEL_OVERLOADED", cost));
    }
}

#[test]
fn a_definition_is_another_with_every_setting_and_the_same_without_a_change() {
    let of = |alter: fn(&mut ambit_agent_models::ModelSettings)| {
        let mut settings = settings(30_000);
        alter(&mut settings);
        ModelAgent::new("parrot".parse().unwrap(), Parrot::script(Vec::new()), settings).definition()
    };
    let plain = of(|_| {});
    assert_eq!(plain, of(|settings| settings.cost = Arc::new(|_| MicroUsd::ZERO)));
    assert_ne!(plain, of(|settings| settings.model = Digest::of(b"another")));
    assert_ne!(plain, of(|settings| settings.max_output_tokens += 1));
    assert_ne!(
        plain,
        of(|settings| settings.context = ambit_agent_models::ContextAllowance::of_tokens(30_001).unwrap())
    );
}

fn offered(context: &Value) -> Vec<ToolSpec> {
    let model = Parrot::script(Vec::new());
    wait(offer(&agent(&model, 30_000), context)).unwrap();
    model.last_asked().tools
}

fn tool<'a>(tools: &'a [ToolSpec], name: &str) -> &'a ToolSpec {
    tools.iter().find(|tool| tool.name == name).unwrap()
}

/// Every object of a schema allows nothing more than it names, and requires only what it names.
fn check_schema(schema: &Value) {
    if schema["type"] == "object" {
        assert_eq!(schema["additionalProperties"], false, "{schema}");
        let properties = schema["properties"].as_object().unwrap();
        for name in schema["required"].as_array().unwrap() {
            assert!(properties.contains_key(name.as_str().unwrap()), "{name} of {schema}");
        }
        properties.values().for_each(check_schema);
    }
    if schema["type"] == "array" {
        check_schema(&schema["items"]);
    }
    assert!(schema["type"].is_string(), "{schema}");
}

#[test]
fn a_model_is_offered_what_it_can_do_now_and_asked_only_for_what_it_knows() {
    let names = |tools: &[ToolSpec]| tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>();
    let reads = ["propose_plan", "read_project_file", "list_project_files", "search_project_text"];
    let mut unplanned = context(1);
    unplanned["plan"] = Value::Null;
    assert_eq!(names(&offered(&unplanned)), reads, "the plan comes first");

    let planned = offered(&context(2));
    assert_eq!(names(&planned)[4..], ["apply_project_patch", "run_named_gate"]);
    let mut failed = context(3);
    failed["mustExplain"] = json!({"gate": "unit", "attempt": 1, "artifact": "sha256:1"});
    failed["held"] = json!([{"proposalId": "prop_1", "capability": "dependency.add"}]);
    let failed = offered(&failed);
    for spec in planned.iter().chain(&failed) {
        check_schema(&spec.schema);
        assert!(!spec.description.is_empty());
        for known in ["projectId", "revisionId", "expectedBaseSha", "idempotencyKey"] {
            assert!(spec.schema["properties"].get(known).is_none(), "{known} is asked for by {}", spec.name);
        }
    }
    let required = |tools: &[ToolSpec]| tool(tools, "apply_project_patch").schema["required"].clone();
    assert_eq!(required(&planned), json!(["patch", "step"]));
    assert_eq!(required(&failed), json!(["patch", "step", "hypothesis"]));
    assert!(tool(&planned, "apply_project_patch").schema["properties"].get("hypothesis").is_none());
    let asks = tool(&failed, "request_scoped_approval");
    assert_eq!(asks.schema["properties"]["proposalId"], json!({"type": "string", "enum": ["prop_1"]}));
}

#[test]
fn a_proposal_that_is_held_back_says_how_to_ask() {
    let model = Parrot::script(vec![("apply_project_patch", json!({"patch": "p", "step": "s1"}))]);
    let agent = agent(&model, 30_000);
    wait(async {
        let answer = offer(&agent, &context(2)).await.unwrap();
        let held = json!({"needsApproval": {"proposalId": "prop_1", "capability": "dependency.add",
            "detail": "requirements.txt adds the dependency attrs"}});
        offer(&agent, &told(context(3), &answer, &[held])).await.unwrap();
    });
    let text = platform_text(&model.last_asked());
    assert!(text.contains("call request_scoped_approval with the proposalId prop_1"), "{text}");
    assert!(text.contains("exactly the same call again"), "{text}");
    assert!(text.contains("held back (requirements.txt adds the dependency attrs)"), "{text}");
}
