//! Tars as attackers make them. Each is refused by a code of its kind, beside the tar that nobody touched.

use std::fs;

use ambit_bundle::{Bundle, BundleError, NameFault};

use crate::small::{BLOCK, Small, header, member, summed};

/// What a row does to the tar.
type Change = fn(Vec<u8>) -> Vec<u8>;

/// A member before all others.
fn first(extra: Vec<u8>) -> impl FnOnce(Vec<u8>) -> Vec<u8> {
    move |tar| [extra, tar].concat()
}

fn opened(small: &Small, bytes: &[u8]) -> Result<Bundle, BundleError> {
    fs::write(small.tar(), bytes).unwrap();
    Bundle::open(&small.tar())
}

fn end(bytes: &[u8]) -> usize {
    bytes.len() - 2 * BLOCK
}

type Row = (&'static str, Change, &'static str);

/// Entries that are no plain files.
const ENTRIES: &[Row] = &[
    ("a hard link", |t| first(member(b"a", b"", b'1'))(t), "BUNDLE_ENTRY_REFUSED"),
    ("a symbolic link", |t| first(member(b"a", b"", b'2'))(t), "BUNDLE_ENTRY_REFUSED"),
    ("a character device", |t| first(member(b"a", b"", b'3'))(t), "BUNDLE_ENTRY_REFUSED"),
    ("a block device", |t| first(member(b"a", b"", b'4'))(t), "BUNDLE_ENTRY_REFUSED"),
    ("a directory", |t| first(member(b"a", b"", b'5'))(t), "BUNDLE_ENTRY_REFUSED"),
    ("a pipe", |t| first(member(b"a", b"", b'6'))(t), "BUNDLE_ENTRY_REFUSED"),
    ("a contiguous file", |t| first(member(b"a", b"", b'7'))(t), "BUNDLE_ENTRY_REFUSED"),
    ("an old plain file", |t| first(member(b"a", b"", 0))(t), "BUNDLE_ENTRY_REFUSED"),
    ("a pax header", |t| first(member(b"a", b"12 path=../x", b'x'))(t), "BUNDLE_ENTRY_REFUSED"),
    ("a pax header for all", |t| first(member(b"a", b"12 path=../x", b'g'))(t), "BUNDLE_ENTRY_REFUSED"),
    ("a long name of GNU", |t| first(member(b"a", b"../x", b'L'))(t), "BUNDLE_ENTRY_REFUSED"),
    ("a long link of GNU", |t| first(member(b"a", b"../x", b'K'))(t), "BUNDLE_ENTRY_REFUSED"),
    ("a sparse file", |t| first(member(b"a", b"", b'S'))(t), "BUNDLE_ENTRY_REFUSED"),
];

/// Names that are none, or are taken.
const NAMES: &[Row] = &[
    ("an absolute name", |t| first(member(b"/etc/passwd", b"", b'0'))(t), "BUNDLE_NAME_REFUSED"),
    ("a name that climbs", |t| first(member(b"a/../../b", b"", b'0'))(t), "BUNDLE_NAME_REFUSED"),
    ("a name that begins with a dot", |t| first(member(b"./a", b"", b'0'))(t), "BUNDLE_NAME_REFUSED"),
    ("a name with an empty part", |t| first(member(b"a//b", b"", b'0'))(t), "BUNDLE_NAME_REFUSED"),
    ("no name", |t| first(member(b"", b"", b'0'))(t), "BUNDLE_NAME_REFUSED"),
    ("a name of Windows", |t| first(member(b"a\\..\\b", b"", b'0'))(t), "BUNDLE_NAME_REFUSED"),
    ("a stream of Windows", |t| first(member(b"a:b", b"", b'0'))(t), "BUNDLE_NAME_REFUSED"),
    ("a name that is no text", |t| first(member(b"a\xff", b"", b'0'))(t), "BUNDLE_NAME_REFUSED"),
    (
        "a name that turns round",
        |t| first(member("a\u{202e}b".as_bytes(), b"", b'0'))(t),
        "BUNDLE_NAME_REFUSED",
    ),
    (
        "a member twice",
        |t| first([member(b"a", b"1", b'0'), member(b"a", b"2", b'0')].concat())(t),
        "BUNDLE_NAME_REFUSED",
    ),
    (
        "a member in another case",
        |t| first([member(b"A", b"1", b'0'), member(b"a", b"2", b'0')].concat())(t),
        "BUNDLE_NAME_REFUSED",
    ),
    (
        "a member in another form of Unicode",
        |t| {
            first(
                [member("e\u{301}".as_bytes(), b"1", b'0'), member("\u{e9}".as_bytes(), b"2", b'0')].concat(),
            )(t)
        },
        "BUNDLE_NAME_REFUSED",
    ),
    (
        "a file that is a folder too",
        |t| first([member(b"a", b"1", b'0'), member(b"a/b", b"2", b'0')].concat())(t),
        "BUNDLE_NAME_REFUSED",
    ),
    (
        "members out of order",
        |t| first([member(b"b", b"1", b'0'), member(b"a", b"2", b'0')].concat())(t),
        "BUNDLE_ARCHIVE_MALFORMED",
    ),
];

/// Forms that are not the one that a bundle has.
const FORMS: &[Row] = &[
    ("a size past all bounds", |t| first(header(b"a", 1 << 32, b'0'))(t), "BUNDLE_TOO_LARGE"),
    ("a size beyond its end", |t| first(header(b"a", 1 << 20, b'0'))(t), "BUNDLE_ARCHIVE_MALFORMED"),
    (
        "a size in base 256",
        |t| {
            let mut block = header(b"a", 0, b'0');
            block[124] = 0x80;
            summed(&mut block);
            first(block)(t)
        },
        "BUNDLE_ARCHIVE_MALFORMED",
    ),
    (
        "a time",
        |t| {
            let mut block = header(b"a", 0, b'0');
            block[146] = b'1';
            summed(&mut block);
            first(block)(t)
        },
        "BUNDLE_ARCHIVE_MALFORMED",
    ),
    (
        "an owner",
        |t| {
            let mut block = header(b"a", 0, b'0');
            block[265..269].copy_from_slice(b"root");
            summed(&mut block);
            first(block)(t)
        },
        "BUNDLE_ARCHIVE_MALFORMED",
    ),
    (
        "a mode that lets everybody write",
        |t| {
            let mut block = header(b"a", 0, b'0');
            block[104..107].copy_from_slice(b"777");
            summed(&mut block);
            first(block)(t)
        },
        "BUNDLE_ARCHIVE_MALFORMED",
    ),
    (
        "a wrong checksum",
        |t| {
            let mut block = header(b"a", 0, b'0');
            block[148] ^= 1;
            first(block)(t)
        },
        "BUNDLE_ARCHIVE_MALFORMED",
    ),
    (
        "something behind the last byte of a member",
        |t| {
            let mut extra = member(b"a", b"1", b'0');
            extra[BLOCK + 1] = b'!';
            first(extra)(t)
        },
        "BUNDLE_ARCHIVE_MALFORMED",
    ),
    ("something after its end", |t| [t, vec![0; BLOCK]].concat(), "BUNDLE_ARCHIVE_MALFORMED"),
    ("another tar after its end", |t| [t.clone(), t].concat(), "BUNDLE_ARCHIVE_MALFORMED"),
    ("one block at its end", |t| t[..t.len() - BLOCK].to_vec(), "BUNDLE_ARCHIVE_MALFORMED"),
    ("no end", |t| t[..end(&t)].to_vec(), "BUNDLE_ARCHIVE_MALFORMED"),
    ("cut in a header", |t| t[..100].to_vec(), "BUNDLE_ARCHIVE_MALFORMED"),
    ("nothing", |_| Vec::new(), "BUNDLE_ARCHIVE_MALFORMED"),
    ("compressed", |t| [b"\x1f\x8b\x08".to_vec(), t].concat(), "BUNDLE_ENTRY_REFUSED"),
    ("an empty tar", |_| vec![0; 2 * BLOCK], "BUNDLE_WITHOUT_MANIFEST"),
];

// proves E-M02
// break crates/adapters/bundle/src/header.rs: `Some(made) if made == *block => Ok((name, size)),` -> `Some(_) => Ok((name, size)),`
#[test]
fn what_is_no_plain_sorted_tar_of_plain_files_is_refused_by_its_kind() {
    let small = Small::new();
    let control = small.bytes();
    assert!(opened(&small, &control).is_ok(), "the control");
    for (what, change, code) in ENTRIES.iter().chain(NAMES).chain(FORMS) {
        let refused = opened(&small, &change(control.clone()));
        assert_eq!(
            refused.as_ref().map(|_| ()).map_err(BundleError::code),
            Err(*code),
            "{what}: {refused:?}"
        );
    }
    assert!(opened(&small, &control).is_ok(), "the control");
}

#[test]
fn no_cut_and_no_flipped_byte_of_a_header_is_ever_a_panic_or_another_member() {
    let small = Small::new();
    let control = small.bytes();
    let whole = Bundle::open(&small.tar()).unwrap().audit().unwrap();
    for at in (0..control.len()).step_by(97) {
        let cut = opened(&small, &control[..at]);
        assert!(cut.is_err(), "cut at {at}");
        let mut flipped = control.clone();
        flipped[at] ^= 1;
        // A bit of a member shows in its digest, any other one in the form.
        if let Ok(bundle) = opened(&small, &flipped) {
            let audit = bundle.audit().unwrap();
            assert!(
                audit != whole || bundle.manifest().members.len() != whole.present.len(),
                "flipped at {at}"
            );
        }
    }
}

#[test]
fn a_name_that_no_header_holds_is_refused_before_it_is_written() {
    for (name, fault) in [
        ("x".repeat(101), NameFault::TooLong),
        (format!("{}/x", "y".repeat(156)), NameFault::TooLong),
        (vec!["d"; 65].join("/"), NameFault::TooLong),
        ("a/./b".to_owned(), NameFault::NotNormal),
    ] {
        assert_eq!(ambit_bundle::MemberName::of(name.as_bytes()).unwrap_err(), fault, "{name}");
    }
    let longest = format!("{}/{}", "y".repeat(154), "x".repeat(100));
    assert!(ambit_bundle::MemberName::of(longest.as_bytes()).is_ok());
}
