//! What was written is read back, from either form, and nothing else can be done.

use ambit_bundle::{Bundle, BundleError, archive};
use ambit_ids::{ByteCount, Digest};
use ambit_ports::blobs::{BlobError, BlobStore as _};
use ambit_ports::store::{Seq, Store as _, StoreError, StreamId};
use bytes::Bytes;

use crate::small::{Small, run};

#[tokio::test]
async fn a_directory_and_its_tar_are_read_alike() {
    let small = Small::new();
    let (dir, tar) = (Bundle::open(&small.dir()).unwrap(), Bundle::open(&small.tar()).unwrap());
    assert_eq!(dir.manifest(), tar.manifest());
    assert_eq!(dir.audit().unwrap(), tar.audit().unwrap());
    let audit = dir.audit().unwrap();
    assert_eq!((audit.missing.len(), audit.altered.len(), audit.unlisted.len()), (0, 0, 0));
    assert_eq!(audit.present.len(), dir.manifest().members.len());
    for bundle in [dir, tar] {
        let store = bundle.store();
        let page = store.read(&run().stream(), Seq(1), 5).await.unwrap();
        let seen: Vec<(u64, &[u8])> = page.iter().map(|row| (row.seq.0, row.bytes.as_slice())).collect();
        assert_eq!(seen, [(1, b"{\"a\":2}".as_slice()), (2, b"{\"a\":3}".as_slice())]);
        // Back, and on from where it was left.
        assert_eq!(store.read(&run().stream(), Seq(0), 1).await.unwrap()[0].bytes, b"{\"a\":1}");
        assert_eq!(store.read(&run().stream(), Seq(1), 1).await.unwrap()[0].bytes, b"{\"a\":2}");
        assert_eq!(store.head(&run().stream()).await.unwrap().unwrap().seq, Seq(2));
        assert_eq!(store.runs(&run().scope, None, 9).await.unwrap(), [run().run]);
        let blobs = bundle.blobs();
        let hello = Digest::of(b"hello");
        assert_eq!(blobs.get(&run().scope, hello, ByteCount::new(5)).await.unwrap(), "hello");
        let found = blobs.get(&run().scope, hello, ByteCount::new(4)).await;
        assert!(matches!(found, Err(BlobError::TooLarge { .. })), "{found:?}");
    }
}

#[tokio::test]
async fn another_tenant_sees_nothing_of_it() {
    let small = Small::new();
    let bundle = Bundle::open(&small.tar()).unwrap();
    let mut other = run().scope;
    other.organization = "other".parse().unwrap();
    let hello = Digest::of(b"hello");
    let found = bundle.blobs().get(&other, hello, ByteCount::new(9)).await;
    assert!(matches!(found, Err(BlobError::NotFound(_))), "{found:?}");
    let stream = StreamId::Run(other.clone(), run().run);
    assert!(bundle.store().read(&stream, Seq(0), 9).await.unwrap().is_empty());
    assert!(bundle.store().runs(&other, None, 9).await.unwrap().is_empty());
}

#[tokio::test]
async fn what_would_write_is_refused_as_such() {
    let small = Small::new();
    let bundle = Bundle::open(&small.dir()).unwrap();
    let sent = ambit_canonical::encode(&1).unwrap();
    let answer = bundle.store().send(&run().stream(), sent).await;
    assert!(matches!(answer, Err(StoreError::ReadOnly(_))), "{answer:?}");
    let answer = bundle.blobs().put(&run().scope, Bytes::from_static(b"x")).await;
    let kind = match answer {
        Err(BlobError::Io(error)) => error.kind(),
        other => panic!("{other:?}"),
    };
    assert_eq!(kind, std::io::ErrorKind::ReadOnlyFilesystem);
}

#[test]
fn the_same_bundle_makes_the_same_tar_and_nothing_is_written_over() {
    let (small, again) = (Small::new(), Small::new());
    assert_eq!(small.bytes(), again.bytes());
    let written = archive(&small.dir(), &small.tar());
    assert!(matches!(written, Err(BundleError::Unreachable { .. })), "{written:?}");
}

#[test]
fn gnu_tar_reads_it_without_a_word() {
    let small = Small::new();
    let into = tempfile::TempDir::new().unwrap();
    let tar =
        std::process::Command::new("tar").arg("-xf").arg(small.tar()).arg("-C").arg(into.path()).output();
    let Ok(output) = tar else { return };
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let unpacked = Bundle::open(into.path()).unwrap();
    assert_eq!(unpacked.audit().unwrap(), Bundle::open(&small.tar()).unwrap().audit().unwrap());
}

#[tokio::test]
async fn a_stream_that_is_cut_or_has_a_line_without_an_end_is_damage_and_one_that_is_gone_is_not() {
    let small = Small::new();
    let trace = small.dir().join("trace.jsonl");
    let whole = std::fs::read(&trace).unwrap();
    let read = async || Bundle::open(&small.dir()).unwrap().store().read(&run().stream(), Seq(0), 9).await;
    assert_eq!(read().await.unwrap().len(), 3, "the control");
    std::fs::write(&trace, &whole[..whole.len() - 3]).unwrap();
    assert!(matches!(read().await, Err(StoreError::Damaged(_))));
    std::fs::write(&trace, vec![b'x'; 1 << 20]).unwrap();
    assert!(matches!(read().await, Err(StoreError::Damaged(_))));
    std::fs::remove_file(&trace).unwrap();
    assert!(matches!(read().await, Err(StoreError::Failed(_))));
}
