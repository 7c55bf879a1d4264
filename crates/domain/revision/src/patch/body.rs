use super::fault::{Form, PatchError, PatchFault};
use super::forms::{fence::Fence, prose};
use super::lines::{after_blanks, is_blank, is_header_pair, starts};
use super::name::{Side, header_text, read_side};
use super::outside::is_signature;
use super::range::{self, Range};
use super::set::{Hunk, LineKind, LineMark, PatchWarning, StatedLines};

/// The hunks of one file.
pub(super) struct Hunks {
    pub(super) hunks: Vec<Hunk>,
    pub(super) warnings: Vec<PatchWarning>,
    /// The index of the line after them.
    pub(super) end: usize,
    /// Whether the counts of the last one say that it ends there.
    pub(super) is_counted: bool,
}

/// Reads the hunks that stand at `at`, of which there may be at most `room`, within `fence` if there is one.
pub(super) fn read(
    lines: &[&[u8]],
    at: usize,
    room: usize,
    fence: Option<Fence>,
) -> Result<Hunks, PatchError> {
    let mut read = Hunks { hunks: Vec::new(), warnings: Vec::new(), end: at, is_counted: false };
    loop {
        let header = after_blanks(lines, read.end);
        if !starts(lines, header, b"@@") {
            return Ok(read);
        }
        if read.hunks.len() == room {
            return Err(PatchError::at(header, PatchFault::TooManyHunks));
        }
        let range = header_text(lines[header])
            .and_then(range::read)
            .map_err(|fault| PatchError::at(header, fault))?;
        let (body, is_counted) = match counted_end(lines, header + 1, &range)? {
            Some(end) => (end, true),
            None => (recounted_end(lines, header + 1, fence)?, false),
        };
        let hunk = build(lines, header + 1..body, read.hunks.len() + 1, range.stated)?;
        if !lines[body - 1].ends_with(b"\n") && !lines[body - 1].starts_with(b"\\") {
            // An added line may have lost more than its line feed; any other is compared with the file.
            let is_whole = is_counted || range.counts.is_none();
            if !is_whole || hunk.lines.last().is_some_and(|last| last.kind == LineKind::Added) {
                return Err(PatchError::at(body - 1, PatchFault::Truncated));
            }
            read.warnings.push(PatchWarning::FinalLineFeed);
        }
        let found = (
            hunk.count(LineKind::Context) + hunk.count(LineKind::Removed),
            hunk.count(LineKind::Context) + hunk.count(LineKind::Added),
        );
        if let Some(stated) = range.counts.filter(|stated| *stated != found) {
            read.warnings.push(PatchWarning::HunkCounts { line: header + 1, stated, found });
        }
        read.hunks.push(hunk);
        (read.end, read.is_counted) = (body, is_counted);
    }
}

/// What a line is in the body of a hunk.
enum BodyLine {
    Of(LineKind),
    Marker,
    Outside,
}

fn classify(line: &[u8]) -> BodyLine {
    match line {
        [b' ', ..] | b"\n" | b"\r\n" => BodyLine::Of(LineKind::Context),
        [b'-', ..] => BodyLine::Of(LineKind::Removed),
        [b'+', ..] => BodyLine::Of(LineKind::Added),
        [b'\\', b' ', ..] => BodyLine::Marker,
        _ => BodyLine::Outside,
    }
}

/// Where the body ends by the counts of its header; `None` where they do not fit what stands there. An item of a list
/// below could be prose as well as a line that is not counted.
fn counted_end(lines: &[&[u8]], start: usize, range: &Range) -> Result<Option<usize>, PatchError> {
    let Some(at) = range.counts.and_then(|counts| count_down(lines, start, counts)) else { return Ok(None) };
    let next = after_blanks(lines, at);
    let goes_on = lines.get(next).is_some_and(|line| matches!(line, [b' ' | b'+' | b'-' | b'\\', ..]));
    let swallows_header = at >= start + 2 && names_prefixed_sides(lines, at - 2) && starts(lines, at, b"@@");
    if swallows_header || goes_on && !is_header_pair(lines, next) && !is_signature(lines, next) {
        let is_item = !swallows_header && is_list_item(lines[next]);
        return if is_item { Err(PatchError::at(next, PatchFault::HunkAmbiguous)) } else { Ok(None) };
    }
    Ok(Some(at))
}

/// The end of the lines that are counted, with the marker below them.
fn count_down(lines: &[&[u8]], start: usize, (mut old, mut new): (usize, usize)) -> Option<usize> {
    let mut at = start;
    while old > 0 || new > 0 {
        match classify(lines.get(at)?) {
            BodyLine::Of(kind) => {
                old = old.checked_sub(usize::from(kind != LineKind::Added))?;
                new = new.checked_sub(usize::from(kind != LineKind::Removed))?;
            }
            BodyLine::Marker if at > start => {}
            BodyLine::Marker | BodyLine::Outside => return None,
        }
        at += 1;
    }
    while at > start && starts(lines, at, b"\\ ") {
        at += 1;
    }
    Some(at)
}

/// Where the body ends by its lines alone.
///
/// A file's header below it could be a removed and an added line instead, and a signature a removed line. The former is
/// taken for what it is where its names carry prefixes; nothing else is guessed. Nor could an item of a list below a
/// blank line be told from a line of the hunk. Blank lines at the end are left out: as context they would change
/// nothing. What starts like no line of a hunk ends it below a blank line, and is a fault elsewhere.
fn recounted_end(lines: &[&[u8]], start: usize, fence: Option<Fence>) -> Result<usize, PatchError> {
    let mut at = start;
    while let Some(line) = lines.get(at) {
        if is_header_pair(lines, at) && starts(lines, at + 2, b"@@") {
            if names_prefixed_sides(lines, at) {
                break;
            }
            return Err(PatchError::at(at, PatchFault::HunkAmbiguous));
        }
        let is_below_blank = at > start && is_blank(lines[at - 1]);
        if is_signature(lines, at) || is_below_blank && is_list_item(line) {
            return Err(PatchError::at(at, PatchFault::HunkAmbiguous));
        }
        if matches!(classify(line), BodyLine::Outside) {
            break;
        }
        at += 1;
    }
    let known = [&b"@@"[..], b"diff ", b"--- ", b"From ", b"Index: ", b"*** Begin Patch"];
    let is_apart = at > start && is_blank(lines[at - 1]);
    if let Some(line) = lines.get(at).filter(|_| !is_apart)
        && !known.iter().any(|start| line.starts_with(start))
        && !fence.is_some_and(|fence| fence.is_closed_by(line))
    {
        let fault = prose::fault(line).filter(|fault| *fault != PatchFault::Unsupported(Form::Prose));
        return Err(PatchError::at(at, fault.unwrap_or(PatchFault::BodyLine)));
    }
    while at > start && is_blank(lines[at - 1]) {
        at -= 1;
    }
    if at == start {
        return Err(PatchError::at(start - 1, PatchFault::HunkEmpty));
    }
    Ok(at)
}

/// Whether two lines are names of which each carries the prefix of its side or is `/dev/null`.
fn names_prefixed_sides(lines: &[&[u8]], at: usize) -> bool {
    let carries = |at: usize, prefix: &[u8]| {
        let side = header_text(lines[at]).and_then(|text| read_side(&text[4..]));
        match side {
            Ok(Side::Null) => true,
            Ok(Side::Name(name)) => name.starts_with(prefix),
            Err(_) => false,
        }
    };
    is_header_pair(lines, at) && carries(at, b"a/") && carries(at + 1, b"b/")
}

/// Whether a line could be an item of a list in Markdown.
fn is_list_item(line: &[u8]) -> bool {
    matches!(line, [b'+' | b'-', b' ', first, ..] if !first.is_ascii_whitespace())
}

/// Whether a line of a body stands for a line feed and nothing before it.
fn is_empty_line(line: &[u8]) -> bool {
    matches!(line, b"\n" | b" \n" | b"-\n" | b"+\n")
}

fn build(
    lines: &[&[u8]],
    body: std::ops::Range<usize>,
    number: usize,
    stated: Option<StatedLines>,
) -> Result<Hunk, PatchError> {
    let mut hunk =
        Hunk { number, stated, anchors: Vec::new(), ends_file: false, text: Vec::new(), lines: Vec::new() };
    let (header, mut old_ended, mut new_ended) = (body.start - 1, false, false);
    for at in body {
        let line = lines[at];
        match classify(line) {
            BodyLine::Of(kind) => {
                let (old, new) = (kind != LineKind::Added, kind != LineKind::Removed);
                if old && old_ended || new && new_ended {
                    return Err(PatchError::at(at, PatchFault::NewlineMarker));
                }
                let text = if is_blank(line) { line } else { &line[1..] };
                hunk.text.extend_from_slice(text);
                if !line.ends_with(b"\n") {
                    hunk.text.push(b'\n');
                }
                hunk.lines.push(LineMark { kind, end: hunk.text.len() });
            }
            BodyLine::Marker => match hunk.lines.last_mut() {
                // A line of no bytes at all is none.
                Some(last) if hunk.text.ends_with(b"\n") && !is_empty_line(lines[at - 1]) => {
                    hunk.text.pop();
                    last.end = hunk.text.len();
                    old_ended |= last.kind != LineKind::Added;
                    new_ended |= last.kind != LineKind::Removed;
                }
                _ => return Err(PatchError::at(at, PatchFault::NewlineMarker)),
            },
            BodyLine::Outside => return Err(PatchError::at(at, PatchFault::BodyLine)),
        }
    }
    if hunk.lines.is_empty() {
        return Err(PatchError::at(header, PatchFault::HunkEmpty));
    }
    if hunk.count(LineKind::Added) + hunk.count(LineKind::Removed) == 0 {
        return Err(PatchError::at(header, PatchFault::NoEffect));
    }
    Ok(hunk)
}
