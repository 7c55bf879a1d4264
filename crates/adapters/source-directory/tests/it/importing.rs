//! What becomes of an ordinary directory.

use std::fs;

use ambit_ids::{ByteCount, Digest, RepoPath};
use ambit_ports::blobs::BlobStore as _;
use ambit_revision::tree::LoadError;
use ambit_revision::{FileKind, Tree, TreeFile};
use ambit_source_directory::{ImportError, import};

use crate::memory::MemoryBlobs;
use crate::world::{World, listed, scope, wait};

fn sample() -> World {
    let world = World::new();
    world.file("README.md", "hello\n");
    world.file("src/lib.rs", "pub fn one() {}\n");
    world.file("src/deep/er/empty", "");
    world.executable("run.sh", 0o755);
    world.link("latest", "src/lib.rs");
    fs::create_dir(world.path("empty directory")).unwrap();
    world
}

// proves E-G01
// break crates/adapters/source-directory/src/open.rs: `contains(Mode::XUSR)` -> `contains(Mode::WUSR)`
#[test]
fn a_directory_becomes_the_tree_of_its_files() {
    let imported = sample().import().unwrap();
    let of = |path: &str, kind, bytes: &[u8]| (path.parse::<RepoPath>().unwrap(), TreeFile::of(kind, bytes));
    let expected = Tree::from_files([
        of("README.md", FileKind::File, b"hello\n"),
        of("src/lib.rs", FileKind::File, b"pub fn one() {}\n"),
        of("src/deep/er/empty", FileKind::File, b""),
        of("run.sh", FileKind::Executable, b"#!/bin/sh\n"),
        of("latest", FileKind::Link, b"src/lib.rs"),
    ])
    .unwrap();
    assert_eq!(listed(&imported.tree), listed(&expected));
    assert_eq!(imported.tree, expected);
    assert_eq!((imported.entries, imported.bytes), (5, ByteCount::new(42)));
    assert_eq!((imported.skipped_git, imported.ignored), (0, 0));
}

#[test]
fn an_empty_directory_is_the_empty_tree() {
    let world = World::new();
    let imported = world.import().unwrap();
    assert_eq!(imported.tree, Tree::empty());
    assert_eq!(world.blobs.order(), [Tree::empty().digest()]);
}

#[test]
fn the_bit_of_the_owner_alone_makes_an_executable() {
    let world = World::new();
    for mode in [0o700, 0o744, 0o755, 0o644, 0o655, 0o611] {
        world.executable(&format!("{mode:o}"), mode);
    }
    let tree = world.import().unwrap().tree;
    assert_eq!(listed(&tree), ["file 611", "file 644", "file 655", "exec 700", "exec 744", "exec 755"]);
}

#[test]
fn names_that_share_a_file_are_files_of_their_own() {
    let world = World::new();
    world.file("one", "same");
    fs::hard_link(world.path("one"), world.path("two")).unwrap();
    let tree = world.import().unwrap().tree;
    assert_eq!(listed(&tree), ["file one", "file two"]);
    // Both contents and the root are two blobs.
    assert_eq!(world.blobs.order().len(), 2);
}

#[test]
fn a_tree_loads_from_the_blobs_of_its_scope_alone() {
    let world = sample();
    let tree = world.import().unwrap().tree;
    let object = |digest: &Digest| {
        let limit = ByteCount::new(1 << 20);
        Ok::<_, LoadError>(wait(world.blobs.get(&scope(), *digest, limit)).unwrap().to_vec())
    };
    assert_eq!(Tree::load(tree.digest(), object).unwrap(), tree);
    for (path, file) in tree.files() {
        let content = world.blobs.content(&scope(), file.content).unwrap();
        assert_eq!(content.len() as u64, file.size.get(), "{path}");
    }
    let mut other = scope();
    other.project = "other".parse().unwrap();
    assert_eq!(world.blobs.content(&other, tree.digest()), None);
}

// proves E-G01
// break crates/adapters/source-directory/src/keep.rs: `if object.digest == tree.digest() {` -> `if object.digest != tree.digest() {`
#[test]
fn contents_are_stored_first_and_the_root_last() {
    let world = sample();
    let tree = world.import().unwrap().tree;
    let order = world.blobs.order();
    let objects: Vec<Digest> = tree.objects().into_iter().map(|object| object.digest).collect();
    assert_eq!(objects.len(), 4);
    assert!(order[order.len() - 4..].iter().all(|digest| objects.contains(digest)), "{order:?}");
    assert_eq!(order.last(), Some(&tree.digest()));
}

#[test]
fn a_full_store_leaves_no_tree_behind() {
    let whole = sample();
    let tree = whole.import().unwrap().tree;
    let blobs = whole.blobs.order().len();
    for room in 0..blobs {
        let world = World::with(MemoryBlobs::with_room(room));
        let error = wait(import(&whole.dir(), &scope(), &world.blobs, Default::default())).unwrap_err();
        assert_eq!(error.code(), "STORAGE_FULL");
        assert_eq!(world.blobs.content(&scope(), tree.digest()), None, "room for {room}");
    }
    let world = World::with(MemoryBlobs::with_room(blobs));
    assert!(wait(import(&whole.dir(), &scope(), &world.blobs, Default::default())).is_ok());
}

#[test]
fn a_large_file_goes_through_in_parts() {
    let world = World::new();
    let content: Vec<u8> = (0..3_000_017_u32).map(|at| (at % 251) as u8).collect();
    world.file("large", &content);
    world.file("small", "x");
    let tree = world.import().unwrap().tree;
    let file = tree.get(&"large".parse().unwrap()).unwrap();
    assert_eq!(*file, TreeFile::of(FileKind::File, &content));
    assert_eq!(world.blobs.content(&scope(), file.content).unwrap(), content);
    assert!(world.blobs.largest_part_bytes() <= 256 << 10, "{}", world.blobs.largest_part_bytes());
    assert_eq!((world.blobs.writers(), world.blobs.open_writers()), (1, 0));
}

#[test]
fn a_file_as_large_as_a_part_is_whole() {
    for size in [(256 << 10) - 1, 256 << 10, (256 << 10) + 1, 512 << 10] {
        let world = World::new();
        let content = vec![7; size];
        world.file("file", &content);
        let tree = world.import().unwrap().tree;
        assert_eq!(tree.get(&"file".parse().unwrap()), Some(&TreeFile::of(FileKind::File, &content)));
    }
}

// proves E-E09
// break crates/adapters/source-directory/src/open.rs: `const FILE: OFlags = OFlags::RDONLY` -> `const FILE: OFlags = OFlags::RDWR.union(OFlags::TRUNC)`
#[test]
fn the_imported_directory_is_never_changed() {
    let world = sample();
    world.file(".gitignore", "target/\n");
    world.file("target/debug/out", "made");
    world.file(".git/config", "[core]\n");
    world.file("large", vec![1; 700_000]);
    let before = world.snapshot();
    let first = world.import().unwrap();
    assert_eq!(world.snapshot(), before);
    // A refusal changes as little.
    fs::File::create(world.path("too large")).unwrap().set_len(1 << 31).unwrap();
    let before = world.snapshot();
    assert_eq!(world.import().unwrap_err().code(), "IMPORT_FILE_TOO_LARGE");
    assert_eq!(world.snapshot(), before);
    fs::remove_file(world.path("too large")).unwrap();
    assert_eq!(world.import().unwrap(), first);
}

#[test]
fn what_is_no_directory_is_refused() {
    let world = World::new();
    world.file("file", "x");
    world.link("link", ".");
    for name in ["file", "none", "link", "link/", "file/x"] {
        let path = world.path(name);
        let error = wait(import(&path, &scope(), &world.blobs, Default::default())).unwrap_err();
        assert_eq!(error.code(), "IMPORT_NOT_A_DIRECTORY", "{name}");
        assert!(matches!(&error, ImportError::NotADirectory { path: told, .. } if *told == path));
        assert!(error.to_string().contains("Name a directory"), "{error}");
        assert_eq!(error.to_string().contains("does not exist"), name == "none", "{error}");
    }
    assert!(world.blobs.is_empty());
    // Links on the way to a directory are whoever named it's own affair.
    fs::create_dir(world.path("sub")).unwrap();
    let through = world.path("link/sub");
    assert!(wait(import(&through, &scope(), &world.blobs, Default::default())).is_ok());
}

#[test]
fn dropping_an_import_ends_it() {
    let world = World::new();
    for at in 0..200 {
        world.file(format!("{at}"), vec![0; 1000]);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (dir, scope) = (world.dir(), scope());
    runtime.block_on(async {
        let mut importing = Box::pin(import(&dir, &scope, &world.blobs, Default::default()));
        let waker = std::task::Waker::noop();
        let polled = importing.as_mut().poll(&mut std::task::Context::from_waker(waker));
        assert!(polled.is_pending());
    });
    // Waits for the walk, which could not end if it went on offering what nobody takes.
    drop(runtime);
    assert!(world.blobs.order().len() < 200);
}
