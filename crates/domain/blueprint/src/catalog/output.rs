use ambit_ids::{ByteCount, RepoPath};
use serde::{Serialize, Serializer};

use super::unit::{KIB, whole};
use crate::cursor::{Cursor, Distinct, Read};

/// A file that a command is expected to leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandOutput {
    /// Where in the workspace.
    pub path: RepoPath,
    /// The largest that is kept. Whole KiB in a document.
    pub max_size: ByteCount,
}

impl CommandOutput {
    pub(super) fn read(cursor: &Cursor<'_>, paths: &mut Distinct<RepoPath>) -> Read<Self> {
        let mut fields = cursor.fields()?;
        let path = fields.required("path").and_then(|c| paths.read(&c));
        let kib = fields.required("maxKib").and_then(|c| c.integer(1..=64 << 10));
        fields.finish()?;
        Ok(Self { path: path?, max_size: ByteCount::new(kib? * KIB) })
    }
}

impl Serialize for CommandOutput {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Shape<'a> {
            path: &'a RepoPath,
            max_kib: u64,
        }
        Shape { path: &self.path, max_kib: whole(self.max_size.get(), KIB)? }.serialize(serializer)
    }
}
