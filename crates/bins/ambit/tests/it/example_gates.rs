//! The protected gates of the example against patches that attack the process which decides.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::rig::{Project, meets_secure_generation};

const GATE: &str = "unit.todo-idempotency";

/// Writes code that ends with status 0 over what the parent calls next, as far as its memory lets itself be written.
#[cfg(target_arch = "x86_64")]
const SEIZE: &str = "import ctypes, os

def _libc(pid):
    with open(f'/proc/{pid}/maps') as maps:
        return next(int(line.split('-')[0], 16) for line in maps if 'libc.so' in line or 'libc-' in line)

_there = _libc(os.getppid()) - _libc('self')
with open(f'/proc/{os.getppid()}/mem', 'r+b', buffering=0) as _memory:
    for _name in ('read', 'select', 'pselect', 'write'):
        _memory.seek(ctypes.cast(getattr(ctypes.CDLL(None), _name), ctypes.c_void_p).value + _there)
        _memory.write(bytes.fromhex('31ffb8e70000000f05'))
";

/// What the guard tells of a patch, so that its gate never runs, and the same where only the gate is left to find it out.
const HIDDEN: [(&str, &str); 4] = [
    ("os._exit(0)", "getattr(os, \"_ex\" + \"it\")(0)"),
    ("import unittest\n", "import dataclasses as _found\n"),
    ("_pass(test: unittest.TestCase, result: unittest.TestResult)", "_pass(test, result)"),
    (
        "unittest.TestCase.run = _pass",
        "setattr(vars(vars(_found)[\"__built\" + \"ins__\"][\"__im\" + \"port__\"](\"unit\" + \"test\"))[\"Te\" + \"stCase\"], \"r\" + \"un\", _pass)",
    ),
];

/// The example, with its blueprint approved and its catalog pinned to an image with Python.
struct Example(Project);

impl Example {
    fn new() -> Self {
        let example = Self(Project::empty());
        let source = example.source();
        let said = |words: &[&str]| example.0.ambit(words).well().out;
        said(&["image", "capture", "--name", "python", "python3", "sh"]);
        let catalog = source.join("ambit/named-commands.yaml");
        let pinned = said(&["catalog", "pin", catalog.to_str().unwrap(), "--image", "python"]);
        example.0.write("catalog.yaml", &pinned);
        said(&["approver", "init", "--name", "ada", "--out", "approver.key"]);
        example.0.approve(source.join("ambit/bp-1.yaml").to_str().unwrap()).well();
        example
    }

    fn source(&self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/workboard").canonicalize().unwrap()
    }

    /// Runs the gate on a base with a patch, and returns how it ended and what it said.
    fn gate(&self, name: &str, base: &Path, patch: &Path) -> (Value, String) {
        self.0.write(
            &format!("{name}.yaml"),
            &format!(
                "apiVersion: coding-agent.enterprise/v1\nkind: AgentTranscript\nmetadata: {{ name: tested }}\nspec:\n  \
                 turnQuoteUsd: 0.01\n  turns:\n    - say: {{ plan: [{{ id: s1, summary: Complete, work: domain, cases: \
                 [AC-1] }}] }}\n    - {{ patch: {name}.patch, step: s1 }}\n    - gate: {GATE}\n  then: finish\n"
            ),
        );
        let text = HIDDEN.iter().fold(std::fs::read_to_string(patch).unwrap(), |text, (plain, hidden)| {
            text.replace(plain, hidden)
        });
        std::fs::write(self.0.path(&format!("{name}.patch")), text).unwrap();
        let profile = if meets_secure_generation() { "secure-generation-v1" } else { "laptop-v1" };
        let agent = format!("{name}.yaml");
        let words = [
            &["run", "start", name, "--blueprint", "bp-1", "--base", base.to_str().unwrap()][..],
            &["--catalog", "catalog.yaml", "--agent", &agent, "--profile", profile],
        ];
        self.0.ambit(words.concat());
        let gate = self.0.show(name)["gates"][0].take();
        assert_eq!((&gate["gate"], gate["attempts"].as_array().unwrap().len()), (&GATE.into(), 1), "{gate}");
        self.0.ambit(["run", "export", name, "--out", &format!("{name}-out")]).well();
        let said = self.0.path(&format!("{name}-out/gates/{GATE}-1/stderr"));
        (gate["attempts"][0]["ended"].clone(), std::fs::read_to_string(said).unwrap())
    }
}

#[test]
fn a_patch_that_ends_or_rules_its_process_does_not_make_the_gate_pass() {
    let example = Example::new();
    let (base, patches) = (example.source().join("base"), example.source().join("patches"));
    let (ended, said) = example.gate("honest", &base, &patches.join("10-complete-domain-correct.patch"));
    assert_eq!(ended, "passed", "{said}");
    for (name, told) in [
        ("exit-early", "NoAnswer: the application ended with status 0 before it answered"),
        ("replace-test-runner", "NotImplementedError: the feature is absent"),
    ] {
        let (ended, said) = example.gate(name, &base, &patches.join(format!("bad/{name}.patch")));
        assert!(ended == "exit 1" && said.contains(told), "{name}: {ended}\n{said}");
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_patch_cannot_write_into_the_process_that_decides() {
    let example = Example::new();
    let open = example.0.path("open");
    let copied = Command::new("cp").arg("-R").arg(example.source().join("base")).arg(&open).status();
    assert!(copied.unwrap().success());
    let shield = open.join("tools/shield.py");
    let text = std::fs::read_to_string(&shield).unwrap();
    let (set, get) = ("prctl(PR_SET_DUMPABLE, 0,", "prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0");
    assert!(text.contains(set) && text.contains(get), "{text}");
    let lifted = text.replace(set, "prctl(PR_SET_DUMPABLE, 1,").replace(get, &get.replace("!= 0", "!= 1"));
    std::fs::write(&shield, lifted).unwrap();

    let patch = example.0.path("seize");
    let added: String = SEIZE.lines().map(|line| format!("+{line}\n")).collect();
    let head = "--- a/workboard/domain.py\n+++ b/workboard/domain.py\n@@ -4,3 +4,";
    let count = SEIZE.lines().count() + 3;
    std::fs::write(
        &patch,
        format!("{head}{count} @@\n \n import re\n{added} from dataclasses import dataclass, replace\n"),
    )
    .unwrap();
    let (ended, said) = example.gate("unshielded", &open, &patch);
    assert_eq!(ended, "passed", "this is how it would be done: {said}");
    let (ended, said) = example.gate("shielded", &example.source().join("base"), &patch);
    assert!(ended == "exit 1" && said.contains("PermissionError"), "{ended}\n{said}");
}
