//! The contract of each typed tool, as agents and people read it.

use ambit_ids::limits;
use ambit_policy::{SideEffect, ToolName};
use serde_json::{Value, json};

/// What a tool takes, answers and costs in time.
#[derive(Clone, Copy, Debug)]
pub struct ToolContract {
    /// The tool.
    pub name: ToolName,
    /// What it does, in a sentence.
    pub summary: &'static str,
    /// Its input. Every other field is refused.
    pub input: &'static [Field],
    /// Its output.
    pub output: &'static [Field],
    /// How long it may take, in milliseconds. A gate's own limits lie within it.
    pub timeout_ms: u64,
    /// The most bytes that its answer holds inline. The whole is an artifact.
    pub inline_bytes: usize,
}

/// One field of an input or an output.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: FieldKind,
    /// Whether it must be there.
    pub required: bool,
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the kinds")]
pub enum FieldKind {
    ProjectId,
    RevisionId,
    RelativePath,
    Digest,
    UnifiedDiff,
    ApprovedGate,
    IdempotencyKey,
    ImmutableId,
    Capability,
    Text,
    Integer,
    Boolean,
    TextList,
    ApprovedOrRejected,
    ErrorClass,
}

impl FieldKind {
    /// The kind as lists spell it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ProjectId => "project_id",
            Self::RevisionId => "revision_id",
            Self::RelativePath => "relative_path",
            Self::Digest => "digest",
            Self::UnifiedDiff => "unified_diff",
            Self::ApprovedGate => "approved_gate",
            Self::IdempotencyKey => "idempotency_key",
            Self::ImmutableId => "immutable_id",
            Self::Capability => "capability",
            Self::Text => "string",
            Self::Integer => "integer",
            Self::Boolean => "boolean",
            Self::TextList => "string_list",
            Self::ApprovedOrRejected => "approved_or_rejected",
            Self::ErrorClass => "error_class",
        }
    }

    fn schema(self) -> Value {
        match self {
            Self::Integer => json!({"type": "integer"}),
            Self::Boolean => json!({"type": "boolean"}),
            Self::TextList => json!({"type": "array", "items": {"type": "string"}}),
            Self::Digest => json!({"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}),
            Self::RevisionId => json!({"type": "string", "pattern": "^rev-(0|[1-9][0-9]*)$"}),
            Self::RelativePath => json!({"type": "string", "minLength": 1, "maxLength": limits::PATH_BYTES}),
            Self::UnifiedDiff => json!({"type": "string", "minLength": 1, "maxLength": limits::PATCH_BYTES}),
            Self::Text => json!({"type": "string", "minLength": 1, "maxLength": limits::AGENT_TEXT_BYTES}),
            Self::ApprovedOrRejected => json!({"type": "string", "enum": ["approved", "rejected"]}),
            Self::ProjectId
            | Self::ApprovedGate
            | Self::IdempotencyKey
            | Self::ImmutableId
            | Self::Capability
            | Self::ErrorClass => json!({"type": "string"}),
        }
    }
}

const fn must(name: &'static str, kind: FieldKind) -> Field {
    Field { name, kind, required: true }
}

const fn may(name: &'static str, kind: FieldKind) -> Field {
    Field { name, kind, required: false }
}

/// Every tool, in the order in which it is listed.
pub const TOOLS: &[ToolContract] = &[
    ToolContract {
        name: ToolName::ReadProjectFile,
        summary: "Reads one file of the run's revision or of its base.",
        input: &[
            must("projectId", FieldKind::ProjectId),
            must("revisionId", FieldKind::RevisionId),
            must("path", FieldKind::RelativePath),
        ],
        output: &[
            must("content", FieldKind::Text),
            must("sha256", FieldKind::Digest),
            must("truncated", FieldKind::Boolean),
        ],
        timeout_ms: 10_000,
        inline_bytes: limits::READ_BYTES,
    },
    ToolContract {
        name: ToolName::ListProjectFiles,
        summary: "Lists the paths of the files of the run's revision or of its base, sorted.",
        input: &[
            must("projectId", FieldKind::ProjectId),
            must("revisionId", FieldKind::RevisionId),
            may("under", FieldKind::RelativePath),
        ],
        output: &[must("files", FieldKind::TextList), must("truncated", FieldKind::Boolean)],
        timeout_ms: 10_000,
        inline_bytes: limits::READ_BYTES,
    },
    ToolContract {
        name: ToolName::SearchProjectText,
        summary: "Finds the lines that hold a text literally, as path:line: content.",
        input: &[
            must("projectId", FieldKind::ProjectId),
            must("revisionId", FieldKind::RevisionId),
            must("text", FieldKind::Text),
            may("under", FieldKind::RelativePath),
        ],
        output: &[must("matches", FieldKind::TextList), must("truncated", FieldKind::Boolean)],
        timeout_ms: 30_000,
        inline_bytes: limits::READ_BYTES,
    },
    ToolContract {
        name: ToolName::ApplyProjectPatch,
        summary: "Applies a patch (unified diff, `*** Begin Patch` or search/replace blocks) to the run's revision if its tree still has the expected digest.",
        input: &[
            must("revisionId", FieldKind::RevisionId),
            must("expectedBaseSha", FieldKind::Digest),
            must("patch", FieldKind::UnifiedDiff),
        ],
        output: &[must("changedFiles", FieldKind::TextList), must("revisionSha", FieldKind::Digest)],
        timeout_ms: 30_000,
        inline_bytes: limits::READ_BYTES,
    },
    ToolContract {
        name: ToolName::RunNamedGate,
        summary: "Runs a gate of the blueprint on the current tree, in the sandbox.",
        input: &[
            must("revisionId", FieldKind::RevisionId),
            must("gateId", FieldKind::ApprovedGate),
            must("idempotencyKey", FieldKind::IdempotencyKey),
        ],
        output: &[
            must("exitCode", FieldKind::Integer),
            must("artifactId", FieldKind::ImmutableId),
            must("durationMs", FieldKind::Integer),
            may("errorClass", FieldKind::ErrorClass),
            may("objections", FieldKind::TextList),
            must("output", FieldKind::Text),
            must("truncated", FieldKind::Boolean),
        ],
        timeout_ms: 3_600_000,
        inline_bytes: 4 * limits::OUTPUT_WINDOW_BYTES,
    },
    ToolContract {
        name: ToolName::RequestScopedApproval,
        summary: "Asks a person to approve exactly one proposal that was held back.",
        input: &[
            must("proposalId", FieldKind::ImmutableId),
            must("capability", FieldKind::Capability),
            must("reason", FieldKind::Text),
        ],
        output: &[must("decision", FieldKind::ApprovedOrRejected), must("receiptId", FieldKind::ImmutableId)],
        timeout_ms: 900_000,
        inline_bytes: 1024,
    },
];

impl ToolContract {
    /// The contract of a tool.
    ///
    /// # Panics
    /// Never: every tool has a contract, which a test holds.
    #[must_use]
    pub fn of(name: ToolName) -> &'static Self {
        #[expect(clippy::expect_used, reason = "a test holds that every tool has a contract")]
        // INVARIANT: TOOLS has one entry for each word of ToolName.
        TOOLS.iter().find(|tool| tool.name == name).expect("every tool has a contract")
    }

    /// The side-effect class.
    #[must_use]
    pub const fn side_effect(&self) -> SideEffect {
        self.name.side_effect()
    }

    /// The JSON Schema (2020-12) of the input.
    #[must_use]
    pub fn input_schema(&self) -> Value {
        object_schema(self.input)
    }

    /// The JSON Schema (2020-12) of the output.
    #[must_use]
    pub fn output_schema(&self) -> Value {
        object_schema(self.output)
    }
}

fn object_schema(fields: &[Field]) -> Value {
    let properties: serde_json::Map<String, Value> =
        fields.iter().map(|field| (field.name.to_owned(), field.kind.schema())).collect();
    let required: Vec<&str> = fields.iter().filter(|field| field.required).map(|field| field.name).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}
