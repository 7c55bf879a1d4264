use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use ambit_ids::RepoPath;
use ambit_revision::{FileKind, Tree, TreeFile};

use crate::staging::Staging;
use crate::write::{Entry, Writer};
use crate::{ExportError, Exported};

/// Answers the bytes of a file, or the target of a link, which stands at a path of a tree.
pub type ContentOf<'a> = dyn FnMut(&RepoPath, &TreeFile) -> Result<Vec<u8>, ExportError> + 'a;

/// Writes `tree` to `dir`, which must not exist and may not lie within `source`, a directory that is only read. It
/// takes each content from `content`, and gives up where `is_stopped` says so.
///
/// What is written and how is as with [`export`](crate::export): `dir` holds the whole tree or does not exist. It needs
/// no tokio runtime.
///
/// # Errors
/// [`ExportError`] names the first entry that cannot be written or of which the content cannot be had.
pub fn write_new(
    tree: &Tree,
    dir: &Path,
    source: &Path,
    content: &mut ContentOf<'_>,
    is_stopped: &AtomicBool,
) -> Result<Exported, ExportError> {
    let staging = Staging::anew(dir, source)?;
    let mut writer = Writer::new(staging.top()?);
    let go_on = || match is_stopped.load(Ordering::Relaxed) {
        true => Err(ExportError::Interrupted),
        false => Ok(()),
    };
    for (path, file) in tree.files() {
        go_on()?;
        let entry = match file.kind {
            FileKind::Link => Entry::PlaceOfLink,
            FileKind::File | FileKind::Executable => Entry::File {
                bytes: content(&path, file)?.into(),
                is_executable: file.kind == FileKind::Executable,
            },
        };
        writer.entry(&path, entry)?;
    }
    for (path, file) in tree.files().filter(|(_, file)| file.kind == FileKind::Link) {
        go_on()?;
        writer.entry(&path, Entry::Link { target: content(&path, file)?.into() })?;
    }
    go_on()?;
    staging.publish()?;
    Ok(Exported { entries: tree.file_count() as u64, bytes: tree.content_bytes() })
}
