//! Calls of cargo and of the other programs that the tasks stand on.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::failure::Failure;

/// The profile of everything that tests run. Its outputs lie beside those of a release, which stay as users get them.
pub(crate) const TESTED: &str = "tested";

/// Cargo, in `directory`: the one that runs this task where it says so.
pub(crate) fn cargo(directory: &Path) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.current_dir(directory).stdin(Stdio::null());
    command
}

/// Runs the command and answers its output, whatever its status.
pub(crate) fn output(command: &mut Command) -> Result<Output, Failure> {
    command.output().map_err(|cause| {
        Failure::caused(format!("could not start {}", command.get_program().to_string_lossy()), cause)
    })
}

/// Runs the command and answers what it printed; a status other than success is a failure.
pub(crate) fn text(command: &mut Command) -> Result<String, Failure> {
    let output = output(command)?;
    if !output.status.success() {
        let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
        return Err(Failure::new(format!(
            "{} {} ended with {}: {}",
            command.get_program().to_string_lossy(),
            words.join(" "),
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        )));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether the program is found and can be started with these words.
pub(crate) fn answers(program: &str, words: &[&str]) -> bool {
    Command::new(program)
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
