//! Command lines that are none.

use std::ffi::OsStr;
use std::io::Write as _;

use clap::error::ErrorKind;

use crate::failure::{Failure, exit};
use crate::terminal::{columns, printable, wrapped};

/// Tells what is wrong with the command line, or what was asked about it, and gives the exit code.
pub(crate) fn tell(error: &clap::Error) -> u8 {
    if !error.use_stderr() {
        // A terminal that is gone cannot be told anything either.
        let _ = error.print();
        return exit::OK;
    }
    let text = if std::env::args_os().any(|argument| argument == OsStr::new("--json")) {
        failure(error).told(true)
    } else {
        wrapped(&printable(&coded(error)), columns(std::io::stderr()))
    };
    let _ = std::io::stderr().write_all(text.as_bytes());
    exit::USAGE
}

/// As `clap` lays it out, with the stable code where every other failure has it.
fn coded(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let code = code(error.kind());
    match text.strip_prefix("error: ") {
        Some(rest) => format!("error[{code}]: {rest}"),
        // What is shown then is the help of the command, and not what is wrong.
        None => format!("error[{code}]: {COMMAND_MISSING}\n\n{text}"),
    }
}

const COMMAND_MISSING: &str = "a command is missing";

/// The same in the shape of every other failure: what is wrong, and the rest as help.
fn failure(error: &clap::Error) -> Failure {
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let (message, help) = match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => (COMMAND_MISSING, text),
        _ => text.split_once("\n\n").unwrap_or((text, "")),
    };
    Failure::new(code(error.kind()), message.trim_end()).help(help.trim_end())
}

const fn code(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::InvalidValue
        | ErrorKind::ValueValidation
        | ErrorKind::NoEquals
        | ErrorKind::TooManyValues
        | ErrorKind::TooFewValues
        | ErrorKind::WrongNumberOfValues => "USAGE_VALUE",
        ErrorKind::UnknownArgument => "USAGE_UNKNOWN_ARGUMENT",
        ErrorKind::InvalidSubcommand => "USAGE_UNKNOWN_COMMAND",
        ErrorKind::MissingRequiredArgument => "USAGE_MISSING_ARGUMENT",
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            "USAGE_MISSING_COMMAND"
        }
        ErrorKind::ArgumentConflict => "USAGE_CONFLICT",
        ErrorKind::InvalidUtf8 => "USAGE_ENCODING",
        _ => "USAGE",
    }
}
