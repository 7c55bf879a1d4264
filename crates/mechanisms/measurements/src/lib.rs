//! Keeps what was measured of a backend, for as long as nothing that it depends on has changed.
//!
//! A measurement runs probes in real sandboxes and takes long beside everything else that a run does at its start. It is
//! kept in a file of the user, under the digest of all that it depends on ([`Facts`]), and counts for nothing once one of
//! those differs, a day is over, or the file is not plainly this user's own. Only a measurement in which every probe found
//! what it must find is kept: a failure is looked at anew each time.
//!
//! Each digest has a file of its own: one user is in several environments at once (a terminal, a service, a container with
//! the same home), and what is measured or fails in one says nothing about another.

#![forbid(unsafe_code)]

mod facts;

use std::fs::{File, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use ambit_ids::{BackendId, Digest, DurationMs, UnixMs};
use ambit_ports::sandbox::CapabilityManifest;
use rustix::fs::{CWD, FlockOperation, Mode, OFlags, flock, openat, renameat};
use rustix::io::Errno;
use tokio::time::Instant;

pub use facts::Facts;

/// The largest file that is read.
const MANIFEST_BYTES: usize = 256 << 10;
/// How long a measurement holds: what no fact tells of may have changed by then.
const AGE_MS: DurationMs = DurationMs::new(24 * 60 * 60 * 1000);

/// How long another process that measures is waited for.
const OTHERS_MEASURE: Duration = Duration::from_secs(30);
/// How often it is looked whether it has ended.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// So many measurements are kept, the newest.
const KEPT: usize = 8;

const TURN: &str = "turn";

/// The file of an environment.
fn file_of(environment: Digest) -> String {
    format!("manifest-{}", environment.to_hex())
}

/// Whether a measurement that was kept is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// It is, while it holds.
    #[default]
    Kept,
    /// The probes run, whatever was kept.
    Anew,
}

/// The measurements of one backend.
#[derive(Debug)]
pub struct Measurements {
    directory: PathBuf,
    backend: BackendId,
    trust: Trust,
}

/// While this lives no other process measures for the same file.
#[derive(Debug)]
pub struct Turn {
    _lock: File,
}

impl Measurements {
    /// Those that are kept in `directory`, which nothing else uses. Under a system-call filter of somebody else nothing
    /// that was kept is used: nobody can tell one filter from another.
    #[must_use]
    pub fn in_directory(directory: PathBuf, backend: BackendId, trust: Trust) -> Self {
        let trust = if facts::is_filtered() { Trust::Anew } else { trust };
        Self { directory, backend, trust }
    }

    /// Waits for the right to be the only process that measures, but not for ever: one that stands still must not stop all
    /// others. Where it does not come, or none can be had, whoever asks measures all the same.
    pub async fn turn_in_time(&self) -> Option<Turn> {
        self.turn_within(OTHERS_MEASURE).await
    }

    async fn turn_within(&self, patience: Duration) -> Option<Turn> {
        let last = Instant::now() + patience;
        loop {
            match self.turn() {
                Ok(None) if Instant::now() < last => tokio::time::sleep(LOOK_AGAIN).await,
                turn => return turn.ok().flatten(),
            }
        }
    }

    /// The right; `None` while another has it.
    fn turn(&self) -> io::Result<Option<Turn>> {
        self.make()?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let lock = File::from(openat(CWD, self.directory.join(TURN), flags, Mode::from_raw_mode(0o600))?);
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Turn { _lock: lock })),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// What was measured where everything is as it was, if that is kept and may be used.
    #[must_use]
    pub fn find(&self, environment: Digest, now: UnixMs) -> Option<CapabilityManifest> {
        if self.trust == Trust::Anew {
            return None;
        }
        let bytes = self.read(environment).ok()?;
        let manifest: CapabilityManifest = ambit_canonical::decode(&bytes, MANIFEST_BYTES).ok()?;
        let is_ours = manifest.backend_id == self.backend && manifest.environment == environment;
        let is_young = manifest.measured_at <= now && now.since(manifest.measured_at) <= AGE_MS;
        (is_ours && is_young && is_sound(&manifest)).then_some(manifest)
    }

    /// Keeps a measurement in the place of the last one of its environment, or forgets that where this one is not to be
    /// relied on.
    ///
    /// # Errors
    /// As of the file system; then nothing is kept, or what was.
    pub fn keep(&self, manifest: &CapabilityManifest) -> io::Result<()> {
        if !is_sound(manifest) {
            return self.forget(manifest.environment);
        }
        self.make()?;
        let bytes = ambit_canonical::encode(manifest).map_err(io::Error::other)?;
        let fresh = self.directory.join(format!("fresh-{}", std::process::id()));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(openat(CWD, &fresh, flags, Mode::from_raw_mode(0o600))?);
        file.set_permissions(Permissions::from_mode(0o600))?;
        file.write_all(bytes.as_bytes())?;
        renameat(CWD, &fresh, CWD, self.directory.join(file_of(manifest.environment)))?;
        self.forget_the_oldest();
        Ok(())
    }

    /// Forgets what was kept of an environment.
    ///
    /// # Errors
    /// As of the file system.
    pub fn forget(&self, environment: Digest) -> io::Result<()> {
        match std::fs::remove_file(self.directory.join(file_of(environment))) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }

    /// Environments come and go. What cannot be removed now is the oldest the next time as well.
    fn forget_the_oldest(&self) {
        let entries = std::fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let files = entries.filter(|entry| entry.file_name() != TURN);
        let mut kept: Vec<(SystemTime, PathBuf)> =
            files.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()))).collect();
        kept.sort();
        let surplus = kept.len().saturating_sub(KEPT);
        for (_, oldest) in kept.drain(..surplus) {
            let _ = std::fs::remove_file(oldest);
        }
    }

    fn make(&self) -> io::Result<()> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.directory)
    }

    fn read(&self, environment: Digest) -> io::Result<Vec<u8>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = File::from(openat(CWD, &self.directory, flags, Mode::empty())?);
        must_be_own(&directory)?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = File::from(openat(&directory, file_of(environment), flags, Mode::empty())?);
        must_be_own(&file)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() || metadata.nlink() != 1 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut bytes = Vec::new();
        file.take(MANIFEST_BYTES as u64 + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

/// Whoever else could have written it could say what it likes.
fn must_be_own(file: &File) -> io::Result<()> {
    let metadata = file.metadata()?;
    if metadata.uid() == rustix::process::geteuid().as_raw() && metadata.mode() & 0o077 == 0 {
        return Ok(());
    }
    Err(io::ErrorKind::PermissionDenied.into())
}

/// Whether every probe found what it must find, and there are some.
fn is_sound(manifest: &CapabilityManifest) -> bool {
    !manifest.evidence_probes.is_empty() && manifest.evidence_probes.iter().all(|probe| probe.passed)
}

#[cfg(test)]
mod tests;
