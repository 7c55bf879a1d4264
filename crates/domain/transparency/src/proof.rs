//! Proofs as one text file (`c2sp.org/tlog-proof@v1`): a record's position, the way to the root, and the checkpoint.

use std::collections::BTreeSet;
use std::fmt;

use ambit_ids::Digest;

use crate::checkpoint::{Checkpoint, CheckpointError, Origin};
use crate::key::{KeyName, SignatureKind, VerifierKey};
use crate::merkle::{PROOF_HASHES, ProofError, verify_inclusion};
use crate::note::{NOTE_BYTES, Note, NoteError};
use crate::spelling::{base64, decimal, hash, unbase64};

/// The most bytes of extra data.
pub const EXTRA_BYTES: usize = 64 << 10;

/// The largest proof that is read: a note, and in front of it the extra data in base64, the index and the hashes.
pub const PROOF_BYTES: usize = NOTE_BYTES + EXTRA_BYTES / 3 * 4 + 46 * PROOF_HASHES + 128;

const HEADER: &str = "c2sp.org/tlog-proof@v1";

/// Why bytes are no proof, or why one proves nothing.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LogProofError {
    /// More bytes than are read or written.
    #[error("the proof is too large; nothing of it is used. It may have {PROOF_BYTES} bytes")]
    TooLarge,
    /// A line is not what stands there in a proof.
    #[error("the proof is malformed in line {line}; nothing of it is used. Fetch it again")]
    Form {
        /// The line, counted from 1.
        line: usize,
    },
    /// The note in it is malformed.
    #[error("the checkpoint of the proof is malformed; nothing of it is used")]
    Note(#[source] NoteError),
    /// The checkpoint is not believed.
    #[error("the checkpoint of the proof is not believed; it proves nothing")]
    Checkpoint(#[source] CheckpointError),
    /// The log itself did not sign.
    #[error("no key of the log signed the checkpoint; it proves nothing. Ask the log for a signed one")]
    NotByLog,
    /// Too few witnesses.
    #[error(
        "{found} witnesses signed the checkpoint and {wanted} are asked for; it proves nothing. Wait for more of them"
    )]
    TooFewWitnesses {
        /// How many did.
        found: usize,
        /// How many are asked for.
        wanted: usize,
    },
    /// The record is not in the tree.
    #[error("the record is not shown to be in the log; it proves nothing")]
    Inclusion(#[source] ProofError),
}

impl LogProofError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::TooLarge => "LOG_PROOF_TOO_LARGE",
            Self::Form { .. } => "LOG_PROOF_FORM",
            Self::Note(error) => error.code(),
            Self::Checkpoint(error) => error.code(),
            Self::NotByLog => "LOG_PROOF_NOT_BY_LOG",
            Self::TooFewWitnesses { .. } => "LOG_PROOF_WITNESSES",
            Self::Inclusion(error) => error.code(),
        }
    }
}

/// A proof as a file holds it. Nothing of it is believed before [`LogProof::verify`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogProof {
    /// Data that nobody signed; never empty.
    pub extra: Option<Vec<u8>>,
    /// The position of the record.
    pub index: u64,
    /// The hashes from the leaf's neighbour upwards.
    pub hashes: Vec<Digest>,
    /// The checkpoint as it is signed.
    pub checkpoint: Note,
}

impl LogProof {
    /// The proof as the text of a file.
    ///
    /// # Errors
    /// [`LogProofError`] where no reader would take it.
    pub fn to_text(&self) -> Result<String, LogProofError> {
        let text = self.to_string();
        // What is written is what the reader takes, and as the same.
        let same = Self::parse(text.as_bytes())? == *self;
        if same { Ok(text) } else { Err(LogProofError::Form { line: 2 }) }
    }

    /// Reads a proof.
    ///
    /// # Errors
    /// [`LogProofError`] where it is not spelled as a proof is.
    pub fn parse(bytes: &[u8]) -> Result<Self, LogProofError> {
        if bytes.len() > PROOF_BYTES {
            return Err(LogProofError::TooLarge);
        }
        let form = |line| LogProofError::Form { line };
        let text = std::str::from_utf8(bytes).map_err(|_| LogProofError::Note(NoteError::NotText))?;
        let (head, note) = text.split_once("\n\n").ok_or(form(1))?;
        let mut lines = head.split('\n').zip(1..).peekable();
        if lines.next().is_none_or(|(line, _)| line != HEADER) {
            return Err(form(1));
        }
        let extra = match lines.next_if(|(line, _)| line.starts_with("extra ")) {
            Some((line, at)) => Some(read_extra(line).ok_or(form(at))?),
            None => None,
        };
        let index = lines.next().and_then(|(line, _)| decimal(line.strip_prefix("index ")?));
        let index = index.ok_or(form(2 + usize::from(extra.is_some())))?;
        let mut hashes = Vec::new();
        for (line, at) in lines {
            if hashes.len() == PROOF_HASHES {
                return Err(form(at));
            }
            hashes.push(hash(line).ok_or(form(at))?);
        }
        let checkpoint = Note::parse(note.as_bytes()).map_err(LogProofError::Note)?;
        Checkpoint::read(checkpoint.text()).map_err(LogProofError::Checkpoint)?;
        Ok(Self { extra, index, hashes, checkpoint })
    }

    /// Whether the record with this leaf hash is in the log that the policy names, as the policy asks for it.
    ///
    /// # Errors
    /// [`LogProofError`]: the first demand that does not hold.
    pub fn verify(&self, leaf: Digest, policy: &ProofPolicy) -> Result<Proved, LogProofError> {
        let (checkpoint, signers) = Checkpoint::open(&self.checkpoint, &policy.origin, &policy.known)
            .map_err(LogProofError::Checkpoint)?;
        if !signers.signed.iter().any(|signed| signed.key.kind() == SignatureKind::Ed25519) {
            return Err(LogProofError::NotByLog);
        }
        let mut witnesses = Vec::new();
        // One key counts once, under however many names it is known.
        let mut counted = BTreeSet::new();
        for signed in signers.signed {
            let Some(at_seconds) = signed.at_seconds else { continue };
            if counted.insert(signed.key.public_bytes()) {
                witnesses.push((signed.key.name().clone(), at_seconds));
            }
        }
        let (found, wanted) = (witnesses.len(), policy.quorum);
        if found < wanted {
            return Err(LogProofError::TooFewWitnesses { found, wanted });
        }
        verify_inclusion(leaf, self.index, checkpoint.size, &self.hashes, checkpoint.root)
            .map_err(LogProofError::Inclusion)?;
        Ok(Proved { checkpoint, index: self.index, witnesses })
    }
}

impl fmt::Display for LogProof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEADER}")?;
        if let Some(extra) = &self.extra {
            writeln!(f, "extra {}", base64(extra))?;
        }
        writeln!(f, "index {}", self.index)?;
        for hash in &self.hashes {
            writeln!(f, "{}", base64(hash.as_bytes()))?;
        }
        write!(f, "\n{}", self.checkpoint)
    }
}

fn read_extra(line: &str) -> Option<Vec<u8>> {
    let extra = unbase64(line.strip_prefix("extra ")?)?;
    (!extra.is_empty() && extra.len() <= EXTRA_BYTES).then_some(extra)
}

/// What a proof must show: which log, by which of its keys, and how many of which witnesses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProofPolicy {
    origin: Origin,
    known: Vec<VerifierKey>,
    quorum: usize,
}

/// Why a policy is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PolicyError {
    /// A key of the log is not for notes, or one of a witness not for cosignatures.
    #[error(
        "a key is of another kind; no proof is judged. Logs sign with type 0x01, witnesses with 0x04 or 0x06"
    )]
    Kind,
    /// No key of the log is named.
    #[error("no key of the log is named; no proof is judged. Name the key that its operator publishes")]
    NoLogKey,
    /// More witnesses are asked for than can be counted.
    #[error(
        "{wanted} witnesses are asked for and {countable} can be counted; no proof is judged. Ask for fewer"
    )]
    Quorum {
        /// How many are asked for.
        wanted: usize,
        /// How many different keys of witnesses there are that are verified here.
        countable: usize,
    },
}

impl PolicyError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Kind => "LOG_POLICY_KIND",
            Self::NoLogKey => "LOG_POLICY_NO_LOG_KEY",
            Self::Quorum { .. } => "LOG_POLICY_QUORUM",
        }
    }
}

impl ProofPolicy {
    /// A policy: at least one of the log's keys, and `quorum` of the witnesses.
    ///
    /// # Errors
    /// [`PolicyError`] where no proof could ever meet it, or a key could stand for another.
    pub fn new(
        origin: Origin,
        log_keys: &[VerifierKey],
        witnesses: &[VerifierKey],
        quorum: usize,
    ) -> Result<Self, PolicyError> {
        if log_keys.is_empty() {
            return Err(PolicyError::NoLogKey);
        }
        let by_note = |key: &VerifierKey| key.kind() == SignatureKind::Ed25519;
        if !log_keys.iter().all(by_note) || witnesses.iter().any(by_note) {
            return Err(PolicyError::Kind);
        }
        let countable: BTreeSet<&[u8]> = witnesses
            .iter()
            .filter(|key| key.kind() == SignatureKind::Cosignature)
            .map(VerifierKey::public_bytes)
            .collect();
        if quorum > countable.len() {
            return Err(PolicyError::Quorum { wanted: quorum, countable: countable.len() });
        }
        Ok(Self { origin, known: [log_keys, witnesses].concat(), quorum })
    }
}

/// What a proof showed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proved {
    /// The checkpoint whose tree holds the record.
    pub checkpoint: Checkpoint,
    /// The record's position.
    pub index: u64,
    /// The witnesses that saw the checkpoint, and when, in seconds since 1970.
    pub witnesses: Vec<(KeyName, u64)>,
}
