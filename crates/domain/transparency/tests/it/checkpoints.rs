use ambit_transparency::checkpoint::{Checkpoint, CheckpointError, Origin};
use ambit_transparency::cosignature::cosign;
use ambit_transparency::key::SignatureKind;
use ambit_transparency::merkle::empty_root;
use ambit_transparency::note::{Note, NoteError};

use crate::naive;
use crate::signers::{ORIGIN, checkpoint, log, private, witness};

const ROOT: &str = "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=";

#[test]
fn the_example_of_the_format_is_read_and_written_the_same() {
    let text = format!("example.com/behind-the-sofa\n20852163\n{ROOT}\n");
    let read = Checkpoint::read(&text).unwrap();
    assert_eq!(read.checkpoint.size, 20_852_163);
    assert_eq!(read.checkpoint.to_text().unwrap(), text);
    assert!(read.extension_lines.is_empty());
    let extended = Checkpoint::read(&format!("{text}one\ntwo +\n")).unwrap();
    assert_eq!(extended.extension_lines, ["one", "two +"]);
    assert_eq!(extended.checkpoint, read.checkpoint);
}

#[test]
fn a_checkpoint_has_one_spelling() {
    let wrong = [
        (String::new(), 1),
        ("\n".into(), 2),
        ("log\n".into(), 2),
        ("log\n1\n".into(), 3),
        (format!("log\n1\n{ROOT}"), 1),
        (format!("\n1\n{ROOT}\n"), 1),
        (format!("log\t\n1\n{ROOT}\n"), 1),
        (format!("{}\n1\n{ROOT}\n", "l".repeat(256)), 1),
        (format!("log\n1\n{ROOT}\n\n"), 4),
        (format!("log\n1\n{ROOT}\na\n\nb\n"), 5),
        (format!("log\n1\n{ROOT} \n"), 3),
        (format!("log\n1\n{}\n", ROOT.trim_end_matches('=')), 3),
        (format!("log\n1\n{}\n", ROOT.replace("2I=", "2J=")), 3),
        (format!("log\n1\n{}\n", ROOT.replace('/', "_")), 3),
        ("log\n1\nAAAA\n".into(), 3),
        (format!("log\n1\n{ROOT}{ROOT}\n"), 3),
    ];
    for (text, line) in wrong {
        assert_eq!(Checkpoint::read(&text), Err(CheckpointError::Form { line }), "{text:?}");
    }
    let with =
        |size: &str| Checkpoint::read(&format!("log\n{size}\n{ROOT}\n")).map(|read| read.checkpoint.size);
    for (size, number) in
        [("0", 0), ("1", 1), ("9223372036854775808", 1 << 63), ("18446744073709551615", u64::MAX)]
    {
        assert_eq!(with(size), Ok(number));
    }
    for size in
        ["", "00", "01", "+1", "-1", " 1", "1 ", "1_0", "0x1", "1.0", "\u{661}", "18446744073709551616"]
    {
        assert_eq!(with(size), Err(CheckpointError::Form { line: 2 }), "{size:?}");
    }
    assert!(with(&"1".repeat(100_000)).is_err());
}

#[test]
fn nothing_is_written_that_misleads() {
    assert_eq!(checkpoint(0, naive::leaf(0)).to_text(), Err(CheckpointError::EmptyRoot));
    assert!(checkpoint(0, empty_root()).to_text().is_ok());
    for wrong in ["", "a\nb", "a\rb", "a\u{85}b", &"o".repeat(256)] {
        assert_eq!(wrong.parse::<Origin>(), Err(CheckpointError::Origin), "{wrong:?}");
    }
}

#[test]
fn a_checkpoint_is_believed_from_its_own_log_alone() {
    let (log, origin) = (log(), ORIGIN.parse().unwrap());
    let mine = checkpoint(3, naive::leaf(3));
    let text = mine.to_text().unwrap();
    let keys = [log.key.clone()];
    let (read, signers) = Checkpoint::open(&log.note(&text), &origin, &keys).unwrap();
    assert_eq!((read, signers.signed.len()), (mine, 1));
    let open = |text: &str| Checkpoint::open(&log.note(text), &origin, &keys).map(|_| ());
    assert_eq!(open(&text.replace("org-1", "org-2")), Err(CheckpointError::OtherLog));
    assert_eq!(open(&format!("{text}more\n")), Err(CheckpointError::Extended));
    assert_eq!(open("no checkpoint\n"), Err(CheckpointError::Form { line: 2 }));
    let stranger = private(ORIGIN, SignatureKind::Ed25519, 9).note(&text);
    assert_eq!(
        Checkpoint::open(&stranger, &origin, &keys).unwrap_err(),
        CheckpointError::Note(NoteError::Unsigned)
    );
}

#[test]
fn a_cosignature_says_when_and_nothing_else_can() {
    let witness = witness(7);
    let text = checkpoint(3, naive::leaf(3)).to_text().unwrap();
    let line = witness.cosign(&text, 1_679_315_147);
    let keys = [witness.key.clone(), log().key];
    let note = Note::new(&text, vec![line.clone()]).unwrap();
    assert_eq!(note.verify(&keys).unwrap().signed[0].at_seconds, Some(1_679_315_147));
    // Eight bytes of time and 64 of signature.
    assert_eq!(line.bytes().len(), 72);
    let printed = note.to_string();
    let later = witness.cosign(&text, 1_679_315_148);
    assert_ne!(line.bytes()[8..], later.bytes()[8..], "the time is signed");
    let moved = Note::new(&text.replace("\n3\n", "\n4\n"), vec![line]).unwrap();
    assert!(matches!(moved.verify(&keys), Err(NoteError::Invalid { .. })));
    assert_eq!(Note::parse(printed.as_bytes()).unwrap(), note);
    let refused = |text: &str, at: u64| {
        cosign(text, at, &witness.key, |message| witness.raw(message)).map_err(|error| error.code())
    };
    assert_eq!(refused("no checkpoint\n", 1), Err("NOTE_SIGN_TEXT"));
    assert_eq!(refused(&text, 0), Err("NOTE_SIGN_TIME"));
    assert_eq!(refused(&text, 1 << 63), Err("NOTE_SIGN_TIME"));
    assert!(refused(&text, (1 << 63) - 1).is_ok());
    let (log, key) = (log(), log().key);
    let refused = cosign(&text, 1, &key, |message| log.raw(message)).map_err(|error| error.code());
    assert_eq!(refused, Err("NOTE_SIGN_KIND"));
}
