use crate::change::Unreadable;
use crate::config::node::{MAX_NODES, Node, Value, line};

/// A file of sections and of names with values that go on in indented lines. A value of several lines is a list of them.
/// Names before the first section stand at the top.
pub(in crate::config) fn ini(text: &str) -> Result<Node, Unreadable> {
    let mut root = Node { line: 1, ..Node::default() };
    let mut section: Option<String> = None;
    let mut open: Option<(String, u32, Vec<Node>)> = None;
    for (number, whole) in text.lines().enumerate() {
        let number = line(number + 1);
        let trimmed = whole.trim();
        if trimmed.is_empty() || trimmed.starts_with(['#', ';']) {
            continue;
        }
        if whole.starts_with([' ', '\t'])
            && let Some((_, _, values)) = &mut open
        {
            values.push(Node::scalar(number, trimmed));
            continue;
        }
        close(&mut root, section.as_deref(), open.take())?;
        if let Some(name) = trimmed.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            let name = name.trim();
            if root.get(name).is_none() {
                root.put(&[name], Node { line: number, ..Node::default() });
            }
            section = Some(name.to_owned());
            continue;
        }
        let (name, value) = trimmed.split_once(['=', ':']).unwrap_or((trimmed, "true"));
        let value = value.split(" #").next().unwrap_or(value).trim();
        let values = if value.is_empty() { Vec::new() } else { vec![Node::scalar(number, value)] };
        open = Some((name.trim().to_owned(), number, values));
        if root.entries().len() > MAX_NODES / 100 {
            return Err(Unreadable::TooLarge);
        }
    }
    close(&mut root, section.as_deref(), open)?;
    Ok(root)
}

fn close(
    root: &mut Node,
    section: Option<&str>,
    entry: Option<(String, u32, Vec<Node>)>,
) -> Result<(), Unreadable> {
    let Some((name, line, mut values)) = entry else { return Ok(()) };
    let node = match values.pop() {
        Some(one) if values.is_empty() => one,
        last => {
            values.extend(last);
            Node { line, value: Value::List(values) }
        }
    };
    let path: Vec<&str> = section.into_iter().chain([name.as_str()]).collect();
    if root.at(&path).is_some() {
        return Err(Unreadable::Twice);
    }
    root.put(&path, node);
    Ok(())
}
