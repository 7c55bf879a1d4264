//! What `cargo xtask bench` measures of this program: each arm is one call of this example, which performs its operation
//! once for each line `op`. `docs/benchmarks.md` tells the protocol.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "standard output is where an arm answers")]

mod commit;
mod decide;
mod digest;
mod image;
mod import;
mod leases;
mod patch;
mod protocol;
mod sandbox;
mod source;
mod step;

#[allow(dead_code, reason = "an arm uses the backend that needs nothing beside this program")]
#[path = "../../src/backends.rs"]
mod backends;
#[allow(dead_code, reason = "an arm needs a part of what the program composes")]
#[path = "../../src/compose.rs"]
mod compose;
#[allow(dead_code, reason = "an arm ends with any failure alike")]
#[path = "../../src/failure.rs"]
mod failure;
#[allow(dead_code, reason = "an arm lives in a home that it was given")]
#[path = "../../src/home.rs"]
mod home;
#[allow(dead_code, reason = "an arm shows nothing at a terminal")]
#[path = "../../src/terminal.rs"]
mod terminal;

use std::error::Error;
use std::process::ExitCode;

use crate::decide::By;
use crate::failure::Failure;
use crate::import::Source;
use crate::patch::Course;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let outcome = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(failed)
        // As a task, like every caller in the control plane: the thread that started the runtime is woken by a worker.
        .and_then(|runtime| runtime.block_on(async { tokio::spawn(perform(words)).await.map_err(failed)? }));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

async fn perform(words: Vec<String>) -> Result<(), Failure> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["image"] => image::capture().await,
        ["fresh", "none"] => sandbox::fresh(0).await,
        ["fresh", "waiting"] => sandbox::fresh(1).await,
        ["lease", files] => leases::lease(number(files)?, true).await,
        ["lease", files, "listed"] => leases::lease(number(files)?, false).await,
        ["cancel", processes] => leases::cancel(number(processes)?, false).await,
        ["cancel", processes, "contended"] => leases::cancel(number(processes)?, true).await,
        ["burst", count] => leases::burst(number(count)?).await,
        ["parked", slots, active] => leases::parked(number(slots)?, number(active)?).await,
        ["exec", idle_ms] => sandbox::exec(number(idle_ms)?).await,
        ["step"] => step::step().await,
        ["commit", runs] => commit::commit(number(runs)?).await,
        ["tree", kind] => source::lay(kind),
        ["patch", files, count] => patch::patch(number(files)?, number(count)?, Course::InMemory).await,
        ["patch", files, count, "unread"] => {
            patch::patch(number(files)?, number(count)?, Course::Unread).await
        }
        ["patch", files, count, "kept"] => patch::patch(number(files)?, number(count)?, Course::Kept).await,
        ["digest", files] => digest::digest(number(files)?, None, false).await,
        ["digest", files, "spread"] => digest::digest(number(files)?, None, true).await,
        ["digest", files, "thinned", left] => {
            digest::digest(number(files)?, Some(number(left)?), false).await
        }
        ["digest", files, "thinned", left, "spread"] => {
            digest::digest(number(files)?, Some(number(left)?), true).await
        }
        ["decide", projects, size, by] => {
            let by = match by {
                "cedar" => By::Cedar,
                "whole" => By::CedarOverAll,
                "rules" => By::Rules,
                _ => By::Nothing,
            };
            decide::decide(number(projects)?, size == "large", by).await
        }
        ["import", "directory", kind] => import::import(kind, Source::Directory).await,
        ["import", "commit", kind] => import::import(kind, Source::Commit).await,
        _ => Err(Failure::new("USAGE_ARM", format!("there is no arm {words:?}"))),
    }
}

fn number<T: std::str::FromStr<Err = std::num::ParseIntError>>(word: &str) -> Result<T, Failure> {
    word.parse().map_err(failed)
}

/// A failure of a part.
fn failed(error: impl Error + 'static) -> Failure {
    Failure::of("ARM_FAILED", &error)
}
