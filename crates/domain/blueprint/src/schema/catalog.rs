use ambit_gates::ReportFormat;
use ambit_ids::limits;
use serde_json::{Value, json};

use super::parts::{
    digest, dollars, id, integer, list, lower_case_word, micro_dollars, object, path, text, versioned, word,
};
use crate::CommandVerdict;

/// Title, metadata and spec.
pub(super) fn parts() -> (&'static str, Value, Value) {
    let spec = object(&[("commands", list(&command(), 1, 256), "The commands.")], &[]);
    ("NamedCommandCatalog: what the name of a gate means", versioned(), spec)
}

fn command() -> Value {
    let argument = json!({"type": "string", "minLength": 1, "maxLength": 4096});
    let mut command = object(
        &[
            ("id", id(64), "The gate."),
            ("summary", text(500), "What it checks."),
            (
                "argv",
                list(&argument, 1, 64),
                "The program and its arguments, passed as they are; no shell unless one is named.",
            ),
            ("image", digest(), "The image that it runs in; a name or a tag is refused."),
            ("resources", resources(), "What one execution may use."),
            ("verdict", word::<CommandVerdict>(), "What decides whether it passed."),
        ],
        &[
            ("environment", environment(), "The whole environment; nothing is inherited."),
            ("workdir", path(), "The working directory within the workspace; its top if left out."),
            ("costUsd", dollars(), "What one execution costs the run, in US dollars; 0 if left out."),
            ("costMicroUsd", micro_dollars(), "The same in micro-dollars, in its place."),
            ("outputs", list(&output(), 0, 64), "Files and directories that are kept from its workspace."),
            ("fixtures", list(&fixture(), 0, 64), "Synthetic data, mounted read-only below /fixtures."),
            (
                "volumes",
                list(&volume(), 0, limits::COMMAND_VOLUMES),
                "Captured packages, mounted read-only below /volumes.",
            ),
            ("report", report(), "What its runner reports for machines; it can take a pass away."),
        ],
    );
    command["not"] = json!({"required": ["costUsd", "costMicroUsd"]});
    command
}

fn environment() -> Value {
    json!({
        "type": "object",
        "propertyNames": {"pattern": "^(?!LD_)[A-Z_][A-Z0-9_]*$", "maxLength": 128},
        "additionalProperties": {"type": "string", "maxLength": 4096},
        "maxProperties": 64,
    })
}

fn resources() -> Value {
    object(
        &[
            ("memoryMib", integer(1, 256 << 10), "Memory of all its processes together, in MiB."),
            ("processes", integer(1, 4096), "Processes and threads."),
            ("cpuMillis", integer(10, 256_000), "Processor share, in thousandths of a processor."),
            ("cpuSeconds", integer(1, 86_400), "Processor time in all."),
            ("wallSeconds", integer(1, 86_400), "Time by the clock."),
            (
                "diskMib",
                integer(1, 1 << 20),
                "MiB written to the workspace and to the temporary volume, each.",
            ),
            ("outputKib", integer(1, 1 << 20), "KiB of standard output and standard error together."),
        ],
        &[(
            "parallelProcesses",
            integer(1, 64),
            "What it counts for against `maxParallelProcesses`; 1 if left out.",
        )],
    )
}

fn output() -> Value {
    object(
        &[
            ("path", path(), "Where."),
            (
                "maxKib",
                integer(1, 64 << 10),
                "The largest that is kept; of a directory, all its files together.",
            ),
        ],
        &[(
            "maxEntries",
            integer(1, limits::OUTPUT_DIRECTORY_ENTRIES.into()),
            "Says that it is a directory, and how many entries it may have below it.",
        )],
    )
}

fn report() -> Value {
    object(
        &[("format", word::<ReportFormat>(), "The format.")],
        &[("output", path(), "The declared output that it is left in; standard output if left out.")],
    )
}

fn fixture() -> Value {
    object(
        &[
            ("name", lower_case_word(), "The name below /fixtures."),
            ("from", path(), "The directory of the base revision that it is taken from."),
        ],
        &[],
    )
}

fn volume() -> Value {
    let name = json!({"type": "string", "pattern": "^[a-z][a-z0-9_-]*$", "maxLength": 64});
    object(
        &[("name", name, "The name below /volumes."), ("digest", digest(), "The volume; a name is refused.")],
        &[],
    )
}
