//! Whatever the history: a request is within its bound, and no vendor can refuse the form of it.

use std::collections::{BTreeSet, VecDeque};

use ambit_agent_models::{
    CallArguments, ContextAllowance, Message, ModelCall, ModelRequest, StopCause, request_bytes,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

use crate::talk::{Parrot, agent, context, denied, file, gate, made, offer, reply, told, wait};

/// The conversation begins with the user, goes by turns, ends with the platform, and every call has its one result.
pub(crate) fn check_form(request: &ModelRequest) {
    assert!(matches!(request.messages.first(), Some(Message::User(_))));
    let mut ids = BTreeSet::new();
    for pair in request.messages.windows(2) {
        match (&pair[0], &pair[1]) {
            (Message::User(_) | Message::ToolResults(_), Message::Assistant { text, calls }) => {
                assert!(!calls.is_empty() || !text.trim().is_empty(), "an empty answer");
                for call in calls {
                    let plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
                    assert!(ids.insert(call.id.clone()), "{} twice", call.id);
                    for name in [&call.id, &call.name] {
                        assert!((1..=64).contains(&name.len()) && name.chars().all(plain), "{name:?}");
                    }
                    assert!(matches!(call.arguments, CallArguments::Object(_)));
                }
            }
            (Message::Assistant { calls, .. }, Message::User(text)) => {
                assert!(calls.is_empty() && !text.is_empty());
            }
            (Message::Assistant { calls, .. }, Message::ToolResults(results)) => {
                let called: Vec<&str> = calls.iter().map(|call| call.id.as_str()).collect();
                let answered: Vec<&str> = results.iter().map(|result| result.call.as_str()).collect();
                assert_eq!(called, answered);
            }
            (before, after) => panic!("{after:?} after {before:?}"),
        }
    }
    assert!(!matches!(request.messages.last(), Some(Message::Assistant { .. })));
}

fn text(most: usize) -> impl Strategy<Value = String> {
    let unit = prop_oneof![
        "[a-z |>#\\[\\]\n]{1,40}",
        Just("\u{202e}\r\u{2028}\u{0}\u{e0041}".to_owned()),
        Just("\"\\\\\"\u{1}".to_owned()),
        Just("水と火と".to_owned()),
    ];
    let size = prop_oneof![4 => 0..60usize, 1 => Just(most)];
    (unit, size).prop_map(|(unit, size)| {
        let mut text = unit.repeat(size / unit.len().max(1) + 1);
        text.truncate(text.floor_char_boundary(size));
        text
    })
}

fn outcome() -> impl Strategy<Value = Value> {
    prop_oneof![
        text(300_000).prop_map(|content| file(&content)),
        text(20_000).prop_map(|output| gate(1, &output)),
        text(4_096).prop_map(|detail| denied("POLICY_DENIED", &detail, &detail)),
        proptest::collection::vec(text(400), 0..40)
            .prop_map(|files| json!({"files": files, "truncated": true})),
        text(200).prop_map(|path| json!({"changedFiles": [path], "revisionSha": "sha256:1"})),
        Just(json!({"unknown": {"detail": "d", "instead": "i"}})),
        Just(json!({"something": "else"})),
    ]
}

fn one_call() -> impl Strategy<Value = ModelCall> {
    let names =
        ["read_project_file", "apply_project_patch", "run_named_gate", "propose_plan", "", "no such tool!"];
    let arguments = prop_oneof![
        text(200).prop_map(|path| json!({"path": path, "gateId": "unit"})),
        text(400_000).prop_map(|patch| json!({"patch": patch, "step": "s1", "other": [1.5, null]})),
        text(5_000).prop_map(Value::String),
    ];
    (prop_oneof![3 => Just("same"), 1 => Just(""), 1 => Just("a b")], 0..names.len(), arguments)
        .prop_map(move |(id, name, arguments)| made(id, names[name], arguments))
}

type Step = (Vec<(ModelCall, Option<Value>)>, String, StopCause);

fn step() -> impl Strategy<Value = Step> {
    let calls = proptest::collection::vec((one_call(), proptest::option::weighted(0.9, outcome())), 0..4);
    let many = (one_call(), outcome(), 30..80usize)
        .prop_map(|(call, outcome, count)| vec![(call, Some(outcome)); count]);
    let stop = prop_oneof![
        8 => Just(StopCause::Calls),
        1 => Just(StopCause::Length),
        1 => Just(StopCause::Refused),
        1 => Just(StopCause::Done),
    ];
    (prop_oneof![12 => calls, 1 => many], text(60_000), stop)
}

fn play(steps: &[Step], tokens: u32, wordy: &str) {
    let mut said: VecDeque<Step> = steps.iter().cloned().collect();
    let model = Parrot::new(move |_| {
        let (calls, text, stop) = said.pop_front().unwrap();
        Ok(reply(&text, calls.into_iter().map(|(call, _)| call).collect(), stop))
    });
    let agent = agent(&model, tokens);
    let limit = ContextAllowance::of_tokens(tokens).unwrap().bytes();
    wait(async {
        let mut next = context(1);
        for (turn, (calls, _, _)) in (2..).zip(steps) {
            next["goal"] = json!(wordy);
            next["acceptanceCases"][0]["statement"] = json!(wordy);
            next["protected"] = json!([wordy, "tests/**"]);
            next["notes"] = json!({"path": "AGENTS.md", "text": wordy, "truncated": true});
            next["plan"][0]["summary"] = json!(wordy);
            let answer = offer(&agent, &next).await.unwrap();
            let request = model.last_asked();
            assert!(request_bytes(&request) <= limit, "{} of {limit}", request_bytes(&request));
            check_form(&request);
            let outcomes: Vec<Value> = calls.iter().filter_map(|(_, outcome)| outcome.clone()).collect();
            next = told(context(turn), &answer, &outcomes);
        }
    });
}

#[test]
fn a_request_is_within_its_bound_and_of_a_form_that_every_vendor_takes() {
    let config = Config { cases: 10, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]));
    let histories = (proptest::collection::vec(step(), 1..12), text(40_000), 0..2usize);
    runner
        .run(&histories, |(steps, wordy, size)| {
            play(&steps, [ContextAllowance::LEAST_TOKENS, 100_000][size], &wordy);
            Ok(())
        })
        .unwrap();
}

#[test]
fn the_oldest_detail_goes_first_and_what_matters_stays() {
    let long: String = (0..600).map(|line| format!("line {line} of the file\n")).collect();
    let model =
        Parrot::script((0..30).map(|_| ("read_project_file", json!({"path": "src/long.txt"}))).collect());
    let agent = agent(&model, 24_000);
    wait(async {
        let mut next = context(1);
        for turn in 2..30 {
            let answer = offer(&agent, &next).await.unwrap();
            let reply = match turn {
                2 => gate(1, "the very first failure"),
                3 => denied("POLICY_DENIED", "the only denial", "do something else"),
                _ => file(&long),
            };
            next = told(context(turn), &answer, &[reply]);
        }
    });
    let text = crate::talk::platform_text(&model.last_asked());
    for stays in [
        "> Say the right word.",
        "| s1 (domain; AC-1): say it",
        "- unit (AC-1): not run on this tree",
        "the very first failure",
        "the only denial",
        "Instead: do something else",
        "| line 599 of the file",
    ] {
        assert!(text.contains(stays), "{stays} is gone from\n{text}");
    }
    let outlines = text.matches("; no longer shown").count();
    let shown = text.matches("   1| line 0 of the file").count();
    assert!(outlines > 0 && (1..6).contains(&shown), "{outlines} outlines, {shown} in full");
    let outline = text.find("; no longer shown").unwrap();
    assert!(outline < text.find("| line 0 of the file").unwrap(), "what is older is outlined first");
}

#[test]
fn what_is_older_than_its_outline_is_a_line_in_a_list() {
    let calls =
        (0..50).map(|file| made("same", "read_project_file", json!({"path": format!("src/{file}.txt")})));
    let calls: Vec<ModelCall> = calls.collect();
    let model = Parrot::new(move |_| Ok(reply("", calls.clone(), StopCause::Calls)));
    let agent = agent(&model, ContextAllowance::LEAST_TOKENS);
    wait(async {
        let mut next = context(1);
        for turn in 2..8 {
            let answer = offer(&agent, &next).await.unwrap();
            next = told(context(turn), &answer, &vec![file("a\n"); 50]);
        }
    });
    let request = model.last_asked();
    check_form(&request);
    let text = crate::talk::platform_text(&request);
    assert!(text.contains("# What was done so far and is no longer shown"), "{text}");
    assert!(text.contains("earlier calls are left out]\n- turn "), "{text}");
    assert!(text.contains(": read src/49.txt: 1 lines, sha256:"), "{text}");
    assert!(text.contains("turn 6"), "what is newest stays");
}
