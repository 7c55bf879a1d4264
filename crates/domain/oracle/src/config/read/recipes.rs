use std::collections::BTreeMap;

use crate::config::node::{Node, line};

/// The longest command after its variables were put in.
const MAX_COMMAND: usize = 8_000;

/// The targets of a makefile or justfile: `targets` with what each needs and runs, `variables`, and what is `included`.
/// Variables that are given by a text are put into the commands that name them.
pub(in crate::config) fn recipes(text: &str) -> Node {
    let mut targets: Vec<(Vec<String>, Vec<Node>, Vec<Node>)> = Vec::new();
    let mut variables: BTreeMap<String, (String, u32)> = BTreeMap::new();
    let mut included = Vec::new();
    for (start, whole) in joined(text) {
        let trimmed = whole.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        if whole.starts_with(['\t', ' ']) {
            if let Some((_, _, commands)) = targets.last_mut() {
                commands.push(Node::scalar(start, trimmed));
            }
        } else if let Some((name, value)) = assignment(trimmed) {
            let entry = variables.entry(name).or_insert((String::new(), start));
            let joined = if trimmed.contains("+=") { format!("{} {value}", entry.0) } else { value };
            *entry = (joined, start);
        } else if ["include ", "-include ", "import ", "mod "].iter().any(|word| trimmed.starts_with(word)) {
            included.push(Node::scalar(start, trimmed));
        } else if let Some((names, needs)) = trimmed.split_once(':') {
            let (needs, command) = needs.split_once(';').unwrap_or((needs, ""));
            let names =
                names.split_whitespace().map(|name| name.trim_start_matches('@').to_owned()).collect();
            let needs =
                needs.trim_start_matches(':').split_whitespace().map(|need| Node::scalar(start, need));
            let command = Some(command.trim()).filter(|command| !command.is_empty());
            targets.push((
                names,
                needs.collect(),
                command.map(|text| Node::scalar(start, text)).into_iter().collect(),
            ));
        }
    }
    document(targets, &variables, included)
}

fn document(
    targets: Vec<(Vec<String>, Vec<Node>, Vec<Node>)>,
    variables: &BTreeMap<String, (String, u32)>,
    included: Vec<Node>,
) -> Node {
    let mut root = Node { line: 1, ..Node::default() };
    let mut by_name: BTreeMap<String, (Vec<Node>, Vec<Node>)> = BTreeMap::new();
    for (names, needs, commands) in targets {
        let commands: Vec<Node> = commands.iter().map(|command| expanded(command, variables)).collect();
        for name in names.into_iter().take(64) {
            let entry = by_name.entry(name).or_default();
            entry.0.extend(needs.iter().cloned());
            entry.1.extend(commands.iter().cloned());
        }
    }
    let targets = by_name.into_iter().map(|(name, (needs, commands))| {
        let at = commands.first().or(needs.first()).map_or(0, |node| node.line);
        let parts = vec![
            ("needs".to_owned(), Node::list(at, needs)),
            ("commands".to_owned(), Node::list(at, commands)),
        ];
        (name, Node::map(at, parts))
    });
    root.put(&["targets"], Node::map(1, targets.collect()));
    let variables = variables.iter().map(|(name, (value, at))| (name.clone(), Node::scalar(*at, value)));
    root.put(&["variables"], Node::map(1, variables.collect()));
    root.put(&["included"], Node::list(1, included));
    root
}

/// Lines with those that a backslash continues.
fn joined(text: &str) -> Vec<(u32, String)> {
    let mut found: Vec<(u32, String)> = Vec::new();
    let mut goes_on = false;
    for (number, text) in text.lines().enumerate() {
        let piece = text.trim_end();
        let more = piece.ends_with('\\');
        let piece = piece.trim_end_matches('\\');
        match found.last_mut().filter(|_| goes_on) {
            Some((_, whole)) => {
                whole.push(' ');
                whole.push_str(piece.trim());
            }
            None => found.push((line(number + 1), piece.to_owned())),
        }
        goes_on = more;
    }
    found
}

fn assignment(text: &str) -> Option<(String, String)> {
    let text = text.strip_prefix("export ").unwrap_or(text);
    let equals = text.find('=').or_else(|| text.find(":="))?;
    let name = text[..equals].trim_end_matches([':', '?', '+', '!', ' ', '\t']);
    let is_name =
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    is_name.then(|| (name.to_owned(), text[equals + 1..].trim().to_owned()))
}

fn expanded(command: &Node, variables: &BTreeMap<String, (String, u32)>) -> Node {
    let mut text = command.text().unwrap_or_default().to_owned();
    for _ in 0..3 {
        if !text.contains('$') && !text.contains("{{") {
            break;
        }
        for (name, (value, _)) in variables {
            for form in [format!("$({name})"), format!("${{{name}}}"), format!("{{{{{name}}}}}")] {
                if text.contains(&form) && text.len() + value.len() < MAX_COMMAND {
                    text = text.replacen(&form, value, 8);
                }
            }
        }
    }
    Node::scalar(command.line, text)
}
