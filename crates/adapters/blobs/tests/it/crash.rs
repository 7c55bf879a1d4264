//! The process is killed while it writes blobs. What was acknowledged is there, and what is there is whole.

use std::sync::Arc;

use ambit_blobs::DirectoryBlobs;
use ambit_conformance::children::{acknowledge, child, killed, next_random};
use ambit_ids::{ByteCount, Digest};
use ambit_ports::blobs::BlobStore as _;
use bytes::Bytes;

use crate::place::{Place, acme, everything};

const KILLS: u64 = 60;

// proves E-O02
// break crates/adapters/blobs/src/directory.rs: `let (digest, _) = incoming.publish()?;` -> `std::mem::forget(incoming);`
#[tokio::test]
async fn what_was_acknowledged_survives_a_kill() {
    let place = Place::new();
    let mut random = 20_261_130;
    let mut acknowledged = Vec::new();
    for life in 1..=KILLS {
        let mut child = child("crash::child_that_writes");
        child.env("AMBIT_CHILD_ROOT", place.root("blobs")).env("AMBIT_CHILD_LIFE", life.to_string());
        let digests = killed(&mut child, &mut random);
        acknowledged.extend(digests.iter().map(|digest| digest.parse::<Digest>().unwrap()));
    }
    assert!(acknowledged.len() as u64 > KILLS, "{}", acknowledged.len());
    let blobs = place.open("blobs");
    for digest in &acknowledged {
        assert!(blobs.get(&acme(), *digest, ByteCount::new(1 << 20)).await.is_ok(), "{digest}");
    }
    let mut found = 0;
    for path in everything(&place.root("blobs/acme/shop")).iter().filter(|path| path.is_file()) {
        assert_eq!(
            place.file("blobs", Digest::of(&std::fs::read(path).unwrap())),
            *path,
            "in part or altered"
        );
        found += 1;
    }
    assert!(found >= acknowledged.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "what_was_acknowledged_survives_a_kill runs it and kills it"]
async fn child_that_writes() {
    let root = std::env::var_os("AMBIT_CHILD_ROOT").expect("only a parent test runs this");
    let life: u64 = std::env::var("AMBIT_CHILD_LIFE").unwrap().parse().unwrap();
    let blobs = Arc::new(DirectoryBlobs::open(root.as_ref()).unwrap());
    let mut writers = tokio::task::JoinSet::new();
    for number in 0..3 {
        let blobs = Arc::clone(&blobs);
        writers.spawn(async move {
            let mut random = life * 1_000 + number;
            loop {
                let seed = next_random(&mut random);
                let size = usize::try_from(seed % 60_000).unwrap();
                let bytes: Bytes = seed.to_be_bytes().iter().copied().cycle().take(size + 8).collect();
                let digest = if seed.is_multiple_of(3) {
                    let batch = blobs.batch(&acme()).await.unwrap();
                    let digest = batch.put(bytes).await.unwrap();
                    batch.finish().await.unwrap();
                    digest
                } else if seed.is_multiple_of(2) {
                    blobs.put(&acme(), bytes).await.unwrap()
                } else {
                    let mut writer = blobs.create(&acme()).await.unwrap();
                    writer.write(&bytes).await.unwrap();
                    writer.finish().await.unwrap().0
                };
                acknowledge(&digest.to_string());
            }
        });
    }
    writers.join_all().await;
}
