//! What the server answers: turns in an order, what they pick out of a request, and when each is meant.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::fault::Fault;
use crate::random::RandomPlan;
use crate::yaml;

/// A conversation from the model's side.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Script {
    /// How a request finds its turn.
    pub select: Selection,
    /// Regular expressions by name, searched in the text of a request. The last match wins, and of it the first group
    /// where there is one. `${name}` in a text or an argument becomes what was found.
    pub captures: BTreeMap<String, String>,
    /// The turns, in their order.
    pub turns: Vec<Turn>,
    /// Answers what no turn answers.
    pub default: Option<Turn>,
    /// Makes answers up where there is neither a turn nor a default.
    pub random: Option<RandomPlan>,
}

/// How a request finds its turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    /// The first turn that is not used up and whose `when`, if any, the request holds.
    #[default]
    Order,
    /// The turn whose place is the number of answers of the model that the request repeats; see [`Selection::ToolResults`].
    Answers,
    /// The turn whose place is the number of tool results in the request. Where its `when` does not hold, the next one
    /// that is meant. No turn is ever used up.
    ToolResults,
}

/// One answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Turn {
    /// A regular expression that the text of the request must hold.
    pub when: Option<String>,
    /// Whether the turn stays after it was used, where turns are taken in order.
    pub repeat: bool,
    /// What the model thinks to itself, sent in the vendor's way.
    pub thinking: Option<String>,
    /// What the model says.
    pub text: Option<String>,
    /// What the model says instead where it refuses, in the vendor's way.
    pub refusal: Option<String>,
    /// The tools that it calls.
    pub calls: Vec<Call>,
    /// Why it stops; without it, for the calls or because it is done.
    pub stop: Option<Stop>,
    /// What is told as used; each that is not given is derived from sizes.
    pub usage: UsageGiven,
    /// Goes wrong each time.
    pub fault: Option<Fault>,
    /// Go wrong first, one request each, before the turn is answered.
    pub before: Vec<Fault>,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The tool's name.
    pub name: String,
    /// Its arguments. An object in all good turns; `${name}` is replaced in its strings.
    #[serde(default)]
    pub arguments: Value,
    /// Its identifier; without it a new one in the vendor's shape.
    #[serde(default)]
    pub id: Option<String>,
}

/// Why the model stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// It is done.
    End,
    /// It waits for tools.
    Calls,
    /// The answer is as long as was allowed.
    Length,
    /// It refuses.
    Refusal,
    /// A filter held the rest back.
    Filter,
}

/// Tokens by kind, as far as the script says them. The kinds of input exclude each other; reasoning is a part of output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct UsageGiven {
    /// Input tokens neither read from the cache nor written to it.
    pub input: Option<u64>,
    /// Input tokens read from the cache.
    pub cache_read: Option<u64>,
    /// Input tokens written to the cache.
    pub cache_write: Option<u64>,
    /// Output tokens, reasoning included.
    pub output: Option<u64>,
    /// Output tokens that were spent on reasoning.
    pub reasoning: Option<u64>,
}

/// Why a script was not taken.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// The file could not be read.
    #[error("the script {path} could not be read")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It is neither JSON nor the YAML that is read here.
    #[error("the script is neither JSON nor YAML: {says}")]
    Syntax {
        /// What is wrong, and where.
        says: String,
    },
    /// A field is unknown, missing or of the wrong type.
    #[error("the script is not one: {says}")]
    Shape {
        /// What is wrong.
        says: String,
    },
    /// A pattern is not a regular expression.
    #[error("`{pattern}` is not a regular expression")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        source: regex::Error,
    },
}

impl ScriptError {
    /// The stable name of the error.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "SCRIPT_UNREADABLE",
            Self::Syntax { .. } => "SCRIPT_SYNTAX",
            Self::Shape { .. } => "SCRIPT_SHAPE",
            Self::Pattern { .. } => "SCRIPT_PATTERN",
        }
    }
}

impl Script {
    /// A script of these turns, taken in order.
    #[must_use]
    pub fn of(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self { turns: turns.into_iter().collect(), ..Self::default() }
    }

    /// A script that makes everything up.
    #[must_use]
    pub fn random(plan: RandomPlan) -> Self {
        Self { random: Some(plan), ..Self::default() }
    }

    /// With a capture more.
    #[must_use]
    pub fn capture(mut self, name: &str, pattern: &str) -> Self {
        self.captures.insert(name.to_owned(), pattern.to_owned());
        self
    }

    /// With another way to find turns.
    #[must_use]
    pub fn select(mut self, by: Selection) -> Self {
        self.select = by;
        self
    }

    /// With a turn that answers what no other does.
    #[must_use]
    pub fn default_turn(mut self, turn: Turn) -> Self {
        self.default = Some(turn);
        self
    }

    /// Reads JSON, or YAML without anchors, tags and several documents.
    ///
    /// # Errors
    /// [`ScriptError::Syntax`] and [`ScriptError::Shape`].
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        let value = match serde_json::from_str(text) {
            Ok(value) => value,
            Err(_) => yaml::read(text)?,
        };
        serde_json::from_value(value).map_err(|cause| ScriptError::Shape { says: cause.to_string() })
    }

    /// Reads a file as [`Script::parse`] does.
    ///
    /// # Errors
    /// Those of [`Script::parse`], and [`ScriptError::Unreadable`].
    pub fn load(path: &Path) -> Result<Self, ScriptError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| ScriptError::Unreadable { path: path.to_owned(), source })?;
        Self::parse(&text)
    }
}

impl Turn {
    /// A turn that says this.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self { text: Some(text.to_owned()), ..Self::default() }
    }

    /// A turn that calls a tool.
    #[must_use]
    pub fn call(name: &str, arguments: Value) -> Self {
        Self::default().and_call(name, arguments)
    }

    /// A turn whose only answer is a fault.
    #[must_use]
    pub fn fault(fault: Fault) -> Self {
        Self::text("This is not all.").failing(fault)
    }

    /// With a call more.
    #[must_use]
    pub fn and_call(mut self, name: &str, arguments: Value) -> Self {
        self.calls.push(Call { name: name.to_owned(), arguments, id: None });
        self
    }

    /// With words.
    #[must_use]
    pub fn saying(mut self, text: &str) -> Self {
        self.text = Some(text.to_owned());
        self
    }

    /// With thoughts.
    #[must_use]
    pub fn thinking(mut self, thoughts: &str) -> Self {
        self.thinking = Some(thoughts.to_owned());
        self
    }

    /// Only for requests whose text the pattern is found in.
    #[must_use]
    pub fn when(mut self, pattern: &str) -> Self {
        self.when = Some(pattern.to_owned());
        self
    }

    /// Never used up.
    #[must_use]
    pub fn repeated(mut self) -> Self {
        self.repeat = true;
        self
    }

    /// With this reason to stop.
    #[must_use]
    pub fn stop(mut self, stop: Stop) -> Self {
        self.stop = Some(stop);
        self
    }

    /// With this usage.
    #[must_use]
    pub fn usage(mut self, usage: UsageGiven) -> Self {
        self.usage = usage;
        self
    }

    /// Going wrong each time.
    #[must_use]
    pub fn failing(mut self, fault: Fault) -> Self {
        self.fault = Some(fault);
        self
    }

    /// Going wrong once more before it is answered.
    #[must_use]
    pub fn after(mut self, fault: Fault) -> Self {
        self.before.push(fault);
        self
    }
}
