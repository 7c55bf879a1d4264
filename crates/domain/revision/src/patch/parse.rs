use ambit_ids::{Digest, limits};

use super::body::{self, Hunks};
use super::fault::{PatchError, PatchFault};
use super::header::{self, Header};
use super::name::Prefix;
use super::once::Once;
use super::outside;
use super::set::{FilePatch, Hunk, LineKind, Operation, PatchSet};

/// Understands a patch as a whole.
///
/// Understood are plain unified diffs and those that git writes, of one or many files: creation, deletion, rename, change
/// of content, and change between the modes 100644 and 100755. Each form that is not understood has a code of its own.
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
/// - The object names of `index` lines are not read; the mode is.
///
/// # Errors
/// [`PatchError`] with the line and the first fault. Nothing of a patch with a fault is kept.
pub fn parse(bytes: &[u8]) -> Result<PatchSet, PatchError> {
    admit(bytes).map_err(|fault| PatchError::at(0, fault))?;
    let lines: Vec<&[u8]> = bytes.split_inclusive(|b| *b == b'\n').collect();
    let mut sections: Vec<Section> = Vec::new();
    let mut patch = PatchSet { files: Vec::new(), warnings: Vec::new(), source: Digest::of(bytes) };
    let mut room = limits::PATCH_HUNKS;
    let mut at = outside::skip(&lines, 0, false)?;
    while at < lines.len() {
        if sections.len() == limits::PATCH_FILES {
            return Err(PatchError::at(at, PatchFault::TooManyFiles));
        }
        let header = header::read(&lines, at)?;
        let Hunks { hunks, warnings, end } = body::read(&lines, header.end, room)?;
        check_form(&header, &hunks).map_err(|fault| PatchError::at(at, fault))?;
        room -= hunks.len();
        patch.warnings.extend(warnings);
        sections.push(Section { at, header, hunks });
        at = outside::skip(&lines, end, true)?;
    }
    if sections.is_empty() {
        return Err(PatchError::at(0, PatchFault::Empty));
    }
    patch.files = settle_prefixes(sections)?;
    Ok(patch)
}

struct Section {
    at: usize,
    header: Header,
    hunks: Vec<Hunk>,
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

/// Settles the paths: all headers of a patch carry prefixes or none does, and no file stands twice.
fn settle_prefixes(sections: Vec<Section>) -> Result<Vec<FilePatch>, PatchError> {
    let any = |prefix| sections.iter().any(|section| section.header.prefix == prefix);
    let (carried, bare) = (any(Prefix::Carried), any(Prefix::Bare));
    let mut once = Once::default();
    let mut files = Vec::with_capacity(sections.len());
    for Section { at, header, hunks } in sections {
        if bare && header.prefix != Prefix::Bare {
            return Err(PatchError::at(at, PatchFault::PrefixAmbiguous));
        }
        let file = FilePatch {
            path: header.path,
            other_reading: header.unstripped.filter(|_| !carried),
            operation: header.operation,
            hunks,
        };
        once.admit(&file).map_err(|fault| PatchError::at(at, fault))?;
        files.push(file);
    }
    Ok(files)
}
