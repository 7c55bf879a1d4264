use std::error::Error;

use ambit_ids::Digest;
use ambit_revision::{Excerpt, Mismatch, Outcome, PatchError, PatchRefusal, Reason, TreeError};
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::failure::exit;
use crate::terminal::{counted, printable_json};

/// What is told of a patch: one object with the same members whatever the verdict is.
pub(super) struct Verdict {
    json: Value,
    exit: u8,
}

impl Verdict {
    /// Nothing but what became of it. `patch` is the digest of the patch as it was given.
    fn new(verdict: &str, code: Option<&str>, message: &str, patch: Option<Digest>) -> Self {
        let exit = if verdict == "refused" { exit::DENIED } else { exit::OK };
        let json = json!({
            "verdict": verdict, "code": code, "message": message, "patch": patch, "canonical": null, "tree": null,
            "files": [], "hunks": [], "warnings": [], "patchLine": null,
            "path": null, "hunk": null, "line": null, "expected": null, "found": null, "candidates": [],
        });
        Self { json, exit }
    }

    /// That it applies.
    pub(super) fn applied(patch: Option<Digest>, outcome: &Outcome) -> Self {
        let comparison = &outcome.canonical.comparison;
        let lines = comparison.totals.lines;
        let files = counted(comparison.files.len(), "file");
        let message =
            format!("{files} changed, {} added, {} removed", counted(lines.added, "line"), lines.removed);
        Self::new("applied", None, &message, patch).effect(outcome)
    }

    /// That the directory is what it leads to. What it did then is told where that is known.
    pub(super) fn already_applied(patch: Option<Digest>, original: Option<&Outcome>) -> Self {
        let message = "the directory already holds everything that the patch asks for";
        let told = Self::new("already-applied", Some("PATCH_ALREADY_APPLIED"), message, patch);
        match original {
            Some(outcome) => told.effect(outcome),
            None => told,
        }
    }

    fn effect(self, outcome: &Outcome) -> Self {
        let warnings: Vec<String> = outcome.warnings.iter().map(ToString::to_string).collect();
        self.set("canonical", json!(outcome.canonical.digest))
            .set("files", json!(outcome.canonical.comparison.files))
            .set("hunks", json!(outcome.matches))
            .set("warnings", json!(warnings))
    }

    /// That it is no patch that is understood as a whole.
    pub(super) fn of_error(patch: Option<Digest>, error: &PatchError) -> Self {
        Self::new("refused", Some(error.code()), &with_causes(error), patch)
            .set("patchLine", json!(error.line))
    }

    /// That it does not apply.
    pub(super) fn of_refusal(patch: Option<Digest>, refusal: &PatchRefusal) -> Self {
        let told = Self::new("refused", Some(refusal.code()), &with_causes(refusal), patch);
        match refusal {
            PatchRefusal::At { path, reason } => told.set("path", json!(path)).reason(reason),
            PatchRefusal::Tree(
                TreeError::Twice(path)
                | TreeError::FileInTheWay(path)
                | TreeError::DirectoryInTheWay(path)
                | TreeError::Absent(path)
                | TreeError::FileTooLarge { path, .. },
            ) => told.set("path", json!(path)),
            PatchRefusal::Tree(TreeError::Limit(_))
            | PatchRefusal::BaseMoved { .. }
            | PatchRefusal::AlreadyApplied(_) => told,
        }
    }

    /// The same, with the tree that comes out.
    pub(super) fn with_tree(self, tree: Digest) -> Self {
        self.set("tree", json!(tree))
    }

    /// Where in the file, and what stands there.
    fn reason(self, reason: &Reason) -> Self {
        match reason {
            Reason::DeletePartial(mismatch) | Reason::ContextMismatch(mismatch) => self.mismatch(mismatch),
            Reason::AmbiguousPlace { hunk, lines } => {
                self.set("hunk", json!(hunk)).set("candidates", json!(lines))
            }
            Reason::HunkOverlap { hunk, line } | Reason::ContextLineEnding { hunk, line, .. } => {
                self.set("hunk", json!(hunk)).set("line", json!(line))
            }
            Reason::AnchorMissing { hunk, line } => {
                self.set("hunk", json!(hunk)).set("expected", json!(line.as_str()))
            }
            Reason::UnanchoredInsert { hunk } | Reason::FinalNewline { hunk } => {
                self.set("hunk", json!(hunk))
            }
            _ => self,
        }
    }

    fn mismatch(self, mismatch: &Mismatch) -> Self {
        let Mismatch { hunk, line, expected, found, candidates } = mismatch;
        self.set("hunk", json!(hunk))
            .set("line", json!(line))
            .set("expected", json!(expected.as_ref().map(Excerpt::as_str)))
            .set("found", json!(found.as_ref().map(Excerpt::as_str)))
            .set("candidates", json!(candidates))
    }

    fn set(mut self, member: &str, value: Value) -> Self {
        self.json[member] = value;
        self
    }

    /// The object, which is all that is written to standard output whether or not JSON is asked for.
    pub(super) fn answer(self) -> Answer {
        Answer::new(printable_json(&self.json), self.json).verbatim().exiting(self.exit)
    }
}

fn with_causes(error: &dyn Error) -> String {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(below) = cause {
        message = format!("{message}: {below}");
        cause = below.source();
    }
    message
}
