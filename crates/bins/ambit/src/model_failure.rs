//! What it means that a run ended because its model did not answer, and what to do next.

/// The part of a reason to stop that names a failure of the model, told for people.
pub(crate) fn told(reason: &str) -> Option<(&'static str, &'static str)> {
    let (_, code) = reason.split_once('(')?;
    Some(match code.trim_end_matches(')') {
        "MODEL_KEY_REFUSED" => (
            "the vendor does not take the key",
            "set the variable that `key` of the agent names, and start again; `ambit doctor` looks whether it is set",
        ),
        "MODEL_CREDIT_EXHAUSTED" => {
            ("the account has no credit", "add credit at the vendor, and start again")
        }
        "MODEL_NOT_FOUND" => (
            "nobody knows this model at this address",
            "look at `ambit model show`, and say another with `ambit model use MODEL --replace`",
        ),
        "MODEL_RATE_LIMITED" => (
            "the vendor asks for fewer requests, and kept to it for minutes",
            "wait and start again, or ask the vendor for a higher limit",
        ),
        "MODEL_OVERLOADED" | "MODEL_SERVER_FAILED" => {
            ("the vendor has trouble of its own", "start again later")
        }
        "MODEL_UNREACHABLE" | "MODEL_CONNECTION_LOST" | "MODEL_TRANSPORT" | "MODEL_TIMEOUT" => (
            "nothing answered at the address of the model",
            "look at `ambit model show` and at the network; a model of one's own must be running",
        ),
        "MODEL_REQUEST_TOO_LARGE" | "MODEL_CONTEXT_TOO_SMALL" => (
            "the request does not fit the model",
            "say what the model takes: `ambit model use MODEL --context-tokens TOKENS --replace`",
        ),
        "MODEL_REQUEST_REFUSED" => (
            "the vendor takes the request for malformed",
            "look whether the model speaks this wire and calls tools: `ambit model show`",
        ),
        "MODEL_TOKEN_CAP" => (
            "the cap on tokens is reached",
            "start again with a higher one: `ambit model use MODEL --token-cap TOKENS --replace`",
        ),
        code if code.starts_with("MODEL_") => {
            ("the model did not answer as it must", "start again; what was asked and charged is in the trace")
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::told;

    #[test]
    fn each_failure_of_a_model_is_told_with_what_to_do_and_no_other_is() {
        for code in ["MODEL_KEY_REFUSED", "MODEL_UNREACHABLE", "MODEL_TOKEN_CAP", "MODEL_STREAM_CUT"] {
            let (meaning, mend) = told(&format!("infrastructure-failure ({code})")).unwrap();
            assert!(!meaning.is_empty() && !mend.is_empty(), "{code}");
        }
        assert_eq!(told("infrastructure-failure (SANDBOX_LOST)"), None);
        assert_eq!(told("agent-stopped"), None);
    }
}
