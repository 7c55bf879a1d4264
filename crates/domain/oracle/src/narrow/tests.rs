use ambit_ids::{PathPattern, PathSet, RepoPath};
use ambit_policy::Fact;
use proptest::prelude::*;
use proptest::sample::Index;

use super::file::{File, Kind};
use crate::change::{FileChange, Guard};
use crate::collection::Collection;
use crate::facts::outlines;
use crate::javascript::{self, Trees};
use crate::outline::compare;
use crate::source::Language;
use crate::tree::{PARSED, Sides, grammar};

const PYTHON: &str = include_str!("../../examples/cost/python.txt");
const RUST: &str = include_str!("../../examples/cost/rust.txt");
const GO: &str = include_str!("../../examples/cost/go.txt");
const JAVA: &str = include_str!("../../examples/cost/java.txt");
const JAVASCRIPT: &str = include_str!("../../examples/cost/javascript.txt");
const TYPESCRIPT: &str = include_str!("../../examples/cost/typescript.txt");
const FILES: [(&str, &str, Kind); 12] = [
    ("tests/test_ledger.py", PYTHON, Kind::Test),
    ("shop/ledger.py", PYTHON, Kind::Source),
    ("tests/ledger.rs", RUST, Kind::Test),
    ("src/ledger.rs", RUST, Kind::Source),
    ("ledger_test.go", GO, Kind::Test),
    ("ledger.go", GO, Kind::Source),
    ("tests/LedgerTest.java", JAVA, Kind::Test),
    ("src/Ledger.java", JAVA, Kind::Source),
    ("tests/basket.test.js", JAVASCRIPT, Kind::Test),
    ("src/basket.js", JAVASCRIPT, Kind::Source),
    ("tests/basket.test.ts", TYPESCRIPT, Kind::Test),
    ("src/basket.ts", TYPESCRIPT, Kind::Source),
];

/// Lines that change how others are read.
const LINES: [&str; 68] = [
    "",
    "    return",
    "    return;",
    "return",
    "}",
    "{",
    "    {",
    "    }",
    "\"\"\"",
    "/*",
    "*/",
    "'''",
    "`",
    "(",
    ")",
    "    if False:",
    "if True:",
    "    try:",
    "class TestOther:",
    "class Other {",
    "    class Inner {",
    "mod other {",
    "#[cfg(test)]",
    "#[cfg(not(test))]",
    "#[ignore]",
    "#![cfg(any())]",
    "@pytest.mark.skip",
    "@Disabled",
    "    @Disabled",
    "    __test__ = False",
    "    def __init__(self): pass",
    "EXPECTED_CURRENCY = 'USD'",
    "TOLERANCE = 1000",
    "ROUNDINGS = []",
    "def test_booking_4_keeps_its_amount(ledger): pass",
    "def test_booking_0_keeps_its_amount(ledger): pass",
    "def ledger(): assert True",
    "fn ledger() { assert!(true) }",
    "func newLedger(t *testing.T) { t.Fatal() }",
    "    void check() { assertTrue(true); }",
    "    void booking0KeepsItsAmount() { assertTrue(false); }",
    "pass",
    "describe('other', () => {",
    "});",
    "  });",
    "it('other', () => {",
    "  it('adds up what lies in it', () => { expect(entry).toBe(1); });",
    "it('refuses order 3 without a customer', () => { expect(entry).toBe(1); });",
    "it.skip('refuses order 7 without a customer', () => {});",
    "describe.only('a basket of kind 0', () => {});",
    "const entry = 5;",
    "const item = [];",
    "const wanted = [];",
    "function basket() { expect(1).toBe(2); }",
    "const entry = (item) => { expect(item).toBe(2); };",
    "if (basket) {",
    "throw new Error('none');",
    "process.exit(0);",
    "import assert from 'node:assert/strict';",
    "import { Basket as it } from 'ava';",
    "${",
    "<div>",
    "export default",
    "async",
    "let",
    "if (process.env.VITEST) throw 0;",
    "vi.mock('./basket.js');",
    "db.select('x').where({ tenantId });",
];

/// Something that is done to a file.
#[derive(Clone, Debug)]
enum Edit {
    Insert(Index, Index),
    Delete(Index, u8),
    Repeat(Index, u8),
    Move(Index, u8, Index),
    Replace(Index, Index),
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        (any::<Index>(), any::<Index>()).prop_map(|(at, line)| Edit::Insert(at, line)),
        (any::<Index>(), 1..12_u8).prop_map(|(at, count)| Edit::Delete(at, count)),
        (any::<Index>(), 1..24_u8).prop_map(|(at, count)| Edit::Repeat(at, count)),
        (any::<Index>(), 1..24_u8, any::<Index>()).prop_map(|(at, count, to)| Edit::Move(at, count, to)),
        (any::<Index>(), any::<Index>()).prop_map(|(at, word)| Edit::Replace(at, word)),
    ]
}

fn edited(text: &str, edits: &[Edit]) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for edit in edits {
        let length = lines.len();
        let run =
            |at: &Index, count: u8| at.index(length)..(at.index(length) + usize::from(count)).min(length);
        match edit {
            Edit::Insert(at, line) => {
                lines.insert(at.index(length), LINES[line.index(LINES.len())].to_owned());
            }
            Edit::Delete(at, count) => drop(lines.drain(run(at, *count))),
            Edit::Repeat(at, count) => {
                let copy = lines[run(at, *count)].to_vec();
                lines.splice(at.index(length)..at.index(length), copy);
            }
            Edit::Move(at, count, to) => {
                let moved: Vec<String> = lines.drain(run(at, *count)).collect();
                let to = to.index(lines.len() + 1);
                lines.splice(to..to, moved);
            }
            Edit::Replace(at, word) => {
                let line = &mut lines[at.index(length)];
                let is_long = |word: &&str| word.len() > 1;
                let words: Vec<&str> = line.split(|c: char| !c.is_alphanumeric()).filter(is_long).collect();
                if !words.is_empty() {
                    *line = line.replacen(words[word.index(words.len())], "17", 1);
                }
            }
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The facts of a patch, what is illegible of it, and whether anything was left out to find them.
fn told(
    path: &RepoPath,
    (before, after): (&str, &str),
    is_test: bool,
    is_whole: bool,
) -> (Vec<Fact>, String, bool) {
    let language = Language::of(path).unwrap();
    if matches!(language, Language::JavaScript { .. }) {
        return told_of_javascript(path, (before, after), is_test, is_whole);
    }
    let grammar = grammar(path, language).unwrap();
    let sides = if is_whole {
        Sides::whole(&grammar, before, after).unwrap()
    } else {
        Sides::of(language, &grammar, (before, after), is_test).unwrap()
    };
    let legible = format!("{:?}", sides.legible());
    let is_narrowed = sides.after.text.len() < after.len();
    let outlines = outlines(path, language, &sides, is_test).unwrap();
    (compare(&[outlines], &Collection::of(&[])), legible, is_narrowed)
}

fn told_of_javascript(
    path: &RepoPath,
    (before, after): (&str, &str),
    is_test: bool,
    is_whole: bool,
) -> (Vec<Fact>, String, bool) {
    PARSED.take();
    let sides = if is_whole {
        javascript::whole_sides(path, before, after, is_test)
    } else {
        javascript::sides(path, before, after, is_test)
    };
    // The side after, and what is left of both.
    let is_narrowed = PARSED.take().get(1).is_some_and(|length| *length < before.len());
    match sides {
        Ok(sides) => {
            let mut trees = Trees::default();
            trees.add(sides);
            let mut facts = trees.facts();
            facts.sort();
            (facts, "Ok".to_owned(), is_narrowed)
        }
        Err(why) => (Vec::new(), format!("{why:?}"), is_narrowed),
    }
}

/// The first lines of a file, up to where something new begins.
fn start_of(text: &str, lines: usize, tail: &str) -> String {
    let end = text.lines().take(lines).map(|line| line.len() + 1).sum::<usize>();
    let end = text[end.min(text.len())..].find("\n\n").map_or(text.len(), |blank| end + blank + 1);
    format!("{}{tail}", &text[..end])
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        cases: 6,
        ..ProptestConfig::default()
    })]

    // proves E-F05
    #[test]
    fn what_is_left_out_changes_no_fact(
        edits in prop::collection::vec(edit(), 1..5),
        edits_before in prop::collection::vec(edit(), 0..2),
    ) {
        for (path, templates, kind) in FILES {
            let tail = if path.ends_with(".java") { "}\n" } else { "" };
            let text = start_of(&File::of(templates, kind).before, 160, tail);
            let (before, path) = (edited(&text, &edits_before), path.parse().unwrap());
            let after = edited(&before, &edits);
            let is_test = kind == Kind::Test;
            let (narrow, narrow_legible, _) = told(&path, (&before, &after), is_test, false);
            let (whole, legible, _) = told(&path, (&before, &after), is_test, true);
            prop_assert_eq!(narrow, whole, "{}\n{}", path, after);
            prop_assert_eq!(narrow_legible, legible, "{}", path);
        }
    }
}

// proves E-F05
// break crates/domain/oracle/src/narrow/names.rs: `words(text).any(is_concerned)` -> `false`
#[test]
fn a_test_that_names_a_constant_that_changed_is_read() {
    let before = start_of(&File::of(PYTHON, Kind::Test).before, 160, "");
    let after = before.replace("TOLERANCE = 0.001", "TOLERANCE = 1000");
    let path: RepoPath = "tests/test_ledger.py".parse().unwrap();
    let (narrow, _, is_narrowed) = told(&path, (&before, &after), true, false);
    assert!(is_narrowed && !narrow.is_empty(), "{narrow:?}");
    assert_eq!(narrow, told(&path, (&before, &after), true, true).0);
}

#[test]
fn most_of_a_large_file_is_left_out() {
    for (path, templates, kind) in FILES {
        let file = File::of(templates, kind);
        let path: RepoPath = path.parse().unwrap();
        let sides = (file.before.as_str(), file.after.as_str());
        let (narrow, _, is_narrowed) = told(&path, sides, kind == Kind::Test, false);
        let (whole, ..) = told(&path, sides, kind == Kind::Test, true);
        assert!(is_narrowed, "{path}");
        assert_eq!(narrow, whole, "{path}");
    }
}

/// How long the texts are that are parsed for the facts of a patch.
fn parsed(path: &str, before: &str, after: &str) -> Vec<usize> {
    let path: RepoPath = path.parse().unwrap();
    let tests = PathSet(vec![PathPattern::new("**/*est*").unwrap(), PathPattern::new("tests/**").unwrap()]);
    let guard = Guard { tests, ..Guard::default() };
    let change = FileChange { path: &path, before: Some(before.as_bytes()), after: Some(after.as_bytes()) };
    PARSED.take();
    let _ = crate::facts(&[change], &guard);
    PARSED.take()
}

// proves E-F05
// break crates/domain/oracle/src/narrow/mod.rs: `bytes * WORTH_IT.1 < after.len() * WORTH_IT.0` -> `true`
#[test]
fn each_side_is_parsed_once_and_of_a_large_file_little_more_than_what_changed() {
    for (path, templates, kind) in FILES {
        let file = File::of(templates, kind);
        let lengths = parsed(path, &file.before, &file.after);
        assert_eq!(lengths.first(), Some(&file.after.len()), "{path}: {lengths:?}");
        assert_eq!(lengths.len(), 3, "{path}: {lengths:?}");
        assert!(lengths.iter().sum::<usize>() < file.after.len() * 11 / 5, "{path}: {lengths:?}");
        // Where all has changed there is nothing to leave out.
        // What a grammar of JavaScript cannot read is read by another.
        let other = if path.ends_with("js") || path.ends_with("ts") {
            file.before.replace("const", "let")
        } else {
            file.before.replace(['1', '2', '3', '4', '5', '6', '7', '8', '9'], "0").replace('e', "o")
        };
        assert_eq!(parsed(path, &other, &file.after).len(), 2, "{path}");
    }
}
