use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _};
use std::sync::{Arc, Mutex, PoisonError};

use ambit_canonical::CanonicalBytes;
use ambit_ids::{RunId, Scope, limits as wide};
use ambit_ports::store::{
    Commit, InboxEntry, OutboxEntry, RunRef, Seq, SignedHead, Store, StoreError, StoredRecord, StreamId,
    leaf_hash,
};
use async_trait::async_trait;

use crate::error::BundleError;
use crate::source::{Contents, Entry};
use crate::{head_file, limits, refused};

/// The streams of a bundle: its run, its project, and the runs that the base of its run goes back to.
#[derive(Debug)]
pub struct BundleStore {
    contents: Arc<Contents>,
    run: RunRef,
    /// Where the next record of a stream begins, for who reads on.
    marks: Mutex<BTreeMap<StreamId, Mark>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    seq: u64,
    offset: u64,
}

/// The folder of runs that the bundle is not about itself.
const RUNS: &str = "runs";

/// The records and the head of a stream, as members of the bundle of a run; `None` where no bundle of it holds them.
pub(crate) fn places(run: &RunRef, stream: &StreamId) -> Option<[String; 2]> {
    let pair = |name: String| [format!("{name}.jsonl"), format!("{name}-head.json")];
    match stream {
        StreamId::Project(scope) if *scope == run.scope => Some(pair("project".to_owned())),
        StreamId::Run(scope, own) if *scope == run.scope && *own == run.run => Some(pair("trace".to_owned())),
        StreamId::Run(scope, other) if *scope == run.scope => Some(pair(format!("{RUNS}/{other}"))),
        _ => None,
    }
}

impl BundleStore {
    pub(crate) fn new(contents: Arc<Contents>, run: RunRef) -> Self {
        Self { contents, run, marks: Mutex::default() }
    }

    /// The runs of which there are records, and the one that the bundle is about.
    fn listed(&self) -> Vec<RunId> {
        let of_name = |entry: &Entry| {
            let name = entry.name.as_str().strip_prefix(RUNS)?.strip_prefix('/')?.strip_suffix(".jsonl")?;
            RunId::new(name).ok()
        };
        let mut runs: Vec<RunId> = self.contents.entries().iter().filter_map(of_name).collect();
        runs.push(self.run.run.clone());
        runs.sort();
        runs.dedup();
        runs
    }

    /// Whether a bundle must have this stream to be whole.
    fn is_required(&self, stream: &StreamId) -> bool {
        stream.run().is_none_or(|run| *run == self.run.run)
    }

    fn member(&self, stream: &StreamId, name: &str) -> Result<Option<&Entry>, StoreError> {
        match self.contents.find(name) {
            Some(entry) => Ok(Some(entry)),
            None if self.is_required(stream) => {
                Err(StoreError::Failed(Box::new(BundleError::Absent(name.to_owned()))))
            }
            None => Ok(None),
        }
    }

    fn page(
        &self,
        stream: &StreamId,
        entry: &Entry,
        from: u64,
        limit: usize,
    ) -> Result<Vec<StoredRecord>, StoreError> {
        let known = self.marks.lock().unwrap_or_else(PoisonError::into_inner).get(stream).copied();
        let mut mark = known.filter(|mark| mark.seq <= from).unwrap_or_default();
        let reader = self.contents.read_from(entry, mark.offset).map_err(failed)?;
        let mut reader = BufReader::new(reader);
        let mut page = Vec::new();
        while page.len() < limit {
            let Some(bytes) = line(&mut reader, entry)? else { break };
            let at = Mark { seq: mark.seq + 1, offset: mark.offset + bytes.len() as u64 + 1 };
            if mark.seq >= from {
                page.push(StoredRecord { seq: Seq(mark.seq), leaf: leaf_hash(&bytes), bytes });
            }
            mark = at;
        }
        self.marks.lock().unwrap_or_else(PoisonError::into_inner).insert(stream.clone(), mark);
        Ok(page)
    }
}

/// One record. No more of a line is held than a record may have.
fn line(
    reader: &mut BufReader<crate::source::MemberReader>,
    entry: &Entry,
) -> Result<Option<Vec<u8>>, StoreError> {
    let altered =
        |why: &str| failed(BundleError::Altered { name: entry.name.to_string(), why: why.to_owned() });
    let mut bytes = Vec::new();
    let most = wide::RECORD_BYTES as u64 + 1;
    let read = reader.take(most).read_until(b'\n', &mut bytes);
    read.map_err(|error| failed(BundleError::io(entry.name.as_str(), error)))?;
    match bytes.pop() {
        None => Ok(None),
        Some(b'\n') => Ok(Some(bytes)),
        Some(_) if bytes.len() as u64 + 1 == most => {
            Err(altered("a line of it is longer than a record may be"))
        }
        Some(_) => Err(altered("its last line is cut off")),
    }
}

/// A member that is not what it must be is damage; one that cannot be had tells nothing.
fn failed(error: BundleError) -> StoreError {
    match error {
        BundleError::Altered { .. } => StoreError::Damaged(Box::new(error)),
        other => StoreError::Failed(Box::new(other)),
    }
}

#[async_trait]
impl Store for BundleStore {
    async fn commit(&self, _: Commit) -> Result<(), StoreError> {
        refused::store()
    }

    async fn read(
        &self,
        stream: &StreamId,
        from: Seq,
        limit: usize,
    ) -> Result<Vec<StoredRecord>, StoreError> {
        let Some([records, _]) = places(&self.run, stream) else { return Ok(Vec::new()) };
        match self.member(stream, &records)? {
            Some(entry) => self.page(stream, entry, from.0, limit),
            None => Ok(Vec::new()),
        }
    }

    async fn head(&self, stream: &StreamId) -> Result<Option<SignedHead>, StoreError> {
        let Some([_, name]) = places(&self.run, stream) else { return Ok(None) };
        if self.member(stream, &name)?.is_none() {
            return Ok(None);
        }
        let altered = |why| failed(BundleError::Altered { name: name.clone(), why });
        let bytes = match self.contents.whole(&name, limits::HEAD_BYTES as u64) {
            Err(BundleError::TooLarge { .. }) => Err(altered("it is longer than any head".to_owned())),
            other => other.map_err(failed),
        }?;
        head_file::read(stream, &bytes).map(Some).map_err(altered)
    }

    async fn runs(
        &self,
        scope: &Scope,
        after: Option<&RunId>,
        limit: usize,
    ) -> Result<Vec<RunId>, StoreError> {
        if *scope != self.run.scope {
            return Ok(Vec::new());
        }
        let follows = |run: &RunId| after.is_none_or(|after| run > after);
        Ok(self.listed().into_iter().filter(follows).take(limit).collect())
    }

    async fn claim(&self, _: &Scope, _: &str) -> Result<Option<String>, StoreError> {
        Ok(None)
    }

    async fn outbox(&self, _: &Scope, _: u64, _: usize) -> Result<Vec<OutboxEntry>, StoreError> {
        Ok(Vec::new())
    }

    async fn send(&self, _: &StreamId, _: CanonicalBytes) -> Result<u64, StoreError> {
        refused::store()
    }

    async fn inbox(&self, _: &StreamId) -> Result<Vec<InboxEntry>, StoreError> {
        Ok(Vec::new())
    }

    async fn dismiss(&self, _: &StreamId, _: u64) -> Result<(), StoreError> {
        refused::store()
    }

    async fn change_mark(&self) -> Result<u64, StoreError> {
        Ok(0)
    }
}
