//! No method of a port has a default body: an adapter grants nothing by saying nothing.

use super::finding::Finding;
use crate::rust_text::Code;
use crate::workspace::Workspace;

pub(super) fn findings(workspace: &Workspace) -> Vec<Finding> {
    let ports = workspace.sources().filter(|(path, _)| path.starts_with("crates/ports/src/"));
    ports.flat_map(|(path, text)| defaults(path, text)).collect()
}

fn defaults(path: &str, text: &str) -> Vec<Finding> {
    let code = Code::of(text);
    let functions = code.items("fn");
    let mut found = Vec::new();
    for (name, body) in code.items("trait").into_iter().filter_map(|it| it.body.map(|body| (it.name, body))) {
        for function in functions.iter().filter(|it| it.body.is_some() && body.contains(&it.start)) {
            let says =
                format!("{name}::{} has a default body: every adapter must write its answer", function.name);
            found.push(Finding::at_line(path, code.line_of(function.start), says));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::tests::of;

    #[test]
    fn a_default_body_in_a_port_is_found_and_other_bodies_are_not() {
        let text = "pub trait Door: Send {\n    /// fn old() {}\n    fn open(&self);\n    fn shut(&self) -> bool {\n        \
                    true\n    }\n}\nimpl Door for Gate {\n    fn open(&self) {}\n}\nfn free() {}\n";
        let found = findings(&of(
            &[("crates/ports/src/door.rs", text), ("crates/bins/ambit/src/a.rs", text)],
            vec![],
        ));
        assert_eq!(
            found,
            [Finding::new(
                "crates/ports/src/door.rs:4",
                "Door::shut has a default body: every adapter must write its answer"
            )]
        );
    }
}
