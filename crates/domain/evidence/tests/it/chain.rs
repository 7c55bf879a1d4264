use ambit_evidence::{ChainFault, StreamName, leaf_hash, verify_chain};
use ambit_ids::Digest;

use crate::samples::{digest, records};

type Rows = Vec<(Vec<u8>, Digest)>;

fn rows() -> (StreamName, Rows) {
    let of_run: Vec<_> = records().into_iter().take_while(|record| record.run.is_some()).collect();
    let rows = of_run
        .iter()
        .map(|record| {
            let bytes = ambit_canonical::encode(record).unwrap().into_bytes();
            let leaf = leaf_hash(&bytes);
            (bytes, leaf)
        })
        .collect();
    (of_run[0].stream(), rows)
}

fn verify(stream: &StreamName, rows: &Rows) -> Result<usize, (u64, ChainFault)> {
    verify_chain(stream, rows.iter().map(|(bytes, leaf)| (bytes.as_slice(), *leaf)))
        .map(|links| links.len())
        .map_err(|error| (error.seq, *error.fault))
}

/// What a writer of the store can do to a row once its hash is computed again.
fn rehash(rows: &mut Rows, at: usize) {
    rows[at].1 = leaf_hash(&rows[at].0);
}

// proves E-M02 E-A15
// break crates/domain/evidence/src/chain.rs: `if leaf != stored {` -> `if false {`
#[test]
fn a_flipped_byte_is_found_at_its_row() {
    let (stream, rows) = rows();
    assert_eq!(verify(&stream, &rows).unwrap(), rows.len());
    for at in [0, 7, rows.len() - 1] {
        let mut altered = rows.clone();
        let last = altered[at].0.len() - 2;
        altered[at].0[last] ^= 1;
        let (seq, fault) = verify(&stream, &altered).unwrap_err();
        assert_eq!(seq, at as u64);
        assert!(matches!(fault, ChainFault::Altered { .. }), "{fault}");
    }
}

// proves E-M02
// break crates/domain/evidence/src/chain.rs: `Some(before) if record.prev != before.leaf => {` -> `Some(before) if record.prev != before.leaf && false => {`
#[test]
fn a_row_that_is_altered_and_hashed_again_breaks_the_link_behind_it() {
    let (stream, mut rows) = rows();
    let text = String::from_utf8(rows[4].0.clone())
        .unwrap()
        .replace("\"chargedMicroUsd\":999", "\"chargedMicroUsd\":1");
    rows[4].0 = text.into_bytes();
    rehash(&mut rows, 4);
    let (seq, fault) = verify(&stream, &rows).unwrap_err();
    assert!(matches!((seq, &fault), (5, ChainFault::Unlinked { .. })), "{seq}: {fault}");
}

// proves E-M02
// break crates/domain/evidence/src/chain.rs: `if record.seq != seq {` -> `if false {`
#[test]
fn a_row_that_is_missing_repeated_or_moved_is_found() {
    let (stream, rows) = rows();
    let mut missing = rows.clone();
    missing.remove(3);
    assert!(matches!(verify(&stream, &missing), Err((3, ChainFault::Misplaced(4)))));
    let mut repeated = rows.clone();
    repeated.insert(3, rows[3].clone());
    assert!(matches!(verify(&stream, &repeated), Err((4, ChainFault::Misplaced(3)))));
    let mut moved = rows.clone();
    moved.swap(3, 4);
    assert!(matches!(verify(&stream, &moved), Err((3, ChainFault::Misplaced(4)))));
    let mut headless = rows;
    headless.remove(0);
    assert!(matches!(verify(&stream, &headless), Err((0, ChainFault::Misplaced(1)))));
}

#[test]
fn a_row_of_another_run_project_or_tenant_does_not_belong() {
    let (stream, rows) = rows();
    for foreign in [
        StreamName { run: Some("run_000002".parse().unwrap()), ..stream.clone() },
        StreamName { project: Some("bank".parse().unwrap()), ..stream.clone() },
        StreamName { organization: "other".parse().unwrap(), ..stream },
    ] {
        assert!(matches!(verify(&foreign, &rows), Err((0, ChainFault::Foreign))));
    }
}

#[test]
fn a_second_spelling_of_a_row_is_no_row() {
    let (stream, mut rows) = rows();
    rows[2].0.push(b'\n');
    rehash(&mut rows, 2);
    assert!(matches!(verify(&stream, &rows), Err((2, ChainFault::Unreadable(_)))));
}

#[test]
fn streams_of_different_names_have_different_beginnings() {
    let (stream, _) = rows();
    let project = StreamName { run: None, ..stream.clone() };
    assert_ne!(stream.genesis(), project.genesis());
    assert_ne!(stream.genesis(), digest("origin"));
}
