//! What a person is told when something did not work: a stable code, what happened, and what to do next.

use std::error::Error;
use std::fmt;

use ambit_blueprint::{DocumentError, closest};
use serde_json::{Value, json};

use crate::terminal::{columns, counted, folded, printable, printable_json};

/// The exit codes. They are part of the interface and never change their meaning.
pub(crate) mod exit {
    /// Done; of a run: it completed.
    pub(crate) const OK: u8 = 0;
    /// Something in the program or the machine failed.
    pub(crate) const INTERNAL: u8 = 1;
    /// The command or a document was wrong.
    pub(crate) const USAGE: u8 = 2;
    /// The run ended without its gates passing.
    pub(crate) const RUN_FAILED: u8 = 3;
    /// The policy denied.
    pub(crate) const DENIED: u8 = 4;
    /// A limit of the budget was reached.
    pub(crate) const BUDGET: u8 = 5;
    /// A person must decide, and nobody can be asked.
    pub(crate) const NEEDS_APPROVAL: u8 = 6;
    /// The run was cancelled.
    pub(crate) const CANCELLED: u8 = 7;
    /// An approval was denied or ran out.
    pub(crate) const APPROVAL: u8 = 8;
    /// The backend or a capability is not to be had.
    pub(crate) const UNAVAILABLE: u8 = 9;
    /// A trace or an image is refuted, or a revision is not eligible.
    pub(crate) const REFUTED: u8 = 10;
    /// Not found, or not allowed.
    pub(crate) const NOT_FOUND: u8 = 11;
    /// It could not be verified.
    pub(crate) const UNVERIFIED: u8 = 12;
    /// Something of sandboxes is left that nobody owns.
    pub(crate) const LEFT_BEHIND: u8 = 13;
    /// Interrupted from the keyboard.
    pub(crate) const INTERRUPTED: u8 = 130;
    /// Ended at once from the keyboard.
    pub(crate) const QUIT: u8 = 131;
    /// Ended by a signal to terminate.
    pub(crate) const TERMINATED: u8 = 143;
    /// The terminal was closed.
    pub(crate) const HUNG_UP: u8 = 129;
}

/// Why a command did not do what it was asked to.
#[derive(Debug)]
pub(crate) struct Failure {
    code: String,
    message: String,
    help: String,
    exit: u8,
    /// The entry of a tree that it is about, as text, where it is about one.
    path: Option<String>,
    /// What is wrong with a document, where it is that.
    document: Option<Box<DocumentError>>,
}

impl Failure {
    pub(crate) fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        let code = code.into();
        Self {
            exit: exit_of(&code),
            help: remedy(&code).to_owned(),
            code,
            message: message.into(),
            path: None,
            document: None,
        }
    }

    /// A failure of a part below, with the whole chain of its causes.
    pub(crate) fn of(code: impl Into<String>, error: &(dyn Error + 'static)) -> Self {
        let mut message = error.to_string();
        let mut cause = error.source();
        while let Some(below) = cause {
            let text = below.to_string();
            if !message.contains(&text) {
                message = format!("{message}\n  because: {text}");
            }
            cause = below.source();
        }
        Self::new(code, message)
    }

    /// A failure of a document, with everything that is wrong with it.
    pub(crate) fn of_document(error: DocumentError) -> Self {
        let wrong = counted(error.problems().count(), "problem");
        let failure = Self::new(error.code(), format!("{} cannot be used: {wrong}", error.file()));
        Self { document: Some(Box::new(error)), ..failure }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }

    /// The same failure, about an entry of a tree.
    pub(crate) fn about(mut self, path: Option<String>) -> Self {
        self.path = path;
        self
    }

    /// The same failure, which also names the known name that is closest to the one that was given.
    pub(crate) fn meant<'a>(mut self, given: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        if let Some(meant) = closest(given, known) {
            self.message.push_str(&format!("; did you mean {meant}?"));
        }
        self
    }

    /// The same failure with another exit code.
    pub(crate) const fn exiting(mut self, exit: u8) -> Self {
        self.exit = exit;
        self
    }

    /// The same failure of somebody who asked for a proof: over a damaged store nothing is proved, and nothing is refuted.
    pub(crate) fn of_a_proof(self) -> Self {
        if self.code == "STORE_DAMAGED" { self.exiting(exit::UNVERIFIED) } else { self }
    }

    /// What happened, and what to do next.
    pub(crate) fn parts(&self) -> (&str, &str) {
        (&self.message, &self.help)
    }

    pub(crate) fn code(&self) -> &str {
        &self.code
    }

    pub(crate) const fn exit(&self) -> u8 {
        self.exit
    }

    /// What is written to standard error.
    pub(crate) fn told(&self, json: bool) -> String {
        match (json, &self.document) {
            (true, _) => printable_json(&self.to_json()),
            // The lines of a document, and what points at them, keep their columns.
            (false, Some(_)) => printable(&format!("{self}\n")),
            (false, None) => folded(&printable(&format!("{self}\n")), columns(std::io::stderr())),
        }
    }

    fn to_json(&self) -> Value {
        let mut error = json!({"code": self.code, "message": self.message, "help": self.help});
        if let Some(path) = &self.path {
            error["path"] = json!(path);
        }
        if let Some(document) = &self.document {
            error["problems"] = problems(document);
        }
        json!({"error": error})
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.document {
            None => write!(f, "error[{}]: {}", self.code, self.message)?,
            Some(document) => write!(f, "{}\n\n{}", document.render().trim_end(), self.message)?,
        }
        if self.help.is_empty() { Ok(()) } else { write!(f, "\n  help: {}", self.help) }
    }
}

/// Everything that is wrong with a document, each with its place.
fn problems(error: &DocumentError) -> Value {
    let told = error.problems().map(|problem| {
        json!({
            "code": problem.code.as_str(), "path": error.file(), "line": problem.line, "column": problem.column,
            "message": problem.message, "label": problem.label, "help": problem.help,
            "snippet": problem.snippet(),
        })
    });
    told.collect()
}

/// What is kept and what to do next where the home itself failed: the part that failed does not know what it is a part of.
fn remedy(code: &str) -> &'static str {
    match code {
        "STORAGE_FULL" => {
            "what was committed is kept; free space on the disk of the home, and do the same again"
        }
        "BACKEND_NOT_A_RUNTIME" => {
            "nothing was started; name a runtime that makes containers from bundles, such as `oci:crun`, `oci:runc` or `oci:runsc`"
        }
        "STORE_BUSY" => "nothing was changed; do the same again",
        "STORE_READ_ONLY" => {
            "nothing was changed; let this user write to the home, or name another with --home"
        }
        "STORE_FOREIGN" => "nothing was changed; name another home with --home",
        "STORE_NEWER_SCHEMA" => {
            "nothing was changed; use the version of ambit that wrote this home, or a later one"
        }
        "STORE_DAMAGED" => {
            "nothing was changed; keep the home as it is for whoever looks into it, and restore its store.sqlite from a backup"
        }
        "STORE_FAILED" | "BLOB_STORE_FAILED" => {
            "what was committed is kept; mend the disk of the home, and do the same again"
        }
        _ => "",
    }
}

/// The exit code of a failure, by its stable code.
pub(crate) fn exit_of(code: &str) -> u8 {
    match code {
        "BLUEPRINT_NOT_APPROVED" | "POLICY_DENIED" | "STAGE_NOT_ACTIONABLE" => exit::DENIED,
        // Whatever a command names and the project does not have, and whoever is not who is needed.
        "RUN_NOT_FOUND"
        | "REVISION_NOT_FOUND"
        | "BASE_REVISION_GONE"
        | "GATE_NOT_FOUND"
        | "PROPOSAL_NOT_FOUND"
        | "BLUEPRINT_NOT_FOUND"
        | "PROFILE_UNKNOWN"
        | "REQUEST_UNKNOWN"
        | "IMAGE_NOT_FOUND"
        | "VOLUME_NOT_FOUND"
        | "CATALOG_NOT_FOUND"
        | "IMPORT_REVISION_NOT_FOUND"
        | "MIRROR_COMMIT_NOT_FOUND"
        | "APPROVER_MISSING"
        | "APPROVER_UNKNOWN"
        | "CREDENTIAL_REFUSED" => exit::NOT_FOUND,
        "BACKEND_ABSENT"
        | "BACKEND_NOT_ADMITTED"
        | "BACKEND_NOT_A_RUNTIME"
        | "BACKEND_UNKNOWN"
        | "RUNTIME_UNAVAILABLE"
        | "SANDBOX_UNAVAILABLE"
        | "IMAGE_TOOL_MISSING"
        | "VOLUME_CRATES_MISSING"
        | "MIRROR_BUSY"
        | "MIRROR_DEADLINE"
        | "MIRROR_GIT_FAILED"
        | "MIRROR_GIT_MISSING"
        | "MIRROR_GIT_UNSTARTABLE" => exit::UNAVAILABLE,
        "TRACE_BROKEN"
        | "TRACE_HEAD_FORGED"
        | "TRACE_REFUTED"
        | "REVISION_INELIGIBLE"
        | "BLOB_CORRUPT"
        | "IMAGE_CORRUPT"
        | "VOLUME_CORRUPT" => exit::REFUTED,
        "TRACE_UNVERIFIED" => exit::UNVERIFIED,
        "APPROVAL_EXPIRED" => exit::APPROVAL,
        _ if is_usage(code) => exit::USAGE,
        _ => exit::INTERNAL,
    }
}

/// The first words of the codes that say that the command, or a document that it names, was wrong.
const USAGE_FAMILIES: [&str; 24] = [
    "COMMAND_",
    "CONFIG_",
    "DOCUMENT_",
    "AMBIT_TOML_",
    "GOAL_",
    "HIDDEN_FILES_",
    "PREPARATION_",
    "SURVEY_",
    "MODEL_",
    "POLICY_RULE_",
    "TRANSCRIPT_",
    "USAGE",
    "IMPORT_",
    "MIRROR_BRANCH_",
    "MIRROR_COMMIT_",
    "MIRROR_SOURCE_",
    "REQUEST_",
    "IMAGE_ARCHIVE_",
    "IMAGE_BLOB_",
    "IMAGE_CHOICE_",
    "IMAGE_DOCUMENT_",
    "IMAGE_ENTRY_",
    "IMAGE_LAYER_",
    "VOLUME_SOURCE_",
];

/// Whether a code says that the command, or a document that it names, was wrong.
fn is_usage(code: &str) -> bool {
    USAGE_FAMILIES.iter().any(|family| code.starts_with(family))
        || matches!(
            code,
            "AGENT_MISMATCH"
                | "APPROVAL_NOT_AWAITED"
                | "APPROVER_EXISTS"
                | "BACKEND_MISMATCH"
                | "BLUEPRINT_TOO_LARGE"
                | "BLUEPRINT_UNFIT"
                | "CATALOG_NOT_NAMED"
                | "CREDENTIAL_IN_PROJECT"
                | "DECISION_WAITS"
                | "EXPORT_EXISTS"
                | "EXPORT_MAIL_TOO_LARGE"
                | "EXPORT_NOTHING_CHANGED"
                | "EXPORT_NOT_A_DIRECTORY"
                | "EXPORT_NO_PLACE"
                | "EXPORT_PATH_REFUSED"
                | "EXPORT_WITHIN_SOURCE"
                | "FIXTURE_MIXED"
                | "GATE_UNKNOWN"
                | "IMAGE_MIXED"
                | "IMAGE_NOT_PINNED"
                | "IMAGE_PATH_CONFLICT"
                | "IMAGE_PATH_HIDDEN"
                | "IMAGE_SOURCE_UNFIT"
                | "IMAGE_TOOL_AMBIGUOUS"
                | "IMAGE_TOOL_COUNT"
                | "IMAGE_TOOL_UNFIT"
                | "IMAGE_TOO_LARGE"
                | "MIRROR_INCOMPLETE"
                | "MIRROR_NOT_A_COMMIT"
                | "POLICY_EXAMPLE_FAILS"
                | "POLICY_NEVER_APPROVABLE"
                | "POLICY_REFUSED_BY_CEDAR"
                | "POLICY_UNRESOLVED"
                | "POLICY_WITHOUT_TOOL_RULES"
                | "RUN_ENDED"
                | "RUN_NAME_TAKEN"
                | "RUN_WITHOUT_GATE"
                | "VOLUMES_TOO_MANY"
                | "VOLUME_ARCHIVE_REFUSED"
                | "VOLUME_CRATE_ALTERED"
                | "VOLUME_LINK_LEAVES"
                | "VOLUME_LOCK_MALFORMED"
                | "VOLUME_NOT_PINNED"
                | "VOLUME_SITE_PACKAGES"
                | "VOLUME_SPECIAL_FILE"
                | "VOLUME_TOO_LARGE"
        )
}
