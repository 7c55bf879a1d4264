use super::fault::{Form, PatchError, PatchFault};
use super::forms::fence::Fence;
use super::forms::{begin_patch, prose, search_replace};
use super::lines::{after_blanks, is_combined, is_header_pair};
use super::name::header_text;
use super::set::PatchWarning;

/// What opens the next part of a patch.
pub(super) enum Start {
    /// `diff --git` or the names of a file.
    Unified,
    /// `*** Begin Patch`.
    BeginPatch,
    /// `<<<<<<< SEARCH`, and the index of the last line of text above it.
    SearchReplace { name: Option<usize> },
}

/// What stands above the text around the files, and how sure its end is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Above {
    Nothing,
    /// A unified diff; its last hunk may have ended by its counts.
    Unified {
        is_counted: bool,
    },
    /// A form that closes itself.
    Closed,
}

/// A reader of what stands around the files of a patch.
#[derive(Default)]
pub(super) struct Outside {
    open: Option<OpenFence>,
    warnings: Vec<PatchWarning>,
}

struct OpenFence {
    at: usize,
    fence: Fence,
    holds_file: bool,
    /// Whether the text above it names a file, of which it could be the whole content.
    is_named: bool,
}

/// The text between two files, so far.
struct Gap {
    /// How many things say that the hunk above has ended: its counts, a blank line, the end of its fence. Two leave no
    /// doubt, and with one no line may follow that could be a line of the hunk.
    evidence: usize,
    has_blank: bool,
    /// The first line of prose, and the last.
    prose: Option<(usize, usize)>,
    fence: Option<usize>,
}

impl Outside {
    /// The fence that is open.
    pub(super) fn fence(&self) -> Option<Fence> {
        self.open.as_ref().map(|open| open.fence)
    }

    pub(super) fn warn(&mut self, warnings: Vec<PatchWarning>) {
        self.warnings.extend(warnings);
    }

    pub(super) fn into_warnings(self) -> Vec<PatchWarning> {
        self.warnings
    }

    /// The index of the next line that opens a part of the patch, and what it opens; `None` at the end. What stands
    /// before it must mean nothing to any reader of patches.
    pub(super) fn next(
        &mut self,
        lines: &mut [&[u8]],
        mut at: usize,
        above: Above,
    ) -> Result<Option<(usize, Start)>, PatchError> {
        let mut gap = Gap::below(above);
        while let Some(line) = lines.get(at).copied() {
            let text = header_text(line).map_err(|fault| PatchError::at(at, fault))?;
            if let Some(start) = gap.start(lines, at, text) {
                if let Some(open) = &mut self.open {
                    open.holds_file = true;
                }
                self.warnings.extend(gap.warnings(&start));
                return Ok(Some((at, start)));
            }
            at = match text {
                _ if text.trim_ascii().is_empty() => gap.blank(at),
                _ if above != Above::Nothing && is_signature(lines, at) => at + 2,
                _ if text.starts_with(b"Index: ") => after_index_line(lines, at),
                _ if is_command_line(text) => at + 1,
                _ if is_mail_start(text) => after_mail_header(lines, at)?,
                _ => match Fence::read(text) {
                    Some(fence) => self.fence_line(lines, at, fence, &mut gap)?,
                    None => gap.prose(line, at)?,
                },
            };
        }
        if let Some(open) = &self.open {
            return Err(PatchError::at(open.at, PatchFault::Fence("is not closed")));
        }
        self.warnings.extend(gap.warnings(&Start::Unified));
        Ok(None)
    }

    fn fence_line(
        &mut self,
        lines: &mut [&[u8]],
        at: usize,
        fence: Fence,
        gap: &mut Gap,
    ) -> Result<usize, PatchError> {
        match self.open.take() {
            None => {
                let fence = fence.unindent(lines, at)?;
                let is_named = gap.prose.is_some_and(|(_, last)| search_replace::names_file(lines[last]));
                gap.fence.get_or_insert(at);
                self.open = Some(OpenFence { at, fence, holds_file: false, is_named });
            }
            Some(open) if !open.fence.is_closed_by(lines[at]) => {
                return Err(PatchError::at(
                    at,
                    PatchFault::Fence("stands within another, or the one above is not closed"),
                ));
            }
            Some(open) if open.is_named && !open.holds_file => {
                return Err(PatchError::at(open.at, PatchFault::Unsupported(Form::Listing)));
            }
            Some(open) => gap.evidence += usize::from(open.holds_file),
        }
        Ok(at + 1)
    }
}

impl Gap {
    fn below(above: Above) -> Self {
        let evidence = match above {
            Above::Nothing | Above::Closed => 2,
            Above::Unified { is_counted } => usize::from(is_counted),
        };
        Self { evidence, has_blank: false, prose: None, fence: None }
    }

    /// What a line opens, if anything.
    fn start(&self, lines: &[&[u8]], at: usize, text: &[u8]) -> Option<Start> {
        if text.starts_with(b"diff --git ") || is_header_pair(lines, at) {
            return Some(Start::Unified);
        }
        if begin_patch::opens(text) {
            return Some(Start::BeginPatch);
        }
        search_replace::opens(text).then(|| Start::SearchReplace { name: self.prose.map(|(_, last)| last) })
    }

    fn blank(&mut self, at: usize) -> usize {
        if self.prose.is_none() && !self.has_blank {
            self.has_blank = true;
            self.evidence += 1;
        }
        at + 1
    }

    fn prose(&mut self, line: &[u8], at: usize) -> Result<usize, PatchError> {
        if let Some(fault) = prose::fault(line) {
            return Err(PatchError::at(at, fault));
        }
        if self.evidence < 2 && matches!(line, [b'+' | b'-', ..]) {
            return Err(PatchError::at(at, PatchFault::HunkAmbiguous));
        }
        self.prose = Some((self.prose.map_or(at, |(first, _)| first), at));
        Ok(at + 1)
    }

    fn warnings(&self, start: &Start) -> impl Iterator<Item = PatchWarning> {
        let is_name = |(first, last): &(usize, usize)| {
            first == last && matches!(start, Start::SearchReplace { name: Some(name) } if name == last)
        };
        let prose = self.prose.filter(|prose| !is_name(prose));
        let fence = self.fence.map(|at| PatchWarning::Fence { line: at + 1 });
        fence.into_iter().chain(prose.map(|(first, _)| PatchWarning::Prose { line: first + 1 }))
    }
}

/// Whether the line and the next are the end of a mail: dashes and a version, and below them nothing, the end of a fence
/// or another mail.
pub(super) fn is_signature(lines: &[&[u8]], at: usize) -> bool {
    let is_dashes = lines.get(at).is_some_and(|line| line.trim_ascii_end() == b"--");
    let is_version = |line: &&[u8]| line.first().is_some_and(u8::is_ascii_digit);
    let is_end = |line: &&[u8]| is_mail_start(line) || Fence::read(line.trim_ascii_end()).is_some();
    is_dashes
        && lines.get(at + 1).is_some_and(is_version)
        && lines.get(after_blanks(lines, at + 2)).is_none_or(is_end)
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
    for (index, line) in lines.iter().enumerate().skip(at + 1) {
        if line.starts_with(b"diff --git ") {
            return Ok(index);
        }
        if prose::fault(line).is_some() {
            return Err(PatchError::at(index, PatchFault::Unsupported(Form::Prose)));
        }
    }
    Ok(lines.len())
}
