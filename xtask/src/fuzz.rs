//! `cargo xtask fuzz`: looks for inputs that break a property, led by the code that they reach.
//!
//! Stable Rust is enough: LLVM's `sancov-module` pass, which rustc runs when asked, does what libFuzzer needs. The targets
//! are built apart, with overflow checks and debug assertions and without a sanitizer: the domain holds no unsafe code.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::arguments::Arguments;
use crate::cargo::{self, TESTED};
use crate::failure::Failure;
use crate::verdict::Verdict;
use crate::workspace::Workspace;

/// Where the kept inputs lie, a folder for each property.
const CORPUS: &str = "crates/testing/fuzz/corpus";
/// For how long a property is tried, in seconds, where nothing else is asked.
const SECONDS: u64 = 60;
/// How many bytes an input has at most: enough for two files and a patch of several hunks.
const INPUT_BYTES: u32 = 4096;
const INSTRUMENTED: &[&str] = &[
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=1",
    "-Cdebug-assertions",
    "-Coverflow-checks",
];

pub(crate) fn run(words: &[String]) -> Result<Verdict, Failure> {
    let mut arguments = Arguments::new(words);
    let seconds = arguments.number("--seconds")?.unwrap_or(SECONDS);
    let seed = arguments.number("--seed")?;
    let keep = arguments.flag("--keep");
    let names = arguments.names()?;
    let workspace = Workspace::open()?;
    let known = properties(&workspace)?;
    if let Some(unknown) = names.iter().find(|name| !known.contains(name)) {
        return Err(Failure::new(format!(
            "there is no property {unknown:?}; known are {}",
            known.join(", ")
        )));
    }
    let names = if names.is_empty() { known } else { names };
    try_all(&workspace, &names, seconds, seed.unwrap_or_else(crate::seeded::fresh_seed), keep)
}

/// Tries every property for some seconds; what the tests do.
pub(crate) fn bounded(workspace: &Workspace, seconds: u64, seed: u64) -> Result<Verdict, Failure> {
    try_all(workspace, &properties(workspace)?, seconds, seed, false)
}

/// Whether the targets can be linked: libFuzzer is C++.
pub(crate) fn can_run() -> bool {
    cargo::answers("c++", &["--version"])
}

fn try_all(
    workspace: &Workspace,
    names: &[String],
    seconds: u64,
    seed: u64,
    keep: bool,
) -> Result<Verdict, Failure> {
    let programs = build(workspace)?;
    let mut verdict = Verdict::Green;
    for name in names {
        verdict = verdict.and(try_one(workspace, &programs, name, seconds, seed)?);
        if keep && verdict == Verdict::Green {
            merge(workspace, &programs, name)?;
        }
    }
    Ok(verdict)
}

/// The names of the properties: those of the folders of kept inputs.
fn properties(workspace: &Workspace) -> Result<Vec<String>, Failure> {
    let folder = workspace.root.join(CORPUS);
    let entries = fs::read_dir(&folder).map_err(Failure::at("read", &folder))?;
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    Ok(names)
}

/// Builds the targets and answers the folder that holds them.
fn build(workspace: &Workspace) -> Result<PathBuf, Failure> {
    let host = host(workspace)?;
    let target = workspace.target.join("fuzz");
    // A named target keeps the flags from what runs while building.
    let mut build = cargo::cargo(&workspace.root);
    build
        .args([
            "build",
            "--locked",
            "--quiet",
            "--package",
            "ambit-fuzz",
            "--bins",
            "--features",
            "libfuzzer",
        ])
        .args(["--profile", TESTED, "--config", "profile.tested.opt-level=2", "--target", &host])
        .env("CARGO_TARGET_DIR", &target)
        .env("CARGO_ENCODED_RUSTFLAGS", INSTRUMENTED.join("\u{1f}"));
    cargo::text(&mut build)?;
    Ok(target.join(host).join(TESTED))
}

fn host(workspace: &Workspace) -> Result<String, Failure> {
    let said = cargo::text(cargo::cargo(&workspace.root).args(["version", "--verbose"]))?;
    said.lines()
        .find_map(|line| line.strip_prefix("host: "))
        .map(str::to_owned)
        .ok_or_else(|| Failure::new("cargo does not say which machine it builds for"))
}

fn try_one(
    workspace: &Workspace,
    programs: &Path,
    name: &str,
    seconds: u64,
    seed: u64,
) -> Result<Verdict, Failure> {
    let found = folder(workspace, "found", name)?;
    let broken = folder(workspace, "broken", name)?;
    let output = cargo::output(
        Command::new(program(programs, name))
            .arg(&found)
            .arg(workspace.root.join(CORPUS).join(name))
            // Seeds are words of 32 bits there, and 0 is a seed of its own making.
            .arg(format!("-seed={}", seed % u64::from(u32::MAX) + 1))
            .arg(format!("-max_total_time={seconds}"))
            .arg(format!("-max_len={INPUT_BYTES}"))
            .args(["-timeout=10", "-rss_limit_mb=2048", "-use_value_profile=1", "-print_final_stats=1"])
            .arg(format!("-artifact_prefix={}/", broken.display())),
    )?;
    let said = String::from_utf8_lossy(&output.stderr);
    let number =
        |key: &str| said.lines().find_map(|line| line.strip_prefix(key)).map_or("?", str::trim).to_owned();
    let runs = number("stat::number_of_executed_units:");
    if output.status.success() {
        let reached = number("stat::new_units_added:");
        println!("fuzz {name}: {runs} inputs, {reached} of them new, in {seconds} s, seed {seed}: holds");
        return Ok(Verdict::Green);
    }
    let last: Vec<&str> = said.lines().rev().take(40).collect();
    let shown: Vec<&str> = last.into_iter().rev().collect();
    println!("fuzz {name}: BROKEN; the input lies in {}\n{}", broken.display(), shown.join("\n"));
    Ok(Verdict::Red)
}

/// Adds to the kept inputs those of the found ones that reach something new.
fn merge(workspace: &Workspace, programs: &Path, name: &str) -> Result<(), Failure> {
    let kept = workspace.root.join(CORPUS).join(name);
    let found = folder(workspace, "found", name)?;
    let mut command = Command::new(program(programs, name));
    command.arg("-merge=1").arg(format!("-max_len={INPUT_BYTES}")).arg(&kept).arg(&found);
    cargo::text(&mut command).map(drop)
}

fn program(programs: &Path, name: &str) -> PathBuf {
    programs.join(format!("fuzz-{name}"))
}

fn folder(workspace: &Workspace, what: &str, name: &str) -> Result<PathBuf, Failure> {
    let folder = workspace.target.join("fuzz").join(what).join(name);
    fs::create_dir_all(&folder).map_err(Failure::at("make", &folder))?;
    Ok(folder)
}
