//! `docs/threat-model.md` has a row for every threat, numbered without a gap, and every test that it names is one.

use std::collections::BTreeMap;

use super::finding::Finding;
use crate::rust_text::Code;
use crate::workspace::Workspace;

const PAGE: &str = "docs/threat-model.md";
/// Id, threat, control, test.
const COLUMNS: usize = 4;
/// How a row begins its last column where no control stands behind it yet.
const LATER: &str = "later:";

/// The files of each test function, by its name.
type Tests<'a> = BTreeMap<String, Vec<&'a str>>;

pub(super) fn findings(workspace: &Workspace) -> Vec<Finding> {
    let Some(page) = workspace.texts.get(PAGE) else {
        return vec![Finding::new(PAGE, "is not there")];
    };
    let tests = tests(workspace);
    let mut found = Vec::new();
    let mut threats = 0;
    for (index, line) in page.lines().enumerate() {
        let Some(row) =
            line.strip_prefix("| T").filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        else {
            continue;
        };
        threats += 1;
        let mut says = |text: String| found.push(Finding::at_line(PAGE, index + 1, text));
        let cells: Vec<&str> = row.trim_end().trim_end_matches('|').split(" | ").map(str::trim).collect();
        if cells[0] != threats.to_string() {
            says(format!("T{} stands where T{threats} comes next", cells[0]));
        }
        if cells.len() != COLUMNS || cells.iter().any(|cell| cell.is_empty()) {
            says(format!("a row has {COLUMNS} columns, none of them empty: id, threat, control, test"));
            continue;
        }
        let named: Vec<&str> = cells[COLUMNS - 1].split('`').skip(1).step_by(2).collect();
        if named.is_empty() && !cells[COLUMNS - 1].starts_with(LATER) {
            says(format!("T{threats} names no test, and does not say `{LATER}` with what is missing"));
        }
        named.into_iter().filter_map(|name| wrong(name, &tests)).for_each(says);
    }
    if threats == 0 {
        found.push(Finding::new(PAGE, "holds no row `| T1 | …`"));
    }
    found
}

/// What is wrong with the name of a test: `name` where only one test has it, else `crate-folder::…::name`.
fn wrong(name: &str, tests: &Tests<'_>) -> Option<String> {
    let (crate_folder, function) = match (name.split_once("::"), name.rsplit_once("::")) {
        (Some((first, _)), Some((_, last))) => (Some(first), last),
        _ => (None, name),
    };
    let files = tests.get(function).map_or(&[][..], Vec::as_slice);
    let in_crate = |path: &str| crate_folder.is_none_or(|folder| path.split('/').any(|part| part == folder));
    match files.iter().filter(|path| in_crate(path)).count() {
        0 => Some(format!("there is no test {name}")),
        1 => None,
        _ => Some(format!("several tests are called {name}: say `crate-folder::{function}`")),
    }
}

fn tests(workspace: &Workspace) -> Tests<'_> {
    let mut tests = Tests::new();
    for (path, text) in workspace.sources().filter(|(_, text)| text.contains("test")) {
        let code = Code::of(text);
        for function in code.items("fn") {
            let before = &code.as_bytes()[..function.start];
            let from =
                before.iter().rposition(|byte| matches!(byte, b';' | b'{' | b'}')).map_or(0, |at| at + 1);
            let attributes = String::from_utf8_lossy(&before[from..]);
            if attributes.contains("#[test]") || attributes.contains("#[tokio::test") {
                tests.entry(function.name).or_default().push(path);
            }
        }
    }
    tests
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::tests::of;

    const CODE: &str =
        "#[test]\nfn holds() {}\nfn helps() {}\n#[tokio::test(start_paused = true)]\nasync fn waits() {}\n";

    fn says(rows: &str) -> Vec<String> {
        let files =
            [(PAGE, rows), ("crates/a/src/a.rs", CODE), ("crates/b/src/b.rs", "#[test]\nfn holds() {}")];
        findings(&of(&files, Vec::new())).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_test_that_the_page_names_is_one() {
        assert_eq!(says("| T1 | a | b | `a::holds`, `waits` |"), Vec::<String>::new());
        assert_eq!(says("| T1 | a | b | `b::it::holds` and later: more |"), Vec::<String>::new());
        for (cell, reason) in [
            ("`holds`", "several tests are called holds"),
            ("`helps`", "there is no test helps"),
            ("`gone`", "there is no test gone"),
            ("`b::waits`", "there is no test b::waits"),
            ("by hand", "names no test"),
        ] {
            let found = says(&format!("| T1 | a | b | {cell} |"));
            assert!(found.len() == 1 && found[0].contains(reason), "{cell}: {found:?}");
        }
    }

    #[test]
    fn threats_are_numbered_without_a_gap_and_told_whole() {
        assert_eq!(
            says("| id | threat | control | test |\n| T1 | a | b | later: c |\n\n| T2 | a | b | `waits` |"),
            Vec::<String>::new()
        );
        assert!(says("| T1 | a | b | `waits` |\n| T3 | a | b | `waits` |")[0].contains("T3 stands where T2"));
        assert!(says("| T1 | a |  | `waits` |")[0].contains("none of them empty"));
        assert!(says("| T1 | a | `waits` |")[0].contains("4 columns"));
        assert!(says("nothing")[0].contains("holds no row"));
    }
}
