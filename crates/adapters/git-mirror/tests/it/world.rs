use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

use ambit_git_mirror::{CommitName, CommitSha, MirrorError, Mirrors, Obtained, Source, Wanted};
use tempfile::TempDir;

/// A place with a source repository and a home for mirrors.
pub(crate) struct World {
    place: TempDir,
}

/// Every entry below a directory: what it is, its content, and when it was last changed.
pub(crate) type Snapshot = BTreeMap<PathBuf, (u32, Vec<u8>, SystemTime)>;

impl World {
    /// A place with an empty source; `None`, and a line that says so, where there is no git.
    pub(crate) fn new(test: &str) -> Option<Self> {
        if Command::new("git").arg("--version").output().is_err() {
            println!("skipped: GIT_ABSENT {test}");
            return None;
        }
        let world = Self { place: TempDir::new().unwrap() };
        fs::create_dir(world.source()).unwrap();
        world.git(["init", "--quiet", "--initial-branch=main"]);
        Some(world)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    pub(crate) fn source(&self) -> PathBuf {
        self.path("source")
    }

    pub(crate) fn mirrors(&self) -> Mirrors {
        Mirrors::new(&self.path("mirrors"), &std::env::var_os("PATH").unwrap()).unwrap()
    }

    /// Git in the source, in the name of nobody.
    pub(crate) fn git<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>) -> String {
        self.git_in(&self.source(), words, b"")
    }

    pub(crate) fn git_in<S: AsRef<OsStr>>(
        &self,
        dir: &Path,
        words: impl IntoIterator<Item = S>,
        input: &[u8],
    ) -> String {
        let mut command = Command::new("git");
        command
            .current_dir(dir)
            .args(words)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        for role in ["AUTHOR", "COMMITTER"] {
            command
                .env(format!("GIT_{role}_NAME"), "a")
                .env(format!("GIT_{role}_EMAIL"), "a@example.com")
                .env(format!("GIT_{role}_DATE"), "1700000000 +0000");
        }
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// Writes a file of the source and commits it.
    pub(crate) fn commit(&self, name: &str, content: &str) -> String {
        fs::write(self.source().join(name), content).unwrap();
        self.git(["add", "--all"]);
        self.git(["commit", "--quiet", "--message", content]);
        self.git(["rev-parse", "HEAD"])
    }

    /// A source with three commits on `main`.
    pub(crate) fn with_history(&self) -> [String; 3] {
        ["one", "two", "three"].map(|content| self.commit("file", content))
    }

    /// A program that leaves a mark when it is run, and the mark.
    pub(crate) fn trap(&self) -> (PathBuf, PathBuf) {
        let (trap, mark) = (self.path("trap"), self.path("mark"));
        fs::write(&trap, format!("#!/bin/sh\necho caught >> '{}'\nexec \"$@\"\n", mark.display())).unwrap();
        fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).unwrap();
        (trap, mark)
    }

    pub(crate) fn obtain(&self, commit: &str) -> Result<Obtained, MirrorError> {
        let source = Source::directory(&self.source()).unwrap();
        self.mirrors().obtain(&source, &Wanted::new(CommitName::parse(commit).unwrap()))
    }

    /// Git in a mirror.
    pub(crate) fn git_of<const N: usize>(&self, obtained: &Obtained, words: [&str; N]) -> String {
        self.git_in(&obtained.repository, words, b"")
    }
}

pub(crate) fn sha(text: &str) -> CommitSha {
    match CommitName::parse(text).unwrap() {
        CommitName::Full(sha) => sha,
        CommitName::Abbreviated(_) => panic!("{text} is abbreviated"),
    }
}

pub(crate) fn snapshot(dir: &Path) -> Snapshot {
    let mut found = Snapshot::new();
    take(dir, &mut found);
    found
}

fn take(path: &Path, found: &mut Snapshot) {
    let metadata = path.symlink_metadata().unwrap();
    let content = if metadata.is_file() { fs::read(path).unwrap() } else { Vec::new() };
    let entry = (metadata.permissions().mode(), content, metadata.modified().unwrap());
    found.insert(path.to_path_buf(), entry);
    if metadata.is_dir() {
        for child in fs::read_dir(path).unwrap() {
            take(&child.unwrap().path(), found);
        }
    }
}
