//! The lines that differ, for people. Whoever wants to apply them takes the patch itself.

use ambit_revision::HunkSection;

use super::Compared;
use super::files::FileRow;
use super::page::name;
use crate::ink::{Ink, Page};
use crate::terminal::counted;

/// The most lines of one file that a page shows.
const FILE_LINES: usize = 200;
/// The most lines of all files together.
const PAGE_LINES: usize = 1_500;

impl Compared {
    pub(super) fn write_patch(&self, page: &mut Page, rows: &[FileRow<'_>]) {
        let mut left = PAGE_LINES;
        let mut shown = rows.iter().filter_map(|row| Some((row, row.section.map(|it| &it.hunks[..])?)));
        let mut is_cut = false;
        for (row, hunks) in shown.by_ref().filter(|(_, hunks)| !hunks.is_empty()) {
            if left == 0 {
                page.blank();
                let rest = 1 + shown.filter(|(_, hunks)| !hunks.is_empty()).count();
                page.line(
                    Ink::Notable,
                    &format!("the lines of {} are not shown", counted(rest, "further file")),
                );
                is_cut = true;
                break;
            }
            page.blank();
            page.line(Ink::Strong, &name(row, page.room(0)));
            let all: usize = hunks.iter().map(|hunk| 1 + self.lines_of(hunk).count()).sum();
            let most = FILE_LINES.min(left);
            for (ink, line) in hunks.iter().flat_map(|hunk| self.told(hunk)).take(most) {
                page.quoted(ink, &line);
            }
            left -= all.min(most);
            if all > most {
                page.line(Ink::Notable, &format!("  and {} of this file", counted(all - most, "more line")));
                is_cut = true;
            }
        }
        if is_cut {
            page.line(Ink::Notable, &format!("all of it   {} --patch", self.again()));
        }
    }

    /// The lines of a hunk, without that of its ranges.
    fn lines_of(&self, hunk: &HunkSection) -> impl Iterator<Item = &[u8]> {
        let text = self.diff.text.get(hunk.text.clone()).unwrap_or_default();
        text.split_inclusive(|byte| *byte == b'\n').skip(1)
    }

    fn told<'a>(&'a self, hunk: &'a HunkSection) -> impl Iterator<Item = (Ink, String)> + 'a {
        let heading = hunk.heading.as_ref().map(|heading| format!(" {heading}")).unwrap_or_default();
        let ranges = format!("@@ -{} +{} @@{heading}", hunk.before, hunk.after);
        std::iter::once((Ink::Place, ranges)).chain(self.lines_of(hunk).map(|line| {
            let ink = match line.first() {
                Some(b'+') => Ink::Good,
                Some(b'-') => Ink::Bad,
                Some(b'\\') => Ink::Quiet,
                _ => Ink::Plain,
            };
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            (ink, String::from_utf8_lossy(line).into_owned())
        }))
    }
}
