use std::io::Write;

use ambit_revision::Tree;

use crate::ExportError;
use crate::branch::BranchName;
use crate::commit::commit;
use crate::envelope::Envelope;
use crate::naming::Naming;
use crate::new_objects::{NewObject, NewObjects};
use crate::object::{ObjectKind, ObjectName};
use crate::pack::Pack;
use crate::source::Source;

/// A tree as a bundle of git, version 2: one branch of one commit.
///
/// Where the commit has a parent, only what the tree of the parent lacks is in the bundle, each object whole, and git
/// takes it only where the parent is. Without one, the commit begins a history of its own.
#[derive(Clone, Copy, Debug)]
pub struct Bundle<'a> {
    /// The tree.
    pub tree: &'a Tree,
    /// The commit that it follows.
    pub parent: Option<Parent<'a>>,
    /// The branch.
    pub branch: &'a BranchName,
    /// What is said beside.
    pub envelope: &'a Envelope,
}

/// A commit that is in the repository already.
#[derive(Clone, Copy, Debug)]
pub struct Parent<'a> {
    /// The commit.
    pub commit: ObjectName,
    /// A tree of which the commit has every part. It is believed: git refuses a bundle that lacks what the commit has
    /// not.
    pub tree: &'a Tree,
}

/// What was bundled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bundled {
    /// The commit.
    pub commit: ObjectName,
    /// The tree of the commit, as git names it.
    pub tree: ObjectName,
    /// The objects in the pack.
    pub objects: u32,
}

impl Bundle<'_> {
    /// Writes the bundle.
    ///
    /// Every content of the tree of which no name is known is read once to name it, and what is new once more. One
    /// content is held at a time, and beside it about a hundred bytes for each file of both trees.
    ///
    /// # Errors
    /// [`ExportError`] where a content is gone or git takes no such entry; what was written until then is no bundle.
    pub fn write(&self, source: &Source<'_>, out: &mut dyn Write) -> Result<Bundled, ExportError> {
        let naming = Naming::of(self.tree, source)?;
        let new = NewObjects::of(self.tree, self.parent.map(|parent| parent.tree));
        let count = new.visit::<ExportError>(&mut |_| Ok(()))? + 1;
        let parent = self.parent.map(|parent| parent.commit);
        let object = commit(naming.root(), parent, self.envelope);
        // A commit holds nothing but names and a message of ours: nobody could have chosen it to collide.
        let name = ObjectName::of(ObjectKind::Commit, &object)
            .map_err(|_| std::io::Error::other("the commit has the SHA-1 of another object"))?;
        let needs = parent.map(|parent| format!("-{parent}\n")).unwrap_or_default();
        let head = format!("# v2 git bundle\n{needs}{name} refs/heads/{}\n\n", self.branch);
        out.write_all(head.as_bytes())?;
        let mut pack = Pack::of(count, out)?;
        pack.write(ObjectKind::Commit, &object)?;
        new.visit(&mut |object| match object {
            NewObject::Directory(entries) => Ok(pack.write(ObjectKind::Tree, &naming.object(entries))?),
            NewObject::Content(path, entry) => {
                let bytes = source.read(path, &entry.digest, entry.size)?;
                Ok::<(), ExportError>(pack.write(ObjectKind::Blob, &bytes)?)
            }
        })?;
        pack.finish()?;
        Ok(Bundled { commit: name, tree: naming.root(), objects: count })
    }

    /// The bundle in memory.
    ///
    /// # Errors
    /// As [`Bundle::write`].
    pub fn bytes(&self, source: &Source<'_>) -> Result<(Bundled, Vec<u8>), ExportError> {
        let mut bytes = Vec::new();
        let bundled = self.write(source, &mut bytes)?;
        Ok((bundled, bytes))
    }
}
