//! A test is ignored only where another test of its file runs it as a child process, to kill it or to surround it with
//! something. Anything else that never runs proves nothing: where something is absent, a test runs and says that it was
//! skipped.

use super::finding::Finding;
use crate::rust_text::Code;
use crate::workspace::Workspace;

pub(super) fn findings(workspace: &Workspace) -> Vec<Finding> {
    workspace.sources().flat_map(|(path, text)| ignored(path, text)).collect()
}

fn ignored(path: &str, text: &str) -> Vec<Finding> {
    let code = Code::of(text);
    let attributes = code.as_bytes().windows(b"#[ignore".len()).enumerate();
    let places: Vec<usize> =
        attributes.filter(|(_, window)| *window == b"#[ignore").map(|(at, _)| at).collect();
    if places.is_empty() {
        return Vec::new();
    }
    let functions = code.items("fn");
    let mut found = Vec::new();
    for at in places {
        let name =
            functions.iter().find(|function| function.start > at).map_or("", |function| &function.name);
        // The words that start it end with its path among the tests: "module::name".
        let started = !name.is_empty() && text.contains(&format!("::{name}\""));
        if !started {
            let says =
                format!("{name} is ignored, and no test of this file starts it as `…::{name}`: let it run");
            found.push(Finding::at_line(path, code.line_of(at), says));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::tests::of;

    fn lines(text: &str) -> Vec<String> {
        findings(&of(&[("a.rs", text)], Vec::new())).into_iter().map(|finding| finding.place).collect()
    }

    #[test]
    fn only_what_another_test_starts_may_be_ignored() {
        let parent = "fn parent() { run(&[\"it::waits\", \"--ignored\"]); }\n";
        let child = "#[test]\n#[ignore = \"parent runs it\"]\nfn waits() {}\n";
        assert_eq!(lines(&format!("{parent}{child}")), Vec::<String>::new());
        assert_eq!(lines(child), ["a.rs:2"]);
        assert_eq!(lines(&format!("{parent}{}", child.replace("waits", "waits_long"))), ["a.rs:3"]);
        assert_eq!(lines("#[ignore]\n#[test]\nfn slow() {}"), ["a.rs:1"]);
        assert_eq!(lines("// #[ignore]\nfn a() { b(\"#[ignore]\") }"), Vec::<String>::new());
    }
}
