//! Why a run ended, in words, and what to do about it. The stable name of the reason stands beside it.

use ambit_run::{Limit, StopReason};

/// What a person is told of a reason beyond its name.
pub(crate) struct Ending {
    pub(crate) why: &'static str,
    /// What to do before the next start; empty where the reason itself says it.
    pub(crate) mend: &'static str,
}

/// The words for a reason; `None` where its name says everything.
pub(crate) fn ending(reason: &StopReason) -> Option<Ending> {
    let (why, mend) = match reason {
        StopReason::GatesPassed | StopReason::CustomerCancelled => return None,
        StopReason::BudgetExhausted(Limit::RepeatedFailure) => (
            "the same failure came back after every fix that the agent claimed",
            "look at what the gate said, and say more of it in the goal",
        ),
        StopReason::BudgetExhausted(_) => (
            "what came next would have passed this limit",
            "raise the limit; it is the lowest that the blueprint, the profile, ambit.toml or the start command says",
        ),
        StopReason::PolicyDenied(_) => {
            ("the agent proposed something that ends a run", "look at the call before another start")
        }
        StopReason::ApprovalExpired => (
            "no decision reached the run in time: nobody decided, or what was decided was not used in time",
            "start again, decide while the run waits, and let it be driven on before its time is over",
        ),
        StopReason::AgentStopped => (
            "the agent proposed nothing more, and there is no new revision whose gates all passed",
            "say more in the goal, or let another agent try",
        ),
        StopReason::HiddenCheckFailed => {
            ("a check that no agent sees failed on what passed every gate", "say more in the goal")
        }
        StopReason::InfrastructureFailure(code) => of_code(code),
    };
    Some(Ending { why, mend })
}

fn of_code(code: &str) -> (&'static str, &'static str) {
    let begins = |families: &[&str]| families.iter().any(|family| code.starts_with(family));
    match code {
        "MODEL_KEY_REFUSED" => (
            "the model's server did not accept the key",
            "look at `key` of the agent: `ambit model show` says where yours is",
        ),
        "MODEL_CREDIT_EXHAUSTED" => ("the account at the model's vendor has no credit", "add credit there"),
        "MODEL_UNREACHABLE" => (
            "the model's server could not be reached",
            "look at `baseUrl` of the agent, and whether a server answers there",
        ),
        "MODEL_NOT_FOUND" | "MODEL_REDIRECTED" => (
            "the model's server knows no such model at this address",
            "look at `baseUrl`, `wire` and `model` of the agent",
        ),
        "MODEL_REQUEST_REFUSED" | "MODEL_REQUEST_TOO_LARGE" | "MODEL_CONTEXT_TOO_SMALL" => (
            "the model's server, or a limit of the agent, did not let a request pass",
            "look at `wire`, `model`, `contextTokens` and `maxOutputTokens` of the agent",
        ),
        "MODEL_WITHOUT_CALLS" => (
            "the model talked, and made no call that could be taken, several times in a row",
            "try another model, or raise `maxOutputTokens` of the agent if its answers were cut off",
        ),
        "MODEL_TOKEN_CAP" => {
            ("the run used every token that the agent may use", "raise `tokenCap` of the agent")
        }
        "MODEL_RATE_LIMITED" | "MODEL_OVERLOADED" => {
            ("the model's server had no room, however often it was asked", "start again later")
        }
        _ if begins(&["MODEL_"]) => {
            ("what the model's server answered was not whole, or could not be read", "start again")
        }
        _ if begins(&["AGENT_"]) => ("the agent failed", "look at its document"),
        _ if begins(&["BACKEND", "SANDBOX", "IMAGE", "DESTRUCTION"]) => (
            "the sandbox could not be made, was lost, or is not provably gone",
            "`ambit doctor` says what this machine lacks",
        ),
        _ => ("a part of the platform failed", "`ambit doctor` says what this machine lacks"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_approval_that_came_and_was_not_used_is_not_called_missing() {
        let told = ending(&StopReason::ApprovalExpired).unwrap();
        assert!(told.why.contains("decided was not used in time"), "{}", told.why);
        assert!(told.mend.contains("driven on"), "{}", told.mend);
    }

    #[test]
    fn every_reason_but_the_plain_ones_says_why_and_what_to_do() {
        let told = |reason: &StopReason| ending(reason).map(|ending| (ending.why, ending.mend));
        assert_eq!(told(&StopReason::GatesPassed), None);
        assert_eq!(told(&StopReason::CustomerCancelled), None);
        let failed = |code: &str| told(&StopReason::InfrastructureFailure(code.to_owned())).unwrap();
        let reasons = [
            failed("MODEL_KEY_REFUSED"),
            failed("MODEL_UNREACHABLE"),
            failed("MODEL_WITHOUT_CALLS"),
            failed("MODEL_STREAM_CUT"),
            failed("AGENT_FAILED"),
            failed("SANDBOX_GONE"),
            failed("TOOL_TIMED_OUT"),
            told(&StopReason::BudgetExhausted(Limit::RepeatedFailure)).unwrap(),
            told(&StopReason::BudgetExhausted(Limit::ModelSteps)).unwrap(),
            told(&StopReason::AgentStopped).unwrap(),
            told(&StopReason::ApprovalExpired).unwrap(),
        ];
        for (at, (why, mend)) in reasons.iter().enumerate() {
            assert!(!why.is_empty() && !mend.is_empty());
            assert!(reasons[at + 1..].iter().all(|(other, _)| other != why), "{why}");
        }
    }
}
