//! Repositories that are too large, or would be once they are unpacked.

use std::fs;
use std::io::Write as _;
use std::time::{Duration, Instant};

use ambit_git_import::ImportOptions;
use ambit_ids::ByteCount;

use crate::world::{World, is_git_here};

#[test]
fn a_limit_names_what_passed_it() {
    if !is_git_here("a_limit_names_what_passed_it") {
        return;
    }
    let world = World::new();
    for name in ["a", "b", "dir/c"] {
        world.file(name, "1234567890");
    }
    world.commit();
    let with = |entry_limit, bytes| {
        let options =
            ImportOptions { entry_limit, content_limit: ByteCount::new(bytes), ..ImportOptions::default() };
        world
            .import_with("HEAD", options)
            .map(|imported| imported.entries)
            .map_err(|error| (error.code(), error.to_string()))
    };
    assert_eq!(with(4, 30), Ok(3));
    assert_eq!(with(3, 30).unwrap_err().0, "IMPORT_TOO_MANY_ENTRIES");
    let (code, text) = with(4, 29).unwrap_err();
    assert_eq!(code, "IMPORT_TOO_LARGE");
    assert!(text.contains("dir/c among them"), "{text}");
}

/// Ten trees, each of which names the one below ten times: ten thousand million files in a thousand bytes.
#[test]
fn a_small_repository_with_endless_files_is_refused_soon() {
    if !is_git_here("a_small_repository_with_endless_files_is_refused_soon") {
        return;
    }
    let world = World::new();
    let blob = world.git_fed(&["hash-object", "-w", "--stdin"], b"");
    let mut listing: String = (0..10).map(|number| format!("100644 blob {blob}\tf{number}\n")).collect();
    for _ in 0..10 {
        let id = world.git_fed(&["mktree"], listing.as_bytes());
        listing = (0..10).map(|number| format!("040000 tree {id}\td{number}\n")).collect();
    }
    let commit = world.commit_tree(&world.git_fed(&["mktree"], listing.as_bytes()));
    let options = ImportOptions { entry_limit: 5_000, ..ImportOptions::default() };
    let started = Instant::now();
    let error = world.import_with(&commit, options).unwrap_err();
    assert_eq!(error.code(), "IMPORT_TOO_MANY_ENTRIES");
    assert!(started.elapsed() < Duration::from_secs(60));
}

/// A zlib stream of `header` and then zeros, as small as zeros make it.
fn bomb(header: &str, zeros: usize) -> Vec<u8> {
    let mut stream = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    stream.write_all(header.as_bytes()).unwrap();
    let chunk = vec![0; 1 << 20];
    for _ in 0..zeros >> 20 {
        stream.write_all(&chunk).unwrap();
    }
    stream.finish().unwrap()
}

#[test]
fn a_stream_that_unpacks_to_more_than_it_says_is_cut_off() {
    if !is_git_here("a_stream_that_unpacks_to_more_than_it_says_is_cut_off") {
        return;
    }
    let world = World::new();
    world.file("f", "small");
    world.commit();
    let id = world.git(&["rev-parse", "HEAD:f"]);
    let file = world.object_file(&id);
    for (header, code) in [
        ("blob 5\0", "IMPORT_OBJECT_CORRUPT"),
        ("blob 60000000\0", "IMPORT_OBJECT_CORRUPT"),
        ("blob 9000000000\0", "IMPORT_FILE_TOO_LARGE"),
        ("blob 99999999999999999999999\0", "IMPORT_OBJECT_CORRUPT"),
        ("blob -1\0", "IMPORT_OBJECT_CORRUPT"),
        ("tree 9000000000\0", "IMPORT_OBJECT_CORRUPT"),
        ("", "IMPORT_OBJECT_CORRUPT"),
    ] {
        fs::remove_file(&file).unwrap();
        fs::write(&file, bomb(header, 4 << 20)).unwrap();
        assert_eq!(world.refusal("HEAD").0, code, "{header:?}");
    }
    let tree = world.git(&["rev-parse", "HEAD^{tree}"]);
    fs::remove_file(world.object_file(&tree)).unwrap();
    fs::write(world.object_file(&tree), bomb("tree 9000000000\0", 4 << 20)).unwrap();
    assert_eq!(world.refusal("HEAD").0, "IMPORT_OBJECT_CORRUPT");
}
