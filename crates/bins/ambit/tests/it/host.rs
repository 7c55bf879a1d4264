//! A repository of the host, with everything about it that a run must leave as it is.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Git as nobody, without any configuration but that of the repository, and without taking locks to remember what it
/// saw.
pub(crate) fn git<S: AsRef<OsStr>>(dir: &Path, words: impl IntoIterator<Item = S>) -> String {
    let mut command = Command::new("git");
    command
        .current_dir(dir)
        .args(words)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_OPTIONAL_LOCKS", "0");
    for role in ["AUTHOR", "COMMITTER"] {
        command
            .env(format!("GIT_{role}_NAME"), "ada")
            .env(format!("GIT_{role}_EMAIL"), "ada@example.com")
            .env(format!("GIT_{role}_DATE"), "1700000000 +0000");
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

/// Whether there is a git; a test without one says that it is skipped.
pub(crate) fn is_git_here(test: &str) -> bool {
    let here = Command::new("git").arg("--version").output().is_ok();
    if !here {
        println!("skipped: GIT_ABSENT {test}");
    }
    here
}

/// Makes a directory a repository, with everything in it committed on `main`. Answers the commit.
pub(crate) fn commit_all(dir: &Path, message: &str) -> String {
    if !dir.join(".git").exists() {
        git(dir, ["init", "--quiet", "--initial-branch=main"]);
    }
    git(dir, ["add", "--all"]);
    git(dir, ["commit", "--quiet", "--message", message]);
    git(dir, ["rev-parse", "HEAD"])
}

/// Everything about one entry that a program could change: mode, when its content and when anything of it was last
/// changed, and its content.
type Entry = (u32, (i64, i64), (i64, i64), Vec<u8>);

/// Every entry below a directory, with those of `.git`, and what git says of the work tree and the references.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Host {
    entries: BTreeMap<PathBuf, Entry>,
    status: String,
    references: String,
}

impl Host {
    /// The host as it is now.
    pub(crate) fn of(dir: &Path) -> Self {
        let mut entries = BTreeMap::new();
        take(dir, &mut entries);
        let is_bare = git(dir, ["rev-parse", "--is-bare-repository"]) == "true";
        let status = if is_bare { String::new() } else { git(dir, ["status", "--porcelain", "--ignored"]) };
        let references = git(dir, ["for-each-ref", "--format=%(refname) %(objectname)"]);
        Self { entries, status, references }
    }

    /// The entries that are not as they were.
    pub(crate) fn dirt(&self, now: &Self) -> Vec<PathBuf> {
        let names = self.entries.keys().chain(now.entries.keys());
        let mut dirt: Vec<PathBuf> =
            names.filter(|name| self.entries.get(*name) != now.entries.get(*name)).cloned().collect();
        if self.status != now.status || self.references != now.references {
            dirt.push(PathBuf::from(format!("{} | {}", now.status, now.references)));
        }
        dirt.sort();
        dirt.dedup();
        dirt
    }

    /// That nothing is other than it was.
    #[track_caller]
    pub(crate) fn assert_untouched(&self, dir: &Path) {
        assert_eq!(self.dirt(&Self::of(dir)), Vec::<PathBuf>::new());
    }
}

fn take(path: &Path, entries: &mut BTreeMap<PathBuf, Entry>) {
    let seen = path.symlink_metadata().unwrap();
    let content = if seen.is_file() { fs::read(path).unwrap() } else { Vec::new() };
    let changed = ((seen.mtime(), seen.mtime_nsec()), (seen.ctime(), seen.ctime_nsec()));
    entries.insert(path.to_path_buf(), (seen.mode(), changed.0, changed.1, content));
    if seen.is_dir() {
        for child in fs::read_dir(path).unwrap() {
            take(&child.unwrap().path(), entries);
        }
    }
}

#[test]
fn a_host_that_was_touched_is_noticed_however_little() {
    if !is_git_here("a_host_that_was_touched_is_noticed_however_little") {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let (host, far) = (place.path().join("host"), place.path().join("far.git"));
    fs::create_dir(&host).unwrap();
    fs::write(host.join("file"), "text").unwrap();
    fs::write(host.join(".gitignore"), "ignored\n").unwrap();
    commit_all(&host, "first");
    git(place.path(), ["clone", "--quiet", "--bare", "host", "far.git"]);
    let noticed = |dir: &Path, what: &dyn Fn(), name: &str| {
        let before = Host::of(dir);
        before.assert_untouched(dir);
        what();
        let dirt = before.dirt(&Host::of(dir));
        assert!(dirt.iter().any(|path| path.ends_with(name)), "{name}: {dirt:?}");
    };
    noticed(&host, &|| fs::write(host.join("file"), "text").unwrap(), "file");
    noticed(&host, &|| fs::write(host.join("ignored"), "").unwrap(), "ignored");
    noticed(&host, &|| fs::write(host.join(".git/hooks/post-commit"), "").unwrap(), "hooks/post-commit");
    noticed(&host, &|| drop(git(&host, ["update-ref", "refs/heads/made", "HEAD"])), "refs/heads/made");
    noticed(
        &far,
        &|| drop(git(&host, ["push", "--quiet", "../far.git", "HEAD:pushed"])),
        "refs/heads/pushed",
    );
}
