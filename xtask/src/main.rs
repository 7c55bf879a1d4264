//! The tasks of the workspace: `cargo xtask check | test | requirements | fuzz | bench | prove`.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a tool that people read prints what it found")]

mod arguments;
mod bench;
mod cargo;
mod check;
mod failure;
mod fuzz;
mod metadata;
mod prove;
mod requirements;
mod rust_text;
mod seeded;
mod test;
mod verdict;
mod workspace;

use std::process::ExitCode;

use failure::Failure;
use verdict::Verdict;

const USAGE: &str = "\
cargo xtask check [RULE...]               the rules of this workspace; without names, all of them
cargo xtask test [--install] [-- FILTER]  every test, the cheap rules, some fuzzing, and ten breaks replayed
cargo xtask requirements [--list | --replay N | --replay-all | --row ROW] [--seed S]
cargo xtask fuzz [PROPERTY...] [--seconds N] [--seed S] [--keep]
cargo xtask bench [NAME...] [--rounds N] [--seed S] [--update]
cargo xtask prove [--update]               what the policies promise, by a solver";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match run(&words) {
        Ok(Verdict::Green) => ExitCode::SUCCESS,
        Ok(Verdict::Red) => ExitCode::FAILURE,
        Err(failure) => {
            eprintln!("xtask: {}", failure.with_causes());
            ExitCode::from(2)
        }
    }
}

fn run(words: &[String]) -> Result<Verdict, Failure> {
    let Some((task, rest)) = words.split_first() else {
        return Err(Failure::new(format!("no task was named\n{USAGE}")));
    };
    match task.as_str() {
        "check" => check::run(rest),
        "test" => test::run(rest),
        "requirements" => requirements::run(rest),
        "fuzz" => fuzz::run(rest),
        "bench" => bench::run(rest),
        "prove" => prove::run(rest),
        other => Err(Failure::new(format!("there is no task {other:?}\n{USAGE}"))),
    }
}
