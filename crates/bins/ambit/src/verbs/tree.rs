//! Trees of directories, of which nothing is kept.

use ambit_source_directory::{IgnoreFiles, ImportOptions, measure};
use serde_json::json;

use crate::answer::Answer;
use crate::cli::{AllArg, TreeVerb};
use crate::failure::Failure;
use crate::terminal::counted;

pub(crate) fn run(verb: &TreeVerb) -> Result<Answer, Failure> {
    let TreeVerb::Digest { dir, all } = verb;
    let measured = measure(dir, options(*all)).map_err(|error| Failure::of(error.code(), &error))?;
    let (tree, files, bytes) =
        (measured.tree.digest(), measured.tree.file_count(), measured.tree.content_bytes());
    let left_out = measured.skipped_git.saturating_add(measured.ignored);
    let text = format!("{tree} {}, {bytes}, {left_out} left out\n", counted(files, "file"));
    let json = json!({
        "tree": tree, "files": files, "bytes": bytes,
        "leftOut": {"git": measured.skipped_git, "ignored": measured.ignored},
    });
    Ok(Answer::new(text, json))
}

/// How a directory is read.
pub(super) fn options(all: AllArg) -> ImportOptions {
    let ignore_files = if all.all { IgnoreFiles::Disregarded } else { IgnoreFiles::Honoured };
    ImportOptions { ignore_files, ..ImportOptions::default() }
}
