//! Trees: their digest, their order, their change, and their way through a store.

use std::collections::BTreeMap;

use ambit_ids::{ByteCount, Digest, RepoPath, limits};
use ambit_revision::tree::{DIRECTORY_HEADER, LoadError, TreeLoader};
use ambit_revision::{FileKind, Place, Tree, TreeFile};

fn path(text: &str) -> RepoPath {
    text.parse().unwrap()
}

fn file(text: &str) -> TreeFile {
    TreeFile::of(FileKind::File, text.as_bytes())
}

fn tree(paths: &[&str]) -> Tree {
    Tree::from_files(paths.iter().map(|name| (path(name), file(name)))).unwrap()
}

fn change(tree: &Tree, changes: &[(&str, Option<TreeFile>)]) -> Result<Tree, &'static str> {
    let changes: BTreeMap<_, _> = changes.iter().map(|(name, file)| (path(name), *file)).collect();
    tree.with(&changes).map_err(|error| error.code())
}

#[test]
fn the_digest_is_that_of_the_documented_bytes() {
    let empty = Tree::empty();
    assert_eq!(empty.digest(), Digest::of(b"ambit tree 1\n"));
    let hello = Digest::of(b"hello").to_hex();
    let inner = format!("ambit tree 1\nlink {} 3 1 z\n", Digest::of(b"../").to_hex());
    let outer = format!(
        "ambit tree 1\ndir {} {} 3 a b\nexec {hello} 5 3 run\nfile {hello} 5 5 x.txt\n",
        Digest::of(inner.as_bytes()).to_hex(),
        inner.len()
    );
    let made = Tree::from_files([
        (path("x.txt"), file("hello")),
        (path("run"), TreeFile::of(FileKind::Executable, b"hello")),
        (path("a b/z"), TreeFile::of(FileKind::Link, b"../")),
    ])
    .unwrap();
    assert_eq!(made.digest(), Digest::of(outer.as_bytes()));
    assert_eq!((made.file_count(), made.content_bytes()), (3, ByteCount::new(13)));
}

#[test]
fn files_come_in_the_order_of_their_paths() {
    let tree = tree(&["a/b", "a.txt", "a!", "b", "a/a/a", "a0", "a/a.x", "c/d"]);
    let paths: Vec<RepoPath> = tree.files().map(|(path, _)| path).collect();
    assert!(paths.is_sorted(), "{paths:?}");
    assert_eq!(paths.len(), 8);
}

#[test]
fn what_stands_at_a_path_is_told_without_following_anything() {
    let link = TreeFile::of(FileKind::Link, b"d");
    let tree = change(&tree(&["d/x"]), &[("l", Some(link))]).unwrap();
    assert_eq!(tree.place(&path("d/x")), Place::File(&file("d/x")));
    assert_eq!(tree.place(&path("d")), Place::Directory);
    assert_eq!(tree.place(&path("d/y/z")), Place::Absent);
    assert_eq!(tree.place(&path("l/x")), Place::Beyond(&link));
    assert_eq!(tree.get(&path("l")), Some(&link));
}

#[test]
fn a_change_is_one_step() {
    let base = tree(&["a", "d/x", "d/y"]);
    assert_eq!(change(&base, &[("a", None), ("a/b", Some(file("1")))]).unwrap().file_count(), 3);
    let moved = change(&base, &[("d/x", None), ("d/y", None), ("d", Some(file("1")))]).unwrap();
    assert_eq!(moved.get(&path("d")), Some(&file("1")));
    assert_eq!(change(&base, &[("a", None), ("d/x", None), ("d/y", None)]).unwrap(), Tree::empty());
    for (changes, code) in [
        (&[("a/b", Some(file("1")))][..], "TREE_FILE_IN_THE_WAY"),
        (&[("d", Some(file("1")))], "TREE_DIRECTORY_IN_THE_WAY"),
        (&[("d", Some(file("1"))), ("d/x", None)], "TREE_DIRECTORY_IN_THE_WAY"),
        (&[("n", Some(file("1"))), ("n/x", Some(file("2")))], "TREE_DIRECTORY_IN_THE_WAY"),
        (&[("none", None)], "TREE_PATH_ABSENT"),
        (&[("d", None)], "TREE_PATH_ABSENT"),
        (&[("a/b", None)], "TREE_FILE_IN_THE_WAY"),
    ] {
        assert_eq!(change(&base, changes), Err(code), "{changes:?}");
    }
}

#[test]
fn sizes_and_doubles_are_refused() {
    let sized = |kind, size| TreeFile { size: ByteCount::new(size), kind, ..file("x") };
    let add = |file| change(&Tree::empty(), &[("x", Some(file))]);
    assert!(add(sized(FileKind::File, limits::FILE_BYTES)).is_ok());
    assert_eq!(add(sized(FileKind::File, limits::FILE_BYTES + 1)), Err("TREE_FILE_TOO_LARGE"));
    assert_eq!(add(sized(FileKind::Link, 4096)), Err("TREE_FILE_TOO_LARGE"));
    let twice = Tree::from_files([(path("a"), file("1")), (path("a"), file("1"))]);
    assert_eq!(twice.unwrap_err().code(), "TREE_PATH_TWICE");
    assert!(Tree::from_files([(path("a"), file("1")), (path("A"), file("1"))]).is_ok());
}

#[test]
fn a_difference_tells_every_path_and_nothing_else() {
    let base = tree(&["a", "d/x", "d/y", "e/f/g", "same/z"]);
    let after = change(
        &base,
        &[
            ("a", None),
            ("a/b", Some(file("new"))),
            ("d/x", Some(file("changed"))),
            ("e/f/g", None),
            ("e", Some(file("now"))),
        ],
    )
    .unwrap();
    let told: Vec<_> = base
        .diff(&after)
        .into_iter()
        .map(|change| (change.path.to_string(), change.before.is_some(), change.after.is_some()))
        .collect();
    let expected = [
        ("a", true, false),
        ("a/b", false, true),
        ("d/x", true, true),
        ("e", false, true),
        ("e/f/g", true, false),
    ];
    assert_eq!(told, expected.map(|(path, before, after)| (path.to_owned(), before, after)));
    assert_eq!(base.diff(&base), Vec::new());
}

fn store(trees: &[&Tree]) -> BTreeMap<Digest, Vec<u8>> {
    trees.iter().flat_map(|tree| tree.objects()).map(|object| (object.digest, object.bytes)).collect()
}

fn load(root: Digest, store: &BTreeMap<Digest, Vec<u8>>) -> Result<Tree, LoadError> {
    Tree::load(root, |digest| store.get(digest).cloned().ok_or(LoadError::Missing(*digest)))
}

#[test]
fn a_tree_comes_back_from_its_objects() {
    let base = tree(&["a", "d/x", "d/y/z", "same/1/x", "same/2/x"]);
    assert_eq!(load(base.digest(), &store(&[&base])).unwrap(), base);
    assert_eq!(load(Tree::empty().digest(), &store(&[&Tree::empty()])).unwrap(), Tree::empty());
    let after = change(&base, &[("d/y/z", Some(file("new")))]).unwrap();
    let mut shared = store(&[&base]);
    let added = after.objects_beyond(&base);
    assert_eq!(added.len(), 3, "only the directories above the change");
    shared.extend(added.into_iter().map(|object| (object.digest, object.bytes)));
    assert_eq!(load(after.digest(), &shared).unwrap().diff(&after), Vec::new());
}

#[test]
fn a_tree_that_is_loaded_beside_another_wants_what_is_different_and_shares_the_rest() {
    let base = tree(&["a", "d/x", "d/y/z", "same/1/x", "same/2/x"]);
    let after = change(&base, &[("d/y/z", Some(file("new"))), ("e/1/x", Some(file("same/1/x")))]).unwrap();
    let objects = store(&[&after]);
    let mut asked = Vec::new();
    let mut loader = TreeLoader::beside(after.digest(), &base);
    loop {
        let wanted: Vec<Digest> = loader.wanted().map(|(digest, _)| digest).collect();
        if wanted.is_empty() {
            break;
        }
        for digest in wanted {
            loader.supply(&objects[&digest]).unwrap();
            asked.push(digest);
        }
    }
    let loaded = loader.finish().unwrap();
    assert_eq!((loaded.digest(), loaded.file_count()), (after.digest(), 6));
    asked.sort();
    let mut beyond: Vec<Digest> =
        after.objects_beyond(&base).into_iter().map(|object| object.digest).collect();
    beyond.sort();
    assert_eq!(asked, beyond);
    let same = TreeLoader::beside(base.digest(), &base);
    assert_eq!((same.wanted().count(), same.finish().unwrap().diff(&base)), (0, Vec::new()));
}

#[test]
fn a_wrong_size_of_a_directory_that_is_shared_makes_no_tree() {
    let base = Tree::from_files([(path("d/x"), file("x"))]).unwrap();
    let inner = tree(&["x"]).digest();
    let inner_bytes = base.objects().into_iter().find(|object| object.digest == inner).unwrap().bytes;
    let x = Digest::of(b"other");
    for (size, loads) in [(inner_bytes.len(), true), (inner_bytes.len() + 1, false)] {
        let root = object(&[("dir", inner, size, "d"), ("file", x, 5, "x")]);
        let mut loader = TreeLoader::beside(root.0, &base);
        loader.supply(&root.1).unwrap();
        assert_eq!(loader.wanted().count(), 0);
        assert_eq!(loader.finish().is_ok(), loads);
    }
}

#[test]
fn the_files_below_a_path_are_those_that_a_walk_of_all_finds_there() {
    let tree = tree(&["a/b", "a/c/d", "a.txt", "ab/x", "b"]);
    for (under, expected) in [
        ("a", &["a/b", "a/c/d"][..]),
        ("a/c", &["a/c/d"]),
        ("a/b", &["a/b"]),
        ("b", &["b"]),
        ("a/none", &[]),
        ("b/none", &[]),
        ("none/none", &[]),
    ] {
        let found: Vec<String> = tree.files_under(&path(under)).map(|(path, _)| path.to_string()).collect();
        assert_eq!(found, expected, "{under}");
    }
}

fn object(entries: &[(&str, Digest, usize, &str)]) -> (Digest, Vec<u8>) {
    let mut bytes = DIRECTORY_HEADER.to_vec();
    for (kind, digest, size, name) in entries {
        bytes.extend_from_slice(
            format!("{kind} {} {size} {} {name}\n", digest.to_hex(), name.len()).as_bytes(),
        );
    }
    (Digest::of(&bytes), bytes)
}

#[test]
fn hostile_objects_make_no_tree() {
    let leaf = object(&[("file", Digest::of(b"x"), 1, "x")]);
    let nothing = object(&[]);
    let dir = |below: &(Digest, Vec<u8>), name| object(&[("dir", below.0, below.1.len(), name)]);
    let good = dir(&leaf, "d");
    let cases = [
        (vec![good.clone(), leaf.clone()], None),
        (vec![good.clone()], Some("TREE_OBJECT_MISSING")),
        (vec![dir(&nothing, "d"), nothing.clone()], Some("TREE_EMPTY_DIRECTORY")),
        (vec![object(&[("dir", leaf.0, 7, "d")]), leaf.clone()], Some("TREE_OBJECT_SIZE")),
        (
            vec![object(&[("dir", leaf.0, leaf.1.len(), "a"), ("dir", leaf.0, 7, "b")]), leaf.clone()],
            Some("TREE_OBJECT_SIZE"),
        ),
        (vec![object(&[("file", leaf.0, 1 << 40, "x")])], Some("TREE_FILE_TOO_LARGE")),
        (vec![object(&[("file", leaf.0, 1, ".git")])], Some("TREE_OBJECT_MALFORMED")),
    ];
    for (objects, code) in cases {
        let root = objects[0].0;
        let store: BTreeMap<_, _> = objects.into_iter().collect();
        assert_eq!(load(root, &store).err().map(|error| error.code()), code, "{store:?}");
    }
    let mut loader = TreeLoader::new(good.0);
    assert_eq!(loader.supply(&leaf.1), Err(LoadError::NotWanted(leaf.0)));
    assert_eq!(loader.supply(&good.1), Ok(()));
    assert_eq!(loader.wanted().collect::<Vec<_>>(), [(leaf.0, Some(ByteCount::new(leaf.1.len() as u64)))]);
}

#[test]
fn a_tree_that_unfolds_from_few_objects_is_counted_before_it_is_made() {
    let doubled = |mut below: (Digest, Vec<u8>), times: usize| {
        let mut store = BTreeMap::from([below.clone()]);
        for _ in 0..times {
            let (digest, size) = (below.0, below.1.len());
            below = object(&[("dir", digest, size, "a"), ("dir", digest, size, "b")]);
            store.insert(below.0, below.1.clone());
        }
        load(below.0, &store).map(|tree| tree.file_count())
    };
    let leaf = object(&[("file", Digest::of(b"x"), 1, "x")]);
    assert_eq!(doubled(leaf.clone(), 10), Ok(1024));
    assert_eq!(doubled(leaf, 40).unwrap_err().code(), "TREE_LIMIT");
}

#[test]
fn a_tree_is_as_deep_as_a_path_may_be() {
    let nested = |depth: usize| {
        let mut below = object(&[("file", Digest::of(b"x"), 1, "x")]);
        let mut store = BTreeMap::from([below.clone()]);
        for _ in 1..depth {
            below = object(&[("dir", below.0, below.1.len(), "d")]);
            store.insert(below.0, below.1.clone());
        }
        load(below.0, &store).map(|tree| tree.file_count()).map_err(|error| error.code())
    };
    assert_eq!(nested(limits::PATH_COMPONENTS), Ok(1));
    assert_eq!(nested(limits::PATH_COMPONENTS + 1), Err("TREE_LIMIT"));
}
