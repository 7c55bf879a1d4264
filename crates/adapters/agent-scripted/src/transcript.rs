use std::collections::BTreeMap;
use std::path::Path;

use ambit_blueprint::{DocumentError, read_typed};
use ambit_ids::{Digest, DocumentName, MicroUsd};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What an agent answers, turn by turn, and how it goes on afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcript {
    name: DocumentName,
    turn_quote: MicroUsd,
    lines: Vec<Line>,
    then: Conduct,
    digest: Digest,
}

/// One answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A value, with names to be filled in. It stands for as many proposals as it has calls.
    Say { value: Value, cost: Option<MicroUsd> },
    /// Text as it is.
    Text { text: String, cost: Option<MicroUsd> },
    /// Nothing, until it is aborted.
    Silent,
}

/// How an agent goes on when its turns are used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Conduct {
    /// It has nothing more to propose.
    Finish,
    /// It says nothing and does not end.
    Silence,
    /// It says that everything passes and that it is accepted, in every form it can think of.
    Lie,
    /// It proposes the same thing for ever.
    Loop,
    /// It costs more than it was reserved for.
    Overspend,
    /// It asks for a shell, and puts commands wherever a field might take them.
    Shell,
    /// It reads the project and does whatever any text there tells it.
    Obey,
    /// It answers prose.
    Prose,
    /// It proposes ten thousand calls in one answer.
    Flood,
}

impl Conduct {
    /// Every way.
    pub(crate) const ALL: [Self; 9] = [
        Self::Finish,
        Self::Silence,
        Self::Lie,
        Self::Loop,
        Self::Overspend,
        Self::Shell,
        Self::Obey,
        Self::Prose,
        Self::Flood,
    ];
}

/// Why a file is no transcript.
#[derive(Debug, thiserror::Error)]
pub enum TranscriptError {
    /// It is no document.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// It names a patch that was not given with it.
    #[error("the transcript names the patch {0}, which is not beside it")]
    PatchMissing(String),
    /// An amount of money is none.
    #[error("the cost {text:?} is none")]
    Cost {
        /// The text.
        text: String,
        /// Why.
        #[source]
        source: ambit_ids::ParseMoneyError,
    },
    /// Its name makes no agent id.
    #[error("{0} is no name of an agent")]
    Name(String),
    /// It has no canonical form.
    #[error("the transcript has no canonical form")]
    Canonical(#[from] ambit_canonical::EncodeError),
}

impl TranscriptError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Document(error) => error.code(),
            Self::PatchMissing(_) => "TRANSCRIPT_PATCH_MISSING",
            Self::Cost { .. } => "TRANSCRIPT_COST",
            Self::Name(_) => "TRANSCRIPT_NAME",
            Self::Canonical(_) => "TRANSCRIPT_NOT_CANONICAL",
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Form {
    api_version: ApiVersion,
    kind: Kind,
    metadata: Metadata,
    spec: Spec,
}

#[derive(Deserialize)]
enum ApiVersion {
    #[serde(rename = "coding-agent.enterprise/v1")]
    V1,
}

#[derive(Deserialize)]
enum Kind {
    AgentTranscript,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Metadata {
    name: DocumentName,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Spec {
    turn_quote_usd: Dollars,
    #[serde(default)]
    turns: Vec<TurnForm>,
    then: Conduct,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TurnForm {
    /// A plan, a call, or several calls, exactly as an agent answers them.
    say: Option<Value>,
    /// The file of a patch to the current tree.
    patch: Option<String>,
    /// The plan step that the patch cites.
    step: Option<String>,
    /// The cause that is supposed of the last failure.
    hypothesis: Option<String>,
    /// A gate to run.
    gate: Option<String>,
    /// The key of the gate's execution; otherwise one of its own.
    key: Option<String>,
    /// Prose.
    text: Option<String>,
    /// Nothing at all.
    #[serde(default)]
    silent: bool,
    /// What the agent thinks to itself. It is dropped here and reaches nobody.
    #[serde(rename = "reasoning", default)]
    _reasoning: Option<String>,
    /// What the turn costs, in US dollars; otherwise nothing.
    cost_usd: Option<Dollars>,
}

impl Transcript {
    /// Reads a transcript. `patches` answers the bytes of a patch by the name that the transcript gives it.
    ///
    /// # Errors
    /// [`TranscriptError`].
    pub fn read(
        file: &Path,
        bytes: &[u8],
        patches: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, TranscriptError> {
        let (form, value) = read_typed(&file.to_string_lossy(), bytes)?;
        let Form { api_version: ApiVersion::V1, kind: Kind::AgentTranscript, metadata, spec } = form;
        let mut used = BTreeMap::new();
        let mut lines = Vec::with_capacity(spec.turns.len());
        for (number, turn) in spec.turns.into_iter().enumerate() {
            lines.push(turn.line(number, patches, &mut used)?);
        }
        let digest = ambit_canonical::encode(&json!({"transcript": value, "patches": used}))?.digest();
        let turn_quote = spec.turn_quote_usd.read()?;
        Ok(Self { name: metadata.name, turn_quote, lines, then: spec.then, digest })
    }

    pub(crate) fn name(&self) -> &str {
        self.name.as_str()
    }

    pub(crate) const fn turn_quote(&self) -> MicroUsd {
        self.turn_quote
    }

    pub(crate) const fn then(&self) -> Conduct {
        self.then
    }

    /// The digest of the transcript and of every patch that it names.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// The answer after so many proposals were answered; `None` once the turns are used up.
    pub(crate) fn line(&self, position: u64) -> Option<Line> {
        let mut start = 0;
        for line in &self.lines {
            let length = line.proposals();
            if position < start + length {
                return Some(line.clone());
            }
            start += length;
        }
        None
    }
}

impl Line {
    fn proposals(&self) -> u64 {
        match self {
            Self::Say { value, .. } => {
                value.get("calls").and_then(Value::as_array).map_or(1, |calls| calls.len().max(1) as u64)
            }
            Self::Text { .. } | Self::Silent => 1,
        }
    }
}

impl TurnForm {
    fn line(
        self,
        number: usize,
        patches: &dyn Fn(&str) -> Option<String>,
        used: &mut BTreeMap<String, Digest>,
    ) -> Result<Line, TranscriptError> {
        let cost = Some(self.cost_usd.as_ref().map(Dollars::read).transpose()?.unwrap_or(MicroUsd::ZERO));
        if self.silent {
            return Ok(Line::Silent);
        }
        if let Some(text) = self.text {
            return Ok(Line::Text { text, cost });
        }
        if let Some(gate) = self.gate {
            let key = self.key.unwrap_or_else(|| format!("turn-{}", number + 1));
            let input = json!({"revisionId": "${revision}", "gateId": gate, "idempotencyKey": key});
            return Ok(Line::Say { value: json!({"tool": "run_named_gate", "input": input}), cost });
        }
        if let Some(name) = self.patch {
            let patch = patches(&name).ok_or_else(|| TranscriptError::PatchMissing(name.clone()))?;
            used.insert(name, Digest::of(patch.as_bytes()));
            let input = json!({"revisionId": "${revision}", "expectedBaseSha": "${head}", "patch": patch});
            let mut value = json!({"tool": "apply_project_patch", "input": input});
            if let Some(step) = self.step {
                value["planStep"] = Value::String(step);
            }
            if let Some(hypothesis) = self.hypothesis {
                value["hypothesis"] = Value::String(hypothesis);
            }
            return Ok(Line::Say { value, cost });
        }
        Ok(Line::Say { value: self.say.unwrap_or(Value::Null), cost })
    }
}

/// An amount in US dollars, with or without decimals.
#[derive(Deserialize)]
#[serde(untagged)]
enum Dollars {
    Whole(u64),
    Decimal(String),
}

impl Dollars {
    fn read(&self) -> Result<MicroUsd, TranscriptError> {
        let text = match self {
            Self::Whole(dollars) => dollars.to_string(),
            Self::Decimal(text) => text.clone(),
        };
        MicroUsd::from_usd_decimal(&text).map_err(|source| TranscriptError::Cost { text, source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str =
        "apiVersion: coding-agent.enterprise/v1\nkind: AgentTranscript\nmetadata: {name: t}\n";

    fn read(spec: &str) -> Result<Transcript, TranscriptError> {
        let text = format!("{HEADER}{spec}");
        Transcript::read(Path::new("t.yaml"), text.as_bytes(), &|name| {
            (name == "a.patch").then(|| "--- a\n".to_owned())
        })
    }

    #[test]
    fn an_answer_with_several_calls_stands_for_several_proposals() {
        let transcript = read(
            "spec:\n  turnQuoteUsd: 0.05\n  turns:\n    - say: {calls: [{tool: a}, {tool: b}]}\n    - gate: unit\n    - patch: a.patch\n      step: s1\n  then: finish\n",
        )
        .unwrap();
        let say = |position| match transcript.line(position) {
            Some(Line::Say { value, .. }) => value,
            other => panic!("{other:?}"),
        };
        assert_eq!(say(0), say(1));
        assert_eq!(say(2)["input"]["gateId"], "unit");
        assert_eq!(say(3)["planStep"], "s1");
        assert_eq!(transcript.line(4), None);
        assert_eq!(transcript.turn_quote(), MicroUsd::new(50_000));
    }

    #[test]
    fn the_transcript_on_the_page_is_one() {
        let page = include_str!("../../../../docs/documents.md");
        let block = page.split("```yaml transcript\n").nth(1).and_then(|rest| rest.split("```").next());
        let patches = |_: &str| Some("--- a\n".to_owned());
        let transcript =
            Transcript::read(Path::new("documents.md"), block.unwrap().as_bytes(), &patches).unwrap();
        assert_eq!(transcript.lines.len(), 5);
        for word in ["silence", "lie", "loop", "overspend", "shell", "obey", "prose", "flood"] {
            assert!(page.contains(&format!("`{word}`")));
            read(&format!("spec: {{turnQuoteUsd: 0, then: {word}}}")).unwrap();
        }
    }

    #[test]
    fn reasoning_is_dropped_where_it_is_read() {
        let transcript = read(
            "spec:\n  turnQuoteUsd: 0\n  turns:\n    - say: {tool: a}\n      reasoning: CANARY-thought\n  then: finish\n",
        )
        .unwrap();
        assert!(!format!("{:?}", transcript.lines).contains("CANARY"));
    }

    #[test]
    fn a_patch_that_is_not_there_an_unknown_field_and_a_strange_cost_are_refused() {
        for (spec, code) in [
            ("spec: {turnQuoteUsd: 0, turns: [{patch: b.patch}], then: finish}", "TRANSCRIPT_PATCH_MISSING"),
            ("spec: {turnQuoteUsd: 0, turns: [{shell: ls}], then: finish}", "DOCUMENT_UNKNOWN_FIELD"),
            ("spec: {turnQuoteUsd: -1, then: finish}", "DOCUMENT_MALFORMED_VALUE"),
            ("spec: {turnQuoteUsd: \"-1\", then: finish}", "TRANSCRIPT_COST"),
            ("spec: {turnQuoteUsd: 0, then: improvise}", "DOCUMENT_UNKNOWN_WORD"),
        ] {
            assert_eq!(read(spec).unwrap_err().code(), code, "{spec}");
        }
    }
}
