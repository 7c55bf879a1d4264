use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;

use ambit_git_export::{ExportError, NewFile};
use ambit_ids::Digest;
use tempfile::TempDir;

use crate::world::{World, bundle, envelope, file, link, mail};

fn names(dir: &TempDir) -> Vec<String> {
    fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_file_is_whole_or_not_there() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("out");
    let mut file = NewFile::at(&path).unwrap();
    file.write_all(b"hello\n").unwrap();
    assert!(!path.exists());
    assert_eq!(file.publish().unwrap().digest, Digest::of(b"hello\n"));
    assert_eq!(fs::read(&path).unwrap(), b"hello\n");

    let mut dropped = NewFile::at(&dir.path().join("other")).unwrap();
    dropped.write_all(b"x").unwrap();
    drop(dropped);
    assert_eq!(names(&dir), ["out"]);
}

#[test]
fn what_has_the_name_keeps_it() {
    let dir = TempDir::new().unwrap();
    let (path, dangling) = (dir.path().join("out"), dir.path().join("link"));
    symlink("nowhere", &dangling).unwrap();
    assert_eq!(NewFile::at(&dangling).err().unwrap().code(), "EXPORT_EXISTS");
    let late = NewFile::at(&path).unwrap();
    fs::write(&path, "mine").unwrap();
    assert!(matches!(late.publish(), Err(ExportError::Exists { .. })));
    assert_eq!(fs::read(&path).unwrap(), b"mine");
    assert_eq!(NewFile::at(&dir.path().join("none/out")).err().unwrap().code(), "EXPORT_NO_PLACE");
    let mut left = names(&dir);
    left.sort();
    assert_eq!(left, ["link", "out"]);
}

#[test]
fn what_cannot_be_exported_is_refused_by_its_name() {
    let (base, say) = (World::of(&[file("a", "1\n")]), envelope("x"));
    for refused in [link(".gitmodules", "a"), file("a\\.git\\hooks\\x", "a")] {
        let world = World::of(&[refused, file("b", "2\n")]);
        assert_eq!(mail(&base, &world, &say).unwrap_err().code(), "EXPORT_PATH_REFUSED");
        assert_eq!(bundle(None, &world, &say).unwrap_err().code(), "EXPORT_PATH_REFUSED");
    }
    assert_eq!(mail(&base, &base, &say).unwrap_err().code(), "EXPORT_NOTHING_CHANGED");
    assert!(bundle(None, &base, &say).is_ok());
    let mut torn = World::of(&[file("a", "2\n")]);
    torn.files.clear();
    assert_eq!(mail(&base, &torn, &say).unwrap_err().code(), "BLOB_NOT_FOUND");
    assert_eq!(bundle(None, &torn, &say).unwrap_err().code(), "BLOB_NOT_FOUND");
}

#[test]
fn the_same_is_written_twice_the_same() {
    let worlds = [World::of(&[file("a", "1\n")]), World::of(&[file("a", "2\r\n"), file("b", "\0")])];
    let say = envelope("x");
    assert_eq!(mail(&worlds[0], &worlds[1], &say).unwrap(), mail(&worlds[0], &worlds[1], &say).unwrap());
    let (one, other) = (bundle(None, &worlds[1], &say).unwrap(), bundle(None, &worlds[1], &say).unwrap());
    assert_eq!(one, other);
}
