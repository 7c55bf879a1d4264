//! The suite of [`BlobStore`](ambit_ports::blobs::BlobStore).

use std::sync::Arc;

use ambit_ids::{ByteCount, Digest};
use ambit_ports::blobs::{BlobError, BlobStore};
use bytes::Bytes;
use tokio::task::JoinSet;

use crate::children::next_random;
use crate::store::sample::scope;

const LIMIT: ByteCount = ByteCount::new(16 << 20);

/// Runs every check.
pub async fn suite<B, F>(open: F)
where
    B: BlobStore + 'static,
    F: Fn(&str) -> B,
{
    a_blob_is_read_back_under_its_digest(&open).await;
    the_same_bytes_are_put_twice(&open).await;
    a_writer_and_a_put_agree(&open).await;
    a_writer_that_is_dropped_leaves_nothing(&open).await;
    a_limit_is_kept(&open).await;
    many_are_read_as_each_alone(&open).await;
    another_owner_reads_nothing(&open).await;
    many_put_the_same_at_once(&open).await;
    a_batch_is_there_when_it_is_finished(&open).await;
    a_batch_that_is_dropped_keeps_nothing_in_part(&open).await;
    batches_and_puts_of_the_same_agree(&open).await;
}

/// Bytes that differ by their seed and do not repeat soon.
fn bytes(size: usize, seed: u64) -> Bytes {
    let mut state = seed;
    (0..size).map(|_| next_random(&mut state).to_be_bytes()[0]).collect()
}

/// Blobs of all sizes, the empty one included, come back byte for byte, in this process and in another.
pub async fn a_blob_is_read_back_under_its_digest<B: BlobStore>(open: &impl Fn(&str) -> B) {
    let (blobs, acme) = (open("back"), scope("acme", "shop"));
    for size in [0, 1, 4_095, 4_096, 65_537, 3 << 20] {
        let whole = bytes(size, size as u64);
        let digest = Digest::of(&whole);
        assert!(!blobs.contains(&acme, digest).await.unwrap());
        let missing = blobs.get(&acme, digest, LIMIT).await.unwrap_err();
        assert!(matches!(missing, BlobError::NotFound(of) if of == digest), "{missing:?}");
        assert_eq!(blobs.put(&acme, whole.clone()).await.unwrap(), digest);
        assert!(blobs.contains(&acme, digest).await.unwrap());
        assert_eq!(blobs.get(&acme, digest, LIMIT).await.unwrap(), whole);
        assert_eq!(open("back").get(&acme, digest, LIMIT).await.unwrap(), whole);
    }
}

/// Putting what is there succeeds.
pub async fn the_same_bytes_are_put_twice<B: BlobStore>(open: &impl Fn(&str) -> B) {
    let (blobs, acme) = (open("twice"), scope("acme", "shop"));
    let digest = blobs.put(&acme, Bytes::from_static(b"same")).await.unwrap();
    assert_eq!(blobs.put(&acme, Bytes::from_static(b"same")).await.unwrap(), digest);
    assert_eq!(blobs.get(&acme, digest, LIMIT).await.unwrap(), "same");
}

/// However bytes are cut into chunks, the blob is the same.
pub async fn a_writer_and_a_put_agree<B: BlobStore>(open: &impl Fn(&str) -> B) {
    let (blobs, acme) = (open("writer"), scope("acme", "shop"));
    for (size, chunk) in [(0, 1), (5, 1), (100_000, 7_919), (2 << 20, 1 << 20), (1 << 20, 2 << 20)] {
        let whole = bytes(size, chunk as u64);
        let mut writer = blobs.create(&acme).await.unwrap();
        for part in whole.chunks(chunk) {
            writer.write(part).await.unwrap();
        }
        assert!(!blobs.contains(&acme, Digest::of(&whole)).await.unwrap(), "not before it is finished");
        let (digest, found) = writer.finish().await.unwrap();
        assert_eq!((digest, found), (Digest::of(&whole), ByteCount::new(size as u64)));
        assert_eq!(blobs.get(&acme, digest, LIMIT).await.unwrap(), whole);
        assert_eq!(blobs.put(&acme, whole.clone()).await.unwrap(), digest);
        let mut again = blobs.create(&acme).await.unwrap();
        again.write(&whole).await.unwrap();
        assert_eq!(again.finish().await.unwrap().0, digest, "written a second time");
    }
}

/// A blob that was not finished does not exist.
pub async fn a_writer_that_is_dropped_leaves_nothing<B: BlobStore>(open: &impl Fn(&str) -> B) {
    let (blobs, acme) = (open("dropped"), scope("acme", "shop"));
    let whole = bytes(700_000, 1);
    let mut writer = blobs.create(&acme).await.unwrap();
    writer.write(&whole).await.unwrap();
    drop(writer);
    assert!(!blobs.contains(&acme, Digest::of(&whole)).await.unwrap());
    assert_eq!(blobs.put(&acme, whole.clone()).await.unwrap(), Digest::of(&whole));
}

/// A blob is read up to the caller's limit and not a byte past it.
pub async fn a_limit_is_kept<B: BlobStore>(open: &impl Fn(&str) -> B) {
    let (blobs, acme) = (open("limit"), scope("acme", "shop"));
    let digest = blobs.put(&acme, bytes(1_000, 1)).await.unwrap();
    assert_eq!(blobs.get(&acme, digest, ByteCount::new(1_000)).await.unwrap().len(), 1_000);
    let refusal = blobs.get(&acme, digest, ByteCount::new(999)).await.unwrap_err();
    assert_eq!(refusal.code(), "BLOB_TOO_LARGE");
}

/// Many blobs asked for at once have the answers, in their order, that each alone has.
pub async fn many_are_read_as_each_alone<B: BlobStore>(open: &impl Fn(&str) -> B) {
    let (blobs, acme) = (open("many"), scope("acme", "shop"));
    let mut wanted = Vec::new();
    for seed in 0..40 {
        let whole = bytes(900 + 10 * usize::try_from(seed).unwrap_or_default(), seed);
        // Every fifth is missing, the last ones are too large, and one is asked for twice.
        wanted.push(if seed % 5 == 4 { Digest::of(&whole) } else { blobs.put(&acme, whole).await.unwrap() });
    }
    wanted.push(wanted[0]);
    let limit = ByteCount::new(1_200);
    let many = blobs.get_many(&acme, &wanted, limit).await;
    assert_eq!(many.len(), wanted.len());
    for (digest, among) in wanted.iter().zip(many) {
        match (blobs.get(&acme, *digest, limit).await, among) {
            (Ok(alone), Ok(among)) => assert_eq!((&alone[..], *digest), (among.bytes(), among.digest())),
            (Err(alone), Err(among)) => assert_eq!(alone.to_string(), among.to_string()),
            (alone, among) => panic!("alone {alone:?}, among others {among:?}"),
        }
    }
    assert!(blobs.get_many(&acme, &[], limit).await.is_empty());
    let strange = blobs.get_many(&scope("bolt", "shop"), &wanted, limit).await;
    assert!(strange.iter().all(|answer| matches!(answer, Err(BlobError::NotFound(_)))));
}

/// A blob of one scope is, for every other, one that never existed.
pub async fn another_owner_reads_nothing<B: BlobStore>(open: &impl Fn(&str) -> B) {
    let (blobs, acme) = (open("owners"), scope("acme", "shop"));
    let there = blobs.put(&acme, Bytes::from_static(b"a secret patch")).await.unwrap();
    let never = Digest::of(b"never put");
    for stranger in [scope("bolt", "shop"), scope("acme", "site"), scope("ACME", "shop")] {
        assert!(!blobs.contains(&stranger, there).await.unwrap());
        let answers = [
            blobs.get(&stranger, there, LIMIT).await.unwrap_err().to_string(),
            blobs.get(&stranger, never, LIMIT).await.unwrap_err().to_string(),
        ];
        let blind = |text: &str, digest: Digest| text.replace(&digest.to_string(), "?");
        assert_eq!(blind(&answers[0], there), blind(&answers[1], never));
    }
    assert!(blobs.contains(&acme, there).await.unwrap(), "the owner sees it");
    let theirs = blobs.put(&scope("bolt", "shop"), Bytes::from_static(b"a secret patch")).await.unwrap();
    assert_eq!(theirs, there, "the same bytes have the same digest everywhere");
    assert!(!blobs.contains(&scope("acme", "site"), there).await.unwrap());
}

/// Many who put the same bytes all succeed, whichever of them is first.
pub async fn many_put_the_same_at_once<B: BlobStore + 'static>(open: &impl Fn(&str) -> B) {
    let handles = [Arc::new(open("many")), Arc::new(open("many"))];
    let whole = bytes(300_000, 9);
    let mut putters = JoinSet::new();
    for number in 0..32 {
        let (blobs, whole) = (Arc::clone(&handles[number % 2]), whole.clone());
        putters.spawn(async move {
            let acme = scope("acme", "shop");
            let digest = if number % 4 < 2 {
                blobs.put(&acme, whole).await.unwrap()
            } else {
                let mut writer = blobs.create(&acme).await.unwrap();
                writer.write(&whole).await.unwrap();
                writer.finish().await.unwrap().0
            };
            blobs.get(&acme, digest, LIMIT).await.unwrap()
        });
    }
    for read in putters.join_all().await {
        assert_eq!(read, whole);
    }
}

/// Everything that a batch answered a digest for is there once it is finished, in this process and in another: few blobs
/// and many, those that were there before, and those that were put twice.
pub async fn a_batch_is_there_when_it_is_finished<B: BlobStore>(open: &impl Fn(&str) -> B) {
    let (blobs, acme) = (open("batch"), scope("acme", "shop"));
    blobs.batch(&acme).await.unwrap().finish().await.unwrap();
    for count in [1, 30, 300] {
        let batch = blobs.batch(&acme).await.unwrap();
        let mut expected = Vec::new();
        for number in 0..count {
            let whole = bytes(usize::try_from(number).unwrap() * 37 % 9_000, number);
            assert_eq!(batch.put(whole.clone()).await.unwrap(), Digest::of(&whole));
            assert_eq!(batch.put(whole.clone()).await.unwrap(), Digest::of(&whole));
            expected.push(whole);
        }
        let several: Vec<Bytes> = (0..count).map(|number| bytes(3_000, 10_000 + number)).collect();
        let twice = [several.clone(), several.clone()].concat();
        let digests: Vec<Digest> = twice.iter().map(|bytes| Digest::of(bytes)).collect();
        assert_eq!(batch.put_all(twice).await.unwrap(), digests);
        assert_eq!(batch.put_all(Vec::new()).await.unwrap(), []);
        expected.extend(several);
        let long = bytes(700_000, count);
        let mut writer = batch.create().await.unwrap();
        for part in long.chunks(65_537) {
            writer.write(part).await.unwrap();
        }
        let size = ByteCount::new(long.len() as u64);
        assert_eq!(writer.finish().await.unwrap(), (Digest::of(&long), size));
        expected.push(long);
        batch.finish().await.unwrap();
        for whole in &expected {
            let digest = Digest::of(whole);
            assert_eq!(blobs.get(&acme, digest, LIMIT).await.unwrap(), whole);
            assert_eq!(open("batch").get(&acme, digest, LIMIT).await.unwrap(), whole);
        }
        let stranger = scope("bolt", "shop");
        assert!(!blobs.contains(&stranger, Digest::of(&expected[0])).await.unwrap());
    }
}

/// What a batch that was dropped leaves is absent or whole, and can be put again.
pub async fn a_batch_that_is_dropped_keeps_nothing_in_part<B: BlobStore>(open: &impl Fn(&str) -> B) {
    let (blobs, acme) = (open("dropped batch"), scope("acme", "shop"));
    let (whole, long) = (bytes(10_000, 1), bytes(700_000, 2));
    let batch = blobs.batch(&acme).await.unwrap();
    batch.put(whole.clone()).await.unwrap();
    let mut writer = batch.create().await.unwrap();
    writer.write(&long).await.unwrap();
    drop(writer);
    drop(batch);
    assert!(!blobs.contains(&acme, Digest::of(&long)).await.unwrap(), "it was not finished");
    let found = blobs.get(&acme, Digest::of(&whole), LIMIT).await;
    assert!(matches!(&found, Ok(found) if *found == whole) || matches!(found, Err(BlobError::NotFound(_))));
    for whole in [whole, long] {
        let digest = blobs.put(&acme, whole.clone()).await.unwrap();
        assert_eq!(blobs.get(&acme, digest, LIMIT).await.unwrap(), whole);
    }
}

/// Batches and puts of the same bytes at the same time all succeed, whichever of them is first.
pub async fn batches_and_puts_of_the_same_agree<B: BlobStore>(open: &impl Fn(&str) -> B) {
    let (blobs, other, acme) = (open("meeting"), open("meeting"), scope("acme", "shop"));
    let (one, two) = (blobs.batch(&acme).await.unwrap(), other.batch(&acme).await.unwrap());
    let whole: Vec<Bytes> = (0..100).map(|seed| bytes(2_000, seed)).collect();
    for bytes in &whole {
        one.put(bytes.clone()).await.unwrap();
        two.put(bytes.clone()).await.unwrap();
    }
    for bytes in whole.iter().step_by(2) {
        other.put(&acme, bytes.clone()).await.unwrap();
    }
    one.finish().await.unwrap();
    two.finish().await.unwrap();
    for bytes in &whole {
        assert_eq!(blobs.get(&acme, Digest::of(bytes), LIMIT).await.unwrap(), bytes);
    }
}
