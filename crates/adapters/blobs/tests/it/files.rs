//! What lies in the directory, and what somebody else may have done to it.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use ambit_ids::{ByteCount, Digest};
use ambit_ports::blobs::{BlobError, BlobStore as _};
use bytes::Bytes;

use crate::place::{Place, acme, everything};

const LIMIT: ByteCount = ByteCount::new(1 << 20);

// proves E-M08
// break crates/adapters/blobs/src/incoming.rs: `self.hasher.update(bytes);` -> `self.hasher.update(&bytes[..bytes.len().min(1_000)]);`
#[tokio::test]
async fn sha256sum_agrees_with_the_name() {
    let place = Place::new();
    let blobs = place.open("blobs");
    for text in ["", "a patch\n", &"an output\n".repeat(10_000)] {
        let digest = blobs.put(&acme(), Bytes::copy_from_slice(text.as_bytes())).await.unwrap();
        let output = Command::new("sha256sum").arg(place.file("blobs", digest)).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(format!("sha256:{}", &said[..64]), digest.to_string());
    }
}

#[tokio::test]
async fn everything_is_private() {
    let place = Place::new();
    let blobs = place.open("blobs");
    blobs.put(&acme(), Bytes::from_static(b"private")).await.unwrap();
    let mut unfinished = blobs.create(&acme()).await.unwrap();
    unfinished.write(b"private too").await.unwrap();
    let found = everything(place.directory());
    assert_eq!(found.len(), 7, "root, incoming, its file, organisation, project, shard, blob: {found:?}");
    for path in found {
        let metadata = std::fs::metadata(&path).unwrap();
        let expected = if metadata.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(metadata.permissions().mode() & 0o7777, expected, "{path:?}");
    }
}

// proves E-M08
// break crates/adapters/blobs/src/read.rs: `if content.digest() == digest { Ok(content) }` -> `if content.bytes().len() as u64 == size_bytes { Ok(content) }`
#[tokio::test]
async fn altered_bytes_are_never_handed_out() {
    let place = Place::new();
    let blobs = place.open("blobs");
    let digest = blobs.put(&acme(), Bytes::from_static(b"what was tested")).await.unwrap();
    assert_eq!(blobs.get(&acme(), digest, LIMIT).await.unwrap(), "what was tested");
    for altered in ["what was tasted", "what was", "what was tested!", ""] {
        std::fs::write(place.file("blobs", digest), altered).unwrap();
        let refusal = blobs.get(&acme(), digest, LIMIT).await.unwrap_err();
        assert!(matches!(refusal, BlobError::Corrupt(of) if of == digest), "{altered}: {refusal:?}");
        for among in blobs.get_many(&acme(), &[digest; 9], LIMIT).await {
            assert!(matches!(among, Err(BlobError::Corrupt(of)) if of == digest), "{altered}: {among:?}");
        }
    }
    let refusal = blobs.put(&acme(), Bytes::from_static(b"what was tested")).await.unwrap_err();
    assert_eq!(refusal.code(), "BLOB_CORRUPT", "putting it again does not hide that it was altered");
    let mut writer = blobs.create(&acme()).await.unwrap();
    writer.write(b"what was tested").await.unwrap();
    assert_eq!(writer.finish().await.unwrap_err().code(), "BLOB_CORRUPT");
}

#[tokio::test]
async fn no_link_is_followed_and_no_pipe_waited_for() {
    let place = Place::new();
    let blobs = place.open("blobs");
    let secret = b"the same bytes, elsewhere";
    std::fs::write(place.root("secret"), secret).unwrap();
    let digest = blobs.put(&acme(), Bytes::from_static(secret)).await.unwrap();
    let file = place.file("blobs", digest);

    std::fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink(place.root("secret"), &file).unwrap();
    assert_eq!(blobs.get(&acme(), digest, LIMIT).await.unwrap_err().code(), "BLOB_CORRUPT");
    assert!(blobs.contains(&acme(), digest).await.is_err());
    assert_eq!(blobs.put(&acme(), Bytes::from_static(secret)).await.unwrap_err().code(), "BLOB_CORRUPT");

    std::fs::remove_file(&file).unwrap();
    assert!(Command::new("mkfifo").arg(&file).status().unwrap().success());
    assert_eq!(blobs.get(&acme(), digest, LIMIT).await.unwrap_err().code(), "BLOB_CORRUPT");

    // The directory of the project, moved away and linked to.
    std::fs::remove_file(&file).unwrap();
    std::fs::rename(place.root("blobs/acme/shop"), place.root("moved")).unwrap();
    std::os::unix::fs::symlink(place.root("moved"), place.root("blobs/acme/shop")).unwrap();
    let before = everything(&place.root("moved")).len();
    assert_eq!(
        blobs.put(&acme(), Bytes::from_static(b"other")).await.unwrap_err().code(),
        "BLOB_STORE_FAILED"
    );
    assert_eq!(everything(&place.root("moved")).len(), before, "nothing was written through the link");
}

#[tokio::test]
async fn what_is_not_finished_is_gone() {
    let place = Place::new();
    let blobs = place.open("blobs");
    let incoming = place.root("blobs/.incoming-v1");
    let mut writer = blobs.create(&acme()).await.unwrap();
    writer.write(&[1; 600_000]).await.unwrap();
    assert_eq!(everything(&incoming).len(), 1);
    drop(writer);
    assert_eq!(everything(&incoming).len(), 0);
    let mut writer = blobs.create(&acme()).await.unwrap();
    writer.write(b"finished").await.unwrap();
    let (digest, _) = writer.finish().await.unwrap();
    assert_eq!(everything(&incoming).len(), 0);
    assert!(place.file("blobs", digest).exists());
    assert_eq!(digest, Digest::of(b"finished"));
}

#[tokio::test]
async fn a_batch_leaves_nothing_but_its_blobs() {
    let place = Place::new();
    let blobs = place.open("blobs");
    let incoming = place.root("blobs/.incoming-v1");
    let of = |number: u8| Bytes::from(vec![number; 100]);
    let batch = blobs.batch(&acme()).await.unwrap();
    for number in 0..100 {
        batch.put(of(number)).await.unwrap();
    }
    assert_eq!(everything(&incoming).len(), 101, "a directory and its files");
    assert!(!place.file("blobs", Digest::of(&of(0))).exists(), "no name before the bytes are on the disk");
    let mut late = batch.create().await.unwrap();
    batch.finish().await.unwrap();
    late.write(b"late").await.unwrap();
    assert_eq!(late.finish().await.unwrap_err().code(), "BLOB_STORE_FAILED");
    assert_eq!(everything(&incoming).len(), 0);
    for number in 0..100 {
        assert_eq!(blobs.get(&acme(), Digest::of(&of(number)), LIMIT).await.unwrap(), of(number));
    }
    let dropped = blobs.batch(&acme()).await.unwrap();
    dropped.put(of(200)).await.unwrap();
    drop(dropped);
    assert_eq!(everything(&incoming).len(), 0);
    assert!(!blobs.contains(&acme(), Digest::of(&of(200))).await.unwrap());
    // What was altered is not healed in silence.
    std::fs::write(place.file("blobs", Digest::of(&of(7))), "other").unwrap();
    let batch = blobs.batch(&acme()).await.unwrap();
    assert_eq!(batch.put(of(7)).await.unwrap_err().code(), "BLOB_CORRUPT");
}
