//! A repository, a store, and the words to fill and compare them.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ambit_blobs::DirectoryBlobs;
use ambit_git_import::{ImportError, ImportOptions, Imported, Rev, import};
use ambit_ids::{ByteCount, OrganizationId, ProjectId, Scope, limits};
use ambit_ports::blobs::BlobStore as _;
use ambit_revision::{FileKind, Tree};
use tempfile::TempDir;

/// Whether git is on this machine; what needs it is skipped where it is not.
pub(crate) fn is_git_here(test: &str) -> bool {
    let here = Command::new("git").arg("--version").output().is_ok();
    if !here {
        println!("skipped: GIT_ABSENT {test}");
    }
    here
}

/// A repository named `project` in a directory of its own, and blobs beside it.
pub(crate) struct World {
    pub(crate) blobs: DirectoryBlobs,
    home: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let world = Self::empty();
        world.git(&["init", "--quiet", "--initial-branch=main"]);
        world
    }

    pub(crate) fn empty() -> Self {
        let home = TempDir::new().unwrap();
        fs::create_dir(home.path().join("project")).unwrap();
        let blobs = DirectoryBlobs::open(&home.path().join("blobs")).unwrap();
        Self { blobs, home }
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    pub(crate) fn dir(&self) -> PathBuf {
        self.home().join("project")
    }

    pub(crate) fn path(&self, name: impl AsRef<[u8]>) -> PathBuf {
        self.dir().join(OsStr::from_bytes(name.as_ref()))
    }

    pub(crate) fn file(&self, name: impl AsRef<[u8]>, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn executable(&self, name: &str, content: &str) {
        self.file(name, content);
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(crate) fn link(&self, name: &str, target: &str) {
        symlink(target, self.path(name)).unwrap();
    }

    /// What git says in the repository.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        String::from_utf8_lossy(&said(git(&self.dir()).args(arguments))).trim_end().to_owned()
    }

    /// What git says where it is fed.
    pub(crate) fn git_fed(&self, arguments: &[&str], input: &[u8]) -> String {
        let input_path = self.home().join("input");
        fs::write(&input_path, input).unwrap();
        let output = said(git(&self.dir()).args(arguments).stdin(fs::File::open(input_path).unwrap()));
        String::from_utf8_lossy(&output).trim_end().to_owned()
    }

    /// Commits everything.
    pub(crate) fn commit(&self) -> String {
        self.git(&["add", "--all", "--force"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", "a commit"]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// A tree object of these bytes, whatever git thinks of them.
    pub(crate) fn tree_object(&self, bytes: &[u8]) -> String {
        self.git_fed(&["hash-object", "-t", "tree", "--literally", "-w", "--stdin"], bytes)
    }

    /// A commit of a tree.
    pub(crate) fn commit_tree(&self, tree: &str) -> String {
        self.git(&["commit-tree", tree, "-m", "a commit"])
    }

    pub(crate) fn import(&self, at: &str) -> Result<Imported, ImportError> {
        self.import_with(at, ImportOptions::default())
    }

    pub(crate) fn import_with(&self, at: &str, options: ImportOptions) -> Result<Imported, ImportError> {
        self.import_from(&self.dir(), at, options)
    }

    pub(crate) fn import_from(
        &self,
        dir: &Path,
        at: &str,
        options: ImportOptions,
    ) -> Result<Imported, ImportError> {
        wait(import(dir, &at.parse::<Rev>().unwrap(), &scope(), &self.blobs, options))
    }

    /// The code of the refusal and what it says.
    pub(crate) fn refusal(&self, at: &str) -> (&'static str, String) {
        self.refusal_from(&self.dir(), at)
    }

    pub(crate) fn refusal_from(&self, dir: &Path, at: &str) -> (&'static str, String) {
        let error = self.import_from(dir, at, ImportOptions::default()).unwrap_err();
        (error.code(), error.to_string())
    }

    /// The content of a file of a tree.
    pub(crate) fn content(&self, tree: &Tree, path: &[u8]) -> Vec<u8> {
        let path = ambit_ids::RepoPath::from_bytes(path).unwrap();
        let file = tree.get(&path).unwrap();
        let limit = ByteCount::new(limits::FILE_BYTES);
        wait(self.blobs.get(&scope(), file.content, limit)).unwrap().to_vec()
    }

    /// Every loose object, as one file each.
    pub(crate) fn object_file(&self, id: &str) -> PathBuf {
        self.path(format!(".git/objects/{}/{}", &id[..2], &id[2..]))
    }
}

/// Git without any configuration but that of the repository itself, on a day that is always the same.
pub(crate) fn git(dir: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .current_dir(dir)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", dir.join("nobody"))
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_AUTHOR_NAME", "a")
        .env("GIT_AUTHOR_EMAIL", "a@example.com")
        .env("GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z")
        .env("GIT_COMMITTER_NAME", "a")
        .env("GIT_COMMITTER_EMAIL", "a@example.com")
        .env("GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z")
        .args(["-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "protocol.file.allow=always"])
        .stdin(Stdio::null());
    command
}

pub(crate) fn said(command: &mut Command) -> Vec<u8> {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

pub(crate) fn scope() -> Scope {
    Scope { organization: OrganizationId::new("acme").unwrap(), project: ProjectId::new("todo").unwrap() }
}

/// Every file of a tree as text: its kind and its path.
pub(crate) fn listed(tree: &Tree) -> Vec<String> {
    let kind = |kind| match kind {
        FileKind::File => "file",
        FileKind::Executable => "exec",
        FileKind::Link => "link",
    };
    tree.files().map(|(path, file)| format!("{} {path}", kind(file.kind))).collect()
}

/// Every future here can be moved to another thread, as a server moves them.
pub(crate) fn wait<T>(future: impl Future<Output = T> + Send) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

/// Bytes that nothing makes smaller, the same in every run (SplitMix64).
pub(crate) fn noise(size_bytes: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)).to_be_bytes()
    };
    let mut bytes: Vec<u8> = (0..size_bytes.div_ceil(8)).flat_map(|_| next()).collect();
    bytes.truncate(size_bytes);
    bytes
}
