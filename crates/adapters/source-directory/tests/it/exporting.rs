//! What is written of a tree, and what is not.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use ambit_ids::{ByteCount, Digest, RepoPath};
use ambit_ports::blobs::BlobStore as _;
use ambit_revision::{FileKind, Tree, TreeFile};
use ambit_source_directory::{ExportError, Exported, export};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::memory::MemoryBlobs;
use crate::world::{World, scope, wait};

/// A tree of files that lie in the blobs of a world.
fn tree_in(world: &World, files: &[(&str, FileKind, &[u8])]) -> Tree {
    let kept = files.iter().map(|(path, kind, bytes)| {
        wait(world.blobs.put(&scope(), bytes.to_vec().into())).unwrap();
        (path.parse::<RepoPath>().unwrap(), TreeFile::of(*kind, bytes))
    });
    Tree::from_files(kept).unwrap()
}

/// What lies beside the project, which is always there.
fn beside(world: &World) -> Vec<String> {
    let names = fs::read_dir(world.home()).unwrap().map(|child| child.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    names.retain(|name| name != "project");
    names.sort();
    names
}

const SAMPLE: &[(&str, FileKind, &[u8])] = &[
    ("README.md", FileKind::File, b"hello\n"),
    ("a/b/c", FileKind::File, b""),
    ("a/b.txt", FileKind::File, b"x"),
    ("a/links/only", FileKind::Link, b"../../README.md"),
    ("run", FileKind::Executable, b"#!/bin/sh\n"),
    ("z/out", FileKind::Link, b"/etc/passwd"),
];

#[test]
fn a_tree_is_written_as_it_is() {
    let world = World::new();
    let tree = tree_in(&world, SAMPLE);
    let exported = world.export(&tree, "out").unwrap();
    assert_eq!(exported, Exported { entries: 6, bytes: ByteCount::new(43) });
    let path = |name: &str| world.home().join("out").join(name);
    assert_eq!(fs::read(path("a/b.txt")).unwrap(), b"x");
    assert_eq!(fs::read(path("a/b/c")).unwrap(), b"");
    assert_eq!(fs::read_link(path("a/links/only")).unwrap().to_str(), Some("../../README.md"));
    assert_eq!(fs::read_link(path("z/out")).unwrap().to_str(), Some("/etc/passwd"));
    let mode = |name: &str| fs::metadata(path(name)).unwrap().mode() & 0o7700;
    assert_eq!((mode("run"), mode("README.md"), mode("a"), mode("")), (0o700, 0o600, 0o700, 0o700));
    assert_eq!(beside(&world), ["out"]);
}

#[test]
fn an_empty_directory_makes_room_and_nothing_else_does() {
    let world = World::new();
    let tree = tree_in(&world, SAMPLE);
    let path = |name: &str| world.home().join(name);
    fs::create_dir(path("empty")).unwrap();
    assert!(world.export(&tree, "empty").is_ok());
    assert!(path("empty/README.md").exists());
    fs::create_dir(path("target")).unwrap();
    fs::write(path("file"), "kept").unwrap();
    symlink("target", path("link")).unwrap();
    for (name, code) in [
        ("empty", "EXPORT_NOT_EMPTY"),
        ("file", "EXPORT_NOT_A_DIRECTORY"),
        ("link", "EXPORT_NOT_A_DIRECTORY"),
        ("none/out", "EXPORT_NOT_A_DIRECTORY"),
        ("file/out", "EXPORT_NOT_A_DIRECTORY"),
        ("empty/..", "EXPORT_NOT_A_DIRECTORY"),
    ] {
        let error = world.export(&tree, name).unwrap_err();
        assert_eq!(error.code(), code, "{name}");
        assert!(error.to_string().contains("nothing was written. Name a"), "{error}");
    }
    assert_eq!(fs::read(path("file")).unwrap(), b"kept");
    assert_eq!(fs::read_dir(path("target")).unwrap().count(), 0);
    assert_eq!(beside(&world), ["empty", "file", "link", "target"]);
}

#[test]
fn the_empty_tree_is_an_empty_directory() {
    let world = World::new();
    wait(world.blobs.put(&scope(), Tree::empty().objects().remove(0).bytes.into())).unwrap();
    world.export(&Tree::empty(), "out").unwrap();
    assert_eq!(fs::read_dir(world.home().join("out")).unwrap().count(), 0);
}

#[test]
fn a_content_that_is_gone_or_another_leaves_nothing_behind() {
    let world = World::new();
    let gone = TreeFile::of(FileKind::File, b"gone");
    let tree = tree_in(&world, SAMPLE);
    let missing = tree.with(&[("q/gone".parse().unwrap(), Some(gone))].into()).unwrap();
    let error = world.export(&missing, "out").unwrap_err();
    assert_eq!(error.code(), "BLOB_NOT_FOUND");
    assert_eq!(error.to_string(), "the content of q/gone cannot be read; nothing was kept");
    let false_size = TreeFile { size: ByteCount::new(9), ..TreeFile::of(FileKind::File, b"hello\n") };
    let wrong = tree.with(&[("README.md".parse().unwrap(), Some(false_size))].into()).unwrap();
    let error = world.export(&wrong, "out").unwrap_err();
    assert!(matches!(&error, ExportError::ContentSize { found, .. } if found.get() == 6), "{error:?}");
    assert_eq!(error.code(), "EXPORT_CONTENT_SIZE");
    // A content of another scope is none.
    let mut other = scope();
    other.project = "other".parse().unwrap();
    let out = world.home().join("out");
    let error = wait(export(&tree, &other, &world.blobs, &out)).unwrap_err();
    assert_eq!(error.code(), "BLOB_NOT_FOUND");
    assert_eq!(beside(&world), Vec::<String>::new());
}

#[test]
fn a_link_that_cannot_be_leaves_nothing_behind() {
    for target in [&b""[..], b"a\0b", &[b'a'; 4095]] {
        let world = World::new();
        let tree = tree_in(&world, &[("a/file", FileKind::File, b"x"), ("link", FileKind::Link, target)]);
        match world.export(&tree, "out") {
            Ok(_) => assert_eq!(target.len(), 4095),
            Err(error) => {
                assert_eq!(error.code(), "EXPORT_UNWRITABLE");
                assert!(error.to_string().starts_with("link cannot be written; nothing was kept"), "{error}");
                assert_eq!(beside(&world), Vec::<String>::new());
            }
        }
    }
}

/// Puts a link to `outside` where an export is about to make a directory, or in place of one that it has made.
fn plant(staging: &Path, name: &str, outside: &Path) -> bool {
    let place = staging.join(name);
    if symlink(outside, &place).is_ok() {
        return true;
    }
    let aside = staging.with_file_name("aside");
    let _ = fs::remove_file(&aside).or_else(|_| fs::remove_dir_all(&aside));
    symlink(outside, &aside).is_ok() && renameat_with(CWD, &aside, CWD, &place, RenameFlags::EXCHANGE).is_ok()
}

#[test]
fn nothing_is_written_through_a_link_that_appears_meanwhile() {
    let world = World::in_memory();
    let names: Vec<String> = (0..60).map(|at| format!("d{at}/file")).collect();
    let files: Vec<_> = names.iter().map(|name| (name.as_str(), FileKind::File, &b"written"[..])).collect();
    let tree = tree_in(&world, &files);
    let outside = world.dir();
    let done = AtomicBool::new(false);
    let planted = std::thread::scope(|threads| {
        let planter = threads.spawn(|| {
            let mut planted = 0;
            while !done.load(Ordering::Relaxed) {
                for name in beside(&world).iter().filter(|name| name.starts_with(".ambit-export-")) {
                    let staging = world.home().join(name);
                    planted += (0..60).filter(|at| plant(&staging, &format!("d{at}"), &outside)).count();
                }
            }
            planted
        });
        for _ in 0..200 {
            if let Err(error) = world.export(&tree, "out") {
                assert!(["EXPORT_COLLISION", "EXPORT_UNWRITABLE"].contains(&error.code()), "{error:?}");
            }
            // What the planter keeps from being removed would only slow down the next one.
            for left in beside(&world) {
                let _ = fs::remove_dir_all(world.home().join(left));
            }
        }
        done.store(true, Ordering::Relaxed);
        planter.join().unwrap()
    });
    assert!(planted > 0);
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn what_is_left_of_a_crash_is_no_obstacle() {
    let world = World::new();
    let tree = tree_in(&world, SAMPLE);
    for number in 0..3 {
        let left = format!(".ambit-export-{}-{number}", std::process::id());
        fs::create_dir(world.home().join(left)).unwrap();
    }
    world.export(&tree, "out").unwrap();
    assert_eq!(beside(&world).len(), 4);
}

#[test]
fn dropping_an_export_removes_what_was_written() {
    let world = World::new();
    let tree = tree_in(&world, SAMPLE);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (out, scope) = (world.home().join("out"), scope());
    runtime.block_on(async {
        let mut exporting = Box::pin(export(&tree, &scope, &world.blobs, &out));
        let waker = std::task::Waker::noop();
        assert!(exporting.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_pending());
    });
    drop(runtime);
    assert_eq!(beside(&world), Vec::<String>::new());
}

#[test]
fn an_export_needs_no_directory_objects() {
    let world = World::with(MemoryBlobs::with_room(6));
    let tree = tree_in(&world, SAMPLE);
    assert!(tree.objects().iter().all(|object| !world.blobs.order().contains(&object.digest)));
    assert!(world.export(&tree, "out").is_ok());
    assert_ne!(tree.digest(), Digest::of(b""));
}
