//! Version managers put scripts into `PATH` that find out, each time, which program to run. An image takes the program.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::ask::{ask, question};
use crate::error::CaptureError;

/// Managers that are started under the names of the programs that they stand for.
const LINKED_MANAGERS: [&str; 2] = ["mise", "rustup"];

/// Programs that keep what compilers made, and are put into `PATH` under the names of these.
const CACHES: [&str; 4] = ["ccache", "distcc", "icecc", "sccache"];

/// The first program of this name that is no cache in front of it: `found`, or one that lies behind it in `search_path`.
/// Where there is none it is `found`.
pub(crate) fn behind_caches(found: &Path, name: &str, search_path: &[PathBuf]) -> PathBuf {
    let is_cache = |path: &Path| {
        let real = path.canonicalize().unwrap_or_default();
        CACHES.iter().any(|cache| name != *cache && real.file_name() == Some(OsStr::new(cache)))
    };
    if !is_cache(found) {
        return found.to_path_buf();
    }
    let directories = search_path.iter().filter(|directory| directory.is_absolute());
    let mut candidates = directories.map(|directory| directory.join(name)).filter(|path| path.is_file());
    candidates.find(|path| !is_cache(path)).unwrap_or_else(|| found.to_path_buf())
}

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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_compiler_is_found_behind_its_cache() {
        let directory = tempfile::tempdir().unwrap();
        let at = |path: &str| directory.path().join(path);
        for directory in ["first", "second"] {
            std::fs::create_dir(at(directory)).unwrap();
        }
        for file in ["ccache", "second/cc"] {
            std::fs::write(at(file), "").unwrap();
        }
        for link in ["first/cc", "first/c++"] {
            symlink(at("ccache"), at(link)).unwrap();
        }
        let search_path = [PathBuf::from("."), at("first"), at("second")];
        assert_eq!(behind_caches(&at("first/cc"), "cc", &search_path), at("second/cc"));
        assert_eq!(behind_caches(&at("second/cc"), "cc", &search_path), at("second/cc"));
        assert_eq!(behind_caches(&at("first/c++"), "c++", &search_path), at("first/c++"));
        assert_eq!(behind_caches(&at("ccache"), "ccache", &search_path), at("ccache"));
    }
}
