//! What facts cost beside one parse: the facts of a patch of 200 lines of a file of 2,000, or one parse of the file after it.
//!
//! `cost LANGUAGE test|source parse|facts` answers as an arm of `cargo xtask bench oracle-facts`; `docs/benchmarks.md` tells
//! the protocol.
#![expect(clippy::disallowed_types, clippy::disallowed_methods, reason = "what takes time is measured")]

mod file;

use std::error::Error;
use std::hint::black_box;
use std::io::{BufRead as _, Write as _};
use std::time::{Duration, Instant};

use ambit_ids::{PathPattern, PathSet, RepoPath};
use ambit_oracle::{FileChange, Guard};
use file::{File, Kind};
use tree_sitter::{Language, Parser};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let [language, kind, arm] = words[..] else {
        return Err("usage: cost LANGUAGE test|source parse|facts".into());
    };
    let kind = if kind == "test" { Kind::Test } else { Kind::Source };
    let (templates, path, grammar) = of_language(language, kind).ok_or("that language is not measured")?;
    let file = File::of(templates, kind);
    let counts = format!("lines={} patchLines={}", file.after.lines().count(), file.patch_lines);
    if arm == "parse" {
        return answer(&counts, || parse(&grammar, &file.after));
    }
    let path: RepoPath = path.parse()?;
    let guard = Guard {
        tests: PathSet(vec![PathPattern::new("tests/**")?]),
        scope: PathSet(vec![PathPattern::new("**")?]),
        ..Guard::default()
    };
    answer(&counts, || facts(&path, &file, &guard))
}

/// The templates of the files of a language, the path of such a file, and what parses it.
fn of_language(name: &str, kind: Kind) -> Option<(&'static str, &'static str, Language)> {
    let (templates, tests, source, grammar) = match name {
        "python" => {
            let grammar = tree_sitter_python::LANGUAGE;
            (include_str!("python.txt"), "tests/test_ledger.py", "shop/ledger.py", grammar)
        }
        "javascript" => {
            let grammar = tree_sitter_javascript::LANGUAGE;
            (include_str!("javascript.txt"), "tests/basket.test.js", "src/basket.js", grammar)
        }
        "typescript" => {
            let grammar = tree_sitter_typescript::LANGUAGE_TYPESCRIPT;
            (include_str!("typescript.txt"), "tests/basket.test.ts", "src/basket.ts", grammar)
        }
        "rust" => (include_str!("rust.txt"), "tests/ledger.rs", "src/ledger.rs", tree_sitter_rust::LANGUAGE),
        "go" => {
            (include_str!("go.txt"), "tests/ledger_test.go", "ledger/ledger.go", tree_sitter_go::LANGUAGE)
        }
        "java" => {
            let grammar = tree_sitter_java::LANGUAGE;
            (include_str!("java.txt"), "tests/LedgerTest.java", "src/shop/Ledger.java", grammar)
        }
        _ => return None,
    };
    Some((templates, if kind == Kind::Test { tests } else { source }, grammar.into()))
}

/// Parses once, with a parser that is made for it.
fn parse(grammar: &Language, text: &str) -> Result<Duration, Box<dyn Error>> {
    let started = Instant::now();
    let mut parser = Parser::new();
    parser.set_language(grammar)?;
    let tree = parser.parse(text, None).ok_or("there is no tree")?;
    let took = started.elapsed();
    if tree.root_node().has_error() { Err("what is measured is not well written".into()) } else { Ok(took) }
}

fn facts(path: &RepoPath, file: &File, guard: &Guard) -> Result<Duration, Box<dyn Error>> {
    let change =
        FileChange { path, before: Some(file.before.as_bytes()), after: Some(file.after.as_bytes()) };
    let started = Instant::now();
    let facts = black_box(ambit_oracle::facts(black_box(&[change]), guard));
    let took = started.elapsed();
    let unread = facts.iter().find(|fact| fact.kind().as_str() == "unclassified");
    match unread {
        Some(fact) => Err(fact.to_string().into()),
        None => Ok(took),
    }
}

/// Performs once for each line of the input.
fn answer(
    counts: &str,
    mut perform: impl FnMut() -> Result<Duration, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "ready")?;
    out.flush()?;
    for question in std::io::stdin().lock().lines() {
        if question? != "op" {
            return Err("an arm is asked to operate and nothing else".into());
        }
        writeln!(out, "{} {counts}", perform()?.as_nanos())?;
        out.flush()?;
    }
    Ok(())
}
