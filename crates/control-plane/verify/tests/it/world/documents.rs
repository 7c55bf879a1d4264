use ambit_blueprint::{Blueprint, Document};
use ambit_ids::{ByteCount, Digest};
use ambit_revision::{Contents, FileKind, Tree, TreeFile};

const BLUEPRINT: &str = "
apiVersion: coding-agent.enterprise/v1
kind: Blueprint
metadata: {name: bp-1, version: 1, title: Finish the application}
spec:
  goal: The application says that it is done.
  stage: generate
  accountability:
    owner: team
    laterOwner: preview team
    cleanup: {obligation: Remove what is left., afterDays: 30}
  acceptanceCases:
    - {id: AC-1, statement: It is done.}
    - {id: AC-2, statement: It stands on a library.}
  scope:
    paths: [src/**, requirements.txt, tests/unit/**]
    work: [domain, tests]
    outOfScope: [deployment]
  protectedOracles:
    paths: [tests/protected/**]
    testPaths: [tests/**]
  gates:
    - {id: unit, cases: [AC-1]}
    - {id: integration, cases: [AC-2], hiddenCheck: secret-check, hiddenFiles: {from: covert, digest: HIDDEN}}
  dependencies: {manifests: [requirements.txt], approved: []}
  runBudget:
    maxModelSteps: 24
    maxPatchAttemptsPerGate: 4
    maxElapsedMinutes: 30
    maxChangedFiles: 12
    maxAddedDependencies: 1
    maxParallelProcesses: 2
    maxToolCostUsd: 4.00
    stopOnRepeatedFailureFingerprint: 2
    maxOutputBytes: 4194304
    maxSideEffects: 48
  archetypeProbes: []
  boundaryMap:
    - {plane: control-plane, holds: runs, grantedBy: approval}
    - {plane: hosted-runtime, holds: one sandbox, grantedBy: a lease}
    - {plane: generated-application, holds: nothing, grantedBy: nothing here}
    - {plane: connector-source, holds: nothing, grantedBy: nothing here}
";

pub(crate) fn image() -> Digest {
    Digest::of(b"the image")
}

/// A command that passes where `file` of the tree holds `text`, as the sandbox of these tests understands it.
fn command(id: &str, file: &str, text: &str, outputs: &str) -> String {
    format!(
        "
    - id: {id}
      summary: Whether {file} says it.
      argv: [holds, {file}, {text}]
      image: {}
      environment: {{PATH: /bin}}
      resources:
        memoryMib: 64
        processes: 4
        cpuMillis: 1000
        cpuSeconds: 5
        wallSeconds: 5
        diskMib: 8
        outputKib: 64
        parallelProcesses: 1
      costUsd: 0.001
      outputs: [{outputs}]
      fixtures: []
      verdict: exit-status",
        image()
    )
}

const UNIT_OUTPUTS: &str = "{path: build/report.txt, maxKib: 16}, {path: build/tests.tap, maxKib: 16}";
/// The file of the hidden check, and a word of it.
const HIDDEN_FILE: (&str, &str) = ("covert/word.txt", "covert");

/// The files of the hidden check.
pub(crate) fn hidden() -> (Tree, Contents) {
    let mut contents = Contents::new();
    let text = format!("assert {}\n", HIDDEN_FILE.1);
    let content = contents.insert(text.as_bytes().to_vec());
    let file = TreeFile { kind: FileKind::File, content, size: ByteCount::new(text.len() as u64) };
    (Tree::from_files([(HIDDEN_FILE.0.parse().unwrap(), file)]).unwrap(), contents)
}

pub(crate) fn catalog() -> Document {
    let commands = [
        command("unit", "src/app.py", "done = True", UNIT_OUTPUTS)
            .replace("verdict:", "report: {format: tap, output: build/tests.tap}\n      verdict:"),
        command("integration", "requirements.txt", "library", ""),
        command("secret-check", HIDDEN_FILE.0, HIDDEN_FILE.1, ""),
    ];
    let head = "apiVersion: coding-agent.enterprise/v1\nkind: NamedCommandCatalog\n\
                metadata: {name: named-commands, version: 3}\nspec:\n  commands:";
    Document::parse("named-commands", format!("{head}{}\n", commands.concat()).as_bytes()).unwrap()
}

pub(crate) fn blueprint() -> Blueprint {
    let (hidden, _) = hidden();
    Blueprint::parse("bp-1", BLUEPRINT.replace("HIDDEN", &hidden.digest().to_string()).as_bytes()).unwrap()
}
