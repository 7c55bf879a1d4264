//! Pipelines: what is run, on whose wish, and whether a failure of it counts.

use ambit_policy::FactKind;

use super::compare::{Command, Document, commands, compare_commands};
use super::node::{Node, Value};
use super::told::{Spot, Told};

/// Names of entries that hold commands.
const COMMANDS: [&str; 9] =
    ["run", "script", "before_script", "after_script", "commands", "command", "cmd", "bash", "pwsh"];
/// Names of entries that let a failure pass.
const FORGIVING: [&str; 6] = [
    "continue-on-error",
    "allow_failure",
    "continueOnError",
    "ignoreErrors",
    "ignore_errors",
    "allow-failure",
];

/// Compares all pipelines of a patch as one, so that a job may move between them.
pub(super) fn compare(documents: &[Document<'_>], told: &mut Told) {
    let Some(first) = documents.first() else { return };
    let gather = |side: for<'d> fn(&'d Document<'_>) -> &'d Node| -> Vec<Command> {
        documents.iter().flat_map(|document| runs(side(document))).collect()
    };
    let path = documents.iter().find(|document| runs(&document.before) != runs(&document.after));
    let path = path.map_or(first.path, |document| document.path);
    compare_commands(
        path,
        &gather(|document| &document.before),
        &gather(|document| &document.after),
        false,
        told,
    );
    for document in documents {
        if document.before.entries().is_empty() {
            continue;
        }
        forgiven(document, told);
        triggers(document, told);
        hooks(document, told);
    }
}

impl PartialEq for Command {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

fn runs(node: &Node) -> Vec<Command> {
    let mut found = Vec::new();
    node.walk("", &mut |name, node| {
        if COMMANDS.contains(&name) && matches!(node.value, Value::Scalar(_)) {
            found.extend(commands(node));
        }
    });
    found
}

/// Entries that let failures pass or keep something from running, by where they stand.
fn forgiven(document: &Document<'_>, told: &mut Told) {
    let (was, is) = (settings(&document.before), settings(&document.after));
    for (place, name, node) in &is {
        let text = node.text().unwrap_or_default().trim();
        let old =
            was.iter().find(|(there, called, _)| there == place && called == name).map(|(.., node)| *node);
        // What comes with a job or a step of its own takes nothing from the others.
        let is_new =
            old.is_none_or(|old| old.shown() != node.shown()) && was.iter().any(|(there, ..)| there == place);
        let forgives = FORGIVING.contains(&name.as_str())
            && (text == "true" || text.contains("always") || matches!(node.value, Value::Map(_)));
        let never = (name == "if" && matches!(bare(text), "false" | "0" | "'false'"))
            || (name == "when" && matches!(text, "never" | "manual"));
        let shell = name == "shell" && text.contains("+e");
        if is_new && (forgives || never || shell) {
            let old = old.map(Node::shown).unwrap_or_default();
            told.tell(
                FactKind::RunnerChanged,
                Spot::after(document.path, node.line),
                &old,
                &format!("{name}: {text}"),
            );
        }
    }
    for (place, name, node) in was.iter().filter(|(_, name, _)| name == "needs") {
        let job = is.iter().any(|(there, ..)| there == place);
        let kept = is.iter().find(|(there, called, _)| there == place && called == name);
        let names = |node: &Node| {
            let mut names = Vec::new();
            node.walk("", &mut |_, node| names.extend(node.text().map(str::to_owned)));
            names
        };
        let jobs: Vec<&str> = document
            .after
            .get("jobs")
            .unwrap_or(&document.after)
            .entries()
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
        let kept = kept.map(|(.., node)| names(node)).unwrap_or_default();
        let lost = names(node).into_iter().find(|need| !kept.contains(need) && jobs.contains(&need.as_str()));
        if let Some(lost) = lost.filter(|_| job) {
            told.tell(
                FactKind::RunnerChanged,
                Spot::before(document.path, node.line),
                &format!("needs: {lost}"),
                "",
            );
        }
    }
}

fn bare(text: &str) -> &str {
    let text = text.trim();
    text.strip_prefix("${{").and_then(|rest| rest.strip_suffix("}}")).unwrap_or(text).trim()
}

/// Entries with the place of what they belong to: jobs by their names, steps by what they are.
fn settings(node: &Node) -> Vec<(String, String, &Node)> {
    let mut found = Vec::new();
    below(node, "", &mut found);
    found
}

fn below<'a>(node: &'a Node, place: &str, found: &mut Vec<(String, String, &'a Node)>) {
    for (name, entry) in node.entries() {
        found.push((place.to_owned(), name.clone(), entry));
        below(entry, &format!("{place}/{name}"), found);
    }
    for (number, item) in node.items().iter().enumerate() {
        let known = ["id", "name", "uses", "run", "repo"].iter().find_map(|key| item.field(key));
        below(item, &format!("{place}/{}", known.map_or_else(|| number.to_string(), str::to_owned)), found);
    }
}

/// Events that no longer start the pipeline.
fn triggers(document: &Document<'_>, told: &mut Told) {
    let names = |node: &Node| -> Vec<String> {
        let on = node.get("on").or(node.get("true"));
        let Some(on) = on else { return Vec::new() };
        let listed = on.items().iter().filter_map(Node::text).chain(on.text());
        listed.map(str::to_owned).chain(on.entries().iter().map(|(name, _)| name.clone())).collect()
    };
    let is = names(&document.after);
    let checks = !runs(&document.before).is_empty();
    for lost in names(&document.before).iter().filter(|name| matches!(name.as_str(), "push" | "pull_request"))
    {
        if checks
            && !is.contains(lost)
            && !is.is_empty()
            && !is.iter().any(|kept| kept.starts_with("pull_request") || kept == "push")
        {
            told.tell(FactKind::RunnerChanged, Spot::before(document.path, 0), &format!("on: {lost}"), "");
        }
    }
}

/// Hooks that run before a commit and are gone, or look at fewer files.
fn hooks(document: &Document<'_>, told: &mut Told) {
    let hooks = |node: &Node| -> Vec<(String, u32)> {
        let mut found = Vec::new();
        for repository in node.get("repos").map(Node::items).unwrap_or_default() {
            for hook in repository.get("hooks").map(Node::items).unwrap_or_default() {
                found.extend(hook.field("id").map(|id| (id.to_owned(), hook.line)));
            }
        }
        found
    };
    let is = hooks(&document.after);
    for (lost, line) in hooks(&document.before) {
        if !is.iter().any(|(kept, _)| *kept == lost) && is.len() < hooks(&document.before).len() {
            told.tell(FactKind::CheckSilenced, Spot::before(document.path, line), &lost, "");
        }
    }
}
