use ambit_policy::{Capability, LifecycleStage, Plane, ToolName};
use serde_json::Value;

use super::parts::{
    digest, facts, id, integer, list, lower_case_word, object, one_of, path, patterns, run_budget, set, text,
    word,
};
use crate::ExpectedOutcome;

/// Title, metadata and spec.
pub(super) fn parts() -> (&'static str, Value, Value) {
    let metadata = object(
        &[
            ("name", id(64), "The blueprint within its project."),
            ("version", integer(1, u32::MAX.into()), "Its version; a wider scope takes a new one."),
            ("title", text(200), "What people call it."),
        ],
        &[],
    );
    let spec = object(
        &[
            ("goal", text(4000), "What is to be reached."),
            (
                "stage",
                word::<LifecycleStage>(),
                "The stage of the lifecycle; a run is admitted for `generate` alone.",
            ),
            ("accountability", accountability(), "Who answers for it."),
            ("acceptanceCases", list(&acceptance_case(), 1, 64), "What must hold in the end."),
            ("scope", scope(), "What a run may change."),
            ("protectedOracles", oracles(), "What no patch may touch, and what is a test."),
            (
                "gates",
                list(&gate(), 1, 32),
                "From the cheapest to the dearest; together they cover every case.",
            ),
            ("dependencies", dependencies(), "Where dependencies are declared, and which may be added."),
            ("runBudget", run_budget(true), "What a run may use."),
            (
                "archetypeProbes",
                list(&probe(), 0, 64),
                "Proposals of other kinds of applications; nothing is executed.",
            ),
            (
                "boundaryMap",
                list(&boundary(), Plane::ALL.len(), Plane::ALL.len()),
                "Who holds what, plane by plane.",
            ),
        ],
        &[("authorizes", list(&authorization(), 0, 128), "Protected paths that this very version opens.")],
    );
    ("Blueprint: what a customer approved to be built", metadata, spec)
}

fn accountability() -> Value {
    let cleanup = object(
        &[
            ("obligation", text(1000), "What must be removed in the end."),
            ("afterDays", integer(0, 3650), "Days after the end of a run by which it is done."),
        ],
        &[],
    );
    object(
        &[
            ("owner", text(200), "Who owns the work of this stage."),
            ("laterOwner", text(200), "Who owns the result in the next stage."),
            ("cleanup", cleanup, "What must be cleaned up."),
        ],
        &[],
    )
}

fn acceptance_case() -> Value {
    object(
        &[("id", id(64), "How plans and gates cite it."), ("statement", text(1000), "What must hold.")],
        &[],
    )
}

fn scope() -> Value {
    object(
        &[
            ("paths", patterns(1), "What a patch may touch."),
            ("work", set(&lower_case_word(), 1, 32), "The kinds of work that a plan step may declare."),
            ("outOfScope", set(&lower_case_word(), 0, 32), "Kinds that are named to be refused."),
        ],
        &[],
    )
}

fn oracles() -> Value {
    object(
        &[
            ("paths", patterns(0), "What no patch may touch."),
            (
                "testPaths",
                patterns(0),
                "What is a test: assertions are counted and skips are looked for there.",
            ),
        ],
        &[],
    )
}

fn gate() -> Value {
    object(
        &[
            ("id", id(64), "The gate, and the command of that name in the catalog."),
            ("cases", set(&id(64), 0, 64), "The cases that its passing speaks for."),
        ],
        &[
            ("hiddenCheck", id(64), "A command that must pass too and that no agent can name or see."),
            ("hiddenFiles", hidden_files(), "Files that lie over the source for the hidden check alone."),
        ],
    )
}

fn hidden_files() -> Value {
    object(
        &[
            ("from", path(), "The folder, seen from that of the blueprint."),
            ("digest", digest(), "The digest of the folder."),
        ],
        &[],
    )
}

fn dependencies() -> Value {
    let name = serde_json::json!({"type": "string", "pattern": "^\\S+$", "maxLength": 200});
    object(
        &[
            ("manifests", patterns(0), "Where dependencies are declared."),
            ("approved", set(&name, 0, 256), "What may be added without an approval of its own."),
        ],
        &[],
    )
}

fn probe() -> Value {
    let plan_step = object(
        &[("work", lower_case_word(), ""), ("cases", set(&id(64), 0, 32), "They need not be known.")],
        &[],
    );
    let tool_call = object(&[("tool", word::<ToolName>(), ""), ("facts", facts(), "")], &[]);
    let case = one_of(&[
        ("planStep", plan_step, "A step of a plan."),
        ("toolCall", tool_call, "A call."),
        ("capability", word::<Capability>(), "A request for a capability."),
    ]);
    object(
        &[
            ("id", id(64), "The probe."),
            ("archetype", lower_case_word(), "The kind of application."),
            ("case", case, "What is proposed."),
            ("expect", word::<ExpectedOutcome>(), "What the contract must answer."),
        ],
        &[],
    )
}

fn boundary() -> Value {
    object(
        &[
            ("plane", word::<Plane>(), "The plane."),
            ("holds", text(1000), "The authority and data that lie there."),
            ("grantedBy", text(200), "Who grants and revokes it."),
        ],
        &[],
    )
}

fn authorization() -> Value {
    let pattern = patterns(0)["items"].clone();
    object(&[("path", pattern, "The paths."), ("why", text(1000), "Why they are open.")], &[])
}
