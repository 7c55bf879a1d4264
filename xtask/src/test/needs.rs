//! What the tests need of the machine, how it is found, and which Debian or Python package brings it.

use std::process::Command;

use crate::cargo;
use crate::failure::Failure;

#[derive(Debug)]
pub(super) struct Need {
    pub(super) name: &'static str,
    /// A command that succeeds where it is there.
    found_by: &'static [&'static str],
    apt: &'static [&'static str],
    pip: &'static [&'static str],
    /// What becomes of the tests without it.
    pub(super) tests: &'static str,
}

const NEEDS: &[Need] = &[
    Need {
        name: "a C compiler",
        found_by: &["cc", "--version"],
        apt: &["gcc", "libc6-dev"],
        pip: &[],
        tests: "nothing can be linked without it",
    },
    Need {
        name: "git",
        found_by: &["git", "--version"],
        apt: &["git"],
        pip: &[],
        tests: "the rules and the tests that compare with git are skipped by name",
    },
    Need {
        name: "python3",
        found_by: &["python3", "-c", "import unittest"],
        apt: &["python3"],
        pip: &[],
        tests: "tests whose job is written in Python are skipped by name",
    },
    Need {
        name: "openssl",
        found_by: &["openssl", "version"],
        apt: &["openssl"],
        pip: &[],
        tests: "tests that let another tool verify signatures are skipped by name",
    },
    Need {
        name: "node",
        found_by: &["node", "--version"],
        apt: &["nodejs"],
        pip: &[],
        tests: "tests that run Node's own test runner are skipped by name",
    },
    Need {
        name: "unshare",
        found_by: &["unshare", "--version"],
        apt: &["util-linux"],
        pip: &[],
        tests: "tests on a file system of their own are skipped by name",
    },
];

/// What is not there.
pub(super) fn missing() -> Vec<&'static Need> {
    NEEDS.iter().filter(|need| !is_there(need)).collect()
}

/// Installs what is not there. What is missing even then is a failure.
pub(super) fn install_missing() -> Result<Vec<&'static Need>, Failure> {
    let wanted = missing();
    if wanted.is_empty() {
        return Ok(wanted);
    }
    let names: Vec<_> = wanted.iter().map(|need| need.name).collect();
    println!("installing {}", names.join(", "));
    let packages =
        |of: fn(&Need) -> &'static [&'static str]| wanted.iter().flat_map(move |need| of(need)).copied();
    let apt: Vec<&str> = packages(|need| need.apt).collect();
    if !apt.is_empty() {
        let apt_get = || {
            let mut command = Command::new("apt-get");
            command.env("DEBIAN_FRONTEND", "noninteractive");
            command
        };
        cargo::text(apt_get().arg("update"))?;
        cargo::text(apt_get().args(["install", "--yes", "--no-install-recommends"]).args(&apt))?;
    }
    let pip: Vec<&str> = packages(|need| need.pip).collect();
    if !pip.is_empty() {
        cargo::text(
            Command::new("python3").args(["-m", "pip", "install", "--break-system-packages"]).args(&pip),
        )?;
    }
    match missing().as_slice() {
        [] => Ok(Vec::new()),
        [first, ..] => Err(Failure::new(format!("{} was installed and is still not found", first.name))),
    }
}

fn is_there(need: &Need) -> bool {
    need.found_by.split_first().is_some_and(|(program, words)| cargo::answers(program, words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_need_says_how_it_is_found_and_what_brings_it() {
        for need in NEEDS {
            assert!(
                need.found_by.len() > 1 && !(need.apt.is_empty() && need.pip.is_empty()),
                "{}",
                need.name
            );
        }
    }

    #[test]
    fn a_program_that_is_not_there_is_missed_and_one_that_is_there_is_not() {
        let need = |found_by| Need { name: "x", found_by, apt: &[], pip: &[], tests: "" };
        assert!(is_there(&need(&["cargo", "--version"])));
        assert!(!is_there(&need(&["ambit-no-such-program", "--version"])));
        assert!(!is_there(&need(&["cargo", "--no-such-flag"])));
    }
}
