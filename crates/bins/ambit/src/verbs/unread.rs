//! Directories that could not be read, or may not be.

use std::path::Path;

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
