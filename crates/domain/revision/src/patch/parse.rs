use ambit_ids::{Digest, limits};

use super::body::{self, Hunks};
use super::fault::{PatchError, PatchFault};
use super::forms::{begin_patch, search_replace};
use super::header::{self, Header};
use super::outside::{Above, Outside, Start};
use super::sections::{Section, Sections};
use super::set::{Hunk, LineKind, Operation, PatchSet};
use crate::lines::split;

/// Understands a patch as a whole.
///
/// Understood are plain unified diffs and those that git writes, of one or many files: creation, deletion, rename, change
/// of content, and change between the modes 100644 and 100755; and in place of any of them or beside them `*** Begin
/// Patch` blocks and search and replace blocks. Each form that is not understood has a code of its own.
///
/// - Paths are judged before any content: [`PatchFault`] tells what is refused.
/// - The prefixes `a/` and `b/`, and the others that git gives, are recognised by both sides of a header, or by its
///   `diff --git` line. Without either the paths are as they stand. What could be read both ways is refused.
/// - A rename is told by `rename from` and `rename to`, which carry no prefix; nothing else is one.
/// - A hunk may leave out where it stands (`@@`, `@@ ... @@`, `@@ fn main() {`); it must be at the only place then.
/// - The line counts of a hunk are those of its body. Where its header says otherwise that is a warning, unless it
///   cannot be told then where the body ends.
/// - An empty line in a body is context that lost its space. Blank lines between hunks and files mean nothing.
/// - `\ No newline at end of file`, in any language, takes the line feed from the line above it.
/// - Around files are admitted: `Index:` lines, `diff -...` command lines, and of `git format-patch` the header of the
///   mail up to its first `diff --git` line, and the signature.
/// - Fences of Markdown and prose around files are left out with a warning. Prose may not hold what some reader takes for
///   a part of a patch, and where a hunk above it ends must be beyond doubt.
/// - A `*** Begin Patch` block states no lines: its hunks stand at the only place below the lines of the file that their
///   headings name, and with `*** End of File` at the end.
/// - Search and replace blocks stand below the path of their file. The lines that they search for stand at one place only;
///   with none, the file is made. A line of the content that looks like a marker is refused.
/// - Lines that are no content end with a line feed alone, in every form.
/// - The object names of `index` lines are not read; the mode is.
///
/// # Errors
/// [`PatchError`] with the line and the first fault. Nothing of a patch with a fault is kept.
pub fn parse(bytes: &[u8]) -> Result<PatchSet, PatchError> {
    admit(bytes).map_err(|fault| PatchError::at(0, fault))?;
    let mut lines = split(bytes);
    let (mut outside, mut sections) = (Outside::default(), Sections::default());
    let (mut at, mut above) = (0, Above::Nothing);
    while let Some((start, form)) = outside.next(&mut lines, at, above)? {
        (at, above) = match form {
            Start::Unified => read_unified(&lines, start, &mut outside, &mut sections)?,
            Start::BeginPatch => (begin_patch::read(&lines, start, &mut sections)?, Above::Closed),
            Start::SearchReplace { name } => {
                (search_replace::read(&lines, start, name, &mut sections)?, Above::Closed)
            }
        };
    }
    let files = sections.settle()?;
    Ok(PatchSet { files, warnings: outside.into_warnings(), source: Digest::of(bytes) })
}

fn read_unified(
    lines: &[&[u8]],
    at: usize,
    outside: &mut Outside,
    sections: &mut Sections,
) -> Result<(usize, Above), PatchError> {
    let header = header::read(lines, at)?;
    let Hunks { hunks, warnings, end, is_counted } =
        body::read(lines, header.end, sections.room(), outside.fence())?;
    check_form(&header, &hunks).map_err(|fault| PatchError::at(at, fault))?;
    outside.warn(warnings);
    let Header { path, prefix, other, operation, .. } = header;
    sections.add(Section { at, path, prefix: Some(prefix), other, operation, hunks })?;
    Ok((end, Above::Unified { is_counted }))
}

fn admit(bytes: &[u8]) -> Result<(), PatchFault> {
    if bytes.len() > limits::PATCH_BYTES {
        return Err(PatchFault::TooLarge(bytes.len()));
    }
    if bytes.starts_with(b"\xef\xbb\xbf") {
        return Err(PatchFault::ByteOrderMark);
    }
    if memchr::memchr(0, bytes).is_some() {
        return Err(PatchFault::Nul);
    }
    Ok(())
}

fn check_form(header: &Header, hunks: &[Hunk]) -> Result<(), PatchFault> {
    if !header.names_sides && !hunks.is_empty() {
        return Err(PatchFault::Header("hunks stand without `--- NAME` and `+++ NAME`"));
    }
    if header.names_sides && hunks.is_empty() {
        return Err(PatchFault::NoHunks);
    }
    let only = |kind| hunks.len() <= 1 && hunks.iter().all(|hunk| hunk.count(kind) == hunk.lines.len());
    match header.operation {
        Operation::Create { .. } if !only(LineKind::Added) => Err(PatchFault::CreateForm),
        Operation::Delete { .. } if !only(LineKind::Removed) => Err(PatchFault::DeleteForm),
        Operation::Create { .. }
        | Operation::Delete { .. }
        | Operation::Modify { .. }
        | Operation::Rename { .. } => Ok(()),
    }
}
