//! Every way of the server to go wrong, and the one outcome that each has here.

use ambit_agent_models::{CallArguments, Charge, ModelReply, StopCause};
use ambit_model_server::{Fault, Script, Turn};
use serde_json::json;
use tokio::task::JoinSet;

use crate::meeting::{Meeting, hello};
use crate::scene::WIRES;

fn all() -> Vec<Fault> {
    vec![
        Fault::RateLimited,
        Fault::RateLimitedFor { seconds: 7 },
        Fault::RateLimitedFor { seconds: 3_600 },
        Fault::Overloaded,
        Fault::Unavailable,
        Fault::ServerError,
        Fault::Redirect302,
        Fault::Redirect307,
        Fault::ErrorBody,
        Fault::Reset,
        Fault::Close,
        Fault::Cut { after_bytes: 0 },
        Fault::Cut { after_bytes: 100 },
        Fault::CutCleanly { after_bytes: 100 },
        Fault::Stall { after_bytes: 80 },
        Fault::Drip { bytes: 40, every_ms: 1 },
        Fault::ErrorEvent { after_events: 2 },
        Fault::Endless,
        Fault::EndlessLine,
        Fault::WrongContentType,
        Fault::Gzip,
        Fault::UsageMissing,
        Fault::TwoCalls,
        Fault::ArgumentsEncodedTwice,
        Fault::ArgumentsOfTheOtherShape,
        Fault::InvalidArguments,
        Fault::WrongToolName,
        Fault::Empty,
        Fault::Refusal,
    ]
}

enum Expected {
    /// A code, what is owed, and how often was asked.
    Failure(&'static str, Charge, usize),
    Reply(fn(&ModelReply) -> bool),
}

fn expected(fault: &Fault, stream: bool) -> Expected {
    use Charge::{Nothing, Unsettled};
    use Expected::{Failure, Reply};
    match fault {
        Fault::RateLimitedFor { seconds } if *seconds > 60 => Failure("MODEL_RATE_LIMITED", Nothing, 1),
        Fault::RateLimited | Fault::RateLimitedFor { .. } => Failure("MODEL_RATE_LIMITED", Nothing, 5),
        Fault::Overloaded | Fault::Unavailable => Failure("MODEL_OVERLOADED", Nothing, 5),
        Fault::Redirect302 | Fault::Redirect307 => Failure("MODEL_REDIRECTED", Nothing, 1),
        Fault::ErrorEvent { .. } if stream => Failure("MODEL_VENDOR_ERROR", Unsettled, 1),
        Fault::ServerError | Fault::ErrorEvent { .. } => Failure("MODEL_SERVER_FAILED", Unsettled, 1),
        Fault::ErrorBody => Failure("MODEL_VENDOR_ERROR", Unsettled, 1),
        Fault::Reset | Fault::Close | Fault::Cut { .. } => Failure("MODEL_CONNECTION_LOST", Unsettled, 1),
        Fault::CutCleanly { .. } if stream => Failure("MODEL_STREAM_CUT", Unsettled, 1),
        Fault::CutCleanly { .. } | Fault::Gzip => Failure("MODEL_ANSWER_UNREADABLE", Unsettled, 1),
        Fault::Stall { .. } => Failure("MODEL_TIMEOUT", Unsettled, 1),
        Fault::Endless | Fault::EndlessLine => Failure("MODEL_ANSWER_TOO_LARGE", Unsettled, 1),
        Fault::UsageMissing => Failure("MODEL_USAGE_ABSENT", Unsettled, 1),
        Fault::Drip { .. }
        | Fault::WrongContentType
        | Fault::ArgumentsEncodedTwice
        | Fault::ArgumentsOfTheOtherShape => Reply(is_as_it_should_be),
        Fault::TwoCalls => Reply(|reply| {
            let [one, other] = reply.calls.as_slice() else { return false };
            one.id != other.id && one.arguments == other.arguments && arguments() == one.arguments
        }),
        Fault::InvalidArguments => Reply(|reply| {
            let text = CallArguments::Unreadable("{\"path\"".to_owned());
            reply.calls[0].arguments == text && reply.stop == StopCause::Calls
        }),
        Fault::WrongToolName => Reply(|reply| reply.calls[0].name == "no_such_read_project_file"),
        Fault::Empty => {
            Reply(|reply| reply.text.is_empty() && reply.calls.is_empty() && reply.stop == StopCause::Done)
        }
        Fault::Refusal => Reply(|reply| reply.stop == StopCause::Refused && reply.calls.is_empty()),
    }
}

fn arguments() -> CallArguments {
    CallArguments::Object(json!({"path": "a/b"}).as_object().unwrap().clone())
}

fn is_as_it_should_be(reply: &ModelReply) -> bool {
    let [call] = reply.calls.as_slice() else { return false };
    call.name == "read_project_file" && call.arguments == arguments() && reply.text == "I look."
}

async fn meet(fault: Fault, wire: &'static str, stream: bool) {
    let turn = Turn::call("read_project_file", json!({"path": "a/b"})).saying("I look.");
    let script = Script::of([turn.failing(fault.clone()).repeated()]);
    let seconds = if matches!(fault, Fault::Stall { .. }) { 1 } else { 60 };
    let meeting = Meeting::of(wire, stream, script, &format!("  timeoutSeconds: {seconds}\n"));
    let outcome = meeting.ask(&hello()).await;
    let name = format!("{} {fault:?}: {outcome:?}", meeting.name());
    let asked = meeting.server.requests();
    assert!(asked.iter().all(|request| request.path.starts_with("/v1/")), "a redirect was followed: {name}");
    let bill = meeting.server.bill();
    match (expected(&fault, stream), outcome) {
        (Expected::Failure(code, charge, times), Err(failure)) => {
            assert_eq!((failure.code, failure.charge, asked.len()), (code, charge, times), "{name}");
            assert_eq!(meeting.clock.waits().len(), times - 1, "{name}");
            assert!(charge == Charge::Unsettled || bill.total_micro_dollars() == 0, "{name}");
        }
        (Expected::Reply(fits), Ok(reply)) => {
            assert!(fits(&reply), "{name}");
            let counted = bill.entries[0].usage;
            assert_eq!((reply.usage.output_tokens, asked.len()), (counted.output, 1), "{name}");
        }
        _ => panic!("{name}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_goes_wrong_has_one_outcome_and_one_charge() {
    let mut meetings = JoinSet::new();
    for fault in all() {
        for wire in WIRES {
            for stream in [false, true] {
                if meetings.len() == 8 {
                    meetings.join_next().await.unwrap().unwrap();
                }
                meetings.spawn(meet(fault.clone(), wire, stream));
            }
        }
    }
    meetings.join_all().await;
}
