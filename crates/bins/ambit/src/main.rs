//! The command line of Ambit, and its composition root.

#![forbid(unsafe_code)]

mod agent;
mod answer;
mod ask;
mod bound;
mod calls;
mod cli;
mod compose;
mod config;
mod context;
mod cost;
mod credential;
mod decision;
mod ending;
mod failure;
mod home;
mod ink;
mod input_file;
mod interrupt;
mod lab;
mod live;
mod new_file;
mod question;
mod story;
mod terminal;
mod text;
mod usage;
mod verbs;
mod watch;

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use clap::Parser as _;

use crate::answer::Answer;
use crate::cli::{Cli, Verb};
use crate::context::Context;
use crate::failure::Failure;
use crate::terminal::{columns, folded, printable, printable_json, printable_json_line};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return ExitCode::from(usage::tell(&error)),
    };
    let json = cli.global.json;
    let result = match cli.verb {
        // These know neither a home nor a project, and are over before the rest would have been set up.
        Verb::Patch(verb) => verbs::patch::run(&verb),
        Verb::Tree(verb) => verbs::tree::run(&verb),
        _ => with_services(cli),
    };
    ExitCode::from(tell(json, result))
}

fn with_services(cli: Cli) -> Result<Answer, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Failure::of("RUNTIME_FAILED", &error))
        .and_then(|runtime| runtime.block_on(run(cli)))
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
                let _ = std::io::stdout().write_all(bytes);
                return answer.exit;
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
            // A reader that went away has read what it wanted.
            let _ = std::io::stdout().write_all(text.as_bytes());
            answer.exit
        }
        Err(failure) => {
            let _ = std::io::stderr().write_all(failure.told(json).as_bytes());
            failure.exit()
        }
    }
}
