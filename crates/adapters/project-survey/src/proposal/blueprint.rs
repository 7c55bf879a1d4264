use ambit_ids::MicroUsd;
use std::fmt::Write as _;

use super::yaml::{list, quoted};
use crate::gate::{GateKind, ProposedGate};
use crate::plan::Plan;

/// The name of the template. No run starts under it: each goal makes a blueprint with a name of its own.
pub const TEMPLATE_NAME: &str = "template";

impl Plan {
    /// The template of the blueprints of all goals. `owner` answers for what runs make; text that cannot be told to
    /// people is left out of it.
    #[must_use]
    pub fn blueprint(&self, owner: &str) -> String {
        let owner: String = owner.chars().filter(|c| !ambit_ids::is_unprintable(*c)).take(50).collect();
        let owner = quoted(if owner.trim().is_empty() { "user" } else { owner.trim() });
        let mut text = format!("{HEAD}{}", self.cases());
        let _ = write!(
            text,
            "  accountability:\n    owner: {owner}\n    laterOwner: {owner}\n    cleanup:\n      obligation: Delete the \
             sandbox of every run at its end, and what was not accepted after the days below.\n      afterDays: 30\n"
        );
        text.push_str("  scope:\n    # What a patch may touch. A narrower list is safer; new files at other places need a wider one.\n");
        text.push_str(&list("paths", &self.scope, 4));
        text.push_str("    work: [source, tests, documentation]\n    outOfScope: [deployment]\n");
        text.push_str("  protectedOracles:\n    # What decides whether the work is done: no patch may touch it, whatever the goal says.\n");
        text.push_str(&list("paths", &self.protected, 4));
        text.push_str("    # Here assertions are counted and skips are looked for.\n");
        text.push_str(&list("testPaths", &self.test_paths, 4));
        text.push_str("  dependencies:\n");
        text.push_str(&list("manifests", &self.manifests, 4));
        text.push_str("    # What may be added without asking, by name; and below, in `maxAddedDependencies`, how many.\n    approved: []\n");
        text.push_str(&self.budget());
        text.push_str(TAIL);
        text
    }

    fn cases(&self) -> String {
        let well_formed = self.gates.iter().any(|gate| gate.kind != GateKind::Test);
        let has_tests = self.has_tests();
        let mut text = String::from("  acceptanceCases:\n");
        let mut case = |id: &str, statement: &str| {
            let _ = writeln!(text, "    - id: {id}\n      statement: {statement}");
        };
        match has_tests {
            true => case("AC-1", "What the goal asks for is there, and every test of the project passes."),
            false => case("AC-1", "What the goal asks for is there. No test was found that could show it."),
        }
        if well_formed {
            case("AC-2", "The source is well-formed.");
        }
        text.push_str("  # From cheap to dear. Each id is a command of commands.yaml.\n  gates:\n");
        for gate in &self.gates {
            let cases = match (gate.kind, has_tests) {
                (GateKind::Test, _) => "AC-1",
                (_, true) => "AC-2",
                (_, false) => "AC-1, AC-2",
            };
            let ProposedGate { id, .. } = gate;
            let _ = writeln!(text, "    - id: {}\n      cases: [{cases}]", quoted(id));
        }
        text
    }

    fn budget(&self) -> String {
        format!(
            "  # Whichever is reached first ends a run. `run start` can lower turns and money further.
  runBudget:
    maxModelSteps: {RUN_TURNS}
    maxPatchAttemptsPerGate: 5
    maxElapsedMinutes: {}
    maxChangedFiles: {RUN_CHANGED_FILES}
    maxAddedDependencies: 0
    maxParallelProcesses: 1
    maxToolCostUsd: {RUN_COST}
    stopOnRepeatedFailureFingerprint: 3
    maxOutputBytes: 33554432
    maxSideEffects: 80
",
            self.elapsed_minutes
        )
    }
}

/// The turns that a run may have.
pub const RUN_TURNS: u32 = 40;
/// The files that a run may change.
pub const RUN_CHANGED_FILES: u32 = 20;
/// What a run may cost. A turn of a dear model reserves a quarter of it.
pub const RUN_COST: MicroUsd = MicroUsd::new(4_000_000);

const HEAD: &str = r#"# What every run on this repository may do. `ambit run start "GOAL"` makes a blueprint of its own from it for each
# goal, with the goal in the place of the one below. Read it, change it, commit it. A change is shown and has to be
# agreed to before the next run starts. Every key, with its range: `ambit blueprint new` and docs/documents.md.
apiVersion: coding-agent.enterprise/v1
kind: Blueprint
metadata:
  name: template
  version: 1
  title: The goal of a run stands here
spec:
  goal: The goal of a run stands here.
  stage: generate
"#;

const TAIL: &str = "  archetypeProbes: []
  boundaryMap:
    - plane: control-plane
      holds: The run, its approvals and its evidence.
      grantedBy: Whoever typed the goal.
    - plane: hosted-runtime
      holds: One sandbox with one revision of this repository, without a network.
      grantedBy: The lease of one run.
    - plane: generated-application
      holds: Nothing yet.
      grantedBy: Nobody in this stage.
    - plane: connector-source
      holds: Nothing.
      grantedBy: Nobody in this stage.
";
