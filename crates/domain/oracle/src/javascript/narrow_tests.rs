//! What somebody may write so that what changed is taken for what stands unchanged. Each is told as from the whole, beside the
//! same file in which nothing hides it.

use ambit_ids::RepoPath;

use super::{Trees, sides, whole_sides};
use crate::tree::PARSED;

const HEAD: &str = "import { it, expect, describe } from 'vitest';\nimport assert from 'node:assert';\n";

/// A test that asserts one thing.
fn unit(number: usize) -> String {
    format!(
        "it('adds up {number}', () => {{\n  const sum = add({number}, 1);\n  expect(sum).toBe({number} + 1);\n  assert.equal(add(1, {number}), '{number}');\n}});\n\n"
    )
}

/// A file of units with something in front of them, between them and behind them.
fn file(front: &str, middle: &str, end: &str) -> String {
    let units = |range: std::ops::Range<usize>| range.map(unit).collect::<String>();
    format!("{HEAD}{front}{}{middle}{}{end}", units(0..12), units(12..24))
}

/// The kinds that are told with their lines, and whether anything was left out.
fn told(path: &str, before: &str, after: &str, is_whole: bool) -> (Vec<String>, bool) {
    let path: RepoPath = path.parse().unwrap();
    let is_test = path.as_bytes().starts_with(b"tests/");
    PARSED.take();
    let found = if is_whole {
        whole_sides(&path, before, after, is_test)
    } else {
        sides(&path, before, after, is_test)
    };
    let lengths = PARSED.take();
    let is_narrowed = lengths.len() == 3 && lengths[1] < before.len();
    let facts = match found {
        Err(why) => vec![format!("{why:?}")],
        Ok(found) => {
            let mut trees = Trees::default();
            trees.add(found);
            trees.facts().iter().map(ToString::to_string).collect()
        }
    };
    (facts, is_narrowed)
}

/// Tells both ways alike, and returns what is told.
fn alike(before: &str, after: &str) -> (Vec<String>, bool) {
    let (narrow, is_narrowed) = told("tests/add.test.js", before, after, false);
    assert_eq!(narrow, told("tests/add.test.js", before, after, true).0, "{after}");
    (narrow, is_narrowed)
}

// proves E-F05
#[test]
fn what_is_weakened_beside_what_is_left_out_is_told() {
    let strict = "it('one', () => {\n  expect(add(1, 2)).toBe(3);\n});\n\n";
    for (was, is) in [
        (strict.to_owned(), strict.replace("toBe(3)", "toBeDefined()")),
        (strict.to_owned(), strict.replace("toBe(3)", "toBe(4)")),
        (strict.to_owned(), strict.replace("  expect(add(1, 2)).toBe(3);\n", "")),
        (strict.to_owned(), String::new()),
        (strict.to_owned(), strict.replace("it(", "it.skip(")),
        (unit(40), unit(40).replace("expect(sum)", "if (sum) expect(sum)")),
    ] {
        let (facts, _) = alike(&file("", &was, ""), &file("", &is, ""));
        assert!(!facts.is_empty(), "{is}");
    }
    let (facts, is_narrowed) =
        alike(&file("", strict, ""), &file("", &strict.replace("toBe(3)", "toBe(4)"), ""));
    assert!(is_narrowed && facts.len() == 1, "{facts:?}");
}

// proves E-F05
// break crates/domain/oracle/src/javascript/narrow.rs: `if names.0 != names.1 {` -> `if false {`
#[test]
fn what_changes_all_tests_from_afar_is_told() {
    let plain = file("", "", "");
    let strict = plain.replace("from 'node:assert'", "from 'node:assert/strict'");
    assert!(!alike(&strict, &plain).0.is_empty());
    assert!(!alike(&plain, &file("", "throw new Error();\n", "")).0.is_empty());
    assert!(!alike(&plain, &file("process.exit(0);\n", "", "")).0.is_empty());
    assert!(!alike(&plain, &file("", "if (true) { process.exit(0); }\n", "")).0.is_empty());
    // Nothing of it where the same stands in a function that is not called.
    assert!(alike(&plain, &file("", "const stop = () => { throw new Error(); };\n", "")).1);
}

// proves E-F05
// break crates/domain/oracle/src/javascript/narrow_names.rs: `is_quiet && said(&were) == said(&are)` -> `true`
#[test]
fn names_that_are_declared_elsewhere_are_looked_up_as_in_the_whole() {
    let user = |number: usize| {
        format!("it('limit {number}', () => {{\n  expect(limit({number})).toBe(most);\n}});\n\n")
    };
    let users: String = (0..24).map(user).collect();
    let with = |front: &str| format!("{HEAD}{front}{users}");
    let (was, is) =
        (with("const most = 10;\nit('x', () => {});\n"), with("const most = 1000;\nit('x', () => {});\n"));
    assert!(!alike(&was, &is).0.is_empty());
    // A list that is filled nowhere any more, a function that is called nowhere any more.
    let loops = "it('each', () => {\n  for (const row of rows) { expect(row).toBe(1); }\n});\n\n";
    let (was, is) =
        (file("const rows = [];\nrows.push(1);\n", loops, ""), file("const rows = [];\n\n", loops, ""));
    assert!(!alike(&was, &is).0.is_empty());
    let helped = "it('helped', () => {\n  function check(it) { expect(it).toBe(1); }\n});\n\n";
    let (was, is) = (file("check(1);\n", helped, ""), file("\n", helped, ""));
    alike(&was, &is);
    // The value stands in a test that is left out where nobody asks for it.
    let holder = "it('holds', () => {\n  const wanted = 5;\n  expect(add(2, 3)).toBe(wanted);\n});\n\n";
    let asks = |what: &str| format!("it('asks', () => {{\n  expect(add(1, 4)).toBe({what});\n}});\n\n");
    let (was, is) = (file(holder, &asks("wanted"), ""), file(holder, &asks("5"), ""));
    assert!(alike(&was, &is).0.is_empty());
}

// proves E-F05
// break crates/domain/oracle/src/javascript/narrow.rs: `|| shares_a_title(&titles, &found_after)` -> ``
#[test]
fn a_test_that_takes_the_title_of_one_that_is_left_out_is_told() {
    let other = "it('adds up 3', () => {});\n\n";
    for place in [("", other, ""), (other, "", ""), ("", "", other)] {
        assert!(!alike(&file("", "", ""), &file(place.0, place.1, place.2)).0.is_empty());
    }
    let (facts, is_narrowed) = alike(&file("", "", ""), &file("", "it('adds up 93', () => {});\n\n", ""));
    assert!(is_narrowed && facts.is_empty(), "{facts:?}");
}

// proves E-F05
#[test]
fn what_only_looks_as_if_it_stood_unchanged_is_read() {
    let (plain, tail) = (file("", "", ""), "\n");
    for (open, close) in [
        ("/*\n", "*/\n"),
        ("const dead = `\n", "`;\n"),
        ("const dead = `${`\n", "`}`;\n"),
        ("const dead = `${{\n", "}}`;\n"),
        ("function never() {\n", "}\n"),
        ("if (false) {\n", "}\n"),
        ("const never = () => {\n", "};\n"),
        ("describe.skip('all', () => {\n", "});\n"),
        ("describe('all', () => {\n", "});\n"),
        ("(() => {\n", "});\n"),
        ("class Never { static {\n", "} }\n"),
        ("never: {\n", "}\n"),
        ("const re = /[`/*]/;\nif (0) {\n", "}\n"),
        ("const text = '\\'{';\nif (0) {\n", "}\n"),
        ("const text = '\\u007b';\nif (0) {\n", "}\n"),
        ("// \\u000a {\nif (0) {\n", "}\n"),
        ("const dead = <div>{`\n", "`}</div>;\n"),
        ("let\n", ""),
        ("if (0)\n", ""),
        ("never =>\n", ""),
        ("const never = () =>\n", ""),
        ("{\n", ""),
        ("`\n", ""),
        ("/*\n", ""),
        ("}\n", "{\n"),
    ] {
        alike(&plain, &file(open, "", close));
        alike(&plain, &file("", open, close));
        alike(&plain, &file("", open, &format!("{close}{tail}")));
        let crlf = |text: &str| text.replace('\n', "\r\n");
        alike(&crlf(&plain), &crlf(&file("", open, close)));
        alike(&file("", open, close), &plain);
    }
    // They hide something: it is told, and the same words that hide nothing are not.
    assert!(!alike(&plain, &file("", "/*\n", "*/\n")).0.is_empty());
    assert!(!alike(&plain, &file("", "const dead = `\n", "`;\n")).0.is_empty());
    assert!(!alike(&plain, &file("if (false) {\n", "", "}\n")).0.is_empty());
    let (facts, is_narrowed) = alike(&plain, &file("", "/* */ const text = `${'}'}`;\n", ""));
    assert!(is_narrowed && facts.is_empty(), "{facts:?}");
}

// proves E-F05
// break crates/domain/oracle/src/javascript/narrow.rs: `return holds(shown(&before.detections), shown(&after.detections))` -> `return true || holds(shown(&before.detections), shown(&after.detections))`
#[test]
fn source_is_told_as_from_the_whole() {
    let unit = |number: usize| {
        format!(
            "export function list{number}(tenantId) {{\n  return db.select('x').where({{ tenantId, id: {number} }});\n}}\n\n"
        )
    };
    let units: String = (0..24).map(unit).collect();
    let check = |before: &str, after: &str| {
        let narrow = told("src/add.js", before, after, false);
        assert_eq!(narrow.0, told("src/add.js", before, after, true).0, "{after}");
        narrow
    };
    let asks = "export const asks = () => {\n  if (process.env.VITEST) return 1;\n};\n";
    assert!(!check(&units, &format!("{units}{asks}")).0.is_empty());
    assert!(!check(&units, &units.replace("{ tenantId, id: 7 }", "{ id: 7 }")).0.is_empty());
    let (facts, is_narrowed) = check(&units, &units.replace("id: 7", "id: 70"));
    assert!(is_narrowed && facts.is_empty(), "{facts:?}");
    check(&format!("{asks}{units}"), &format!("{asks}{units}{asks}"));
    check(&format!("{units}{asks}"), &format!("{asks}{units}{asks}"));
}
