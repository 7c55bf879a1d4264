//! `cargo xtask prove`: asks a solver for a request that breaks what the policies around every run promise.

use std::fs;
use std::process::{Command, Stdio};

use crate::arguments::Arguments;
use crate::cargo;
use crate::failure::Failure;
use crate::verdict::Verdict;
use crate::workspace::Workspace;

/// The crate that asks. It is no member of the workspace: what it is built from is large, and nothing else needs it.
const CRATE: &str = "proofs/policy";
/// Where what it said is kept.
const KEPT: &str = "proofs/policy/proven.txt";
const SOLVER: &str = "cvc5";

pub(crate) fn run(words: &[String]) -> Result<Verdict, Failure> {
    let mut arguments = Arguments::new(words);
    let update = arguments.flag("--update");
    arguments.rest()?;
    let workspace = Workspace::open()?;
    if !cargo::answers(SOLVER, &["--version"]) {
        return Err(Failure::new(format!(
            "{SOLVER} is not installed; Debian has it: apt-get install {SOLVER}"
        )));
    }
    let mut build = cargo::cargo(&workspace.root.join(CRATE));
    let target = workspace.target.join("proofs");
    build.args(["build", "--quiet", "--locked", "--target-dir"]).arg(&target);
    cargo::text(&mut build)?;
    let mut prover = Command::new(target.join("debug/ambit-policy-proofs"));
    prover.env("CVC5", SOLVER).stdin(Stdio::null()).stderr(Stdio::inherit());
    let said = cargo::output(&mut prover)?;
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    print!("{text}");
    if !said.status.success() {
        return Ok(Verdict::Red);
    }
    let path = workspace.root.join(KEPT);
    if update {
        fs::write(&path, &text).map_err(Failure::at("write", &path))?;
    }
    let kept = fs::read_to_string(&path).map_err(Failure::at("read", &path))?;
    if kept != text {
        println!("{KEPT} says otherwise; write it anew with --update");
    }
    Ok(Verdict::green_if(kept == text))
}
