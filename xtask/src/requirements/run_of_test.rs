//! One run of named tests in the copy, and what came of it.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use super::proofs::TestName;
use super::scratch::Scratch;
use crate::cargo;
use crate::failure::Failure;
use crate::workspace::Workspace;

/// Past this a run, its build included, is ended.
const LIMIT: Duration = Duration::from_secs(600);
const POLL: Duration = Duration::from_millis(20);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Passed,
    Failed,
    /// Not one of the tests exists.
    NoSuchTest,
    DidNotBuild,
    TimedOut,
}

/// Runs tests of one package and target, all of which are named.
pub(super) fn run(
    workspace: &Workspace,
    scratch: &Scratch,
    tests: &[&TestName],
    log_name: &str,
) -> Result<Ending, Failure> {
    let Some(first) = tests.first() else { return Ok(Ending::NoSuchTest) };
    let log = scratch.logs.join(log_name);
    let file = File::create(&log).map_err(Failure::at("write", &log))?;
    let also = file.try_clone().map_err(Failure::at("write", &log))?;
    let mut command = cargo::cargo(&scratch.tree);
    command
        .args(["test", "--release", "--locked", "--package", &first.package])
        .args(&first.target)
        .args(["--", "--exact"])
        .args(tests.iter().map(|test| &test.name))
        .env("CARGO_TARGET_DIR", &scratch.target)
        .env("CARGO_BUILD_BUILD_DIR", &workspace.build)
        .env("AMBIT_CASES", crate::test::cases_folder(&workspace.root))
        .stdout(file)
        .stderr(also)
        .process_group(0);
    let child = command.spawn().map_err(|cause| Failure::caused("could not start cargo", cause))?;
    let status = wait(child, LIMIT)?;
    let said = std::fs::read(&log).map_err(Failure::at("read", &log))?;
    Ok(ending(status, &String::from_utf8_lossy(&said), tests.len()))
}

fn ending(status: Option<ExitStatus>, said: &str, expected: usize) -> Ending {
    let Some(status) = status else { return Ending::TimedOut };
    if said.lines().any(|line| line.starts_with("error: could not compile")) {
        return Ending::DidNotBuild;
    }
    let ran = said
        .lines()
        .any(|line| line == format!("running {expected} test{}", if expected == 1 { "" } else { "s" }));
    match (ran, status.success()) {
        (true, true) => Ending::Passed,
        (true, false) => Ending::Failed,
        (false, _) => Ending::NoSuchTest,
    }
}

/// `None` where the limit passed first; everything that was started is ended then.
fn wait(mut child: Child, limit: Duration) -> Result<Option<ExitStatus>, Failure> {
    let started = Instant::now();
    loop {
        let status = child.try_wait().map_err(|cause| Failure::caused("could not wait for cargo", cause))?;
        if status.is_some() {
            return Ok(status);
        }
        if started.elapsed() > limit {
            let group = format!("-{}", child.id());
            cargo::output(Command::new("kill").args(["-KILL", "--", &group]))?;
            child.wait().map_err(|cause| Failure::caused("could not wait for cargo", cause))?;
            return Ok(None);
        }
        thread::sleep(POLL);
    }
}

/// A file name that tells the test and the order of the run.
pub(super) fn log_name(index: usize, test: &TestName) -> String {
    format!("{index:03}-{}-{}.txt", test.package, test.name.replace("::", "."))
}

/// The log of a run, for people.
pub(super) fn shown(scratch: &Scratch, log_name: &str, root: &Path) -> String {
    let path = scratch.logs.join(log_name);
    path.strip_prefix(root).unwrap_or(&path).display().to_string()
}
