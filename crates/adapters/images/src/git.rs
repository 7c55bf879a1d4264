//! What git needs beside its program: the programs that it starts, and the templates of a new repository.

use std::fs::DirEntry;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::ask::{ask, question};
use crate::closure::{Closure, head};
use crate::error::CaptureError;
use crate::left_out::LeftOut;

/// The programs that speak to a network. A sandbox has none, and they alone would bring a dozen libraries.
const NETWORKED: [&str; 7] = [
    "git-daemon",
    "git-http-",
    "git-imap-send",
    "git-remote-ftp",
    "git-remote-http",
    "git-send-email",
    "git-svn",
];

/// Takes the parts of the git at `program`. Answers the programs among them: what they need is still to be taken.
pub(crate) fn take(closure: &mut Closure<'_>, program: &Path) -> Result<Vec<PathBuf>, CaptureError> {
    let programs = ask_path(program, "--exec-path")?;
    let mut left_out = Vec::new();
    let files = closure.tree(&programs, |child, kind| {
        let reason = if kind.is_dir() { None } else { reason_against(child) };
        left_out.extend(reason.map(|why| LeftOut { what: child.path(), why: why.to_owned() }));
        reason.is_none()
    })?;
    closure.left_out.extend(left_out);
    // There is no question whose answer is the templates; they lie beside the manual.
    let templates = ask_path(program, "--info-path")?.parent().map(|share| share.join("git-core/templates"));
    if let Some(templates) = templates.filter(|templates| templates.is_dir()) {
        closure.tree(&templates, |_, _| true)?;
    }
    Ok(files)
}

fn reason_against(child: &DirEntry) -> Option<&'static str> {
    let name = child.file_name();
    if NETWORKED.iter().any(|networked| name.as_bytes().starts_with(networked.as_bytes())) {
        return Some("it speaks to a network, and a sandbox has none");
    }
    let head = head(&child.path()).unwrap_or_default();
    let line = head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let shell = line.split(u8::is_ascii_whitespace).next()?.ends_with(b"/sh");
    (!shell).then_some("it needs another interpreter than the shell")
}

fn ask_path(program: &Path, option: &str) -> Result<PathBuf, CaptureError> {
    let unanswered = |why| CaptureError::Unanswered { program: program.to_path_buf(), why };
    let answer = ask(question(program).arg(option)).map_err(unanswered)?;
    let path = Path::new(std::ffi::OsStr::from_bytes(answer.trim_ascii_end()));
    if !path.is_absolute() {
        return Err(unanswered(format!("`{option}` named {path:?}")));
    }
    Ok(path.to_path_buf())
}
