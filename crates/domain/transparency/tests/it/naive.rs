//! RFC 6962, section 2.1, as it is written: recursive, over all leaves, with no arithmetic of its own.

use std::collections::BTreeMap;

use ambit_ids::Digest;
use ambit_transparency::merkle::{Frontier, Hashes, Node};

pub(crate) fn mth(leaves: &[Digest]) -> Digest {
    match leaves {
        [] => Digest::of(b""),
        [leaf] => *leaf,
        _ => {
            let (left, right) = leaves.split_at(split(leaves.len()));
            Digest::of_parts(&[b"\x01", mth(left).as_bytes(), mth(right).as_bytes()])
        }
    }
}

pub(crate) fn path(index: usize, leaves: &[Digest]) -> Vec<Digest> {
    if leaves.len() == 1 {
        return Vec::new();
    }
    let k = split(leaves.len());
    let (left, right) = leaves.split_at(k);
    let (mut path, beside) =
        if index < k { (path(index, left), mth(right)) } else { (path(index - k, right), mth(left)) };
    path.push(beside);
    path
}

pub(crate) fn consistency(old: usize, leaves: &[Digest], known: bool) -> Vec<Digest> {
    if old == leaves.len() {
        return if known { Vec::new() } else { vec![mth(leaves)] };
    }
    let k = split(leaves.len());
    let (left, right) = leaves.split_at(k);
    let (mut proof, beside) = if old <= k {
        (consistency(old, left, known), mth(right))
    } else {
        (consistency(old - k, right, false), mth(left))
    };
    proof.push(beside);
    proof
}

fn split(n: usize) -> usize {
    let mut k = 1;
    while k * 2 < n {
        k *= 2;
    }
    k
}

pub(crate) fn leaf(number: usize) -> Digest {
    ambit_transparency::merkle::leaf_hash(number.to_string().as_bytes())
}

pub(crate) fn leaves(count: usize) -> Vec<Digest> {
    (0..count).map(leaf).collect()
}

/// Stored hashes, as a log keeps them.
#[derive(Default)]
pub(crate) struct Stored(pub(crate) BTreeMap<Node, Digest>);

impl Hashes for Stored {
    fn hash(&self, node: Node) -> Option<Digest> {
        self.0.get(&node).copied()
    }
}

pub(crate) fn store(leaves: &[Digest]) -> (Frontier, Stored) {
    let (mut frontier, mut stored) = (Frontier::new(), Stored::default());
    for leaf in leaves {
        frontier
            .append(*leaf, |node, hash| assert_eq!(stored.0.insert(node, hash), None, "stored twice"))
            .unwrap();
    }
    (frontier, stored)
}
