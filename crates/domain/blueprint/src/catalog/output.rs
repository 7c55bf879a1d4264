use ambit_ids::{ByteCount, RepoPath, limits};
use serde::{Serialize, Serializer};

use super::unit::{KIB, whole};
use crate::cursor::{Cursor, Distinct, Read};

/// A file or a directory that a command is expected to leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandOutput {
    /// Where in the workspace.
    pub path: RepoPath,
    /// The largest that is kept; of a directory, all its files together. Whole KiB in a document.
    pub max_size: ByteCount,
    /// Says that it is a directory, and how many entries it may have below it.
    pub max_entries: Option<u32>,
}

impl CommandOutput {
    pub(super) fn read(cursor: &Cursor<'_>, paths: &mut Distinct<RepoPath>) -> Read<Self> {
        let mut fields = cursor.fields()?;
        let path = fields.required("path").and_then(|c| paths.read(&c));
        let kib = fields.required("maxKib").and_then(|c| c.integer(1..=64 << 10));
        let entries = fields
            .optional("maxEntries")
            .map(|c| c.integer(1..=u64::from(limits::OUTPUT_DIRECTORY_ENTRIES)))
            .transpose();
        fields.finish()?;
        let max_entries = entries?.and_then(|entries| u32::try_from(entries).ok());
        Ok(Self { path: path?, max_size: ByteCount::new(kib? * KIB), max_entries })
    }
}

impl Serialize for CommandOutput {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Shape<'a> {
            path: &'a RepoPath,
            max_kib: u64,
            #[serde(skip_serializing_if = "Option::is_none")]
            max_entries: Option<u32>,
        }
        let max_kib = whole(self.max_size.get(), KIB)?;
        Shape { path: &self.path, max_kib, max_entries: self.max_entries }.serialize(serializer)
    }
}
