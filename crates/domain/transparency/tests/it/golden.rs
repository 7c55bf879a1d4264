//! A log over the stored records that every version must read.

use ambit_ids::Digest;
use ambit_transparency::merkle::{
    consistency_proof, inclusion_proof, leaf_hash, verify_consistency, verify_inclusion,
};
use ambit_transparency::tile::{TILE_WIDTH, encode_bundle, parse_bundle};

use crate::naive::{Stored, store};

fn records() -> Vec<Vec<u8>> {
    let text = include_str!("../../../evidence/tests/golden/v1.jsonl");
    text.lines().map(|line| line.as_bytes().to_vec()).collect()
}

fn log(records: &[Vec<u8>]) -> (Digest, Stored) {
    let leaves: Vec<Digest> = records.iter().map(|record| leaf_hash(record)).collect();
    let (frontier, stored) = store(&leaves);
    (frontier.root(), stored)
}

// proves E-M02
// break crates/domain/transparency/src/merkle/verify.rs: `agree(subtree == leaf && tree == root)` -> `agree(tree != leaf)`
#[test]
fn one_altered_byte_of_any_record_is_found_by_its_proof() {
    let records = records();
    let (root, stored) = log(&records);
    let size = records.len() as u64;
    assert!(size >= 100);
    for (index, record) in (0..).zip(&records) {
        let proof = inclusion_proof(index, size, &stored).unwrap();
        verify_inclusion(leaf_hash(record), index, size, &proof, root).unwrap();
        // Every byte of some, and some bytes of every one.
        let step = if index % 16 == 0 { 1 } else { 41 };
        for at in (0..record.len()).step_by(step) {
            let mut altered = record.clone();
            altered[at] ^= 1;
            let found = verify_inclusion(leaf_hash(&altered), index, size, &proof, root);
            assert!(found.is_err(), "byte {at} of record {index}");
        }
    }
}

// proves E-M01
// break crates/domain/transparency/src/merkle/verify.rs: `agree(subtree == old.1 && tree == new.1)` -> `agree(tree == new.1)`
#[test]
fn a_record_that_is_changed_removed_or_moved_later_contradicts_the_checkpoint_before() {
    let records = records();
    let old_size = records.len() / 2;
    let (old, _) = log(&records[..old_size]);
    let holds = |records: &[Vec<u8>]| {
        let (new, stored) = log(records);
        let (from, to) = (old_size as u64, records.len() as u64);
        // The log computes the best proof that it has over what it now claims.
        let proof = consistency_proof(from, to, &stored).unwrap();
        verify_consistency((from, old), (to, new), &proof).is_ok()
    };
    assert!(holds(&records));
    for at in 0..old_size {
        let mut changed = records.clone();
        changed[at].push(b' ');
        assert!(!holds(&changed), "record {at} was changed");
        let mut removed = records.clone();
        removed.remove(at);
        assert!(!holds(&removed), "record {at} was removed");
        let mut moved = records.clone();
        moved.swap(at, old_size);
        assert!(!holds(&moved), "record {at} was moved");
    }
}

#[test]
fn every_stored_record_fits_a_bundle() {
    let records = records();
    let entries: Vec<&[u8]> = records.iter().map(Vec::as_slice).take(usize::from(TILE_WIDTH)).collect();
    let bytes = encode_bundle(&entries).unwrap();
    assert_eq!(parse_bundle(&bytes, u16::try_from(entries.len()).unwrap()).unwrap(), entries);
}
