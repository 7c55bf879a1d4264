//! Whatever tree is exported is imported as the same tree.

use std::collections::BTreeMap;
use std::fs;

use ambit_ids::RepoPath;
use ambit_ports::blobs::BlobStore as _;
use ambit_revision::{FileKind, Tree, TreeFile};
use ambit_source_directory::import;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::world::{World, everything, scope, wait};

type Files = BTreeMap<RepoPath, (FileKind, Vec<u8>)>;

fn any_name() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => prop::sample::select(vec!["a", "b", "c", "A", "a.txt", "a!", ".gitignore", "..x", "-rf", " ", "tmp.", "é"])
            .prop_map(|name| name.as_bytes().to_vec()),
        2 => prop::collection::vec(any::<u8>(), 1..6),
        1 => prop::collection::vec(1_u8..=255, 200..=255),
    ]
}

fn any_path() -> impl Strategy<Value = RepoPath> {
    let shallow = prop::collection::vec(any_name(), 1..5);
    let deep = (40_usize..=64, any_name()).prop_map(|(depth, last)| {
        let mut names = vec![b"d".to_vec(); depth - 1];
        names.push(last);
        names
    });
    prop_oneof![30 => shallow, 1 => deep].prop_filter_map("no path", |names| {
        let bytes = names.join(&b'/');
        RepoPath::from_bytes(&bytes).ok().filter(|path| path.as_bytes() == bytes)
    })
}

fn any_content() -> impl Strategy<Value = (FileKind, Vec<u8>)> {
    let content = prop_oneof![
        Just(Vec::new()),
        Just(b"*\n".to_vec()),
        prop::collection::vec(any::<u8>(), 1..40),
        (250_000_usize..600_000).prop_map(|size| vec![b'x'; size]),
    ];
    let target = prop_oneof![
        prop::sample::select(vec!["a", "..", "/etc/passwd", "../../../../x", "/", "a/b", "nowhere"])
            .prop_map(|target| target.as_bytes().to_vec()),
        prop::collection::vec(1_u8..=255, 1..40),
    ];
    prop_oneof![
        3 => content.clone().prop_map(|bytes| (FileKind::File, bytes)),
        1 => content.prop_map(|bytes| (FileKind::Executable, bytes)),
        2 => target.prop_map(|bytes| (FileKind::Link, bytes)),
    ]
}

/// Files of which none stands where another one needs a directory.
fn any_files() -> impl Strategy<Value = Files> {
    prop::collection::vec((any_path(), any_content()), 0..25).prop_map(|files| {
        let mut kept = Files::new();
        for (path, content) in files {
            let is_below = |one: &RepoPath, other: &RepoPath| {
                other.as_bytes().starts_with(&[one.as_bytes(), b"/"].concat())
            };
            if !kept.keys().any(|other| is_below(&path, other) || is_below(other, &path)) {
                kept.insert(path, content);
            }
        }
        kept
    })
}

fn tree_of(world: &World, files: &Files) -> Tree {
    Tree::from_files(files.iter().map(|(path, (kind, bytes))| {
        wait(world.blobs.put(&scope(), bytes.clone().into())).unwrap();
        (path.clone(), TreeFile::of(*kind, bytes))
    }))
    .unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    // proves E-G01
    // break crates/adapters/source-directory/src/export.rs: `is_executable: file.kind == FileKind::Executable` -> `is_executable: false`
    #[test]
    fn an_exported_tree_is_imported_as_itself(files in any_files()) {
        let world = World::in_memory();
        let tree = tree_of(&world, &files);
        let exported = world.export(&tree, "out").unwrap();
        let out = world.home().join("out");
        let imported = wait(import(&out, &scope(), &world.blobs, everything())).unwrap();
        prop_assert_eq!(imported.tree.digest(), tree.digest());
        prop_assert_eq!((imported.entries, imported.bytes), (exported.entries, exported.bytes));
        prop_assert_eq!((imported.skipped_git, imported.ignored), (0, 0));
        // One file more makes another tree.
        fs::write(out.join("one file more"), "x").unwrap();
        let more = wait(import(&out, &scope(), &world.blobs, everything())).unwrap();
        prop_assert_ne!(more.tree.digest(), tree.digest());
    }
}
