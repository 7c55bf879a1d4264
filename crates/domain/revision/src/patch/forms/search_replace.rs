//! Blocks from `<<<<<<< SEARCH` over `=======` to `>>>>>>> REPLACE`, below the name of their file.

use super::placeless;
use crate::patch::fault::{PatchError, PatchFault};
use crate::patch::lines::is_blank;
use crate::patch::name::header_text;
use crate::patch::policy::admit;
use crate::patch::sections::{Section, Sections};
use crate::patch::set::{FileMode, LineKind, Operation};
use ambit_ids::RepoPath;

/// The lines that open and close a block.
const MARKERS: [(&[u8], &[u8]); 2] =
    [(b"<<<<<<< SEARCH", b">>>>>>> REPLACE"), (b"<<<<<<< ORIGINAL", b">>>>>>> UPDATED")];

const DIVIDER: &[u8] = b"=======";

/// Whether a line opens a block.
pub(in crate::patch) fn opens(text: &[u8]) -> bool {
    closing(text).is_some()
}

fn closing(text: &[u8]) -> Option<&'static [u8]> {
    let text = text.trim_ascii_end();
    MARKERS.iter().find(|(open, _)| *open == text).map(|(_, close)| *close)
}

/// Reads the block that opens at `at`, of the file that the line `name` names, or of the file of the block above it;
/// answers the index of the line after it.
pub(in crate::patch) fn read(
    lines: &[&[u8]],
    at: usize,
    name: Option<usize>,
    sections: &mut Sections,
) -> Result<usize, PatchError> {
    let path = read_path(lines, at, name, sections)?;
    let close = closing(lines[at]).unwrap_or_default();
    let divider = end_of_part(lines, at, DIVIDER)?;
    let end = end_of_part(lines, divider, close)?;
    let (search, replace) = (&lines[at + 1..divider], &lines[divider + 1..end]);
    if search == replace {
        return Err(PatchError::at(at, PatchFault::NoEffect));
    }
    if !search.is_empty() && search.iter().all(|line| is_blank(line)) {
        return Err(PatchError::at(at, PatchFault::SearchReplace("it searches for blank lines only")));
    }
    sections.check_room(at, 0)?;
    let section = |operation, hunk| Section {
        at,
        path: path.clone(),
        prefix: None,
        other: None,
        operation,
        hunks: vec![hunk],
    };
    if search.is_empty() {
        let hunk = placeless(1, replace.iter().map(|line| (LineKind::Added, *line)));
        sections.add(section(Operation::Create { mode: FileMode::Regular }, hunk))?;
    } else {
        let hunk = placeless(1, marked(search, replace));
        sections.join(section(Operation::Modify { stated: None, becomes: None }, hunk))?;
    }
    sections.last_block = Some(path);
    Ok(end + 1)
}

/// The index of the line that ends the part of the block that starts below `above`. A line of the content that looks
/// like a marker could be one.
fn end_of_part(lines: &[&[u8]], above: usize, end: &[u8]) -> Result<usize, PatchError> {
    for (at, line) in lines.iter().enumerate().skip(above + 1) {
        let text = line.trim_ascii_end();
        if text == end {
            header_text(line).map_err(|fault| PatchError::at(at, fault))?;
            return Ok(at);
        }
        let looks = |start: &[u8]| text.starts_with(start);
        if text == DIVIDER || looks(b"<<<<<<<") || looks(b">>>>>>>") || looks(b"|||||||") {
            return Err(PatchError::at(at, PatchFault::MarkerAmbiguous));
        }
    }
    let missing = "no `=======`, or no `>>>>>>> REPLACE`, ends what starts here";
    Err(PatchError::at(above, PatchFault::SearchReplace(missing)))
}

/// The lines of a block with what becomes of each: those that both parts start or end with are context.
fn marked<'a>(search: &'a [&'a [u8]], replace: &'a [&'a [u8]]) -> impl Iterator<Item = (LineKind, &'a [u8])> {
    let same = |(one, other): &(&&[u8], &&[u8])| one == other;
    let head = search.iter().zip(replace).take_while(same).count();
    let tail = search[head..].iter().rev().zip(replace[head..].iter().rev()).take_while(same).count();
    let of = |kind, lines: &'a [&'a [u8]]| lines.iter().map(move |line| (kind, *line));
    of(LineKind::Context, &search[..head])
        .chain(of(LineKind::Removed, &search[head..search.len() - tail]))
        .chain(of(LineKind::Added, &replace[head..replace.len() - tail]))
        .chain(of(LineKind::Context, &search[search.len() - tail..]))
}

fn read_path(
    lines: &[&[u8]],
    at: usize,
    name: Option<usize>,
    sections: &Sections,
) -> Result<RepoPath, PatchError> {
    let nameless = PatchFault::SearchReplace(
        "the line above it does not name its file; the path stands there alone, in backticks if it holds spaces",
    );
    let Some(line) = name else {
        return sections.last_block.clone().ok_or_else(|| PatchError::at(at, nameless));
    };
    let name = named(lines[line]).ok_or_else(|| PatchError::at(line, nameless))?;
    admit(name).map_err(|fault| PatchError::at(line, fault))
}

/// The path that a line names: alone, without blanks and a final colon, or in backticks or bold, and in a heading too.
fn named(line: &[u8]) -> Option<&[u8]> {
    let text = line.trim_ascii();
    let text = match text.iter().position(|b| *b != b'#') {
        Some(level) if level > 0 => text[level..].strip_prefix(b" ").map_or(text, <[u8]>::trim_ascii),
        _ => text,
    };
    let within = |text: &'_ [u8], mark: &[u8]| -> Option<std::ops::Range<usize>> {
        let inner = text.strip_prefix(mark)?.strip_suffix(mark)?;
        (!inner.is_empty()).then_some(mark.len()..text.len() - mark.len())
    };
    let bold = within(text, b"**").map_or(text, |inner| &text[inner]);
    let marked = within(bold, b"`").map_or(bold, |inner| &bold[inner]);
    let is_plain = marked.len() == text.len();
    let is_name = !marked.is_empty()
        && !marked.contains(&b'`')
        && !(is_plain && (marked.contains(&b' ') || marked.ends_with(b":")));
    is_name.then_some(marked)
}

/// Whether a line names a file beyond doubt: a path alone, with a directory or an extension.
pub(in crate::patch) fn names_file(line: &[u8]) -> bool {
    named(line).is_some_and(|name| {
        name.contains(&b'/') || name.windows(2).any(|pair| pair[0] == b'.' && pair[1].is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_alone() {
        for (line, name) in [
            ("src/a.py\n", Some("src/a.py")),
            ("`src/a b.py`", Some("src/a b.py")),
            ("**src/a.py**", Some("src/a.py")),
            ("**`a b`**", Some("a b")),
            ("### src/a.py", Some("src/a.py")),
            ("## `a b`", Some("a b")),
            ("#include", Some("#include")),
            ("Here is it:", None),
            ("src/a.py:", None),
            ("File: src/a.py", None),
            ("``", None),
            ("`a` and `b`", None),
            ("****", Some("****")),
            ("", None),
        ] {
            assert_eq!(named(line.as_bytes()), name.map(str::as_bytes), "{line}");
        }
    }
}
