use std::fmt;

use ambit_ids::{Digest, RevisionId, RunId, UnixMs, is_unprintable};

use crate::author::Author;
use crate::limits;
use crate::message::Message;

/// What is said beside the change itself.
#[derive(Clone, Debug)]
pub struct Envelope {
    /// Who the change is from.
    pub author: Author,
    /// When it was made. Git keeps whole seconds.
    pub at: UnixMs,
    /// What it is about.
    pub message: Message,
    /// Where its evidence is found. It stands below the message, as trailers.
    pub evidence: Option<Evidence>,
}

/// What leads a reviewer from a commit to the evidence of a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The revision.
    pub revision: RevisionId,
    /// The run that made it; `None` for an import.
    pub run: Option<RunId>,
    /// The digest of its tree.
    pub tree: Digest,
    /// The digest of the canonical diff from the base; `None` where there is no base.
    pub patch: Option<Digest>,
    /// Whether it may be previewed.
    pub standing: Standing,
}

/// Whether a revision may be previewed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Its gates passed on exactly this tree.
    PreviewReady,
    /// It is not, and why.
    Ineligible(String),
}

impl fmt::Display for Standing {
    /// One line, however the reason is written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PreviewReady => f.write_str("preview-ready"),
            Self::Ineligible(why) => {
                let shown: String = why.chars().map(|c| if is_unprintable(c) { ' ' } else { c }).collect();
                let line = shown.split_whitespace().collect::<Vec<_>>().join(" ");
                let end = line.floor_char_boundary(limits::STANDING_BYTES);
                write!(f, "ineligible: {}", &line[..end])
            }
        }
    }
}

impl fmt::Display for Evidence {
    /// The trailers, one a line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Ambit-Revision: {}", self.revision)?;
        if let Some(run) = &self.run {
            writeln!(f, "Ambit-Run: {run}")?;
        }
        writeln!(f, "Ambit-Tree: {}", self.tree)?;
        if let Some(patch) = &self.patch {
            writeln!(f, "Ambit-Patch: {patch}")?;
        }
        writeln!(f, "Ambit-Standing: {}", self.standing)
    }
}

impl Envelope {
    /// What stands below the subject: the text and the trailers, each ending with a line feed and parted by an empty
    /// line.
    pub(crate) fn below_subject(&self) -> String {
        let body = Some(self.message.body()).filter(|body| !body.is_empty()).map(|body| format!("{body}\n"));
        let trailers = self.evidence.as_ref().map(Evidence::to_string);
        [body, trailers].into_iter().flatten().collect::<Vec<_>>().join("\n")
    }

    /// The moment in whole seconds since 1970.
    pub(crate) fn seconds(&self) -> u64 {
        self.at.get() / 1_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_of_a_standing_is_one_short_line() {
        let why = Standing::Ineligible(format!("budget\nAmbit-Standing: preview-ready {}", "é".repeat(300)));
        let told = why.to_string();
        assert!(told.starts_with("ineligible: budget Ambit-Standing: preview-ready é"), "{told}");
        assert!(!told.contains('\n') && told.len() <= limits::STANDING_BYTES + 12, "{told}");
    }
}
