//! Directories as attackers make them.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;

use ambit_bundle::{Bundle, BundleError};
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::small::Small;

fn code(small: &Small) -> Result<(), &'static str> {
    Bundle::open(&small.dir()).map(|_| ()).map_err(|error| error.code())
}

#[test]
fn links_pipes_and_names_that_are_none_are_refused() {
    let small = Small::new();
    assert_eq!(code(&small), Ok(()), "the control");
    let extra = small.dir().join("extra");
    symlink(small.dir().join("trace.jsonl"), &extra).unwrap();
    assert_eq!(code(&small), Err("BUNDLE_ENTRY_REFUSED"), "a link to a file");
    fs::remove_file(&extra).unwrap();
    symlink("/", &extra).unwrap();
    assert_eq!(code(&small), Err("BUNDLE_ENTRY_REFUSED"), "a link to a directory");
    fs::remove_file(&extra).unwrap();
    mknodat(CWD, &extra, FileType::Fifo, Mode::RUSR, 0).unwrap();
    assert_eq!(code(&small), Err("BUNDLE_ENTRY_REFUSED"), "a pipe");
    fs::remove_file(&extra).unwrap();
    for name in [b"a\xff".as_slice(), b"a:b", b"a\\b"] {
        let path = small.dir().join(std::ffi::OsStr::from_bytes(name));
        fs::write(&path, "").unwrap();
        assert_eq!(code(&small), Err("BUNDLE_NAME_REFUSED"), "{name:?}");
        fs::remove_file(path).unwrap();
    }
    fs::write(small.dir().join("Trace.jsonl"), "").unwrap();
    assert_eq!(code(&small), Err("BUNDLE_NAME_REFUSED"), "another case");
    fs::remove_file(small.dir().join("Trace.jsonl")).unwrap();
    assert_eq!(code(&small), Ok(()), "the control");
}

#[test]
fn a_member_that_turns_into_a_link_after_it_was_seen_is_not_followed() {
    let small = Small::new();
    let bundle = Bundle::open(&small.dir()).unwrap();
    assert!(bundle.audit().is_ok(), "the control");
    let trace = small.dir().join("trace.jsonl");
    fs::rename(&trace, small.dir().join("elsewhere")).unwrap();
    symlink(small.dir().join("elsewhere"), &trace).unwrap();
    let audit = bundle.audit();
    assert!(matches!(audit, Err(BundleError::Io { .. })), "{audit:?}");
}

#[test]
fn what_is_missing_altered_or_added_is_told_apart() {
    let small = Small::new();
    let audit = || Bundle::open(&small.dir()).unwrap().audit().unwrap();
    fs::write(small.dir().join("extra"), "").unwrap();
    assert_eq!(audit().unlisted, ["extra"]);
    fs::write(small.dir().join("trace.jsonl"), "x\n").unwrap();
    assert_eq!(audit().altered, ["trace.jsonl"]);
    fs::remove_file(small.dir().join("trace.jsonl")).unwrap();
    assert_eq!((audit().missing, audit().altered.len()), (vec!["trace.jsonl".to_owned()], 0));
    fs::remove_file(small.dir().join("bundle.json")).unwrap();
    assert_eq!(code(&small), Err("BUNDLE_WITHOUT_MANIFEST"));
}

#[test]
fn a_list_of_members_has_one_form() {
    let small = Small::new();
    let list = small.dir().join("bundle.json");
    let whole = fs::read_to_string(&list).unwrap();
    for (what, text) in [
        ("white space", whole.replacen(':', ": ", 1)),
        ("a field that nobody knows", whole.replacen('{', "{\"a\":1,", 1)),
        ("a field twice", whole.replacen("\"kind\"", "\"kind\":\"EvidenceBundle/v1\",\"kind\"", 1)),
        ("another version", whole.replace("EvidenceBundle/v1", "EvidenceBundle/v2")),
        (
            "a number that is rounded elsewhere",
            whole.replacen("\"sizeBytes\":5", "\"sizeBytes\":9007199254740993", 1),
        ),
        ("a name that climbs", whole.replacen("project.jsonl", "../project.jsonl", 1)),
        ("nothing", String::new()),
    ] {
        assert_ne!(text, whole, "{what}");
        fs::write(&list, &text).unwrap();
        assert_eq!(code(&small), Err("BUNDLE_MANIFEST_MALFORMED"), "{what}");
    }
    fs::write(&list, &whole).unwrap();
    assert_eq!(code(&small), Ok(()), "the control");
}
