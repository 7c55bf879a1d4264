//! What shells and their users get along with the program.

use std::path::Path;

use clap::CommandFactory as _;
use clap_complete::Shell;
use serde_json::json;

use crate::answer::Answer;
use crate::cli::Cli;
use crate::failure::Failure;

/// The script that lets a shell complete command lines.
pub(crate) fn completion(shell: Shell) -> Result<Answer, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "ambit", &mut script);
    let script = String::from_utf8(script).map_err(|error| Failure::of("OUTPUT_UNWRITABLE", &error))?;
    let json = json!({"shell": shell.to_string(), "script": script});
    Ok(Answer::new(script, json).verbatim())
}

/// Writes a manual page for the program and for each of its commands.
pub(crate) fn man(out: &Path) -> Result<Answer, Failure> {
    let failed = |error: std::io::Error| {
        Failure::new("USAGE_FILE_UNWRITABLE", format!("{} cannot be written: {error}", out.display()))
            .help("name a directory that you can write to")
    };
    std::fs::create_dir_all(out)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), out))
        .map_err(failed)?;
    let first = out.join("ambit.1");
    let text =
        format!("the manual pages are in {}\nread one with `man {}`\n", out.display(), first.display());
    Ok(Answer::new(text, json!({"directory": out})))
}
