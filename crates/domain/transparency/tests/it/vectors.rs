//! Vectors that others published, read in place.

use ambit_ids::Digest;
use ambit_transparency::key::VerifierKey;
use ambit_transparency::merkle::{
    Frontier, leaf_hash, verify_consistency, verify_inclusion, verify_subtree_consistency,
    verify_subtree_inclusion,
};
use ambit_transparency::note::Note;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::cases;

fn lines(name: &str) -> Option<Vec<Value>> {
    let text = cases::evidence(&format!("merkle/{name}.jsonl"))?;
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// Some vectors have roots of another length. What counts there is only which of them are equal.
fn digest(text: &str) -> Digest {
    let bytes = STANDARD.decode(text).unwrap();
    <[u8; 32]>::try_from(bytes.as_slice())
        .map_or_else(|_| Digest::of_parts(&[b"another length", &bytes]), Digest::from_bytes)
}

/// `None` where a hash of the proof has another length: no proof can then be written down, let alone verified.
fn proof(case: &Value) -> Option<Vec<Digest>> {
    let Some(hashes) = case["proof"].as_array() else { return Some(Vec::new()) };
    hashes
        .iter()
        .map(|hash| Some(Digest::from_bytes(STANDARD.decode(hash.as_str()?).ok()?.try_into().ok()?)))
        .collect()
}

fn every(
    name: &str,
    count: usize,
    holds: impl Fn(&dyn Fn(&str) -> u64, &dyn Fn(&str) -> Digest, &[Digest]) -> bool,
) {
    let Some(cases) = lines(name) else { return };
    assert!(cases.len() >= count, "{} vectors of {name}", cases.len());
    let mut accepted = 0;
    for case in &cases {
        let number = |field: &str| case[field].as_u64().unwrap();
        // A leaf of another length is no leaf, so it must not equal anything.
        let hash = |field: &str| match digest(case[field].as_str().unwrap()) {
            hash if field != "leafHash" || case[field].as_str().unwrap().len() == 44 => hash,
            hash => Digest::of(hash.as_bytes()),
        };
        let found = proof(case).is_some_and(|proof| holds(&number, &hash, &proof));
        assert_eq!(found, !case["wantErr"].as_bool().unwrap(), "{}: {}", case["file"], case["desc"]);
        accepted += usize::from(found);
    }
    assert!(accepted > 0 && accepted < cases.len(), "{accepted} of {name} hold");
}

#[test]
fn inclusion_is_judged_as_published() {
    every("inclusion", 98, |number, hash, proof| {
        verify_inclusion(hash("leafHash"), number("leafIdx"), number("treeSize"), proof, hash("root")).is_ok()
    });
}

#[test]
fn consistency_is_judged_as_published() {
    every("consistency", 98, |number, hash, proof| {
        let (old, new) = ((number("size1"), hash("root1")), (number("size2"), hash("root2")));
        verify_consistency(old, new, proof).is_ok()
    });
}

#[test]
fn inclusion_in_subtrees_is_judged_as_published() {
    every("subtreeinclusion", 204, |number, hash, proof| {
        let range = (number("start"), number("end"));
        verify_subtree_inclusion(hash("leafHash"), number("leafIdx"), range, proof, hash("root")).is_ok()
    });
}

#[test]
fn consistency_of_subtrees_is_judged_as_published() {
    every("subtreeconsistency", 118, |number, hash, proof| {
        let (range, tree) = ((number("start"), number("end")), (number("size"), hash("root2")));
        verify_subtree_consistency(range, hash("root1"), tree, proof).is_ok()
    });
}

#[test]
fn the_tree_of_the_standard_has_its_roots() {
    let Some(text) = cases::evidence("merkle/rfc6962_tree.json") else { return };
    let tree: Value = serde_json::from_str(&text).unwrap();
    let texts = |field: &str| -> Vec<String> {
        tree[field].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
    };
    let unhex = |text: &String| -> Vec<u8> {
        (0..text.len() / 2).map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap()).collect()
    };
    let (leaves, hashes, roots) = (texts("leaves"), texts("leaf_hashes"), texts("roots"));
    assert_eq!((leaves.len(), hashes.len(), roots.len()), (8, 8, 9));
    let mut frontier = Frontier::new();
    for (at, leaf) in leaves.iter().enumerate() {
        assert_eq!(frontier.root().to_hex(), roots[at]);
        let hash = leaf_hash(&unhex(leaf));
        assert_eq!(hash.to_hex(), hashes[at]);
        frontier.append(hash, |_, _| ()).unwrap();
    }
    assert_eq!(frontier.root().to_hex(), roots[8]);
}

#[test]
fn every_published_note_is_judged_as_published() {
    let Some(text) = cases::evidence("note/notes.json") else { return };
    let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
    assert!(cases.len() >= 21, "{} notes", cases.len());
    for case in &cases {
        let (id, expect) = (case["id"].as_str().unwrap(), case["expect"].as_str().unwrap());
        let keys: Vec<VerifierKey> = case["keys"]
            .as_array()
            .unwrap()
            .iter()
            .map(|key| key.as_str().unwrap().parse().unwrap())
            .collect();
        for (key, text) in keys.iter().zip(case["keys"].as_array().unwrap()) {
            assert_eq!(key.to_string(), text.as_str().unwrap());
        }
        let written = case["note"].as_str().unwrap();
        let parsed = Note::parse(written.as_bytes());
        let signers = parsed.as_ref().map_err(Clone::clone).and_then(|note| note.verify(&keys));
        let count = signers.as_ref().map_or(0, |signers| signers.signed.len());
        let wanted = match expect {
            "accept" | "accept, 1 of 2 checked" | "accept: at least 16 signature lines" => 1,
            "accept, 2" => 2,
            _ => {
                assert!(expect.starts_with("reject"), "{id}: {expect}");
                0
            }
        };
        assert_eq!(count, wanted, "{id}: {expect}, and {:?}", signers.err());
        if let Ok(note) = &parsed {
            assert_eq!(note.to_string(), written, "{id}");
        }
        if id == "extra-blank-in-text" {
            assert_eq!(parsed.unwrap().text(), "a\n\nb\n");
        }
    }
}
