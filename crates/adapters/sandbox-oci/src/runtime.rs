//! The runtimes: how one is found, how it is called, and what is peculiar to each that is known.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::str::FromStr;
use std::time::Duration;

use ambit_ownership::ended_within;
use ambit_ports::sandbox::MissingFeature;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::missing;

/// Where a runtime is looked for. The search path of whoever starts the program does not count.
const DIRECTORIES: [&str; 5] = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/opt/bin"];
/// The longest name, so that `oci:NAME` fits wherever a backend is named.
const NAME_BYTES: usize = 32;
/// The most of what a runtime says about itself that is kept.
const VERSION_BYTES: usize = 200;
/// The most of that which is read.
const SAID_BYTES: usize = 4096;
/// How long a runtime may take to tell its version.
const ANSWERING: Duration = Duration::from_secs(10);

/// What a runtime is called: a lower-case letter, then lower-case letters, digits, `-` and `_`, 32 at most. Never a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuntimeName(String);

/// A text that names no runtime.
#[derive(Debug, thiserror::Error)]
#[error(
    "a runtime is named by a lower-case letter, then lower-case letters, digits, `-` and `_`, 32 at most"
)]
pub struct RuntimeError;

impl FromStr for RuntimeName {
    type Err = RuntimeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fits = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, b'-' | b'_');
        let starts_well = text.starts_with(|c: char| c.is_ascii_lowercase());
        if starts_well && text.len() <= NAME_BYTES && text.bytes().all(fits) {
            return Ok(Self(text.to_owned()));
        }
        Err(RuntimeError)
    }
}

impl fmt::Display for RuntimeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The runtimes with peculiarities that are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// crun.
    Crun,
    /// runc, and whatever is not told apart from it.
    Runc,
    /// gVisor's runsc: a kernel of its own between the command and that of the machine.
    Runsc,
}

/// Runtimes that are known by their name, whatever they say of the specification that they follow.
const KNOWN: [&str; 5] = ["crun", "runc", "runsc", "youki", "kata-runtime"];

/// Why there is no runtime of a name.
#[derive(Clone, Debug)]
pub(crate) enum NoRuntime {
    /// This machine lacks it.
    Missing(MissingFeature),
    /// The program is another one.
    Other {
        /// The program.
        program: PathBuf,
        /// The first line of what it says about its version.
        said: String,
    },
}

/// A runtime that is on this machine.
#[derive(Clone, Debug)]
pub(crate) struct Runtime {
    pub(crate) name: RuntimeName,
    pub(crate) kind: Kind,
    pub(crate) program: PathBuf,
    /// The first line of what it says about its version.
    pub(crate) version: String,
}

impl Runtime {
    /// Finds the runtime of a name and asks it for its version; or why there is none.
    pub(crate) fn find(name: &RuntimeName) -> Result<Self, NoRuntime> {
        let program = DIRECTORIES
            .iter()
            .map(|directory| Path::new(directory).join(&name.0))
            .find(|program| is_executable(program))
            .ok_or_else(|| NoRuntime::Missing(missing::runtime(name)))?;
        let said = version(&program, ANSWERING).map_err(|error| {
            NoRuntime::Missing(match error.kind() {
                io::ErrorKind::TimedOut => missing::answer(name),
                _ => missing::runtime(name),
            })
        })?;
        let version = first_line(&said);
        if !KNOWN.contains(&name.0.as_str()) && !tells_a_specification(&said) {
            return Err(NoRuntime::Other { program, said: version });
        }
        let kind = match name.0.as_str() {
            "crun" => Kind::Crun,
            "runsc" => Kind::Runsc,
            _ => Kind::Runc,
        };
        Ok(Self { name: name.clone(), kind, program, version })
    }

    /// The words that start the container of a bundle, after the program.
    pub(crate) fn words(&self, place: &Place<'_>) -> Vec<String> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let mut words = vec!["--root".to_owned(), text(place.state)];
        let peculiar: &[&str] = match self.kind {
            Kind::Crun => &["--cgroup-manager=disabled"],
            Kind::Runc => &[],
            Kind::Runsc => &[
                "--platform=systrap",
                "--network=none",
                "--ignore-cgroups",
                "--overlay2=none",
                "--oci-seccomp",
                "--host-uds=none",
                "--host-fifo=none",
            ],
        };
        words.extend(peculiar.iter().map(|&word| word.to_owned()));
        words.extend(["run", "--detach", "--pid-file"].map(str::to_owned));
        words.extend([text(place.pid_file), "--bundle".to_owned(), text(place.bundle), place.id.to_owned()]);
        words
    }
}

/// Where a container and what its runtime knows of it lie.
pub(crate) struct Place<'a> {
    pub(crate) state: &'a Path,
    pub(crate) bundle: &'a Path,
    pub(crate) pid_file: &'a Path,
    pub(crate) id: &'a str,
}

impl Kind {
    /// Whether the processes of the container are the runtime's own kernel: then it is born in the group of the limits,
    /// which counts that kernel as well.
    pub(crate) const fn has_own_kernel(self) -> bool {
        matches!(self, Self::Runsc)
    }

    /// Whether it refuses a machine on which both hierarchies of control groups are mounted, even where it is to use none.
    pub(crate) const fn refuses_both_hierarchies(self) -> bool {
        matches!(self, Self::Crun)
    }

    /// Whether it mounts more than it is told, over what is to be hidden or read only, and forgets `nosuid` over it.
    pub(crate) const fn forgets_privilege(self) -> bool {
        !self.has_own_kernel()
    }

    /// The number of the command's user in the user namespace of a container that is made without root. There is one user to
    /// be had, and only crun gives it another number than root's.
    pub(crate) const fn user_inside(self) -> u32 {
        match self {
            Self::Crun => 1000,
            Self::Runc | Self::Runsc => 0,
        }
    }

    /// How many processes beside the command's have its limit of processes, where the kernel counts those of its user for
    /// the container alone: the first one, and what crun, which sets the limit before it makes the user namespace, leaves
    /// outside of that. A kernel of the runtime's own always counts so.
    pub(crate) const fn counted_beside(self, rootless: bool) -> Option<u64> {
        match (self, rootless) {
            (Self::Crun, true) => Some(3),
            (Self::Runc, true) | (Self::Runsc, _) => Some(1),
            (Self::Crun | Self::Runc, false) => None,
        }
    }

    /// Processes and threads inside the limits that are not the command's: the first process, or the runtime's kernel with
    /// a few for each of the command's.
    pub(crate) const fn processes(self, of_the_command: u64) -> u64 {
        match self {
            Self::Crun | Self::Runc => of_the_command + 1,
            Self::Runsc => of_the_command * 8 + 256,
        }
    }
}

/// Whether a program that was asked for its version tells the version of a specification as well, as runtimes do and other
/// programs do not (`spec: 1.0.2`).
fn tells_a_specification(said: &str) -> bool {
    said.lines().skip(1).filter_map(|line| line.split_once(':')).any(|(key, version)| {
        let key = key.trim().to_ascii_lowercase();
        let is_version = version.trim_start().starts_with(|c: char| c.is_ascii_digit());
        matches!(key.as_str(), "spec" | "specs" | "oci spec" | "oci specs") && is_version
    })
}

fn first_line(said: &str) -> String {
    said.lines().next().unwrap_or_default().chars().take(VERSION_BYTES).collect()
}

/// Asks a runtime for its version: what it says.
fn version(program: &Path, patience: Duration) -> io::Result<String> {
    let mut child = Command::new(program)
        .arg("--version")
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let process = pidfd_open(Pid::from_child(&child), PidfdFlags::empty());
    if !process.is_ok_and(|process| ended_within(process, patience)) {
        let _ = child.kill();
        let _ = child.wait();
        return Err(io::ErrorKind::TimedOut.into());
    }
    let mut said = [0; SAID_BYTES];
    let stdout = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
    // Somebody whom it left behind may hold the pipe.
    rustix::io::ioctl_fionbio(&stdout, true)?;
    let len = rustix::io::read(&stdout, &mut said).unwrap_or(0);
    if !child.wait()?.success() {
        return Err(io::ErrorKind::InvalidData.into());
    }
    if len == 0 {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok(String::from_utf8_lossy(&said[..len]).into_owned())
}

fn is_executable(program: &Path) -> bool {
    fs::metadata(program).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runtime_is_a_name_and_never_a_path() {
        for good in ["crun", "runc", "runsc", "kata-fc_2"] {
            assert_eq!(good.parse::<RuntimeName>().unwrap().to_string(), good);
        }
        for bad in ["", "/usr/bin/crun", "..", "Crun", "crun ", "-x", &"x".repeat(NAME_BYTES + 1)] {
            assert!(bad.parse::<RuntimeName>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn what_is_no_runtime_is_not_found() {
        assert!(Runtime::find(&"ambit-no-such-runtime".parse().unwrap()).is_err());
        // It is there, and answers the question with a failure.
        assert!(Runtime::find(&"false".parse().unwrap()).is_err());
    }

    #[test]
    fn a_program_that_follows_no_specification_is_no_runtime() {
        // It is there, and tells its version.
        let found = Runtime::find(&"env".parse().unwrap());
        assert!(matches!(&found, Err(NoRuntime::Other { said, .. }) if said.contains("env")), "{found:?}");
        for runtime in ["x version 1.1.5\ncommit: 1\nspec: 1.0.2-dev\n", "x  : 3.2.0\n   OCI specs: 1.1.0\n"]
        {
            assert!(tells_a_specification(runtime), "{runtime}");
        }
        for other in ["", "spec: 1", "env (GNU coreutils) 9.1\nA spec: see 1\nspec: none\n"] {
            assert!(!tells_a_specification(other), "{other}");
        }
    }

    #[test]
    fn a_runtime_that_does_not_answer_is_not_waited_for() {
        const ANSWERS: &str = "#!/bin/sh\necho \"it 1.2\"\necho more\n";
        const HANGS: &str = "#!/bin/sh\necho it\nexec /bin/sleep 600\n";
        let directory = tempfile::tempdir().unwrap();
        let said = |script: &str, patience| {
            let program = directory.path().join("it");
            // Written by another process: a program that any process has open for writing cannot be started.
            let write = Command::new("/bin/sh")
                .args(["-c", "printf %s \"$1\" > \"$2\" && chmod 755 \"$2\"", "sh", script])
                .arg(&program)
                .status();
            assert!(write.unwrap().success());
            version(&program, patience)
        };
        assert_eq!(first_line(&said(ANSWERS, ANSWERING).unwrap()), "it 1.2");
        assert_eq!(said(HANGS, Duration::from_millis(50)).unwrap_err().kind(), io::ErrorKind::TimedOut);
        let told = missing::answer(&"crun".parse().unwrap());
        assert!(told.feature.contains("crun"), "{told:?}");
    }
}
