//! A home of one test alone, to be damaged.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use rusqlite::Connection;
use tempfile::TempDir;

use crate::rig::{Answered, Project, TOOLS, blueprint, diligent};

/// A project whose home is a directory of its own.
pub(crate) struct Elsewhere {
    pub(crate) project: Project,
    pub(crate) home: PathBuf,
    _kept: TempDir,
}

impl Elsewhere {
    /// A project with its documents, in a home that does not exist yet.
    pub(crate) fn empty() -> Self {
        let kept = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let home = kept.path().join("home");
        let project = Project::empty();
        project.write("blueprint.yaml", &blueprint(""));
        Self { project, home, _kept: kept }
    }

    /// The same, with the image, an approver and the approved blueprint.
    pub(crate) fn prepared() -> Self {
        let elsewhere = Self::empty();
        elsewhere.prepare();
        elsewhere
    }

    /// The same, with the run `first`, which is preview-ready.
    pub(crate) fn finished() -> Self {
        let elsewhere = Self::prepared();
        elsewhere.start("first", &diligent("finish")).well();
        elsewhere
    }

    /// Makes the home: an image, an approver and the approved blueprint.
    pub(crate) fn prepare(&self) {
        let capture = ["image", "capture", "--name", "tools"].into_iter().chain(TOOLS);
        self.ambit(capture).well();
        self.ambit(["approver", "init", "--name", "ada", "--out", "approver.key"]).well();
        self.ambit(["blueprint", "approve", "blueprint.yaml", "--credential-file", "approver.key"]).well();
    }

    pub(crate) fn command<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>) -> Command {
        let mut command = self.project.command(words);
        command.env("AMBIT_HOME", &self.home);
        command
    }

    pub(crate) fn ambit<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>) -> Answered {
        Answered::of(self.command(words).output().unwrap())
    }

    pub(crate) fn start(&self, name: &str, agent: &str) -> Answered {
        self.ambit(self.project.start_words(name, agent))
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.home.join("store.sqlite")
    }

    /// The store as somebody with the file and without this program reaches it. The triggers that guard its rows are
    /// taken away for the time of the work, and are there again afterwards: the work leaves no other trace.
    pub(crate) fn with_store<T>(&self, work: impl FnOnce(&Connection) -> T) -> T {
        let store = Connection::open(self.store()).unwrap();
        store.pragma_update(None, "foreign_keys", false).unwrap();
        let guards: Vec<(String, String)> = store
            .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
            .unwrap()
            .query_map((), |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        for (name, _) in &guards {
            store.execute_batch(&format!("DROP TRIGGER {name}")).unwrap();
        }
        let done = work(&store);
        for (_, sql) in &guards {
            store.execute_batch(sql).unwrap();
        }
        done
    }

    /// The store's bytes with nothing left in its log.
    pub(crate) fn store_bytes(&self) -> Vec<u8> {
        let store = Connection::open(self.store()).unwrap();
        store.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(())).unwrap();
        drop(store);
        std::fs::read(self.store()).unwrap()
    }

    /// Puts the store back as it was.
    pub(crate) fn restore(&self, bytes: &[u8]) {
        for log in ["store.sqlite-wal", "store.sqlite-shm"] {
            let _ = std::fs::remove_file(self.home.join(log));
        }
        std::fs::write(self.store(), bytes).unwrap();
    }

    /// The file of a blob, by its digest as it is told.
    pub(crate) fn blob(&self, digest: &str) -> PathBuf {
        let hex = digest.strip_prefix("sha256:").unwrap();
        let (shard, file) = hex.split_at(2);
        self.home.join("blobs/acme").join(&self.project.name).join(shard).join(file)
    }

    /// The files below a directory of the home.
    pub(crate) fn entries(&self, directory: &str) -> Vec<PathBuf> {
        let Ok(read) = std::fs::read_dir(self.home.join(Path::new(directory))) else { return Vec::new() };
        read.map(|entry| entry.unwrap().path()).collect()
    }
}
