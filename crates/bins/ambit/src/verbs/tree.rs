//! Trees of directories, of which nothing is kept.

use ambit_source_directory::{IgnoreFiles, ImportOptions, Measured, measure};
use serde_json::json;

use crate::answer::Answer;
use crate::cli::{AllArg, TreeVerb};
use crate::failure::Failure;
use crate::ink::{Ink, Page};
use crate::terminal::{counted, is_read_by_a_person};
use crate::verbs::patch::page::write_tree;
use crate::verbs::unread::unread;

pub(crate) fn run(verb: &TreeVerb, json: bool) -> Result<Answer, Failure> {
    let TreeVerb::Digest { dir, all } = verb;
    let measured = measure(dir, options(*all)).map_err(|error| unread(&error, "no digest was made"))?;
    let (tree, files, bytes) =
        (measured.tree.digest(), measured.tree.file_count(), measured.tree.content_bytes());
    let left_out = measured.skipped_git.saturating_add(measured.ignored);
    let text = if is_read_by_a_person(json) {
        page(&measured)
    } else {
        format!("{tree} {}, {bytes}, {left_out} left out\n", counted(files, "file"))
    };
    let json = json!({
        "tree": tree, "files": files, "bytes": bytes,
        "leftOut": {"git": measured.skipped_git, "ignored": measured.ignored},
    });
    Ok(Answer::new(text, json).verbatim())
}

/// What a person reads of a tree at a terminal. Elsewhere the digest begins the only line.
fn page(measured: &Measured) -> String {
    let mut page = Page::for_output();
    let (tree, Measured { skipped_git, ignored, .. }) = (&measured.tree, measured);
    write_tree(&mut page, &tree.digest());
    page.line(Ink::Plain, &format!("files    {}, {}", tree.file_count(), tree.content_bytes()));
    let mut left_out = Vec::new();
    if *ignored > 0 {
        left_out.push(format!("{ignored} that .gitignore files name, or that were made; `--all` takes them"));
    }
    if *skipped_git > 0 {
        left_out.push(format!("{skipped_git} of git itself"));
    }
    if !left_out.is_empty() {
        page.line(Ink::Quiet, &format!("left out {}", left_out.join(", and ")));
    }
    page.into_text()
}

/// How a directory is read.
pub(super) fn options(all: AllArg) -> ImportOptions {
    let ignore_files = if all.all { IgnoreFiles::Disregarded } else { IgnoreFiles::Honoured };
    ImportOptions { ignore_files, ..ImportOptions::default() }
}
