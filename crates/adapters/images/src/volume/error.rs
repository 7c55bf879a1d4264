use std::io;
use std::path::PathBuf;

use ambit_ports::images::ImageError;
use ambit_ports::volumes::VolumeError;

/// Why no volume was captured. The store is as it was before.
#[derive(Debug, thiserror::Error)]
pub enum VolumeCaptureError {
    /// Something of the source cannot be read, or became another thing while it was read.
    #[error(
        "{path:?} cannot be read; nothing was captured. Let this user read it, and let nothing change it meanwhile"
    )]
    Unreadable {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A device, pipe or socket.
    #[error("{path:?} is a device, a pipe or a socket; nothing was captured. Take it out of the directory")]
    Special {
        /// Where it lies.
        path: PathBuf,
    },
    /// A symbolic link that would lead out of the volume.
    #[error(
        "{path:?} is a link to {target:?}, which is outside of the volume; nothing was captured. \
         Put what it leads to in its place, or take it out of the directory"
    )]
    LinkLeaves {
        /// The link.
        path: PathBuf,
        /// Where it leads.
        target: PathBuf,
    },
    /// More than a volume can hold.
    #[error("a volume holds at most {limit}; nothing was captured. Capture less")]
    TooLarge {
        /// The limit, with its unit.
        limit: String,
    },
    /// The directory holds the store, or lies in it.
    #[error(
        "{path:?} and the store of images lie in each other; nothing was captured. Name another directory"
    )]
    Overlaps {
        /// The directory.
        path: PathBuf,
    },
    /// The directory is a virtual environment without one `site-packages`.
    #[error(
        "{path:?} is a virtual environment with {found} directories `lib/python3*/site-packages`, not one; nothing \
         was captured. Name the one that is meant"
    )]
    SitePackages {
        /// The environment.
        path: PathBuf,
        /// How many there are.
        found: usize,
    },
    /// The `Cargo.lock` is not one that is read here.
    #[error(
        "{path:?} cannot be read as a Cargo.lock: {why}; nothing was captured. `cargo generate-lockfile` writes one"
    )]
    LockMalformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Crates that come from elsewhere than the registry `crates-io`.
    #[error(
        "only crates of the registry `crates-io` are captured, and these are not: {}; nothing was captured. Depend on their published \
         versions, or keep them in the repository as path dependencies",
        .0.join(", ")
    )]
    SourceUnsupported(Vec<String>),
    /// Crates that were never fetched on this machine.
    #[error(
        "not on this machine: {}; nothing was captured. `cargo fetch --locked` in the directory of the lock fetches them",
        some(.0)
    )]
    CratesMissing(Vec<String>),
    /// A crate on this machine is not the one that the lock names.
    #[error(
        "{path:?} is not the crate that the lock names: its checksum differs; nothing was captured. Remove it, and \
         fetch it anew with `cargo fetch --locked`"
    )]
    CrateAltered {
        /// The file.
        path: PathBuf,
    },
    /// The archive of a crate holds what no crate needs.
    #[error("the archive of the crate {name} is not unpacked: {why}; nothing was captured")]
    ArchiveRefused {
        /// The crate, with its version.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] VolumeError),
}

impl VolumeCaptureError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "VOLUME_SOURCE_UNREADABLE",
            Self::Special { .. } => "VOLUME_SPECIAL_FILE",
            Self::LinkLeaves { .. } => "VOLUME_LINK_LEAVES",
            Self::TooLarge { .. } => "VOLUME_TOO_LARGE",
            Self::Overlaps { .. } => "VOLUME_SOURCE_OVERLAPS",
            Self::SitePackages { .. } => "VOLUME_SITE_PACKAGES",
            Self::LockMalformed { .. } => "VOLUME_LOCK_MALFORMED",
            Self::SourceUnsupported(_) => "VOLUME_SOURCE_UNSUPPORTED",
            Self::CratesMissing(_) => "VOLUME_CRATES_MISSING",
            Self::CrateAltered { .. } => "VOLUME_CRATE_ALTERED",
            Self::ArchiveRefused { .. } => "VOLUME_ARCHIVE_REFUSED",
            Self::Store(error) => error.code(),
        }
    }
}

impl From<ImageError> for VolumeCaptureError {
    fn from(error: ImageError) -> Self {
        Self::Store(of_store(error))
    }
}

/// An error of the parts that images and volumes share, as one about a volume.
pub(super) fn of_store(error: ImageError) -> VolumeError {
    match error {
        ImageError::NotFound(digest) => VolumeError::NotFound(digest),
        ImageError::Corrupt { expected, found } => VolumeError::Corrupt { expected, found },
        ImageError::Io { path, source } => VolumeError::Io { path, source },
        other => VolumeError::Io { path: PathBuf::new(), source: io::Error::other(other) },
    }
}

pub(super) fn unreadable(path: PathBuf) -> impl FnOnce(io::Error) -> VolumeCaptureError {
    move |source| VolumeCaptureError::Unreadable { path, source }
}

/// The first of some names, and how many more there are.
fn some(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let shown = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
