//! What a tool needs, by what its program is: the interpreter that it names, its libraries, and its own parts.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::closure::{Closure, head, load};
use crate::error::CaptureError;
use crate::plan::{Node, unreadable};
use crate::python::{self, Python};
use crate::tool::{PROGRAM_DIRECTORIES, Tool};
use crate::{git, shim};

/// Where a tool gets a link by its name when it lies in none of [`PROGRAM_DIRECTORIES`].
const LINKS: &str = "/usr/local/bin";

/// Takes the tool that is called `name` and was found at `found`. Answers its program, as a path without links.
pub(crate) fn take_tool(
    closure: &mut Closure<'_>,
    name: &str,
    found: &Path,
) -> Result<PathBuf, CaptureError> {
    closure.begin();
    callable(closure, name, found)
}

fn callable(closure: &mut Closure<'_>, name: &str, found: &Path) -> Result<PathBuf, CaptureError> {
    let program = if python::is_called(name) {
        Python::ask(found)?.executable
    } else {
        shim::program_behind(found, name, &head(found)?)?
    };
    // Somewhere else a link by its name is made for it anyway, so the links that lead to it have no use.
    let program = program.canonicalize().map_err(unreadable(&program))?;
    let reachable = |path: &Path| PROGRAM_DIRECTORIES.iter().any(|dir| path.parent() == Some(Path::new(dir)));
    let is_same = found.canonicalize().ok().as_ref() == Some(&program);
    let called = if reachable(found) && is_same { found } else { &program };
    let real = closure.plan.take(called)?;
    if !reachable(called) || called.file_name() != Some(OsStr::new(name)) {
        closure.plan.add(&Path::new(LINKS).join(name), Node::Link(called.to_path_buf()))?;
    }
    needs(closure, &real)?;
    Ok(real)
}

/// Takes what the program at `real`, which is in the plan already, needs.
fn needs(closure: &mut Closure<'_>, real: &Path) -> Result<(), CaptureError> {
    if !closure.is_new(real) {
        return Ok(());
    }
    let head = head(real)?;
    if let Some(line) = head.strip_prefix(b"#!") {
        return script(closure, real, line.split(|byte| *byte == b'\n').next().unwrap_or_default());
    }
    let loaded = load(real.to_path_buf(), Vec::new())?;
    let Some(loaded) = loaded else {
        let why = "it is neither an ELF file nor a script that names its interpreter".to_owned();
        return Err(CaptureError::NotAProgram { path: real.to_path_buf(), why });
    };
    closure.program(loaded.clone())?;
    match real.file_name().and_then(OsStr::to_str) {
        Some(name) if python::is_called(name) => Python::ask(real)?.take(closure, &loaded),
        Some("git") => git_programs(closure, real),
        Some(_) | None => Ok(()),
    }
}

/// Takes the interpreter that the first line of a script names. `env` stands for the program that it would start.
fn script(closure: &mut Closure<'_>, script: &Path, line: &[u8]) -> Result<(), CaptureError> {
    let not_a_program =
        |why: &str| CaptureError::NotAProgram { path: script.to_path_buf(), why: why.to_owned() };
    let line = str::from_utf8(line).map_err(|_| not_a_program("its interpreter is no text"))?;
    let mut words = line.split_ascii_whitespace();
    let interpreter = words.next().map(Path::new).filter(|path| path.is_absolute());
    let interpreter = interpreter.ok_or_else(|| not_a_program("its interpreter is no absolute path"))?;
    let real = closure.plan.take(interpreter)?;
    needs(closure, &real)?;
    if interpreter.file_name() != Some(OsStr::new("env")) {
        return Ok(());
    }
    let name = words.find(|word| !word.starts_with('-') && !word.contains('='));
    let tool: Tool = name
        .and_then(|name| name.parse().ok())
        .ok_or_else(|| not_a_program("its `env` line names no program"))?;
    let found =
        tool.locate(closure.search_path).map_err(|missing| CaptureError::ToolsMissing(vec![missing]))?;
    callable(closure, tool.name(), &found).map(drop)
}

/// Takes the parts of a git, and what its programs need in turn.
fn git_programs(closure: &mut Closure<'_>, git: &Path) -> Result<(), CaptureError> {
    for real in git::take(closure, git)? {
        if head(&real)?.starts_with(b"#!") {
            needs(closure, &real)?;
        } else if let Some(loaded) = load(real, Vec::new())? {
            closure.program(loaded)?;
        }
    }
    Ok(())
}
