use ambit_evidence::v1::{Entry, Record, Version};
use ambit_evidence::{StreamName, head_message, leaf_hash};
use ambit_ids::{Digest, UnixMs, limits};
use ambit_ports::signer::KeyRole;
use ambit_ports::store::{Claim, Commit, NewRecord, Seq, SignedHead, StoreError, StreamId};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::error::JournalError;
use crate::journal::{Journal, Tip, Together};

impl Journal {
    /// Appends entries to a stream that ends at `tip`, all or none, together with what they justify.
    ///
    /// # Errors
    /// [`JournalError`]; the stream is then as it was. After a failure of the store that leaves the outcome open, the
    /// caller loads the stream to learn what happened.
    pub async fn append(
        &self,
        stream: &StreamId,
        tip: Tip,
        at: UnixMs,
        entries: Vec<Entry>,
        together: Together,
    ) -> Result<Tip, JournalError> {
        let name = Self::name(stream);
        let mut end = tip;
        let mut records = Vec::with_capacity(entries.len());
        for entry in entries {
            let record = self.record(&name, end, at, entry)?;
            end = Tip { next: end.next + 1, leaf: record.leaf };
            records.push(record);
        }
        let head = self.sign(&name, end).await?;
        let commit = Commit {
            stream: stream.clone(),
            expected: Seq(tip.next),
            fence: together.fence,
            records,
            head,
            claims: together.claims,
            vacant: together.vacant,
            outbox: together.outbox,
            answered: together.answered,
        };
        self.store.commit(commit).await?;
        Ok(end)
    }

    /// Appends entries to the end of a stream that several processes write to, wherever the end is by then.
    ///
    /// # Errors
    /// [`JournalError`]; the stream is then as it was.
    pub async fn append_to_end(
        &self,
        stream: &StreamId,
        at: UnixMs,
        entries: Vec<Entry>,
        claims: &[Claim],
    ) -> Result<Tip, JournalError> {
        loop {
            let loaded = self.load(stream).await?;
            let together = Together { claims: claims.to_vec(), ..Together::default() };
            match self.append(stream, loaded.tip, at, entries.clone(), together).await {
                // Somebody else wrote in between: the end is elsewhere now.
                Err(JournalError::Store(StoreError::Moved { .. })) => {}
                result => return result,
            }
        }
    }

    fn record(
        &self,
        name: &StreamName,
        tip: Tip,
        at: UnixMs,
        entry: Entry,
    ) -> Result<NewRecord, JournalError> {
        let mut salt = [0; 16];
        self.entropy.fill(&mut salt);
        let record = Record {
            v: Version,
            org: name.organization.clone(),
            project: name.project.clone(),
            run: name.run.clone(),
            seq: tip.next,
            prev: tip.leaf,
            salt: STANDARD.encode(salt),
            ts: at.to_string(),
            actor: entry.actor,
            precondition: entry.precondition,
            artifact: entry.artifact,
            environment: entry.environment,
            body: entry.body,
        };
        let kind = record.kind().to_owned();
        let bytes = ambit_canonical::encode(&record).map_err(JournalError::Unwritable)?;
        let found = bytes.as_bytes().len();
        if found > limits::RECORD_BYTES {
            return Err(JournalError::RecordTooLarge { found, limit: limits::RECORD_BYTES });
        }
        let leaf = leaf_hash(bytes.as_bytes());
        Ok(NewRecord { bytes, leaf, time: at, kind })
    }

    async fn sign(&self, name: &StreamName, end: Tip) -> Result<SignedHead, JournalError> {
        let seq = end.next.saturating_sub(1);
        let leaf: Digest = end.leaf;
        let signature = self.signer.sign(KeyRole::Log, &head_message(name, seq, leaf)).await?;
        Ok(SignedHead { seq: Seq(seq), leaf, signature })
    }
}
