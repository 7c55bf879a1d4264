use serde_json::Value;

use crate::dialogue::{CallFailure, Charge, Usage};
use crate::limits::VENDOR_CODE_BYTES;

/// Why an answer is none. It holds nothing of the answer but a cleaned code of the vendor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) code: &'static str,
    pub(crate) detail: String,
    pub(crate) charge: Charge,
}

impl Fault {
    fn unsettled(code: &'static str, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into(), charge: Charge::Unsettled }
    }

    pub(crate) fn unreadable(what: &str) -> Self {
        Self::unsettled("MODEL_ANSWER_UNREADABLE", format!("the answer cannot be read: {what}"))
    }

    pub(crate) fn malformed(what: &str) -> Self {
        Self::unsettled("MODEL_STREAM_MALFORMED", format!("the stream is malformed: {what}"))
    }

    pub(crate) fn cut() -> Self {
        Self::unsettled("MODEL_STREAM_CUT", "the stream ended before the answer did")
    }

    pub(crate) fn too_large(what: &str) -> Self {
        Self::unsettled("MODEL_ANSWER_TOO_LARGE", format!("the answer passes a limit: {what}"))
    }

    pub(crate) fn usage(what: &str) -> Self {
        Self::unsettled("MODEL_USAGE_ABSENT", format!("the answer does not tell what it used: {what}"))
    }

    /// What the vendor says went wrong, in an answer that claimed to be one.
    pub(crate) fn vendor(error: &Value) -> Self {
        let detail = format!("the vendor answered an error{}", told(vendor_code(error).as_deref()));
        Self::unsettled("MODEL_VENDOR_ERROR", detail)
    }

    /// The same, where the vendor told exactly what the failed answer used.
    pub(crate) fn settled(mut self, usage: Option<Usage>) -> Self {
        self.charge = usage.map_or(Charge::Unsettled, Charge::Settled);
        self
    }
}

impl From<Fault> for CallFailure {
    fn from(fault: Fault) -> Self {
        Self { code: fault.code, detail: fault.detail, charge: fault.charge }
    }
}

/// A vendor's code as the end of a sentence.
pub(crate) fn told(code: Option<&str>) -> String {
    code.map_or_else(String::new, |code| format!(": {code}"))
}

/// The code or type of a vendor's error: lower-case words of a few characters, or nothing. A key has digits or capitals,
/// so that one which is echoed here does not come through.
pub(crate) fn vendor_code(error: &Value) -> Option<String> {
    ["code", "type", "status"].iter().find_map(|name| {
        let text = error.get(name)?.as_str()?;
        let plain = text.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        (plain && !text.is_empty() && text.len() <= VENDOR_CODE_BYTES).then(|| text.to_owned())
    })
}

/// The error that a body holds, in the shapes that vendors and their imitators use.
pub(crate) fn error_of(body: &Value) -> Option<&Value> {
    body.get("error").filter(|error| !error.is_null())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_plain_words_of_a_vendor_are_told() {
        assert_eq!(vendor_code(&json!({"type": "overloaded_error"})).as_deref(), Some("overloaded_error"));
        assert_eq!(
            vendor_code(&json!({"code": "sk-ABC123", "type": "server_error"})).as_deref(),
            Some("server_error")
        );
        for hostile in
            [json!({"code": "sk-ant-1"}), json!({"type": "a".repeat(41)}), json!("text"), json!(null)]
        {
            assert_eq!(vendor_code(&hostile), None, "{hostile}");
        }
    }
}
