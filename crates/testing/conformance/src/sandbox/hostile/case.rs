use std::path::{Path, PathBuf};

/// One hostile command.
#[derive(Clone, Debug)]
pub(super) struct Case {
    /// Its name.
    pub(super) id: String,
    /// What a shell is told.
    pub(super) command: String,
    /// What must come of it, in words.
    pub(super) expect: String,
}

/// The file with the cases.
///
/// # Panics
/// Where it is absent and `AMBIT_REQUIRE_CASES` is `1`.
#[must_use]
pub fn cases() -> PathBuf {
    let root = std::env::var_os("AMBIT_CASES").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/cases"),
        PathBuf::from,
    );
    root.join("hostile/probes.jsonl")
}

/// Whether the cases are not on this machine, which is said.
///
/// # Panics
/// Where they are absent and `AMBIT_REQUIRE_CASES` is `1`.
#[must_use]
#[expect(clippy::print_stdout, reason = "a check that was left out must be seen in what the test said")]
pub fn is_absent() -> bool {
    let absent = !cases().exists();
    if absent {
        let required = std::env::var_os("AMBIT_REQUIRE_CASES").is_some_and(|value| value == "1");
        assert!(!required, "{} is required", cases().display());
        println!("skipped: CASES_ABSENT hostile");
    }
    absent
}

/// Every case, in the order of the file.
pub(super) fn read() -> Vec<Case> {
    let text = std::fs::read_to_string(cases()).unwrap();
    text.lines().filter(|line| !line.trim().is_empty()).map(parse).collect()
}

fn parse(line: &str) -> Case {
    let line: serde_json::Value = serde_json::from_str(line).unwrap();
    let field = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
    let case = Case { id: field("id"), command: field("cmd"), expect: field("expect") };
    assert!(!case.id.is_empty() && !case.command.is_empty(), "{line}");
    case
}
