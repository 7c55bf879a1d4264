//! What a tool needs, by what its program is: the interpreter that it names, its libraries, and its own parts.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::closure::{Closure, head, load};
use crate::compiler::{self, Started};
use crate::error::CaptureError;
use crate::left_out::LeftOut;
use crate::loader::Loaded;
use crate::plan::{Node, unreadable};
use crate::python::{self, Python};
use crate::tool::{PROGRAM_DIRECTORIES, Tool};
use crate::{git, go, node, packages, rust, shim};

/// Where a tool gets a link by its name when it lies in none of [`PROGRAM_DIRECTORIES`].
const LINKS: &str = "/usr/local/bin";
/// The shell, as programs name it that run commands.
const SHELL: &str = "/bin/sh";
/// Tools that run the commands of a project, and so the shell.
const RUN_COMMANDS: [&str; 9] = ["gmake", "just", "make", "npm", "npx", "pnpm", "pnpx", "yarn", "yarnpkg"];

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
    let found = &shim::behind_caches(found, name, closure.search_path);
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
    if RUN_COMMANDS.contains(&name) && Path::new(SHELL).is_file() {
        let shell = closure.plan.take(Path::new(SHELL))?;
        needs(closure, &shell)?;
    }
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
        Some(name) => parts(closure, name, real, &loaded),
        None => Ok(()),
    }
}

/// Takes what the program at `real`, whose file has this name, needs beside its libraries.
fn parts(closure: &mut Closure<'_>, name: &str, real: &Path, loaded: &Loaded) -> Result<(), CaptureError> {
    if python::is_called(name) {
        return Python::ask(real)?.take(closure, loaded);
    }
    if node::is_called(name) {
        return node::take(closure, real);
    }
    if rust::is_called(name) {
        let started = rust::take(closure, real, loaded)?;
        programs(closure, started)?;
        return rust::companions(name).iter().try_for_each(|other| companion(closure, real, other));
    }
    match (name, compiler::languages(name)) {
        ("git", _) => {
            let started = git::take(closure, real)?;
            programs(closure, started)
        }
        ("go", _) => {
            let started = go::take(closure, real)?;
            programs(closure, started)
        }
        (_, []) => Ok(()),
        (_, languages) => {
            let started = compiler::take(closure, real, languages)?;
            started.into_iter().try_for_each(|program| match program {
                Started::At(path) => programs(closure, vec![path]),
                Started::Named(other) => companion(closure, real, other),
            })
        }
    }
}

/// Takes a program that the one at `real` starts by its name: the one beside it, or else the first that is found.
fn companion(closure: &mut Closure<'_>, real: &Path, name: &str) -> Result<(), CaptureError> {
    let beside = real.with_file_name(name);
    if beside.is_file() {
        return callable(closure, name, &beside).map(drop);
    }
    let tool: Result<Tool, _> = name.parse();
    match tool.map(|tool| tool.locate(closure.search_path)) {
        Ok(Ok(found)) => callable(closure, name, &found).map(drop),
        Ok(Err(_)) | Err(_) => {
            let why = format!("{} starts it, and it is not on this machine", real.display());
            closure.left_out.insert(LeftOut { what: name.into(), why });
            Ok(())
        }
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
    let real = match interpreter.file_name() == Some(OsStr::new("env")) {
        false => real,
        true => {
            let name = words.find(|word| !word.starts_with('-') && !word.contains('='));
            let tool: Tool = name
                .and_then(|name| name.parse().ok())
                .ok_or_else(|| not_a_program("its `env` line names no program"))?;
            let found = tool
                .locate(closure.search_path)
                .map_err(|missing| CaptureError::ToolsMissing(vec![missing]))?;
            callable(closure, tool.name(), &found)?
        }
    };
    modules(closure, script, &real)
}

/// Takes the modules of a script, or refuses one whose modules an image does not hold.
fn modules(closure: &mut Closure<'_>, script: &Path, interpreter: &Path) -> Result<(), CaptureError> {
    match interpreter.file_name().and_then(OsStr::to_str) {
        Some(name) if python::is_called(name) => {
            let packages = Python::packages_of(interpreter, script)?;
            match packages.is_empty() {
                true => Ok(()),
                false => Err(CaptureError::PackagesMissing { script: script.to_path_buf(), packages }),
            }
        }
        Some(name) if node::is_called(name) => load(interpreter.to_path_buf(), Vec::new())?
            .map_or(Ok(()), |node| packages::take(closure, script, &node)),
        Some(_) | None => Ok(()),
    }
}

/// Takes programs that are called by their paths, and what they need in turn.
fn programs(closure: &mut Closure<'_>, paths: Vec<PathBuf>) -> Result<(), CaptureError> {
    for path in paths {
        let real = closure.plan.take(&path)?;
        if head(&real)?.starts_with(b"#!") {
            needs(closure, &real)?;
        } else if let Some(loaded) = load(real, Vec::new())? {
            closure.program(loaded)?;
        }
    }
    Ok(())
}
