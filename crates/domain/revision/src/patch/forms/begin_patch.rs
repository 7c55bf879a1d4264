//! Blocks from `*** Begin Patch` to `*** End Patch`.

use super::placeless;
use crate::patch::fault::{PatchError, PatchFault};
use crate::patch::lines::{after_blanks, is_blank, starts};
use crate::patch::name::header_text;
use crate::patch::policy::admit;
use crate::patch::sections::{Section, Sections};
use crate::patch::set::{FileMode, Hunk, LineKind, Operation};

/// Whether a line opens a block.
pub(in crate::patch) fn opens(text: &[u8]) -> bool {
    text.trim_ascii_end() == b"*** Begin Patch"
}

/// Reads the block that opens at `at`; answers the index of the line after it.
pub(in crate::patch) fn read(
    lines: &[&[u8]],
    at: usize,
    sections: &mut Sections,
) -> Result<usize, PatchError> {
    let mut next = after_blanks(lines, at + 1);
    let mut is_empty = true;
    loop {
        let text = directive(lines, next)?;
        let rest = |start: &str| text.strip_prefix(start.as_bytes());
        if text.trim_ascii_end() == b"*** End Patch" {
            let fault = PatchError::at(at, PatchFault::Empty);
            return if is_empty { Err(fault) } else { Ok(next + 1) };
        }
        let end = if let Some(name) = rest("*** Add File: ") {
            add(lines, next, name, sections)?
        } else if let Some(name) = rest("*** Delete File: ") {
            let operation = Operation::Delete { stated: None, whole: true };
            sections.add(section(next, name, operation, Vec::new())?)?;
            next + 1
        } else if let Some(name) = rest("*** Update File: ") {
            update(lines, next, name, sections)?
        } else {
            let known = "the line is none of `*** Add File: `, `*** Update File: `, `*** Delete File: ` and `*** End Patch`";
            return Err(PatchError::at(next, PatchFault::BeginPatch(known)));
        };
        is_empty = false;
        next = after_blanks(lines, end);
    }
}

/// The text of a line that says what comes.
fn directive<'a>(lines: &[&'a [u8]], at: usize) -> Result<&'a [u8], PatchError> {
    let last = lines.len().saturating_sub(1);
    let missing = || PatchError::at(last, PatchFault::BeginPatch("`*** End Patch` is missing"));
    header_text(lines.get(at).ok_or_else(missing)?).map_err(|fault| PatchError::at(at, fault))
}

fn section(at: usize, name: &[u8], operation: Operation, hunks: Vec<Hunk>) -> Result<Section, PatchError> {
    let path = admit(name).map_err(|fault| PatchError::at(at, fault))?;
    Ok(Section { at, path, prefix: None, other: None, operation, hunks })
}

fn add(lines: &[&[u8]], at: usize, name: &[u8], sections: &mut Sections) -> Result<usize, PatchError> {
    let start = at + 1;
    let end = (start..lines.len()).find(|index| !starts(lines, *index, b"+")).unwrap_or(lines.len());
    let next = after_blanks(lines, end);
    if next < lines.len() && !starts(lines, next, b"***") {
        let fault = PatchFault::BeginPatch("a line of a file that is made does not start with `+`");
        return Err(PatchError::at(end, fault));
    }
    let mut hunks = Vec::new();
    if end > start {
        sections.check_room(at, 0)?;
        hunks.push(placeless(1, lines[start..end].iter().map(|line| (LineKind::Added, &line[1..]))));
    }
    sections.add(section(at, name, Operation::Create { mode: FileMode::Regular }, hunks)?)?;
    Ok(end)
}

fn update(lines: &[&[u8]], at: usize, name: &[u8], sections: &mut Sections) -> Result<usize, PatchError> {
    let mut next = at + 1;
    let mut moved_to = None;
    if starts(lines, next, b"*** Move to: ") {
        moved_to = directive(lines, next)?.strip_prefix(b"*** Move to: ");
        next += 1;
    }
    let mut hunks: Vec<Hunk> = Vec::new();
    loop {
        next = after_blanks(lines, next);
        if next == lines.len() || starts(lines, next, b"***") {
            break;
        }
        sections.check_room(next, hunks.len())?;
        let (hunk, end) = read_hunk(lines, next, hunks.len() + 1)?;
        hunks.push(hunk);
        next = end;
    }
    let section = match moved_to {
        None if hunks.is_empty() => return Err(PatchError::at(at, PatchFault::NoHunks)),
        None => section(at, name, Operation::Modify { stated: None, becomes: None }, hunks)?,
        Some(to) => {
            let from = admit(name).map_err(|fault| PatchError::at(at, fault))?;
            section(at + 1, to, Operation::Rename { from, stated: None, becomes: None }, hunks)?
        }
    };
    sections.add(section)?;
    Ok(next)
}

/// Reads the hunk that stands at `at`: the lines of the file that stand above it, its own lines, and whether the file
/// ends with them.
fn read_hunk(lines: &[&[u8]], at: usize, number: usize) -> Result<(Hunk, usize), PatchError> {
    let mut anchors = Vec::new();
    let mut start = at;
    while starts(lines, start, b"@@") {
        anchors.extend(read_anchor(lines, start)?);
        start += 1;
    }
    let is_body = |line: &&[u8]| matches!(line, [b' ' | b'-' | b'+', ..]) || is_blank(line);
    let end = start + lines[start..].iter().take_while(|line| is_body(line)).count();
    if end < lines.len() && !starts(lines, end, b"@@") && !starts(lines, end, b"*** ") {
        let fault = PatchFault::BeginPatch(
            "the line starts with none of space, `+` and `-`; start a line of context with a space",
        );
        return Err(PatchError::at(end, fault));
    }
    let ends_file = starts(lines, end, b"*** End of File");
    if ends_file && directive(lines, end)?.trim_ascii_end() != b"*** End of File" {
        return Err(PatchError::at(end, PatchFault::BeginPatch("something follows `*** End of File`")));
    }
    let blanks = lines[start..end].iter().rev().take_while(|line| !ends_file && is_blank(line)).count();
    let body = &lines[start..end - blanks];
    let mut hunk = placeless(number, body.iter().copied().map(read_line));
    if hunk.lines.is_empty() {
        return Err(PatchError::at(at, PatchFault::HunkEmpty));
    }
    if hunk.count(LineKind::Context) == hunk.lines.len() {
        return Err(PatchError::at(at, PatchFault::NoEffect));
    }
    // A heading that is repeated as the first line of context stands in the hunk and not above it.
    if anchors.last().is_some_and(|anchor| body[0].starts_with(b" ") && body[0].trim_ascii() == anchor) {
        anchors.pop();
    }
    (hunk.anchors, hunk.ends_file) = (anchors, ends_file);
    Ok((hunk, end + usize::from(ends_file)))
}

/// Reads `@@` or `@@ LINE`, where `LINE` is a whole line of the file above the hunk.
fn read_anchor(lines: &[&[u8]], at: usize) -> Result<Option<Vec<u8>>, PatchError> {
    let text = directive(lines, at)?;
    let refused = |why| Err(PatchError::at(at, PatchFault::BeginPatch(why)));
    let anchor = text[2..].trim_ascii();
    match anchor {
        b"" => Ok(None),
        _ if !text[2..].starts_with(b" ") => refused("the header of a hunk is `@@` or `@@ LINE OF THE FILE`"),
        [b'-', digit, ..] if digit.is_ascii_digit() => {
            refused("a hunk states no line numbers here; its header is `@@` or `@@ LINE OF THE FILE`")
        }
        _ => Ok(Some(anchor.to_vec())),
    }
}

fn read_line(line: &[u8]) -> (LineKind, &[u8]) {
    match line {
        [b'-', rest @ ..] => (LineKind::Removed, rest),
        [b'+', rest @ ..] => (LineKind::Added, rest),
        [b' ', rest @ ..] => (LineKind::Context, rest),
        blank => (LineKind::Context, blank),
    }
}
