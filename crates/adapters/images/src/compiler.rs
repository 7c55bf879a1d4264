//! What a compiler of C needs beside its driver: the programs that it starts, what every program is linked with, and the
//! headers of the C library, which lie among those of everything else that is installed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::closure::Closure;
use crate::driver::{Driver, Language};
use crate::error::CaptureError;
use crate::headers;
use crate::link_inputs;

/// The programs that a driver starts, and those that build scripts start beside it. A driver that does without one of
/// them does not know it.
const PROGRAMS: [&str; 7] = ["ar", "as", "cc1", "collect2", "ld", "lto-wrapper", "ranlib"];
/// Likewise, for C++.
const PROGRAMS_OF_CPP: [&str; 1] = ["cc1plus"];

/// A program that a driver starts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Started {
    /// It lies there, and is called by that path.
    At(PathBuf),
    /// It is looked up by this name.
    Named(&'static str),
}

/// The languages of a driver by its name, with or without a target before and a version behind: `cc`, `gcc-12`,
/// `x86_64-linux-gnu-g++-12`, `clang`. None where no driver is called so.
pub(crate) fn languages(name: &str) -> &'static [Language] {
    let is_version = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let name = match name.rsplit_once('-') {
        Some((before, version)) if is_version(version) => before,
        Some(_) | None => name,
    };
    match name.rsplit('-').next().unwrap_or(name) {
        "cc" | "gcc" => &[Language::C],
        "c++" | "g++" | "clang" | "clang++" => &[Language::C, Language::Cpp],
        _ => &[],
    }
}

/// Takes what the driver at `program` reads. Answers the programs that it starts.
pub(crate) fn take(
    closure: &mut Closure<'_>,
    program: &Path,
    languages: &[Language],
) -> Result<BTreeSet<Started>, CaptureError> {
    let driver = Driver { program };
    let is_cpp = languages.contains(&Language::Cpp);
    link_inputs::take(closure, &driver, is_cpp)?;
    for language in languages {
        headers::take(closure, &driver, *language)?;
    }
    let names = PROGRAMS.iter().chain(PROGRAMS_OF_CPP.iter().filter(|_| is_cpp));
    let mut started = BTreeSet::new();
    for name in names {
        let answer = driver.says(&[&format!("-print-prog-name={name}")])?;
        let found = started_by(&answer, name);
        if let Started::At(path) = &found
            && !path.is_file()
        {
            continue;
        }
        started.insert(found);
    }
    Ok(started)
}

/// What `-print-prog-name` says: a path, or the name itself where the driver leaves the search to the system.
fn started_by(answer: &Path, name: &'static str) -> Started {
    match answer.is_absolute() {
        true => Started::At(answer.to_path_buf()),
        false => Started::Named(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_are_told_by_their_names() {
        for c in ["cc", "gcc", "gcc-12", "x86_64-linux-gnu-gcc", "x86_64-linux-gnu-gcc-12", "gcc-4.9"] {
            assert_eq!(languages(c), [Language::C], "{c}");
        }
        for both in ["c++", "g++-12", "x86_64-linux-gnu-g++", "clang", "clang-14", "clang++"] {
            assert_eq!(languages(both), [Language::C, Language::Cpp], "{both}");
        }
        for other in ["gcc-ar", "gcc-ar-12", "clang-format", "cpp", "ccache", "", "-", "12"] {
            assert_eq!(languages(other), [], "{other}");
        }
    }

    #[test]
    fn a_program_is_named_or_lies_somewhere() {
        let path = Path::new("/usr/lib/gcc/x86_64-linux-gnu/12/cc1");
        assert_eq!(started_by(path, "cc1"), Started::At(path.into()));
        assert_eq!(started_by(Path::new("as"), "as"), Started::Named("as"));
        assert_eq!(started_by(Path::new(""), "as"), Started::Named("as"));
    }
}
