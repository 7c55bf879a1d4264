//! Errors of JavaScript with their stacks.

use crate::Place;
use crate::failure::{Failure, Report};
use crate::place::place;

/// An uncaught error: a line that names it, and below it the first frame.
pub(crate) fn read(lines: &[String]) -> Report {
    let mut report = Report::default();
    let found = lines
        .iter()
        .zip(lines.iter().skip(1))
        .position(|(line, next)| error(line).is_some() && next.trim_start().starts_with("at "));
    if let Some(at) = found
        && let Some((class, message)) = error(&lines[at])
    {
        report.push(Failure::new(None, class, message, deepest(&lines[at + 1..])));
    }
    report
}

/// Reads `TypeError: message` and `AssertionError [ERR_ASSERTION]: message`.
pub(super) fn error(line: &str) -> Option<(&str, &str)> {
    let text = line.trim_start();
    let text = text.strip_prefix("Uncaught ").unwrap_or(text);
    let (class, message) = text.split_once(": ").unwrap_or((text, ""));
    let class = class.split_once(" [").map_or(class, |(class, _)| class);
    let named = class.starts_with(|c: char| c.is_ascii_uppercase())
        && class.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '$'))
        && (class.ends_with("Error") || class.ends_with("Exception"));
    named.then_some((class, message))
}

/// The first frame of a stack that lies in the project. The stack ends where a line is no frame.
pub(super) fn deepest(stack: &[String]) -> Option<Place> {
    stack.iter().take_while(|line| !line.trim().is_empty()).find_map(|line| frame(line))
}

/// Reads `at name (path:1:2)` and `at path:1:2`; the TAP form leaves the `at` out.
fn frame(line: &str) -> Option<Place> {
    let text = line.trim();
    let text = text.strip_prefix("at ").unwrap_or(text);
    match text.rsplit_once(" (") {
        Some((function, position)) => place(position.split(')').next()?, Some(plain(function))),
        None => place(text.strip_prefix("async ").unwrap_or(text), None),
    }
}

fn plain(function: &str) -> &str {
    let name = function.strip_prefix("async ").unwrap_or(function);
    name.split(" [as ").next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_frame_in_the_project_is_the_deepest() {
        let stack: Vec<String> = [
            "    at JSON.parse (<anonymous>)",
            "    at node:internal/x:1:2",
            "    at async Cart.total [as sum] (file:///workspace/src/cart.js:3:7)",
            "    at /workspace/test/a.test.js:9:1",
        ]
        .map(str::to_owned)
        .to_vec();
        let place = deepest(&stack).unwrap();
        assert_eq!((place.path.to_string().as_str(), place.line), ("src/cart.js", Some(3)));
        assert_eq!(place.function.as_deref(), Some("Cart.total"));
        assert_eq!(deepest(&stack[3..]).unwrap().path.to_string(), "test/a.test.js");
        assert!(deepest(&stack[..2]).is_none());
    }

    #[test]
    fn only_error_names_are_errors() {
        assert_eq!(error("  AssertionError [ERR_X]: a: b"), Some(("AssertionError", "a: b")));
        assert_eq!(error("Error"), Some(("Error", "")));
        assert!(error("Note: this").is_none());
        assert!(error("an Error: x").is_none());
    }
}
