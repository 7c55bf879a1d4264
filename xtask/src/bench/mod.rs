//! `cargo xtask bench`: operations measured beside their physical limit and beside what one would take instead.
//!
//! No time is worth anything alone: arms take turns within one run, and what is told is the ratio between them.

mod arm;
mod containers;
mod counting;
mod ground;
mod isolation;
mod noise;
mod operations;
mod oracle;
mod page;
mod peers;
mod policy;
mod report;
mod repository;
mod rounds;
mod sandbox;
mod setup;
mod source;
mod statistics;

use std::fs;
use std::path::PathBuf;

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::seeded::fresh_seed;
use crate::verdict::Verdict;
use crate::workspace::Workspace;
use ground::Ground;
use operations::{Operation, operations};

pub(crate) fn run(words: &[String]) -> Result<Verdict, Failure> {
    let mut arguments = Arguments::new(words);
    if let Some(arm) = arguments.value("--answer")? {
        let mut place = |name| Ok::<_, Failure>(arguments.value(name)?.map(PathBuf::from));
        let (image, tree, program) = (place("--image")?, place("--tree")?, place("--program")?);
        arguments.rest()?;
        let start = match tree {
            Some(tree) => repository::answer(&arm, &tree, program.as_deref())?,
            None => peers::start(&arm, image.as_deref())?,
        };
        return arm::answer(start).map(|()| Verdict::Green);
    }
    let rounds = arguments.number("--rounds")?;
    let seed = arguments.number("--seed")?.unwrap_or_else(fresh_seed);
    let update = arguments.flag("--update");
    let chosen = choose(&arguments.names()?)?;

    let workspace = Workspace::open()?;
    let ground = Ground::of(&workspace)?;
    if chosen.iter().any(|operation| is_of_group(operation, SANDBOX)) {
        setup::install(&ground)?;
    }
    let mut sections = Vec::new();
    let mut verdict = Verdict::Green;
    for operation in chosen {
        let count = rounds.and_then(|count| usize::try_from(count).ok()).unwrap_or(operation.rounds);
        let measured = rounds::measure(operation, &ground, count)?;
        let outcome = report::Outcome::of(operation, &measured, seed);
        println!("{}", outcome.table());
        sections.push((operation.name, outcome.markdown()));
        let path = ground.folder.join(format!("{}.json", operation.name));
        fs::write(&path, format!("{:#}\n", outcome.json())).map_err(Failure::at("write", &path))?;
        verdict = verdict.and(Verdict::green_if(outcome.is_conclusive()));
    }
    if update {
        let order: Vec<_> = operations().map(|operation| operation.name).collect();
        page::rewrite(&workspace.root.join("docs/benchmarks.md"), &order, &sections)?;
    }
    Ok(verdict)
}

/// The name that stands for all operations on sandboxes.
const SANDBOX: &str = "sandbox";

fn is_of_group(operation: &Operation, group: &str) -> bool {
    operation.name.strip_prefix(group).is_some_and(|rest| rest.starts_with('-'))
}

fn choose(names: &[String]) -> Result<Vec<&'static Operation>, Failure> {
    let names_it = |name: &String, operation: &Operation| {
        operation.name == name.as_str() || (name == SANDBOX && is_of_group(operation, SANDBOX))
    };
    if let Some(unknown) = names.iter().find(|name| !operations().any(|operation| names_it(name, operation)))
    {
        let known: Vec<_> = operations().map(|operation| operation.name).collect();
        return Err(Failure::new(format!(
            "there is no operation {unknown:?}; there are {}",
            known.join(", ")
        )));
    }
    let wanted =
        |operation: &&Operation| names.is_empty() || names.iter().any(|name| names_it(name, operation));
    Ok(operations().filter(wanted).collect())
}
