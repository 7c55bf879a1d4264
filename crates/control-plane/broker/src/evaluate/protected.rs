//! Protected files, hashed again after every gate in the very copy that the gate ran on.
//!
//! They are asked for as outputs, behind those of the catalog: taken after the last process ended, without following a link,
//! and never waited for. One that is not what it was voids the result, whoever changed it: what ran was not the protected
//! test.

use ambit_gates::Ending;
use ambit_ids::{ByteCount, Digest, RepoPath};
use ambit_ports::sandbox::{ChangedFile, DeclaredOutput, ExecutionObservation, OutputRefusal, ProtectedSeen};
use ambit_revision::{FileKind, Tree};

use crate::ground::Ground;

/// The most changed files that are told one by one.
const TOLD: usize = 32;
/// How much larger a file may have become for its new content to be kept.
const GROWTH_BYTES: u64 = 64 << 10;

/// How many protected files a tree has.
#[must_use]
pub fn protected_count(ground: &Ground, tree: &Tree) -> u32 {
    counted(Protected::of(ground, tree).0.len())
}

fn counted(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// A protected file of a tree.
struct ProtectedFile {
    path: RepoPath,
    content: Digest,
    size: ByteCount,
    kind: FileKind,
}

/// The protected files of the tree that a gate runs on.
pub(super) struct Protected(Vec<ProtectedFile>);

/// What became of one file.
enum Found {
    Kept(Digest),
    Refused(OutputRefusal),
}

impl Protected {
    pub(super) fn of(ground: &Ground, tree: &Tree) -> Self {
        let paths = &ground.blueprint.spec.protected_oracles.paths;
        let files = tree.files().filter(|(path, _)| paths.contains(path));
        Self(
            files
                .map(|(path, file)| ProtectedFile {
                    path,
                    content: file.content,
                    size: file.size,
                    kind: file.kind,
                })
                .collect(),
        )
    }

    /// Asks for them behind the outputs of the catalog.
    pub(super) fn declare(&self, outputs: &mut Vec<DeclaredOutput>) {
        outputs.extend(self.0.iter().map(|file| DeclaredOutput {
            path: file.path.clone(),
            limit: ByteCount::new(file.size.get().saturating_add(GROWTH_BYTES)),
            entries: None,
        }));
    }

    /// Takes them out of what was seen again. Where the command did not end by itself there may be no workspace to look at,
    /// and nothing is said of them: it did not pass.
    pub(super) fn take(&self, seen: &mut ExecutionObservation) {
        let mut changed: Vec<ChangedFile> =
            self.0.iter().rev().filter_map(|file| file.change(taken(&file.path, seen))).collect();
        if !matches!(seen.ending, Ending::Exited { .. }) {
            return;
        }
        changed.reverse();
        let more = counted(changed.len().saturating_sub(TOLD));
        changed.truncate(TOLD);
        seen.protected = Some(ProtectedSeen { looked_at: counted(self.0.len()), changed, more });
    }
}

/// What is told of the last output that was asked for, which is this one. A backend that tells nothing of it read nothing.
fn taken(path: &RepoPath, seen: &mut ExecutionObservation) -> Found {
    if let Some(kept) = seen.outputs.pop_if(|kept| kept.path == *path) {
        return Found::Kept(kept.artifact);
    }
    let refused = seen.refused_outputs.pop_if(|refused| refused.path == *path && refused.entry.is_none());
    Found::Refused(refused.map_or(OutputRefusal::Unreadable, |refused| refused.why))
}

impl ProtectedFile {
    fn change(&self, found: Found) -> Option<ChangedFile> {
        let (after, why) = match (found, self.kind) {
            (Found::Kept(after), FileKind::File | FileKind::Executable) if after == self.content => {
                return None;
            }
            // A link is told of by its refusal, and by no more.
            (Found::Refused(OutputRefusal::Link), FileKind::Link) => return None,
            (Found::Kept(after), _) => (Some(after), None),
            (Found::Refused(why), _) => (None, Some(why)),
        };
        Some(ChangedFile { path: self.path.clone(), before: self.content, after, why })
    }
}
