//! Directories that could not be read, or may not be.

use std::path::Path;

use ambit_ids::{ByteCount, Scope};
use ambit_ports::blobs::BlobStore;
use ambit_projects::{ApproverCredential, SealedCredential};
use ambit_revision::Tree;
use ambit_source_directory::ImportError;

use crate::context::Context;
use crate::failure::Failure;

/// That a directory cannot be read as a source tree. `kept` says what became of the command that asked for it.
pub(crate) fn unread(error: &ImportError, kept: &str) -> Failure {
    Failure::of(error.code(), error).about(error.entry()).help(kept)
}

/// Whatever is read can be read by agents and gates. `kept` as for [`unread`].
pub(crate) fn check_holds_no_keys(context: &Context, dir: &Path, kept: &str) -> Result<(), Failure> {
    match (dir.canonicalize(), context.home.path().canonicalize()) {
        (Ok(base), Ok(home)) if home.starts_with(&base) => {
            let what = format!("{} holds the state of this program, with its keys", dir.display());
            Err(Failure::new("IMPORT_HOLDS_HOME", what).help(format!(
                "{kept}; name the directory of the project alone, or keep the state elsewhere"
            )))
        }
        _ => Ok(()),
    }
}

/// How long the text of a credential is, with some space around it.
const CREDENTIAL_BYTES: std::ops::RangeInclusive<u64> = 81..=256;

/// Whoever could read a credential in a tree could approve. `kept` as for [`unread`].
pub(crate) async fn check_holds_no_credential(
    blobs: &dyn BlobStore,
    scope: &Scope,
    tree: &Tree,
    kept: &str,
) -> Result<(), Failure> {
    let may_be_one = tree.files().filter(|(_, file)| CREDENTIAL_BYTES.contains(&file.size.get()));
    for (path, file) in may_be_one {
        let limit = ByteCount::new(*CREDENTIAL_BYTES.end());
        let bytes =
            blobs.get(scope, file.content, limit).await.map_err(|error| Failure::of(error.code(), &error))?;
        let text = String::from_utf8_lossy(&bytes);
        if SealedCredential::read(&text).is_some() || ApproverCredential::read(&text).is_ok() {
            let what = format!("{path} is the credential of an approver, which no agent may read");
            return Err(Failure::new("IMPORT_HOLDS_CREDENTIAL", what).about(Some(path.to_string())).help(
                format!("{kept}; move it out, and `ambit approver revoke` whoever's it was if others could read it"),
            ));
        }
    }
    Ok(())
}
