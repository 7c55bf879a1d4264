//! The driver of a compiler, and what it answers.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::ask::{ask, hear, question};
use crate::error::CaptureError;

/// A language that a driver compiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    C,
    Cpp,
}

impl Language {
    /// What `-x` calls it.
    pub(crate) const fn option(self) -> &'static str {
        match self {
            Self::C => "c",
            Self::Cpp => "c++",
        }
    }
}

/// The driver of a compiler.
#[derive(Debug)]
pub(crate) struct Driver<'a> {
    pub(crate) program: &'a Path,
}

impl Driver<'_> {
    /// Asks for a path.
    pub(crate) fn says(&self, arguments: &[&str]) -> Result<PathBuf, CaptureError> {
        let answer =
            ask(question(self.program).args(arguments)).map_err(|why| self.unanswered(arguments, &why))?;
        Ok(PathBuf::from(OsStr::from_bytes(answer.trim_ascii_end())))
    }

    /// Where it finds a file that programs are linked with; `None` where it finds none.
    pub(crate) fn file(&self, name: &str) -> Result<Option<PathBuf>, CaptureError> {
        let path = self.says(&[&format!("-print-file-name={name}")])?;
        Ok((path.is_absolute() && path.exists()).then_some(path))
    }

    /// What it writes to its output and beside it.
    pub(crate) fn hear(&self, arguments: &[&str]) -> Result<(Vec<u8>, Vec<u8>), CaptureError> {
        let said =
            hear(question(self.program).args(arguments)).map_err(|why| self.unanswered(arguments, &why))?;
        Ok((said.output, said.errors))
    }

    fn unanswered(&self, arguments: &[&str], why: &str) -> CaptureError {
        let why = format!("asked for `{}`, it answered {why}", arguments.first().unwrap_or(&""));
        CaptureError::Unanswered { program: self.program.to_path_buf(), why }
    }
}
