use std::fs::{File, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use ambit_blobs::DirectoryBlobs;
use ambit_ports::blobs::BlobStore as _;
use bytes::Bytes;
use rustix::fs::{FlockOperation, flock};

use crate::place::{Place, acme, everything};

fn refusal(path: &Path) -> &'static str {
    match DirectoryBlobs::open(path) {
        Ok(_) => panic!("{path:?} was opened"),
        Err(error) => error.code(),
    }
}

#[tokio::test]
async fn only_a_private_directory_of_blobs_is_used() {
    let place = Place::new();
    let root = place.root("blobs");
    let digest = place.open("blobs").put(&acme(), Bytes::from_static(b"kept")).await.unwrap();
    for mode in [0o755, 0o710, 0o701, 0o770] {
        std::fs::set_permissions(&root, Permissions::from_mode(mode)).unwrap();
        assert_eq!(refusal(&root), "BLOBS_NOT_PRIVATE", "{mode:o}");
    }
    std::fs::set_permissions(&root, Permissions::from_mode(0o700)).unwrap();
    assert!(place.open("blobs").contains(&acme(), digest).await.unwrap());
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(&root, Some(65_534), None).unwrap();
        assert_eq!(refusal(&root), "BLOBS_NOT_PRIVATE", "another owner");
        std::os::unix::fs::chown(&root, Some(0), None).unwrap();
    }
    std::os::unix::fs::symlink(&root, place.root("link")).unwrap();
    assert_eq!(refusal(&place.root("link")), "BLOBS_UNREACHABLE");
    assert_eq!(refusal(&place.root("no/such")), "BLOBS_UNREACHABLE");
    std::fs::create_dir(root.join(".incoming-v2")).unwrap();
    assert_eq!(refusal(&root), "BLOBS_NEWER_FORMAT");
}

#[test]
fn a_directory_of_something_else_is_left_alone() {
    let place = Place::new();
    let other = place.root("home");
    std::fs::create_dir(&other).unwrap();
    std::fs::set_permissions(&other, Permissions::from_mode(0o700)).unwrap();
    std::fs::write(other.join("notes"), "mine").unwrap();
    assert_eq!(refusal(&other), "BLOBS_FOREIGN");
    assert_eq!(everything(&other).len(), 1, "nothing was made in it");
    std::fs::remove_file(other.join("notes")).unwrap();
    drop(place.open("home"));
}

/// Only what is ours, old and written by nobody goes.
#[test]
fn what_a_crash_left_is_removed_later() {
    let place = Place::new();
    drop(place.open("blobs"));
    let incoming = place.root("blobs/.incoming-v1");
    let (now, hour) = (SystemTime::now(), Duration::from_secs(3_600));
    let make = |name: &str, age: Duration| {
        let file = File::create(incoming.join(name)).unwrap();
        file.set_modified(now - age).unwrap();
        file
    };
    make("1-old", 2 * hour);
    make("1-young", hour / 2);
    let written = make("1-written", 2 * hour);
    flock(&written, FlockOperation::LockExclusive).unwrap();
    let outside = File::create(place.root("outside")).unwrap();
    outside.set_modified(now - 2 * hour).unwrap();
    std::os::unix::fs::symlink(place.root("outside"), incoming.join("1-link")).unwrap();
    std::fs::create_dir(incoming.join("1-directory")).unwrap();
    let batch = |name: &str| {
        std::fs::create_dir(incoming.join(name)).unwrap();
        std::fs::write(incoming.join(name).join("1"), "x").unwrap();
        let directory = File::open(incoming.join(name)).unwrap();
        directory.set_modified(now - 2 * hour).unwrap();
        directory
    };
    batch("1-old-batch");
    let written_batch = batch("1-written-batch");
    flock(&written_batch, FlockOperation::LockExclusive).unwrap();

    drop(place.open("blobs"));
    let mut left: Vec<_> =
        everything(&incoming).into_iter().map(|p| p.file_name().unwrap().to_owned()).collect();
    left.sort();
    assert_eq!(left, ["1", "1-directory", "1-link", "1-written", "1-written-batch", "1-young"]);
    assert!(place.root("outside").exists());
    drop(written);
    drop(place.open("blobs"));
    assert!(!incoming.join("1-written").exists(), "its writer is gone");
}

#[test]
fn a_directory_that_is_made_by_many_at_once_is_one() {
    for _ in 0..20 {
        let place = Place::new();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| place.open("blobs"));
            }
        });
        assert_eq!(everything(&place.root("blobs")).len(), 1);
    }
}
