//! What the tools of Rust need beside their programs: the standard library of this machine's target, the linker that comes
//! with it, and each other.

use std::ffi::OsStr;
use std::fs::{DirEntry, FileType};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::ask::{ask, question};
use crate::closure::Closure;
use crate::error::CaptureError;
use crate::loader::Loaded;

/// The programs that compile, and so read the standard library.
const COMPILERS: [&str; 3] = ["clippy-driver", "rustc", "rustdoc"];

/// Whether a program of this name belongs to Rust.
pub(crate) fn is_called(name: &str) -> bool {
    COMPILERS.contains(&name) || !companions(name).is_empty()
}

/// The programs that a program starts by their names.
pub(crate) fn companions(name: &str) -> &'static [&'static str] {
    match name {
        // The tests of a library are in its documentation too.
        "cargo" => &["rustc", "rustdoc"],
        "cargo-clippy" => &["cargo", "clippy-driver", "rustc"],
        "cargo-fmt" => &["cargo", "rustfmt"],
        _ => &[],
    }
}

/// Takes what the program at `real` reads, where it is one that compiles. Answers the programs among that.
pub(crate) fn take(
    closure: &mut Closure<'_>,
    real: &Path,
    program: &Loaded,
) -> Result<Vec<PathBuf>, CaptureError> {
    let compiles = real.file_name().is_some_and(|name| COMPILERS.iter().any(|compiler| name == *compiler));
    if !compiles {
        return Ok(Vec::new());
    }
    let libraries = libraries(&real.with_file_name("rustc"))?;
    for file in closure.tree(&libraries, is_wanted)? {
        if file.extension() == Some(OsStr::new("so")) {
            closure.module(&file, program)?;
        }
    }
    let mut programs = Vec::new();
    for beside in ["bin", "codegen-backends"].map(|name| libraries.with_file_name(name)) {
        if beside.is_dir() {
            programs.extend(closure.tree(&beside, |child, _| !is_for_another_system(&child.file_name()))?);
        }
    }
    Ok(programs)
}

/// The directory of the standard library of this machine's target.
fn libraries(rustc: &Path) -> Result<PathBuf, CaptureError> {
    let unanswered = |why| CaptureError::Unanswered { program: rustc.to_path_buf(), why };
    let answer = ask(question(rustc).args(["--print", "target-libdir"])).map_err(unanswered)?;
    directory_in(&answer).ok_or_else(|| {
        unanswered(format!("`--print target-libdir` named {:?}", String::from_utf8_lossy(&answer)))
    })
}

fn directory_in(answer: &[u8]) -> Option<PathBuf> {
    let path = Path::new(OsStr::from_bytes(answer.trim_ascii_end()));
    (path.is_absolute() && path.ends_with("lib")).then(|| path.to_path_buf())
}

/// Without the run-times of sanitizers, which only unstable options ask for.
fn is_wanted(child: &DirEntry, _: FileType) -> bool {
    let name = child.file_name();
    !(name.as_bytes().starts_with(b"librustc-") && Path::new(&name).extension() == Some(OsStr::new("a")))
}

fn is_for_another_system(name: &OsStr) -> bool {
    ["ld64.lld", "lld-link", "wasm-component-ld", "wasm-ld"].iter().any(|other| name == *other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tools_of_rust_are_told_by_their_names() {
        for tool in ["rustc", "rustdoc", "cargo", "cargo-clippy", "clippy-driver", "cargo-fmt"] {
            assert!(is_called(tool), "{tool}");
        }
        for other in ["rustup", "rustfmt", "cargo-nextest", "rust-gdb", "rust"] {
            assert!(!is_called(other), "{other}");
        }
    }

    #[test]
    fn only_an_absolute_directory_of_libraries_is_an_answer() {
        let answer = b"/opt/rust/lib/rustlib/x86_64-unknown-linux-gnu/lib\n";
        let expected = "/opt/rust/lib/rustlib/x86_64-unknown-linux-gnu/lib";
        assert_eq!(directory_in(answer), Some(expected.into()));
        for bad in [&b""[..], b"\n", b"lib\n", b"/\n", b"/etc\n", b"/a/lib\n/b\n"] {
            assert_eq!(directory_in(bad), None, "{:?}", String::from_utf8_lossy(bad));
        }
    }
}
