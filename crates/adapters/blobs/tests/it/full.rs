//! A real disk without room: a file system of 2 MiB in a mount namespace of a child.

use ambit_blobs::DirectoryBlobs;
use ambit_conformance::children::{DISK, on_a_small_disk};
use ambit_ids::{ByteCount, Digest};
use ambit_ports::blobs::BlobStore as _;
use bytes::Bytes;

use crate::place::{Place, acme, everything};

#[test]
fn a_full_disk_is_told_and_keeps_nothing() {
    let place = Place::new();
    match on_a_small_disk("full::child_on_a_full_disk", place.directory()) {
        Some(text) => assert!(text.contains("full after "), "{text}"),
        None => println!("skipped: NO_USER_NAMESPACES a_full_disk_is_told_and_keeps_nothing"),
    }
}

#[tokio::test]
#[ignore = "a_full_disk_is_told_and_keeps_nothing runs it on a small file system"]
async fn child_on_a_full_disk() {
    let place = std::path::PathBuf::from(std::env::var_os(DISK).unwrap());
    let blobs = DirectoryBlobs::open(&place.join("blobs")).unwrap();
    let mut kept = Vec::new();
    let refusal = loop {
        let bytes = Bytes::from(vec![u8::try_from(kept.len()).unwrap(); 300_000]);
        match blobs.put(&acme(), bytes.clone()).await {
            Ok(digest) => kept.push((digest, bytes)),
            Err(refusal) => break (Digest::of(&bytes), refusal),
        }
    };
    assert_eq!(refusal.1.code(), "STORAGE_FULL", "{refusal:?}");
    assert!(kept.len() > 3);
    assert!(!blobs.contains(&acme(), refusal.0).await.unwrap());
    let mut writer = blobs.create(&acme()).await.unwrap();
    let written = writer.write(&[200; 1 << 20]).await;
    assert_eq!(written.unwrap_err().code(), "STORAGE_FULL");
    assert_eq!(writer.finish().await.unwrap_err().code(), "BLOB_STORE_FAILED", "no half of it is finished");
    assert_eq!(everything(&place.join("blobs/.incoming-v1")).len(), 0, "nothing is left behind");
    for (digest, bytes) in &kept {
        assert_eq!(blobs.get(&acme(), *digest, ByteCount::new(1 << 20)).await.unwrap(), bytes);
    }
    println!("full after {}", kept.len());
}
