use std::error::Error;
use std::path::{Path, PathBuf};

use ambit_ids::Digest;
use ambit_revision::{Excerpt, Mismatch, Outcome, PatchError, PatchRefusal, Reason};
use serde_json::{Value, json};

use super::Aim;
use super::page;
use crate::answer::Answer;
use crate::failure::exit;
use crate::terminal::{counted, is_read_by_a_person, printable_json};

/// What is told of a patch.
pub(super) struct Verdict {
    pub(super) aim: Aim,
    /// The digest of the patch as it was given, where it was read to its end.
    pub(super) patch: Option<Digest>,
    /// The digest of the tree that comes out, where everything was read.
    pub(super) tree: Option<Digest>,
    /// Where the outcome was written.
    pub(super) place: Option<Place>,
    pub(super) ruling: Ruling,
}

/// Where the outcome of a patch was written.
pub(super) struct Place {
    pub(super) dir: PathBuf,
    /// Whether only the files were that the patch makes or changes.
    pub(super) changed_only: bool,
}

/// What became of a patch.
pub(super) enum Ruling {
    /// It fits the directory.
    Fits(Outcome),
    /// The directory is what it leads to. What it did then is told where that is known.
    StandsAlready(Option<Outcome>),
    /// It is no patch that is understood as a whole.
    NoPatch(PatchError),
    /// It does not fit.
    Refused(PatchRefusal),
}

impl Ruling {
    /// The code of a refusal, and of a patch that is applied already.
    pub(super) const fn code(&self) -> Option<&'static str> {
        match self {
            Self::Fits(_) => None,
            Self::StandsAlready(_) => Some("PATCH_ALREADY_APPLIED"),
            Self::NoPatch(error) => Some(error.code()),
            Self::Refused(refusal) => Some(refusal.code()),
        }
    }

    /// The same in words.
    pub(super) fn message(&self) -> String {
        match self {
            Self::Fits(outcome) => {
                let comparison = &outcome.canonical.comparison;
                let lines = comparison.totals.lines;
                let files = counted(comparison.files.len(), "file");
                format!("{files} changed, {} added, {} removed", counted(lines.added, "line"), lines.removed)
            }
            Self::StandsAlready(_) => {
                "the directory already holds everything that the patch asks for".to_owned()
            }
            Self::NoPatch(error) => with_causes(error),
            Self::Refused(refusal) => with_causes(refusal),
        }
    }

    /// What the patch does, or did.
    pub(super) const fn effect(&self) -> Option<&Outcome> {
        match self {
            Self::Fits(outcome) | Self::StandsAlready(Some(outcome)) => Some(outcome),
            Self::StandsAlready(None) | Self::NoPatch(_) | Self::Refused(_) => None,
        }
    }
}

impl Verdict {
    /// The same, whose outcome was written.
    pub(super) fn written_to(self, dir: &Path, changed_only: bool) -> Self {
        Self { place: Some(Place { dir: dir.to_owned(), changed_only }), ..self }
    }

    /// The verdict in a word.
    pub(super) const fn word(&self) -> &'static str {
        match self.ruling {
            Ruling::Fits(_) => self.aim.verdict(),
            Ruling::StandsAlready(_) => "already-applied",
            Ruling::NoPatch(_) | Ruling::Refused(_) => "refused",
        }
    }

    /// One object with the same members whatever the verdict is.
    fn to_json(&self) -> Value {
        let mut json = json!({
            "verdict": self.word(), "code": self.ruling.code(), "message": self.ruling.message(),
            "patch": self.patch, "canonical": null, "tree": self.tree,
            "files": [], "hunks": [], "warnings": [], "patchLine": null,
            "path": null, "hunk": null, "line": null, "expected": null, "found": null, "candidates": [],
        });
        if let Some(effect) = self.ruling.effect() {
            let warnings: Vec<String> = effect.warnings.iter().map(ToString::to_string).collect();
            json["canonical"] = json!(effect.canonical.digest);
            json["files"] = json!(effect.canonical.comparison.files);
            json["hunks"] = json!(effect.matches);
            json["warnings"] = json!(warnings);
        }
        match &self.ruling {
            Ruling::NoPatch(error) => {
                json["patchLine"] = json!(error.line);
                json["path"] = json!(error.fault.path());
            }
            Ruling::Refused(PatchRefusal::At { path, reason }) => {
                json["path"] = json!(path);
                tell_reason(&mut json, reason);
            }
            Ruling::Refused(PatchRefusal::Tree(error)) => json["path"] = json!(error.path()),
            _ => {}
        }
        json
    }

    /// The object, or a page of the same where a person reads it at a terminal.
    pub(super) fn answer(self, json: bool) -> Answer {
        let exit = if self.word() == "refused" { exit::DENIED } else { exit::OK };
        let value = self.to_json();
        let text =
            if is_read_by_a_person(json) { page::of(&self).into_text() } else { printable_json(&value) };
        Answer::new(text, value).verbatim().exiting(exit)
    }
}

/// Where in the file, and what stands there.
fn tell_reason(json: &mut Value, reason: &Reason) {
    match reason {
        Reason::DeletePartial(mismatch) | Reason::ContextMismatch(mismatch) => tell_mismatch(json, mismatch),
        Reason::AmbiguousPlace { hunk, lines } => {
            json["hunk"] = json!(hunk);
            json["candidates"] = json!(lines);
        }
        Reason::HunkOverlap { hunk, line } | Reason::ContextLineEnding { hunk, line, .. } => {
            json["hunk"] = json!(hunk);
            json["line"] = json!(line);
        }
        Reason::AnchorMissing { hunk, line } => {
            json["hunk"] = json!(hunk);
            json["expected"] = json!(line.text());
        }
        Reason::UnanchoredInsert { hunk } | Reason::FinalNewline { hunk } => json["hunk"] = json!(hunk),
        _ => {}
    }
}

fn tell_mismatch(json: &mut Value, mismatch: &Mismatch) {
    let Mismatch { hunk, line, expected, found, candidates } = mismatch;
    json["hunk"] = json!(hunk);
    json["line"] = json!(line);
    json["expected"] = json!(expected.as_ref().map(Excerpt::text));
    json["found"] = json!(found.as_ref().map(Excerpt::text));
    json["candidates"] = json!(candidates);
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
