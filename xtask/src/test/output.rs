//! Runs the tests and passes on what they print, less what nobody reads.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};

use super::tally::Tally;
use crate::cargo::{self, TESTED};
use crate::failure::Failure;
use crate::workspace::Workspace;

/// Runs every test that the filter names, all without one. Answers whether the run ended well, and what it counted.
///
/// The test binaries show what passing tests printed too, so that a test that could not run here can say so by name;
/// that part goes to the log and into the tally alone.
pub(super) fn run_tests(workspace: &Workspace, filter: &[String]) -> Result<(bool, Tally), Failure> {
    let log_path = workspace.target.join("test.log");
    std::fs::create_dir_all(&workspace.target).map_err(Failure::at("make", &workspace.target))?;
    let mut log = File::create(&log_path).map_err(Failure::at("write", &log_path))?;
    let broken_pipe = |cause| Failure::caused("could not read what the tests print", cause);

    let (reader, writer) = std::io::pipe().map_err(broken_pipe)?;
    let mut command = cargo::cargo(&workspace.root);
    command
        .args([
            "test",
            "--profile",
            TESTED,
            "--workspace",
            "--locked",
            "--no-fail-fast",
            "--",
            "--show-output",
        ])
        .args(filter)
        .stdout(writer.try_clone().map_err(broken_pipe)?)
        .stderr(writer);
    let mut child = command.spawn().map_err(|cause| Failure::caused("could not start cargo", cause))?;
    // The command holds the writing ends: without this the reading end would never see the end.
    drop(command);

    let mut tally = Tally::default();
    let mut reader = BufReader::new(reader);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).map_err(broken_pipe)? > 0 {
        log.write_all(&line).map_err(Failure::at("write", &log_path))?;
        let text = String::from_utf8_lossy(&line);
        if tally.read(text.trim_end()) {
            print!("{text}");
        }
        line.clear();
    }
    tally.end();
    let status = child.wait().map_err(|cause| Failure::caused("could not wait for cargo", cause))?;
    Ok((status.success(), tally))
}
