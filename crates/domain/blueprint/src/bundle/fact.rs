use ambit_ids::Excerpt;
use ambit_policy::{Fact, FactKind, Weakening};

use crate::cursor::{Cursor, Fields, Read, Reported};

const MAX_FACTS: usize = 16;

/// Reads facts in the shape in which requests hold them.
pub(crate) fn read_facts(cursor: &Cursor<'_>) -> Read<Vec<Fact>> {
    cursor.each(0..=MAX_FACTS, read_fact)
}

fn read_fact(cursor: &Cursor<'_>) -> Read<Fact> {
    let mut fields = cursor.fields()?;
    let kind = fields.at_once("kind")?.word()?;
    let any = 0..=u32::MAX;
    match kind {
        FactKind::ProtectedPathTouched => {
            let path = fields.required("path").and_then(|c| c.parsed());
            fields.finish()?;
            Ok(Fact::ProtectedPathTouched { path: path? })
        }
        FactKind::AssertionCountFell => {
            let path = fields.required("path").and_then(|c| c.parsed());
            let before = fields.required("before").and_then(|c| c.count(any.clone()));
            let after = fields.required("after").and_then(|c| c.count(any));
            fields.finish()?;
            Ok(Fact::AssertionCountFell { path: path?, before: before?, after: after? })
        }
        FactKind::SkipMarkerAdded => {
            let path = fields.required("path").and_then(|c| c.parsed());
            let line = fields.required("line").and_then(|c| c.count(1..=u32::MAX));
            let marker = fields.required("marker").and_then(|c| c.prose(1..=200));
            fields.finish()?;
            Ok(Fact::SkipMarkerAdded { path: path?, line: line?, marker: marker? })
        }
        FactKind::DependencyAdded => {
            let manifest = fields.required("manifest").and_then(|c| c.parsed());
            let name = fields.required("name").and_then(|c| c.prose(1..=200));
            fields.finish()?;
            Ok(Fact::DependencyAdded { manifest: manifest?, name: name? })
        }
        FactKind::ScopeLeft => {
            let path = fields.required("path").and_then(|c| c.parsed());
            fields.finish()?;
            Ok(Fact::ScopeLeft { path: path? })
        }
        FactKind::ForeignProject => {
            let project = fields.required("project").and_then(|c| c.parsed());
            fields.finish()?;
            Ok(Fact::ForeignProject { project: project? })
        }
        FactKind::GateNotGranted => {
            let gate = fields.required("gate").and_then(|c| c.parsed());
            fields.finish()?;
            Ok(Fact::GateNotGranted { gate: gate? })
        }
        FactKind::Unclassified => {
            let why = fields.required("why").and_then(|c| c.prose(1..=500));
            fields.finish()?;
            Ok(Fact::Unclassified { why: why? })
        }
        placed => {
            let weakening = read_weakening(&mut fields);
            fields.finish()?;
            // INVARIANT: every other kind is one of a weakening, as a test of the policy's says.
            weakening?.told_as(placed).ok_or(Reported)
        }
    }
}

fn read_weakening(fields: &mut Fields<'_>) -> Read<Weakening> {
    let path = fields.required("path").and_then(|c| c.parsed());
    let line = fields.required("line").and_then(|c| c.count(0..=u32::MAX));
    let side = fields.required("side").and_then(|c| c.word());
    let mut excerpt = |name| fields.optional(name).map_or(Ok(Excerpt::default()), |c| c.parsed());
    let (was, is) = (excerpt("was"), excerpt("is"));
    Ok(Weakening { path: path?, line: line?, side: side?, was: was?, is: is? })
}
