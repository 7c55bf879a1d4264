//! The table of rows, and what is wrong with it.

use std::collections::BTreeMap;

use super::proofs::{Collected, Proof};
use super::rows::{Row, Rows};
use crate::Verdict;

/// How a row stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Standing {
    Proven,
    /// Later work, of which tests prove something already.
    InPart,
    Later,
    Unproven,
    /// A test proves it that records no break: nobody knows that it can fail.
    Unbroken,
}

impl Standing {
    fn of(row: &Row, proofs: &[&Proof]) -> Self {
        match (&row.later, proofs) {
            (None, []) => Self::Unproven,
            (Some(_), []) => Self::Later,
            (_, proofs) if proofs.iter().any(|proof| proof.breaks.is_empty()) => Self::Unbroken,
            (None, _) => Self::Proven,
            (Some(_), _) => Self::InPart,
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

    const fn is_sound(self) -> bool {
        matches!(self, Self::Proven | Self::InPart | Self::Later)
    }
}

pub(super) fn print(rows: &Rows, collected: &Collected) -> Verdict {
    let mut counts: BTreeMap<Standing, usize> = BTreeMap::new();
    for (name, row) in rows.iter() {
        let proofs = proofs_of(name, collected);
        let standing = Standing::of(row, &proofs);
        *counts.entry(standing).or_default() += 1;
        println!("{name:<7}{:<10}{}", standing.as_str(), row.says);
        if let Some(later) = &row.later {
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
        let standing = Standing::of(row, &proofs_of(name, collected));
        if !standing.is_sound() && standing != Standing::Unbroken {
            found.push(format!("{}: no test proves {name}", super::rows::FILE));
        }
    }
    found
}

fn proofs_of<'a>(row: &str, collected: &'a Collected) -> Vec<&'a Proof> {
    collected.proofs.iter().filter(|proof| proof.rows.iter().any(|it| it == row)).collect()
}
