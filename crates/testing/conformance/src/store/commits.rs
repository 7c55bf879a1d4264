use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};

use ambit_ids::{UnixMs, limits};
use ambit_ports::leases::{Fence, StreamLeases};
use ambit_ports::store::{Commit, Seq, Store, StoreError};
use tokio::task::JoinSet;

use super::sample::{
    Dump, canonical, claim, commit, fence, message, project_stream, record, renew_head, run_stream, scope,
};

/// Records take the positions after one another, and are read back as the bytes that were committed.
pub async fn positions_are_gapless<S: Store + StreamLeases>(open: &impl Fn(&str) -> S) {
    let (store, stream) = (open("gapless"), run_stream(1));
    let fence = Some(fence(&store, &stream, "owner", 0).await);
    assert_eq!(store.read(&stream, Seq(0), 10).await.unwrap(), []);
    assert_eq!(store.head(&stream).await.unwrap(), None);
    let mut written = Vec::new();
    for texts in [&["a"][..], &["b", "c"], &["d", "e", "f"]] {
        let commit = commit(&stream, written.len() as u64, fence, texts);
        written.extend(commit.records.clone());
        let head = commit.head.clone();
        store.commit(commit).await.unwrap();
        assert_eq!(store.head(&stream).await.unwrap(), Some(head));
    }
    let read = store.read(&stream, Seq(0), 10).await.unwrap();
    assert_eq!(read.len(), written.len());
    for (seq, (read, written)) in (0..).zip(read.iter().zip(&written)) {
        assert_eq!(read.seq, Seq(seq));
        assert_eq!(read.bytes, written.bytes.as_bytes());
        assert_eq!(read.leaf, written.leaf);
    }
    let again = open("gapless").read(&stream, Seq(0), 10).await.unwrap();
    assert_eq!(again, read, "another process reads the same");
}

/// A change that turns a good commit into a malformed one.
type Harm = fn(&mut Commit);

const HARMS: [(&str, Harm); 14] = [
    ("no record", |c| c.records.clear()),
    ("a head before the last record", |c| c.head.seq = Seq(1)),
    ("a head after the last record", |c| c.head.seq = Seq(3)),
    ("a head of another record", |c| c.head.leaf = c.records[0].leaf),
    ("no fence", |c| c.fence = None),
    ("a fence that was never given out", |c| c.fence = Some(Fence(u64::MAX))),
    ("a leaf hash of other bytes", |c| c.records[0].leaf = c.records[1].leaf),
    ("a kind without a letter", |c| c.records[0].kind.clear()),
    ("a claim taken twice", |c| c.claims = vec![claim("k/1", "a"), claim("k/1", "b")]),
    ("a claim that is too long", |c| c.claims = vec![claim(&"k".repeat(limits::LABEL_BYTES + 1), "a")]),
    ("a command answered twice", |c| c.answered = vec![1, 1]),
    ("a command that does not wait", |c| c.answered = vec![4_000_000]),
    ("a record that is too large", |c| {
        c.records[0] = record(&"x".repeat(limits::RECORD_BYTES));
    }),
    ("too many records", |c| {
        c.records = vec![record("x"); limits::COMMIT_ITEMS + 1];
        renew_head(c);
    }),
];

/// What no caller should send is refused as such, and the same commit without the harm is taken.
pub async fn a_malformed_commit_is_refused<S: Store + StreamLeases>(open: &impl Fn(&str) -> S) {
    let (store, stream) = (open("malformed"), run_stream(1));
    let fence = Some(fence(&store, &stream, "owner", 0).await);
    let good = commit(&stream, 0, fence, &["a", "b", "c"]);
    for (name, harm) in HARMS {
        let mut bad = good.clone();
        harm(&mut bad);
        let refusal = store.commit(bad).await.expect_err(name);
        assert_eq!(refusal.code(), "COMMIT_MALFORMED", "{name}: {refusal}");
    }
    assert_eq!(store.head(&stream).await.unwrap(), None);
    store.commit(good).await.unwrap();
}

/// Nothing of a commit that is refused is there afterwards, whatever the reason and however much came before it.
pub async fn a_refused_commit_changes_nothing<S: Store + StreamLeases>(open: &impl Fn(&str) -> S) {
    let (store, stream) = (open("refused"), run_stream(1));
    let old = fence(&store, &stream, "first owner", 0).await;
    let fence = fence(&store, &stream, "second owner", 2_000).await;
    let waits = store.send(&stream, canonical("a command")).await.unwrap();
    let mut first = commit(&stream, 0, Some(fence), &["a"]);
    first.claims = vec![claim("name/taken", "the first")];
    store.commit(first).await.unwrap();

    let streams = [stream.clone(), project_stream()];
    let keys = ["name/taken", "name/free", "name/other"];
    let dump = async || Dump::of(&store, &streams, &[scope("acme", "shop")], &keys).await;
    let before = dump().await;
    let full = |expected, fence, free: bool| {
        let mut commit = commit(&stream, expected, Some(fence), &["b", "c"]);
        commit.claims = vec![claim("name/free", "x"), claim("name/other", "y")];
        if !free {
            commit.claims.push(claim("name/taken", "z"));
        }
        commit.outbox = vec![message("b")];
        commit.answered = vec![waits];
        commit
    };
    let mut unanswerable = full(1, fence, true);
    unanswerable.answered.push(waits + 1);
    for (refused, code) in [
        (full(0, fence, true), "STREAM_MOVED"),
        (full(2, fence, true), "STREAM_MOVED"),
        (full(1, old, true), "STREAM_FENCED"),
        (full(1, fence, false), "CLAIM_TAKEN"),
        (unanswerable, "COMMIT_MALFORMED"),
    ] {
        assert_eq!(store.commit(refused).await.unwrap_err().code(), code);
        assert_eq!(dump().await, before, "after {code}");
    }
    store.commit(full(1, fence, true)).await.unwrap();
    assert_ne!(dump().await, before, "the same commit without a reason to refuse it is taken");
}

/// Of many who commit at one position, one does. The others learn where the stream is.
pub async fn one_of_many_committers_wins<S: Store + 'static>(open: &impl Fn(&str) -> S) {
    let stores = [Arc::new(open("committers")), Arc::new(open("committers"))];
    let mut committers = JoinSet::new();
    for number in 0..64 {
        let store = Arc::clone(&stores[number % 2]);
        let commit = commit(&project_stream(), 0, None, &[&format!("by {number}"), "and more"]);
        committers.spawn(async move {
            let text = commit.records[0].bytes.as_bytes().to_vec();
            store.commit(commit).await.map(|()| text)
        });
    }
    let (mut winners, mut losers) = (Vec::new(), 0);
    for outcome in committers.join_all().await {
        match outcome {
            Ok(text) => winners.push(text),
            Err(StoreError::Moved { expected: Seq(0), found: Seq(2), .. }) => losers += 1,
            Err(other) => panic!("{other:?}"),
        }
    }
    assert_eq!((winners.len(), losers), (1, 63));
    let records = stores[0].read(&project_stream(), Seq(0), 10).await.unwrap();
    assert_eq!(records.len(), 2);
    assert_eq!(records[0].bytes, winners[0], "the record is that of the one who was told so");
}

/// An owner that was presumed dead writes nothing after its successor has begun, not even at the right position.
pub async fn an_older_fence_is_refused<S: Store + StreamLeases>(open: &impl Fn(&str) -> S) {
    let (store, stream) = (open("fences"), run_stream(1));
    let old = fence(&store, &stream, "first owner", 0).await;
    store.commit(commit(&stream, 0, Some(old), &["a"])).await.unwrap();
    let new = fence(&store, &stream, "second owner", 1_000).await;
    assert!(new > old);
    let refusal = store.commit(commit(&stream, 1, Some(old), &["b"])).await.unwrap_err();
    assert!(matches!(&refusal, StoreError::Fenced(of) if *of == stream), "{refusal:?}");
    store.commit(commit(&stream, 1, Some(new), &["b"])).await.unwrap();
    let lease = store
        .acquire(&stream, "second owner", UnixMs::new(1_001), ambit_ids::DurationMs::new(1_000))
        .await
        .unwrap();
    assert_eq!(lease.fence, new, "renewing is no new acquisition");
    store.commit(commit(&stream, 2, Some(new), &["c"])).await.unwrap();
}

/// A caller that stops waiting leaves a whole commit or none.
pub async fn a_commit_that_is_cut_is_whole_or_absent<S: Store>(open: &impl Fn(&str) -> S) {
    let (store, stream) = (open("cut"), project_stream());
    let mut made = 0;
    for number in 0..100 {
        let before = store.read(&stream, Seq(0), 10_000).await.unwrap().len() as u64;
        let key = format!("cut/{number}");
        let mut cut = commit(&stream, before, None, &["first", "second", "third"]);
        cut.claims = vec![claim(&key, "cut")];
        {
            let mut future = pin!(store.commit(cut));
            for _ in 0..=number % 3 {
                if future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
                    break;
                }
                tokio::task::yield_now().await;
            }
        }
        // One that is waited for comes after it: then it is decided.
        let after = settle(&store, before).await;
        let claimed = store.claim(&scope("acme", "shop"), &key).await.unwrap().is_some();
        assert_eq!(after - before, if claimed { 4 } else { 1 }, "whole or absent");
        made += u32::from(claimed);
    }
    assert!(made > 0, "none of the commits that were cut was made: nothing was tried");
}

/// Commits one record wherever the stream is, and answers where it then is.
async fn settle<S: Store>(store: &S, mut at: u64) -> u64 {
    loop {
        match store.commit(commit(&project_stream(), at, None, &["after"])).await {
            Ok(()) => return at + 1,
            Err(StoreError::Moved { found, .. }) => at = found.0,
            Err(other) => panic!("{other:?}"),
        }
    }
}
