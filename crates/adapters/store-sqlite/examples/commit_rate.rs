//! How long a commit takes and how many fit into a second: `commit_rate DIRECTORY STREAMS COMMITS`, where each stream
//! makes that many commits of one record, the next as soon as the last was acknowledged.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement, not a part of the program")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use ambit_conformance::store::sample::{commit, fence, run_stream};
use ambit_ports::store::Store as _;
use ambit_store_sqlite::{SqliteStore, StoreOptions};

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().unwrap();
    let streams: usize = arguments.next().unwrap().parse().unwrap();
    let commits: u64 = arguments.next().unwrap().parse().unwrap();
    let path = std::path::Path::new(&directory).join(format!("rate-{}", std::process::id()));
    let store = Arc::new(SqliteStore::open(&path, StoreOptions::default()).unwrap());
    let text = "x".repeat(450);
    let began = Instant::now();
    let mut running = tokio::task::JoinSet::new();
    for number in 0..streams {
        let (store, text) = (Arc::clone(&store), text.clone());
        running.spawn(async move {
            let stream = run_stream(number);
            let fence = Some(fence(&*store, &stream, "owner", 0).await);
            let mut latencies = Vec::new();
            for at in 0..commits {
                let commit = commit(&stream, at, fence, &[&text]);
                let since = Instant::now();
                store.commit(commit).await.unwrap();
                latencies.push(since.elapsed());
            }
            latencies
        });
    }
    let mut latencies: Vec<Duration> = running.join_all().await.into_iter().flatten().collect();
    let wall = began.elapsed();
    latencies.sort_unstable();
    let at = |share: usize| latencies[(latencies.len() - 1) * share / 1_000];
    println!(
        "{streams} streams: {:.0} commits/s, p50 {:?}, p99 {:?}, longest {:?}",
        latencies.len() as f64 / wall.as_secs_f64(),
        at(500),
        at(990),
        at(1_000)
    );
}
