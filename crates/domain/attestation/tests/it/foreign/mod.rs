//! Programs of others judge what is made here, and what becomes of it in other hands.

mod envelopes;
mod layouts;
mod openssl;
mod statements;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// Where `cargo xtask test --install` puts the packages of this language, if they are those that the lock names.
fn packages(language: &str) -> Option<PathBuf> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let folder = target.join("judges").join(language);
    let lock = match language {
        "python" => include_str!("../../foreign/requirements.txt"),
        _ => include_str!("../../foreign/package-lock.json"),
    };
    let installed = std::fs::read_to_string(folder.join(".installed")).ok();
    if installed.as_deref() != Some(lock) {
        println!("skipped: JUDGES_ABSENT {language}");
        return None;
    }
    Some(folder)
}

fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign")
}

fn python(packages: &Path) -> Command {
    let mut python = Command::new("python3");
    // Compiled once into its own folder, Python's packages load in a third of the time.
    python.env("PYTHONPATH", packages).env_remove("PYTHONDONTWRITEBYTECODE");
    python
}

/// What a judge says of every case in the folder.
fn verdicts(command: &mut Command) -> BTreeMap<String, String> {
    let Output { status, stdout, stderr } = command.output().unwrap();
    assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
    serde_json::from_slice(&stdout).unwrap()
}

fn write(folder: &Path, name: &str, bytes: &[u8]) {
    std::fs::write(folder.join(name), bytes).unwrap();
}

fn write_cases(folder: &Path, cases: &[Value]) {
    write(folder, "cases.json", &serde_json::to_vec(cases).unwrap());
}

/// Holds verdicts against what must have come of each case: accepted, or refused by a text that begins so.
fn hold(verdicts: &BTreeMap<String, String>, expected: &[(&str, &str)]) {
    let refused = expected.iter().filter(|(_, verdict)| *verdict != ACCEPTED).count();
    assert!(refused >= 10, "only {refused} refusals are asked for");
    assert!(expected.len() > refused, "a refusal counts only beside what is accepted");
    assert_eq!(verdicts.len(), expected.len(), "{verdicts:#?}");
    let other: Vec<_> = expected
        .iter()
        .filter(|(name, begins)| !verdicts[*name].starts_with(begins))
        .map(|(name, begins)| (name, &verdicts[*name], begins))
        .collect();
    assert!(other.is_empty(), "what was judged, what was said of it, and how that must begin: {other:#?}");
}

const ACCEPTED: &str = "accepted";
