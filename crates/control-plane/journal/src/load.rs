use ambit_evidence::signature::VerificationKey;
use ambit_evidence::{Link, StreamName, head_message, verify_chain};
use ambit_ids::Digest;
use ambit_ports::signer::{KeyRole, PublicKey};
use ambit_ports::store::{Seq, SignedHead, StoredRecord, StreamId};

use crate::error::{HeadFault, JournalError};
use crate::journal::{Journal, Tip};

/// How many records are read at a time.
const PAGE: usize = 512;

/// How often rows and head are read until they are of one moment.
const READS: u32 = 8;

/// A stream that was read from its beginning and checked, link by link and at its head.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The records with their hashes.
    pub links: Vec<Link>,
    /// Where the stream ends.
    pub tip: Tip,
}

impl Journal {
    /// Reads a whole stream and checks it. A stream that was never written is empty and ends at its genesis.
    ///
    /// # Errors
    /// [`JournalError`] names the first link that is broken, or what is wrong with the head.
    pub async fn load(&self, stream: &StreamId) -> Result<Loaded, JournalError> {
        let name = Self::name(stream);
        let (rows, head) = self.settled(stream).await?;
        let links = verify_chain(&name, rows.iter().map(|row| (row.bytes.as_slice(), row.leaf)))?;
        if links.is_empty() && head.is_none() {
            return Ok(Loaded { links, tip: Tip { next: 0, leaf: name.genesis() } });
        }
        let key = self.signer.public_key(KeyRole::Log).await?;
        let tip = checked_end(&name, &links, head.as_ref(), &key)
            .map_err(|why| JournalError::Head { stream: name, why })?;
        Ok(Loaded { links, tip })
    }

    /// The rows and the head of one moment. Somebody may commit between the two reads: that shows as a head of another
    /// position, and the reads are made again. A stream that stays apart from its head is answered as it is.
    async fn settled(
        &self,
        stream: &StreamId,
    ) -> Result<(Vec<StoredRecord>, Option<SignedHead>), JournalError> {
        let mut tries = 0;
        loop {
            let head = self.store.head(stream).await?;
            let rows = self.rows(stream).await?;
            let records = head.as_ref().map_or(0, |head| head.seq.0.saturating_add(1));
            tries += 1;
            if records == rows.len() as u64 || tries == READS {
                return Ok((rows, head));
            }
        }
    }

    /// The records of a stream as they are stored, unchecked.
    ///
    /// # Errors
    /// [`JournalError`] where the store failed.
    pub async fn rows(&self, stream: &StreamId) -> Result<Vec<StoredRecord>, JournalError> {
        let mut rows: Vec<StoredRecord> = Vec::new();
        loop {
            let page = self.store.read(stream, Seq(rows.len() as u64), PAGE).await?;
            let last = page.len() < PAGE;
            rows.extend(page);
            if last {
                return Ok(rows);
            }
        }
    }
}

/// Checks the head of a stream against its checked records, by a key that the caller trusts.
///
/// # Errors
/// [`HeadFault`]: there is none, it is of another end, or the key did not sign it.
pub fn checked_end(
    name: &StreamName,
    links: &[Link],
    head: Option<&SignedHead>,
    key: &PublicKey,
) -> Result<Tip, HeadFault> {
    let head = head.ok_or(HeadFault::Missing)?;
    let records = links.len() as u64;
    let last = links.last().ok_or(HeadFault::Position { head: head.seq.0, records })?;
    if head.seq.0 + 1 != records {
        return Err(HeadFault::Position { head: head.seq.0, records });
    }
    if head.leaf != last.leaf {
        return Err(HeadFault::Leaf);
    }
    verify_head(name, head.seq.0, head.leaf, &head.signature.bytes, key)?;
    Ok(Tip { next: records, leaf: last.leaf })
}

/// Checks the signature of a head by a key that the caller trusts. The key that the head names is not asked.
///
/// # Errors
/// [`HeadFault::Signature`].
pub fn verify_head(
    name: &StreamName,
    seq: u64,
    leaf: Digest,
    signature: &[u8; 64],
    key: &PublicKey,
) -> Result<(), HeadFault> {
    let genuine = VerificationKey::from_bytes(key.bytes)
        .is_some_and(|key| key.verifies(&head_message(name, seq, leaf), signature));
    if genuine { Ok(()) } else { Err(HeadFault::Signature) }
}
