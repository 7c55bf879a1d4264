//! `cargo xtask requirements`: which tests prove which rows, and whether they can fail.

mod list;
pub(crate) mod proofs;
mod replay;
mod rows;
mod run_of_test;
mod scratch;

use std::time::Instant;

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::seeded::{Seeded, fresh_seed};
use crate::verdict::Verdict;
use crate::workspace::Workspace;
use proofs::{Case, Collected};
use rows::{Due, Rows};

pub(crate) fn run(words: &[String]) -> Result<Verdict, Failure> {
    let mut arguments = Arguments::new(words);
    let seed = arguments.number("--seed")?.unwrap_or_else(fresh_seed);
    let sampled = arguments.number("--replay")?;
    let row = arguments.value("--row")?;
    let all = arguments.flag("--replay-all");
    let listed = arguments.flag("--list");
    arguments.rest()?;
    if [sampled.is_some(), row.is_some(), all, listed].into_iter().filter(|asked| *asked).count() > 1 {
        return Err(Failure::new("--list, --replay, --replay-all and --row exclude each other"));
    }

    let workspace = Workspace::open()?;
    let rows = Rows::of(&workspace)?;
    let collected = proofs::collect(&workspace);
    if let Some(row) = row {
        return one_row(&workspace, &rows, &collected, &row);
    }
    if all {
        return replay::run(&workspace, collected.cases(), None);
    }
    match sampled {
        Some(count) => sample(&workspace, &collected, count, seed, None),
        None => Ok(list::print(&rows, &collected)),
    }
}

/// Replays `count` breaks that the seed chooses; after `deadline` no further one is begun.
pub(crate) fn replay_sample(
    workspace: &Workspace,
    count: u64,
    seed: u64,
    deadline: Instant,
) -> Result<Verdict, Failure> {
    sample(workspace, &proofs::collect(workspace), count, seed, Some(deadline))
}

fn sample(
    workspace: &Workspace,
    collected: &Collected,
    count: u64,
    seed: u64,
    deadline: Option<Instant>,
) -> Result<Verdict, Failure> {
    let cases = collected.cases();
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    println!("breaks: {} of {} with --seed {seed}", count.min(cases.len()), cases.len());
    replay::run(workspace, Seeded::new(seed).sample(cases, count), deadline)
}

fn one_row(workspace: &Workspace, rows: &Rows, collected: &Collected, row: &str) -> Result<Verdict, Failure> {
    let Some(found) = rows.get(row) else {
        return Err(Failure::new(format!("there is no row {row:?} in {}", rows::FILE)));
    };
    println!("{row}: {}", found.says);
    if let Due::ButFor(later) | Due::Later(later) = &found.due {
        println!("later: {later}");
    }
    let cases: Vec<Case> =
        collected.cases().into_iter().filter(|case| case.rows.iter().any(|it| it == row)).collect();
    replay::run(workspace, cases, None)
}
