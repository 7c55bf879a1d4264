use std::cell::Cell;

use ambit_ids::Digest;
use ambit_transparency::merkle::{
    Frontier, FrontierError, Hashes, Node, PROOF_HASHES, ProofError, consistency_nodes, consistency_proof,
    empty_root, inclusion_nodes, inclusion_proof, node_hash, root, subtree_consistency_proof,
    verify_consistency, verify_inclusion, verify_subtree_consistency, verify_subtree_inclusion,
};
use proptest::prelude::*;

use crate::naive::{self, Stored, leaves, store};

/// Every tree up to this size, with every proof in it.
const EXHAUSTIVE: usize = 40;

#[test]
fn every_root_is_that_of_the_standard() {
    let leaves = leaves(300);
    let (mut frontier, mut stored) = (Frontier::new(), Stored::default());
    assert_eq!(frontier.root(), empty_root());
    for (at, leaf) in leaves.iter().enumerate() {
        frontier.append(*leaf, |node, hash| assert_eq!(stored.0.insert(node, hash), None)).unwrap();
        let expected = naive::mth(&leaves[..=at]);
        assert_eq!(frontier.root(), expected, "{at}");
        assert_eq!(root(frontier.size(), &stored), Ok(expected));
        let kept = frontier.to_bytes();
        assert_eq!(kept.len(), 8 + 32 * (at + 1).count_ones() as usize);
        frontier = Frontier::from_bytes(&kept).unwrap();
    }
}

#[test]
fn every_proof_is_that_of_the_standard_and_holds() {
    let all = leaves(EXHAUSTIVE);
    let (_, stored) = store(&all);
    for size in 1..=all.len() {
        let (leaves, tree) = (&all[..size], size as u64);
        let new = naive::mth(leaves);
        for part in 1..=size {
            let (index, old) = (part - 1, naive::mth(&leaves[..part]));
            let proof = inclusion_proof(index as u64, tree, &stored).unwrap();
            assert_eq!(proof, naive::path(index, leaves), "{index} of {size}");
            verify_inclusion(leaves[index], index as u64, tree, &proof, new).unwrap();
            let proof = consistency_proof(part as u64, tree, &stored).unwrap();
            assert_eq!(proof, naive::consistency(part, leaves, true), "{part} to {size}");
            verify_consistency((part as u64, old), (tree, new), &proof).unwrap();
        }
    }
}

#[test]
fn every_subtree_of_a_tree_is_proved_and_no_other_part_is() {
    let all = leaves(EXHAUSTIVE);
    let (_, stored) = store(&all);
    let size = all.len() as u64;
    let mut proved = 0;
    for start in 0..all.len() {
        for end in start + 1..=all.len() {
            let range = (start as u64, end as u64);
            let power = (end - start).next_power_of_two();
            let Ok(proof) = subtree_consistency_proof(range.0, range.1, size, &stored) else {
                assert_ne!(start % power, 0, "{start}..{end} is a subtree");
                continue;
            };
            assert_eq!(start % power, 0, "{start}..{end} is no subtree");
            let subtree = naive::mth(&all[start..end]);
            verify_subtree_consistency(range, subtree, (size, naive::mth(&all)), &proof).unwrap();
            let path = naive::path(0, &all[start..end]);
            verify_subtree_inclusion(all[start], range.0, range, &path, subtree).unwrap();
            let other = naive::leaf(999);
            assert!(verify_subtree_consistency(range, other, (size, naive::mth(&all)), &proof).is_err());
            proved += 1;
        }
    }
    assert!(proved > 100, "{proved} subtrees");
}

#[test]
fn a_proof_holds_for_its_own_numbers_and_hashes_alone() {
    let all = leaves(21);
    let (_, stored) = store(&all);
    let trees: Vec<(u64, Digest)> =
        (0..=all.len()).map(|size| (size as u64, naive::mth(&all[..size]))).collect();
    for new in trees.iter().copied().skip(2) {
        for (index, leaf) in (0..new.0).zip(&all).skip(1) {
            let proof = inclusion_proof(index, new.0, &stored).unwrap();
            for (wrong, what) in spoilt(&proof) {
                let held = verify_inclusion(*leaf, index, new.0, &wrong, new.1);
                assert!(held.is_err(), "{index} {} {what}", new.0);
            }
            for (other, another) in (0..).zip(&all).filter(|(other, _)| *other != index) {
                assert!(verify_inclusion(*leaf, other, new.0, &proof, new.1).is_err());
                assert!(verify_inclusion(*another, index, new.0, &proof, new.1).is_err());
            }
        }
        for old in trees.iter().copied().take_while(|old| old.0 < new.0).skip(1) {
            let proof = consistency_proof(old.0, new.0, &stored).unwrap();
            for (wrong, what) in spoilt(&proof) {
                assert!(verify_consistency(old, new, &wrong).is_err(), "{} {} {what}", old.0, new.0);
            }
            for other in trees.iter().copied() {
                assert_eq!(verify_consistency(other, new, &proof).is_ok(), other == old, "{}", other.0);
                assert!(other == old || verify_consistency((old.0, other.1), new, &proof).is_err());
                assert!(other == new || verify_consistency(old, (new.0, other.1), &proof).is_err());
            }
        }
    }
}

fn spoilt(proof: &[Digest]) -> Vec<(Vec<Digest>, String)> {
    let other = naive::leaf(7777);
    let mut all = vec![(([proof, &[other]]).concat(), "longer".to_owned())];
    all.push(([&[other], proof].concat(), "longer below".to_owned()));
    for at in 0..proof.len() {
        let mut changed = proof.to_vec();
        changed[at] = other;
        all.push((changed, format!("changed at {at}")));
        let mut shorter = proof.to_vec();
        shorter.remove(at);
        all.push((shorter, format!("without {at}")));
    }
    all
}

/// Any hash at all: trees of any size can then be asked for proofs, though nobody could store them.
struct Imagined(Cell<usize>);

impl Hashes for Imagined {
    fn hash(&self, node: Node) -> Option<Digest> {
        self.0.set(self.0.get() + 1);
        let mut hash = naive::leaf(0);
        for _ in 0..node.level() {
            hash = node_hash(hash, hash);
        }
        Some(hash)
    }
}

#[test]
fn every_size_has_its_proofs_within_their_bounds() {
    let sizes = [1, 2, 3, (1 << 32) + 1, (1 << 63) - 1, 1 << 63, (1 << 63) + 1, u64::MAX - 1, u64::MAX];
    for size in sizes {
        let hashes = Imagined(Cell::new(0));
        let new = root(size, &hashes).unwrap();
        let log = 64 - (size - 1).leading_zeros() as usize;
        for part in [1, size / 3 + 1, size / 2 + 1, size - 1, size].into_iter().filter(|part| *part > 0) {
            let proof = inclusion_proof(part - 1, size, &hashes).unwrap();
            assert!(proof.len() <= log, "{} hashes for {part} of {size}", proof.len());
            verify_inclusion(naive::leaf(0), part - 1, size, &proof, new).unwrap();
            let old = root(part, &hashes).unwrap();
            let proof = consistency_proof(part, size, &hashes).unwrap();
            assert!(proof.len() <= log + 1 && proof.len() <= PROOF_HASHES);
            verify_consistency((part, old), (size, new), &proof).unwrap();
        }
    }
}

#[test]
fn a_proof_reads_what_it_says_that_it_reads() {
    for (part, size) in [(1, 1), (5, 9), (1 << 40, (1 << 40) + 12_345), (77, u64::MAX)] {
        let hashes = Imagined(Cell::new(0));
        inclusion_proof(part - 1, size, &hashes).unwrap();
        assert_eq!(hashes.0.replace(0), inclusion_nodes(part - 1, size).unwrap().len());
        consistency_proof(part, size, &hashes).unwrap();
        assert_eq!(hashes.0.get(), consistency_nodes(part, size).unwrap().len());
        assert!(hashes.0.get() <= 128, "{} reads", hashes.0.get());
    }
}

#[test]
fn numbers_that_cannot_belong_together_are_refused() {
    let (nothing, some) = (Stored::default(), naive::leaf(1));
    for (index, size) in [(0, 0), (1, 1), (u64::MAX, u64::MAX), (u64::MAX, 0), (1 << 63, 1 << 63)] {
        assert_eq!(inclusion_proof(index, size, &nothing), Err(ProofError::Range), "{index} {size}");
        assert_eq!(inclusion_nodes(index, size), Err(ProofError::Range));
        assert_eq!(verify_inclusion(some, index, size, &[], some), Err(ProofError::Range));
    }
    for (old, new) in [(0, 0), (0, 1), (0, u64::MAX), (2, 1), (u64::MAX, 1 << 63)] {
        assert_eq!(consistency_proof(old, new, &nothing), Err(ProofError::Range), "{old} {new}");
        assert_eq!(consistency_nodes(old, new), Err(ProofError::Range));
        assert_eq!(verify_consistency((old, some), (new, some), &[]), Err(ProofError::Range));
    }
    assert_eq!(verify_consistency((u64::MAX, some), (u64::MAX, some), &[]), Ok(()));
    let missing = inclusion_proof(0, 2, &nothing).unwrap_err();
    assert_eq!(missing.code(), "LOG_HASH_MISSING");
    for range in [(3, 2), (u64::MAX, 0), (1, u64::MAX)] {
        let tree = (u64::MAX, some);
        assert_eq!(verify_subtree_consistency(range, some, tree, &[]), Err(ProofError::Range), "{range:?}");
        assert_eq!(verify_subtree_inclusion(some, 0, range, &[], some), Err(ProofError::Range));
    }
}

#[test]
fn a_stored_frontier_has_the_length_of_its_size() {
    let (frontier, _) = store(&leaves(7));
    let kept = frontier.to_bytes();
    for wrong in [&kept[..7], &kept[..8], &kept[..kept.len() - 1], &[kept.as_slice(), &[0; 32]].concat(), &[]]
    {
        assert_eq!(Frontier::from_bytes(wrong), Err(FrontierError::Length));
    }
    let mut full =
        Frontier::from_bytes(&[u64::MAX.to_be_bytes().as_slice(), &[7; 64 * 32]].concat()).unwrap();
    let before = full.clone();
    assert_eq!(full.append(naive::leaf(0), |_, _| panic!("nothing is stored")), Err(FrontierError::Full));
    assert_eq!(full, before);
    let last = [(u64::MAX - 1).to_be_bytes().as_slice(), &[7; 63 * 32]].concat();
    let mut last = Frontier::from_bytes(&last).unwrap();
    last.append(naive::leaf(0), |_, _| ()).unwrap();
    assert_eq!(last.size(), u64::MAX);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn larger_trees_agree_with_the_standard(size in 41_usize..1200, a in any::<prop::sample::Index>()) {
        let all = leaves(size);
        let (frontier, stored) = store(&all);
        let (part, tree, new) = (a.index(size) + 1, size as u64, naive::mth(&all));
        prop_assert_eq!(frontier.root(), new);
        let proof = consistency_proof(part as u64, tree, &stored).unwrap();
        prop_assert_eq!(&proof, &naive::consistency(part, &all, true));
        prop_assert!(verify_consistency((part as u64, naive::mth(&all[..part])), (tree, new), &proof).is_ok());
        let proof = inclusion_proof(part as u64 - 1, tree, &stored).unwrap();
        prop_assert_eq!(&proof, &naive::path(part - 1, &all));
        prop_assert!(verify_inclusion(all[part - 1], part as u64 - 1, tree, &proof, new).is_ok());
    }

    #[test]
    fn no_numbers_and_no_length_make_a_verifier_panic(
        numbers in any::<(u64, u64, u64)>(),
        length in 0_usize..140,
    ) {
        let (some, proof) = (naive::leaf(1), vec![naive::leaf(2); length]);
        let (a, b, c) = numbers;
        prop_assert!(verify_inclusion(some, a, b, &proof, naive::leaf(3)).is_err());
        prop_assert!(verify_consistency((a, some), (b, naive::leaf(3)), &proof).is_err());
        prop_assert!(verify_subtree_inclusion(some, a, (b, c), &proof, naive::leaf(3)).is_err());
        prop_assert!(verify_subtree_consistency((a, b), some, (c, naive::leaf(3)), &proof).is_err());
    }
}
