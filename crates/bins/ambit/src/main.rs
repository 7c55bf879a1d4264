//! The command line of Ambit, and its composition root.

#![forbid(unsafe_code)]

mod agent;
mod answer;
mod ask;
mod backends;
mod bound;
mod calls;
mod cli;
mod compose;
mod config;
mod context;
mod cost;
mod credential;
mod crew;
mod decision;
mod defect;
mod ending;
mod failure;
mod home;
mod ink;
mod input_file;
mod interrupt;
mod lab;
mod live;
mod marked;
mod new_file;
mod outputs;
mod question;
mod story;
mod terminal;
mod text;
mod usage;
mod verbs;
mod watch;

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use ambit_verify::printable_json_line;
use clap::Parser as _;
use rustix::fs::Mode;
use rustix::process::umask;

use crate::answer::Answer;
use crate::cli::{Cli, Verb};
use crate::context::Context;
use crate::failure::Failure;
use crate::terminal::{columns, folded, printable, printable_json};

fn main() -> ExitCode {
    unmask_own();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return ExitCode::from(usage::tell(&error)),
    };
    let json = cli.global.json;
    let result = defect::told(|| match cli.verb {
        // These know neither a home nor a project, and are over before the rest would have been set up.
        Verb::Patch(verb) => verbs::patch::run(&verb, json),
        Verb::Tree(verb) => verbs::tree::run(&verb, json),
        Verb::Verify(arguments) => verbs::verify::run(&arguments),
        _ => crew::many()?.block_on(run(cli)),
    });
    ExitCode::from(tell(json, result))
}

/// Lets this user use what this program makes: no mask of new files takes from their owner.
fn unmask_own() {
    let others = Mode::RWXG | Mode::RWXO;
    let mask = umask(others);
    umask(mask & others);
}

async fn run(cli: Cli) -> Result<Answer, Failure> {
    let context = Context::new(&cli.global)?;
    verbs::dispatch(context, cli.verb).await
}

/// Results go to standard output, everything else to standard error.
fn tell(json: bool, result: Result<Answer, Failure>) -> u8 {
    match result {
        Ok(answer) => {
            if let Some(bytes) = answer.exact.as_ref().filter(|_| !json && !std::io::stdout().is_terminal()) {
                return written(json, std::io::stdout().write_all(bytes), answer.exit);
            }
            let text = match (json, answer.is_verbatim) {
                (true, _) if answer.is_last_line => printable_json_line(&answer.json),
                (true, _) => printable_json(&answer.json),
                (false, true) => answer.text,
                (false, false) if answer.is_prose => {
                    folded(&printable(&answer.text), columns(std::io::stdout()))
                }
                (false, false) => printable(&answer.text),
            };
            written(json, std::io::stdout().write_all(text.as_bytes()), answer.exit)
        }
        Err(failure) => {
            let _ = std::io::stderr().write_all(failure.told(json).as_bytes());
            failure.exit()
        }
    }
}

/// The exit code once an answer was written. A reader that went away has read what it wanted; any other answer that is not
/// whole is none, whatever it says.
fn written(json: bool, result: std::io::Result<()>, exit: u8) -> u8 {
    match result.and_then(|()| std::io::stdout().flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            let failure =
                Failure::new("OUTPUT_UNWRITABLE", format!("the answer could not be written: {error}"))
                    .help("what was done is done; ask again for what there is to see");
            let _ = std::io::stderr().write_all(failure.told(json).as_bytes());
            failure.exit()
        }
        _ => exit,
    }
}
