//! One failure, whichever runner tells of it.

use serde::{Deserialize, Serialize};

use crate::Place;
use crate::noise::{stable_name, without_noise};

/// The most failures that are read from one gate execution.
const FAILURES: usize = 2048;
const CLASS_BYTES: usize = 120;
const NAME_BYTES: usize = 240;
const MESSAGE_BYTES: usize = 400;

/// The formats of output that are understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Runner {
    /// pytest.
    Pytest,
    /// Python's unittest.
    Unittest,
    /// The test harness of Rust.
    Libtest,
    /// `go test`.
    Go,
    /// The Test Anything Protocol, among others of Node's test runner.
    Tap,
    /// Node's test runner in its own format.
    Node,
    /// Jest.
    Jest,
    /// A compiler: rustc, gcc, clang, tsc, javac.
    Compiler,
    /// An uncaught exception of Python.
    PythonTraceback,
    /// An uncaught error of JavaScript.
    JavaScriptStack,
    /// A panic of Rust outside of a test.
    RustPanic,
}

/// How many tests the runner says that it ran. The runner's word, and no more than that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Counts {
    /// Passed.
    pub passed: u32,
    /// Failed, errors included.
    pub failed: u32,
    /// Skipped, ignored or expected to fail.
    pub skipped: u32,
}

/// What one runner told.
#[derive(Clone, Debug, Default)]
pub(crate) struct Report {
    pub(crate) failures: Vec<Failure>,
    pub(crate) counts: Option<Counts>,
}

impl Report {
    pub(crate) fn push(&mut self, failure: Failure) {
        if !self.is_full() {
            self.failures.push(failure);
        }
    }

    /// Whether reading on for more failures is of no use.
    pub(crate) fn is_full(&self) -> bool {
        self.failures.len() >= FAILURES
    }
}

/// One failure.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Failure {
    /// The test, by the name that its runner gives it.
    pub(crate) test: Option<String>,
    /// The type of the error.
    pub(crate) class: String,
    /// The first line of what it says.
    pub(crate) message: String,
    /// The deepest frame within the project.
    pub(crate) place: Option<Place>,
}

impl Failure {
    pub(crate) fn new(test: Option<&str>, class: &str, message: &str, place: Option<Place>) -> Self {
        Self {
            test: test.map(|name| shortened(&stable_name(name.trim()), NAME_BYTES)),
            class: shortened(class.trim(), CLASS_BYTES),
            message: shortened(message.trim(), MESSAGE_BYTES),
            place: place.map(|place| Place {
                function: place.function.map(|name| shortened(&stable_name(&name), NAME_BYTES)),
                ..place
            }),
        }
    }

    /// Where the failure lies, without what moves when something else is edited.
    ///
    /// That is the test, the file and the function, and no line number: an edit above shifts lines, and a repeated
    /// failure would look new. Where there is neither a test nor a function, as in what a compiler says or while a
    /// module loads, the message takes their place, without its numbers.
    pub(crate) fn location(&self) -> Option<String> {
        let function = self.place.as_ref().and_then(|place| place.function.as_deref());
        let mut parts: Vec<String> = self.test.iter().cloned().collect();
        if let Some(place) = &self.place {
            parts.push(match function {
                Some(function) => format!("{} in {function}", place.path),
                None => place.path.to_string(),
            });
        }
        let unnamed = function.is_none() && self.test.is_none();
        if (unnamed || function == Some("<module>")) && !self.message.is_empty() {
            parts.push(without_noise(&self.message));
        }
        (!parts.is_empty()).then(|| parts.join(": "))
    }
}

/// At most `limit_bytes` of the text, cut between characters.
pub(crate) fn shortened(text: &str, limit_bytes: usize) -> String {
    text[..text.floor_char_boundary(limit_bytes.min(text.len()))].to_owned()
}
