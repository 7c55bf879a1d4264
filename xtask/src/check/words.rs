//! Holds [`super::word_list`] against every file of the project.

use std::ops::Range;

use super::finding::Finding;
use super::word_list::{FORBIDDEN, Forbidden, NOT_READ, Place, Spelling};
use crate::rust_text::{Code, whole_words};
use crate::workspace::Workspace;

/// One file, read in the ways that the list asks for.
struct Reading<'a> {
    path: &'a str,
    text: &'a str,
    /// `None` where it is not Rust.
    code: Option<Code>,
    /// Bodies of modules that are compiled for tests only.
    tests: Vec<Range<usize>>,
}

impl<'a> Reading<'a> {
    fn of(path: &'a str, text: &'a str) -> Self {
        let code = path.ends_with(".rs").then(|| Code::of(text));
        let tests = code.as_ref().map_or_else(Vec::new, Code::test_modules);
        Self { path, text, code, tests }
    }

    fn concerns(&self, forbidden: &Forbidden) -> bool {
        let placed = match forbidden.place {
            Place::Everywhere => true,
            Place::Product(folder) => {
                self.code.is_some()
                    && self.path.starts_with(folder)
                    && !self.path.contains("/tests/")
                    && !self.path.ends_with("/tests.rs")
            }
        };
        placed && !is_one_of(self.path, forbidden.except)
    }

    fn places(&self, forbidden: &Forbidden) -> Vec<usize> {
        let found: Vec<usize> = match forbidden.spelling {
            Spelling::Text(word) => self.text.match_indices(word).map(|(at, _)| at).collect(),
            Spelling::AnyCase(word) => {
                self.text.to_ascii_lowercase().match_indices(word).map(|(at, _)| at).collect()
            }
            Spelling::Word(word) => whole_words(self.text.as_bytes(), word).collect(),
            Spelling::Code(word) => self.code.iter().flat_map(|code| code.words(word)).collect(),
        };
        let in_tests = |at: &usize| self.tests.iter().any(|body| body.contains(at));
        let product = matches!(forbidden.place, Place::Product(_));
        found.into_iter().filter(|at| !(product && in_tests(at))).collect()
    }
}

pub(super) fn findings(workspace: &Workspace) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, text) in workspace.texts.iter().filter(|(path, _)| !is_one_of(path, NOT_READ)) {
        let reading = Reading::of(path, text);
        for forbidden in FORBIDDEN.iter().filter(|forbidden| reading.concerns(forbidden)) {
            for at in reading.places(forbidden) {
                let line = 1 + text[..at].matches('\n').count();
                let says = format!("{:?} does not belong here: {}", forbidden.spelling.word(), forbidden.why);
                found.push(Finding::at_line(path, line, says));
            }
        }
    }
    found
}

/// Whether the path is one of these files, or lies in one of these folders.
fn is_one_of(path: &str, places: &[&str]) -> bool {
    places.iter().any(|place| if place.ends_with('/') { path.starts_with(place) } else { path == *place })
}

impl Spelling {
    fn word(&self) -> &'static str {
        match self {
            Self::Text(word) | Self::AnyCase(word) | Self::Word(word) | Self::Code(word) => word,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::tests::of;

    /// A line of code that holds the word.
    fn line(forbidden: &Forbidden) -> String {
        let word = forbidden.spelling.word();
        match forbidden.spelling {
            Spelling::Code(_) => format!("let a = 1; {word} {{}}\n"),
            _ => format!("let a = \" {word} \";\n"),
        }
    }

    fn places(path: &str, text: &str) -> Vec<String> {
        findings(&of(&[(path, text)], Vec::new())).into_iter().map(|finding| finding.place).collect()
    }

    #[test]
    fn every_word_of_the_list_is_found_with_its_line() {
        for forbidden in FORBIDDEN {
            let text = format!("\n{}", line(forbidden));
            let word = forbidden.spelling.word();
            assert_eq!(
                places("crates/control-plane/a/src/b.rs", &text),
                ["crates/control-plane/a/src/b.rs:2"],
                "{word}"
            );
        }
    }

    // proves E-Q02
    // break xtask/src/check/words.rs: `placed && !is_one_of` -> `placed && self.path.len() < 9 && !is_one_of`
    #[test]
    fn the_tracer_job_is_unknown_to_the_product_but_for_its_lab_and_tests() {
        let tracer: Vec<&Forbidden> =
            FORBIDDEN.iter().filter(|forbidden| matches!(forbidden.place, Place::Product(_))).collect();
        assert_eq!(tracer.len(), 3);
        for forbidden in tracer {
            let code = line(forbidden);
            let upper = code.to_ascii_uppercase();
            let tests = format!("#[cfg(test)]\nmod tests {{\n{code}}}\n");
            assert_eq!(places("crates/domain/run/src/a.rs", &code).len(), 1);
            assert_ne!(places("crates/domain/run/src/a.rs", &upper), Vec::<String>::new());
            assert_eq!(places("crates/domain/run/src/a.rs", &format!("{tests}{code}")).len(), 1);
            for path in [
                "crates/bins/ambit/src/lab/a.rs",
                "crates/bins/ambit/examples/arms/a.rs",
                "crates/domain/run/tests/it/a.rs",
                "examples/a.rs",
            ] {
                assert_eq!(places(path, &code), Vec::<String>::new(), "{path}");
            }
            assert_eq!(places("crates/domain/run/src/a.rs", &tests), Vec::<String>::new());
        }
    }

    #[test]
    fn code_words_count_in_code_alone_and_whole_words_whole() {
        let quiet = |text: &str| places("crates/ports/src/a.rs", text).is_empty();
        for forbidden in FORBIDDEN {
            let word = forbidden.spelling.word();
            match forbidden.spelling {
                Spelling::Code(_) => {
                    assert!(quiet(&format!("// {word}\nlet a = \"{word}\"; let {word}_code = 1;")));
                }
                Spelling::Word(_) => assert!(quiet(&format!("// A{word} {word}S"))),
                Spelling::Text(_) | Spelling::AnyCase(_) => {}
            }
        }
    }
}
