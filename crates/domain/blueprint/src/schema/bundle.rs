use ambit_policy::{Capability, DenialKind, FactKind, ToolName};
use serde_json::{Value, json};

use super::parts::{facts, id, integer, list, object, one_of, set, text, versioned, word};
use crate::{EgressDefault, Erasure, ExpectedVerdict, RuleEffect, SecretBinding};

/// Title, metadata and spec.
pub(super) fn parts() -> (&'static str, Value, Value) {
    let egress = object(&[("default", word::<EgressDefault>(), "What holds for every destination.")], &[]);
    let secrets = object(&[("binding", word::<SecretBinding>(), "What is bound to a run.")], &[]);
    let retention = object(
        &[
            ("keepDays", integer(1, 36_500), "Days for which evidence is kept after its run ended."),
            ("eraseBy", word::<Erasure>(), "How content is erased after that."),
        ],
        &[],
    );
    let spec = one_of(&[
        ("toolRules", list(&rule(), 1, 256), "Rules for tool calls."),
        ("egress", egress, "What can be reached."),
        ("secrets", secrets, "How secrets are bound."),
        ("retention", retention, "How long evidence is kept."),
    ]);
    ("PolicyBundle: one subject of policy", versioned(), spec)
}

fn rule() -> Value {
    let condition = one_of(&[
        ("anyFact", set(&word::<FactKind>(), 1, 32), "At least one of its facts is of one of these kinds."),
        ("asked", set(&word::<Capability>(), 1, 32), "It asks for one of these."),
        ("always", json!({"const": true}), "Nothing more."),
    ]);
    let unless = object(&[("approved", word::<Capability>(), "An unused approval of this is in hand.")], &[]);
    let mut rule = object(
        &[
            ("id", id(96), "How decisions cite it."),
            ("effect", word::<RuleEffect>(), "What it answers."),
            ("tools", set(&word::<ToolName>(), 1, 32), "Whose calls it can apply to."),
            ("when", condition, "What must be true of the call."),
            ("why", text(500), "Why the rule is there."),
            ("examples", list(&example(), 1, 32), "Calls, and what the whole bundle answers to them."),
        ],
        &[
            (
                "denial",
                word::<DenialKind>(),
                "With `forbid` alone: whether the call is denied or the run ends.",
            ),
            ("capability", word::<Capability>(), "With `require-approval` alone: what must be approved."),
            ("unless", unless, "What keeps the rule from applying."),
            ("instead", text(500), "What is possible instead."),
        ],
    );
    rule["allOf"] = json!([
        beside("forbid", &["denial"], &["capability"]),
        beside("require-approval", &["capability", "unless"], &["denial"]),
        beside("permit", &[], &["denial", "capability"]),
    ]);
    rule
}

/// What must and what must not stand beside an effect.
fn beside(effect: &str, required: &[&str], refused: &[&str]) -> Value {
    let refused: serde_json::Map<String, Value> =
        refused.iter().map(|name| ((*name).to_owned(), json!(false))).collect();
    json!({
        "if": {"properties": {"effect": {"const": effect}}},
        "then": {"required": required, "properties": refused},
    })
}

fn example() -> Value {
    object(
        &[
            ("tool", word::<ToolName>(), "One of the rule's `tools`."),
            ("facts", facts(), "What is true of the call."),
            ("expect", word::<ExpectedVerdict>(), "The verdict."),
        ],
        &[
            ("asked", word::<Capability>(), "What it asks for, with `request_scoped_approval` alone."),
            ("approved", word::<Capability>(), "Of which an unused approval is in hand."),
        ],
    )
}
