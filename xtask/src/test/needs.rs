//! What the tests need of the machine, how it is found, and which package of Debian, Python or Node brings it.

use super::debian;
use super::locked::{Form, Locked};
use crate::cargo;
use crate::failure::Failure;
use crate::workspace::Workspace;

#[derive(Debug)]
pub(super) struct Need {
    pub(super) name: &'static str,
    source: Source,
    /// What becomes of the tests without it.
    pub(super) tests: &'static str,
}

#[derive(Debug)]
enum Source {
    Machine {
        /// A command that succeeds where it is there.
        found_by: &'static [&'static str],
        apt: &'static [&'static str],
    },
    /// Of the distribution's backports, which its package lists may not name yet.
    Backport {
        found_by: &'static [&'static str],
        package: &'static str,
    },
    Locked(Locked),
}

const NEEDS: &[Need] = &[
    Need {
        name: "a C compiler",
        source: Source::Machine { found_by: &["cc", "--version"], apt: &["gcc", "libc6-dev"] },
        tests: "nothing can be linked without it",
    },
    Need {
        name: "a C++ compiler",
        source: Source::Machine { found_by: &["c++", "--version"], apt: &["g++"] },
        tests: "nothing is fuzzed: libFuzzer cannot be linked",
    },
    Need {
        name: "git",
        source: Source::Machine { found_by: &["git", "--version"], apt: &["git"] },
        tests: "the rules and the tests that compare with git are skipped by name",
    },
    Need {
        name: "python3",
        source: Source::Machine { found_by: &["python3", "-c", "import unittest"], apt: &["python3"] },
        tests: "tests whose job is written in Python are skipped by name",
    },
    Need {
        name: "openssl",
        source: Source::Machine { found_by: &["openssl", "version"], apt: &["openssl"] },
        tests: "tests that let another tool verify signatures are skipped by name",
    },
    Need {
        name: "node",
        source: Source::Machine { found_by: &["node", "--version"], apt: &["nodejs"] },
        tests: "tests that run Node's own test runner are skipped by name",
    },
    Need {
        name: "pip",
        source: Source::Machine { found_by: &["python3", "-m", "pip", "--version"], apt: &["python3-pip"] },
        tests: "the Python packages below can not be installed",
    },
    Need {
        name: "npm",
        source: Source::Machine { found_by: &["npm", "--version"], apt: &["npm"] },
        tests: "the Node packages below can not be installed",
    },
    Need {
        name: "the vendors' model clients for Python",
        source: Source::Locked(Locked {
            form: Form::Python,
            folder: "model-sdks/python",
            lock: "crates/testing/model-server/tests/sdks/requirements.txt",
        }),
        tests: "tests in which they converse with the model server are skipped by name",
    },
    Need {
        name: "the vendors' model clients for Node",
        source: Source::Locked(Locked {
            form: Form::Node,
            folder: "model-sdks/node",
            lock: "crates/testing/model-server/tests/sdks/package-lock.json",
        }),
        tests: "tests in which they converse with the model server are skipped by name",
    },
    Need {
        name: "verifiers of statements in Python",
        source: Source::Locked(Locked {
            form: Form::Python,
            folder: "judges/python",
            lock: "crates/domain/attestation/tests/foreign/requirements.txt",
        }),
        tests: "tests in which they judge ours are skipped by name",
    },
    Need {
        name: "verifiers of statements in Node",
        source: Source::Locked(Locked {
            form: Form::Node,
            folder: "judges/node",
            lock: "crates/domain/attestation/tests/foreign/package-lock.json",
        }),
        tests: "tests in which they judge ours are skipped by name",
    },
    Need {
        name: "the source archives of Python packages on which runs are tried",
        source: Source::Locked(Locked {
            form: Form::PythonArchives,
            folder: "test-packages/sdists",
            lock: "crates/bins/ambit/tests/packages/sdists.txt",
        }),
        tests: "tests in which runs mend them are skipped by name",
    },
    Need {
        name: "what the tests of Python packages run with",
        source: Source::Locked(Locked {
            form: Form::Python,
            folder: "test-packages/pytest",
            lock: "crates/bins/ambit/tests/packages/pytest.txt",
        }),
        tests: "tests in which runs mend them are skipped by name",
    },
    Need {
        name: "the packages of Node on which runs are tried",
        source: Source::Locked(Locked {
            form: Form::Node,
            folder: "test-packages/node",
            lock: "crates/bins/ambit/tests/packages/package-lock.json",
        }),
        tests: "tests in which runs mend them are skipped by name",
    },
    Need {
        name: "the crates on which runs are tried",
        source: Source::Locked(Locked {
            form: Form::Crates,
            folder: "test-packages/crates",
            lock: "crates/bins/ambit/tests/packages/crates.lock",
        }),
        tests: "tests in which runs mend them are skipped by name",
    },
    Need {
        name: "every release of three packages",
        source: Source::Locked(Locked {
            form: Form::Node,
            folder: "test-packages/releases",
            lock: "crates/adapters/git-export/tests/releases/package-lock.json",
        }),
        tests: "tests in which their history goes to git and back are skipped by name",
    },
    Need {
        name: "releases of Python packages, from one to the next",
        source: Source::Locked(Locked {
            form: Form::PythonReleases,
            folder: "test-packages/histories/python",
            lock: "crates/domain/oracle/tests/histories/python.txt",
        }),
        tests: "the test of what the guard tells of them is skipped by name",
    },
    Need {
        name: "releases of Node packages, from one to the next",
        source: Source::Locked(Locked {
            form: Form::Node,
            folder: "test-packages/histories/node",
            lock: "crates/domain/oracle/tests/histories/package-lock.json",
        }),
        tests: "the test of what the guard tells of them is skipped by name",
    },
    Need {
        name: "releases of crates, from one to the next",
        source: Source::Locked(Locked {
            form: Form::Crates,
            folder: "test-packages/histories/crates",
            lock: "crates/domain/oracle/tests/histories/crates.lock",
        }),
        tests: "the test of what the guard tells of them is skipped by name",
    },
    Need {
        name: "unshare",
        source: Source::Machine { found_by: &["unshare", "--version"], apt: &["util-linux"] },
        tests: "tests on a file system of their own are skipped by name",
    },
    Need {
        name: "stress-ng",
        source: Source::Machine { found_by: &["stress-ng", "--version"], apt: &["stress-ng"] },
        tests: "hostile commands that are made of it are skipped by name",
    },
    Need {
        name: "crun",
        source: Source::Machine { found_by: &["crun", "--version"], apt: &["crun"] },
        tests: "tests of its containers are skipped by name",
    },
    Need {
        name: "runc",
        source: Source::Machine { found_by: &["runc", "--version"], apt: &["runc"] },
        tests: "tests of its containers are skipped by name",
    },
    Need {
        name: "runsc",
        source: Source::Backport { found_by: &["runsc", "--version"], package: "runsc" },
        tests: "tests of its containers are skipped by name",
    },
];

/// What is not there.
pub(super) fn missing(workspace: &Workspace) -> Vec<&'static Need> {
    NEEDS.iter().filter(|need| !is_there(need, workspace)).collect()
}

/// Installs what is not there. What is missing even then is a failure.
pub(super) fn install_missing(workspace: &Workspace) -> Result<Vec<&'static Need>, Failure> {
    let wanted = missing(workspace);
    if wanted.is_empty() {
        return Ok(wanted);
    }
    let names: Vec<_> = wanted.iter().map(|need| need.name).collect();
    println!("installing {}", names.join(", "));
    let mut apt: Vec<&str> = Vec::new();
    let mut backports: Vec<&str> = Vec::new();
    let mut locked: Vec<&Locked> = Vec::new();
    for need in wanted {
        match &need.source {
            Source::Machine { apt: packages, .. } => apt.extend(*packages),
            Source::Backport { package, .. } => backports.push(package),
            Source::Locked(packages) => locked.push(packages),
        }
    }
    if !apt.is_empty() {
        debian::install(&apt)?;
    }
    if !backports.is_empty() {
        debian::install_backports(&backports)?;
    }
    install_locked(&locked, workspace)?;
    match missing(workspace).as_slice() {
        [] => Ok(Vec::new()),
        [first, ..] => Err(Failure::new(format!("{} was installed and is still not found", first.name))),
    }
}

/// All at once: each waits for a registry most of the time.
fn install_locked(locked: &[&Locked], workspace: &Workspace) -> Result<(), Failure> {
    std::thread::scope(|scope| {
        let under_way: Vec<_> =
            locked.iter().map(|packages| scope.spawn(|| packages.install(workspace))).collect();
        under_way.into_iter().try_for_each(|thread| {
            thread.join().unwrap_or_else(|_| Err(Failure::new("an installation ended in a panic")))
        })
    })
}

fn is_there(need: &Need, workspace: &Workspace) -> bool {
    match &need.source {
        Source::Machine { found_by, .. } | Source::Backport { found_by, .. } => is_found(found_by),
        Source::Locked(packages) => packages.is_there(workspace),
    }
}

fn is_found(found_by: &[&str]) -> bool {
    found_by.split_first().is_some_and(|(program, words)| cargo::answers(program, words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_need_says_how_it_is_found_and_what_brings_it() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        for need in NEEDS {
            let complete = match &need.source {
                Source::Machine { found_by, apt } => found_by.len() > 1 && !apt.is_empty(),
                Source::Backport { found_by, package } => found_by.len() > 1 && !package.is_empty(),
                Source::Locked(packages) => root.join(packages.lock).is_file(),
            };
            assert!(complete, "{}", need.name);
        }
    }

    #[test]
    fn a_program_that_is_not_there_is_missed_and_one_that_is_there_is_not() {
        assert!(is_found(&["cargo", "--version"]));
        assert!(!is_found(&["ambit-no-such-program", "--version"]));
        assert!(!is_found(&["cargo", "--no-such-flag"]));
    }
}
