use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Mutex;

use ambit_ids::{Content, Digest, OrganizationId, ProjectId, limits};
use ambit_ports::blobs::{BlobBatch, BlobError, BlobWriter, OneByOne, one_after_another};
use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
use tempfile::TempDir;

use super::*;

/// A directory that stands for a workspace, and whether it stands for what was written in it as well.
struct Here(TempDir, bool);

#[async_trait]
impl Workspace for Here {
    async fn open(&self, layer: Layer, path: Option<&RepoPath>) -> io::Result<Result<OwnedFd, Errno>> {
        if layer == Layer::Written && !self.1 {
            return Ok(Err(Errno::OPNOTSUPP));
        }
        let top = fs::File::open(self.0.path())?;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        Ok(openat2(&top, path.map_or(&b"."[..], RepoPath::as_bytes), flags, Mode::empty(), resolve))
    }
}

#[derive(Default)]
struct Blobs(Mutex<Vec<Bytes>>);

#[async_trait]
impl BlobStore for Blobs {
    async fn put(&self, _: &Scope, bytes: Bytes) -> Result<Digest, BlobError> {
        self.0.lock().unwrap().push(bytes.clone());
        Ok(Digest::of(&bytes))
    }

    async fn create(&self, _: &Scope) -> Result<Box<dyn BlobWriter>, BlobError> {
        Err(BlobError::NotFound(Digest::of(b"")))
    }

    async fn batch<'a>(&'a self, scope: &Scope) -> Result<Box<dyn BlobBatch + 'a>, BlobError> {
        Ok(OneByOne::over(self, scope))
    }

    async fn get(&self, _: &Scope, digest: Digest, _: ByteCount) -> Result<Bytes, BlobError> {
        Err(BlobError::NotFound(digest))
    }

    async fn get_many(
        &self,
        scope: &Scope,
        digests: &[Digest],
        limit: ByteCount,
    ) -> Vec<Result<Content, BlobError>> {
        one_after_another(self, scope, digests, limit).await
    }

    async fn contains(&self, _: &Scope, _: Digest) -> Result<bool, BlobError> {
        Ok(false)
    }
}

/// What is taken of the directory `out`.
async fn taken(here: &Here, bytes: u64, entries: u32) -> Outputs {
    let scope =
        Scope { organization: OrganizationId::new("o").unwrap(), project: ProjectId::new("p").unwrap() };
    let path = "out".parse().unwrap();
    let declared = [DeclaredOutput { path, limit: ByteCount::new(bytes), entries: Some(entries) }];
    let blobs: Arc<dyn BlobStore> = Arc::new(Blobs::default());
    collect(here, &declared, &scope, &blobs).await.unwrap()
}

fn here(fill: impl FnOnce(&Path)) -> Here {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    fs::create_dir(&out).unwrap();
    fill(&out);
    Here(directory, true)
}

fn whys(outputs: &Outputs) -> Vec<(String, Option<&str>, OutputRefusal)> {
    outputs.refused.iter().map(|it| (it.path.to_string(), it.entry.as_deref(), it.why)).collect()
}

#[tokio::test]
async fn what_no_path_can_spell_is_told_by_its_name() {
    let here = here(|out| {
        fs::create_dir(out.join(".git")).unwrap();
        fs::write(out.join(".git/config"), "x").unwrap();
        fs::write(out.join(std::ffi::OsStr::from_bytes(b"caf\xe9")), "bytes are a name").unwrap();
    });
    let outputs = taken(&here, 100, 10).await;
    assert_eq!(outputs.kept.len(), 1, "{outputs:?}");
    assert_eq!(whys(&outputs), [("out".to_owned(), Some(".git"), OutputRefusal::Name)]);
}

#[tokio::test]
async fn what_is_not_a_file_is_told_and_costs_nothing_else() {
    let here = here(|out| {
        fs::write(out.join("kept"), "x").unwrap();
        symlink("kept", out.join("link")).unwrap();
        symlink("/nowhere", out.join("dangling")).unwrap();
        fs::create_dir(out.join("empty")).unwrap();
        let _socket = UnixListener::bind(out.join("socket")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, out.join("pipe"), Mode::from_raw_mode(0o600)).unwrap();
    });
    let outputs = taken(&here, 100, 10).await;
    assert_eq!(outputs.kept.iter().map(|kept| kept.path.to_string()).collect::<Vec<_>>(), ["out/kept"]);
    let names = ["out/dangling", "out/link", "out/pipe", "out/socket"].map(str::to_owned);
    let reasons =
        [OutputRefusal::Link, OutputRefusal::Link, OutputRefusal::NotAFile, OutputRefusal::NotAFile];
    let expected: Vec<_> = names.into_iter().zip(reasons).map(|(name, why)| (name, None, why)).collect();
    assert_eq!(whys(&outputs), expected);
}

#[tokio::test]
async fn more_directories_than_descriptors_are_no_obstacle() {
    let here = here(|out| {
        for number in 0..limits::OUTPUT_DIRECTORY_ENTRIES {
            fs::create_dir(out.join(number.to_string())).unwrap();
        }
    });
    let before = fs::read_dir("/proc/self/fd").unwrap().count();
    let outputs = taken(&here, 100, u32::MAX).await;
    assert_eq!(outputs, Outputs::default(), "as many entries as there may be");
    assert_eq!(fs::read_dir("/proc/self/fd").unwrap().count(), before);
    fs::create_dir(here.0.path().join("out/more")).unwrap();
    assert_eq!(whys(&taken(&here, 100, u32::MAX).await), [("out".to_owned(), None, OutputRefusal::TooMany)]);
}
