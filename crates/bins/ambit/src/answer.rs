use serde::Serialize;
use serde_json::Value;

use crate::failure::{Failure, exit};

/// What a command answers: the same for people and for programs, and an exit code.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) json: Value,
    pub(crate) exit: u8,
    /// What is written in the place of the text, byte for byte, unless a terminal would obey it.
    pub(crate) exact: Option<Vec<u8>>,
    /// Whether the text is to be written exactly as it is, since it is a file.
    pub(crate) is_verbatim: bool,
    /// Whether the text is rows and sentences, which may go on in a further line where the terminal is narrow.
    pub(crate) is_prose: bool,
    /// Whether the JSON is one line, since it is the last of several.
    pub(crate) is_last_line: bool,
}

impl Answer {
    /// An answer that went well.
    pub(crate) fn new(text: impl Into<String>, json: Value) -> Self {
        Self {
            text: text.into(),
            json,
            exit: exit::OK,
            exact: None,
            is_verbatim: false,
            is_prose: false,
            is_last_line: false,
        }
    }

    /// An answer whose JSON is a value as it is.
    pub(crate) fn of<T: Serialize>(text: impl Into<String>, value: &T) -> Result<Self, Failure> {
        let json = serde_json::to_value(value).map_err(|error| Failure::of("OUTPUT_UNWRITABLE", &error))?;
        Ok(Self::new(text, json))
    }

    /// An answer whose text is these bytes, of whatever encoding.
    pub(crate) fn exact(bytes: Vec<u8>, json: Value) -> Self {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Self { exact: Some(bytes), ..Self::new(text, json) }
    }

    /// The same answer, whose text is the content of a file.
    pub(crate) const fn verbatim(mut self) -> Self {
        self.is_verbatim = true;
        self
    }

    /// The same answer, whose text is rows and sentences.
    pub(crate) const fn prose(mut self) -> Self {
        self.is_prose = true;
        self
    }

    /// The same answer, whose JSON is the last of several lines.
    pub(crate) const fn last_line(mut self) -> Self {
        self.is_last_line = true;
        self
    }

    /// The same answer with another exit code.
    pub(crate) const fn exiting(mut self, exit: u8) -> Self {
        self.exit = exit;
        self
    }
}
