//! Version managers put scripts into `PATH` that find out, each time, which program to run. An image takes the program.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::ask::{ask, question};
use crate::error::CaptureError;

/// Managers that are started under the names of the programs that they stand for.
const LINKED_MANAGERS: [&str; 2] = ["mise", "rustup"];

/// The program behind `path`, which is called as `name`; `path` itself where no version manager stands in between.
///
/// Two forms of a shim are known: a script whose last command is `exec MANAGER exec ...` (pyenv, rbenv, nodenv, asdf),
/// and a link to the manager itself (mise, rustup). Both kinds of manager answer `MANAGER which NAME`.
pub(crate) fn program_behind(path: &Path, name: &str, head: &[u8]) -> Result<PathBuf, CaptureError> {
    let Some(manager) = manager(path, head) else {
        return Ok(path.to_path_buf());
    };
    let unanswered = |why| CaptureError::Unanswered { program: manager.clone(), why };
    let answer = ask(question(&manager).args(["which", name])).map_err(unanswered)?;
    let program = Path::new(OsStr::from_bytes(answer.trim_ascii_end()));
    if program.is_absolute() && program.is_file() && program != path {
        Ok(program.to_path_buf())
    } else {
        Err(unanswered(format!("`which {name}` named {program:?}")))
    }
}

fn manager(path: &Path, head: &[u8]) -> Option<PathBuf> {
    if head.starts_with(b"#!") {
        return std::str::from_utf8(head).ok()?.lines().rev().find_map(manager_of_line);
    }
    let real = path.canonicalize().ok()?;
    let is_manager = LINKED_MANAGERS.iter().any(|manager| real.file_name() == Some(OsStr::new(manager)));
    (is_manager && path.file_name() != real.file_name()).then_some(real)
}

fn manager_of_line(line: &str) -> Option<PathBuf> {
    let mut words = line.split_ascii_whitespace();
    let (first, manager, third) = (words.next()?, words.next()?, words.next()?);
    let manager = manager.trim_matches(['"', '\'']);
    let is_plain = manager.starts_with('/') || !manager.contains(['/', '$']);
    (first == "exec" && third == "exec" && is_plain).then(|| PathBuf::from(manager))
}
