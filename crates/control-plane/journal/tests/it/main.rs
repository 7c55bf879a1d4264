//! Streams that somebody alters are told from those that nobody did.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]

use std::sync::Arc;

use ambit_evidence::v1::{Actor, ActorKind, Body, Environment, Precondition, ProjectBody};
use ambit_ids::{Digest, UnixMs, limits};
use ambit_journal::{Entry, HeadFault, Journal, JournalError, Tip, Together};
use ambit_ports::store::{Claim, Seq, Store as _, StreamId};
use ambit_simulation::{Cut, Fault, Faults, Faulty, MemoryStore, SimEntropy, SimSigner, simulate};
use tokio::task::JoinSet;

const AT: UnixMs = UnixMs::new(1_800_000_000_123);

fn stream() -> StreamId {
    StreamId::Project(ambit_ids::Scope {
        organization: "acme".parse().unwrap(),
        project: "shop".parse().unwrap(),
    })
}

fn journal(store: &MemoryStore, seed: u64) -> Journal {
    Journal::new(Arc::new(store.clone()), Arc::new(SimSigner::new(1)), Arc::new(SimEntropy::new(seed)))
}

fn entry(code: &str) -> Entry {
    Entry {
        actor: Actor { kind: ActorKind::Human, id: "ada".to_owned() },
        precondition: Precondition::default(),
        artifact: None,
        environment: Environment::of_program("test/1"),
        body: Body::Project(Box::new(ProjectBody::RunRejected {
            action: "run.start".to_owned(),
            code: code.to_owned(),
            detail: String::new(),
            blueprint: None,
            digest: None,
            name: None,
        })),
    }
}

/// A stream of three records.
async fn written(store: &MemoryStore) -> Journal {
    let journal = journal(store, 1);
    for code in ["A", "B", "C"] {
        journal.append_to_end(&stream(), AT, vec![entry(code)], &[]).await.unwrap();
    }
    journal
}

// proves E-M01 E-M02
// break crates/control-plane/journal/src/append.rs: `prev: tip.leaf,` -> `prev: Digest::of(b""),`
#[test]
fn what_is_appended_is_read_back_linked_signed_and_salted() {
    simulate(async {
        let store = MemoryStore::default();
        let journal = written(&store).await;
        let loaded = journal.load(&stream()).await.unwrap();
        assert_eq!(loaded.tip, Tip { next: 3, leaf: loaded.links[2].leaf });
        assert_eq!(loaded.links[1].record.prev, loaded.links[0].leaf);
        assert_eq!(loaded.links[0].record.prev, Journal::name(&stream()).genesis());
        assert_eq!(loaded.links[0].record.ts, AT.to_string());
        assert_ne!(
            loaded.links[0].record.salt, loaded.links[1].record.salt,
            "equal records hash differently"
        );
        let empty = StreamId::Organization("bolt".parse().unwrap());
        assert_eq!(journal.load(&empty).await.unwrap().links.len(), 0);
    });
}

// proves E-M02
// break crates/control-plane/journal/src/load.rs: `let links = verify_chain(&name, rows.iter().map(|row| (row.bytes.as_slice(), row.leaf)))?;` -> `let links = verify_chain(&name, rows.iter().map(|row| (row.bytes.as_slice(), ambit_evidence::leaf_hash(&row.bytes))))?;`
#[test]
fn one_altered_byte_anywhere_is_found() {
    simulate(async {
        let rows = {
            let store = MemoryStore::default();
            written(&store).await.rows(&stream()).await.unwrap()
        };
        let mut tried = 0;
        for row in &rows {
            for place in (0..row.bytes.len()).step_by(7) {
                let store = MemoryStore::default();
                let journal = written(&store).await;
                let mut bytes = row.bytes.clone();
                bytes[place] ^= 1;
                store.tamper(&stream(), row.seq.0, bytes);
                let error = journal.load(&stream()).await.unwrap_err();
                assert_eq!(error.code(), "TRACE_BROKEN", "byte {place} of record {}", row.seq.0);
                let JournalError::Chain(broken) = error else { panic!("{error:?}") };
                assert_eq!(broken.seq, row.seq.0, "the record is named");
                tried += 1;
            }
        }
        assert!(tried > 100);
    });
}

// proves E-M02
// break crates/control-plane/journal/src/load.rs: `if head.seq.0 + 1 != records {` -> `if head.seq.0 + 1 < records {`
// break crates/control-plane/journal/src/load.rs: `if genuine { Ok(()) } else { Err(HeadFault::Signature) }` -> `if genuine || seq > 0 { Ok(()) } else { Err(HeadFault::Signature) }`
#[test]
fn a_stream_that_was_cut_or_signed_by_somebody_else_is_refused() {
    simulate(async {
        let store = MemoryStore::default();
        let journal = written(&store).await;
        store.truncate(&stream(), 2);
        let Err(JournalError::Head { why, .. }) = journal.load(&stream()).await else {
            panic!("it was believed")
        };
        assert_eq!(why, HeadFault::Position { head: 2, records: 2 });

        let store = MemoryStore::default();
        written(&store).await;
        let stranger =
            Journal::new(Arc::new(store.clone()), Arc::new(SimSigner::new(2)), Arc::new(SimEntropy::new(2)));
        let Err(JournalError::Head { why, .. }) = stranger.load(&stream()).await else {
            panic!("it was believed")
        };
        assert_eq!(why, HeadFault::Signature);
    });
}

#[test]
fn many_who_write_to_one_stream_all_do_and_the_chain_holds() {
    simulate(async {
        let store = MemoryStore::default();
        let faults = Faults::default();
        faults.shuffle(5);
        let mut writers = JoinSet::new();
        for number in 0..40_u64 {
            let faulty = Faulty::new(store.clone(), faults.clone());
            let entropy = Arc::new(SimEntropy::new(number));
            let journal = Journal::new(Arc::new(faulty), Arc::new(SimSigner::new(1)), entropy);
            writers.spawn(async move {
                let code = format!("W{number}");
                journal.append_to_end(&stream(), AT, vec![entry(&code)], &[]).await.unwrap();
                journal.load(&stream()).await.unwrap().links.len()
            });
        }
        assert!(
            writers.join_all().await.iter().all(|length| *length >= 1),
            "a reader in between is never refused"
        );
        assert_eq!(journal(&store, 1).load(&stream()).await.unwrap().links.len(), 40);
    });
}

// proves D7
// break crates/control-plane/journal/src/append.rs: `expected: Seq(tip.next),` -> `expected: Seq(self.store.head(stream).await?.map_or(0, |head| head.seq.0 + 1)),`
#[test]
fn whoever_writes_from_an_old_end_changes_nothing() {
    simulate(async {
        let store = MemoryStore::default();
        let journal = written(&store).await;
        let old = journal.load(&stream()).await.unwrap().tip;
        journal.append_to_end(&stream(), AT, vec![entry("D")], &[]).await.unwrap();
        let late = journal.append(&stream(), old, AT, vec![entry("E")], Together::default()).await;
        assert_eq!(late.unwrap_err().code(), "STREAM_MOVED");
        assert_eq!(journal.load(&stream()).await.unwrap().links.len(), 4);
    });
}

#[test]
fn a_record_that_does_not_fit_and_a_claim_that_is_taken_write_nothing() {
    simulate(async {
        let store = MemoryStore::default();
        let journal = written(&store).await;
        let large = entry(&"x".repeat(limits::RECORD_BYTES));
        let error = journal.append_to_end(&stream(), AT, vec![entry("D"), large], &[]).await.unwrap_err();
        assert_eq!(error.code(), "RECORD_TOO_LARGE");
        let claim = [Claim { key: "name/a".to_owned(), value: "first".to_owned() }];
        journal.append_to_end(&stream(), AT, vec![entry("D")], &claim).await.unwrap();
        let error = journal.append_to_end(&stream(), AT, vec![entry("E")], &claim).await.unwrap_err();
        assert_eq!(error.code(), "CLAIM_TAKEN");
        assert_eq!(store.read(&stream(), Seq(0), 10).await.unwrap().len(), 4);
    });
}

#[test]
fn a_writer_whose_answer_was_lost_learns_from_the_stream_what_happened() {
    simulate(async {
        let (store, faults) = (MemoryStore::default(), Faults::default());
        let faulty = Faulty::new(store.clone(), faults.clone());
        let journal =
            Journal::new(Arc::new(faulty), Arc::new(SimSigner::new(1)), Arc::new(SimEntropy::new(1)));
        for (cut, there) in [(Cut::CommitBefore, 0), (Cut::CommitAfter, 1)] {
            faults.plan(cut, 0, Fault::Fail);
            let error = journal.append_to_end(&stream(), AT, vec![entry("A")], &[]).await.unwrap_err();
            assert_eq!(error.code(), "STORE_FAILED");
            let loaded = journal.load(&stream()).await.unwrap();
            assert_eq!(loaded.links.len(), there, "{cut:?}: whole or absent");
            let end = loaded.links.last().map(|link| link.leaf);
            assert_eq!(end.unwrap_or_else(|| Journal::name(&stream()).genesis()), loaded.tip.leaf);
            assert_ne!(loaded.tip.leaf, Digest::of(b""));
        }
    });
}
