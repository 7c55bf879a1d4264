use crate::config::node::{Node, line};

/// A `yarn.lock` of the first version: entries with the names that they answer for, each with its fields.
pub(in crate::config) fn yarn_lock(text: &str) -> Node {
    let mut entries: Vec<(String, Node)> = Vec::new();
    for (number, whole) in text.lines().enumerate() {
        let number = line(number + 1);
        let trimmed = whole.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        if !whole.starts_with(' ') {
            let names = trimmed.trim_end_matches(':').replace('"', "");
            entries.push((names, Node { line: number, ..Node::default() }));
        } else if let Some((_, entry)) = entries.last_mut()
            && whole.starts_with("  ")
            && !whole.starts_with("   ")
            && let Some((name, value)) = trimmed.split_once(' ')
        {
            entry.put(&[name], Node::scalar(number, value.trim_matches('"')));
        }
    }
    Node::map(1, entries)
}
