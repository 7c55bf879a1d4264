//! Questions to the tools of this machine. Where this process stands and what its environment holds has no say in the
//! answers, except for what tells a version manager which version is wanted.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use crate::limits;

/// The variables that a question keeps: where version managers keep their things, and which version they are to choose.
const KEPT: [&str; 3] = ["CARGO_HOME", "HOME", "XDG_DATA_HOME"];
/// Likewise, by their first letters.
const KEPT_PREFIXES: [&str; 9] =
    ["ASDF_", "FNM_", "GOENV_", "MISE_", "NODENV_", "NVM_", "PYENV_", "RBENV_", "RUSTUP_"];

/// A question to a program of this machine: from a directory in which no project lies, with little of the environment.
pub(crate) fn question(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command
        .current_dir("/")
        .env_clear()
        .envs(kept(std::env::vars_os()))
        .env("LC_ALL", "C")
        // A question must not bring anything from a network.
        .env("RUSTUP_AUTO_INSTALL", "0");
    command
}

fn kept(variables: impl Iterator<Item = (OsString, OsString)>) -> impl Iterator<Item = (OsString, OsString)> {
    variables.filter_map(|(name, value)| {
        let text = name.to_str()?;
        if text == "PATH" {
            let absolute = std::env::split_paths(&value).filter(|directory| directory.is_absolute());
            return Some((name, std::env::join_paths(absolute).ok()?));
        }
        let is_kept = KEPT.contains(&text) && Path::new(&value).is_absolute()
            || KEPT_PREFIXES.iter().any(|prefix| text.starts_with(prefix));
        is_kept.then_some((name, value))
    })
}

/// What a program wrote.
pub(crate) struct Said {
    pub(crate) output: Vec<u8>,
    pub(crate) errors: Vec<u8>,
}

/// Runs a tool of this machine and answers what it wrote to its standard output, or in words why there is no answer.
pub(crate) fn ask(command: &mut Command) -> Result<Vec<u8>, String> {
    hear(command).map(|said| said.output)
}

/// Likewise, with what it wrote to its standard error.
pub(crate) fn hear(command: &mut Command) -> Result<Said, String> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("it could not be started ({error})"))?;
    let drained = drain(child.stdout.take()).and_then(|answer| Ok((answer, drain(child.stderr.take())?)));
    let (answer, complaint) = drained.map_err(|error| {
        let _ = child.kill();
        let _ = child.wait();
        format!("nothing can be read of it ({error})")
    })?;
    let Ok(answer) = answer.recv_timeout(limits::ANSWER_WAIT) else {
        // A process that ended by itself cannot be killed any more, which is as well.
        let _ = child.kill();
        let _ = child.wait();
        return Err(format!("no answer within {} s", limits::ANSWER_WAIT.as_secs()));
    };
    let status = child.wait().map_err(|error| format!("its end is not known ({error})"))?;
    let errors = complaint.recv_timeout(limits::COMPLAINT_WAIT).unwrap_or_default();
    if !status.success() {
        let complaint = String::from_utf8_lossy(&errors);
        return Err(format!("{status}, saying {:?}", complaint.lines().next().unwrap_or_default()));
    }
    if answer.len() as u64 > limits::ANSWER_BYTES {
        return Err(format!("an answer of more than {} bytes", limits::ANSWER_BYTES));
    }
    Ok(Said { output: answer, errors })
}

/// Reads a pipe in a thread of its own, so that a full pipe never stops the process that writes to it.
fn drain(pipe: Option<impl Read + Send + 'static>) -> io::Result<Receiver<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel();
    thread::Builder::new().spawn(move || {
        let mut bytes = Vec::new();
        if let Some(pipe) = pipe {
            // What was read before a failure is still the best answer; a cut-off one is refused where it is parsed.
            let _ = pipe.take(limits::ANSWER_BYTES + 1).read_to_end(&mut bytes);
        }
        // Nobody listens any more where the wait was given up.
        let _ = sender.send(bytes);
    })?;
    Ok(receiver)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_keeps_little_of_the_environment_and_no_relative_directory() {
        let variables = [
            ("PATH", ".:/usr/bin:node_modules/.bin::/bin"),
            ("HOME", "/home/somebody"),
            ("CARGO_HOME", "cargo"),
            ("RUSTUP_TOOLCHAIN", "1.95.0"),
            ("LD_PRELOAD", "/tmp/mine.so"),
            ("NODE_OPTIONS", "--require=/tmp/mine.js"),
            ("GOFLAGS", "-toolexec=/tmp/mine"),
            ("RUSTC_WRAPPER", "/tmp/mine"),
        ];
        let kept: Vec<_> =
            kept(variables.into_iter().map(|(name, value)| (name.into(), value.into()))).collect();
        let expected =
            [("PATH", "/usr/bin:/bin"), ("HOME", "/home/somebody"), ("RUSTUP_TOOLCHAIN", "1.95.0")];
        assert_eq!(kept, expected.map(|(name, value)| (name.into(), value.into())));
    }

    #[test]
    fn a_question_is_asked_where_no_project_lies() {
        let said = ask(question("/bin/sh").args(["-c", "pwd; echo ${LD_PRELOAD-none}"])).unwrap();
        assert_eq!(said, b"/\nnone\n");
    }

    #[test]
    fn a_failure_is_told_by_its_first_line() {
        let why = ask(question("/bin/sh").args(["-c", "echo one >&2; echo two >&2; exit 3"])).unwrap_err();
        assert!(why.contains("3, saying \"one\""), "{why}");
    }
}
