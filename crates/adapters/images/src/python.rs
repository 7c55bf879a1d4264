//! What Python needs beside its program: the standard library, its modules in machine code, and its byte code.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{DirEntry, FileType};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::ask::{ask, question};
use crate::bytecode::Bytecode;
use crate::closure::Closure;
use crate::error::CaptureError;
use crate::loader::Loaded;

/// Asks an interpreter for its parts, however it was reached: directly, through a version manager, in an environment.
const QUESTION: &str = "\
import importlib.util, json, os, sys, sysconfig
path = sysconfig.get_path
json.dump({
    'executable': os.path.realpath(getattr(sys, '_base_executable', None) or sys.executable),
    'libraries': [path('stdlib'), path('platstdlib')],
    'modules': sysconfig.get_config_var('DESTSHARED'),
    'zones': (sysconfig.get_config_var('TZPATH') or '').split(os.pathsep),
    'magic': list(importlib.util.MAGIC_NUMBER),
    'tag': sys.implementation.cache_tag,
}, sys.stdout)";

/// Asks which packages a script imports that are not of the standard library. What it imports only where it can, or only
/// in a function, is not looked at; nothing of it is run.
const IMPORTS: &str = "\
import ast, importlib.util, json, sys
names = set()
try:
    with open(sys.argv[1], 'rb') as script:
        body = ast.parse(script.read(1 << 20)).body
except (SyntaxError, ValueError, RecursionError):
    body = []
for node in body:
    if isinstance(node, ast.Import):
        names.update(alias.name.split('.')[0] for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and not node.level:
        names.add(node.module.split('.')[0])
is_there = lambda name: name in sys.modules or importlib.util.find_spec(name) is not None
json.dump(sorted(name for name in names if not is_there(name)), sys.stdout)";

/// Parts of the standard library that serve its own tests, installing, or a screen. Directories, at any depth.
const UNWANTED_DIRECTORIES: [&str; 9] = [
    "__pycache__",
    "dist-packages",
    "ensurepip",
    "idlelib",
    "site-packages",
    "test",
    "tests",
    "tkinter",
    "turtledemo",
];
/// Likewise, the first letters of files and directories.
const UNWANTED_PREFIXES: [&str; 7] =
    ["_ctypes_test", "_test", "_tkinter", "_xxtestfuzz", "config-", "turtle.py", "xxlimited"];
/// Copies of the time zones in another layout, and the one in which this machine stands.
const UNWANTED_ZONES: [&str; 3] = ["localtime", "posix", "right"];

/// Where the parts of a Python lie.
#[derive(Debug, Deserialize)]
pub(crate) struct Python {
    /// The interpreter itself, as a path without links.
    pub(crate) executable: PathBuf,
    libraries: Vec<PathBuf>,
    modules: Option<PathBuf>,
    zones: Vec<PathBuf>,
    magic: [u8; 4],
    tag: String,
}

/// Whether a program of this name is a Python: `python`, `python3`, `python3.11`, `python3.13t`.
pub(crate) fn is_called(name: &str) -> bool {
    name.strip_prefix("python").is_some_and(|version| {
        version.trim_end_matches('t').bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    })
}

impl Python {
    /// Asks the program at `program`, which need not be the interpreter itself.
    pub(crate) fn ask(program: &Path) -> Result<Self, CaptureError> {
        let unanswered = |why| CaptureError::Unanswered { program: program.to_path_buf(), why };
        let answer = ask(question(program).args(["-I", "-S", "-B", "-c", QUESTION])).map_err(unanswered)?;
        let python: Self =
            serde_json::from_slice(&answer).map_err(|error| unanswered(format!("unreadable ({error})")))?;
        let paths = python.libraries.iter().chain([&python.executable]).chain(&python.modules);
        if let Some(path) = paths.into_iter().find(|path| !path.is_absolute()) {
            return Err(unanswered(format!("{path:?} is no absolute path")));
        }
        Ok(python)
    }

    /// The packages without which the script at `script` does not start: the interpreter's standard library, which is all
    /// that an image holds, does not have them.
    pub(crate) fn packages_of(interpreter: &Path, script: &Path) -> Result<Vec<String>, CaptureError> {
        let unanswered = |why| CaptureError::Unanswered { program: interpreter.to_path_buf(), why };
        let answer = ask(question(interpreter).args(["-I", "-S", "-B", "-c", IMPORTS]).arg(script));
        serde_json::from_slice(&answer.map_err(unanswered)?)
            .map_err(|error| unanswered(format!("unreadable ({error})")))
    }

    /// Takes everything beside the interpreter, which is loaded as `program`.
    pub(crate) fn take(&self, closure: &mut Closure<'_>, program: &Loaded) -> Result<(), CaptureError> {
        let mut sources = Vec::new();
        for tree in self.trees() {
            for file in closure.tree(&tree, is_wanted)? {
                match file.extension().map(OsStr::as_bytes) {
                    Some(b"so") => closure.module(&file, program)?,
                    Some(b"py") => sources.push(file),
                    Some(_) | None => {}
                }
            }
        }
        for (path, node) in self.bytecode().of(&sources)? {
            closure.plan.add(&path, node)?;
        }
        if let Some(zones) = self.zones.iter().find(|zones| zones.is_absolute() && zones.is_dir()) {
            closure.tree(zones, |child, _| !is_one_of(&child.file_name(), &UNWANTED_ZONES))?;
        }
        Ok(())
    }

    pub(crate) fn bytecode(&self) -> Bytecode<'_> {
        Bytecode { magic: self.magic, tag: &self.tag, interpreter: &self.executable }
    }

    /// The directories of the standard library, none of them inside another.
    fn trees(&self) -> BTreeSet<PathBuf> {
        let all: BTreeSet<PathBuf> =
            self.libraries.iter().chain(&self.modules).filter(|path| path.is_dir()).cloned().collect();
        let is_outermost =
            |path: &&PathBuf| !all.iter().any(|other| other != *path && path.starts_with(other));
        all.iter().filter(is_outermost).cloned().collect()
    }
}

fn is_wanted(child: &DirEntry, kind: FileType) -> bool {
    let name = child.file_name();
    if kind.is_dir() && is_one_of(&name, &UNWANTED_DIRECTORIES) {
        return false;
    }
    !UNWANTED_PREFIXES.iter().any(|prefix| name.as_bytes().starts_with(prefix.as_bytes()))
        && Path::new(&name).extension() != Some(OsStr::new("a"))
}

fn is_one_of(name: &OsStr, names: &[&str]) -> bool {
    names.iter().any(|candidate| name == *candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pythons_are_told_by_their_names() {
        for python in ["python", "python3", "python3.11", "python3.13t"] {
            assert!(is_called(python), "{python}");
        }
        for other in ["pythonw", "python3-config", "python3.11-config", "ipython", "pypy3", "git"] {
            assert!(!is_called(other), "{other}");
        }
    }
    #[test]
    fn a_script_tells_the_packages_that_it_cannot_do_without() {
        let Ok(python) = Python::ask(Path::new("python3")) else {
            println!("skipped: PYTHON_ABSENT a_script_tells_the_packages_that_it_cannot_do_without");
            return;
        };
        let directory = tempfile::tempdir().unwrap();
        let script = directory.path().join("script");
        let packages = |text: &str| {
            std::fs::write(&script, text).unwrap();
            Python::packages_of(&python.executable, &script).unwrap()
        };
        assert_eq!(packages("import sys, os.path\nfrom json import dumps\n"), [] as [&str; 0]);
        assert_eq!(
            packages("import sys\nfrom no_such_a.b import c\nimport no_such_d.e as f\n"),
            ["no_such_a", "no_such_d"]
        );
        assert_eq!(packages("try:\n    import no_such_a\nexcept ImportError:\n    pass\n"), [] as [&str; 0]);
        assert_eq!(packages("print 'old'\nimport no_such_a\n"), [] as [&str; 0]);
        let ran = directory.path().join("ran");
        packages(&format!("open({:?}, 'w')\n", ran.to_str().unwrap()));
        assert!(!ran.exists(), "a script is read and not run");
    }
}
