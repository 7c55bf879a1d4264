use std::error::Error;

use ambit_ids::{Digest, limits};
use ambit_oracle::{FileChange, added_dependencies, facts};
use ambit_policy::Fact;
use ambit_revision::{
    Applied, Change, Contents, FileKind, PatchRefusal, Reason, Tree, TreeFile, apply, parse,
};
use ambit_run::{AppliedPatch, Denial, DenialCode, Finding, InFlight, PatchFinding, ToolCall};
use serde_json::json;

use crate::broker::Broker;
use crate::error::BrokerError;
use crate::ground::Ground;
use crate::performed::Performed;
use crate::source::Source;

impl Source {
    /// What a patch would do, and the facts about it.
    pub(crate) async fn assess_patch(
        &self,
        ground: &Ground,
        head: Digest,
        expected: Digest,
        patch: &[u8],
    ) -> Result<(Vec<Fact>, Finding), BrokerError> {
        if expected != head {
            // A patch against another tree is a conflict whatever it says; the run answers it.
            return Ok((Vec::new(), Finding::Clear));
        }
        let (before, applied) = match self.apply_to(ground, head, patch).await? {
            Ok(applied) => applied,
            Err(denial) => return Ok((Vec::new(), Finding::Refused(denial))),
        };
        let facts = Self::facts_of(ground, &before, &applied);
        let base = self.revisions.load(ground.scope(), ground.pins.base.tree).await?;
        let from_base = base.diff(&applied.tree);
        let finding = PatchFinding {
            base: head,
            tree: applied.tree.digest(),
            canonical: applied.canonical.digest,
            files: applied.changes.iter().map(|change| change.path.clone()).collect(),
            changed_from_base: u32::try_from(from_base.len()).unwrap_or(u32::MAX),
            added_dependencies: self.dependencies_since_base(ground, &from_base, &applied.blobs).await?,
        };
        Ok((facts, Finding::Patch(finding)))
    }

    /// Applies a patch in memory. The inner error is the agent's: the patch cannot be applied as it is.
    async fn apply_to(
        &self,
        ground: &Ground,
        head: Digest,
        patch: &[u8],
    ) -> Result<Result<(Contents, Applied), Denial>, BrokerError> {
        let denied = |code: &str, detail: String, instead: &str| {
            let detail = self.redactor.text(&format!("{code}: {detail}")).text.into_owned();
            Ok(Err(Denial::new(DenialCode::PatchRefused, detail).instead(instead)))
        };
        let refused = |code: &str, detail: String| {
            let instead =
                "propose a patch whose context and removed lines are exactly those of the current tree";
            denied(code, detail, instead)
        };
        let set = match parse(patch) {
            Ok(set) => set,
            Err(error) => return refused(error.code(), error.to_string()),
        };
        let tree = self.revisions.load(ground.scope(), head).await?;
        let contents = self.revisions.contents_for(ground.scope(), &tree, &set).await?;
        let applied = match apply(&tree, &head, &set, &contents) {
            Ok(applied) => applied,
            Err(refusal @ PatchRefusal::AlreadyApplied(_)) => {
                let instead = "go on from the current tree, which has all of the patch";
                return denied(refusal.code(), refusal.to_string(), instead);
            }
            Err(refusal) => {
                return match self.withheld_line(&refusal, &tree, &contents) {
                    Some(detail) => denied(refusal.code(), detail, "leave that line out of the patch"),
                    None => refused(refusal.code(), with_cause(&refusal)),
                };
            }
        };
        let path_bytes: usize = applied.changes.iter().map(|change| change.path.to_string().len()).sum();
        if path_bytes > limits::PATCH_PATH_BYTES {
            let detail =
                format!("its paths have {path_bytes} bytes; {} are allowed", limits::PATCH_PATH_BYTES);
            return refused("PATCH_PATHS_TOO_LONG", detail);
        }
        Ok(Ok((contents, applied)))
    }

    /// What is told where a patch parts from a file at a line of a secret, of which whoever made the patch was shown a mark.
    fn withheld_line(&self, refusal: &PatchRefusal, tree: &Tree, contents: &Contents) -> Option<String> {
        let PatchRefusal::At { path, reason: Reason::ContextMismatch(at) | Reason::DeletePartial(at) } =
            refusal
        else {
            return None;
        };
        let bytes = contents.get(&tree.get(path)?.content)?;
        let clean = self.redactor.bytes(bytes).text;
        let line =
            |text: &[u8]| text.split(|byte| *byte == b'\n').nth(at.line.checked_sub(1)?).map(<[u8]>::to_vec);
        (line(bytes) != line(&clean)).then(|| {
            let line = at.line;
            format!("{path}: line {line} holds a secret, which is shown to nobody: a mark stands for it. Nothing was changed")
        })
    }

    fn facts_of(ground: &Ground, before: &Contents, applied: &Applied) -> Vec<Fact> {
        let changes: Vec<FileChange<'_>> = applied
            .changes
            .iter()
            .map(|change| FileChange {
                path: &change.path,
                before: side(change.before.as_ref(), before, &applied.blobs),
                after: side(change.after.as_ref(), before, &applied.blobs),
            })
            .collect();
        facts(&changes, &ground.guard())
    }

    /// The dependencies that the base revision did not have, over all patches of the run.
    async fn dependencies_since_base(
        &self,
        ground: &Ground,
        from_base: &[Change],
        fresh: &Contents,
    ) -> Result<u32, BrokerError> {
        let guard = ground.guard();
        let mut contents = Contents::new();
        let manifests: Vec<&Change> =
            from_base.iter().filter(|change| guard.manifests.contains(&change.path)).collect();
        for change in &manifests {
            for file in [change.before, change.after].into_iter().flatten() {
                match fresh.get(&file.content) {
                    Some(bytes) => contents.insert(bytes.to_vec()),
                    None => {
                        let bytes = self.revisions.content(ground.scope(), &change.path, &file).await?;
                        contents.insert(bytes.to_vec())
                    }
                };
            }
        }
        let changes: Vec<FileChange<'_>> = manifests
            .iter()
            .map(|change| FileChange {
                path: &change.path,
                before: change.before.and_then(|file| contents.get(&file.content)),
                after: change.after.and_then(|file| contents.get(&file.content)),
            })
            .collect();
        // Where a manifest cannot be read, nobody can count: more than any limit allows.
        let added = added_dependencies(&changes, &guard.manifests).map_or(usize::MAX, |added| added.len());
        Ok(u32::try_from(added).unwrap_or(u32::MAX))
    }
}

impl Broker {
    /// Applies a patch whose intent is durable. It is found out anew what it does, and it must be what was decided.
    pub(crate) async fn perform_patch(
        &self,
        ground: &Ground,
        flight: &InFlight,
    ) -> Result<Performed, BrokerError> {
        let ToolCall::ApplyProjectPatch { patch, patch_bytes, .. } = &flight.call else {
            return Err(BrokerError::Altered("the intent is no patch"));
        };
        let bytes = self.revisions().blobs().get(ground.scope(), *patch, *patch_bytes).await?;
        let Ok((_, applied)) = self.source.apply_to(ground, flight.tree, &bytes).await? else {
            return Err(BrokerError::Altered("the patch no longer applies"));
        };
        if Some(applied.tree.digest()) != flight.expected_tree {
            return Err(BrokerError::Altered("the patch makes another tree"));
        }
        let base = self.revisions().load(ground.scope(), ground.pins.base.tree).await?;
        let from_base = base.diff(&applied.tree);
        let added = self.source.dependencies_since_base(ground, &from_base, &applied.blobs).await?;
        self.keep(ground, flight.tree, &applied).await?;
        let files: Vec<_> = applied.changes.iter().map(|change| change.path.clone()).collect();
        let reply = json!({"changedFiles": &files, "revisionSha": applied.tree.digest()});
        let observation = ambit_run::Observation::PatchApplied(AppliedPatch {
            base: flight.tree,
            tree: applied.tree.digest(),
            proposed: *patch,
            canonical: applied.canonical.digest,
            files,
            changed_from_base: u32::try_from(from_base.len()).unwrap_or(u32::MAX),
            added_dependencies: added,
        });
        Ok(Performed { observation, reply })
    }

    async fn keep(&self, ground: &Ground, base: Digest, applied: &Applied) -> Result<(), BrokerError> {
        let scope = ground.scope();
        self.revisions().blobs().put(scope, applied.canonical.text.clone().into()).await?;
        self.revisions().keep_beyond(scope, base, &applied.tree, &applied.blobs).await?;
        Ok(())
    }
}

/// What an error says, and below it what names the path where it does not.
fn with_cause(error: &dyn Error) -> String {
    error.source().map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}

/// The bytes of one side of a change; none for a link, whose target is nothing that a guard reads.
fn side<'a>(file: Option<&TreeFile>, before: &'a Contents, after: &'a Contents) -> Option<&'a [u8]> {
    let file = file?;
    if file.kind == FileKind::Link {
        return Some(b"");
    }
    before.get(&file.content).or_else(|| after.get(&file.content))
}
