//! Configuration is written by whoever wants to confuse its reader.

use ambit_oracle::FileChange;
use ambit_policy::FactKind::{self, Unclassified};
use proptest::prelude::*;
use proptest::sample::select;

use crate::config::{KINDS, about};
use crate::{guard, path};

const NAMES: [&str; 24] = [
    "pyproject.toml",
    "setup.cfg",
    "tox.ini",
    "requirements.txt",
    "package.json",
    "tsconfig.json",
    ".eslintrc",
    ".mocharc.yml",
    "package-lock.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "poetry.lock",
    "Cargo.lock",
    "Cargo.toml",
    ".cargo/config.toml",
    "go.mod",
    "go.sum",
    ".golangci.yml",
    "Makefile",
    ".github/workflows/a.yml",
    ".github/CODEOWNERS",
    "jest.config.js",
    "pom.xml",
    "config/auth.yaml",
];

const PIECES: [&str; 48] = [
    "\n",
    " ",
    "\t",
    "  ",
    "- ",
    ": ",
    "=",
    "[",
    "]",
    "[[",
    "]]",
    "{",
    "}",
    ",",
    "\"",
    "'",
    "#",
    "//",
    "/*",
    "*/",
    "\\",
    "&a ",
    "*a",
    "<<: ",
    "---\n",
    "| ",
    "&&",
    "||",
    "true",
    "false",
    "é",
    "\u{feff}",
    "\r\n",
    "tool",
    "pytest",
    "addopts",
    "-k x",
    "package",
    "name",
    "version",
    "\"scripts\":",
    "\"test\":",
    "jobs:\n",
    "run: pytest",
    "test:\n\t",
    "$(A)",
    "A = $(A)",
    "==1",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_pieces_give_facts_or_none(
        name in select(&NAMES[..]),
        before in prop::collection::vec(select(&PIECES[..]), 0..50),
        after in prop::collection::vec(select(&PIECES[..]), 0..50),
    ) {
        let (before, after) = (before.concat(), after.concat());
        let found = about(&[(name, Some(&before), Some(&after))]);
        prop_assert!(found.iter().all(|fact| KINDS.contains(&fact.kind())));
        let lines = before.lines().count().max(after.lines().count()) + 1;
        for place in found.iter().filter_map(|fact| fact.weakening()) {
            prop_assert!(usize::try_from(place.line).unwrap() <= lines, "{place:?}");
        }
        let same = about(&[(name, Some(&after), Some(&after))]);
        prop_assert!(same.iter().all(|fact| fact.kind() == Unclassified), "{same:?}");
    }

    #[test]
    fn any_bytes_give_facts_or_none(
        name in select(&NAMES[..]),
        before in prop::option::of(prop::collection::vec(any::<u8>(), 0..200)),
        after in prop::option::of(prop::collection::vec(any::<u8>(), 0..200)),
    ) {
        let path = path(name);
        let change = FileChange { path: &path, before: before.as_deref(), after: after.as_deref() };
        let _ = ambit_oracle::facts(&[change], &guard());
    }
}

fn kinds(name: &str, before: &str, after: &str) -> Vec<FactKind> {
    about(&[(name, Some(before), Some(after))]).iter().map(ambit_policy::Fact::kind).collect()
}

// proves E-F05
// break crates/domain/oracle/src/config/read/json.rs: `return Err(Unreadable::Twice);` -> `continue;`
#[test]
fn what_cannot_be_told_is_unclassified_where_a_check_reads_it() {
    for (name, before, after) in [
        (".mocharc.json", "{}", "{\"spec\": \"a\", \"spec\": \"b\"}"),
        (".mocharc.json", "{}", "{\"spec\": "),
        (".golangci.yml", "a: 1\n", "a: 1\na: 2\n"),
        (".golangci.yml", "a: 1\n", "a: [\n"),
        ("pytest.ini", "[pytest]\n", "[pytest]\naddopts = -ra\naddopts = -k x\n"),
        ("ruff.toml", "a = 1\n", "a = 1\na = 2\n"),
    ] {
        assert_eq!(kinds(name, before, after), [Unclassified], "{name}: {after}");
    }
    assert_eq!(kinds("docs/data.json", "{}", "{\"a\": "), [], "nobody's gate");
    assert_eq!(kinds("tests/fixtures/package.yml", "a: 1\n", "a: [\n"), []);
}

#[test]
fn what_is_deep_or_grows_by_itself_is_refused_before_it_costs_anything() {
    let bomb: String = (0..40)
        .map(|at| {
            format!(
                "a{at}: &a{at} [{}]\n",
                if at == 0 { "x".to_owned() } else { format!("*a{0},*a{0},*a{0},*a{0}", at - 1) }
            )
        })
        .collect();
    for (name, after) in [
        (".golangci.yml", bomb),
        (".golangci.yml", "[".repeat(100_000)),
        (".golangci.yml", "- ".repeat(100_000)),
        (".mocharc.json", "[".repeat(100_000)),
        (".mocharc.json", "{\"a\":".repeat(100_000)),
        ("ruff.toml", format!("a = {}", "[".repeat(100_000))),
        ("ruff.toml", format!("{}a = 1", "a.".repeat(100_000))),
        ("ruff.toml", format!("x = {{ {}a = 1 }}", "a.".repeat(100_000))),
        ("ruff.toml", format!("[{}a]", "a.".repeat(100_000))),
        ("ruff.toml", format!("[{}a]", "\"b\".".repeat(100_000))),
    ] {
        assert_eq!(kinds(name, "", &after), [Unclassified], "{name}: {}", &after[..20]);
    }
    let long = "A = $(B)$(B)$(B)$(B)\nB = $(A)$(A)$(A)$(A)\ntest:\n\t$(A)\n";
    assert_eq!(kinds("Makefile", "", long), []);
    for (name, piece) in [
        ("Makefile", "a:\n"),
        ("tox.ini", "[a]\nb=1\n"),
        ("yarn.lock", "a@1:\n  version \"1\"\n"),
        ("package.json", "{"),
    ] {
        let _ = kinds(name, "", &piece.repeat(50_000 / piece.len()));
    }
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_say_nothing() {
    let plain = "[tool.pytest.ini_options]\naddopts = '-ra'\n";
    let marked = format!("\u{feff}{}", plain.replace('\n', "\r\n"));
    assert_eq!(kinds("pyproject.toml", plain, &marked), []);
    assert_eq!(kinds("pyproject.toml", plain, &marked.replace("-ra", "-ra -k x")), [FactKind::RunnerChanged]);
}
