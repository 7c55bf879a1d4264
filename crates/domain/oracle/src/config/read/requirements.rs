use crate::config::node::{Node, line};

/// The lines of a requirements file, continued ones joined, without comments.
pub(in crate::config) fn requirements(text: &str) -> Node {
    let mut found: Vec<Node> = Vec::new();
    let mut open: Option<(u32, String)> = None;
    for (number, whole) in text.lines().enumerate() {
        let (start, mut joined) = open.take().unwrap_or((line(number + 1), String::new()));
        let is_comment = whole.trim_start().starts_with('#');
        let piece = if is_comment { "" } else { whole.split(" #").next().unwrap_or(whole).trim() };
        joined.push_str(piece.trim_end_matches('\\'));
        if whole.trim_end().ends_with('\\') && !is_comment {
            joined.push(' ');
            open = Some((start, joined));
        } else {
            found.push(Node::scalar(start, joined.trim()));
        }
    }
    found.extend(open.map(|(start, joined)| Node::scalar(start, joined.trim())));
    found.retain(|node| node.text().is_some_and(|text| !text.is_empty()));
    Node::list(1, found)
}

/// The lines of a list of patterns, without comments.
pub(in crate::config) fn lines(text: &str) -> Node {
    let lines = text.lines().enumerate().map(|(number, text)| Node::scalar(line(number + 1), text.trim()));
    let counts = |node: &Node| node.text().is_some_and(|text| !text.is_empty() && !text.starts_with('#'));
    Node::list(1, lines.filter(counts).collect())
}

/// The directives of a `go.mod`, each a list of lines without their comments.
pub(in crate::config) fn go_mod(text: &str) -> Node {
    let mut root = Node { line: 1, ..Node::default() };
    let mut directives: Vec<(String, Vec<Node>)> = Vec::new();
    let mut block: Option<String> = None;
    for (number, whole) in text.lines().enumerate() {
        let text = whole.split("//").next().unwrap_or_default().trim();
        let (first, rest) = text.split_once([' ', '\t', '(']).unwrap_or((text, ""));
        if text.is_empty() || text == ")" {
            block = block.filter(|_| text.is_empty());
            continue;
        }
        if block.is_none() && text.ends_with('(') {
            block = Some(first.to_owned());
            continue;
        }
        let (directive, said) = block.as_deref().map_or((first, rest.trim()), |block| (block, text));
        let node = Node::scalar(line(number + 1), said);
        match directives.iter_mut().find(|(name, _)| name == directive) {
            Some((_, lines)) => lines.push(node),
            None => directives.push((directive.to_owned(), vec![node])),
        }
    }
    for (name, lines) in directives {
        root.put(&[&name], Node::list(lines.first().map_or(0, |first| first.line), lines));
    }
    root
}

/// The lines of a `go.sum`.
pub(in crate::config) fn go_sum(text: &str) -> Node {
    lines(text)
}
