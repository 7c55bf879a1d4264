//! Another program finds the same digest of a tree, from its description alone.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cases::{read_files, source};

fn digest_by_python(directory: &Path) -> Option<String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/tree_digest.py");
    let output = Command::new("python3").arg(script).arg(directory).output().ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap().trim().to_owned())
}

#[test]
fn thirty_lines_of_another_language_find_the_same_digest() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &[u8]| -> PathBuf { directory.path().join(std::ffi::OsStr::from_bytes(name)) };
    let files: [(&[u8], &[u8]); 7] = [
        (b"a.txt", b"one\n"),
        (b"a/b/c", b""),
        (b"a-", b"\0\xff"),
        (b"caf\xe9", b"x"),
        ("日本/ファイル".as_bytes(), b"y"),
        (b"line\nfeed", b"z"),
        (b"run", b"#!/bin/sh\n"),
    ];
    for (name, content) in files {
        fs::create_dir_all(place(name).parent().unwrap()).unwrap();
        fs::write(place(name), content).unwrap();
    }
    fs::set_permissions(place(b"run"), fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink("../elsewhere", place(b"a/link")).unwrap();
    let tree = source(&read_files(directory.path())).tree;
    assert_eq!(tree.file_count(), 8);
    let Some(found) = digest_by_python(directory.path()) else {
        println!("skipped: PYTHON_ABSENT");
        return;
    };
    assert_eq!(found, tree.digest().to_string());
    fs::set_permissions(place(b"run"), fs::Permissions::from_mode(0o644)).unwrap();
    assert_ne!(digest_by_python(directory.path()).unwrap(), tree.digest().to_string());
}
