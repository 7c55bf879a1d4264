//! The comparison as programs read it. `docs/revisions.md` describes it.

use ambit_orchestrator::ended;
use ambit_revision::{HunkSection, Relation};
use ambit_run::{CaseComparison, CaseStanding, GateComparison, GateStanding, Side};
use serde_json::{Value, json};

use super::files::{Fate, FileRow, Tally, rows};
use super::{Compared, Seen};

impl Compared {
    /// Everything, but for hunks and patch where only an overview is wanted.
    pub(super) fn to_json(&self, is_short: bool) -> Value {
        let rows = rows(&self.diff);
        let files: Vec<Value> = rows.iter().map(|row| file(row, is_short)).collect();
        let mut json = json!({
            "before": seen(&self.before),
            "after": seen(&self.after),
            "relation": relation(&self.relation),
            "blueprintDiffers": self.has_other_blueprint(),
            "acceptance": self.cases.iter().map(case).collect::<Vec<_>>(),
            "gates": self.gates.iter().map(gate).collect::<Vec<_>>(),
            "totals": Tally::of(&rows),
            "files": files,
            "digest": self.diff.digest,
        });
        if !is_short {
            let patch = String::from_utf8_lossy(&self.diff.text);
            json["patchIsExact"] = json!(patch.as_bytes() == self.diff.text);
            json["patch"] = json!(patch);
        }
        json
    }
}

fn seen(seen: &Seen) -> Value {
    let mut json = seen.known.to_json();
    json["name"] = json!(seen.named);
    json["blueprint"] = json!(seen.blueprint.as_ref().map(|pin| json!({"id": pin.id, "digest": pin.digest})));
    json
}

fn relation(relation: &Relation) -> Value {
    let (kind, between, common) = match relation {
        Relation::Same => ("same", None, None),
        Relation::Ancestor { between } if between.is_empty() => ("parent", Some(between), None),
        Relation::Ancestor { between } => ("ancestor", Some(between), None),
        Relation::Descendant { between } if between.is_empty() => ("child", Some(between), None),
        Relation::Descendant { between } => ("descendant", Some(between), None),
        Relation::Related { common, siblings: true } => ("sibling", None, Some(common)),
        Relation::Related { common, siblings: false } => ("related", None, Some(common)),
        Relation::Unrelated => ("unrelated", None, None),
    };
    json!({"beforeIs": kind, "between": between, "common": common})
}

fn gate(gate: &GateComparison) -> Value {
    json!({
        "gate": gate.gate, "change": gate.change.as_str(), "commandDiffers": gate.is_other_command,
        "before": gate_side(&gate.before), "after": gate_side(&gate.after),
    })
}

fn gate_side(side: &Side<GateStanding>) -> Value {
    let standing = match side {
        Side::Imported => return json!({"status": "imported"}),
        Side::NotNamed => return json!({"status": "no-such-gate"}),
        Side::Stands(standing) => standing,
    };
    let newest = standing.newest.as_ref().map(|record| {
        json!({
            "attempt": record.attempt, "ended": ended(record), "passed": record.passed(),
            "durationMs": record.duration, "artifactId": record.artifact,
        })
    });
    let hidden = standing.hidden.as_ref();
    json!({
        "status": standing.status.as_str(), "runs": standing.runs, "attempts": standing.attempts, "newest": newest,
        "hiddenCheck": hidden.map(|hidden| json!({"check": hidden.check, "status": hidden.status.as_str()})),
    })
}

fn case(case: &CaseComparison) -> Value {
    json!({
        "case": case.case, "change": case.change.as_str(), "statementDiffers": case.is_reworded,
        "checksDiffer": case.is_checked_otherwise,
        "before": case_side(&case.before), "after": case_side(&case.after),
    })
}

fn case_side(side: &Side<CaseStanding>) -> Value {
    match side {
        Side::Imported => json!({"evidence": "imported"}),
        Side::NotNamed => json!({"evidence": "no-such-case"}),
        Side::Stands(standing) => {
            let gates: Vec<Value> = standing
                .gates
                .iter()
                .map(
                    |(id, gate)| json!({"gate": id, "status": gate.status.as_str(), "speaks": gate.speaks()}),
                )
                .collect();
            json!({"evidence": standing.evidence().as_str(), "statement": standing.statement, "gates": gates})
        }
    }
}

fn file(row: &FileRow<'_>, is_short: bool) -> Value {
    let from = match row.fate {
        Fate::Renamed { from } => Some(from),
        _ => None,
    };
    let mut json = json!({
        "path": row.path, "change": row.fate.as_str(), "from": from, "before": row.before, "after": row.after,
        "modeChanged": row.modes().is_some(), "binary": row.is_binary(), "lines": row.lines,
    });
    if !is_short {
        let hunks = row.section.map(|section| &section.hunks[..]).unwrap_or_default();
        json["hunks"] = hunks.iter().map(hunk).collect();
    }
    json
}

fn hunk(hunk: &HunkSection) -> Value {
    json!({"before": hunk.before, "after": hunk.after, "heading": hunk.heading, "lines": hunk.lines})
}
