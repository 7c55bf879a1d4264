//! Checkpoints: which log, how many records, which root.

use std::fmt;
use std::str::FromStr;

use ambit_ids::Digest;

use crate::key::{NAME_BYTES, VerifierKey};
use crate::merkle::empty_root;
use crate::note::{Note, NoteError, Signers};
use crate::spelling::{base64, decimal, hash};

/// Why a checkpoint is not written, not read or not believed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CheckpointError {
    /// No origin: empty, too long, or with a control character in it.
    #[error("an origin is one line of 1 to {NAME_BYTES} bytes; nothing is used. Correct the name of the log")]
    Origin,
    /// Not an origin, a size and a root, each on a line of its own and spelled in the one way.
    #[error("the checkpoint is malformed in line {line}; nothing of it is used. Fetch it again")]
    Form {
        /// The line, counted from 1.
        line: usize,
    },
    /// A tree without records with another root than that tree has.
    #[error("a log without records has another root; the checkpoint is not written. Compute it again")]
    EmptyRoot,
    /// The checkpoint is that of another log.
    #[error("the checkpoint is that of another log; it is not used. Fetch the one of the log that you ask")]
    OtherLog,
    /// The checkpoint has extension lines, which nobody audits.
    #[error("the checkpoint has lines that no monitor audits; it is not used. Ask the log to leave them out")]
    Extended,
    /// The note is refused.
    #[error("the checkpoint is not believed")]
    Note(#[source] NoteError),
}

impl CheckpointError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Origin => "CHECKPOINT_ORIGIN",
            Self::Form { .. } => "CHECKPOINT_FORM",
            Self::EmptyRoot => "CHECKPOINT_EMPTY_ROOT",
            Self::OtherLog => "CHECKPOINT_OTHER_LOG",
            Self::Extended => "CHECKPOINT_EXTENDED",
            Self::Note(error) => error.code(),
        }
    }
}

/// Which log: one line, compared byte by byte.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Origin(String);

impl Origin {
    /// The line.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Origin {
    type Err = CheckpointError;

    fn from_str(text: &str) -> Result<Self, CheckpointError> {
        let good = !text.is_empty() && text.len() <= NAME_BYTES && !text.contains(char::is_control);
        if good { Ok(Self(text.to_owned())) } else { Err(CheckpointError::Origin) }
    }
}

/// The head of a log's tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checkpoint {
    /// The log.
    pub origin: Origin,
    /// How many records it has.
    pub size: u64,
    /// The root of the tree over them.
    pub root: Digest,
}

/// A checkpoint as it was read, with what else its text says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadCheckpoint {
    /// The checkpoint.
    pub checkpoint: Checkpoint,
    /// Lines behind the root. No checkpoint of ours has any.
    pub extension_lines: Vec<String>,
}

impl Checkpoint {
    /// The text that is signed. It has no extension lines: there is no way to write one.
    ///
    /// # Errors
    /// [`CheckpointError::EmptyRoot`].
    pub fn to_text(&self) -> Result<String, CheckpointError> {
        if self.size == 0 && self.root != empty_root() {
            return Err(CheckpointError::EmptyRoot);
        }
        Ok(format!("{}\n{}\n{}\n", self.origin, self.size, base64(self.root.as_bytes())))
    }

    /// Reads the text of a note as a checkpoint, whoever signed it.
    ///
    /// # Errors
    /// [`CheckpointError`] where it is not spelled as a checkpoint is.
    pub fn read(text: &str) -> Result<ReadCheckpoint, CheckpointError> {
        let form = |line| CheckpointError::Form { line };
        let lines: Vec<&str> = text.strip_suffix('\n').ok_or(form(1))?.split('\n').collect();
        let [origin, size, root, extension @ ..] = lines.as_slice() else {
            return Err(form(lines.len() + 1));
        };
        if let Some(at) = extension.iter().position(|line| line.is_empty()) {
            return Err(form(at + 4));
        }
        Ok(ReadCheckpoint {
            checkpoint: Self {
                origin: origin.parse().map_err(|_| form(1))?,
                size: decimal(size).ok_or(form(2))?,
                root: hash(root).ok_or(form(3))?,
            },
            extension_lines: extension.iter().map(|line| (*line).to_owned()).collect(),
        })
    }

    /// The checkpoint of a signed note, and who of `known` signed it. The note must be that of `origin` and have no
    /// extension lines.
    ///
    /// # Errors
    /// [`CheckpointError`].
    pub fn open<'k>(
        note: &Note,
        origin: &Origin,
        known: &'k [VerifierKey],
    ) -> Result<(Self, Signers<'k>), CheckpointError> {
        let signers = note.verify(known).map_err(CheckpointError::Note)?;
        let read = Self::read(note.text())?;
        if read.checkpoint.origin != *origin {
            return Err(CheckpointError::OtherLog);
        }
        if !read.extension_lines.is_empty() {
            return Err(CheckpointError::Extended);
        }
        Ok((read.checkpoint, signers))
    }
}
