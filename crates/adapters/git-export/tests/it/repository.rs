//! Repositories that git itself makes, without any configuration of whoever runs this.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use ambit_git_export::ObjectName;
use ambit_revision::Tree;
use tempfile::TempDir;

use crate::world::{Entry, World};

pub(crate) fn is_git_here(test: &str) -> bool {
    let here = Command::new("git").arg("--version").output().is_ok();
    if !here {
        println!("skipped: GIT_ABSENT {test}");
    }
    here
}

/// A repository with a work tree.
pub(crate) struct Repository {
    home: TempDir,
}

impl Repository {
    pub(crate) fn new() -> Self {
        let repository = Self { home: TempDir::new().unwrap() };
        repository.git(["init", "--quiet", "--template=", "--initial-branch=main"], b"");
        repository
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// A repository whose one commit is exactly this world, made by git from the bytes of each file.
    pub(crate) fn holding(world: &World) -> (Self, ObjectName) {
        let repository = Self::new();
        let mut stream =
            b"commit refs/heads/main\ncommitter B <b@example.com> 1700000000 +0000\ndata 4\nbase\n".to_vec();
        for (path, (kind, content)) in &world.files {
            let head = format!("M {} inline ", kind.git_mode());
            let size = format!("\ndata {}\n", content.len());
            let name = ambit_revision::quote(path.as_bytes());
            stream.extend([head.as_bytes(), &name, size.as_bytes(), content, b"\n"].concat());
        }
        repository.git(["fast-import", "--quiet"], &stream);
        let commit = repository.says(["rev-parse", "main"]);
        (repository, commit.parse().unwrap())
    }

    /// A fresh clone, checked out.
    pub(crate) fn cloned(&self) -> Self {
        let clone = Self { home: TempDir::new().unwrap() };
        let from = self.home.path().to_str().unwrap();
        clone.git(["clone", "--quiet", "--template=", from, "."], b"");
        clone
    }

    pub(crate) fn run<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>, input: &[u8]) -> Output {
        run(self.home.path(), words, input)
    }

    #[track_caller]
    pub(crate) fn git<const N: usize>(&self, words: [&str; N], input: &[u8]) -> Vec<u8> {
        let output = self.run(words, input);
        assert!(
            output.status.success(),
            "git {words:?}: {}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        output.stdout
    }

    #[track_caller]
    pub(crate) fn says<const N: usize>(&self, words: [&str; N]) -> String {
        String::from_utf8(self.git(words, b"")).unwrap().trim_end().to_owned()
    }

    /// The tree of a commit, read back from git: every entry with its mode and its content.
    pub(crate) fn world(&self, commit: &str) -> World {
        let listed = self.git(["ls-tree", "-r", "-z", commit], b"");
        let mut entries: Vec<Entry> = Vec::new();
        for line in listed.split(|byte| *byte == 0).filter(|line| !line.is_empty()) {
            let tab = line.iter().position(|byte| *byte == b'\t').unwrap();
            let words: Vec<&str> = std::str::from_utf8(&line[..tab]).unwrap().split(' ').collect();
            let kind = match words[0] {
                "100644" => ambit_revision::FileKind::File,
                "100755" => ambit_revision::FileKind::Executable,
                "120000" => ambit_revision::FileKind::Link,
                other => panic!("no mode of ours: {other}"),
            };
            entries.push((line[tab + 1..].to_vec(), kind, words[2].as_bytes().to_vec()));
        }
        let names: Vec<u8> =
            entries.iter().flat_map(|(_, _, name)| [name.as_slice(), b"\n"].concat()).collect();
        let batch = self.git(["cat-file", "--batch"], &names);
        let mut rest = batch.as_slice();
        for (_, _, content) in &mut entries {
            let end = rest.iter().position(|byte| *byte == b'\n').unwrap();
            let head = std::str::from_utf8(&rest[..end]).unwrap();
            let size: usize = head.rsplit(' ').next().unwrap().parse().unwrap();
            *content = rest[end + 1..end + 1 + size].to_vec();
            rest = &rest[end + 2 + size..];
        }
        World::of(&entries)
    }

    /// That a commit is exactly this tree, that the work tree is what git says it is, and that nothing here is unsound.
    #[track_caller]
    pub(crate) fn assert_is(&self, commit: &str, tree: &Tree, what: &str) {
        assert_eq!(self.world(commit).tree, *tree, "{what}");
        if commit != "HEAD" {
            self.git(["checkout", "--quiet", "--detach", commit], b"");
        }
        assert_eq!(self.says(["status", "--porcelain"]), "", "{what}");
        self.git(["fsck", "--strict", "--no-progress"], b"");
    }
}

pub(crate) fn run<S: AsRef<OsStr>>(dir: &Path, words: impl IntoIterator<Item = S>, input: &[u8]) -> Output {
    let mut child = Command::new("git")
        .current_dir(dir)
        .args(words)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", dir)
        .env("GIT_CEILING_DIRECTORIES", dir.parent().unwrap())
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_COMMITTER_NAME", "C")
        .env("GIT_COMMITTER_EMAIL", "c@example.com")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let fed = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    // A program that reads none of it closes its end.
    let _ = fed.join().unwrap();
    output
}
