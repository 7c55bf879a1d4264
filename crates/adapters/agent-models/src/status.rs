//! What a status says about money, and whether to ask again.

/// What an answer without an answer means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) code: &'static str,
    /// Whether it is certain that nothing was charged.
    pub(crate) free: bool,
    /// Whether to ask again. Only where nothing was charged.
    pub(crate) again: bool,
    pub(crate) advice: &'static str,
}

/// Judges a status that is not 200.
///
/// Free and asked again: 429 (too many requests), 503 and 529 (overloaded), with which a vendor says that it did not take
/// the request. Free and not asked again: redirects that leave the request undone (301, 302, 307, 308), and the refusals
/// below 500 that are listed here. Not free: all others. That is 408 as well: by its definition nothing was read, but
/// gateways answer it when the model behind them took too long. So are 303 and 2xx, which claim that something was done,
/// and 500, 502 and 504, behind which a model may have answered.
pub(crate) const fn judge(status: u16) -> Verdict {
    let (code, free, again, advice) = match status {
        429 => ("MODEL_RATE_LIMITED", true, true, "wait, or ask the vendor for a higher limit"),
        503 | 529 => ("MODEL_OVERLOADED", true, true, "try later"),
        401 | 403 => ("MODEL_KEY_REFUSED", true, false, "look at the key that the document names"),
        402 => ("MODEL_CREDIT_EXHAUSTED", true, false, "add credit at the vendor"),
        404 | 405 | 410 => ("MODEL_NOT_FOUND", true, false, "look at `baseUrl`, `wire` and `model`"),
        413 | 414 | 431 => ("MODEL_REQUEST_TOO_LARGE", true, false, "lower `contextTokens`"),
        400 | 406 | 409 | 411 | 415 | 417 | 421 | 422 | 425 | 426 | 428 | 451 => {
            ("MODEL_REQUEST_REFUSED", true, false, "look at `wire`, `model` and the limits of the document")
        }
        301 | 302 | 307 | 308 => {
            ("MODEL_REDIRECTED", true, false, "put the address to which it redirects into `baseUrl`")
        }
        408 => ("MODEL_TIMEOUT", false, false, "it is charged at its reservation"),
        500..=599 => ("MODEL_SERVER_FAILED", false, false, "it is charged at its reservation"),
        _ => ("MODEL_ANSWER_UNREADABLE", false, false, "it is charged at its reservation"),
    };
    Verdict { code, free, again, advice }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_asked_again_that_may_have_been_charged() {
        let again: Vec<u16> = (100..1_000).filter(|status| judge(*status).again).collect();
        assert_eq!(again, [429, 503, 529]);
        for status in 100..1_000 {
            let verdict = judge(status);
            assert!(verdict.free || !verdict.again, "{status}");
            assert!(verdict.free == (verdict.advice != "it is charged at its reservation"), "{status}");
        }
        for status in [201, 204, 303, 304, 408, 418, 499, 500, 502, 504, 520, 600] {
            assert!(!judge(status).free, "{status}");
        }
    }
}
