//! What became of the settings of one family in one directory.

mod command;
mod elements;
mod options;
mod shell;

use std::collections::BTreeSet;

use ambit_ids::RepoPath;
use ambit_policy::FactKind;

use super::node::{Node, Value};
use super::rules::{Rule, Way};
use super::told::{Spot, Told};
pub(super) use command::{Command, commands, compare as compare_commands, is_judged_line};
use elements::{Element, elements};

/// A file of the family, from both sides.
pub(super) struct Document<'a> {
    pub(super) path: &'a RepoPath,
    pub(super) before: Node,
    pub(super) after: Node,
}

/// A value that a rule speaks of, and where it stands.
#[derive(Clone)]
struct Hit<'a> {
    path: &'a RepoPath,
    name: String,
    node: &'a Node,
}

pub(super) fn settings(rules: &[Rule], documents: &[Document<'_>], told: &mut Told) {
    for rule in rules {
        let before = hits(rule, documents, |document| &document.before);
        let after = hits(rule, documents, |document| &document.after);
        if before.is_empty() && after.is_empty() {
            continue;
        }
        match rule.way {
            Way::Grows | Way::Shrinks | Way::Narrows(_) | Way::Filters => {
                as_sets(rule, &before, &after, documents, told);
            }
            Way::DeniedAlone(list) if documents.iter().any(|document| document.after.get(list).is_some()) => {
            }
            _ => one_by_one(rule, &before, &after, told),
        }
    }
}

fn hits<'a>(
    rule: &Rule,
    documents: &'a [Document<'a>],
    side: impl Fn(&'a Document<'a>) -> &'a Node,
) -> Vec<Hit<'a>> {
    let mut hits = Vec::new();
    for document in documents {
        for path in rule.paths {
            let mut found = Vec::new();
            let names: Vec<&str> = path.split('/').collect();
            side(document).matching(&names, "", &mut found);
            hits.extend(found.into_iter().map(|(name, node)| Hit { path: document.path, name, node }));
        }
    }
    hits
}

fn as_sets(rule: &Rule, before: &[Hit<'_>], after: &[Hit<'_>], documents: &[Document<'_>], told: &mut Told) {
    let was: Vec<Element<'_>> = before.iter().flat_map(elements).collect();
    let is: Vec<Element<'_>> = after.iter().flat_map(elements).collect();
    let there = |side: &[Element<'_>], text: &str| side.iter().any(|element| element.text == text);
    let news = || is.iter().filter(|element| !there(&was, &element.text));
    let lost = || was.iter().filter(|element| !there(&is, &element.text));
    let name = |hits: &[Hit<'_>]| hits.first().map(|hit| hit.name.clone()).unwrap_or_default();
    match rule.way {
        Way::Grows => {
            let asked = newly_asked(documents);
            let is_new = |text: &str| asked.iter().any(|code| covers(code, text));
            let counts = |new: &&Element<'_>| {
                !new.text.starts_with('!')
                    && !is_new(&new.text)
                    && (rule.kind != FactKind::CheckSilenced || !is_no_source(&new.text))
            };
            for new in news().filter(counts) {
                told.tell(rule.kind, Spot::after(new.path, new.line), "", &shown(&name(after), &new.text));
            }
        }
        Way::Shrinks => {
            // One that stands for all of them takes the place of each.
            let all = there(&is, "ALL") || there(&is, "all");
            for old in lost().filter(|old| !all && !is.iter().any(|new| covers(&new.text, &old.text))) {
                told.tell(rule.kind, Spot::before(old.path, old.line), &shown(&name(before), &old.text), "");
            }
        }
        Way::Narrows(usual) => {
            let unlimited = before.is_empty();
            if after.is_empty() {
                return;
            }
            let lost = lost().next();
            let odd = is.iter().find(|element| !usual.contains(&element.text.trim_end_matches('/')));
            if let Some(old) = lost.filter(|_| !unlimited) {
                let spot = is
                    .first()
                    .map_or(Spot::before(old.path, old.line), |new| Spot::after(new.path, new.line));
                told.tell(
                    rule.kind,
                    spot,
                    &shown(&name(before), &listed(&was)),
                    &shown(&name(after), &listed(&is)),
                );
            } else if let Some(odd) = odd.filter(|_| unlimited) {
                told.tell(rule.kind, Spot::after(odd.path, odd.line), "", &shown(&name(after), &listed(&is)));
            }
        }
        Way::Filters => {
            for old in lost().filter(|old| old.text.starts_with("error")) {
                let replaced = is.iter().any(|new| new.text == "error");
                if !replaced {
                    told.tell(rule.kind, Spot::before(old.path, old.line), &old.text, "");
                }
            }
            for new in news().filter(|new| options::ignores_everything(&new.text)) {
                told.tell(rule.kind, Spot::after(new.path, new.line), "", &new.text);
            }
        }
        _ => {}
    }
}

/// Codes that are selected after and were not before: what is ignored of them was not looked at before.
fn newly_asked(documents: &[Document<'_>]) -> BTreeSet<String> {
    let all = |side: fn(&Document<'_>) -> Node| {
        let mut found = BTreeSet::new();
        for document in documents {
            side(document).walk("", &mut |name, node| {
                if matches!(name, "select" | "extend-select") {
                    found.extend(node.text().map(str::to_owned));
                }
            });
        }
        found
    };
    let before = all(|document| document.before.clone());
    all(|document| document.after.clone()).difference(&before).cloned().collect()
}

/// Whether a code of lints stands for another one: `E` and `ALL` for `E501`.
fn covers(code: &str, text: &str) -> bool {
    let text = text.rsplit(": ").next().unwrap_or(text);
    let is_code = |text: &str| text.starts_with(|c: char| c.is_ascii_uppercase()) && text.len() < 12;
    code == "ALL" || (is_code(code) && is_code(text) && text.starts_with(code))
}

/// Whether a place that a check leaves out holds no source of the project.
fn is_no_source(text: &str) -> bool {
    const NAMES: [&str; 16] = [
        "coverage",
        "test",
        "tests",
        "example",
        "examples",
        "dist",
        "build",
        "node_modules",
        "docs",
        "doc",
        "vendor",
        "target",
        "venv",
        ".venv",
        ".git",
        "__pycache__",
    ];
    NAMES.contains(&text.trim_matches(['/', '*', '.', '^', '$']).trim_start_matches("./"))
}

fn shown(name: &str, text: &str) -> String {
    format!("{}: {text}", name.trim_start_matches('/'))
}

fn listed(elements: &[Element<'_>]) -> String {
    let texts: Vec<&str> = elements.iter().map(|element| element.text.as_str()).collect();
    texts.join(" ")
}

fn one_by_one(rule: &Rule, before: &[Hit<'_>], after: &[Hit<'_>], told: &mut Told) {
    // Lints that are named for the first time: what is switched off among them is left out of what is switched on.
    let refines = before.is_empty() && after.iter().any(|hit| severity(Some(hit.node)) > Some(0));
    if rule.way == Way::Severity && refines {
        return;
    }
    let names: BTreeSet<&str> = before.iter().chain(after).map(|hit| hit.name.as_str()).collect();
    for name in names {
        let was = before.iter().find(|hit| hit.name == name);
        let is = after.iter().find(|hit| hit.name == name);
        let (old, new) = (was.map(|hit| hit.node), is.map(|hit| hit.node));
        let is_told = match rule.way {
            Way::Command => {
                let (old, new) = (old.map(commands), new.map(commands));
                let Some(hit) = is.or(was) else { continue };
                let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
                compare_commands(hit.path, &old, &new, true, told);
                continue;
            }
            way => loosened(way, old, new),
        };
        if is_told {
            let spot = match (is, was) {
                (Some(hit), _) => Spot::after(hit.path, hit.node.line),
                (None, Some(hit)) => Spot::before(hit.path, hit.node.line),
                (None, None) => continue,
            };
            let text = |node: Option<&Node>| node.map(|node| shown(name, &node.shown())).unwrap_or_default();
            told.tell(rule.kind, spot, &text(old), &text(new));
        }
    }
}

fn loosened(way: Way, was: Option<&Node>, is: Option<&Node>) -> bool {
    let text =
        |node: Option<&Node>| node.and_then(Node::text).unwrap_or_default().trim().to_ascii_lowercase();
    let (old, new) = (text(was), text(is));
    let number = |text: &str| text.trim_end_matches(['s', '%']).parse::<f64>().ok();
    let (old_number, new_number) = (number(&old), number(&new));
    let truthy = |text: &str| matches!(text, "true" | "yes" | "on" | "1");
    let falsy = |text: &str| matches!(text, "false" | "no" | "off" | "0");
    match way {
        Way::Changed => was.map(Node::shown) != is.map(Node::shown),
        Way::On => truthy(&new) && !truthy(&old),
        Way::Off => {
            (truthy(&old) && !truthy(&new))
                || (falsy(&new) && was.is_none() && !new.is_empty() && truthy(&old))
        }
        Way::Denied | Way::DeniedAlone(_) => falsy(&new) && !falsy(&old),
        Way::Rises => match (old_number, new_number) {
            (Some(old), Some(new)) => new > old,
            (None, Some(new)) => was.is_none() && new > 0.0,
            _ => false,
        },
        Way::Falls => match (old_number, new_number) {
            (Some(old), Some(new)) => new < old,
            (Some(old), None) => old > 0.0,
            _ => false,
        },
        Way::Lifted => match (old_number, new_number) {
            (Some(old), Some(new)) => old > 0.0 && (new <= 0.0 || new > 10.0 * old),
            (Some(old), None) => old > 0.0,
            _ => false,
        },
        Way::Severity => match (severity(was), severity(is)) {
            (Some(old), Some(new)) => old > new,
            // What an error was and is left to whatever holds by default.
            (Some(old), None) => old == LOUDEST && is.is_none(),
            (None, Some(new)) => {
                new == 0 && was.is_none() && is.is_some_and(|node| node.get("check-cfg").is_none())
            }
            (None, None) => false,
        },
        Way::Options => options::loosened(&joined(was), &joined(is)),
        Way::Flags => options::flags_loosened(&joined(was), &joined(is)),
        Way::Grows | Way::Shrinks | Way::Narrows(_) | Way::Filters | Way::Command => false,
    }
}

/// How loud an error is.
const LOUDEST: u8 = 3;

/// How loud a lint is; `None` where nothing is said of it.
fn severity(node: Option<&Node>) -> Option<u8> {
    let node = node?;
    let said = match &node.value {
        Value::Scalar(text) => text.as_str(),
        Value::List(items) => items.first().and_then(Node::text)?,
        Value::Map(_) => node.field("level").or(node.field("severity"))?,
    };
    match said {
        "off" | "0" | "allow" | "none" | "false" => Some(0),
        "information" | "info" | "expect" => Some(1),
        "warn" | "1" | "warning" => Some(2),
        "error" | "2" | "deny" | "forbid" | "true" => Some(LOUDEST),
        _ => None,
    }
}

/// What a setting says as one line.
fn joined(node: Option<&Node>) -> String {
    let mut texts = Vec::new();
    if let Some(node) = node {
        node.walk("", &mut |_, node| texts.extend(node.text().map(str::to_owned)));
    }
    texts.join(" ")
}
