//! Scripts and recipes that gates are made of.

use std::collections::BTreeSet;

use ambit_policy::FactKind;

use super::compare::{Command, Document, commands, compare_commands};
use super::node::Node;
use super::told::{Spot, Told};

/// How names of scripts start that are checks.
const SCRIPTS: [&str; 11] = [
    "test",
    "pretest",
    "posttest",
    "lint",
    "check",
    "typecheck",
    "type-check",
    "coverage",
    "ci",
    "verify",
    "types",
];
/// Words that the names of targets hold which are checks.
const TARGETS: [&str; 6] = ["test", "check", "lint", "verify", "ci", "cover"];
/// Programs that may change what a check sees before it is run.
const MEDDLING: [&str; 6] = ["sed ", "mv ", "node -e", "python -c", "git checkout", "git stash"];

/// The scripts of a `package.json`: those that are checks and those that these call.
pub(super) fn package(document: &Document<'_>, told: &mut Told) {
    let scripts = |node: &Node| -> Vec<(String, Vec<Command>)> {
        let scripts = node.get("scripts").map(Node::entries).unwrap_or_default();
        scripts.iter().map(|(name, node)| (name.clone(), commands(node))).collect()
    };
    let (was, is) = (scripts(&document.before), scripts(&document.after));
    let starts = |name: &str| SCRIPTS.iter().any(|start| name.starts_with(start)) && !is_a_fixer(name);
    let named = reached(&was, starts, |command| called_scripts(command, &was));
    // A script that calls another one is as long as what both do.
    let flat = |side: &[(String, Vec<Command>)], name: &str| inlined(side, name, 0);
    for (name, commands) in was.iter().filter(|(name, _)| named.contains(name)) {
        let Some((_, now)) = is.iter().find(|(other, _)| other == name) else {
            let still = is.iter().any(|(other, now)| starts(other) && now == commands);
            let called = starts(name) && matches!(name.as_str(), "test" | "pretest" | "posttest" | "lint");
            if called && !still {
                let line = commands.first().map_or(0, |command| command.line);
                let text = commands.first().map(|command| command.text.clone()).unwrap_or_default();
                told.tell(
                    FactKind::RunnerChanged,
                    Spot::before(document.path, line),
                    &format!("{name}: {text}"),
                    "",
                );
            }
            continue;
        };
        if commands != now {
            let is_check = !matches!(name.as_str(), "pretest" | "posttest" | "ci") && starts(name);
            compare_commands(document.path, &flat(&was, name), &flat(&is, name), is_check, told);
        }
    }
    let new = is.iter().filter(|(name, _)| {
        matches!(name.as_str(), "pretest" | "posttest") && !was.iter().any(|(other, _)| other == name)
    });
    for command in new.flat_map(|(_, commands)| commands) {
        if MEDDLING.iter().any(|word| command.text.contains(word)) && !document.before.entries().is_empty() {
            told.tell(FactKind::RunnerChanged, Spot::after(document.path, command.line), "", &command.text);
        }
    }
}

fn is_a_fixer(name: &str) -> bool {
    ["fix", "update", "watch", "dev", "debug", "only"]
        .iter()
        .any(|word| name.split([':', '-']).any(|part| part == *word))
}

/// The names that are checks or are called by one.
fn reached(
    all: &[(String, Vec<Command>)],
    starts: impl Fn(&str) -> bool,
    calls: impl Fn(&Command) -> Vec<String>,
) -> BTreeSet<String> {
    let mut found: BTreeSet<String> = BTreeSet::new();
    let mut open: Vec<String> =
        all.iter().map(|(name, _)| name.clone()).filter(|name| starts(name)).collect();
    while let Some(name) = open.pop() {
        if !found.insert(name.clone()) {
            continue;
        }
        let commands = all.iter().filter(|(other, _)| *other == name).flat_map(|(_, commands)| commands);
        open.extend(commands.flat_map(&calls));
    }
    found
}

/// The scripts that a command calls by name.
fn called_scripts(command: &Command, all: &[(String, Vec<Command>)]) -> Vec<String> {
    let words: Vec<&str> = command.text.split([' ', '"', '\'', ';', '&', '|']).collect();
    let calls =
        ["npm", "yarn", "pnpm", "bun", "run-s", "run-p", "npm-run-all", "npm-run-all2", "concurrently"];
    if !words.iter().any(|word| calls.contains(word) || word.starts_with("npm:")) {
        return Vec::new();
    }
    let named = words.iter().map(|word| word.trim_start_matches("npm:"));
    named.filter(|word| all.iter().any(|(name, _)| name == word)).map(str::to_owned).collect()
}

/// The commands of a script with those of the scripts that it calls.
fn inlined(all: &[(String, Vec<Command>)], name: &str, depth: usize) -> Vec<Command> {
    let mut found = Vec::new();
    for command in all.iter().filter(|(other, _)| other == name).flat_map(|(_, commands)| commands) {
        let called = called_scripts(command, all);
        if called.is_empty() || depth > 3 || found.len() > 200 {
            found.push(command.clone());
            continue;
        }
        for other in called.iter().filter(|other| *other != name) {
            found.extend(inlined(all, other, depth + 1));
        }
        let rest =
            command.text.split("&&").filter(|part| !called.iter().any(|name| part.contains(name.as_str())));
        found.extend(rest.map(|part| Command { text: part.trim().to_owned(), line: command.line }));
        if command.text.contains("||") || command.text.contains(';') {
            found.push(command.clone());
        }
    }
    found
}

/// The recipes of a makefile or justfile: those of targets that are checks and of what these need.
pub(super) fn recipes(document: &Document<'_>, told: &mut Told) {
    let targets = |node: &Node| node.get("targets").map(Node::entries).unwrap_or_default().to_vec();
    let (was, is) = (targets(&document.before), targets(&document.after));
    if was.is_empty() {
        return;
    }
    let is_check = |name: &str| {
        TARGETS.iter().any(|word| name.split(['-', '_', '.', '/']).any(|part| part.starts_with(word)))
    };
    let needs = |node: &Node| -> Vec<String> {
        let needs = node.get("needs").map(Node::items).unwrap_or_default();
        needs.iter().filter_map(Node::text).map(str::to_owned).collect()
    };
    let mut names: BTreeSet<String> =
        was.iter().map(|(name, _)| name.clone()).filter(|name| is_check(name)).collect();
    let needed: Vec<String> =
        was.iter().filter(|(name, _)| names.contains(name)).flat_map(|(_, node)| needs(node)).collect();
    names.extend(needed);
    for (name, node) in was.iter().filter(|(name, _)| names.contains(name) && !name.starts_with('.')) {
        let Some((_, now)) = is.iter().find(|(other, _)| other == name) else {
            let ran = node.get("commands").map(Node::items).unwrap_or_default();
            if let Some(first) = ran.first().filter(|_| is_check(name)) {
                told.tell(
                    FactKind::RunnerChanged,
                    Spot::before(document.path, first.line),
                    &format!("{name}: {}", first.shown()),
                    "",
                );
            }
            continue;
        };
        let lines = |node: &Node| node.get("commands").map(commands).unwrap_or_default();
        compare_commands(document.path, &lines(node), &lines(now), is_check(name), told);
        let kept = needs(now);
        if let Some(lost) = needs(node).iter().find(|need| is_check(need) && !kept.contains(need)) {
            told.tell(
                FactKind::RunnerChanged,
                Spot::after(document.path, now.line),
                &format!("{name} needs {lost}"),
                "",
            );
        }
    }
    for special in [".IGNORE", ".SILENT"] {
        let there = |side: &[(String, Node)]| side.iter().any(|(name, _)| name == special);
        if special == ".IGNORE" && there(&is) && !there(&was) {
            told.tell(FactKind::RunnerChanged, Spot::after(document.path, 0), "", special);
        }
    }
    for name in ["SHELL", ".SHELLFLAGS", "MAKEFLAGS"] {
        let said = |node: &Node| node.get("variables").and_then(|all| all.field(name)).map(str::to_owned);
        let (old, new) = (said(&document.before), said(&document.after));
        let usual = new
            .as_deref()
            .is_none_or(|new| new.ends_with("bash") || new.ends_with("/sh") || new.contains("-e"));
        if old != new && !usual {
            let line = document.after.at(&["variables", name]).map_or(0, |node| node.line);
            told.tell(
                FactKind::RunnerChanged,
                Spot::after(document.path, line),
                &old.unwrap_or_default(),
                &new.unwrap_or_default(),
            );
        }
    }
}
