use std::io;
use std::path::PathBuf;

use ambit_ids::ByteCount;

use crate::name::NameFault;

/// Why a bundle cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// The file or directory cannot be opened.
    #[error("{} cannot be opened", .path.display())]
    Unreachable {
        /// Where it should be.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// What was opened is neither a regular file nor a directory.
    #[error("{} is neither a directory nor a file", .0.display())]
    NoBundle(PathBuf),
    /// A part of it cannot be read.
    #[error("{name} cannot be read")]
    Io {
        /// The member, or what else it is.
        name: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A name that no member may have.
    #[error("`{name}` is no name of a member: {fault}")]
    Name {
        /// The name, as far as it is text.
        name: String,
        /// What is wrong with it.
        fault: NameFault,
    },
    /// An entry that is no plain file.
    #[error("`{name}` is {what}, and a bundle holds nothing but plain files")]
    Entry {
        /// The name.
        name: String,
        /// What it is.
        what: &'static str,
    },
    /// The tar is not the one that its members make.
    #[error("the tar is malformed at byte {offset}: {why}")]
    Archive {
        /// Where.
        offset: u64,
        /// How.
        why: &'static str,
    },
    /// More than can be read.
    #[error("{what}: more than {most}, which is the most that is read")]
    TooMuch {
        /// Of what.
        what: &'static str,
        /// The bound.
        most: u64,
    },
    /// A member that is larger than can be read.
    #[error("`{name}` has {found}, more than the {most} that are read")]
    TooLarge {
        /// The member.
        name: String,
        /// Its size.
        found: ByteCount,
        /// The bound.
        most: ByteCount,
    },
    /// The list of members is missing.
    #[error("there is no `{}`: this is no evidence bundle", crate::MANIFEST)]
    NoManifest,
    /// The list of members is none.
    #[error("`{}` is malformed: {why}", crate::MANIFEST)]
    Manifest {
        /// How.
        why: String,
    },
    /// The member is not in the bundle.
    #[error("`{0}` is not in the bundle")]
    Absent(String),
    /// The member is not what a member of its name is.
    #[error("`{name}` was altered: {why}")]
    Altered {
        /// The member.
        name: String,
        /// How that shows.
        why: String,
    },
}

impl BundleError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unreachable { .. } | Self::NoBundle(_) | Self::Io { .. } => "BUNDLE_UNREADABLE",
            Self::Name { .. } => "BUNDLE_NAME_REFUSED",
            Self::Entry { .. } => "BUNDLE_ENTRY_REFUSED",
            Self::Archive { .. } => "BUNDLE_ARCHIVE_MALFORMED",
            Self::TooMuch { .. } | Self::TooLarge { .. } => "BUNDLE_TOO_LARGE",
            Self::NoManifest => "BUNDLE_WITHOUT_MANIFEST",
            Self::Manifest { .. } => "BUNDLE_MANIFEST_MALFORMED",
            Self::Absent(_) => "BUNDLE_MEMBER_MISSING",
            Self::Altered { .. } => "BUNDLE_MEMBER_ALTERED",
        }
    }

    pub(crate) fn io(name: impl Into<String>, source: io::Error) -> Self {
        Self::Io { name: name.into(), source }
    }
}
