//! The JSON Schemas of what `ambit backend` and `ambit sandbox run` answer.

use ambit_ports::sandbox::ProbeFamily;
use ambit_sandboxes::FAMILIES;
use serde_json::{Map, Value, json};

/// Each kind of answer with its schema (2020-12).
pub(super) fn schemas() -> [(&'static str, Value); 4] {
    [
        titled(
            "CapabilityManifest",
            "what was measured of a backend, as `ambit backend inspect` answers it",
            manifest(),
        ),
        titled(
            "BackendAdmission",
            "whether a backend is admitted, as `ambit backend admit` answers it",
            admission(),
        ),
        titled(
            "BackendProbes",
            "the probes of a backend by family, as `ambit backend probe` answers them",
            probes(),
        ),
        titled(
            "SandboxRun",
            "one command in a fresh sandbox, as `ambit sandbox run` answers it",
            sandbox_run(),
        ),
    ]
}

pub(super) fn titled(kind: &'static str, about: &str, mut schema: Value) -> (&'static str, Value) {
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["$id"] = json!(format!("urn:ambit:schema:{kind}:v1"));
    schema["title"] = json!(format!("{kind}: {about}"));
    (kind, schema)
}

/// An object with these members and no others; the second may be left out.
pub(super) fn object(required: &[(&str, Value)], optional: &[(&str, Value)]) -> Value {
    let members: Map<String, Value> =
        required.iter().chain(optional).map(|(name, member)| ((*name).to_owned(), member.clone())).collect();
    let names: Vec<&str> = required.iter().map(|(name, _)| *name).collect();
    json!({"type": "object", "properties": members, "required": names, "additionalProperties": false})
}

pub(super) fn text(about: &str) -> Value {
    json!({"type": "string", "description": about})
}

fn whole(about: &str) -> Value {
    json!({"type": "integer", "minimum": 0, "description": about})
}

fn flag(about: &str) -> Value {
    json!({"type": "boolean", "description": about})
}

pub(super) fn list(item: &Value) -> Value {
    json!({"type": "array", "items": item})
}

fn or_null(mut schema: Value) -> Value {
    schema["type"] = json!([schema["type"].take(), "null"]);
    schema
}

fn words(words: &[&str], about: &str) -> Value {
    json!({"enum": words, "description": about})
}

fn digest(about: &str) -> Value {
    json!({"type": "string", "pattern": "^sha256:[0-9a-f]{64}$", "description": about})
}

fn family() -> Value {
    let families: Vec<ProbeFamily> = FAMILIES.to_vec();
    json!({"enum": families, "description": "The family of the probe."})
}

fn probe() -> Value {
    let members = [
        ("id", text("Its stable id.")),
        ("family", family()),
        ("passed", flag("Whether it found what it must find.")),
        ("observed", text("What it saw, with its control where it is a denial.")),
    ];
    object(&members, &[])
}

fn lacks() -> Value {
    let members = [
        ("feature", text("The primitive.")),
        ("consequence", text("What does not hold without it.")),
        ("mend", text("What can be done about it.")),
    ];
    list(&object(&members, &[]))
}

fn advisories() -> Value {
    let members = [
        ("component", text("What has the defect, with its version.")),
        ("id", text("The defect, by its CVE.")),
        ("says", text("Whether it is affected or may be, and what a program could do by it.")),
        ("mend", text("What mends it.")),
    ];
    list(&object(&members, &[]))
}

/// When it was measured, and what the measurement depends on.
fn measured() -> [(&'static str, Value); 2] {
    [
        ("environment", digest("The digest of everything that the measurement depends on.")),
        ("measuredAt", whole("When it was measured, in milliseconds since 1970.")),
    ]
}

fn enforcers() -> Value {
    let by = || words(&["cgroup-v2", "cgroup-v1", "rlimit-per-process"], "By what it is enforced.");
    object(&[("memory", by()), ("processes", by()), ("cpu", by())], &[])
}

fn manifest() -> Value {
    let mut members = vec![
        ("manifestVersion", json!({"const": "v1"})),
        ("backendId", text("The backend.")),
        ("adapterVersion", text("The version of the adapter.")),
        (
            "isolation",
            words(&["dedicated-sandbox-per-run", "unproven"], "What separates one run from another."),
        ),
        (
            "egress",
            words(
                &["deny-all", "explicit-allowlist", "trusted-proxy", "unproven"],
                "What a sandbox can reach.",
            ),
        ),
        (
            "secretDelivery",
            words(
                &["opaque-provider-placeholder", "short-lived-proxy-token", "none-bound", "unproven"],
                "How secrets reach a sandbox.",
            ),
        ),
        (
            "preview",
            words(
                &["disabled", "authenticated", "possession-url-plus-app-auth"],
                "What exposing a port means.",
            ),
        ),
        ("cancellation", words(&["process-stop-then-destroy", "unproven"], "What cancelling does.")),
        ("providerAudit", words(&["available", "not-relied-upon"], "Whether the provider keeps an audit.")),
        ("limits", enforcers()),
        ("evidenceProbes", list(&probe())),
        ("lacks", lacks()),
    ];
    members.extend(measured());
    object(&members, &[("advisories", advisories())])
}

fn admission() -> Value {
    let unmet = object(
        &[
            ("requirement", text("The requirement, as the profile spells it.")),
            ("measured", text("What was measured instead.")),
            ("mend", text("What can be done about it; empty where nothing is known.")),
        ],
        &[],
    );
    let mut members = vec![
        ("backendId", text("The backend.")),
        ("profile", text("The profile.")),
        ("admitted", flag("Whether every requirement is met.")),
        ("unmet", list(&unmet)),
        ("lacks", lacks()),
        ("advisories", advisories()),
    ];
    members.extend(measured());
    object(&members, &[])
}

fn probes() -> Value {
    let family = object(
        &[("family", family()), ("probes", list(&probe())), ("failed", whole("How many of them failed."))],
        &[],
    );
    let mut members = vec![
        ("backendId", text("The backend.")),
        ("adapterVersion", text("The version of the adapter.")),
        ("families", list(&family)),
        ("failed", whole("How many probes failed.")),
        ("familiesAbsent", whole("How many families have no probe.")),
        ("lacks", lacks()),
        ("advisories", advisories()),
    ];
    members.extend(measured());
    object(&members, &[])
}

fn sandbox_run() -> Value {
    let classes = [
        "failed",
        "signal",
        "not-started",
        "aborted",
        "indeterminate",
        "timeout",
        "memory",
        "cpu",
        "pids",
        "disk",
        "output",
    ];
    let mut class = words(&classes, "The class of an end that is no success.");
    class["enum"].as_array_mut().into_iter().for_each(|it| it.push(Value::Null));
    let scope =
        object(&[("organization", text("The organisation.")), ("project", text("The project."))], &[]);
    let trouble = object(&[("code", text("The stable code.")), ("message", text("What happened."))], &[]);
    let limits = ["memoryBytes", "pids", "cpuMillis", "cpuMs", "wallMs", "diskBytes", "outputBytes"];
    let limits: Vec<(&str, Value)> =
        limits.iter().map(|name| (*name, whole("What it was limited to."))).collect();
    let measured = [&[("digest", digest("The manifest, as a blob."))][..], &measured()].concat();
    let anything = |about: &str| json!({"type": "object", "description": about});
    let destruction = object(
        &[("proven", flag("Whether it is proven that nothing of the sandbox is left."))],
        &[
            ("receipt", anything("What was looked at, and how much remains.")),
            ("digest", digest("The receipt, as a blob.")),
            ("error", trouble.clone()),
        ],
    );
    let members = [
        ("scope", scope),
        ("run", text("The id under which the sandbox was allocated. There is no run.")),
        ("lease", anything("The sandbox.")),
        ("profile", text("The profile that the backend had to meet.")),
        ("manifest", object(&measured, &[])),
        ("tree", digest("The tree that it ran on.")),
        ("argv", list(&json!({"type": "string"}))),
        ("limits", object(&limits, &[])),
        ("enforcedBy", enforcers()),
        ("ended", text("How it ended, in words.")),
        ("exitCode", or_null(whole("Its exit code."))),
        ("signal", or_null(whole("The signal that ended it."))),
        ("errorClass", class),
        ("observation", or_null(anything("Everything that was seen of it."))),
        ("error", or_null(trouble)),
        ("destruction", destruction),
    ];
    object(&members, &[])
}
