//! The process is killed while it commits. What was acknowledged is there, and what is there is whole.
//!
//! SIGKILL leaves the kernel's caches, so this shows that no answer comes before the write and that recovery finds
//! whole transactions. That the write has also reached the disk rests on `synchronous = FULL`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use ambit_conformance::store::sample::{claim, commit, fence, message, run_stream, scope};
use ambit_ports::store::{Seq, Store, leaf_hash};
use ambit_store_sqlite::{SqliteStore, StoreOptions};
use rusqlite::Connection;

use crate::place::Place;

const KILLS: u64 = 60;
const STREAMS: usize = 4;
const RECORDS: [&str; 3] = ["first", "second", "third"];

/// A small generator, so that a seed replays the points at which the child dies (Steele et al., SplitMix64).
fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

// proves E-O02
// break crates/adapters/store-sqlite/src/writer.rs: `transaction.commit().map_err(Cut::Whole)` -> `{ drop(transaction); Ok(()) }`
#[tokio::test]
async fn what_was_acknowledged_survives_a_kill() {
    let place = Place::new();
    let mut random = 20_261_129;
    let mut acknowledged = [0_u64; STREAMS];
    for life in 1..=KILLS {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "crash::child_that_commits", "--ignored", "--nocapture"])
            .env("AMBIT_CHILD_STORE", place.file("store"))
            .env("AMBIT_CHILD_LIFE", life.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        for _ in 0..1 + next_random(&mut random) % 60 {
            line.clear();
            assert_ne!(output.read_line(&mut line).unwrap(), 0, "the child ended by itself in life {life}");
            note(&line, &mut acknowledged);
        }
        // Some way into the next commits.
        for _ in 0..next_random(&mut random) % 200_000 {
            std::hint::spin_loop();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let mut rest = String::new();
        output.read_to_string(&mut rest).unwrap();
        let (whole, _) = rest.rsplit_once('\n').unwrap_or_default();
        whole.lines().for_each(|line| note(line, &mut acknowledged));
        examine(&place, &acknowledged).await;
    }
    assert!(acknowledged.iter().all(|count| *count > KILLS), "{acknowledged:?}");
}

/// Reads `ack STREAM COUNT`; everything else is the test harness talking.
fn note(line: &str, acknowledged: &mut [u64; STREAMS]) {
    if let Some((stream, count)) = line.trim().strip_prefix("ack ").and_then(|rest| rest.split_once(' ')) {
        acknowledged[stream.parse::<usize>().unwrap()] = count.parse().unwrap();
    }
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
                // One write call a line, so that a line is never in parts of two streams.
                let line = format!("ack {number} {at}\n");
                std::io::stdout().write_all(line.as_bytes()).unwrap();
                std::io::stdout().flush().unwrap();
            }
        });
    }
    streams.join_all().await;
}
