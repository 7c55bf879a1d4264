//! Recorded exchanges, without secrets: what was asked and what came back, to be looked at and to be played again.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::http::{Answer, Body, Lost};
use crate::limits::CASSETTE_BYTES;

/// Exchanges in the order in which they were made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Cassette {
    exchanges: VecDeque<Exchange>,
}

/// A request, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Exchange {
    /// The body of the request. Its headers are never recorded: the key is one.
    pub(crate) request: String,
    /// Absent where there was no connection.
    pub(crate) status: Option<u16>,
    #[serde(default)]
    pub(crate) headers: Vec<(String, String)>,
    #[serde(default)]
    pub(crate) body: String,
    /// Whether the connection broke, or time was up, before the end of the body.
    #[serde(default)]
    pub(crate) broken: bool,
}

/// Why a cassette cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum CassetteError {
    /// The file cannot be read or written.
    #[error("the cassette cannot be read or written")]
    File(#[from] std::io::Error),
    /// It is none.
    #[error("this is no cassette")]
    Form(#[from] serde_json::Error),
    /// It is larger than any cassette.
    #[error("a cassette has at most {CASSETTE_BYTES} bytes")]
    TooLarge,
}

impl CassetteError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::File(_) => "CASSETTE_FILE",
            Self::Form(_) => "CASSETTE_MALFORMED",
            Self::TooLarge => "CASSETTE_TOO_LARGE",
        }
    }
}

impl Cassette {
    /// Reads a cassette of at most 16 MiB.
    ///
    /// # Errors
    /// [`CassetteError`].
    pub fn read(path: &Path) -> Result<Self, CassetteError> {
        let mut bytes = Vec::new();
        File::open(path)?.take(CASSETTE_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > CASSETTE_BYTES {
            return Err(CassetteError::TooLarge);
        }
        Ok(serde_json::from_slice(&bytes)?)
    }

    /// Writes a new file that only its owner may read. What a model was told is the project's, and may be its secret.
    ///
    /// # Errors
    /// [`CassetteError::File`], also where the file is there already.
    pub fn write(&self, path: &Path) -> Result<(), CassetteError> {
        let text = serde_json::to_string_pretty(self)?;
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        file.write_all(text.as_bytes())?;
        Ok(file.write_all(b"\n")?)
    }
}

/// Takes down what is exchanged.
#[derive(Debug, Default)]
pub(crate) struct Tape(Mutex<Cassette>);

impl Tape {
    pub(crate) fn holding(cassette: Cassette) -> Self {
        Self(Mutex::new(cassette))
    }

    /// Adds an exchange, scrubbed.
    pub(crate) fn add(&self, exchange: &Exchange, key: Option<&str>) {
        let mut scrubbed = exchange.clone();
        for text in [&mut scrubbed.request, &mut scrubbed.body] {
            *text = scrub(text, key);
        }
        for header in &mut scrubbed.headers {
            header.1 = scrub(&header.1, key);
        }
        self.lock().exchanges.push_back(scrubbed);
    }

    pub(crate) fn cassette(&self) -> Cassette {
        self.lock().clone()
    }

    /// The answer of the next exchange; where none is left, or the next had no answer, nothing was sent.
    pub(crate) fn play(&self) -> Result<Answer, Lost> {
        let exchange = self.lock().exchanges.pop_front().ok_or(Lost::NotSent)?;
        let status = exchange.status.ok_or(Lost::NotSent)?;
        let body = Body::Recorded { bytes: Some(exchange.body.into_bytes()), broken: exchange.broken };
        Ok(Answer { status, headers: exchange.headers, body })
    }

    fn lock(&self) -> MutexGuard<'_, Cassette> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How keys and ids of whoever pays begin, at the vendors whose wires are spoken.
const SECRET_BEGINNINGS: &[&str] =
    &["sk-", "sk_", "org-", "org_", "proj_", "proj-", "user-", "acct_", "wrkspc_", "apikey_"];
/// Members whose text is such an id whatever it looks like.
const SECRET_MEMBERS: &[&str] = &[
    "organization",
    "organization_id",
    "organization_uuid",
    "org_id",
    "project_id",
    "workspace_id",
    "account_id",
    "user_id",
];
const SCRUBBED: &str = "scrubbed";

/// The text without the key, without words that look like one, and without ids of whoever pays.
pub(crate) fn scrub(text: &str, key: Option<&str>) -> String {
    let text = key.map_or_else(|| text.to_owned(), |key| text.replace(key, SCRUBBED));
    let mut out = String::with_capacity(text.len());
    let in_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let mut rest = text.as_str();
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c| in_word(c) != in_word(first)).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        let secret = part.len() >= 12 && SECRET_BEGINNINGS.iter().any(|begin| part.starts_with(begin));
        out.push_str(if secret { SCRUBBED } else { part });
        rest = after;
        if SECRET_MEMBERS.contains(&part) {
            rest = skip_member(rest, &mut out);
        }
    }
    out
}

/// After the name of a member in JSON: replaces its text.
fn skip_member<'a>(rest: &'a str, out: &mut String) -> &'a str {
    let value = rest.strip_prefix('"').map(str::trim_start).and_then(|rest| rest.strip_prefix(':'));
    let value = value.map(str::trim_start).and_then(|rest| rest.strip_prefix('"'));
    let Some((_, after)) = value.and_then(|value| value.split_once('"')) else { return rest };
    out.push_str("\":\"");
    out.push_str(SCRUBBED);
    out.push('"');
    after
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_ids_of_whoever_pays_are_scrubbed_and_nothing_else() {
        for (text, expected) in [
            ("a KEY b KEY", "a scrubbed b scrubbed"),
            ("{\"m\":\"sk-ant-0123456789\"}", "{\"m\":\"scrubbed\"}"),
            ("data: org-0123456789AB\n\n", "data: scrubbed\n\n"),
            ("{\"organization_id\": \"a-b c\",\"x\":1}", "{\"organization_id\":\"scrubbed\",\"x\":1}"),
            ("{\"organization\":null}", "{\"organization\":null}"),
            ("a task-0123456789 sk-short é\u{1f600}", "a task-0123456789 sk-short é\u{1f600}"),
            ("organization", "organization"),
        ] {
            assert_eq!(scrub(text, Some("KEY")), expected, "{text}");
        }
    }

    #[test]
    fn a_cassette_is_written_once_for_its_owner_and_reads_back() {
        use std::os::unix::fs::MetadataExt;

        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("c.json");
        let tape = Tape::default();
        let exchange = Exchange {
            request: "{}".to_owned(),
            status: Some(200),
            headers: vec![("content-type".to_owned(), "x".to_owned())],
            body: "b".to_owned(),
            broken: false,
        };
        tape.add(&exchange, None);
        tape.cassette().write(&path).unwrap();
        assert_eq!(Cassette::read(&path).unwrap(), tape.cassette());
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(tape.cassette().write(&path).unwrap_err().code(), "CASSETTE_FILE");
        std::fs::write(directory.path().join("d.json"), "{").unwrap();
        let broken = Cassette::read(&directory.path().join("d.json"));
        assert_eq!(broken.unwrap_err().code(), "CASSETTE_MALFORMED");
    }
}
