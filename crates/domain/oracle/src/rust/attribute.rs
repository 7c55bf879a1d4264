//! Attributes of tests.

use ambit_policy::FactKind;

use crate::outline::{Case, Obstacle, squeezed, top_level};

/// Last parts of the paths of attributes that make a function a test.
const TESTS: [&str; 9] = [
    "test",
    "rstest",
    "test_case",
    "quickcheck",
    "wasm_bindgen_test",
    "proptest",
    "fixture_test",
    "test_matrix",
    "test_strategy",
];

/// The attributes before an item, without white space, and their lines.
#[derive(Clone, Debug, Default)]
pub(super) struct Attributes(Vec<(String, u32)>);

impl Attributes {
    pub(super) fn push(&mut self, text: &str, line: u32) {
        self.0.push((squeezed(text), line));
    }

    /// Those of a path, such as `cfg` or `should_panic`.
    pub(super) fn with_path<'a>(&'a self, path: &'a str) -> impl Iterator<Item = (&'a str, u32)> {
        self.0
            .iter()
            .filter(move |(text, _)| path_of(text) == path)
            .map(|(text, line)| (text.as_str(), *line))
    }

    pub(super) fn is_test(&self) -> bool {
        self.0.iter().any(|(text, _)| TESTS.contains(&path_of(text).rsplit("::").next().unwrap_or("")))
    }

    /// Whether what they belong to is built for tests alone.
    pub(super) fn is_for_tests(&self) -> bool {
        self.with_path("cfg")
            .any(|(text, _)| asks_test(text) && !text.contains("not(test)") && !text.contains("cfg(any("))
    }

    /// Whether a condition of them holds this.
    pub(super) fn asks(&self, what: &str) -> bool {
        self.with_path("cfg").any(|(text, _)| text.contains(what))
    }

    pub(super) fn obstacles(&self) -> Vec<Obstacle> {
        self.0.iter().filter_map(|(text, line)| obstacle(text, *line)).collect()
    }

    /// The cases of a parametrised test.
    pub(super) fn cases(&self) -> Vec<Case> {
        let cases = self.0.iter().filter(|(text, _)| {
            let path = path_of(text);
            path == "case" || path.starts_with("case::") || path == "test_case"
        });
        cases
            .map(|(text, line)| {
                let inside = text.find('(').map_or("", |open| &text[open + 1..]).trim_end_matches([']', ')']);
                let cells = top_level(inside, &[",", "=>"]).into_iter().map(squeezed).collect();
                Case { line: *line, cells, shown: text.clone() }
            })
            .collect()
    }
}

/// The path of an attribute without white space: `tokio::test` of `#[tokio::test(flavor="x")]`.
fn path_of(text: &str) -> &str {
    let inside = text.trim_start_matches("#![").trim_start_matches("#[");
    inside.split(['(', '=', ']']).next().unwrap_or("")
}

/// Whether a condition asks whether tests are built.
pub(super) fn asks_test(text: &str) -> bool {
    text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '"'))).any(|word| word == "test")
}

/// What keeps an item from being built. The marker that is known by itself is not told twice, and what does not run under
/// an interpreter alone runs.
pub(super) fn obstacle(text: &str, line: u32) -> Option<Obstacle> {
    if path_of(text) != "cfg"
        || matches!(text, "#[cfg(test)]" | "#[cfg(any())]" | "#[cfg(false)]" | "#[cfg(not(test))]")
    {
        return None;
    }
    if text.contains("not(miri)") && !text.contains("feature") {
        return None;
    }
    let shown = if text.starts_with("#!") { "#![cfg(" } else { "#[cfg(" };
    let key = text.trim_start_matches("#![").trim_start_matches("#[").to_owned();
    Some(Obstacle { kind: FactKind::SkipMarkerAdded, key, line, shown: shown.to_owned() })
}
