use std::convert::Infallible;

use ambit_transparency::key::{KeyId, SignatureKind, VerifierKey};
use ambit_transparency::note::{NOTE_BYTES, NOTE_SIGNATURES, Note, NoteError, SignError, sign};
use proptest::prelude::*;

use crate::naive;
use crate::signers::{Private, checkpoint, log, private, witness};

const TEXT: &str = "a text\n\nof three lines\n";

#[test]
fn what_is_signed_is_verified_and_printed_as_it_was() {
    let (first, second) = (log(), private("b.example", SignatureKind::Ed25519, 2));
    let note = first.note(TEXT).and(second.sign(TEXT)).unwrap();
    let keys = [second.key.clone(), first.key.clone()];
    let read = Note::parse(note.to_string().as_bytes()).unwrap();
    assert_eq!(read, note);
    assert_eq!(read.text(), TEXT);
    let signers = read.verify(&keys).unwrap();
    let names: Vec<&str> = signers.signed.iter().map(|signed| signed.key.name().as_str()).collect();
    assert_eq!(names, ["log.example/org-1", "b.example"]);
    assert_eq!(read.verify(&[]), Err(NoteError::Unsigned));
}

/// Signs one text and puts the signature behind another.
fn borrowed(by: &Private) -> Note {
    Note::new(TEXT, vec![by.sign("another text\n")]).unwrap()
}

#[test]
fn a_known_key_whose_signature_fails_refuses_the_note_whoever_else_signed() {
    let (first, second) = (log(), private("b.example", SignatureKind::Ed25519, 2));
    let good = first.note(TEXT);
    assert!(good.verify(std::slice::from_ref(&first.key)).is_ok());
    let note = good.and(borrowed(&second).signatures()[0].clone()).unwrap();
    let both = [first.key.clone(), second.key.clone()];
    assert!(matches!(note.verify(&both), Err(NoteError::Invalid { .. })));
    assert_eq!(note.verify(&both[..1]).unwrap().signed.len(), 1, "to others the second is unknown");
    let doubled = good.and(borrowed(&first).signatures()[0].clone()).unwrap();
    assert!(matches!(doubled.verify(&both), Err(NoteError::Invalid { .. })));
}

#[test]
fn a_doubled_signature_counts_once_and_half_a_name_is_unknown() {
    let first = log();
    let note = first.note(TEXT);
    let doubled = note.and(note.signatures()[0].clone()).unwrap();
    assert_eq!(doubled.verify(std::slice::from_ref(&first.key)).unwrap().signed.len(), 1);
    // A list of keys may name one twice; two keys under one name and id are another matter.
    assert!(note.verify(&[first.key.clone(), first.key.clone()]).is_ok());
    let mut other = note.signatures()[0].clone();
    other.id = KeyId(other.id.0 ^ 1);
    let mut renamed = note.signatures()[0].clone();
    renamed.name = "c.example".parse().unwrap();
    let strangers = Note::new(TEXT, vec![other, renamed]).unwrap();
    assert_eq!(strangers.verify(&[first.key]), Err(NoteError::Unsigned));
}

#[test]
fn a_key_that_is_not_verified_here_counts_for_nothing() {
    let name = "w.example".parse().unwrap();
    let subtree = VerifierKey::new(name, SignatureKind::SubtreeCosignature, &[9; 1312]).unwrap();
    let text = checkpoint(1, naive::leaf(0)).to_text().unwrap();
    let mut line = log().sign(&text);
    (line.name, line.id) = (subtree.name().clone(), subtree.id());
    let alone = Note::new(&text, vec![line]).unwrap();
    assert_eq!(alone.verify(std::slice::from_ref(&subtree)), Err(NoteError::Unsigned));
    let keys = [subtree.clone(), log().key];
    let both = alone.and(log().sign(&text)).unwrap();
    let signers = both.verify(&keys).unwrap();
    assert_eq!((signers.signed.len(), signers.unjudged), (1, vec![&subtree]));
}

#[test]
fn a_note_has_one_spelling() {
    let good = log().note("text\n").to_string();
    let line = good.strip_prefix("text\n\n").unwrap();
    assert!(Note::parse(good.as_bytes()).is_ok());
    let dash = "\u{2014} ";
    let wrong: Vec<(String, &str)> = vec![
        (String::new(), "NOTE_FORM"),
        ("\n".into(), "NOTE_FORM"),
        ("\n\n".into(), "NOTE_FORM"),
        ("text\n\n".into(), "NOTE_FORM"),
        (format!("text\n{line}"), "NOTE_FORM"),
        (format!("text\n\n{line}\n"), "NOTE_FORM"),
        (good.trim_end().into(), "NOTE_FORM"),
        (good.replace('\n', "\r\n"), "NOTE_NOT_TEXT"),
        (good.replace("text", "te\txt"), "NOTE_NOT_TEXT"),
        (good.replace("text", "te\0xt"), "NOTE_NOT_TEXT"),
        (good.replace(dash, "\u{2013} "), "NOTE_SIGNATURE_MALFORMED"),
        (good.replace(dash, "\u{2015} "), "NOTE_SIGNATURE_MALFORMED"),
        (good.replace(dash, "-- "), "NOTE_SIGNATURE_MALFORMED"),
        (good.replace(dash, "- "), "NOTE_SIGNATURE_MALFORMED"),
        (good.replace(dash, "\u{2014}"), "NOTE_SIGNATURE_MALFORMED"),
        (good.replace(dash, "\u{2014}  "), "NOTE_SIGNATURE_MALFORMED"),
        (good.replace(dash, "\u{2014}\u{a0}"), "NOTE_SIGNATURE_MALFORMED"),
        (good.replace(dash, " \u{2014} "), "NOTE_SIGNATURE_MALFORMED"),
        (good.replace(dash, "\u{feff}\u{2014} "), "NOTE_SIGNATURE_MALFORMED"),
        (format!("{good}junk\n"), "NOTE_SIGNATURE_MALFORMED"),
        (format!("{}\n", good.trim_end().to_owned() + " "), "NOTE_SIGNATURE_MALFORMED"),
        (good.replace("org-1 ", "org-1 a "), "NOTE_SIGNATURE_MALFORMED"),
        (good.replace("org-1", "org+1"), "NOTE_SIGNATURE_MALFORMED"),
        (good.replace("log.example/org-1 ", " "), "NOTE_SIGNATURE_MALFORMED"),
        (format!("{}\n", good.trim_end().trim_end_matches('=')), "NOTE_SIGNATURE_MALFORMED"),
        (format!("{}=\n", good.trim_end()), "NOTE_SIGNATURE_MALFORMED"),
        ("text\n\n\u{2014} a AAAAAA==\n".into(), "NOTE_SIGNATURE_MALFORMED"),
        ("text\n\n\u{2014} a AAAA\n".into(), "NOTE_SIGNATURE_MALFORMED"),
        ("text\n\n\u{2014} a \n".into(), "NOTE_SIGNATURE_MALFORMED"),
        // Spare bits that are set would be a second spelling of the same bytes.
        ("text\n\n\u{2014} a AAAAAAB=\n".into(), "NOTE_SIGNATURE_MALFORMED"),
    ];
    for (wrong, code) in wrong {
        let refused = Note::parse(wrong.as_bytes()).map_err(|error| error.code());
        assert_eq!(refused, Err(code), "{wrong:?}");
    }
    let not_utf8 = [b"te\xffxt\n\n".as_slice(), line.as_bytes()].concat();
    assert_eq!(Note::parse(&not_utf8), Err(NoteError::NotText));
}

#[test]
fn a_note_is_bounded() {
    let signature = log().sign("text\n");
    let most = Note::new("text\n", vec![signature.clone(); NOTE_SIGNATURES]).unwrap();
    assert_eq!(most.and(signature.clone()), Err(NoteError::TooManySignatures));
    let room = NOTE_BYTES - signature.to_string().len() - 3;
    let long = |length| Note::new(&format!("{}\n", "x".repeat(length)), vec![signature.clone()]);
    assert!(long(room).is_ok());
    assert_eq!(long(room + 1), Err(NoteError::TooLarge { found: NOTE_BYTES + 1 }));
    assert_eq!(Note::new("no end", vec![signature.clone()]).unwrap_err().code(), "NOTE_FORM");
    assert_eq!(Note::new("text\n", Vec::new()).unwrap_err().code(), "NOTE_FORM");
    let (mut post_quantum, mut lines) = (String::from("text\n\n"), 0);
    while lines < 16 {
        post_quantum += &format!("\u{2014} w{lines} {}\n", "AAAA".repeat(1_700));
        lines += 1;
    }
    assert_eq!(Note::parse(post_quantum.as_bytes()).unwrap().signatures().len(), 16);
}

#[derive(Debug, thiserror::Error)]
#[error("the key is locked away")]
struct Locked;

#[test]
fn nothing_is_signed_that_would_not_hold() {
    let (log, other) = (log(), private("b.example", SignatureKind::Ed25519, 2));
    let refused = |text: &str, key: &VerifierKey, by: &Private| {
        sign(text, key, |message| by.raw(message)).map_err(|error| error.code())
    };
    assert!(refused("text\n", &log.key, &log).is_ok());
    assert_eq!(refused("text\n", &log.key, &other), Err("NOTE_SIGN_NOT_OURS"));
    assert_eq!(refused("text\n", &witness(3).key, &witness(3)), Err("NOTE_SIGN_KIND"));
    assert_eq!(refused("cosignature/v1\ntime 1\na\n", &log.key, &log), Err("NOTE_SIGN_TEXT"));
    let unseen = |_: &[u8]| -> Result<[u8; 64], Infallible> { panic!("the private key is not used") };
    for text in ["", "no end", "a\tb\n", "a\r\n"] {
        assert!(matches!(sign(text, &log.key, unseen), Err(SignError::Text)), "{text:?}");
    }
    assert!(matches!(sign("text\n", &log.key, |_| Err(Locked)), Err(SignError::Signer(Locked))));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_changed_byte_of_a_note_is_never_believed(at in any::<prop::sample::Index>(), flip in 1_u8..=255) {
        let log = log();
        let mut bytes = log.note(TEXT).to_string().into_bytes();
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        let believed = Note::parse(&bytes).and_then(|note| note.verify(std::slice::from_ref(&log.key)).map(|_| ()));
        prop_assert!(believed.is_err(), "byte {} by {}", at, flip);
    }
}
