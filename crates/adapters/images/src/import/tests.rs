//! Archives that nobody should have made, and layers against a model of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use tar::Header;
use tempfile::TempDir;

use super::*;
use crate::import::tree::Node;

/// One member of an archive, exactly as it stands there.
pub(super) fn member(name: &[u8], kind: u8, link: &[u8], mode: u32, content: &[u8]) -> Vec<u8> {
    let mut header = Header::new_ustar();
    let old = header.as_old_mut();
    old.name[..name.len()].copy_from_slice(name);
    old.linkname[..link.len()].copy_from_slice(link);
    old.linkflag = [kind];
    header.set_mode(mode);
    header.set_size(content.len() as u64);
    header.set_cksum();
    let mut bytes = header.as_bytes().to_vec();
    bytes.extend(content);
    bytes.resize(bytes.len().next_multiple_of(512), 0);
    bytes
}

fn file(name: &str, content: &str) -> Vec<u8> {
    member(name.as_bytes(), b'0', b"", 0o644, content.as_bytes())
}

fn directory(name: &str) -> Vec<u8> {
    member(name.as_bytes(), b'5', b"", 0o755, b"")
}

fn link(name: &str, target: &str) -> Vec<u8> {
    member(name.as_bytes(), b'2', target.as_bytes(), 0o777, b"")
}

fn hard_link(name: &str, target: &str) -> Vec<u8> {
    member(name.as_bytes(), b'1', target.as_bytes(), 0o644, b"")
}

fn pax(records: &[(&str, &str)], kind: u8) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (key, value) in records {
        let rest = key.len() + value.len() + 3;
        let mut length = rest + 1;
        while length.to_string().len() + rest != length {
            length += 1;
        }
        bytes.extend(format!("{length} {key}={value}\n").bytes());
    }
    member(b"pax", kind, b"", 0o644, &bytes)
}

fn archive(members: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = members.concat();
    bytes.extend([0; 1024]);
    bytes
}

fn small() -> Bounds {
    Bounds {
        entries: 300,
        name_bytes: 4096,
        depth: 8,
        content_bytes: 1 << 16,
        inflated_bytes: 1 << 20,
        inflated_freely_bytes: 1 << 15,
        inflated_ratio: 20,
    }
}

fn import(source: &[u8], bounds: Bounds) -> (TempDir, Result<Imported, ImportError>) {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("source.tar");
    fs::write(&path, source).unwrap();
    let staging = directory.path().join("staging");
    fs::create_dir(&staging).unwrap();
    let name = "imported".parse().unwrap();
    let request = ImportRequest { name, source: path, platform: None, reference: None };
    let outcome = read_within(&request, &staging, bounds);
    let left: Vec<_> =
        fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "nothing is written beside the staging directory: {left:?}");
    (directory, outcome)
}

#[track_caller]
fn refused(source: &[u8], code: &str, tells: &str) {
    let error = import(source, small()).1.map(drop).unwrap_err();
    assert_eq!(error.code(), code, "{error}");
    assert!(error.to_string().contains(tells), "{tells}: {error}");
}

#[test]
fn entries_that_no_image_can_hold_are_refused_by_name() {
    let long = "n".repeat(256);
    let deep = ["d"; 9].join("/");
    let cases: Vec<(&str, &str, Vec<Vec<u8>>)> = vec![
        ("IMAGE_ENTRY_ABSOLUTE", "/etc/x", vec![file("/etc/x", "")]),
        ("IMAGE_ENTRY_ABSOLUTE", "//x", vec![file("//x", "")]),
        ("IMAGE_ENTRY_CLIMBS", "../x", vec![file("../x", "")]),
        ("IMAGE_ENTRY_CLIMBS", "a/../../x", vec![file("a/../../x", "")]),
        ("IMAGE_ENTRY_CLIMBS", "a/..", vec![directory("a/..")]),
        ("IMAGE_ENTRY_CLIMBS", "../up", vec![pax(&[("path", "../up")], b'x'), file("good", "")]),
        ("IMAGE_ENTRY_CLIMBS", "../up", vec![member(b"l", b'L', b"", 0, b"../up\0"), file("good", "")]),
        ("IMAGE_ENTRY_NAME", "a\0b", vec![pax(&[("path", "a\0b")], b'x'), file("good", "")]),
        ("IMAGE_ENTRY_NAME", "nnn", vec![pax(&[("path", &long)], b'x'), file("good", "")]),
        ("IMAGE_ENTRY_NAME", "`.`", vec![file(".", "")]),
        ("IMAGE_ENTRY_TOO_DEEP", "d/d", vec![file(&deep, "")]),
        ("IMAGE_ENTRY_THROUGH_LINK", "out/x", vec![link("out", "/tmp"), file("out/x", "")]),
        ("IMAGE_ENTRY_THROUGH_LINK", "in/x", vec![directory("real"), link("in", "real"), file("in/x", "")]),
        ("IMAGE_ENTRY_THROUGH_LINK", "out/x", vec![file("out/x", ""), link("out", "/tmp")]),
        ("IMAGE_ENTRY_BELOW_FILE", "f/x", vec![file("f", ""), file("f/x", "")]),
        ("IMAGE_ENTRY_LINK_LEAVES", "bin/l", vec![link("bin/l", "../../etc/passwd")]),
        ("IMAGE_ENTRY_LINK_LEAVES", "l", vec![link("l", "a/../../b")]),
        ("IMAGE_ENTRY_LINK_LEAVES", "l", vec![link("l", "/../b")]),
        ("IMAGE_ENTRY_NAME", "l", vec![link("l", "")]),
        ("IMAGE_ENTRY_HARD_LINK_LEAVES", "h", vec![hard_link("h", "/etc/passwd")]),
        ("IMAGE_ENTRY_HARD_LINK_LEAVES", "h", vec![hard_link("h", "../etc/passwd")]),
        ("IMAGE_ENTRY_HARD_LINK_MISSING", "h", vec![hard_link("h", "gone")]),
        ("IMAGE_ENTRY_HARD_LINK_MISSING", "h", vec![directory("d"), hard_link("h", "d")]),
        ("IMAGE_ENTRY_HARD_LINK_MISSING", "h", vec![link("d", "/etc"), hard_link("h", "d/passwd")]),
        ("IMAGE_ENTRY_TWICE", "h", vec![file("a", ""), file("h/x", ""), hard_link("h", "a")]),
        ("IMAGE_ENTRY_DEVICE", "dev/sda", vec![member(b"dev/sda", b'4', b"", 0o644, b"")]),
        ("IMAGE_ENTRY_DEVICE", "null", vec![member(b"null", b'3', b"", 0o644, b"")]),
        ("IMAGE_ENTRY_PIPE", "pipe", vec![member(b"pipe", b'6', b"", 0o644, b"")]),
        ("IMAGE_ENTRY_SPARSE", "s", vec![member(b"s", b'S', b"", 0o644, b"")]),
        ("IMAGE_ENTRY_SPARSE", "s", vec![pax(&[("GNU.sparse.major", "1")], b'x'), file("s", "x")]),
        ("IMAGE_ENTRY_KIND", "v", vec![member(b"v", b'V', b"", 0o644, b"")]),
        ("IMAGE_ENTRY_CONTENT", "d", vec![member(b"d", b'5', b"", 0o755, b"x")]),
        ("IMAGE_ENTRY_TWICE", "a", vec![file("a", "1"), file("./a", "2")]),
        ("IMAGE_ENTRY_TWICE", "a", vec![file("a", ""), directory("a//")]),
        ("IMAGE_ENTRY_WHITEOUT", ".wh.a", vec![file(".wh.a", "")]),
        ("IMAGE_PATH_CONFLICT", "/tmp", vec![link("tmp", "var")]),
        ("IMAGE_PATH_CONFLICT", "/var/tmp", vec![file("var", "")]),
        (
            "IMAGE_TOO_LARGE",
            "65536 bytes of files",
            vec![file("a", &"x".repeat(40_000)), file("b", &"x".repeat(40_000))],
        ),
        ("IMAGE_TOO_LARGE", "300 entries", (0..301).map(|n| file(&n.to_string(), "")).collect()),
        ("IMAGE_TOO_LARGE", "300 entries", (0..90).map(|n| file(&format!("{n}/a/b/c"), "")).collect()),
        (
            "IMAGE_TOO_LARGE",
            "4096 bytes of paths",
            (0..60).map(|n| file(&format!("{n}-{}", "n".repeat(90)), "")).collect(),
        ),
    ];
    for (code, tells, members) in cases {
        refused(&archive(&members), code, tells);
    }
}

#[test]
fn what_is_unusual_and_harmless_is_taken() {
    let members = [
        directory("./"),
        pax(&[("comment", "made by hand")], b'g'),
        member(b"./d//", b'5', b"", 0o700, b""),
        pax(&[("path", "d/long"), ("size", "3"), ("SCHILY.xattr.user.a", "b")], b'x'),
        file("short", "abc"),
        member(b"d/old/", 0, b"", 0o755, b""),
        member(b"d/\xff", b'0', b"", 0o4711, b"set"),
        hard_link("e", "d/long"),
        link("l", "../l"),
        link("m", "/etc/../x"),
        file("tmp/gone", "x"),
    ];
    let error = import(&archive(&members), small()).1.map(drop).unwrap_err();
    assert_eq!(error.code(), "IMAGE_ENTRY_LINK_LEAVES", "{error}");
    let members: Vec<_> = members.into_iter().filter(|member| !member.starts_with(b"l\0")).collect();
    let (_directory, imported) = import(&archive(&members), small());
    let imported = imported.unwrap();
    let told: BTreeSet<String> =
        imported.tree.nodes().iter().map(|(path, _)| path.to_string_lossy().into_owned()).collect();
    for path in ["d", "d/long", "d/old", "d/\u{fffd}", "e", "m", "tmp", "etc/passwd", "workspace"] {
        assert!(told.contains(path), "{path}: {told:?}");
    }
    assert!(!told.contains("tmp/gone") && !told.contains("short"));
    assert_eq!(imported.tree.get(Path::new("e")), imported.tree.get(Path::new("d/long")));
    assert!(matches!(imported.tree.get(Path::new("d/old")), Some(Node::Directory(_))));
    let left: Vec<String> = imported.left_out.iter().map(|left| left.why.clone()).collect();
    assert_eq!(left.len(), 4, "{left:?}");
    for part in ["1 below it", "extended attributes", "set-user-id"] {
        assert!(left.iter().any(|why| why.contains(part)), "{part}: {left:?}");
    }
    assert!(imported.origin.added.contains(&"/etc/hosts".to_owned()));
    assert!(!imported.origin.added.contains(&"/tmp".to_owned()));
}

#[test]
fn an_archive_that_is_cut_or_goes_on_is_damaged() {
    let whole = archive(&[directory("d"), file("d/a", "content"), file("b", "")]);
    assert!(import(&whole, small()).1.is_ok());
    for end in (0..whole.len() - 1024).step_by(64) {
        refused(&whole[..end], "IMAGE_ARCHIVE_DAMAGED", "cut off");
    }
    refused(b"", "IMAGE_ARCHIVE_DAMAGED", "cut off");
    let mut longer = whole.clone();
    longer.extend([0; 5120]);
    assert!(import(&longer, small()).1.is_ok(), "zeros after the end are padding");
    longer.push(1);
    refused(&longer, "IMAGE_ARCHIVE_DAMAGED", "after its end");
    for at in [0, 100, 124, 148, 156, 257, 345] {
        let mut flipped = whole.clone();
        flipped[at] ^= 0x01;
        refused(&flipped, "IMAGE_ARCHIVE_DAMAGED", "checksum");
    }
    for (members, tells) in [
        (vec![pax(&[("path", "a")], b'x')], "ends after an extended header"),
        (
            vec![pax(&[("path", "a")], b'x'), pax(&[("path", "b")], b'x'), file("c", "")],
            "two extended headers",
        ),
        (
            vec![pax(&[("path", "a")], b'x'), member(b"l", b'L', b"", 0, b"b\0"), file("c", "")],
            "two long names",
        ),
        (vec![pax(&[("path", "a")], b'g'), file("c", "")], "global header"),
        (vec![member(b"p", b'x', b"", 0, b"12 path"), file("c", "")], "extended header"),
        (vec![pax(&[("size", "9999")], b'x'), file("c", "x")], "cut off"),
    ] {
        refused(&archive(&members), "IMAGE_ARCHIVE_DAMAGED", tells);
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn what_decompresses_to_too_much_is_refused_on_the_way() {
    let plain = archive(&[file("a", "content")]);
    let packed = gzip(&plain);
    assert!(import(&packed, small()).1.is_ok());
    let halves = [gzip(&plain[..600]), gzip(&plain[600..])].concat();
    assert!(import(&halves, small()).1.is_ok(), "a gzip file may have several members");

    let bomb = gzip(&archive(&[file("a", &"\0".repeat(60_000))]));
    refused(&bomb, "IMAGE_ARCHIVE_BOMB", "20 times its size");
    let generous = Bounds { inflated_ratio: 1 << 20, inflated_bytes: 50_000, ..small() };
    let error = import(&bomb, generous).1.map(drop).unwrap_err();
    assert!(matches!(&error, ImportError::Bomb { limit, .. } if limit == "50000 bytes"), "{error}");
    assert!(import(&bomb, Bounds { inflated_ratio: 1 << 20, ..small() }).1.is_ok());

    refused(&packed[..packed.len() - 9], "IMAGE_ARCHIVE_DAMAGED", "cut off");
    refused(&[&packed[..], b"garbage"].concat(), "IMAGE_ARCHIVE_DAMAGED", "damaged");
    let mut flipped = packed.clone();
    let last = flipped.len() - 6;
    flipped[last] ^= 1;
    refused(&flipped, "IMAGE_ARCHIVE_DAMAGED", "damaged");
}

/// A layer as the model knows it: what it has (content, or `None` for a directory), hides, and makes opaque.
type ModelLayer = (BTreeMap<String, Option<u8>>, BTreeSet<String>, BTreeSet<String>);
type Model = BTreeMap<String, Option<u8>>;

fn is_below(path: &str, above: &str) -> bool {
    above.is_empty() || path.strip_prefix(above).is_some_and(|rest| rest.starts_with('/'))
}

/// Applies a layer the way the specification tells it; `None` where something lies below a file.
fn apply(model: &mut Model, (puts, hidden, opaque): &ModelLayer) -> Option<()> {
    model.retain(|path, _| {
        !hidden.iter().any(|gone| path == gone || is_below(path, gone))
            && !opaque.iter().any(|gone| is_below(path, gone))
    });
    for (path, put) in puts {
        for (at, _) in path.match_indices('/') {
            if model.entry(path[..at].to_owned()).or_insert(None).is_some() {
                return None;
            }
        }
        if put.is_some() {
            model.retain(|other, _| !is_below(other, path));
        }
        model.insert(path.clone(), *put);
    }
    Some(())
}

fn paths() -> impl Strategy<Value = String> {
    proptest::collection::vec(prop_oneof![Just("a"), Just("b"), Just("c")], 1..4)
        .prop_map(|parts| parts.join("/"))
}

fn layer() -> impl Strategy<Value = (ModelLayer, u64)> {
    let content = prop_oneof![1 => Just(None), 2 => any::<u8>().prop_map(Some)];
    let puts = proptest::collection::btree_map(paths(), content, 0..5);
    let hidden = proptest::collection::btree_set(paths(), 0..3);
    let opaque = proptest::collection::btree_set(prop_oneof![paths(), Just(String::new())], 0..2);
    ((puts, hidden, opaque), any::<u64>())
}

/// The layer as an archive, in an order that follows from `seed`.
fn pack((puts, hidden, opaque): &ModelLayer, seed: u64) -> Vec<u8> {
    let mut members: Vec<Vec<u8>> = puts
        .iter()
        .map(|(path, put)| match put {
            None => directory(path),
            Some(byte) => member(path.as_bytes(), b'0', b"", 0o644, &[*byte]),
        })
        .collect();
    members.extend(hidden.iter().map(|path| match path.rsplit_once('/') {
        Some((parent, name)) => file(&format!("{parent}/.wh.{name}"), ""),
        None => file(&format!(".wh.{path}"), ""),
    }));
    members.extend(opaque.iter().map(|path| file(&format!("./{path}/.wh..wh..opq"), "")));
    members.sort_by_key(|member| Digest::of_parts(&[&seed.to_le_bytes(), member]));
    archive(&members)
}

fn lay(packed: &[Vec<u8>]) -> Option<Model> {
    let directory = TempDir::new().unwrap();
    let mut spool = Spool::make(directory.path().join("contents")).unwrap();
    let (mut tree, mut allowance) = (Tree::default(), Allowance::new(small()));
    for bytes in packed {
        let mut archive = Archive::new(&bytes[..]);
        let layer = Layer::read(&mut archive, Below::Layers, &mut spool, &mut allowance).unwrap();
        match tree.lay(&layer, &mut allowance) {
            Ok(()) => {}
            Err(Refused::Entry(_, EntryFault::BelowFile(_))) => return None,
            Err(other) => panic!("{other:?}"),
        }
    }
    let told = tree.nodes().into_iter().map(|(path, node)| {
        let content = match node {
            Node::File(content) => Some(fs::read(spool.path(content.id)).unwrap()[0]),
            _ => None,
        };
        (path.to_str().unwrap().to_owned(), content)
    });
    Some(told.collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..Default::default() })]

    #[test]
    fn layers_make_what_the_specification_says(layers in proptest::collection::vec(layer(), 1..5)) {
        let mut model = Some(Model::new());
        for (layer, _) in &layers {
            model = model.and_then(|mut below| apply(&mut below, layer).map(|()| below));
        }
        let packed: Vec<_> = layers.iter().map(|(layer, seed)| pack(layer, *seed)).collect();
        prop_assert_eq!(lay(&packed), model);
    }

    #[test]
    fn no_bytes_make_it_fail_otherwise(
        at in proptest::collection::vec((0_usize..4096, any::<u8>()), 1..6), mend in any::<bool>(),
    ) {
        let mut bytes = archive(&[
            directory("d"), pax(&[("path", "d/long"), ("size", "3")], b'x'), file("x", "abc"), link("l", "d"),
            hard_link("h", "d/long"),
        ]);
        for (at, byte) in at {
            let length = bytes.len();
            bytes[at % length] = byte;
        }
        if mend {
            for block in bytes.chunks_exact_mut(512).filter(|block| block[257..262] == *b"ustar") {
                let mut header = Header::new_old();
                header.as_mut_bytes().copy_from_slice(block);
                header.set_cksum();
                block.copy_from_slice(header.as_bytes());
            }
        }
        if let Err(error) = import(&bytes, small()).1.map(drop) {
            prop_assert!(error.code().starts_with("IMAGE_"), "{}", error);
        }
    }
}

#[test]
fn a_layer_changes_what_lies_below_and_never_through_a_link() {
    let lay = |layers: &[Vec<u8>]| {
        let directory = TempDir::new().unwrap();
        let mut spool = Spool::make(directory.path().join("contents")).unwrap();
        let (mut tree, mut allowance) = (Tree::default(), Allowance::new(small()));
        for bytes in layers {
            let layer = Layer::read(&mut Archive::new(&bytes[..]), Below::Layers, &mut spool, &mut allowance);
            tree.lay(&layer.map_err(|error| format!("{error:?}"))?, &mut allowance)
                .map_err(|error| format!("{error:?}"))?;
        }
        Ok::<_, String>(tree.nodes().iter().map(|(path, _)| path.display().to_string()).collect::<Vec<_>>())
    };
    let below = archive(&[directory("real"), file("real/x", "1"), link("way", "real"), link("out", "/tmp")]);
    for through in [file("way/x", "2"), file("way/.wh.x", ""), file("out/x", "2"), file("way/deep/er", "")] {
        let error = lay(&[below.clone(), archive(&[through])]).unwrap_err();
        assert!(error.contains("ThroughLink"), "{error}");
    }
    let replaced = [directory("way"), file("way/.wh.x", ""), file("way/y", "2")];
    assert_eq!(
        lay(&[below.clone(), archive(&replaced)]).unwrap(),
        ["out", "real", "real/x", "way", "way/y"],
        "a link that the layer itself replaces is no way"
    );
    let linked = archive(&[hard_link("y", "real/x"), file(".wh.real", "")]);
    assert!(
        lay(&[below.clone(), linked]).unwrap_err().contains("HardLinkMissing"),
        "what is hidden is not there"
    );
    assert_eq!(
        lay(&[below.clone(), archive(&[hard_link("y", "real/x")])]).unwrap(),
        ["out", "real", "real/x", "way", "y"]
    );
    for bad in [".wh.", ".wh..", ".wh...", ".wh..wh.plnk", "real/.wh..wh..wh."] {
        let error = lay(&[below.clone(), archive(&[file(bad, "")])]).unwrap_err();
        assert!(error.contains("Whiteout"), "{bad}: {error}");
    }
    assert!(lay(&[below, archive(&[file(".wh.real", "content")])]).unwrap_err().contains("Whiteout"));
}
