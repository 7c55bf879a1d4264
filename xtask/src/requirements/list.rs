//! The table of rows, and what is wrong with it.

use std::collections::BTreeMap;

use super::proofs::{Collected, Proof};
use super::rows::{Due, Row, Rows};
use crate::verdict::Verdict;

/// How a row stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Standing {
    Proven,
    /// Tests prove some of it, and the rest belongs to later work.
    InPart,
    Later,
    Unproven,
    /// A test proves it that records no break: nobody knows that it can fail.
    Unbroken,
}

impl Standing {
    fn of(row: &Row, proofs: &[&Proof]) -> Self {
        match (&row.due, proofs) {
            (Due::Later(_), []) => Self::Later,
            (Due::Now | Due::ButFor(_), []) => Self::Unproven,
            (_, proofs) if proofs.iter().any(|proof| proof.breaks.is_empty()) => Self::Unbroken,
            (Due::Now, _) => Self::Proven,
            (Due::ButFor(_) | Due::Later(_), _) => Self::InPart,
        }
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::InPart => "in part",
            Self::Later => "later",
            Self::Unproven => "UNPROVEN",
            Self::Unbroken => "NO BREAK",
        }
    }
}

pub(super) fn print(rows: &Rows, collected: &Collected) -> Verdict {
    let mut counts: BTreeMap<Standing, usize> = BTreeMap::new();
    for (name, row) in rows.iter() {
        let proofs = proofs_of(name, collected);
        let standing = Standing::of(row, &proofs);
        *counts.entry(standing).or_default() += 1;
        println!("{name:<7}{:<10}{}", standing.as_str(), row.says);
        if let Due::ButFor(later) | Due::Later(later) = &row.due {
            println!("{:17}later: {later}", "");
        }
        for proof in proofs {
            let breaks = if proof.breaks.is_empty() { "no break" } else { "break recorded" };
            println!("{:17}{} {} ({breaks})", "", proof.test.package, proof.test.name);
        }
    }
    let problems = problems(rows, collected);
    problems.iter().for_each(|problem| println!("{problem}"));
    let counted: Vec<String> =
        counts.iter().map(|(standing, count)| format!("{count} {}", standing.as_str())).collect();
    println!("rows: {}", counted.join(", "));
    Verdict::green_if(problems.is_empty())
}

/// Why the list is not what it should be, a line each.
fn problems(rows: &Rows, collected: &Collected) -> Vec<String> {
    let mut found: Vec<String> =
        collected.misread.iter().map(|it| format!("{}:{}: {}", it.path, it.line, it.says)).collect();
    for proof in &collected.proofs {
        for row in proof.rows.iter().filter(|row| rows.get(row).is_none()) {
            found.push(format!("{}:{}: there is no row {row}", proof.path, proof.line));
        }
        if proof.breaks.is_empty() {
            found.push(format!("{}:{}: {} records no break", proof.path, proof.line, proof.test.name));
        }
    }
    for (name, row) in rows.iter() {
        if Standing::of(row, &proofs_of(name, collected)) == Standing::Unproven {
            found.push(format!("{}: no test proves {name}", super::rows::FILE));
        }
    }
    found
}

fn proofs_of<'a>(row: &str, collected: &'a Collected) -> Vec<&'a Proof> {
    collected.proofs.iter().filter(|proof| proof.rows.iter().any(|it| it == row)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::proofs::collect;
    use super::*;
    use crate::metadata::{Package, Target};
    use crate::workspace::tests::of;

    const ROWS: &str =
        "[D1]\nsays = \"a\"\n[D2]\nsays = \"b\"\nlater = \"x\"\n[D3]\nsays = \"c\"\nrest = \"y\"";

    /// What is wrong with [`ROWS`] where these comments stand above a test.
    fn wrong(comments: &[&str]) -> Vec<String> {
        let package = Package {
            name: "p".to_owned(),
            folder: "p".to_owned(),
            dependencies: Vec::new(),
            targets: vec![Target { name: "p".into(), kind: "lib".into(), source: "p/src/lib.rs".into() }],
        };
        let tests: String =
            comments.iter().map(|comment| format!("{comment}\n#[test]\nfn t() {{}}\n")).collect();
        let collected = collect(&of(&[("p/src/lib.rs", &tests)], vec![package]));
        problems(&Rows::parse(ROWS).unwrap(), &collected)
    }

    #[test]
    fn every_row_that_is_due_needs_a_test_and_every_such_test_a_break() {
        let with_break = |rows: &str| format!("// proves {rows}\n// break p/src/lib.rs: `t()` -> `u()`");
        assert_eq!(wrong(&[&with_break("D1 D3")]), Vec::<String>::new());
        assert_eq!(wrong(&[&with_break("D3")]), ["requirements/rows.toml: no test proves D1"]);
        assert_eq!(wrong(&[&with_break("D1")]), ["requirements/rows.toml: no test proves D3"]);
        assert_eq!(wrong(&[&with_break("D1 D3"), "// proves D2"]), ["p/src/lib.rs:5: t records no break"]);
        assert_eq!(wrong(&[&with_break("D1 D3 D4")]), ["p/src/lib.rs:1: there is no row D4"]);
    }
}
