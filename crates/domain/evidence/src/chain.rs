use ambit_canonical::{EncodeError, leaf_hash};
use ambit_ids::{Digest, limits};
use ambit_run::{State, evolve};

use crate::StreamName;
use crate::v1::{ReadError, Record};

/// A record that holds its place in the chain.
#[derive(Clone, Debug)]
pub struct Link {
    /// The record.
    pub record: Record,
    /// Its leaf hash, computed from its bytes.
    pub leaf: Digest,
}

/// Where a chain breaks.
#[derive(Debug, thiserror::Error)]
#[error("record {seq} of {stream}: {fault}")]
pub struct ChainBreak {
    /// The stream.
    pub stream: StreamName,
    /// The position.
    pub seq: u64,
    /// What is wrong.
    #[source]
    pub fault: Box<ChainFault>,
}

/// What breaks a chain.
#[derive(Debug, thiserror::Error)]
pub enum ChainFault {
    /// The bytes are no record.
    #[error("the bytes are no record of a known version")]
    Unreadable(#[source] EncodeError),
    /// The hash that is stored with the record is not the hash of its bytes.
    #[error("its bytes were altered: they hash to {found}, and {stored} is stored with them")]
    Altered {
        /// The stored hash.
        stored: Digest,
        /// The hash of the bytes.
        found: Digest,
    },
    /// The record says that it stands elsewhere.
    #[error("it says that it is record {0}: a record is missing, repeated or out of order")]
    Misplaced(u64),
    /// The record says that it belongs to another stream.
    #[error("it belongs to another stream")]
    Foreign,
    /// The record names another predecessor.
    #[error("it follows {named}, but the record before it is {found}")]
    Unlinked {
        /// The predecessor that it names.
        named: Digest,
        /// The hash of the record before it.
        found: Digest,
    },
}

/// Reads a stream from its beginning and checks every link: bytes against hash, position, owner and predecessor.
///
/// The predecessor of the first record is not judged here: it is the genesis of the stream, or a record of the project
/// that admitted a run, which only somebody who holds that stream can tell.
///
/// # Errors
/// The first [`ChainBreak`].
pub fn verify_chain<'a>(
    stream: &StreamName,
    records: impl IntoIterator<Item = (&'a [u8], Digest)>,
) -> Result<Vec<Link>, ChainBreak> {
    let mut links: Vec<Link> = Vec::new();
    for (position, (bytes, stored)) in records.into_iter().enumerate() {
        let seq = position as u64;
        let link = check_link(stream, seq, links.last(), bytes, stored).map_err(|fault| ChainBreak {
            stream: stream.clone(),
            seq,
            fault: Box::new(fault),
        })?;
        links.push(link);
    }
    Ok(links)
}

fn check_link(
    stream: &StreamName,
    seq: u64,
    before: Option<&Link>,
    bytes: &[u8],
    stored: Digest,
) -> Result<Link, ChainFault> {
    let leaf = leaf_hash(bytes);
    if leaf != stored {
        return Err(ChainFault::Altered { stored, found: leaf });
    }
    let record: Record =
        ambit_canonical::decode(bytes, limits::RECORD_BYTES).map_err(ChainFault::Unreadable)?;
    if record.stream() != *stream {
        return Err(ChainFault::Foreign);
    }
    if record.seq != seq {
        return Err(ChainFault::Misplaced(record.seq));
    }
    match before {
        Some(before) if record.prev != before.leaf => {
            Err(ChainFault::Unlinked { named: record.prev, found: before.leaf })
        }
        _ => Ok(Link { record, leaf }),
    }
}

/// The state that the records of a run lead to.
///
/// # Errors
/// [`ReadError`] where a record has no event.
pub fn fold<'a>(links: impl IntoIterator<Item = &'a Link>) -> Result<State, ReadError> {
    links.into_iter().try_fold(State::Vacant, |state, link| Ok(evolve(state, &link.record.event()?)))
}
