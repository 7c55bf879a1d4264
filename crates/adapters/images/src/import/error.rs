use std::io;
use std::path::PathBuf;

use ambit_ids::Digest;
use ambit_ports::images::ImageError;

use crate::import::bounds::Passed;

/// What is wrong with one entry of an archive.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EntryFault {
    /// Its path begins with `/`.
    #[error("its path is absolute")]
    Absolute,
    /// Its path has a part `..`.
    #[error("its path has a part `..`")]
    Climbs,
    /// Its path is empty, too long, or holds a NUL; or a part of it does.
    #[error("its name is empty, too long, or holds a NUL")]
    Name,
    /// It lies too deep.
    #[error("it lies below more than {limit} directories", limit = crate::limits::IMPORTED_DEPTH)]
    TooDeep,
    /// Its way leads through a symbolic link.
    #[error("its way leads through the symbolic link {}", .0.display())]
    ThroughLink(PathBuf),
    /// It lies below something that is no directory.
    #[error("it lies below {}, which is no directory", .0.display())]
    BelowFile(PathBuf),
    /// A symbolic link that climbs above the root.
    #[error("the symbolic link leads above the root")]
    LinkLeaves,
    /// A hard link to a path that leaves the image.
    #[error("the hard link leads out of the image")]
    HardLinkLeaves,
    /// A hard link to what is not there, or is a directory.
    #[error("the hard link leads to {}, where there is no file", .0.display())]
    HardLinkMissing(PathBuf),
    /// A device.
    #[error("it is a device")]
    Device,
    /// A pipe or socket.
    #[error("it is a pipe or a socket")]
    Pipe,
    /// A file with holes in the encoding of GNU tar.
    #[error("it is a sparse file; pack it without `--sparse`")]
    Sparse,
    /// A type that no standard knows.
    #[error("its type {0:?} is none that an image can hold")]
    Kind(char),
    /// It has content and is no file.
    #[error("it has content and is no file")]
    Content,
    /// The archive has another entry of this path.
    #[error("the archive has it twice")]
    Twice,
    /// A whiteout of a form that the image format does not have, or with no layer below it.
    #[error("it is a whiteout that hides nothing that can be named")]
    Whiteout,
}

impl EntryFault {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Absolute => "IMAGE_ENTRY_ABSOLUTE",
            Self::Climbs => "IMAGE_ENTRY_CLIMBS",
            Self::Name => "IMAGE_ENTRY_NAME",
            Self::TooDeep => "IMAGE_ENTRY_TOO_DEEP",
            Self::ThroughLink(_) => "IMAGE_ENTRY_THROUGH_LINK",
            Self::BelowFile(_) => "IMAGE_ENTRY_BELOW_FILE",
            Self::LinkLeaves => "IMAGE_ENTRY_LINK_LEAVES",
            Self::HardLinkLeaves => "IMAGE_ENTRY_HARD_LINK_LEAVES",
            Self::HardLinkMissing(_) => "IMAGE_ENTRY_HARD_LINK_MISSING",
            Self::Device => "IMAGE_ENTRY_DEVICE",
            Self::Pipe => "IMAGE_ENTRY_PIPE",
            Self::Sparse => "IMAGE_ENTRY_SPARSE",
            Self::Kind(_) => "IMAGE_ENTRY_KIND",
            Self::Content => "IMAGE_ENTRY_CONTENT",
            Self::Twice => "IMAGE_ENTRY_TWICE",
            Self::Whiteout => "IMAGE_ENTRY_WHITEOUT",
        }
    }
}

/// Why nothing was imported. The store is as it was before.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The source cannot be read.
    #[error("{} cannot be read; nothing was imported. Let this user read it", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The source is nothing that can be imported.
    #[error(
        "{} is no image: {why}; nothing was imported. Name an OCI image layout, as a directory or a tar, or a tar of a \
         root file system",
        path.display()
    )]
    Unfit {
        /// The source.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A document of the layout does not say what it must.
    #[error("{document} cannot be used: {why}; nothing was imported")]
    Document {
        /// The file in the layout.
        document: String,
        /// What is wrong with it.
        why: String,
    },
    /// A blob is not in the layout.
    #[error("the layout has no blob {0}; nothing was imported. Fetch the image again, all of it")]
    BlobMissing(Digest),
    /// A blob is not what its descriptor says.
    #[error("the blob {expected} is {found}; nothing was imported. Fetch the image again")]
    BlobAltered {
        /// The digest that the descriptor tells.
        expected: Digest,
        /// What was found instead.
        found: String,
    },
    /// A layer decompresses to something else than the configuration says.
    #[error("{layer} decompresses to {found}, and the image names {expected}; nothing was imported")]
    LayerAltered {
        /// The layer.
        layer: String,
        /// The digest that the configuration tells.
        expected: Digest,
        /// The digest that was computed.
        found: Digest,
    },
    /// A layer is packed in a way that is not read here.
    #[error(
        "{layer} is of the type {media_type}, which is not read here; nothing was imported. Convert the image so that \
         its layers are tar or gzip, as `skopeo copy --dest-compress-format gzip` does"
    )]
    LayerUnsupported {
        /// The layer.
        layer: String,
        /// Its media type.
        media_type: String,
    },
    /// Several images fit.
    #[error(
        "several images fit {wanted}: {}; nothing was imported. Choose with --platform or --ref",
        found.join(", ")
    )]
    Several {
        /// What was looked for.
        wanted: String,
        /// Those that fit.
        found: Vec<String>,
    },
    /// No image fits.
    #[error(
        "no image fits {wanted}; {}; nothing was imported. Choose with --platform or --ref",
        listed(found)
    )]
    NoneFits {
        /// What was looked for.
        wanted: String,
        /// Those that there are.
        found: Vec<String>,
    },
    /// An archive is cut off, has bytes after its end, or is damaged.
    #[error("{archive} is damaged: {why}; nothing was imported. Make it or fetch it again")]
    Damaged {
        /// The archive.
        archive: String,
        /// What is wrong with it.
        why: String,
    },
    /// An archive decompresses to far more than it has.
    #[error("{archive} decompresses to more than {limit}; nothing was imported")]
    Bomb {
        /// The archive.
        archive: String,
        /// The limit, with its unit.
        limit: String,
    },
    /// An entry cannot be a part of an image.
    #[error("`{entry}` of {archive} is refused: {fault}; nothing was imported")]
    Entry {
        /// Its path, as far as it is text.
        entry: String,
        /// The archive.
        archive: String,
        /// What is wrong with it.
        fault: EntryFault,
    },
    /// A path where a sandbox or every image has something of its own is taken by something else.
    #[error(
        "{} would be a directory in every sandbox, and the source has something else there; nothing was imported",
        path.display()
    )]
    Conflict {
        /// The path.
        path: PathBuf,
    },
    /// More than an image can hold.
    #[error("an import takes at most {limit}; nothing was imported")]
    TooLarge {
        /// The limit, with its unit.
        limit: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] ImageError),
}

impl ImportError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "IMAGE_SOURCE_UNREADABLE",
            Self::Unfit { .. } => "IMAGE_SOURCE_UNFIT",
            Self::Document { .. } => "IMAGE_DOCUMENT_UNFIT",
            Self::BlobMissing(_) => "IMAGE_BLOB_MISSING",
            Self::BlobAltered { .. } => "IMAGE_BLOB_CORRUPT",
            Self::LayerAltered { .. } => "IMAGE_LAYER_CORRUPT",
            Self::LayerUnsupported { .. } => "IMAGE_LAYER_UNSUPPORTED",
            Self::Several { .. } => "IMAGE_CHOICE_NEEDED",
            Self::NoneFits { .. } => "IMAGE_CHOICE_EMPTY",
            Self::Damaged { .. } => "IMAGE_ARCHIVE_DAMAGED",
            Self::Bomb { .. } => "IMAGE_ARCHIVE_BOMB",
            Self::Entry { fault, .. } => fault.code(),
            Self::Conflict { .. } => "IMAGE_PATH_CONFLICT",
            Self::TooLarge { .. } => "IMAGE_TOO_LARGE",
            Self::Store(error) => error.code(),
        }
    }
}

impl From<Passed> for ImportError {
    fn from(Passed(limit): Passed) -> Self {
        Self::TooLarge { limit }
    }
}

fn listed(found: &[String]) -> String {
    if found.is_empty() { "there is none".to_owned() } else { format!("there is {}", found.join(", ")) }
}
