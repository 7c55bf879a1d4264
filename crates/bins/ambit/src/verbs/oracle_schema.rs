//! The JSON Schema of what `ambit oracle check` answers.

use ambit_policy::FactKind;
use serde_json::{Value, json};

use super::backend_schemas::{list, object, text, titled};

pub(super) fn schema() -> (&'static str, Value) {
    titled(
        "OracleVerdict",
        "what a patch does to tests, checks and guarantees, as `ambit oracle check` answers it",
        verdict(),
    )
}

fn verdict() -> Value {
    let or_null = |mut value: Value| {
        value["type"] = json!([value["type"], "null"]);
        value
    };
    let rule = object(
        &[
            ("rule", text("its name in the bundle")),
            ("why", text("why it is there")),
            ("instead", or_null(text("what is possible instead"))),
        ],
        &[],
    );
    object(
        &[
            (
                "verdict",
                json!({
                    "enum": ["allow", "needs-approval", "deny-call", "deny-terminating", "refused"],
                    "description": "what the policy answers; refused where the patch cannot be judged",
                }),
            ),
            ("code", or_null(text("why the patch cannot be judged, as a stable code"))),
            ("message", text("the same in words")),
            ("patch", or_null(text("the digest of the patch as it was given"))),
            ("policy", or_null(text("the digest of the bundle that answered"))),
            ("facts", list(&fact())),
            ("rules", list(&rule)),
            ("approval", or_null(text("what a person would have to approve"))),
        ],
        &[],
    )
}

/// A fact. Its other members are those of its kind.
fn fact() -> Value {
    let kinds: Vec<&str> = FactKind::ALL.iter().map(|kind| kind.as_str()).collect();
    json!({
        "type": "object",
        "properties": {"kind": {"enum": kinds, "description": "the kind, as rules name it"}},
        "required": ["kind"],
    })
}
