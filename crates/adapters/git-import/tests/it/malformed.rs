//! Trees that git does not write, and paths that lead where none may.

use crate::world::{World, is_git_here, listed};

/// The bytes of a tree of these entries, each a mode, a name and an object.
fn tree(entries: &[(&str, &[u8], &str)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (mode, name, id) in entries {
        bytes.extend_from_slice(mode.as_bytes());
        bytes.push(b' ');
        bytes.extend_from_slice(name);
        bytes.push(0);
        bytes.extend((0..20).map(|at| u8::from_str_radix(&id[2 * at..2 * at + 2], 16).unwrap()));
    }
    bytes
}

#[test]
fn a_tree_that_git_does_not_write_is_refused() {
    if !is_git_here("a_tree_that_git_does_not_write_is_refused") {
        return;
    }
    let world = World::new();
    let blob = world.git_fed(&["hash-object", "-w", "--stdin"], b"x");
    let empty = world.tree_object(b"");
    let (file, exec) = ("100644", "100755");
    let import = |entries: &[(&str, &[u8], &str)]| {
        let commit = world.commit_tree(&world.tree_object(&tree(entries)));
        world.import(&commit).map(|imported| listed(&imported.tree)).map_err(|error| error.code())
    };
    assert_eq!(
        import(&[(file, b"a", &blob), (exec, b"b", &blob)]),
        Ok(vec!["file a".into(), "exec b".into()])
    );
    assert_eq!(import(&[("100664", b"a", &blob), ("40000", b"b", &empty)]), Ok(vec!["file a".into()]));
    assert_eq!(import(&[]), Ok(Vec::new()));
    for (entries, code) in [
        (vec![(file, &b"a"[..], &*blob), (file, b"a", &blob)], "IMPORT_TREE_MALFORMED"),
        (vec![(file, b"b", &blob), (file, b"a", &blob)], "IMPORT_TREE_MALFORMED"),
        (vec![(file, b"a/b", &blob)], "IMPORT_TREE_MALFORMED"),
        (vec![(file, b"", &blob)], "IMPORT_TREE_MALFORMED"),
        (vec![("040000", b"a", &empty)], "IMPORT_TREE_MALFORMED"),
        (vec![("104755", b"a", &blob)], "IMPORT_TREE_MALFORMED"),
        (vec![(file, b"..", &blob)], "IMPORT_PATH_REFUSED"),
        (vec![(file, b".", &blob)], "IMPORT_PATH_REFUSED"),
        (vec![(file, b".git", &blob)], "IMPORT_PATH_REFUSED"),
        (vec![(file, b".GIT", &blob)], "IMPORT_PATH_REFUSED"),
        (vec![(file, b"git~1", &blob)], "IMPORT_PATH_REFUSED"),
        (vec![(file, &[b'a'; 256], &blob)], "IMPORT_PATH_REFUSED"),
        (vec![(file, b"a", &empty)], "IMPORT_OBJECT_CORRUPT"),
        (vec![("40000", b"a", &blob)], "IMPORT_OBJECT_CORRUPT"),
    ] {
        assert_eq!(import(&entries), Err(code), "{entries:?}");
    }
    let cut = world.tree_object(&tree(&[(file, b"a", &blob)])[..20]);
    assert_eq!(world.refusal(&world.commit_tree(&cut)).0, "IMPORT_TREE_MALFORMED");
    let file_and_directory = [
        (file, &b"a"[..], &*blob),
        (file, b"a.b", &blob),
        ("40000", b"a", &*world.tree_object(&tree(&[(file, b"c", &blob)]))),
    ]
    .map(|(mode, name, id)| (mode, name.to_vec(), id.to_owned()));
    let entries: Vec<(&str, &[u8], &str)> =
        file_and_directory.iter().map(|(mode, name, id)| (*mode, name.as_slice(), id.as_str())).collect();
    assert!(import(&entries).is_err(), "a name that is a file and a directory");
}

#[test]
fn a_path_is_shown_with_every_character() {
    if !is_git_here("a_path_is_shown_with_every_character") {
        return;
    }
    let world = World::new();
    let blob = world.git_fed(&["hash-object", "-w", "--stdin"], b"x");
    let inner = world.tree_object(&tree(&[("100644", b".git", &blob)]));
    let outer = world.tree_object(&tree(&[("40000", b"a\x1b[2J", &inner)]));
    let (code, text) = world.refusal(&world.commit_tree(&outer));
    assert_eq!(code, "IMPORT_PATH_REFUSED");
    assert!(text.starts_with("a\\x1b[2J/.git cannot be"), "{text}");
}

#[test]
fn a_tree_that_is_too_deep_is_refused() {
    if !is_git_here("a_tree_that_is_too_deep_is_refused") {
        return;
    }
    let world = World::new();
    let blob = world.git_fed(&["hash-object", "-w", "--stdin"], b"x");
    let mut id = world.tree_object(&tree(&[("100644", b"f", &blob)]));
    for depth in 1..=66 {
        id = world.tree_object(&tree(&[("40000", b"d", &id)]));
        match depth {
            63 => assert_eq!(world.import(&world.commit_tree(&id)).unwrap().entries, 1),
            66 => assert_eq!(world.refusal(&world.commit_tree(&id)).0, "IMPORT_PATH_REFUSED"),
            _ => {}
        }
    }
}
