//! `cargo xtask check`: the rules that a machine can hold.

mod breaks;
mod edge_list;
mod edges;
mod finding;
mod ignored;
mod outside_list;
mod pins;
mod port_traits;
mod ratchet;
mod threats;
mod tools;
mod word_list;
mod words;

use crate::failure::Failure;
use crate::verdict::Verdict;
use crate::workspace::Workspace;
use finding::Answer;

struct Rule {
    name: &'static str,
    /// Whether it is a matter of seconds: those run with the tests too.
    cheap: bool,
    ask: fn(&Workspace) -> Result<Answer, Failure>,
}

const RULES: &[Rule] = &[
    Rule {
        name: "edges",
        cheap: true,
        ask: |workspace| Ok(Answer::Found(edges::findings(&workspace.packages))),
    },
    Rule { name: "pins", cheap: true, ask: |workspace| pins::findings(workspace).map(Answer::Found) },
    Rule { name: "ratchet", cheap: true, ask: |workspace| ratchet::findings(workspace).map(Answer::Found) },
    Rule { name: "words", cheap: true, ask: |workspace| Ok(Answer::Found(words::findings(workspace))) },
    Rule {
        name: "port-traits",
        cheap: true,
        ask: |workspace| Ok(Answer::Found(port_traits::findings(workspace))),
    },
    Rule { name: "ignored", cheap: true, ask: |workspace| Ok(Answer::Found(ignored::findings(workspace))) },
    Rule { name: "breaks", cheap: true, ask: |workspace| Ok(Answer::Found(breaks::findings(workspace))) },
    Rule { name: "threats", cheap: true, ask: |workspace| Ok(Answer::Found(threats::findings(workspace))) },
    Rule { name: "lock", cheap: true, ask: tools::lock },
    Rule { name: "format", cheap: true, ask: tools::format },
    Rule { name: "deny", cheap: true, ask: tools::deny },
    Rule { name: "clippy", cheap: false, ask: tools::clippy },
];

pub(crate) fn run(words: &[String]) -> Result<Verdict, Failure> {
    let unknown = words.iter().find(|word| RULES.iter().all(|rule| rule.name != **word));
    if let Some(word) = unknown {
        let names: Vec<_> = RULES.iter().map(|rule| rule.name).collect();
        return Err(Failure::new(format!("there is no rule {word:?}; the rules are {}", names.join(", "))));
    }
    let chosen = RULES.iter().filter(|rule| words.is_empty() || words.iter().any(|word| word == rule.name));
    ask(&Workspace::open()?, chosen)
}

/// The rules that take seconds.
pub(crate) fn run_cheap(workspace: &Workspace) -> Result<Verdict, Failure> {
    ask(workspace, RULES.iter().filter(|rule| rule.cheap))
}

fn ask<'a>(workspace: &Workspace, rules: impl Iterator<Item = &'a Rule>) -> Result<Verdict, Failure> {
    let mut verdict = Verdict::Green;
    for rule in rules {
        match (rule.ask)(workspace)? {
            Answer::Skipped(why) => println!("check {}: skipped, {why}", rule.name),
            Answer::Found(findings) if findings.is_empty() => println!("check {}: ok", rule.name),
            Answer::Found(findings) => {
                println!("check {}: {} found", rule.name, findings.len());
                findings.iter().for_each(|finding| println!("  {finding}"));
                verdict = Verdict::Red;
            }
        }
    }
    Ok(verdict)
}
