//! What a witness answers to `add-checkpoint`: a pure decision over the request and what it saw last.

use ambit_ids::Digest;

use crate::checkpoint::{Checkpoint, CheckpointError, Origin};
use crate::key::VerifierKey;
use crate::merkle::{ProofError, empty_root, verify_consistency};
use crate::note::{NOTE_BYTES, Note, NoteError};
use crate::spelling::{base64, decimal, hash};

/// The most hashes of a consistency proof in a request.
pub const REQUEST_HASHES: usize = 63;

/// The largest request that is read: a note, and in front of it a size and the hashes.
pub const REQUEST_BYTES: usize = NOTE_BYTES + 46 * REQUEST_HASHES + 64;

/// Why a request is not understood. The answer is `400`.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RequestError {
    /// More bytes than are read.
    #[error("the request is too large; nothing was kept. Send at most {REQUEST_BYTES} bytes")]
    TooLarge,
    /// Not an old size, hashes and an empty line.
    #[error(
        "the request is malformed in line {line}; nothing was kept. Send `old SIZE`, the hashes, an empty line and the checkpoint"
    )]
    Form {
        /// The line, counted from 1.
        line: usize,
    },
    /// More hashes than a proof may have here.
    #[error("the request has more than {REQUEST_HASHES} hashes; nothing was kept. Send the proof alone")]
    TooManyHashes,
    /// The note is malformed.
    #[error("the note of the request is malformed; nothing was kept")]
    Note(#[source] NoteError),
    /// The text of the note is no checkpoint.
    #[error("the note of the request is no checkpoint; nothing was kept")]
    Checkpoint(#[source] CheckpointError),
}

impl RequestError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::TooLarge => "WITNESS_REQUEST_TOO_LARGE",
            Self::Form { .. } => "WITNESS_REQUEST_FORM",
            Self::TooManyHashes => "WITNESS_REQUEST_HASHES",
            Self::Note(error) => error.code(),
            Self::Checkpoint(error) => error.code(),
        }
    }
}

/// A request to cosign a checkpoint. Nothing of it is believed yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AddCheckpoint {
    /// The size that the log believes the witness saw last.
    pub old: u64,
    /// The proof from that size to the checkpoint.
    pub proof: Vec<Digest>,
    /// The checkpoint as it is signed.
    pub note: Note,
    /// The same, read.
    pub checkpoint: Checkpoint,
}

impl AddCheckpoint {
    /// Reads the body of a request.
    ///
    /// # Errors
    /// [`RequestError`].
    pub fn parse(bytes: &[u8]) -> Result<Self, RequestError> {
        if bytes.len() > REQUEST_BYTES {
            return Err(RequestError::TooLarge);
        }
        let text = std::str::from_utf8(bytes).map_err(|_| RequestError::Note(NoteError::NotText))?;
        let (head, note) = text.split_once("\n\n").ok_or(RequestError::Form { line: 1 })?;
        let mut lines = head.split('\n');
        let old = lines.next().and_then(|line| decimal(line.strip_prefix("old ")?));
        let old = old.ok_or(RequestError::Form { line: 1 })?;
        let mut proof = Vec::new();
        for (at, line) in lines.enumerate() {
            if at == REQUEST_HASHES {
                return Err(RequestError::TooManyHashes);
            }
            proof.push(hash(line).ok_or(RequestError::Form { line: at + 2 })?);
        }
        let note = Note::parse(note.as_bytes()).map_err(RequestError::Note)?;
        let read = Checkpoint::read(note.text()).map_err(RequestError::Checkpoint)?;
        Ok(Self { old, proof, note, checkpoint: read.checkpoint })
    }

    /// The body of the request.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = format!("old {}\n", self.old);
        for hash in &self.proof {
            text.push_str(&base64(hash.as_bytes()));
            text.push('\n');
        }
        format!("{text}\n{}", self.note)
    }
}

/// What a witness saw last of a log. It is kept by compare-and-set before any answer leaves: two requests that were both
/// judged against it must not both move it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seen {
    /// How many records.
    pub size: u64,
    /// The root over them.
    pub root: Digest,
}

/// What a witness answers. The list is closed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// `200`: keep `next` in the place of what was seen, and only then cosign the note's text.
    Cosign {
        /// What is seen from now on.
        next: Seen,
    },
    /// `400`: the old size is larger than the checkpoint's.
    OldSizeBeyond,
    /// `404`: no log of this origin is witnessed here.
    UnknownLog,
    /// `403`: no trusted key of the log signed it, or one of them did not make the signature that bears its name.
    NotSigned(NoteError),
    /// `409`: the witness saw another size last.
    Conflict {
        /// That size: the body of the answer.
        seen: u64,
    },
    /// `422`: the checkpoint does not follow from what was seen. The request may be kept: the log signed it.
    Inconsistent(ProofError),
}

impl Answer {
    /// The status of the answer.
    #[must_use]
    pub const fn status(&self) -> u16 {
        match self {
            Self::Cosign { .. } => 200,
            Self::OldSizeBeyond => 400,
            Self::NotSigned(_) => 403,
            Self::UnknownLog => 404,
            Self::Conflict { .. } => 409,
            Self::Inconsistent(_) => 422,
        }
    }

    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Cosign { .. } => "WITNESS_COSIGN",
            Self::OldSizeBeyond => "WITNESS_OLD_SIZE_BEYOND",
            Self::UnknownLog => "WITNESS_UNKNOWN_LOG",
            Self::NotSigned(_) => "WITNESS_NOT_SIGNED",
            Self::Conflict { .. } => "WITNESS_CONFLICT",
            Self::Inconsistent(_) => "WITNESS_INCONSISTENT",
        }
    }
}

/// A log that a witness watches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WatchedLog {
    /// Which.
    pub origin: Origin,
    /// The keys that may sign its checkpoints.
    pub keys: Vec<VerifierKey>,
}

/// Decides about a request, given the logs that are watched and what was last seen of the one that it names.
#[must_use]
pub fn decide(logs: &[WatchedLog], seen: Option<Seen>, request: &AddCheckpoint) -> Answer {
    let next = Seen { size: request.checkpoint.size, root: request.checkpoint.root };
    let Some(log) = logs.iter().find(|log| log.origin == request.checkpoint.origin) else {
        return Answer::UnknownLog;
    };
    if let Err(error) = request.note.verify(&log.keys) {
        return Answer::NotSigned(error);
    }
    if request.old > next.size {
        return Answer::OldSizeBeyond;
    }
    let last = seen.unwrap_or_else(|| Seen { size: 0, root: empty_root() });
    if request.old != last.size {
        return Answer::Conflict { seen: last.size };
    }
    match follows(last, next, &request.proof) {
        Ok(()) => Answer::Cosign { next },
        Err(error) => Answer::Inconsistent(error),
    }
}

fn follows(last: Seen, next: Seen, proof: &[Digest]) -> Result<(), ProofError> {
    if next.size == 0 && next.root != empty_root() {
        return Err(ProofError::Root);
    }
    if last.size > 0 {
        return verify_consistency((last.size, last.root), (next.size, next.root), proof);
    }
    // Every tree begins with the empty one: there is nothing to prove.
    if proof.is_empty() { Ok(()) } else { Err(ProofError::Length { found: proof.len(), wanted: 0 }) }
}
