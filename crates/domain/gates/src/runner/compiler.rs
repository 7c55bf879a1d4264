//! What compilers say: rustc, gcc and clang, javac, tsc, and whoever writes `path:line: error: message`.

use std::collections::BTreeSet;

use crate::Place;
use crate::failure::{Failure, Report};
use crate::place::{place, split_position, workspace_path};

pub(crate) fn read(lines: &[String]) -> Report {
    let mut report = Report::default();
    // Several targets of one package repeat the same diagnostic.
    let mut seen = BTreeSet::new();
    for (at, line) in lines.iter().enumerate() {
        if report.is_full() {
            break;
        }
        let failure = rustc(line, &lines[at + 1..])
            .or_else(|| positioned(line))
            .or_else(|| parenthesised(line))
            .or_else(|| linker(line));
        if let Some(failure) = failure
            && seen.insert(failure.clone())
        {
            report.push(failure);
        }
    }
    report
}

/// `error[E0308]: mismatched types`, and within the next lines ` --> src/lib.rs:2:32`.
fn rustc(line: &str, below: &[String]) -> Option<Failure> {
    let rest = line.strip_prefix("error")?;
    let (code, message) = match rest.strip_prefix('[') {
        Some(coded) => coded.split_once("]: ")?,
        None => ("error", rest.strip_prefix(": ")?),
    };
    let arrow = below.iter().take(3).find_map(|line| line.trim_start().strip_prefix("--> "));
    let linking = message.starts_with("linking with ");
    (arrow.is_some() || linking)
        .then(|| Failure::new(None, code, message, arrow.and_then(|position| place(position, None))))
}

/// `a.c:1:32: error: message` and `a.ts:1:7 - error TS2322: message`.
fn positioned(line: &str) -> Option<Failure> {
    let (path, number, rest) = split_position(line)?;
    let rest = rest.strip_prefix(':').or_else(|| rest.strip_prefix(" -"))?.trim_start();
    let rest = rest.strip_prefix("fatal ").unwrap_or(rest).strip_prefix("error")?;
    at(path, Some(number), rest)
}

/// `a.ts(1,7): error TS2322: message`.
fn parenthesised(line: &str) -> Option<Failure> {
    let (position, rest) = line.split_once("): error")?;
    let (path, numbers) = position.rsplit_once('(')?;
    at(path, numbers.split(',').next()?.parse().ok(), rest)
}

/// `rest` is what follows the word `error`: `: message [code]` or ` TS2322: message`.
fn at(path: &str, line: Option<u32>, rest: &str) -> Option<Failure> {
    let (code, message) = rest.split_once(": ")?;
    let code = code.trim();
    let trailing = message.rsplit_once(" [").and_then(|(_, code)| code.strip_suffix(']'));
    let code = if code.is_empty() { trailing.unwrap_or("error") } else { code };
    let place = workspace_path(path).map(|path| Place { path, line, function: None });
    Some(Failure::new(None, code, message, place))
}

/// ``/usr/bin/ld: b.c:(.text+0x5): undefined reference to `foo'``.
fn linker(line: &str) -> Option<Failure> {
    let at = line.find("undefined reference to ").or_else(|| line.find("multiple definition of "))?;
    Some(Failure::new(None, "link error", &line[at..], None))
}
