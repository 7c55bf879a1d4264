//! The words of the README, as they stand there.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

const README: &str = include_str!("../../../../../README.md");

/// The commands of a section, as a person would copy them.
fn block(heading: &str) -> &'static str {
    let (_, section) = README.split_once(heading).unwrap();
    let (_, block) = section.split_once("```sh\n").unwrap();
    block.split_once("```").unwrap().0
}

#[test]
fn the_way_to_a_directory_of_ones_own_works_as_it_is_written() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().unwrap();
    let place = TempDir::new().unwrap();
    let at = |name: &str| place.path().join(name);
    for dir in ["bin", "home"] {
        std::fs::create_dir(at(dir)).unwrap();
    }
    symlink(env!("CARGO_BIN_EXE_ambit"), at("bin/ambit")).unwrap();
    symlink(root.join("examples"), at("examples")).unwrap();
    let said: Vec<&str> =
        block("## Your own directory").lines().filter(|line| !line.starts_with("alias ambit=")).collect();
    let path = format!("{}:{}", at("bin").display(), std::env::var("PATH").unwrap());
    let mut script = String::from("set -e\n") + &said.join("\n");
    if !crate::rig::meets_secure_generation() {
        script = script.replace("--blueprint bp-1", "--blueprint bp-1 --profile laptop-v1");
    }
    let done = Command::new("sh")
        .args(["-c", &script])
        .env_clear()
        .envs([("PATH", path.as_str()), ("HOME", at("home").to_str().unwrap())])
        .current_dir(place.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{out}\n{err}");
    assert!(out.contains("rev-1 is preview-ready") && out.contains("proved"), "{out}");
    assert!(at("first-bundle/trace.jsonl").exists() && at("home/.local/share/ambit/store.sqlite").exists());
}
