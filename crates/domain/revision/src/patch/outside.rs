use super::fault::{Form, PatchError, PatchFault};
use super::name::header_text;

/// The index of the next line that starts a file, or the number of lines. Whatever stands before it must be text that
/// tools write around files and that means nothing.
pub(super) fn skip(lines: &[&[u8]], mut at: usize, after_a_file: bool) -> Result<usize, PatchError> {
    while let Some(line) = lines.get(at) {
        let text = header_text(line).map_err(|fault| PatchError::at(at, fault))?;
        if text.starts_with(b"diff --git ") || is_header_pair(lines, at) {
            return Ok(at);
        }
        at = match text {
            b"" => at + 1,
            _ if after_a_file && is_signature(lines, at) => at + 2,
            _ if text.starts_with(b"Index: ") => after_index_line(lines, at),
            _ if is_command_line(text) => at + 1,
            _ if is_mail_start(text) => after_mail_header(lines, at)?,
            _ => return Err(PatchError::at(at, foreign(lines, at))),
        };
    }
    Ok(lines.len())
}

/// Whether two lines are the names of a file.
pub(super) fn is_header_pair(lines: &[&[u8]], at: usize) -> bool {
    starts(lines, at, b"--- ") && starts(lines, at + 1, b"+++ ")
}

pub(super) fn starts(lines: &[&[u8]], at: usize, with: &[u8]) -> bool {
    lines.get(at).is_some_and(|line| line.starts_with(with))
}

pub(super) fn is_blank(line: &[u8]) -> bool {
    matches!(line, b"\n" | b"\r\n")
}

fn is_combined(text: &[u8]) -> bool {
    text.starts_with(b"diff --cc") || text.starts_with(b"diff --combined")
}

/// Whether the line and the next are the end of a mail: dashes and a version, and below them nothing or another mail.
pub(super) fn is_signature(lines: &[&[u8]], at: usize) -> bool {
    let is_dashes = lines.get(at).is_some_and(|line| line.trim_ascii_end() == b"--");
    let is_version = |line: &&[u8]| line.first().is_some_and(u8::is_ascii_digit);
    is_dashes && lines.get(at + 1).is_some_and(is_version) && {
        let after = after_blanks(lines, at + 2);
        lines.get(after).is_none_or(|line| is_mail_start(line))
    }
}

/// The index of the first line from `from` on that is not blank, or the number of lines.
pub(super) fn after_blanks(lines: &[&[u8]], from: usize) -> usize {
    (from..lines.len()).find(|at| !is_blank(lines[*at])).unwrap_or(lines.len())
}

/// Whether a line is the first of a mail as git writes it: `From COMMIT WEEKDAY ...`.
fn is_mail_start(line: &[u8]) -> bool {
    let mut words = line.split(|b| *b == b' ');
    let mut next = || words.next().unwrap_or_default();
    let (from, commit, weekday) = (next(), next(), next());
    let weekdays: [&[u8]; 7] = [b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat", b"Sun"];
    from == b"From" && commit.iter().all(u8::is_ascii_hexdigit) && weekdays.contains(&weekday)
}

/// Whether a line is the command line that `diff` writes above a file when it compares directories.
fn is_command_line(text: &[u8]) -> bool {
    text.starts_with(b"diff -") && !text.starts_with(b"diff --git") && !is_combined(text)
}

/// Behind an `Index:` line and the rule that Subversion draws below it.
fn after_index_line(lines: &[&[u8]], at: usize) -> usize {
    let rule = |line: &&[u8]| line.len() > 3 && line.trim_ascii_end().iter().all(|b| *b == b'=');
    if lines.get(at + 1).is_some_and(rule) { at + 2 } else { at + 1 }
}

/// The first `diff --git` line behind the header and message of a mail. A message that holds what could be read as a
/// patch is refused, for another reader may take it as one.
fn after_mail_header(lines: &[&[u8]], at: usize) -> Result<usize, PatchError> {
    for index in at + 1..lines.len() {
        if starts(lines, index, b"diff --git ") {
            return Ok(index);
        }
        if is_header_pair(lines, index) || starts(lines, index, b"@@ -") {
            return Err(PatchError::at(index, PatchFault::Unsupported(Form::Prose)));
        }
    }
    Ok(lines.len())
}

/// What is wrong with a line that is neither a header nor admitted around one.
pub(super) fn foreign(lines: &[&[u8]], at: usize) -> PatchFault {
    let line = lines.get(at).copied().unwrap_or_default();
    if line.starts_with(b"@@@") || is_combined(line) {
        return PatchFault::Unsupported(Form::Combined);
    }
    if line.starts_with(b"@@") {
        return PatchFault::Header("a hunk stands without the header of a file");
    }
    if line.starts_with(b"+++ ") || line.starts_with(b"--- ") {
        return PatchFault::Header("`--- NAME` and `+++ NAME` must stand together, in this order");
    }
    let form = lines[at..].iter().find_map(|line| marker(line)).unwrap_or(Form::Prose);
    PatchFault::Unsupported(form)
}

/// The form that a line opens or closes.
fn marker(line: &[u8]) -> Option<Form> {
    [
        (&b"*** Begin Patch"[..], Form::BeginPatch),
        (b"*** End Patch", Form::BeginPatch),
        (b"<<<<<<< ", Form::SearchReplace),
        (b"```", Form::Fence),
        (b"~~~", Form::Fence),
    ]
    .into_iter()
    .find_map(|(start, form)| line.starts_with(start).then_some(form))
}
