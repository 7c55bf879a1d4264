//! Reads an agent's answer. Everything in it is untrusted until it is read here against the schema of the tools.

mod input;
mod typed;

use std::collections::BTreeSet;

use ambit_canonical::admit_within;
use ambit_ids::{CaseId, StepId, limits};
use ambit_policy::ToolName;
use serde::Deserialize;
use serde_json::Value;

use crate::call::ToolCall;
use crate::denial::{Denial, DenialCode};
use crate::plan::PlanStep;
use typed::{named, typed};

/// One thing that an agent proposes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Move {
    /// A plan.
    Plan(Vec<PlanStep>),
    /// A call.
    Call(ProposedCall),
}

/// A call that fits the schema of its tool, and nothing more is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposedCall {
    /// The call.
    pub call: ToolCall,
    /// The bytes of the patch, for a call that has one.
    pub patch: Option<Vec<u8>>,
    /// The plan step that it cites.
    pub step: Option<StepId>,
    /// What the agent takes to be the cause of the last failure.
    pub hypothesis: Option<String>,
}

/// Reads an answer: a plan, a call, or `calls` with several of both, which are taken one at a time; or `nothing` with the
/// cause, by which an agent says that it was asked and nothing came of it.
///
/// # Errors
/// The denial of the answer as a whole. A single call that does not fit its schema is a denial in its place.
pub fn read_answer(bytes: &[u8]) -> Result<Vec<Result<Move, Denial>>, Denial> {
    if bytes.len() > limits::AGENT_ANSWER_BYTES {
        return Err(Denial::new(
            DenialCode::AnswerTooLarge,
            format!("the answer has {} bytes; {} are read", bytes.len(), limits::AGENT_ANSWER_BYTES),
        ));
    }
    let malformed = |detail: String| {
        Denial::new(DenialCode::AnswerMalformed, detail).instead(
            "answer one JSON object: {\"plan\": [...]} or {\"tool\": ..., \"input\": {...}} or {\"calls\": [...]}",
        )
    };
    admit_within(bytes, limits::AGENT_ANSWER_BYTES).map_err(|error| malformed(error.to_string()))?;
    let answer: Value = serde_json::from_slice(bytes).map_err(|error| malformed(error.to_string()))?;
    let Value::Object(members) = &answer else {
        return Err(malformed("the answer is no object".to_owned()));
    };
    match members.get("calls") {
        Some(Value::Array(calls)) if members.len() == 1 => {
            if calls.len() > limits::QUEUED_CALLS {
                return Err(Denial::new(
                    DenialCode::TooManyCalls,
                    format!("{} calls at once; {} may wait", calls.len(), limits::QUEUED_CALLS),
                ));
            }
            if calls.is_empty() {
                return Err(malformed("`calls` is empty".to_owned()));
            }
            Ok(calls.iter().map(|call| read_move(call.clone())).collect())
        }
        Some(_) => Err(malformed("`calls` is a list and stands alone".to_owned())),
        None => Ok(vec![read_move(answer)]),
    }
}

/// Why an agent that was asked proposes nothing.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Nothing {
    WithoutCall,
    CutOff,
    Refused,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NothingForm {
    nothing: Nothing,
}

impl From<Nothing> for Denial {
    fn from(nothing: Nothing) -> Self {
        match nothing {
            Nothing::WithoutCall => Self::new(DenialCode::AnswerWithoutCall, "the answer proposes nothing")
                .instead("propose a plan or call a tool; the run ends by itself when its gates pass"),
            Nothing::CutOff => Self::new(
                DenialCode::AnswerCutOff,
                "the answer reached the limit of its length, and none of it was taken",
            )
            .instead("propose less at once: one call, and a large patch in several"),
            Nothing::Refused => Self::new(DenialCode::AnswerRefused, "the agent refused to answer")
                .instead("propose what can be done of the goal"),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PlanForm {
    plan: Vec<PlanStepForm>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PlanStepForm {
    id: StepId,
    summary: String,
    work: String,
    #[serde(default)]
    cases: BTreeSet<CaseId>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CallForm {
    tool: String,
    input: Value,
    plan_step: Option<StepId>,
    hypothesis: Option<String>,
}

fn read_move(value: Value) -> Result<Move, Denial> {
    if value.get("plan").is_some() {
        let form: PlanForm = typed(value, DenialCode::AnswerMalformed, "the plan")?;
        let steps = form.plan.into_iter().map(|step| PlanStep {
            id: step.id,
            summary: crate::denial::bounded(step.summary),
            work: crate::denial::bounded(step.work),
            cases: step.cases,
        });
        return Ok(Move::Plan(steps.collect()));
    }
    if value.get("nothing").is_some() {
        let form: NothingForm = typed(value, DenialCode::AnswerMalformed, "the answer")?;
        return Err(form.nothing.into());
    }
    let form: CallForm = typed(value, DenialCode::AnswerMalformed, "the call")?;
    let tool: ToolName = form.tool.parse().map_err(|()| {
        let known: Vec<&str> = ToolName::ALL.iter().map(|tool| tool.as_str()).collect();
        Denial::new(DenialCode::ToolUnknown, format!("there is no tool {}", named(&form.tool)))
            .instead(format!("the tools are {}", known.join(", ")))
    })?;
    let (call, patch) = input::read_input(tool, form.input)?;
    Ok(Move::Call(ProposedCall { call, patch, step: form.plan_step, hypothesis: form.hypothesis }))
}

#[cfg(test)]
mod tests {
    use ambit_ids::Digest;
    use serde_json::json;

    use super::*;
    use crate::tool::{FieldKind, TOOLS};

    fn sample(kind: FieldKind) -> Value {
        match kind {
            FieldKind::ProjectId => json!("p"),
            FieldKind::RevisionId => json!("rev-1"),
            FieldKind::RelativePath => json!("src/a.py"),
            FieldKind::Digest => json!(Digest::of(b"x").to_string()),
            FieldKind::UnifiedDiff => json!("--- a/x\n+++ b/x\n"),
            FieldKind::ApprovedGate => json!("unit"),
            FieldKind::IdempotencyKey => json!("k-1"),
            FieldKind::ImmutableId => json!("prop_0123456789abcdef"),
            FieldKind::Capability => json!("dependency.add"),
            _ => json!("words"),
        }
    }

    fn one(value: &Value) -> Result<Move, Denial> {
        read_answer(value.to_string().as_bytes()).and_then(|mut moves| moves.remove(0))
    }

    // proves E-E01 E-E02 E-E03 E-E04 E-E05 E-E06 E-C10
    // break crates/domain/run/src/answer/input.rs: `struct ReadForm {` -> `struct ReadForm { #[serde(default)] _command: Option<String>,`
    #[test]
    fn every_tool_takes_its_contract_and_not_one_field_more_or_less() {
        assert_eq!(TOOLS.len(), ToolName::ALL.len());
        for tool in TOOLS {
            let full: serde_json::Map<String, Value> =
                tool.input.iter().map(|field| (field.name.to_owned(), sample(field.kind))).collect();
            let call =
                |input: &serde_json::Map<String, Value>| one(&json!({"tool": tool.name, "input": input}));
            assert!(call(&full).is_ok(), "{}: {:?}", tool.name, call(&full));
            for field in tool.input {
                let mut without = full.clone();
                without.remove(field.name);
                assert_eq!(call(&without).is_err(), field.required, "{} without {}", tool.name, field.name);
                let mut wrong = full.clone();
                wrong.insert(field.name.to_owned(), json!(7));
                assert_eq!(call(&wrong).unwrap_err().code, DenialCode::InputInvalid, "{}", field.name);
            }
            for extra in ["command", "acceptanceMet", "shell", "_command", "timeoutMs", "sandbox"] {
                let mut more = full.clone();
                more.insert(extra.to_owned(), json!("rm -rf /"));
                assert_eq!(
                    call(&more).unwrap_err().code,
                    DenialCode::InputInvalid,
                    "{} + {extra}",
                    tool.name
                );
            }
        }
    }

    // proves E-C04
    // break crates/domain/run/src/answer.rs: `admit_within(bytes, limits::AGENT_ANSWER_BYTES).map_err` -> `admit_within(b"{}", limits::AGENT_ANSWER_BYTES).map_err`
    #[test]
    fn prose_unknown_tools_and_malformed_json_are_denials_with_a_code() {
        for (answer, code) in [
            ("Sure! I will now fix the bug.", DenialCode::AnswerMalformed),
            ("", DenialCode::AnswerMalformed),
            ("[]", DenialCode::AnswerMalformed),
            ("{\"tool\":\"read_project_file\"", DenialCode::AnswerMalformed),
            ("{\"tool\":\"run_shell\",\"input\":{}}", DenialCode::ToolUnknown),
            (
                "{\"tool\":\"run_named_gate\",\"tool\":\"run_named_gate\",\"input\":{}}",
                DenialCode::AnswerMalformed,
            ),
            (
                "{\"tool\":\"run_named_gate\",\"input\":{},\"acceptanceMet\":true}",
                DenialCode::AnswerMalformed,
            ),
            ("{\"calls\":[]}", DenialCode::AnswerMalformed),
            ("{\"calls\":[],\"plan\":[]}", DenialCode::AnswerMalformed),
            ("{\"nothing\":\"without-call\"}", DenialCode::AnswerWithoutCall),
            ("{\"nothing\":\"cut-off\"}", DenialCode::AnswerCutOff),
            ("{\"nothing\":\"refused\"}", DenialCode::AnswerRefused),
            ("{\"nothing\":\"finished\"}", DenialCode::AnswerMalformed),
            ("{\"nothing\":\"refused\",\"tool\":\"run_named_gate\"}", DenialCode::AnswerMalformed),
        ] {
            let denial = read_answer(answer.as_bytes()).and_then(|mut moves| moves.remove(0)).unwrap_err();
            assert_eq!(denial.code, code, "{answer}");
        }
        let positive =
            "{\"plan\":[{\"id\":\"s1\",\"summary\":\"x\",\"work\":\"domain\",\"cases\":[\"AC-1\"]}]}";
        assert!(matches!(read_answer(positive.as_bytes()).unwrap()[0], Ok(Move::Plan(_))));
    }

    // proves E-B05
    // break crates/domain/run/src/answer/typed.rs: `let Some((before, rest)) = told.split_once("string \"") else { return told };` -> `let Some((before, rest)) = told.split_once("\u{0}") else { return told };`
    #[test]
    fn a_text_in_the_wrong_place_is_not_repeated() {
        const THOUGHT: &str = "first I think \"aloud\", expected by nobody: CANARY";
        for answer in [
            json!({"plan": THOUGHT}),
            json!({"plan": [THOUGHT]}),
            json!({"tool": THOUGHT, "input": {}}),
            json!({"tool": "read_project_file", "input": THOUGHT}),
            json!({"tool": "request_scoped_approval",
                "input": {"proposalId": "prop_0123456789abcdef", "capability": THOUGHT, "reason": "r"}}),
            json!({"tool": "run_named_gate",
                "input": {"revisionId": THOUGHT, "gateId": "unit", "idempotencyKey": "k"}}),
        ] {
            let denial = one(&answer).unwrap_err();
            assert!(!denial.detail.contains("CANARY"), "{denial}");
        }
        let denial = one(&json!({"plan": THOUGHT})).unwrap_err();
        assert_eq!(denial.detail, "the plan: invalid type: a text, expected a sequence");
        let known = one(&json!({"tool": "run_shell", "input": {}})).unwrap_err();
        assert!(known.detail.contains("run_shell"), "a name is told");
    }

    #[test]
    fn ten_thousand_calls_at_once_are_refused_as_a_whole() {
        let call = json!({"tool": "list_project_files", "input": {"projectId": "p", "revisionId": "rev-1"}});
        let many = |count: usize| json!({"calls": vec![call.clone(); count]}).to_string();
        assert_eq!(read_answer(many(10_000).as_bytes()).unwrap_err().code, DenialCode::TooManyCalls);
        assert_eq!(read_answer(many(64).as_bytes()).unwrap().len(), 64);
    }

    // proves E-E08
    // break crates/domain/ids/src/path.rs: `b".." => return Err(PathError::Parent),` -> `b".." => {}`
    #[test]
    fn a_path_that_leaves_the_project_is_refused_before_anything_is_read() {
        let read = |path: &str| {
            one(&json!({"tool": "read_project_file",
                "input": {"projectId": "p", "revisionId": "rev-1", "path": path}}))
        };
        assert!(read("src/a.py").is_ok());
        for path in [
            "../other/.env",
            "/etc/passwd",
            "a/../../b",
            ".git/config",
            "a//b",
            "a\0b",
            "a\nb",
            "a\u{202e}b",
            "",
        ] {
            assert_eq!(read(path).unwrap_err().code, DenialCode::PathRefused, "{path:?}");
        }
    }
}
