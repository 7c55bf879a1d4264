//! Protected files, looked at again after every gate in the very copy that the gate ran on.
//!
//! They are asked for as outputs, behind those of the catalog: taken after the last process ended, without following a link,
//! and never waited for. One that is not what it was voids the result, whoever changed it: what ran was not the protected
//! test. Beside that their places are watched: what is new there, or was put back before anybody looked, voids it as well.

use std::collections::{BTreeMap, BTreeSet};

use ambit_gates::Ending;
use ambit_ids::{ByteCount, Digest, PathPattern, PathSet, RepoPath};
use ambit_ports::sandbox::{
    ChangedFile, DeclaredOutput, ExecutionObservation, NamedCommand, OutputRefusal, ProtectedSeen, Watch,
    Written,
};
use ambit_revision::{FileKind, Tree};
use ambit_run::Rules;

use crate::ground::Ground;

/// The most changed files that are told one by one.
const TOLD: usize = 32;
/// How much larger a file may have become for its new content to be kept.
const GROWTH_BYTES: u64 = 64 << 10;
/// The name of a file that nobody has made yet, to find out whether one of any name would be protected.
const ANY_NAME: &[u8] = b"any";

/// How many protected files a tree has, with those of a hidden check that lie in it.
#[must_use]
pub fn protected_count(ground: &Ground, tree: &Tree, hidden: Option<&Tree>) -> u32 {
    counted(Protected::of(ground, tree, hidden).files.len())
}

/// Whether a run watches the places of protected files, and not the files alone.
#[must_use]
pub fn is_watched(ground: &Ground, hidden: Option<&Tree>) -> bool {
    !watched(ground, hidden).0.is_empty()
}

fn counted(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The places where nothing may be written: those of the blueprint, and every file of a hidden check.
fn watched(ground: &Ground, hidden: Option<&Tree>) -> PathSet {
    if ground.pins.rules < Rules::Watched {
        return PathSet::default();
    }
    let mut patterns = ground.blueprint.spec.protected_oracles.paths.clone();
    let files = hidden.into_iter().flat_map(Tree::files);
    patterns.0.extend(files.filter_map(|(path, _)| PathPattern::of(&path)));
    patterns
}

/// A protected file of a tree.
struct ProtectedFile {
    content: Digest,
    size: ByteCount,
    kind: FileKind,
}

/// The protected files of the tree that a gate runs on.
pub(super) struct Protected {
    files: BTreeMap<RepoPath, ProtectedFile>,
    watched: PathSet,
    /// What the command is expected to leave, wherever that is.
    expected: Vec<DeclaredOutput>,
}

/// What became of one file.
enum Found {
    Kept(Digest),
    Refused(OutputRefusal),
}

impl Protected {
    pub(super) fn of(ground: &Ground, tree: &Tree, hidden: Option<&Tree>) -> Self {
        let paths = &ground.blueprint.spec.protected_oracles.paths;
        let is_hidden = |path: &RepoPath| hidden.is_some_and(|hidden| hidden.get(path).is_some());
        let files = tree.files().filter(|(path, _)| paths.contains(path) || is_hidden(path));
        let files = files.map(|(path, file)| {
            (path, ProtectedFile { content: file.content, size: file.size, kind: file.kind })
        });
        Self { files: files.collect(), watched: watched(ground, hidden), expected: Vec::new() }
    }

    /// Asks for them behind the outputs of the catalog.
    pub(super) fn declare(&mut self, command: &mut NamedCommand) {
        self.expected.clone_from(&command.outputs);
        command.watched = self.watched.clone();
        command.outputs.extend(self.files.iter().map(|(path, file)| DeclaredOutput {
            path: path.clone(),
            limit: ByteCount::new(file.size.get().saturating_add(GROWTH_BYTES)),
            entries: None,
        }));
    }

    /// Takes them out of what was seen again. Where the command did not end by itself there may be no workspace to look at,
    /// and nothing is said of them: it did not pass. Where it did and nobody says what it wrote, it did not pass either.
    pub(super) fn take(&self, seen: &mut ExecutionObservation) {
        let mut changed: BTreeMap<RepoPath, ChangedFile> = BTreeMap::new();
        for (path, file) in self.files.iter().rev() {
            changed.extend(file.change(path, taken(path, seen)).map(|change| (path.clone(), change)));
        }
        let written = seen.written.take();
        if !matches!(seen.ending, Ending::Exited { .. }) {
            return;
        }
        if written.is_none() && !self.watched.0.is_empty() {
            seen.ending = Ending::Indeterminate;
            return;
        }
        for change in written.iter().flat_map(|written| self.writes(written)) {
            changed.entry(change.path.clone()).or_insert(change);
        }
        let mut changed: Vec<ChangedFile> = changed.into_values().collect();
        let more = counted(changed.len().saturating_sub(TOLD));
        changed.truncate(TOLD);
        let watch = written.map(|written| written.watch);
        seen.protected = Some(ProtectedSeen { looked_at: counted(self.files.len()), changed, more, watch });
    }

    /// What was written at protected places, as far as the bytes of the files do not tell it.
    fn writes<'a>(&'a self, written: &'a Written) -> impl Iterator<Item = ChangedFile> {
        let files = written.files.iter().filter_map(|path| match self.files.get(path) {
            Some(file) => (written.watch == Watch::Course).then(|| put_back(path, file.content)),
            None => (!self.is_expected(path)).then(|| appeared(path, None)),
        });
        let homes: BTreeSet<RepoPath> = self.files.keys().filter_map(RepoPath::parent).collect();
        let emptied = written.emptied.iter().filter(move |place| {
            homes.contains(place) || place.join(ANY_NAME).is_ok_and(|any| self.watched.contains(&any))
        });
        files.chain(emptied.map(|place| appeared(place, Some(OutputRefusal::Absent))))
    }

    /// Whether the catalog expects the command to leave something there.
    fn is_expected(&self, path: &RepoPath) -> bool {
        self.expected.iter().any(|output| {
            let below = [output.path.as_bytes(), b"/"].concat();
            output.path == *path || output.entries.is_some() && path.as_bytes().starts_with(&below)
        })
    }
}

/// Written, and with the old bytes again.
fn put_back(path: &RepoPath, content: Digest) -> ChangedFile {
    ChangedFile { path: path.clone(), before: Some(content), after: Some(content), why: None }
}

/// Written where the tree has no file.
fn appeared(path: &RepoPath, why: Option<OutputRefusal>) -> ChangedFile {
    ChangedFile { path: path.clone(), before: None, after: None, why }
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
    fn change(&self, path: &RepoPath, found: Found) -> Option<ChangedFile> {
        let (after, why) = match (found, self.kind) {
            (Found::Kept(after), FileKind::File | FileKind::Executable) if after == self.content => {
                return None;
            }
            // A link is told of by its refusal, and by no more.
            (Found::Refused(OutputRefusal::Link), FileKind::Link) => return None,
            (Found::Kept(after), _) => (Some(after), None),
            (Found::Refused(why), _) => (None, Some(why)),
        };
        Some(ChangedFile { path: path.clone(), before: Some(self.content), after, why })
    }
}
