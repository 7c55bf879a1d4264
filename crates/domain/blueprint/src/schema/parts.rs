//! What schemas are made of.

use ambit_ids::limits;
use ambit_policy::{Side, Weakening};
use serde_json::{Map, Value, json};

use crate::word::Word;

/// A member: its name, its schema and what it is.
pub(super) type Member<'a> = (&'a str, Value, &'a str);

/// A mapping with these members and no other.
pub(super) fn object(required: &[Member<'_>], optional: &[Member<'_>]) -> Value {
    let describe = |(name, schema, about): &Member<'_>| {
        let mut schema = schema.clone();
        if !about.is_empty() {
            schema["description"] = json!(about);
        }
        ((*name).to_owned(), schema)
    };
    let properties: Map<String, Value> = required.iter().chain(optional).map(describe).collect();
    let names: Vec<&str> = required.iter().map(|(name, ..)| *name).collect();
    json!({"type": "object", "properties": properties, "required": names, "additionalProperties": false})
}

/// A mapping with exactly one of these members.
pub(super) fn one_of(choices: &[Member<'_>]) -> Value {
    let mut schema = object(&[], choices);
    schema["minProperties"] = json!(1);
    schema["maxProperties"] = json!(1);
    schema
}

/// One text and no other.
pub(super) fn exactly(text: &str) -> Value {
    json!({"const": text})
}

/// A word of a closed vocabulary.
pub(super) fn word<W: Word>() -> Value {
    let words: Vec<&str> = W::WORDS.iter().map(|word| word.spelled()).collect();
    json!({"enum": words})
}

/// Text for people, of at most so many bytes.
pub(super) fn text(most: usize) -> Value {
    json!({"type": "string", "minLength": 1, "maxLength": most})
}

/// An identifier of at most so many characters.
pub(super) fn id(most: usize) -> Value {
    json!({"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]*$", "maxLength": most})
}

/// A lower-case word.
pub(super) fn lower_case_word() -> Value {
    json!({"type": "string", "pattern": "^[a-z][a-z0-9-]*$", "maxLength": 64})
}

/// A path of the project.
pub(super) fn path() -> Value {
    json!({"type": "string", "pattern": "^[^/]", "maxLength": limits::PATH_BYTES})
}

/// Patterns of paths.
pub(super) fn patterns(fewest: usize) -> Value {
    list(&json!({"type": "string", "pattern": "^[^/]", "maxLength": 256}), fewest, 128)
}

/// A list.
pub(super) fn list(items: &Value, fewest: usize, most: usize) -> Value {
    json!({"type": "array", "items": items, "minItems": fewest, "maxItems": most})
}

/// A list in which nothing stands twice.
pub(super) fn set(items: &Value, fewest: usize, most: usize) -> Value {
    let mut schema = list(items, fewest, most);
    schema["uniqueItems"] = json!(true);
    schema
}

/// An integer of a range.
pub(super) fn integer(low: u64, high: u64) -> Value {
    json!({"type": "integer", "minimum": low, "maximum": high})
}

/// An amount of US dollars up to a hundred, or the integer of micro-dollars.
pub(super) fn dollars() -> Value {
    json!({"type": "number", "minimum": 0, "maximum": 100})
}

/// The same in micro-dollars.
pub(super) fn micro_dollars() -> Value {
    integer(0, 100_000_000)
}

/// A SHA-256 digest.
pub(super) fn digest() -> Value {
    json!({"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"})
}

/// A reference to a policy document.
pub(super) fn policy_ref() -> Value {
    json!({"type": "string", "pattern": "^policy://[A-Za-z0-9][A-Za-z0-9._-]*/v[1-9][0-9]*$"})
}

/// A name and a version.
pub(super) fn versioned() -> Value {
    object(
        &[
            ("name", id(64), "The name, which references use."),
            (
                "version",
                integer(1, u32::MAX.into()),
                "The version; what is registered under one never changes.",
            ),
        ],
        &[],
    )
}

/// The limits of a run; in a profile any of them may be absent.
pub(super) fn run_budget(is_complete: bool) -> Value {
    let limits: [Member<'_>; 9] = [
        ("maxModelSteps", integer(1, 100), "Turns of the agent."),
        ("maxPatchAttemptsPerGate", integer(1, 20), "Patches against one gate that does not pass."),
        ("maxElapsedMinutes", integer(1, 1440), "Minutes by the clock since admission."),
        ("maxChangedFiles", integer(1, 1000), "Files that differ from the base revision."),
        ("maxAddedDependencies", integer(0, 50), "Dependencies that the base revision did not have."),
        ("maxParallelProcesses", integer(1, 64), "Processes of named commands at any one time."),
        (
            "stopOnRepeatedFailureFingerprint",
            integer(1, 10),
            "Claimed fixes after which the same failure stops the run.",
        ),
        ("maxOutputBytes", integer(1, 16 << 30), "Bytes of output of named commands."),
        ("maxSideEffects", integer(1, 1000), "Calls with a side effect."),
    ];
    let money: [Member<'_>; 2] = [
        ("maxToolCostUsd", dollars(), "Money for model calls and named commands, in US dollars."),
        ("maxToolCostMicroUsd", micro_dollars(), "The same in micro-dollars, in its place."),
    ];
    if !is_complete {
        let all: Vec<Member<'_>> = limits.into_iter().chain(money).collect();
        let mut schema = object(&[], &all);
        schema["not"] = json!({"required": ["maxToolCostUsd", "maxToolCostMicroUsd"]});
        return schema;
    }
    let mut schema = object(&limits, &money);
    schema["oneOf"] = json!([{"required": ["maxToolCostUsd"]}, {"required": ["maxToolCostMicroUsd"]}]);
    schema
}

/// A fact that has a place.
fn weakening(kind: &str) -> Value {
    let sides: Vec<&str> = Side::ALL.iter().map(|side| side.as_str()).collect();
    object(
        &[
            ("kind", exactly(kind), ""),
            ("path", path(), ""),
            ("line", integer(0, u32::MAX.into()), "Counted from 1; 0 for the whole file."),
            ("side", json!({"enum": sides}), ""),
        ],
        &[("was", text(160), "What stood there."), ("is", text(160), "What stands there now.")],
    )
}

/// Facts about a call, in the shape in which requests hold them.
pub(super) fn facts() -> Value {
    let fact = |kind: &str, members: &[Member<'_>]| {
        let mut all: Vec<Member<'_>> = vec![("kind", exactly(kind), "")];
        all.extend(members.iter().cloned());
        object(&all, &[])
    };
    let any = || integer(0, u32::MAX.into());
    let mut kinds = vec![
        fact("protected-path-touched", &[("path", path(), "")]),
        fact("assertion-count-fell", &[("path", path(), ""), ("before", any(), ""), ("after", any(), "")]),
        fact(
            "skip-marker-added",
            &[("path", path(), ""), ("line", integer(1, u32::MAX.into()), ""), ("marker", text(200), "")],
        ),
        fact("dependency-added", &[("manifest", path(), ""), ("name", text(200), "")]),
        fact("scope-left", &[("path", path(), "")]),
        fact("foreign-project", &[("project", id(64), "")]),
        fact("gate-not-granted", &[("gate", id(64), "")]),
        fact("unclassified", &[("why", text(500), "")]),
    ];
    kinds.extend(Weakening::kinds().map(|kind| weakening(kind.as_str())));
    list(&json!({"oneOf": kinds}), 0, 16)
}
