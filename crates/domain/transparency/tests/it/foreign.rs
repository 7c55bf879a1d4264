//! A second implementation, both ways, and proofs of a log that the world used.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ambit_ids::Digest;
use ambit_transparency::checkpoint::Checkpoint;
use ambit_transparency::merkle::{
    consistency_proof, inclusion_proof, leaf_hash, root, verify_consistency, verify_inclusion,
};
use ambit_transparency::tile::{Growth, Kind, Tile, Tiles, tile_content};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use tlog_tiles::{Hash, HashReader, TileHashReader, TileReader};

use crate::naive::{self, leaves, store};
use crate::signers::checkpoint;

/// The other implementation's stored hashes, in its own numbering.
#[derive(Default)]
struct Theirs(Vec<Hash>);

impl HashReader for Theirs {
    fn read_hashes(&self, indexes: &[u64]) -> Result<Vec<Hash>, tlog_tiles::Error> {
        Ok(indexes.iter().map(|index| self.0[usize::try_from(*index).unwrap()]).collect())
    }
}

impl Theirs {
    fn of(count: usize) -> Self {
        let mut theirs = Self::default();
        for number in 0..count {
            let new =
                tlog_tiles::stored_hashes(number as u64, number.to_string().as_bytes(), &theirs).unwrap();
            theirs.0.extend(new);
        }
        theirs
    }
}

fn ours(hashes: &[Hash]) -> Vec<Digest> {
    hashes.iter().map(|hash| Digest::from_bytes(hash.0)).collect()
}

fn theirs(hashes: &[Digest]) -> Vec<Hash> {
    hashes.iter().map(|hash| Hash(*hash.as_bytes())).collect()
}

#[test]
fn each_verifies_the_proofs_of_the_other() {
    let size = 300_u64;
    let (other, (_, stored)) = (Theirs::of(300), store(&leaves(300)));
    let head = root(size, &stored).unwrap();
    assert_eq!(tlog_tiles::tree_hash(size, &other).unwrap().0, *head.as_bytes());
    let their_head = Hash(*head.as_bytes());
    for index in (0..size).step_by(7).chain([255, 256, 257, 299]) {
        let leaf = naive::leaf(usize::try_from(index).unwrap());
        let mine = inclusion_proof(index, size, &stored).unwrap();
        let made = tlog_tiles::prove_record(size, index, &other).unwrap();
        assert_eq!(mine, ours(&made));
        verify_inclusion(leaf, index, size, &ours(&made), head).unwrap();
        tlog_tiles::check_record(&theirs(&mine), size, their_head, index, Hash(*leaf.as_bytes())).unwrap();

        let (part, old) = (index + 1, root(index + 1, &stored).unwrap());
        let mine = consistency_proof(part, size, &stored).unwrap();
        let made = tlog_tiles::prove_tree(size, part, &other).unwrap();
        assert_eq!(mine, ours(&made));
        verify_consistency((part, old), (size, head), &ours(&made)).unwrap();
        tlog_tiles::check_tree(&theirs(&mine), size, their_head, part, Hash(*old.as_bytes())).unwrap();
    }
}

/// The other implementation writes the height of a tile into its path, and `data` for the entries.
fn their_path(tile: Tile) -> String {
    tile.to_string().replacen("tile/", "tile/8/", 1).replacen("/entries/", "/data/", 1)
}

#[test]
fn both_name_the_same_tiles_when_a_tree_grows() {
    let edges = [0, 1, 2, 255, 256, 257, 65_535, 65_536, 65_537, 70_000, 70_001];
    for old in edges {
        for new in edges.into_iter().filter(|new| *new >= old) {
            let mine: Vec<String> = Growth::new(old, new).unwrap().tiles().map(their_path).collect();
            let other: Vec<String> =
                tlog_tiles::Tile::new_tiles(8, old, new).iter().map(tlog_tiles::Tile::path).collect();
            assert_eq!(mine, other, "{old} to {new}");
        }
    }
    for index in [0, 1, 999, 1000, 1_234_067, u64::MAX / 256, u64::MAX] {
        for width in [1, 255, 256] {
            for (kind, entries) in [(Kind::Hashes(5), false), (Kind::Entries, true)] {
                let tile = Tile::new(kind, index, width).unwrap();
                let level = if entries { 0 } else { 5 };
                let other = tlog_tiles::Tile::new(8, level, index, u32::from(width), entries);
                assert_eq!(their_path(tile), other.path());
                assert_eq!(tile.to_string().parse(), Ok(tile));
            }
        }
    }
}

/// The files that we write, for the other implementation to read.
struct Files(BTreeMap<String, Vec<u8>>);

impl TileReader for Files {
    fn height(&self) -> u8 {
        8
    }

    fn read_tiles(&self, tiles: &[tlog_tiles::Tile]) -> Result<Vec<Vec<u8>>, tlog_tiles::Error> {
        Ok(tiles.iter().map(|tile| self.0[&tile.path()].clone()).collect())
    }

    fn save_tiles(&self, _: &[tlog_tiles::Tile], _: &[Vec<u8>]) {}
}

#[test]
fn the_other_reads_our_tiles_and_we_read_its_own() {
    let size = 70_000_u64;
    let all = leaves(70_000);
    let (frontier, stored) = store(&all);
    let mut files = Files(BTreeMap::new());
    let mut read = Tiles::new();
    for tile in Growth::new(0, size).unwrap().tiles() {
        let bytes = tile_content(tile, &stored).unwrap();
        read.insert(tile, &bytes).unwrap();
        files.0.insert(their_path(tile), bytes);
    }
    assert_eq!(files.0.len(), 273 + 1 + 1 + 1 + 1);
    let head = frontier.root();
    assert_eq!(root(size, &read), Ok(head));
    // This reader holds every tile against the root before it uses it.
    let other = TileHashReader::new(size, Hash(*head.as_bytes()), &files);
    for index in [0, 255, 256, 40_000, 65_535, 65_536, 69_999] {
        let made = tlog_tiles::prove_record(size, index, &other).unwrap();
        assert_eq!(ours(&made), inclusion_proof(index, size, &read).unwrap());
        verify_inclusion(all[usize::try_from(index).unwrap()], index, size, &ours(&made), head).unwrap();
        let made = tlog_tiles::prove_tree(size, index + 1, &other).unwrap();
        assert_eq!(ours(&made), consistency_proof(index + 1, size, &read).unwrap());
    }
}

#[test]
fn both_read_the_same_checkpoints() {
    let ours = checkpoint(70_000, naive::leaf(1));
    let text = ours.to_text().unwrap();
    let other = tlog_tiles::Checkpoint::from_bytes(text.as_bytes()).unwrap();
    assert_eq!((other.origin(), other.size()), (ours.origin.as_str(), ours.size));
    assert_eq!(other.hash().0, *ours.root.as_bytes());
    assert_eq!(Checkpoint::read(&String::from_utf8(other.to_bytes()).unwrap()).unwrap().checkpoint, ours);
}

/// A file that the other implementation ships: what a public log once answered.
fn shipped(name: &str) -> Option<Value> {
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")))?;
    let registries = std::fs::read_dir(home.join("registry/src")).into_iter().flatten().flatten();
    let files = registries.map(|at| at.path().join("tlog_tiles-0.2.0/tests/http_get").join(name));
    let found = files.filter_map(|file| std::fs::read(file).ok()).next();
    if found.is_none() {
        println!("skipped: SHIPPED_PROOFS_ABSENT {name}");
    }
    Some(serde_json::from_slice(&found?).unwrap())
}

fn hash(text: &str) -> Digest {
    Digest::from_bytes(STANDARD.decode(text).unwrap().try_into().unwrap())
}

fn hashes(list: &Value) -> Vec<Digest> {
    list.as_array().unwrap().iter().map(|text| hash(text.as_str().unwrap())).collect()
}

#[test]
fn proofs_of_a_public_log_hold() {
    let Some(head) = shipped("get-sth") else { return };
    let size = head["tree_size"].as_u64().unwrap();
    let root = hash(head["sha256_root_hash"].as_str().unwrap());
    let entry = shipped("get-entries-start-10000-end-10000").unwrap();
    let entry = STANDARD.decode(entry["entries"][0]["leaf_input"].as_str().unwrap()).unwrap();
    let name = "get-proof-by-hash-tree-size-961984011-hash-nCs3mfIydh9x4CKyQ-2Bu2xtmpxmFggA5MLymHwNQSlLg-3D";
    let proof = hashes(&shipped(name).unwrap()["audit_path"]);
    verify_inclusion(leaf_hash(&entry), 10_000, size, &proof, root).unwrap();
    assert!(verify_inclusion(leaf_hash(&entry), 10_001, size, &proof, root).is_err());

    let name = "get-sth-consistency-first-3654490-second-961984011";
    let proof = hashes(&shipped(name).unwrap()["consistency"]);
    let old = (3_654_490, hash("AuIZ5V6sDUj1vn3Y1K85oOaQ7y+FJJKtyRTl1edIKBQ="));
    verify_consistency(old, (size, root), &proof).unwrap();
    assert!(verify_consistency((3_654_491, old.1), (size, root), &proof).is_err());
}
