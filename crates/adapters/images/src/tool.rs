use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;

use rustix::fs::{Access, access};

use crate::error::MissingTool;
use crate::limits;

/// The `PATH` of a sandbox: where the tools of an image can be called.
pub const PROGRAM_DIRECTORIES: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];

/// A tool to capture: a name that is looked up, or an absolute path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tool {
    name: String,
    path: Option<PathBuf>,
}

/// Why a text names no tool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// The name, or the last part of the path, is not 1 to 64 of the letters that a name may hold.
    #[error(
        "{0:?} names no tool: a name is 1 to 64 of the ASCII letters and digits and `.`, `_`, `+`, `-`, \
         and starts with a letter or a digit"
    )]
    Name(String),
    /// The path is relative, too long, or holds `.`, `..`, an empty part, or an invisible character.
    #[error(
        "{0:?} names no tool: a path is absolute, has no `.`, `..` or empty part, and at most 4096 bytes"
    )]
    Path(String),
}

impl Tool {
    /// The name by which it is called inside an image.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Finds its file: as it is named, or in the first directory of `search_path` that has it. Relative directories are
    /// passed over, so that the answer does not depend on where this process stands.
    pub(crate) fn locate(&self, search_path: &[PathBuf]) -> Result<PathBuf, MissingTool> {
        if let Some(path) = &self.path {
            return match is_program(path) {
                true => Ok(path.clone()),
                false => Err(self.missing(format!("no file at {} that can be run", path.display()))),
            };
        }
        let directories = search_path.iter().filter(|directory| directory.is_absolute());
        match directories.clone().map(|directory| directory.join(&self.name)).find(|path| is_program(path)) {
            Some(path) => Ok(path),
            None => {
                let looked: Vec<_> = directories.map(|directory| directory.display().to_string()).collect();
                Err(self.missing(format!("no such program in {}", looked.join(":"))))
            }
        }
    }

    fn missing(&self, looked_for: String) -> MissingTool {
        MissingTool { tool: self.to_string(), looked_for }
    }
}

fn is_program(path: &Path) -> bool {
    path.is_file() && access(path, Access::EXEC_OK).is_ok()
}

impl FromStr for Tool {
    type Err = ToolError;

    fn from_str(text: &str) -> Result<Self, ToolError> {
        let Some((_, name)) = text.rsplit_once('/') else {
            return is_name(text)
                .then(|| Self { name: text.to_owned(), path: None })
                .ok_or_else(|| ToolError::Name(text.to_owned()));
        };
        let path = Path::new(text);
        // The comparison refuses what `components` forgives: empty parts and `.`.
        let normal: PathBuf = path.components().filter(|part| *part != Component::ParentDir).collect();
        let is_path = path.is_absolute()
            && normal.as_os_str() == path.as_os_str()
            && text.len() <= limits::PATH_BYTES
            && !text.chars().any(char::is_control);
        if !is_path {
            return Err(ToolError::Path(text.to_owned()));
        }
        if !is_name(name) {
            return Err(ToolError::Name(text.to_owned()));
        }
        Ok(Self { name: name.to_owned(), path: Some(path.to_path_buf()) })
    }
}

/// Whether a text can be the name of a tool.
pub(crate) fn is_name(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'+' | b'-');
    (1..=64).contains(&text.len())
        && text.bytes().all(allowed)
        && text.starts_with(|first: char| first.is_ascii_alphanumeric())
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => path.display().fmt(f),
            None => f.write_str(&self.name),
        }
    }
}
