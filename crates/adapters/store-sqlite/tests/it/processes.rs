//! Two processes on one store.

use std::process::Stdio;

use ambit_conformance::children::child;
use ambit_conformance::store::sample::{commit, fence, project_stream, run_stream};
use ambit_ports::store::{Seq, Store as _, StoreError};

use crate::place::Place;

const COMMITS: u64 = 150;

#[tokio::test]
async fn two_processes_work_on_one_store() {
    let place = Place::new();
    let children: Vec<_> = (1..=2)
        .map(|number| {
            child("processes::child_that_commits")
                .env("AMBIT_CHILD_STORE", place.file("store"))
                .env("AMBIT_CHILD_NUMBER", number.to_string())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for running in children {
        let output = running.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    let store = place.open("store");
    for number in 1..=2 {
        let records = store.read(&run_stream(number), Seq(0), 9_999).await.unwrap();
        assert_eq!(records.len() as u64, COMMITS);
    }
    let shared = store.read(&project_stream(), Seq(0), 9_999).await.unwrap();
    assert_eq!(shared.len() as u64, 2 * COMMITS, "each found its turn on the stream that both write to");
    for number in 1..=2 {
        let mark = format!("{{\"text\":\"by {number}\"}}");
        assert_eq!(shared.iter().filter(|r| r.bytes == mark.as_bytes()).count() as u64, COMMITS);
    }
}

#[tokio::test]
#[ignore = "two_processes_work_on_one_store runs two of it"]
async fn child_that_commits() {
    let path = std::env::var("AMBIT_CHILD_STORE").expect("only a parent test runs this");
    let number: usize = std::env::var("AMBIT_CHILD_NUMBER").unwrap().parse().unwrap();
    let options = ambit_store_sqlite::StoreOptions::default();
    let store = ambit_store_sqlite::SqliteStore::open(path.as_ref(), options).unwrap();
    let fence = fence(&store, &run_stream(number), "child", 0).await;
    let mut shared = 0;
    for at in 0..COMMITS {
        store.commit(commit(&run_stream(number), at, Some(fence), &["own"])).await.unwrap();
        loop {
            match store.commit(commit(&project_stream(), shared, None, &[&format!("by {number}")])).await {
                Ok(()) => break,
                Err(StoreError::Moved { found, .. }) => shared = found.0,
                Err(other) => panic!("{other:?}"),
            }
        }
    }
}
