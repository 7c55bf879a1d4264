use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;

use ambit_git_export::{Bundle, ExportError, NewFile, ObjectKind, Parent, Source};
use ambit_ids::{Digest, RepoPath};
use tempfile::TempDir;

use crate::repository::{Repository, is_git_here};
use crate::world::{World, bundle, contents, envelope, file, link, mail, read};

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

#[test]
fn what_is_known_is_not_read() {
    if !is_git_here("what_is_known_is_not_read") {
        return;
    }
    let kept = [file("dir/deep/x", "1\n"), file("dir/y", "2\n"), file("z", "3\n")];
    let before = World::of(&kept);
    let after = World::of(&[&kept[..], &[file("new", "4\n")]].concat());
    let (repository, commit) = Repository::holding(&before);
    let name = |of: &str| repository.says(["rev-parse", &format!("main:{of}")]).parse().unwrap();
    let (directory, blob) = (name("dir"), name("z"));
    let entries = before.tree.entries(None);
    let at = |name: &[u8]| entries.iter().find(|entry| entry.name.as_bytes() == name).unwrap().digest;
    let known = |kind: ObjectKind, digest: &Digest| match kind {
        ObjectKind::Tree if *digest == at(b"dir") => Some(directory),
        ObjectKind::Blob if *digest == at(b"z") => Some(blob),
        _ => None,
    };
    let only = contents(&[&World::of(&[file("new", "4\n")])]);
    let content = |digest: &Digest| read(&only, digest);
    let (branch, say) = ("ambit/rev-1".parse().unwrap(), envelope("x"));
    let parent = Some(Parent { commit, tree: &before.tree });
    let job = Bundle { tree: &after.tree, parent, branch: &branch, envelope: &say };
    let told = job.bytes(&Source { content: &content, known: &known }).unwrap();
    assert_eq!(told, bundle(Some((commit, &before)), &after, &say).unwrap());
    assert_eq!(told.0.objects, 3);
    let unknown = job.bytes(&Source::of(&content)).unwrap_err();
    assert!(
        matches!(unknown, ExportError::Content { path, .. } if path == RepoPath::from_bytes(b"dir/deep/x").unwrap())
    );
}
