use std::collections::BTreeMap;

use ambit_ids::{DurationMs, OrganizationId, ProjectId, RunId, Scope, UnixMs, limits};
use ambit_ports::leases::{Fence, LeaseError, StreamLease};
use ambit_ports::store::{
    Commit, InboxEntry, OutboxEntry, Seq, SignedHead, StoreError, StoredRecord, StreamId,
};

/// The owner of a stream, within which a claim is unique.
type Owner = (OrganizationId, Option<ProjectId>);

/// What a store holds.
#[derive(Default)]
pub(super) struct Tables {
    streams: BTreeMap<StreamId, (Vec<StoredRecord>, SignedHead)>,
    /// Streams by the age of their first record.
    ages: Vec<StreamId>,
    claims: BTreeMap<(Owner, String), String>,
    outbox: Vec<(Owner, OutboxEntry)>,
    inbox: Vec<(StreamId, InboxEntry)>,
    sent: u64,
    leases: BTreeMap<StreamId, StreamLease>,
    changes: u64,
}

fn owner(stream: &StreamId) -> Owner {
    (stream.organization().clone(), stream.project().cloned())
}

impl Tables {
    pub(super) fn commit(&mut self, commit: Commit) -> Result<(), StoreError> {
        self.check_fence(&commit)?;
        let found = Seq(self.streams.get(&commit.stream).map_or(0, |(records, _)| records.len() as u64));
        if found != commit.expected {
            return Err(StoreError::Moved { stream: commit.stream, expected: commit.expected, found });
        }
        let owner = owner(&commit.stream);
        for claim in &commit.claims {
            if let Some(holder) = self.claims.get(&(owner.clone(), claim.key.clone())) {
                return Err(StoreError::Claimed { key: claim.key.clone(), holder: holder.clone() });
            }
        }
        for key in &commit.vacant {
            if let Some(holder) = self.claims.get(&(owner.clone(), key.clone())) {
                return Err(StoreError::Claimed { key: key.clone(), holder: holder.clone() });
            }
        }
        let waits =
            |id: &u64| self.inbox.iter().any(|(stream, entry)| *stream == commit.stream && entry.id == *id);
        if !commit.answered.iter().all(waits) {
            return Err(StoreError::Malformed("it answers a command that does not wait in its stream"));
        }
        self.apply(commit, &owner);
        Ok(())
    }

    fn check_fence(&self, commit: &Commit) -> Result<(), StoreError> {
        let Some(fence) = commit.fence else { return Ok(()) };
        match self.leases.get(&commit.stream).map(|lease| lease.fence) {
            Some(newest) if newest == fence => Ok(()),
            Some(newest) if newest > fence => Err(StoreError::Fenced(commit.stream.clone())),
            _ => Err(StoreError::Malformed("its fence was never given out")),
        }
    }

    /// Makes a commit that nothing refuses.
    fn apply(&mut self, commit: Commit, owner: &Owner) {
        self.changes += 1;
        let records = (commit.expected.0..).zip(commit.records).map(|(seq, record)| StoredRecord {
            seq: Seq(seq),
            bytes: record.bytes.into_bytes(),
            leaf: record.leaf,
        });
        if commit.expected == Seq(0) {
            self.ages.push(commit.stream.clone());
        }
        let (stored, head) =
            self.streams.entry(commit.stream.clone()).or_insert_with(|| (Vec::new(), commit.head.clone()));
        stored.extend(records);
        *head = commit.head;
        for claim in commit.claims {
            self.claims.insert((owner.clone(), claim.key), claim.value);
        }
        for message in commit.outbox {
            let id = self.outbox.len() as u64 + 1;
            let entry = OutboxEntry { id, event_type: message.event_type, bytes: message.body.into_bytes() };
            self.outbox.push((owner.clone(), entry));
        }
        self.inbox.retain(|(stream, entry)| *stream != commit.stream || !commit.answered.contains(&entry.id));
    }

    pub(super) fn streams(&self) -> Vec<StreamId> {
        self.ages.clone()
    }

    pub(super) fn page(&self, stream: &StreamId, from: Seq, limit: usize) -> Vec<StoredRecord> {
        let from = usize::try_from(from.0).unwrap_or(usize::MAX);
        let records = self.streams.get(stream).map(|(records, _)| records.as_slice()).unwrap_or_default();
        records.iter().skip(from).take(limit).cloned().collect()
    }

    pub(super) fn head(&self, stream: &StreamId) -> Option<SignedHead> {
        self.streams.get(stream).map(|(_, head)| head.clone())
    }

    pub(super) fn runs(&self, scope: &Scope, after: Option<&RunId>, limit: usize) -> Vec<RunId> {
        let runs: Vec<&RunId> = self
            .ages
            .iter()
            .filter_map(|stream| match stream {
                StreamId::Run(owner, run) if owner == scope => Some(run),
                _ => None,
            })
            .collect();
        let start = match after {
            None => 0,
            Some(after) => runs.iter().position(|run| *run == after).map_or(runs.len(), |place| place + 1),
        };
        runs.into_iter().skip(start).take(limit).cloned().collect()
    }

    pub(super) fn holder(&self, stream: &StreamId, key: &str) -> Option<String> {
        self.claims.get(&(owner(stream), key.to_owned())).cloned()
    }

    pub(super) fn outbox(&self, scope: &Scope, after: u64, limit: usize) -> Vec<OutboxEntry> {
        let of = owner(&StreamId::Project(scope.clone()));
        let mine = self.outbox.iter().filter(|(owner, entry)| *owner == of && entry.id > after);
        mine.map(|(_, entry)| entry.clone()).take(limit).collect()
    }

    pub(super) fn leave(&mut self, stream: &StreamId, bytes: Vec<u8>) -> Result<u64, StoreError> {
        let waiting = self.inbox.iter().filter(|(of, _)| of == stream).count();
        if waiting >= limits::INBOX_ENTRIES {
            return Err(StoreError::InboxFull(stream.clone()));
        }
        self.changes += 1;
        self.sent += 1;
        self.inbox.push((stream.clone(), InboxEntry { id: self.sent, bytes }));
        Ok(self.sent)
    }

    pub(super) fn waiting(&self, stream: &StreamId) -> Vec<InboxEntry> {
        self.inbox.iter().filter(|(of, _)| of == stream).map(|(_, entry)| entry.clone()).collect()
    }

    pub(super) fn dismiss(&mut self, stream: &StreamId, id: u64) {
        self.changes += 1;
        self.inbox.retain(|(of, entry)| of != stream || entry.id != id);
    }

    pub(super) const fn changes(&self) -> u64 {
        self.changes
    }

    pub(super) fn leased(&self) -> Vec<StreamLease> {
        self.leases.values().cloned().collect()
    }

    pub(super) fn acquire(
        &mut self,
        stream: &StreamId,
        owner: &str,
        now: UnixMs,
        ttl: DurationMs,
    ) -> Result<StreamLease, LeaseError> {
        let fence = match self.leases.get(stream) {
            None => Fence(1),
            Some(lease) if now >= lease.expires => Fence(lease.fence.0 + 1),
            Some(lease) if lease.owner == owner => lease.fence,
            Some(lease) => return Err(LeaseError::Held { stream: stream.clone(), expires: lease.expires }),
        };
        let expires = now.saturating_add(ttl);
        let lease = StreamLease { stream: stream.clone(), owner: owner.to_owned(), fence, expires };
        self.leases.insert(stream.clone(), lease.clone());
        Ok(lease)
    }

    pub(super) fn renew(
        &mut self,
        lease: &StreamLease,
        now: UnixMs,
        ttl: DurationMs,
    ) -> Result<StreamLease, LeaseError> {
        match self.newest(lease) {
            Some(live) if now < live.expires => {
                live.expires = now.saturating_add(ttl);
                Ok(live.clone())
            }
            _ => Err(LeaseError::Lost(lease.stream.clone())),
        }
    }

    pub(super) fn release(&mut self, lease: &StreamLease) {
        if let Some(live) = self.newest(lease) {
            live.expires = UnixMs::ZERO;
        }
    }

    /// The lease of a stream, where it is still that acquisition.
    fn newest(&mut self, lease: &StreamLease) -> Option<&mut StreamLease> {
        let same = |newest: &&mut StreamLease| newest.owner == lease.owner && newest.fence == lease.fence;
        self.leases.get_mut(&lease.stream).filter(same)
    }

    pub(super) fn tamper(&mut self, stream: &StreamId, seq: u64, bytes: Vec<u8>) {
        let place = usize::try_from(seq).unwrap();
        self.streams.get_mut(stream).unwrap().0[place].bytes = bytes;
    }

    pub(super) fn truncate(&mut self, stream: &StreamId, records: usize) {
        self.streams.get_mut(stream).unwrap().0.truncate(records);
    }
}
