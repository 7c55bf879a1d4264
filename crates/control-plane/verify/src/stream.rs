//! Reads a stream and checks it link by link, and then its head.

use ambit_evidence::{Link, StreamName, verify_chain};
use ambit_ids::limits;
use ambit_journal::{HeadFault, Journal};
use ambit_ports::store::{Seq, SignedHead, Store, StoreError, StoredRecord, StreamId};
use serde::Deserialize;

use crate::finding::{Finding, LinkName};
use crate::findings::{Findings, refuting, unsettled};
use crate::log_keys::LogKeys;

/// How many records are read at a time.
const PAGE: usize = 256;
/// The most records of a run that are read. One with the widest budget that a blueprint can give has a part of them.
const RUN_RECORDS: usize = 10_000;
/// The most records of a project that are read.
const PROJECT_RECORDS: usize = 100_000;

/// A stream as it was found.
pub(crate) struct Stream {
    pub(crate) name: StreamName,
    /// The rows, as they are stored.
    pub(crate) rows: Vec<StoredRecord>,
    /// The records; none where the chain does not hold.
    pub(crate) links: Vec<Link>,
    pub(crate) chain: Findings,
    pub(crate) head: Findings,
}

impl Stream {
    /// Reads and checks a stream. What is wrong with it is part of the answer.
    pub(crate) async fn read(store: &dyn Store, stream: &StreamId, keys: &LogKeys) -> Self {
        let name = Journal::name(stream);
        let head = store.head(stream).await;
        let (rows, unread) = rows(store, stream, &name).await;
        let mut chain = Findings::default();
        let whole = unread.is_none();
        if let Some(finding) = unread {
            chain.push(finding);
        }
        let links = chain.take(check_chain(&name, &rows)).unwrap_or_default();
        let head = match (&head, chain.is_empty()) {
            (Err(error), _) => {
                let mut findings = Findings::default();
                findings.push(of_store(LinkName::Head { stream: name.to_string() }, error));
                findings
            }
            (Ok(_), false) => Findings::skipped("the records do not form a chain"),
            (Ok(head), true) => check_head(&name, &links, head.as_ref(), keys),
        };
        let links = if whole { links } else { Vec::new() };
        Self { name, rows, links, chain, head }
    }

    /// Whether the chain holds and the head is that of its end.
    pub(crate) fn is_whole(&self) -> bool {
        self.chain.is_empty() && self.head.is_empty()
    }
}

/// The rows of a stream as far as they can be read, and what kept the rest from being read.
async fn rows(
    store: &dyn Store,
    stream: &StreamId,
    name: &StreamName,
) -> (Vec<StoredRecord>, Option<Finding>) {
    let most = if stream.run().is_some() { RUN_RECORDS } else { PROJECT_RECORDS };
    let mut rows: Vec<StoredRecord> = Vec::new();
    let mut page = PAGE;
    loop {
        match store.read(stream, Seq(rows.len() as u64), page).await {
            Ok(more) => {
                let last = more.len() < page;
                rows.extend(more);
                if last {
                    return (rows, None);
                }
            }
            // Once more one by one, to tell which record it is.
            Err(_) if page > 1 => page = 1,
            Err(error) => {
                let link = LinkName::Record { stream: name.to_string(), seq: rows.len() as u64, kind: None };
                return (rows, Some(of_store(link, &error)));
            }
        }
        if rows.len() > most {
            let why = format!("{name} has more than {most} records, which is more than are read");
            return (rows, Some(unsettled(None, why)));
        }
    }
}

/// What a failure of the store says: one that finds its storage altered refutes, any other tells nothing.
fn of_store(link: LinkName, error: &StoreError) -> Finding {
    let refutes = matches!(error, StoreError::Damaged(_));
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
    Finding { link: Some(link), why: format!("{error}{cause} ({})", error.code()), refutes }
}

fn check_chain(name: &StreamName, rows: &[StoredRecord]) -> Result<Vec<Link>, Finding> {
    for (position, row) in rows.iter().enumerate() {
        if row.seq.0 != position as u64 {
            let why = format!("the store has it at position {}", row.seq.0);
            return Err(refuting(row_name(name, position as u64, rows), why));
        }
    }
    verify_chain(name, rows.iter().map(|row| (row.bytes.as_slice(), row.leaf)))
        .map_err(|error| refuting(row_name(name, error.seq, rows), error.fault.to_string()))
}

/// The name of a row whose record may not be readable.
fn row_name(name: &StreamName, seq: u64, rows: &[StoredRecord]) -> LinkName {
    #[derive(Deserialize)]
    struct Kind {
        kind: String,
    }
    let row = usize::try_from(seq).ok().and_then(|at| rows.get(at));
    let kind = row
        .filter(|row| row.bytes.len() <= limits::RECORD_BYTES)
        .and_then(|row| serde_json::from_slice::<Kind>(&row.bytes).ok())
        .map(|found| found.kind)
        // The record may be anybody's: what is no word of ours is not repeated.
        .filter(|kind| {
            kind.len() <= 64 && kind.bytes().all(|b| b.is_ascii_lowercase() || b".-".contains(&b))
        });
    LinkName::Record { stream: name.to_string(), seq, kind }
}

fn check_head(name: &StreamName, links: &[Link], head: Option<&SignedHead>, keys: &LogKeys) -> Findings {
    let mut findings = Findings::default();
    let link = LinkName::Head { stream: name.to_string() };
    match keys.check(name, links, head) {
        Ok(None) => {}
        Ok(Some(why)) => findings.refute(link, why),
        Err(HeadFault::Missing) if links.is_empty() => {
            findings.push(unsettled(Some(link), "the stream was never written to"));
        }
        Err(fault) => findings.refute(link, fault.to_string()),
    }
    findings
}
