//! A bundle that is small enough to be changed by hand.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ambit_bundle::{Draft, NotedStream, archive};
use ambit_ids::{Digest, Scope};
use ambit_ports::signer::Signature;
use ambit_ports::store::{RunRef, Seq, SignedHead, leaf_hash};
use tempfile::TempDir;

pub(crate) const BLOCK: usize = 512;
/// A path that needs both fields of a header.
pub(crate) const LONG: &str = "revision/a-folder-with-a-name-that-is-quite-long/and-another-one-that-is-no-shorter-than-it/and-a-file-at-last.txt";

pub(crate) struct Small {
    place: TempDir,
}

pub(crate) fn run() -> RunRef {
    let scope = Scope { organization: "acme".parse().unwrap(), project: "todo".parse().unwrap() };
    RunRef { scope, run: "run_abcdef".parse().unwrap() }
}

pub(crate) fn noted(records: &[&str]) -> NotedStream {
    let last = records.last().unwrap().as_bytes();
    let signature = Signature { key: Digest::of(b"a key"), bytes: [7; 64] };
    let head = SignedHead { seq: Seq(records.len() as u64 - 1), leaf: leaf_hash(last), signature };
    let rows = records.iter().enumerate().map(|(at, record)| (at as u64, record.as_bytes().to_vec()));
    NotedStream { head: Some(head), records: rows.collect::<BTreeMap<_, _>>() }
}

impl Small {
    pub(crate) fn new() -> Self {
        let small = Self { place: TempDir::new().unwrap() };
        let mut draft = Draft::begin(&small.dir()).unwrap();
        let project = ambit_ports::store::StreamId::Project(run().scope);
        draft.stream(&run(), &run().stream(), &noted(&["{\"a\":1}", "{\"a\":2}", "{\"a\":3}"])).unwrap();
        draft.stream(&run(), &project, &noted(&["{\"p\":1}"])).unwrap();
        draft.blob(Digest::of(b"hello"), b"hello").unwrap();
        draft.put(LONG, b"long").unwrap();
        draft.put("revision/empty", b"").unwrap();
        draft.finish(&run()).unwrap();
        archive(&small.dir(), &small.tar()).unwrap();
        small
    }

    pub(crate) fn dir(&self) -> PathBuf {
        self.place.path().join("bundle")
    }

    pub(crate) fn tar(&self) -> PathBuf {
        self.place.path().join("bundle.tar")
    }

    /// The bytes of the tar, to be changed.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        std::fs::read(self.tar()).unwrap()
    }
}

/// A header as any tar program would write it.
pub(crate) fn header(name: &[u8], size: u64, flag: u8) -> Vec<u8> {
    let mut block = vec![0; BLOCK];
    block[..name.len()].copy_from_slice(name);
    block[100..108].copy_from_slice(b"0000644\0");
    block[108..116].copy_from_slice(b"0000000\0");
    block[116..124].copy_from_slice(b"0000000\0");
    block[124..136].copy_from_slice(format!("{size:011o}\0").as_bytes());
    block[136..148].copy_from_slice(b"00000000000\0");
    block[156] = flag;
    block[257..265].copy_from_slice(b"ustar\x0000");
    summed(&mut block);
    block
}

/// Puts the right checksum into a header.
pub(crate) fn summed(block: &mut [u8]) {
    block[148..156].copy_from_slice(b"        ");
    let sum: u32 = block[..BLOCK].iter().map(|byte| u32::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
}

/// A member of a tar with its padding.
pub(crate) fn member(name: &[u8], content: &[u8], flag: u8) -> Vec<u8> {
    let mut bytes = header(name, content.len() as u64, flag);
    bytes.extend_from_slice(content);
    bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
    bytes
}
