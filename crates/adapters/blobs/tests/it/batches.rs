//! Batches of so many blobs that they are named in several waves.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use ambit_blobs::DirectoryBlobs;
use ambit_conformance::children::{acknowledge, arguments, child, killed};
use ambit_ids::Digest;
use ambit_ports::blobs::BlobStore as _;
use bytes::Bytes;

use crate::place::{Place, acme, everything};

const GROUP: u64 = 2;
/// A wave has 16 MiB, so a batch has two.
const GROUPS: u64 = 18;
/// Each line has more than 30 bytes.
const BLOB_LINES: usize = 16 << 10;
const KILLS: u64 = 2;
/// The blobs of the batch that is traced.
const SMALL: usize = 1_000;

fn group(batch: u64, number: u64) -> Vec<Bytes> {
    let text = |blob| format!("blob {blob} of group {number} of batch {batch}\n");
    (0..GROUP).map(|blob| text(blob).repeat(BLOB_LINES).into()).collect()
}

/// A blob of a wave that is full has its name before the batch is finished. So no name may be there without all bytes, and
/// a batch that was finished is whole.
#[test]
fn a_killed_batch_leaves_whole_blobs_and_a_finished_one_all_of_them() {
    let place = Place::new();
    let mut random = 20_261_130;
    let mut finished = 0;
    for life in 0..KILLS {
        let mut child = child("batches::child_that_writes_batches");
        child.env("AMBIT_CHILD_ROOT", place.root("blobs")).env("AMBIT_CHILD_LIFE", life.to_string());
        for batch in killed(&mut child, &mut random).iter().filter_map(|said| said.strip_prefix("finished "))
        {
            let batch: u64 = batch.parse().unwrap();
            finished += 1;
            for bytes in (0..GROUPS).flat_map(|number| group(batch, number)) {
                assert!(place.file("blobs", Digest::of(&bytes)).exists(), "batch {batch}");
            }
        }
    }
    let named = everything(&place.root("blobs/acme/shop"));
    let named: Vec<&PathBuf> = named.iter().filter(|path| path.is_file()).collect();
    for path in &named {
        let digest = Digest::of(&std::fs::read(path).unwrap());
        assert_eq!(place.file("blobs", digest), **path, "in part or altered");
    }
    assert!(finished > 0 && named.len() as u64 >= finished * GROUPS * GROUP, "{finished} {}", named.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a_killed_batch_leaves_whole_blobs_and_a_finished_one_all_of_them runs it and kills it"]
async fn child_that_writes_batches() {
    let root = std::env::var_os("AMBIT_CHILD_ROOT").expect("only a parent test runs this");
    let life: u64 = std::env::var("AMBIT_CHILD_LIFE").unwrap().parse().unwrap();
    let blobs = DirectoryBlobs::open(root.as_ref()).unwrap();
    for batch in life * 1_000.. {
        let writing = blobs.batch(&acme()).await.unwrap();
        for number in 0..GROUPS {
            writing.put_all(group(batch, number)).await.unwrap();
            acknowledge(&format!("put {number}"));
        }
        writing.finish().await.unwrap();
        acknowledge(&format!("finished {batch}"));
    }
}

// What one file costs, and in which order it happens, as the kernel sees it.
#[test]
fn a_batch_asks_little_of_the_kernel_and_syncs_bytes_before_names() {
    let place = Place::new();
    let trace = place.root("trace");
    let mut command = Command::new("strace");
    command
        .args(["-f", "-qq", "-e", "trace=!futex,epoll_wait,mprotect,madvise,mmap,munmap", "-o"])
        .arg(&trace);
    command.arg(std::env::current_exe().unwrap()).args(arguments("batches::child_that_writes_one_batch"));
    command.env("AMBIT_CHILD_ROOT", place.root("blobs"));
    if !command.output().is_ok_and(|output| output.status.success()) {
        println!("skipped: STRACE_UNUSABLE a_batch_asks_little_of_the_kernel_and_syncs_bytes_before_names");
        return;
    }
    let text = std::fs::read_to_string(&trace).unwrap();
    let begun = text.lines().position(|line| line.contains("batch begins")).unwrap();
    let ended = text.lines().position(|line| line.contains("batch ends")).unwrap();
    let calls: Vec<&str> =
        text.lines().take(ended).skip(begun + 1).filter_map(|line| line.split_whitespace().nth(1)).collect();
    let calls: Vec<&str> = calls.iter().filter_map(|call| Some(call.split_once('(')?.0)).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for call in &calls {
        *counts.entry(call).or_default() += 1;
    }
    assert_eq!(counts["renameat2"], SMALL, "{counts:?}");
    let sync = |call: &&str| matches!(*call, "fsync" | "fdatasync" | "syncfs");
    assert_eq!(calls.iter().filter(|call| sync(call)).count(), 2, "{counts:?}");
    let first = calls.iter().position(sync).unwrap();
    let last = calls.iter().rposition(sync).unwrap();
    let is_name = |call: &&str| *call == "renameat2";
    assert!(calls.iter().position(is_name).unwrap() > first, "a name before its bytes");
    assert!(calls.iter().rposition(is_name).unwrap() < last, "a name that is not synced");
    // Opened, written, closed, named; and at most 256 directories looked for, made and opened.
    assert!(calls.len() < 4 * SMALL + 256 * 14, "{} calls: {counts:?}", calls.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a_batch_asks_little_of_the_kernel_and_syncs_bytes_before_names runs it under a tracer"]
async fn child_that_writes_one_batch() {
    let root = std::env::var_os("AMBIT_CHILD_ROOT").expect("only a parent test runs this");
    let blobs = DirectoryBlobs::open(root.as_ref()).unwrap();
    acknowledge("batch begins");
    let batch = blobs.batch(&acme()).await.unwrap();
    for number in 0..4 {
        let small = |blob| Bytes::from(format!("small blob {blob} of {number}"));
        batch.put_all((0..SMALL / 4).map(small).collect()).await.unwrap();
    }
    batch.finish().await.unwrap();
    acknowledge("batch ends");
}

// A wave of large blobs makes some directories. Whether a small blob is in one of them already is not asked: what is new
// holds nothing from before the batch.
#[test]
fn a_batch_does_not_look_into_directories_that_it_made() {
    let place = Place::new();
    let trace = place.root("trace");
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-e", "trace=openat,openat2,write", "-o"]).arg(&trace);
    command.arg(std::env::current_exe().unwrap()).args(arguments("batches::child_that_fills_waves"));
    command.env("AMBIT_CHILD_ROOT", place.root("blobs"));
    if !command.output().is_ok_and(|output| output.status.success()) {
        println!("skipped: STRACE_UNUSABLE a_batch_does_not_look_into_directories_that_it_made");
        return;
    }
    let text = std::fs::read_to_string(&trace).unwrap();
    let of_blob = |line: &&str| {
        let name = line.split('"').nth(1).unwrap_or_default();
        name.len() == 62 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let looked = |from: &str, to: &str| {
        let lines = text.lines().skip_while(|line| !line.contains(from));
        lines.take_while(|line| !line.contains(to)).filter(of_blob).count()
    };
    assert_eq!(looked("batch begins", "batch ends"), 0);
    // Another batch finds those directories, and looks for each blob.
    assert_eq!(looked("batch ends", "others end"), SMALL);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a_batch_does_not_look_into_directories_that_it_made runs it under a tracer"]
async fn child_that_fills_waves() {
    let root = std::env::var_os("AMBIT_CHILD_ROOT").expect("only a parent test runs this");
    let blobs = DirectoryBlobs::open(root.as_ref()).unwrap();
    let large = |wave: usize| {
        (0..64).map(move |blob| vec![u8::try_from(wave * 64 + blob).unwrap(); 256 << 10].into())
    };
    let small = || (0..SMALL).map(|blob| Bytes::from(format!("small blob {blob}"))).collect();
    acknowledge("batch begins");
    let batch = blobs.batch(&acme()).await.unwrap();
    // The first wave has its names when the second one is full.
    for wave in 0..2 {
        batch.put_all(large(wave).collect()).await.unwrap();
    }
    batch.put_all(small()).await.unwrap();
    batch.finish().await.unwrap();
    acknowledge("batch ends");
    let batch = blobs.batch(&acme()).await.unwrap();
    batch.put_all(small()).await.unwrap();
    batch.finish().await.unwrap();
    acknowledge("others end");
}
