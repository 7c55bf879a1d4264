//! One run of named tests in the copy, and what came of it.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use super::proofs::TestName;
use super::scratch::Scratch;
use crate::cargo::{self, TESTED};
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
        .args(["test", "--profile", TESTED, "--package", &first.package])
        .args(&first.target)
        .args(["--", "--exact"])
        .args(tests.iter().map(|test| &test.name))
        .env("CARGO_TARGET_DIR", &scratch.target)
        .env("CARGO_BUILD_BUILD_DIR", &workspace.build)
        // Only the changed part of one crate is compiled again; outside crates are never built incrementally.
        .env("CARGO_INCREMENTAL", "1")
        .env("AMBIT_CASES", workspace.cases_folder())
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

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    #[test]
    fn an_ending_is_told_from_the_status_and_from_what_ran() {
        let passed = Some(ExitStatus::from_raw(0));
        let failed = Some(ExitStatus::from_raw(101 << 8));
        for (status, said, expected, ending_) in [
            (passed, "running 1 test\n", 1, Ending::Passed),
            (failed, "running 1 test\n", 1, Ending::Failed),
            (passed, "running 2 tests\n", 2, Ending::Passed),
            (passed, "running 1 test\n", 2, Ending::NoSuchTest),
            (passed, "running 0 tests\n", 1, Ending::NoSuchTest),
            (failed, "error: no test target named `it`\n", 1, Ending::NoSuchTest),
            (
                failed,
                "error[E0308]: mismatched types\nerror: could not compile `p` (lib)\n",
                1,
                Ending::DidNotBuild,
            ),
            (None, "running 1 test\n", 1, Ending::TimedOut),
        ] {
            assert_eq!(ending(status, said, expected), ending_, "{said}");
        }
    }

    #[test]
    fn what_runs_too_long_is_ended_with_all_that_it_started() {
        let mut command = Command::new("sh");
        command
            .args(["-c", "sleep 600 & echo $!; wait"])
            .stdout(std::process::Stdio::piped())
            .process_group(0);
        let mut child = command.spawn().unwrap();
        let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
        let mut grandchild = String::new();
        std::io::BufRead::read_line(&mut out, &mut grandchild).unwrap();
        let lives = || Path::new("/proc").join(grandchild.trim()).exists();
        assert!(lives());
        assert_eq!(wait(child, Duration::ZERO).unwrap(), None);
        // Its end closes the pipe that it inherited; until then this read waits.
        std::io::Read::read_to_end(&mut out, &mut Vec::new()).unwrap();
        let quick = Command::new("true").spawn().unwrap();
        assert!(wait(quick, LIMIT).unwrap().unwrap().success());
    }
}
