//! The process is killed while it commits. What was acknowledged is there, and what is there is whole.
//!
//! SIGKILL leaves the kernel's caches, so this shows that no answer comes before the write and that recovery finds
//! whole transactions. That the write has also reached the disk rests on `synchronous = FULL`.

use std::path::Path;
use std::sync::Arc;

use ambit_conformance::children::{acknowledge, child, killed};
use ambit_conformance::store::sample::{claim, commit, fence, message, run_stream, scope};
use ambit_ports::store::{Seq, Store, leaf_hash};
use ambit_store_sqlite::{SqliteStore, StoreOptions};
use rusqlite::Connection;

use crate::place::Place;

const KILLS: u64 = 60;
const STREAMS: usize = 4;
const RECORDS: [&str; 3] = ["first", "second", "third"];

// proves E-O02
// break crates/adapters/store-sqlite/src/writer.rs: `transaction.commit().map_err(Cut::Whole)` -> `{ drop(transaction); Ok(()) }`
#[tokio::test]
async fn what_was_acknowledged_survives_a_kill() {
    let place = Place::new();
    let mut random = 20_261_129;
    let mut acknowledged = [0_u64; STREAMS];
    for life in 1..=KILLS {
        let mut child = child("crash::child_that_commits");
        child.env("AMBIT_CHILD_STORE", place.file("store")).env("AMBIT_CHILD_LIFE", life.to_string());
        for acknowledgement in killed(&mut child, &mut random) {
            let (stream, count) = acknowledgement.split_once(' ').unwrap();
            acknowledged[stream.parse::<usize>().unwrap()] = count.parse().unwrap();
        }
        examine(&place, &acknowledged).await;
    }
    assert!(acknowledged.iter().all(|count| *count > KILLS), "{acknowledged:?}");
}

async fn examine(place: &Place, acknowledged: &[u64; STREAMS]) {
    let store = place.open("store");
    let messages = store.outbox(&scope("acme", "shop"), 0, usize::MAX).await.unwrap();
    let mut commits = 0;
    for (number, acknowledged) in acknowledged.iter().enumerate() {
        let stream = run_stream(number);
        let records = store.read(&stream, Seq(0), usize::MAX).await.unwrap();
        let count = records.len() as u64;
        assert!(count >= *acknowledged, "stream {number} has {count} of {acknowledged} records");
        assert_eq!(count % RECORDS.len() as u64, 0, "stream {number} ends in part of a commit");
        for (at, record) in records.iter().enumerate() {
            assert_eq!(record.leaf, leaf_hash(&record.bytes));
            assert_eq!(record.bytes, text(RECORDS[at % RECORDS.len()]));
        }
        let head = store.head(&stream).await.unwrap();
        assert_eq!(head.map(|head| (head.seq.0 + 1, head.leaf)), records.last().map(|r| (count, r.leaf)));
        let done = count / RECORDS.len() as u64;
        for commit in done.saturating_sub(3)..=done {
            let held = store.claim(&scope("acme", "shop"), &format!("{number}/{commit}")).await.unwrap();
            assert_eq!(held.is_some(), commit < done, "the claim of commit {commit}");
        }
        commits += done;
    }
    assert_eq!(messages.len() as u64, commits);
    drop(store);
    integrity(&place.file("store"));
}

fn text(text: &str) -> Vec<u8> {
    format!("{{\"text\":\"{text}\"}}").into_bytes()
}

fn integrity(path: &Path) {
    let client = Connection::open(path).unwrap();
    let answer: String = client.query_one("PRAGMA integrity_check", (), |row| row.get(0)).unwrap();
    assert_eq!(answer, "ok");
    let orphans: Option<String> = client
        .prepare("PRAGMA foreign_key_check")
        .unwrap()
        .query_map((), |row| row.get(0))
        .unwrap()
        .next()
        .transpose()
        .unwrap();
    assert_eq!(orphans, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "what_was_acknowledged_survives_a_kill runs it and kills it"]
async fn child_that_commits() {
    let path = std::env::var("AMBIT_CHILD_STORE").expect("only a parent test runs this");
    let life: u64 = std::env::var("AMBIT_CHILD_LIFE").unwrap().parse().unwrap();
    let store = Arc::new(SqliteStore::open(path.as_ref(), StoreOptions::default()).unwrap());
    let mut streams = tokio::task::JoinSet::new();
    for number in 0..STREAMS {
        let store = Arc::clone(&store);
        streams.spawn(async move {
            let stream = run_stream(number);
            let fence = fence(&*store, &stream, &format!("life {life}"), life * 10_000).await;
            let mut at = store.head(&stream).await.unwrap().map_or(0, |head| head.seq.0 + 1);
            loop {
                let mut commit = commit(&stream, at, Some(fence), &RECORDS);
                commit.claims = vec![claim(&format!("{number}/{}", at / RECORDS.len() as u64), "done")];
                commit.outbox = vec![message("done")];
                store.commit(commit).await.unwrap();
                at += RECORDS.len() as u64;
                acknowledge(&format!("{number} {at}"));
            }
        });
    }
    streams.join_all().await;
}
