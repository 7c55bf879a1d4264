//! What the doctor finds of the everyday path: a model, its key, the configuration and the repository.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::rig::Answered;

fn ambit(place: &TempDir, words: &[&str], more: &[(&str, &str)]) -> Answered {
    let at = |name: &str| place.path().join(name);
    let mut command = Command::new(env!("CARGO_BIN_EXE_ambit"));
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("AMBIT_HOME", at("home"))
        .env("XDG_CONFIG_HOME", at("config"))
        .envs(more.iter().copied())
        .current_dir(at("repository"))
        .stdin(Stdio::null())
        .args(words);
    Answered::of(command.output().unwrap())
}

/// What the doctor finds under a name: whether it is well, and everything that is told of it.
fn finding(place: &TempDir, name: &str, more: &[(&str, &str)]) -> Option<(bool, String)> {
    let told = ambit(place, &["doctor", "--json"], more).json();
    let findings = told["findings"].as_array().unwrap().clone();
    let found = findings.into_iter().find(|finding| finding["what"] == name)?;
    let text = |key: &str| found.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    Some((found["ok"] == true, format!("{}; {}", text("found"), text("mend"))))
}

#[track_caller]
fn assert_found(found: Option<(bool, String)>, is_well: bool, parts: &[&str]) {
    let (well, told) = found.expect("a finding");
    assert_eq!(well, is_well, "{told}");
    assert!(parts.iter().all(|part| told.contains(part)), "{parts:?}: {told}");
}

#[test]
fn what_the_next_run_lacks_is_told_with_its_mend() {
    let place = TempDir::new().unwrap();
    let at = |name: &str| place.path().join(name);
    fs::create_dir(at("repository")).unwrap();
    assert_eq!(finding(&place, "repository", &[]), None, "nothing here can be checked");
    fs::create_dir(at("repository/.git")).unwrap();
    fs::write(at("repository/a.js"), "").unwrap();
    fs::write(at("repository/package.json"), "{\"scripts\": {\"test\": \"pnpm x | cat\"}}").unwrap();

    assert_found(finding(&place, "model", &[]), false, &["agent.yaml", "ambit model use MODEL"]);
    let set = [("ANTHROPIC_API_KEY", "sk-canary")];
    assert_found(
        finding(&place, "model", &set),
        false,
        &["ANTHROPIC_API_KEY is set", "ambit model use claude"],
    );
    ambit(&place, &["model", "use", "claude-opus-5"], &[]).well();
    assert_found(finding(&place, "model", &[]), false, &["ANTHROPIC_API_KEY"]);
    assert_found(finding(&place, "model", &set), true, &["claude-opus-5 over anthropic-messages"]);

    let bare = [("PATH", "/nowhere")];
    assert_found(finding(&place, "repository", &bare), false, &["node", "pnpm", "install it"]);
    let exposed = at("repository");
    let exposed = [("XDG_CONFIG_HOME", exposed.to_str().unwrap())];
    assert_found(
        finding(&place, "configuration", &exposed),
        false,
        &["which a run would read", "XDG_CONFIG_HOME"],
    );
    let page = ambit(&place, &["doctor"], &exposed).out;
    assert!(page.contains("\nwrong    configuration"), "{page}");
    assert_eq!(finding(&place, "configuration", &[]), None);
    // Where nothing can be checked no run would read it.
    fs::create_dir(at("repository/sub")).unwrap();
    fs::remove_dir_all(at("repository/.git")).unwrap();
    fs::remove_file(at("repository/package.json")).unwrap();
    fs::remove_file(at("repository/a.js")).unwrap();
    assert_eq!(finding(&place, "configuration", &exposed), None);
}
