use ambit_ids::Digest;
use ambit_transparency::merkle::{
    Frontier, Hashes as _, Node, inclusion_proof, leaf_hash, root, verify_inclusion,
};
use ambit_transparency::tile::{
    BundleError, ENTRY_BYTES, Growth, Kind, TILE_WIDTH, Tile, Tiles, TilesError, encode_bundle, parse_bundle,
    tile_content,
};
use proptest::prelude::*;

use crate::naive::{self, Stored, leaves, store};

#[test]
fn the_example_of_the_format_has_its_paths() {
    let tile = Tile::new(Kind::Hashes(0), 1_234_067, 256).unwrap();
    assert_eq!(tile.to_string(), "tile/0/x001/x234/067");
    let partial = Tile::new(Kind::Entries, 57, 234).unwrap();
    assert_eq!(partial.to_string(), "tile/entries/057.p/234");
    let paths: Vec<String> =
        Growth::new(0, 70_000).unwrap().tiles().skip(272).map(|tile| tile.to_string()).collect();
    assert_eq!(paths, ["tile/0/272", "tile/0/273.p/112", "tile/1/000", "tile/1/001.p/17", "tile/2/000.p/1"]);
    let paths: Vec<String> = Growth::new(0, 256).unwrap().tiles().map(|tile| tile.to_string()).collect();
    assert_eq!(paths, ["tile/0/000", "tile/1/000.p/1"]);
}

#[test]
fn a_path_has_one_spelling() {
    let good = [
        "tile/0/000",
        "tile/63/000",
        "tile/7/x001/234.p/57",
        "tile/entries/x001/x234/067.p/255",
        "tile/0/x018/x446/x744/x073/x709/x551/615",
    ];
    for path in good {
        let tile: Tile = path.parse().unwrap_or_else(|_| panic!("{path}"));
        assert_eq!(tile.to_string(), path);
    }
    let wrong = [
        "",
        "tile",
        "tile/",
        "tile/0",
        "tile/0/",
        "/tile/0/000",
        "tile/0/000/",
        "tile//000",
        "tile/00/000",
        "tile/64/000",
        "tile/256/000",
        "tile/-1/000",
        "tile/+1/000",
        "tile/0/0",
        "tile/0/00",
        "tile/0/0000",
        "tile/0/1234",
        "tile/0/x000/000",
        "tile/0/x000/x001/000",
        "tile/0/001/234",
        "tile/0/x01/234",
        "tile/0/x001/x234",
        "tile/0/x001",
        "tile/0/X001/234",
        "tile/0/xx01/234",
        "tile/0/000.p",
        "tile/0/000.p/",
        "tile/0/000.p/0",
        "tile/0/000.p/00",
        "tile/0/000.p/01",
        "tile/0/000.p/256",
        "tile/0/000.p/257",
        "tile/0/000.p/65536",
        "tile/0/000.p/-1",
        "tile/0/000.p/1/",
        "tile/0/000.p/1.p/1",
        "tile/0/000.P/1",
        "tile/0/x001.p/234",
        "tile/0/x018/x446/x744/x073/x709/x551/616",
        "tile/0/x001/x018/x446/x744/x073/x709/x551/615",
        "tile/data/000",
        "tile/Entries/000",
        "tile/entries",
        "tile/0/../000",
        "tile/0/000 ",
        "tile/0/000\n",
        "tile/0/\u{663}00",
        "tile/0/000.p/\u{661}",
    ];
    for path in wrong {
        let read = path.parse::<Tile>();
        assert!(read.is_err(), "{path:?} is {read:?}");
    }
    assert!(format!("tile/0/{}000", "x001/".repeat(100_000)).parse::<Tile>().is_err());
}

#[test]
fn coordinates_are_those_of_some_tile() {
    for (kind, width) in
        [(Kind::Hashes(64), 1), (Kind::Hashes(0), 0), (Kind::Entries, 257), (Kind::Entries, 0)]
    {
        assert_eq!(Tile::new(kind, 0, width), None);
    }
    assert!(Growth::new(1, 0).is_none());
    assert_eq!(Growth::new(5, 5).unwrap().tiles().count(), 0);
    assert_eq!(Growth::new(u64::MAX - 1, u64::MAX).unwrap().tiles().count(), 1);
    let last: Vec<Tile> = Growth::new(u64::MAX - 300, u64::MAX).unwrap().tiles().collect();
    assert_eq!(last.len(), 3, "{last:?}");
    // Nobody publishes that many; to ask for the first of them costs nothing.
    let first = Growth::new(0, u64::MAX).unwrap().tiles().next().unwrap();
    assert_eq!(first.to_string(), "tile/0/000");
    for (index, size) in [(0, 0), (1, 256), (u64::MAX, u64::MAX), (1 << 56, u64::MAX)] {
        assert_eq!(Tile::in_tree(Kind::Hashes(0), index, size), None, "{index} {size}");
    }
    assert_eq!(Tile::in_tree(Kind::Hashes(8), 0, u64::MAX), None);
    assert_eq!(Tile::in_tree(Kind::Hashes(7), 0, u64::MAX).unwrap().width(), 255);
    let node = Node::new(63, 1).unwrap();
    assert_eq!(Tile::of_node(node).to_string(), "tile/7/000");
}

#[test]
fn a_tile_that_no_tree_has_holds_nothing() {
    let (_, stored) = store(&leaves(3));
    for kind in [Kind::Entries, Kind::Hashes(8), Kind::Hashes(63)] {
        assert_eq!(tile_content(Tile::new(kind, 0, 1).unwrap(), &stored), Ok(Vec::new()));
    }
    let beyond = Tile::new(Kind::Hashes(0), u64::MAX, 1).unwrap();
    assert_eq!(tile_content(beyond, &stored), Ok(Vec::new()));
    let missing = tile_content(Tile::new(Kind::Hashes(0), 0, 4).unwrap(), &stored).unwrap_err();
    assert_eq!(missing.code(), "LOG_HASH_MISSING");
}

#[test]
fn tiles_are_taken_whole_and_never_changed() {
    let (_, stored) = store(&leaves(10));
    let mut tiles = Tiles::new();
    let five = Tile::new(Kind::Hashes(0), 0, 5).unwrap();
    let bytes = tile_content(five, &stored).unwrap();
    for wrong in [&bytes[..bytes.len() - 1], &bytes[..128], &[bytes.as_slice(), &[0]].concat(), &[]] {
        assert!(matches!(tiles.insert(five, wrong), Err(TilesError::Length { wanted: 160, .. })));
    }
    let entries = Tile::new(Kind::Entries, 0, 5).unwrap();
    assert!(matches!(tiles.insert(entries, &bytes), Err(TilesError::Length { .. })));
    let leaf = Node::new(0, 4).unwrap();
    assert_eq!(tiles.hash(leaf), None);
    tiles.insert(five, &bytes).unwrap();
    assert_eq!(tiles.hash(leaf), Some(naive::leaf(4)));
    let mut other = bytes.clone();
    other[64] ^= 1;
    assert_eq!(tiles.insert(five, &other), Err(TilesError::Contradiction));
    let three = Tile::new(Kind::Hashes(0), 0, 3).unwrap();
    tiles.insert(three, &bytes[..96]).unwrap();
    assert_eq!(tiles.hash(leaf), Some(naive::leaf(4)));
    assert_eq!(tiles.hash(Node::new(2, 0).unwrap()), Some(naive::mth(&leaves(4))));
    assert_eq!(tiles.hash(Node::new(3, 0).unwrap()), None);
}

#[test]
fn a_log_is_read_back_from_its_growing_files() {
    let (mut frontier, mut stored, mut read) = (Frontier::new(), Stored::default(), Tiles::new());
    let all = leaves(1_400);
    for step in [1, 1, 253, 2, 300, 843] {
        let old = frontier.size();
        for leaf in &all[usize::try_from(old).unwrap()..][..step] {
            frontier.append(*leaf, |node, hash| assert_eq!(stored.0.insert(node, hash), None)).unwrap();
        }
        for tile in Growth::new(old, frontier.size()).unwrap().tiles() {
            read.insert(tile, &tile_content(tile, &stored).unwrap()).unwrap();
        }
        let size = frontier.size();
        assert_eq!(root(size, &read), Ok(frontier.root()));
        let proof = inclusion_proof(size / 2, size, &read).unwrap();
        let leaf = all[usize::try_from(size / 2).unwrap()];
        verify_inclusion(leaf, size / 2, size, &proof, frontier.root()).unwrap();
    }
    let bundles: Vec<String> =
        Growth::new(255, 600).unwrap().bundles().map(|tile| tile.to_string()).collect();
    assert_eq!(bundles, ["tile/entries/000", "tile/entries/001", "tile/entries/002.p/88"]);
}

#[test]
fn a_bundle_is_exactly_its_entries() {
    let largest = vec![7; ENTRY_BYTES];
    let entries: [&[u8]; 4] = [b"", b"a", b"\0\x01", &largest];
    let bytes = encode_bundle(&entries).unwrap();
    assert_eq!(parse_bundle(&bytes, 4).unwrap(), entries);
    for cut in [0, 1, 2, 3, 4, 5, 6, bytes.len() - 1] {
        assert!(parse_bundle(&bytes[..cut], 4).is_err(), "{cut}");
    }
    for width in [0, 1, 3, 5, 256, u16::MAX] {
        assert!(parse_bundle(&bytes, width).is_err(), "{width}");
    }
    for behind in [&[0_u8][..], &[0, 0], &[0, 1, 9]] {
        assert!(parse_bundle(&[bytes.as_slice(), behind].concat(), 4).is_err());
    }
    assert_eq!(parse_bundle(b"", 0), Err(BundleError::Count { found: 0, wanted: 0 }));
    let too_large = vec![0; ENTRY_BYTES + 1];
    let refused = encode_bundle(&[b"", &too_large]);
    assert_eq!(refused, Err(BundleError::EntryTooLarge { at: 1, found: 65_536 }));
    assert_eq!(encode_bundle(&[]).unwrap_err().code(), "BUNDLE_COUNT");
    assert_eq!(encode_bundle(&[b"".as_slice(); 257]).unwrap_err().code(), "BUNDLE_COUNT");
    let full = encode_bundle(&[b"x".as_slice(); 256]).unwrap();
    assert_eq!(parse_bundle(&full, TILE_WIDTH).unwrap().len(), 256);
    let hashes: Vec<Digest> =
        parse_bundle(&full, 256).unwrap().iter().map(|entry| leaf_hash(entry)).collect();
    assert_eq!(hashes[255], leaf_hash(b"x"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_path_that_is_read_is_written_the_same(index in any::<u64>(), level in 0_u8..64, width in 1_u16..=256) {
        for kind in [Kind::Entries, Kind::Hashes(level)] {
            let tile = Tile::new(kind, index, width).unwrap();
            prop_assert_eq!(tile.to_string().parse(), Ok(tile));
        }
    }

    #[test]
    fn the_tiles_of_a_growth_are_those_that_differ(old in 0_u64..70_000, more in 0_u64..2_000) {
        let new = old + more;
        let changed: Vec<Tile> = Growth::new(old, new).unwrap().tiles().collect();
        for level in 0..4_u8 {
            for index in (new >> 8).saturating_sub(12)..=(new >> 8) {
                let tile = |size| Tile::in_tree(Kind::Hashes(level), index, size);
                let written = tile(new).is_some_and(|tile| changed.contains(&tile));
                prop_assert_eq!(written, tile(old) != tile(new), "{} {}", level, index);
            }
        }
    }
}
