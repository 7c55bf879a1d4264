use ambit_policy::Capability;
use ambit_revision::Touch;
use ambit_run::Phase;
use serde_json::{Map, Value, json};

use super::KIND;

/// The JSON Schema (2020-12) of the artifacts of a run. What it cannot say is that the document is canonical JSON, and that
/// an execution passed exactly where it exited with 0.
#[must_use]
pub fn schema() -> Value {
    let mut schema = object(
        &[
            (
                "kind",
                json!({"const": "RunArtifacts/v1", "description": "The kind and version of the document."}),
            ),
            ("run", text("The run.")),
            ("phase", words(Phase::ALL.iter().map(|phase| phase.as_str()), "The phase that it is in.")),
            ("previewReady", flag("Whether its revision is preview-ready.")),
            ("blueprint", digest("The blueprint that it was admitted under.")),
            ("base", tree("What it started from.")),
            ("head", tree("What it led to.")),
            ("patch", patch()),
            ("touched", list(&touched(), "The files that differ between base and head, sorted by path.")),
            ("verification", list(&check(), "Every execution of a gate, and then of a hidden check.")),
            ("approvals", list(&approval(), "Every call that was held back for a person.")),
            ("budget", budget()),
        ],
        &[("stop", json!({"type": "object", "description": "Why it ended.", "required": ["code"]}))],
    );
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["$id"] = json!("urn:ambit:schema:RunArtifacts:v1");
    schema["title"] = json!(format!("{KIND}: what a run made, as `ambit run export` writes it"));
    schema
}

/// An object with these members, the second of which may be left out.
fn object(required: &[(&str, Value)], optional: &[(&str, Value)]) -> Value {
    let members: Map<String, Value> =
        required.iter().chain(optional).map(|(name, member)| ((*name).to_owned(), member.clone())).collect();
    let names: Vec<&str> = required.iter().map(|(name, _)| *name).collect();
    json!({"type": "object", "properties": members, "required": names, "additionalProperties": false})
}

fn described(mut schema: Value, about: &str) -> Value {
    schema["description"] = json!(about);
    schema
}

fn list(item: &Value, about: &str) -> Value {
    json!({"type": "array", "items": item, "description": about})
}

fn text(about: &str) -> Value {
    json!({"type": "string", "description": about})
}

fn flag(about: &str) -> Value {
    json!({"type": "boolean", "description": about})
}

fn number(about: &str) -> Value {
    json!({"type": "integer", "minimum": 0, "description": about})
}

fn digest(about: &str) -> Value {
    json!({"type": "string", "pattern": "^sha256:[0-9a-f]{64}$", "description": about})
}

fn words<'a>(words: impl Iterator<Item = &'a str>, about: &str) -> Value {
    json!({"enum": words.collect::<Vec<_>>(), "description": about})
}

fn tree(about: &str) -> Value {
    let commit = json!({
        "type": "string", "pattern": "^([0-9a-f]{40}|[0-9a-f]{64})$",
        "description": "The commit of git that it was imported from, where that is known.",
    });
    let members = [("revision", text("The revision.")), ("tree", digest("Its tree."))];
    described(object(&members, &[("commit", commit)]), about)
}

fn patch() -> Value {
    let applied = object(
        &[
            ("base", digest("The tree before.")),
            ("tree", digest("The tree after.")),
            ("proposed", digest("The patch as the agent wrote it.")),
            ("canonical", digest("The patch derived from the two trees.")),
            ("files", list(&text("A path."), "The files that it changed.")),
            ("changedFromBase", number("The files that differ from the base after it.")),
            ("addedDependencies", number("The dependencies that the base did not have, after it.")),
        ],
        &[],
    );
    let members = [
        ("digest", digest("The canonical patch from base to head.")),
        ("sizeBytes", number("Its size.")),
        ("applied", list(&applied, "The patches that led there, one after the other.")),
    ];
    described(object(&members, &[]), "What turns base into head.")
}

fn touched() -> Value {
    let file = |about| {
        let members = [
            ("kind", words(["file", "executable", "link"].into_iter(), "What it is.")),
            ("content", digest("Its content.")),
            ("size", number("The size of its content in bytes.")),
        ];
        described(object(&members, &[]), about)
    };
    object(
        &[
            ("path", text("The path after; of a file that is gone, the path before.")),
            ("touch", words(Touch::ALL.iter().map(|touch| touch.as_str()), "What became of it.")),
        ],
        &[
            ("from", text("For a file that was renamed, the path before.")),
            ("before", file("What it was.")),
            ("after", file("What it is.")),
        ],
    )
}

fn check() -> Value {
    let log = |about| {
        let members = [
            ("digest", digest("What was kept.")),
            ("sizeBytes", number("Its size.")),
            ("cut", flag("Whether the limit on output was reached.")),
        ];
        described(object(&members, &[]), about)
    };
    object(
        &[
            ("gate", text("The gate.")),
            (
                "attempt",
                json!({"type": "integer", "minimum": 0, "description": "Which execution of it, from 1."}),
            ),
            ("hidden", flag("Whether the agent does not know of it.")),
            ("command", list(&text("A word."), "The program and its arguments.")),
            ("verdict", words(["passed", "failed"].into_iter(), "What it says of the tree.")),
            ("ending", json!({"description": "How it ended."})),
            ("tree", digest("The tree that it ran on.")),
            ("durationMs", number("From start to end, in milliseconds.")),
            ("observation", digest("The whole observation.")),
            ("stdout", log("Its standard output.")),
            ("stderr", log("Its standard error.")),
        ],
        &[
            (
                "exit",
                json!({"type": "integer", "minimum": 0, "maximum": 255, "description": "The exit code."}),
            ),
            ("objections", list(&objection(), "What takes from it that it exited with 0.")),
        ],
    )
}

fn objection() -> Value {
    json!({
        "type": "object",
        "description": "The code, and the files or tests that it names.",
        "properties": {"code": {"type": "string", "pattern": "^GATE_[A-Z_]+$"}},
        "required": ["code"],
    })
}

fn approval() -> Value {
    let members = [
        ("receipt", text("The receipt.")),
        ("expiresMs", number("When it ends, in milliseconds since 1970.")),
        ("used", flag("Whether it was used.")),
    ];
    object(
        &[
            ("proposal", text("The proposal.")),
            ("capability", words(Capability::ALL.iter().map(|word| word.as_str()), "What it needs.")),
            ("patch", digest("The patch that it is about.")),
            ("tree", digest("The tree that would result.")),
        ],
        &[("granted", described(object(&members, &[]), "What was granted."))],
    )
}

fn budget() -> Value {
    let amounts = |names: &[&str], about| {
        let members: Vec<(&str, Value)> =
            names.iter().map(|name| (*name, json!({"type": "integer", "minimum": 0}))).collect();
        described(object(&members, &[]), about)
    };
    let limits = [
        "maxModelSteps",
        "maxPatchAttemptsPerGate",
        "maxElapsedMs",
        "maxChangedFiles",
        "maxAddedDependencies",
        "maxParallelProcesses",
        "maxToolCostMicroUsd",
        "stopOnRepeatedFailureFingerprint",
        "maxOutputBytes",
        "maxSideEffects",
    ];
    let spent = ["modelSteps", "microUsd", "outputBytes", "sideEffects", "processes"];
    let members = [
        ("limits", amounts(&limits, "The limits, each in the unit of its name.")),
        ("spent", amounts(&spent, "What was used of the additive ones.")),
    ];
    described(object(&members, &[]), "What could be used, and what was.")
}
