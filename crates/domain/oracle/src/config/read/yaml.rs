use std::collections::{BTreeMap, BTreeSet};

use saphyr_parser::{Event, Parser};

use crate::change::Unreadable;
use crate::config::node::{MAX_DEPTH, MAX_NODES, Node, Value, line};

/// The first document of YAML; the others beside it as its `document N`. What an anchor names is put where it is named
/// again, and what is merged by `<<` is merged, so that neither hides a setting; a name that stands twice is an error.
///
/// A bracket that closes a list may stand as far left as the name that the list belongs to: every tool reads that, although
/// the format asks for more white space.
pub(in crate::config) fn yaml(text: &str) -> Result<Node, Unreadable> {
    match documents(text) {
        Err(Unreadable::Syntax) => documents(&with_closing_brackets_indented(text)),
        read => read,
    }
}

fn with_closing_brackets_indented(text: &str) -> String {
    let closes = |line: &str| matches!(line.trim(), "]" | "}" | "]," | "},");
    text.split_inclusive('\n')
        .map(|line| if closes(line) { format!(" {line}") } else { line.to_owned() })
        .collect()
}

fn documents(text: &str) -> Result<Node, Unreadable> {
    let mut builder = Builder { left: MAX_NODES, ..Builder::default() };
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|_| Unreadable::Syntax)?;
        builder.take(event, line(span.start.line().max(1)))?;
    }
    let mut documents = builder.documents.into_iter();
    let mut first = documents.next().unwrap_or_default();
    for (number, document) in documents.enumerate() {
        first.put(&[&format!("document {}", number + 2)], document);
    }
    Ok(first)
}

struct Open {
    anchor: usize,
    line: u32,
    value: Value,
    names: BTreeSet<String>,
    /// The name whose value comes next, and its line.
    key: Option<(String, u32)>,
}

#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    documents: Vec<Node>,
    anchors: BTreeMap<usize, (Node, usize)>,
    left: usize,
}

impl Builder {
    fn take(&mut self, event: Event<'_>, line: u32) -> Result<(), Unreadable> {
        match event {
            Event::Scalar(text, _, anchor, _) => {
                if let Some(Open { value: Value::Map(_), names, key: key @ None, .. }) = self.open.last_mut()
                {
                    if text != "<<" && !names.insert(text.clone().into_owned()) {
                        return Err(Unreadable::Twice);
                    }
                    *key = Some((text.into_owned(), line));
                    return Ok(());
                }
                self.done(anchor, Node::scalar(line, text))
            }
            Event::SequenceStart(anchor, _) => self.start(anchor, line, Value::List(Vec::new())),
            Event::MappingStart(anchor, _) => self.start(anchor, line, Value::default()),
            Event::SequenceEnd | Event::MappingEnd => {
                let open = self.open.pop().ok_or(Unreadable::Syntax)?;
                self.done(open.anchor, Node { line: open.line, value: open.value })
            }
            Event::Alias(anchor) => {
                let (node, size) = self.anchors.get(&anchor).cloned().ok_or(Unreadable::Syntax)?;
                self.left = self.left.checked_sub(size).ok_or(Unreadable::Nesting)?;
                if self.open.len() + depth(&node) > MAX_DEPTH {
                    return Err(Unreadable::Nesting);
                }
                self.done(0, node)
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(()),
        }
    }

    fn start(&mut self, anchor: usize, line: u32, value: Value) -> Result<(), Unreadable> {
        // A mapping or a list as a name says nothing that anybody compares.
        let is_name = matches!(self.open.last(), Some(Open { value: Value::Map(_), key: None, .. }));
        if is_name || self.open.len() >= MAX_DEPTH {
            return Err(Unreadable::Nesting);
        }
        self.open.push(Open { anchor, line, value, names: BTreeSet::new(), key: None });
        Ok(())
    }

    fn done(&mut self, anchor: usize, mut node: Node) -> Result<(), Unreadable> {
        self.left = self.left.checked_sub(1).ok_or(Unreadable::Nesting)?;
        if anchor > 0 {
            let size = size(&node);
            self.left = self.left.checked_sub(size).ok_or(Unreadable::Nesting)?;
            self.anchors.insert(anchor, (node.clone(), size));
        }
        let Some(open) = self.open.last_mut() else {
            self.documents.push(node);
            return Ok(());
        };
        match &mut open.value {
            Value::List(items) => items.push(node),
            Value::Map(entries) => {
                let (key, line) = open.key.take().ok_or(Unreadable::Syntax)?;
                if !matches!(node.value, Value::Scalar(_)) {
                    node.line = line;
                }
                if key == "<<" {
                    merge(entries, node);
                } else {
                    entries.retain(|(name, _)| *name != key);
                    entries.push((key, node));
                }
            }
            Value::Scalar(_) => return Err(Unreadable::Syntax),
        }
        Ok(())
    }
}

fn merge(entries: &mut Vec<(String, Node)>, node: Node) {
    match node.value {
        Value::Map(more) => {
            for (name, node) in more {
                if !entries.iter().any(|(there, _)| *there == name) {
                    entries.push((name, node));
                }
            }
        }
        Value::List(items) => items.into_iter().for_each(|item| merge(entries, item)),
        Value::Scalar(_) => {}
    }
}

fn size(node: &Node) -> usize {
    let mut count = 0;
    node.walk("", &mut |_, _| count += 1);
    count
}

fn depth(node: &Node) -> usize {
    let below = node.items().iter().chain(node.entries().iter().map(|(_, node)| node)).map(depth).max();
    1 + below.unwrap_or_default()
}
