use ambit_ids::RepoPath;

use super::Hit;
use crate::config::node::{Node, Value};

/// One element of a setting that is a list.
pub(super) struct Element<'a> {
    pub(super) text: String,
    pub(super) path: &'a RepoPath,
    pub(super) line: u32,
}

/// The elements of a list, of words within commas or white space, or of a map of lists, where each has its name.
pub(super) fn elements<'a>(hit: &Hit<'a>) -> Vec<Element<'a>> {
    let mut found = Vec::new();
    below(hit.path, hit.node, "", &mut found);
    found
}

fn below<'a>(path: &'a RepoPath, node: &'a Node, name: &str, found: &mut Vec<Element<'a>>) {
    match &node.value {
        Value::Scalar(text) => {
            let is_whole = text.contains(['(', '^', '|', ':']) || name.ends_with("rules");
            let words: Vec<&str> = if is_whole && !text.contains(',') {
                vec![text]
            } else if text.contains(',') && !text.contains(['(', '{']) {
                text.split(',').collect()
            } else {
                text.split_whitespace().collect()
            };
            for word in words.iter().map(|word| word.trim()).filter(|word| !word.is_empty()) {
                let text = if name.is_empty() { word.to_owned() } else { format!("{name}: {word}") };
                found.push(Element { text, path, line: node.line });
            }
        }
        Value::List(items) => {
            for item in items {
                match &item.value {
                    Value::Map(_) => found.push(Element { text: item.shown(), path, line: item.line }),
                    Value::Scalar(text) if text.contains(char::is_whitespace) && !text.contains(',') => {
                        let text = if name.is_empty() { text.clone() } else { format!("{name}: {text}") };
                        found.push(Element { text, path, line: item.line });
                    }
                    Value::Scalar(_) | Value::List(_) => below(path, item, name, found),
                }
            }
        }
        Value::Map(entries) => {
            for (key, node) in entries {
                below(path, node, key, found);
            }
        }
    }
}
