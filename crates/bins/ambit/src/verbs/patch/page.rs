use ambit_ids::Digest;
use ambit_revision::{Excerpt, FileComparison, MatchedBy, Mismatch, Outcome, PatchRefusal, Reason};

use super::verdict::{Place, Ruling, Verdict};
use crate::ink::{Ink, Page, TEXT, within};
use crate::terminal::counted;

/// The most rows of a kind that a page has.
const ROWS: usize = 100;

/// What a person reads of a patch: the verdict, what the patch does or why it does not, and the digests.
pub(super) fn of(verdict: &Verdict) -> Page {
    let mut page = Page::for_output();
    write(&mut page, verdict);
    page
}

fn write(page: &mut Page, verdict: &Verdict) {
    let (ink, message) = match &verdict.ruling {
        Ruling::Fits(_) => (Ink::Good, verdict.ruling.message()),
        Ruling::StandsAlready(_) => (Ink::Notable, verdict.ruling.message()),
        Ruling::NoPatch(_) | Ruling::Refused(_) => {
            (Ink::Bad, verdict.ruling.code().unwrap_or_default().to_owned())
        }
    };
    page.row(ink, verdict.word(), &message);
    match &verdict.ruling {
        Ruling::NoPatch(_) => page.row(Ink::Plain, "", &verdict.ruling.message()),
        Ruling::Refused(refusal) => {
            page.row(Ink::Plain, "", &verdict.ruling.message());
            write_lines(page, refusal);
        }
        Ruling::Fits(_) | Ruling::StandsAlready(_) => {}
    }
    if let Some(Place { dir, changed_only }) = &verdict.place {
        let what = if *changed_only { "what the patch makes or changes" } else { "every file" };
        page.row(Ink::Plain, "written", &format!("{what}, to {}", dir.display()));
    }
    if let Some(effect) = verdict.ruling.effect() {
        write_effect(page, effect);
    }
    let canonical = verdict.ruling.effect().map(|effect| effect.canonical.digest);
    let digests = [("as given", verdict.patch), ("canonical", canonical)];
    let digests =
        digests.iter().filter_map(|(of, digest)| Some(format!("{of} {}", digest.as_ref()?.short())));
    page.row(Ink::Quiet, "patch", &digests.collect::<Vec<_>>().join(", "));
    if let Some(tree) = verdict.tree {
        write_tree(page, &tree);
    }
}

/// The digest of a tree, whole: a terminal of 80 columns has room for it beside a short label.
pub(crate) fn write_tree(page: &mut Page, tree: &Digest) {
    page.parts(&[(Ink::Strong, "tree     "), (Ink::Plain, &tree.to_string())]);
}

/// The lines where a hunk and a file part, as they stand.
fn write_lines(page: &mut Page, refusal: &PatchRefusal) {
    let PatchRefusal::At {
        reason: Reason::DeletePartial(mismatch) | Reason::ContextMismatch(mismatch), ..
    } = refusal
    else {
        return;
    };
    let Mismatch { expected, found, line, .. } = mismatch.as_ref();
    for (label, told, side) in [
        ("expected", "by the hunk".to_owned(), expected),
        ("found", format!("at line {line} of the file"), found),
    ] {
        let side = side.as_ref().map(Excerpt::text);
        page.row(Ink::Strong, label, if side.is_some() { &told } else { "nothing: it has ended" });
        if let Some(text) = side {
            page.quoted(Ink::Plain, text.trim_end_matches(['\n', '\r']));
        }
    }
}

fn write_effect(page: &mut Page, effect: &Outcome) {
    let files = &effect.canonical.comparison.files;
    for file in files.iter().take(ROWS) {
        write_file(page, file);
    }
    more(page, files.len(), "file");
    let moved: Vec<_> = effect.matches.iter().filter(|it| it.how == MatchedBy::OnlyPlace).collect();
    for hunk in moved.iter().take(ROWS) {
        let (number, path, line) = (hunk.hunk, &hunk.path, hunk.line);
        page.row(
            Ink::Plain,
            "place",
            &format!("hunk {number} of {path}: line {line}, the only one where it fits"),
        );
    }
    more(page, moved.len(), "hunk");
    for warning in effect.warnings.iter().take(ROWS) {
        page.row(Ink::Notable, "warning", &warning.to_string());
    }
    more(page, effect.warnings.len(), "warning");
}

fn write_file(page: &mut Page, file: &FileComparison) {
    let (ink, letter) = match (&file.before, &file.after) {
        (None, _) => (Ink::Good, "A"),
        (Some(_), None) => (Ink::Bad, "D"),
        (Some(_), Some(_)) => (Ink::Notable, "M"),
    };
    let lines = file
        .lines
        .map_or_else(|| "binary".to_owned(), |lines| format!("+{} -{}", lines.added, lines.removed));
    let path = within(&file.path.to_string(), page.room(TEXT));
    page.parts(&[
        (ink, &format!("  {letter}  ")),
        (Ink::Plain, &format!("{lines:<width$}{path}", width = TEXT - 5)),
    ]);
}

fn more(page: &mut Page, number: usize, thing: &str) {
    if let Some(left) = number.checked_sub(ROWS).filter(|left| *left > 0) {
        page.row(Ink::Quiet, "", &format!("and {} more; `--json` tells them all", counted(left, thing)));
    }
}
