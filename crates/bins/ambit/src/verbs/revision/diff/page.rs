use ambit_revision::Relation;
use ambit_run::{CaseComparison, CaseStanding, Change, GateComparison, Side};

use super::files::{Fate, FileRow, Tally, rows};
use super::judgement::{case_label, evidence_told, gate_label, look, step, why};
use super::{Compared, Seen};
use crate::ink::{Ink, Page, TEXT, widest, within};
use crate::terminal::counted;

/// The most files that a page lists.
const FILES: usize = 100;

impl Compared {
    /// What a person reads: first what has to be known before anything is accepted, then the files, then their lines.
    pub(super) fn page(&self, is_short: bool) -> String {
        let mut page = Page::for_output();
        self.write(&mut page, is_short);
        page.into_text()
    }

    pub(super) fn write(&self, page: &mut Page, is_short: bool) {
        if self.relation == Relation::Same {
            let revision = self.before.revision();
            page.line(Ink::Plain, &format!("{revision} and {revision} are the same"));
            return;
        }
        let (before, after) = (self.before.revision(), self.after.revision());
        page.parts(&[
            (Ink::Strong, &format!("{before} -> {after}")),
            (Ink::Plain, &format!("  {}", self.kinship())),
        ]);
        for (label, seen) in [("before", &self.before), ("after", &self.after)] {
            page.row(standing_ink(seen), label, &standing(seen));
        }
        if self.has_other_blueprint()
            && let [Some(one), Some(other)] = self.seen().map(|seen| seen.blueprint.as_ref())
        {
            let told = format!("{} {} -> {} {}", one.id, one.digest.short(), other.id, other.digest.short());
            page.row(Ink::Notable, "blueprint", &told);
        }
        self.write_cases(page);
        self.write_gates(page);
        let rows = rows(&self.diff);
        self.write_files(page, &rows);
        if !is_short {
            self.write_patch(page, &rows);
        }
    }

    fn kinship(&self) -> String {
        let (before, after) = (self.before.revision(), self.after.revision());
        let by_way = |between: &[ambit_ids::RevisionId]| {
            let names: Vec<String> = between.iter().map(ToString::to_string).collect();
            if names.is_empty() { String::new() } else { format!(" by way of {}", names.join(", ")) }
        };
        match &self.relation {
            Relation::Same => String::new(),
            Relation::Ancestor { between } => format!("{after} was made from {before}{}", by_way(between)),
            Relation::Descendant { between } => {
                format!("backwards: {before} was made from {after}{}", by_way(between))
            }
            Relation::Related { common, siblings: true } => format!("both were made from {common}"),
            Relation::Related { common, siblings: false } => format!("both go back to {common}"),
            Relation::Unrelated => "neither was made from the other".to_owned(),
        }
    }

    fn write_cases(&self, page: &mut Page) {
        let mut cases: Vec<&CaseComparison> = self.cases.iter().collect();
        cases.sort_by_key(|case| case.change);
        if cases.is_empty() {
            page.row(Ink::Plain, "acceptance", "both were imported: no blueprint says what must hold");
            return;
        }
        page.row(Ink::Strong, "acceptance", &tally(cases.iter().map(|case| case_label(case).1)));
        for case in cases.iter().filter(|case| !is_settled(case)) {
            self.write_case(page, case);
        }
        let kept: Vec<&str> =
            cases.iter().filter(|case| is_settled(case)).map(|case| case.case.as_str()).collect();
        if !kept.is_empty() {
            page.row(Ink::Quiet, "  kept", &kept.join(", "));
        }
    }

    fn write_case(&self, page: &mut Page, case: &CaseComparison) {
        let (ink, label) = case_label(case);
        let statement = |side: &Side<CaseStanding>| side.standing().and_then(|it| it.statement.clone());
        let said = statement(&case.after).or_else(|| statement(&case.before)).unwrap_or_default();
        page.row(ink, &format!("  {label}"), &format!("{}  {said}", case.case));
        page.row(Ink::Plain, "", &evidence_told(case, &self.gates));
        if case.is_reworded {
            let before = statement(&case.before).unwrap_or_default();
            page.row(Ink::Plain, "", &format!("stated before as: {before}"));
        }
        if case.is_checked_otherwise {
            page.row(Ink::Plain, "", "other gates or commands speak for it than before");
        }
    }

    fn write_gates(&self, page: &mut Page) {
        let mut gates: Vec<&GateComparison> = self.gates.iter().collect();
        gates.sort_by_key(|gate| gate.change);
        if gates.is_empty() {
            page.row(Ink::Plain, "gates", "both were imported: no gate ran on them");
            return;
        }
        page.row(Ink::Strong, "gates", &tally(gates.iter().map(|gate| gate_label(gate).1)));
        for seen in self.seen().into_iter().filter(|seen| seen.is_imported()) {
            page.row(Ink::Plain, "", &format!("{} was imported: no gate ran on it", seen.revision()));
        }
        let widest = gates.iter().map(|gate| widest(gate.gate.as_str())).max().unwrap_or_default().min(28);
        for gate in gates {
            let (ink, label) = gate_label(gate);
            page.row(ink, &format!("  {label}"), &format!("{:<widest$}  {}", gate.gate.as_str(), step(gate)));
            if gate.is_other_command {
                page.row(Ink::Plain, "", "its name stands for another command than before");
            }
            if gate.change != Change::Same {
                self.write_reasons(page, gate);
            }
        }
    }

    fn write_reasons(&self, page: &mut Page, gate: &GateComparison) {
        for (seen, side) in self.seen().into_iter().zip([&gate.before, &gate.after]) {
            let Some(why) = why(side) else { continue };
            let told = format!("{}  {why}", seen.revision());
            match look(self, seen, gate, side) {
                Some(look) if page.room(TEXT).is_none_or(|room| told.len() + 3 + look.len() <= room) => {
                    page.row(Ink::Plain, "", &format!("{told}   {look}"));
                }
                look => {
                    page.row(Ink::Plain, "", &told);
                    if let Some(look) = look {
                        page.row(Ink::Plain, "", &look);
                    }
                }
            }
        }
    }

    fn write_files(&self, page: &mut Page, rows: &[FileRow<'_>]) {
        if rows.is_empty() {
            page.row(Ink::Strong, "files", "none differs");
            return;
        }
        let tally = Tally::of(rows);
        let kinds = [
            (tally.files_added, "added"),
            (tally.files_removed, "removed"),
            (tally.files_modified, "modified"),
            (tally.files_renamed, "renamed"),
        ];
        let kinds: Vec<String> = kinds
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, kind)| format!("{count} {kind}"))
            .collect();
        let lines = format!("+{} -{}", tally.lines.added, tally.lines.removed);
        page.row(Ink::Strong, "files", &format!("{}, {lines}", kinds.join(", ")));
        let digits = |number: fn(&FileRow<'_>) -> usize| {
            rows.iter().take(FILES).map(|row| number(row).to_string().len() + 1).max().unwrap_or_default()
        };
        let widths = [
            digits(|row| row.lines.unwrap_or_default().added),
            digits(|row| row.lines.unwrap_or_default().removed),
        ];
        for row in rows.iter().take(FILES) {
            write_file(page, row, widths);
        }
        if let Some(rest) = rows.get(FILES..).filter(|rest| !rest.is_empty()) {
            let lines = Tally::of(rest).lines;
            let told =
                format!("  and {}, +{} -{}", counted(rest.len(), "more file"), lines.added, lines.removed);
            page.line(Ink::Notable, &told);
        }
    }
}

/// One file: what became of it, its lines, and its path with what there is to say beside.
fn write_file(page: &mut Page, row: &FileRow<'_>, [added, removed]: [usize; 2]) {
    let (plus, minus) = match row.lines {
        Some(lines) if lines.added + lines.removed > 0 => {
            (format!("+{}", lines.added), format!("-{}", lines.removed))
        }
        _ => (String::new(), String::new()),
    };
    let head = format!("  {}  ", row.fate.letter());
    let remarks = row.remarks();
    let remarks = if remarks.is_empty() { String::new() } else { format!("  ({})", remarks.join("; ")) };
    let taken = widest(&head) + added + 1 + removed + 2 + widest(&remarks);
    page.parts(&[
        (Ink::Plain, &head),
        (Ink::Good, &format!("{plus:>added$}")),
        (Ink::Bad, &format!(" {minus:>removed$}")),
        (Ink::Plain, &format!("  {}", name(row, page.room(taken)))),
        (Ink::Quiet, &remarks),
    ]);
}

/// The path, or both where it has another, in so much room.
pub(super) fn name(row: &FileRow<'_>, room: Option<usize>) -> String {
    let path = row.path.to_string();
    let Fate::Renamed { from } = row.fate else { return within(&path, room) };
    let from = from.to_string();
    let half = room.map(|room| room.saturating_sub(4) / 2);
    // What one of the two leaves free the other can have.
    let left =
        |other: &str| half.zip(room).map(|(half, room)| half.max(room.saturating_sub(4 + widest(other))));
    format!("{} -> {}", within(&from, left(&path)), within(&path, left(&from)))
}

/// Whether a case is as it was, with all of its evidence: then its name says enough.
fn is_settled(case: &CaseComparison) -> bool {
    let is_as_before = case.change == Change::Same && !case.is_reworded && !case.is_checked_otherwise;
    is_as_before && case_label(case).1 == "kept"
}

fn standing(seen: &Seen) -> String {
    let known = &seen.known;
    let run = seen.named.as_ref().map(|named| format!(", run {named}")).unwrap_or_default();
    format!("{}  {}{run}  tree {}", known.revision, known.state, known.tree.short())
}

fn standing_ink(seen: &Seen) -> Ink {
    match (seen.known.preview_ready, seen.known.state.as_str()) {
        (true, _) => Ink::Good,
        (_, "imported" | "in progress") => Ink::Plain,
        _ => Ink::Bad,
    }
}

/// How often each label stands in a list, in the order of the list.
fn tally(labels: impl Iterator<Item = &'static str>) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for label in labels {
        match counts.iter_mut().find(|(told, _)| *told == label) {
            Some((_, count)) => *count += 1,
            None => counts.push((label, 1)),
        }
    }
    let told: Vec<String> = counts.iter().map(|(label, count)| format!("{count} {label}")).collect();
    told.join(", ")
}
