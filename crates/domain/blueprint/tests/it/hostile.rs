//! Documents that nobody means well with: an error with its place, never a panic, never a wait.

use std::fmt::Write as _;

use ambit_blueprint::{Document, DocumentKind, ProblemCode};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::page::{edited, sample};

/// The first problem of bytes that must not be a document; every problem must have a place that is in the text, and
/// must be rendered in few and short lines without a control character.
fn refused(bytes: &[u8]) -> ProblemCode {
    let error = Document::parse("doc.yaml", bytes).expect_err("this must not be a document");
    let lines = bytes.split(|b| *b == b'\n').count();
    assert!((1..=20).contains(&error.problems().count()));
    for problem in error.problems() {
        assert!((1..=lines).contains(&(problem.line as usize)), "line {} of {lines}", problem.line);
        assert!(problem.column >= 1);
        let rendered = problem.render("doc.yaml");
        assert!(rendered.lines().count() <= 7, "{rendered}");
        assert!(rendered.lines().all(|line| line.chars().count() < 400), "{rendered}");
        assert!(!rendered.chars().any(|c| c.is_control() && c != '\n'), "{rendered:?}");
    }
    assert!(!error.to_string().contains('\n'));
    error.problems().next().unwrap().code
}

fn canonical(kind: DocumentKind) -> Vec<u8> {
    let document = Document::parse("doc", sample(kind).as_bytes()).unwrap();
    document.to_canonical().unwrap().into_bytes()
}

#[test]
fn a_document_cut_anywhere_is_refused() {
    for kind in DocumentKind::ALL {
        let json = canonical(*kind);
        assert!(Document::parse("doc", &json).is_ok());
        for end in 0..json.len() {
            refused(&json[..end]);
        }
    }
    // In YAML the end of the last value cannot be told from its middle; everywhere before it can, where no optional
    // part comes last.
    for kind in [DocumentKind::Blueprint, DocumentKind::NamedCommandCatalog] {
        let yaml = sample(kind).trim_end();
        for end in 0..yaml.rfind(": ").unwrap() {
            refused(&yaml.as_bytes()[..end]);
        }
    }
}

#[test]
fn a_document_with_any_byte_replaced_is_read_or_refused() {
    let json = canonical(DocumentKind::PolicyBundle);
    let mut read = 0;
    for at in 0..json.len() {
        for byte in [b'\0', b'"', b'{', b'\n', b'&', 0xff] {
            let mut bytes = json.clone();
            bytes[at] = byte;
            match Document::parse("doc", &bytes) {
                Ok(_) => read += 1,
                Err(_) => drop(refused(&bytes)),
            }
        }
    }
    // Within text a quotation mark is not welcome, but an ampersand is.
    assert!(read > 0);
}

#[test]
fn a_large_document_is_refused_by_its_size_or_its_shape() {
    let limit = 1 << 20;
    let fill = |unit: &str| unit.repeat(limit / unit.len());
    for text in
        ["a: b\n", "- x\n", "[", "{", "- ", "? ", "\n", " ", "#", "\"", "a", "[a: ", "{\"a\":", "'a' "]
    {
        refused(fill(text).as_bytes());
    }
    assert_eq!(refused(&vec![b'a'; limit + 1]), ProblemCode::TooLarge);
    assert_eq!(refused(fill("- x\n").as_bytes()), ProblemCode::TooLarge);
    let line = edited(
        sample(DocumentKind::Blueprint),
        "stage: generate",
        &format!("stage: {}", "g".repeat(900_000)),
    );
    assert_eq!(refused(line.as_bytes()), ProblemCode::UnknownWord);
}

#[test]
fn a_document_that_would_not_fit_in_canonical_form_is_refused() {
    // A line feed is one byte in a block of text and two in JSON.
    let argument = |size: usize| format!("\n        - |2\n          x{}          x", "\n".repeat(size));
    let catalog = sample(DocumentKind::NamedCommandCatalog);
    let command = catalog.split("  commands:\n").nth(1).unwrap();
    let commands: String = (0..9)
        .map(|at| {
            let argv: String = (0..27).map(|_| argument(4000)).collect();
            let command = edited(command, "unit.todo-idempotency", &format!("unit.{at}"));
            let end = command.find("      image:").unwrap();
            let start = command.find("argv: ").unwrap();
            format!("{}argv:{argv}\n{}", &command[..start], &command[end..])
        })
        .collect();
    let text = edited(catalog, command, &commands);
    assert!(text.len() < 1 << 20, "{}", text.len());
    assert_eq!(refused(text.as_bytes()), ProblemCode::TooLarge);
}

#[test]
fn laughs_are_not_multiplied() {
    let mut text = String::from("a: &a [lol, lol]\n");
    for level in b'b'..=b'z' {
        let (name, before) = (char::from(level), char::from(level - 1));
        writeln!(text, "{name}: &{name} [*{before}, *{before}, *{before}, *{before}]").unwrap();
    }
    assert_eq!(refused(text.as_bytes()), ProblemCode::FeatureRefused);
}

#[test]
fn a_name_that_is_data_is_told_in_a_short_line_too() {
    let catalog = sample(DocumentKind::NamedCommandCatalog);
    let variable = "PYTHONDONTWRITEBYTECODE: \"1\"";
    for name in ["K".repeat(900), "\\n".repeat(200), "a`\\tb".to_owned()] {
        let text = edited(catalog, variable, &format!("\"{name}\": 1"));
        assert_eq!(refused(text.as_bytes()), ProblemCode::EnvironmentRefused);
    }
}

#[test]
fn ten_thousand_keys_are_told_in_twenty_problems() {
    let mut text = sample(DocumentKind::Blueprint).to_owned();
    for key in 0..10_000 {
        writeln!(text, "  key{key}: x").unwrap();
    }
    assert_eq!(refused(text.as_bytes()), ProblemCode::UnknownField);
    let error = Document::parse("doc", text.as_bytes()).unwrap_err();
    assert_eq!(error.problems().count(), 20);
}

#[test]
fn numbers_that_are_not_plain_integers_are_refused_where_one_is_wanted() {
    let blueprint = sample(DocumentKind::Blueprint);
    for (spelled, code) in [
        ("0x18", ProblemCode::WrongType),
        ("0o30", ProblemCode::WrongType),
        ("024", ProblemCode::WrongType),
        ("2_4", ProblemCode::WrongType),
        ("+24", ProblemCode::WrongType),
        ("24.0", ProblemCode::WrongType),
        ("2.4e1", ProblemCode::WrongType),
        ("24e0", ProblemCode::WrongType),
        (".5", ProblemCode::WrongType),
        ("-0", ProblemCode::WrongType),
        ("inf", ProblemCode::WrongType),
        (".inf", ProblemCode::WrongType),
        ("NaN", ProblemCode::WrongType),
        (".nan", ProblemCode::WrongType),
        ("0:24", ProblemCode::WrongType),
        ("\"24\"", ProblemCode::WrongType),
        ("true", ProblemCode::WrongType),
        ("yes", ProblemCode::WrongType),
        ("~", ProblemCode::WrongType),
        ("", ProblemCode::WrongType),
        ("[24]", ProblemCode::WrongType),
        ("{a: 24}", ProblemCode::WrongType),
        ("-1", ProblemCode::OutOfRange),
        ("0", ProblemCode::OutOfRange),
        ("101", ProblemCode::OutOfRange),
        ("4294967320", ProblemCode::OutOfRange),
        ("18446744073709551640", ProblemCode::OutOfRange),
        ("1000000000000000000000000000000000000000000000000", ProblemCode::OutOfRange),
    ] {
        let text = edited(blueprint, "maxModelSteps: 24", &format!("maxModelSteps: {spelled}"));
        assert_eq!(refused(text.as_bytes()), code, "{spelled}");
    }
}

#[test]
fn text_that_is_not_unicode_is_refused_in_either_spelling() {
    let blueprint = sample(DocumentKind::Blueprint);
    for escape in ["\\ud800", "\\udc00x", "\\ud83d\\ude00", "\\U00110000", "\\u12", "\\x"] {
        let text = edited(blueprint, "title: Create and complete a todo", &format!("title: \"a{escape}\""));
        assert_eq!(refused(text.as_bytes()), ProblemCode::Syntax, "{escape}");
    }
    for bytes in [&b"\xed\xa0\x80"[..], b"\xff", b"\xc0\x80", b"\xf5\x80\x80\x80", b"\xe2\x82"] {
        let at = blueprint.find("Create and complete").unwrap();
        let text = [&blueprint.as_bytes()[..at], bytes, &blueprint.as_bytes()[at..]].concat();
        assert_eq!(refused(&text), ProblemCode::Encoding, "{bytes:?}");
    }
    let text = edited(blueprint, "title: Create and complete a todo", "title: \"a\\U0001F600\"");
    assert!(Document::parse("doc", text.as_bytes()).is_ok());
}

#[test]
fn an_image_of_a_terminal_is_not_drawn() {
    let blueprint = sample(DocumentKind::Blueprint);
    for c in ['\u{1b}', '\u{7}', '\u{8}', '\u{9b}', '\u{202e}', '\u{2066}', '\u{200b}', '\u{e0041}'] {
        let raw = edited(blueprint, "goal: >", &format!("go{c}al: >"));
        assert_eq!(refused(raw.as_bytes()), ProblemCode::Encoding, "{c:?}");
        let escaped = format!("\"go\\U{:08X}al\": >", u32::from(c));
        let escaped = edited(blueprint, "goal: >", &escaped);
        assert_eq!(refused(escaped.as_bytes()), ProblemCode::Encoding, "{c:?}");
    }
    let name = edited(blueprint, "goal: >", "\"go\\nal\": >");
    assert_eq!(refused(name.as_bytes()), ProblemCode::UnknownField);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        refused(&bytes);
    }

    #[test]
    fn no_yaml_makes_the_reader_panic(parts in proptest::collection::vec(proptest::sample::select(PARTS), 0..30)) {
        refused(parts.concat().as_bytes());
    }

    #[test]
    fn no_rearranged_document_makes_the_reader_panic(
        cuts in proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..8)
    ) {
        let sample = sample(DocumentKind::PolicyBundle).as_bytes();
        let text: Vec<u8> = cuts
            .iter()
            .flat_map(|(from, to)| {
                let (from, to) = (from.index(sample.len()), to.index(sample.len()));
                sample[from.min(to)..from.max(to)].iter().copied()
            })
            .collect();
        if Document::parse("doc", &text).is_err() {
            refused(&text);
        }
    }
}

/// What YAML is made of.
const PARTS: &[&str] = &[
    "apiVersion: coding-agent.enterprise/v1\n",
    "kind: Blueprint\n",
    "kind: PolicyBundle\n",
    "spec:\n",
    "metadata: ",
    "  toolRules:\n",
    "a",
    "b: ",
    "- ",
    "? ",
    ": ",
    "{",
    "}",
    "[",
    "]",
    ",",
    "\"",
    "'",
    "|\n",
    "|2-\n",
    ">\n",
    "\n",
    "\n  ",
    "\n    ",
    " ",
    "\t",
    "#",
    "&a ",
    "*a",
    "!!str ",
    "!t ",
    "%YAML 1.2\n",
    "---\n",
    "...\n",
    "\\",
    "\\u00",
    "\\ud800",
    "\u{feff}",
    "\u{85}",
    "\u{2028}",
    "é",
    "@",
    "`",
    "\r",
    "\r\n",
    "0x10",
    "~",
    "null",
    "<<: ",
    "\0",
    "💥",
];
