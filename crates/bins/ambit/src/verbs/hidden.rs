//! The folders of hidden checks, which lie beside the blueprint that names them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use ambit_blueprint::{Blueprint, HiddenFiles};
use ambit_ids::{ByteCount, GateId, limits};
use ambit_revision::Tree;
use ambit_revisions::{HiddenFilesError, admit_hidden};
use ambit_source_directory::{IgnoreFiles, ImportError, ImportOptions, import, measure};

use crate::compose::Services;
use crate::context::Context;
use crate::failure::Failure;
use crate::verbs::unread::{check_holds_no_keys, unread};

/// The whole folder, whatever `.gitignore` files say, and no more than is kept of one.
const WHOLE: ImportOptions = ImportOptions {
    ignore_files: IgnoreFiles::Disregarded,
    entry_limit: limits::HIDDEN_FILES * 4,
    content_limit: ByteCount::new(limits::HIDDEN_BYTES),
};

/// Whether every folder is there as the blueprint of this directory says. Nothing is kept.
pub(crate) async fn check_hidden_files(blueprint: &Blueprint, beside: &Path) -> Result<(), Failure> {
    for (gate, files) in blueprint.hidden_files() {
        let dir = folder(beside, files);
        let named = dir.clone();
        let measuring = tokio::task::spawn_blocking(move || measure(&named, WHOLE)).await;
        let measured = measuring.unwrap_or(Err(ImportError::Interrupted));
        let measured = measured.map_err(|error| unread(&error, NOTHING))?;
        admitted(gate, files, &dir, &measured.tree)?;
    }
    Ok(())
}

/// Keeps every folder that the blueprint of this directory names, so that an approval of the one is one of the other.
pub(crate) async fn keep_hidden_files(
    context: &Context,
    services: &Services,
    blueprint: &Blueprint,
    beside: &Path,
) -> Result<(), Failure> {
    for (gate, files) in blueprint.hidden_files() {
        let dir = folder(beside, files);
        check_holds_no_keys(context, &dir, NOTHING)?;
        let kept = import(&dir, &context.scope, services.blobs.as_ref(), WHOLE).await;
        admitted(gate, files, &dir, &kept.map_err(|error| unread(&error, NOTHING))?.tree)?;
    }
    Ok(())
}

const NOTHING: &str = "nothing was approved";

fn folder(beside: &Path, files: &HiddenFiles) -> PathBuf {
    beside.join(OsStr::from_bytes(files.from.as_bytes()))
}

fn admitted(gate: &GateId, files: &HiddenFiles, dir: &Path, tree: &Tree) -> Result<(), Failure> {
    admit_hidden(files.digest, tree).map_err(|error| {
        let message = format!("{gate}: {}: {error}", dir.display());
        let help = match error {
            HiddenFilesError::Differ { .. } => {
                format!("{NOTHING}; `ambit tree digest {} --all` tells the digest to name", dir.display())
            }
            _ => NOTHING.to_owned(),
        };
        Failure::new(error.code(), message).help(help)
    })
}

/// The directory that a file lies in.
pub(crate) fn beside(file: &Path) -> &Path {
    file.parent().unwrap_or(Path::new(""))
}
