use std::collections::BTreeSet;

use ambit_ids::{CaseId, GateId, PathPattern, PathSet};
use ambit_policy::Plane;

use super::probe::read_probe;
use super::{
    AcceptanceCase, Accountability, Authorization, Blueprint, BlueprintGate, BlueprintMetadata,
    BlueprintScope, BlueprintSpec, CleanupObligation, DependencyScope, HiddenFiles, PlaneBoundary,
    ProtectedOracles,
};
use crate::budget::read_run_budget;
use crate::cursor::{Cursor, Distinct, Read};
use crate::envelope::{DocumentKind, read_envelope, read_version};
use crate::one_word_name::WorkArea;
use crate::problem::{Finding, ProblemCode};
use crate::suggest::{closest, quoted};

const GOAL_BYTES: usize = 4000;
const SENTENCE_BYTES: usize = 1000;
const NAME_BYTES: usize = 200;
const MAX_CASES: usize = 64;
const MAX_GATES: usize = 32;
const MAX_PATTERNS: usize = 128;
const MAX_PATTERN_BYTES: usize = 256;
const MAX_WORK: usize = 32;
const MAX_DEPENDENCIES: usize = 256;
const MAX_PROBES: usize = 64;
const MAX_CLEANUP_DAYS: u32 = 3650;

impl Blueprint {
    pub(crate) fn read(cursor: &Cursor<'_>) -> Read<Self> {
        let (metadata, spec) = read_envelope(cursor, DocumentKind::Blueprint, read_metadata, read_spec)?;
        Ok(Self { metadata, spec })
    }
}

fn read_metadata(cursor: &Cursor<'_>) -> Read<BlueprintMetadata> {
    let mut fields = cursor.fields()?;
    let name = fields.required("name").and_then(|c| c.parsed());
    let version = fields.required("version").and_then(|c| read_version(&c));
    let title = fields.required("title").and_then(|c| c.prose(1..=NAME_BYTES));
    fields.finish()?;
    Ok(BlueprintMetadata { name: name?, version: version?, title: title? })
}

fn read_spec(cursor: &Cursor<'_>) -> Read<BlueprintSpec> {
    let mut fields = cursor.fields()?;
    let goal = fields.required("goal").and_then(|c| c.prose(1..=GOAL_BYTES));
    let stage = fields.required("stage").and_then(|c| c.word());
    let accountability = fields.required("accountability").and_then(|c| read_accountability(&c));
    let cases = fields.required("acceptanceCases").and_then(|c| read_cases(&c));
    let scope = fields.required("scope").and_then(|c| read_scope(&c));
    let protected_oracles = fields.required("protectedOracles").and_then(|c| read_oracles(&c));
    let gates = fields.required("gates").and_then(|c| read_gates(&c, cases.as_deref().ok()));
    let dependencies = fields.required("dependencies").and_then(|c| read_dependencies(&c));
    let run_budget = fields.required("runBudget").and_then(|c| read_run_budget(&c));
    let archetype_probes = fields.required("archetypeProbes").and_then(|list| {
        let mut ids = Distinct::new();
        list.each(0..=MAX_PROBES, |item| read_probe(item, &mut ids))
    });
    let boundary_map = fields.required("boundaryMap").and_then(|c| read_boundary_map(&c));
    let authorizes =
        fields.optional("authorizes").map(|list| list.each(0..=MAX_PATTERNS, read_authorization)).transpose();
    fields.finish()?;
    Ok(BlueprintSpec {
        goal: goal?,
        stage: stage?,
        accountability: accountability?,
        acceptance_cases: cases?.into_iter().map(|(_, case)| case).collect(),
        scope: scope?,
        protected_oracles: protected_oracles?,
        gates: gates?,
        dependencies: dependencies?,
        run_budget: run_budget?,
        archetype_probes: archetype_probes?,
        boundary_map: boundary_map?,
        authorizes: authorizes?.unwrap_or_default(),
    })
}

fn read_accountability(cursor: &Cursor<'_>) -> Read<Accountability> {
    let mut fields = cursor.fields()?;
    let owner = fields.required("owner").and_then(|c| c.prose(1..=NAME_BYTES));
    let later_owner = fields.required("laterOwner").and_then(|c| c.prose(1..=NAME_BYTES));
    let cleanup = fields.required("cleanup").and_then(|c| read_cleanup(&c));
    fields.finish()?;
    Ok(Accountability { owner: owner?, later_owner: later_owner?, cleanup: cleanup? })
}

fn read_cleanup(cursor: &Cursor<'_>) -> Read<CleanupObligation> {
    let mut fields = cursor.fields()?;
    let obligation = fields.required("obligation").and_then(|c| c.prose(1..=SENTENCE_BYTES));
    let after_days = fields.required("afterDays").and_then(|c| c.count(0..=MAX_CLEANUP_DAYS));
    fields.finish()?;
    Ok(CleanupObligation { obligation: obligation?, after_days: after_days? })
}

/// The cases, each with the place of its id, at which it is told if no gate covers it.
fn read_cases<'a>(cursor: &Cursor<'a>) -> Read<Vec<(Cursor<'a>, AcceptanceCase)>> {
    let mut ids = Distinct::new();
    cursor.each(1..=MAX_CASES, |item| {
        let mut fields = item.fields()?;
        let at = fields.required("id");
        let id = at.as_ref().map_err(|reported| *reported).and_then(|c| ids.read(c));
        let statement = fields.required("statement").and_then(|c| c.prose(1..=SENTENCE_BYTES));
        fields.finish()?;
        Ok((at?, AcceptanceCase { id: id?, statement: statement? }))
    })
}

fn read_scope(cursor: &Cursor<'_>) -> Read<BlueprintScope> {
    let mut fields = cursor.fields()?;
    let paths = fields.required("paths").and_then(|c| read_patterns(&c, 1));
    let work = fields.required("work").and_then(|c| c.each_distinct(1..=MAX_WORK, Cursor::parsed));
    let out_of_scope = fields.required("outOfScope").and_then(|list| {
        let work = work.as_deref().unwrap_or_default();
        list.each_distinct(0..=MAX_WORK, |item| read_excluded(item, work))
    });
    fields.finish()?;
    Ok(BlueprintScope { paths: paths?, work: work?, out_of_scope: out_of_scope? })
}

fn read_excluded(cursor: &Cursor<'_>, work: &[WorkArea]) -> Read<WorkArea> {
    let area = cursor.parsed()?;
    if !work.contains(&area) {
        return Ok(area);
    }
    let message = format!("the work `{area}` is both in and out of scope");
    Err(cursor.refuse(Finding::new(ProblemCode::Contradiction, message, "remove it here or from `work`")))
}

fn read_patterns(cursor: &Cursor<'_>, fewest: usize) -> Read<PathSet> {
    cursor.each(fewest..=MAX_PATTERNS, read_pattern).map(PathSet)
}

fn read_pattern(cursor: &Cursor<'_>) -> Read<PathPattern> {
    let text = cursor.exact_text()?;
    cursor.check_length(text, 1..=MAX_PATTERN_BYTES)?;
    PathPattern::new(text).map_err(|error| cursor.malformed(text, &error))
}

fn read_oracles(cursor: &Cursor<'_>) -> Read<ProtectedOracles> {
    let mut fields = cursor.fields()?;
    let paths = fields.required("paths").and_then(|c| read_patterns(&c, 0));
    let test_paths = fields.required("testPaths").and_then(|c| read_patterns(&c, 0));
    fields.finish()?;
    Ok(ProtectedOracles { paths: paths?, test_paths: test_paths? })
}

/// Reads the gates. Where the cases could be read, every cited one must be among them, and every one must be cited.
fn read_gates(
    cursor: &Cursor<'_>,
    cases: Option<&[(Cursor<'_>, AcceptanceCase)]>,
) -> Read<Vec<BlueprintGate>> {
    let known: Option<BTreeSet<&CaseId>> =
        cases.map(|cases| cases.iter().map(|(_, case)| &case.id).collect());
    let mut ids = Distinct::new();
    let gates = cursor.each(1..=MAX_GATES, |item| read_gate(item, &mut ids, known.as_ref()))?;
    let covered: BTreeSet<&CaseId> = gates.iter().flat_map(|gate| &gate.cases).collect();
    let mut complete = Ok(());
    for (at, case) in cases.unwrap_or_default() {
        if !covered.contains(&case.id) {
            let message = format!("no gate covers the acceptance case `{}`", case.id);
            let label = "name it in the `cases` of a gate";
            complete = Err(at.refuse(Finding::new(ProblemCode::NotCovered, message, label)));
        }
    }
    complete.map(|()| gates)
}

fn read_gate(
    cursor: &Cursor<'_>,
    ids: &mut Distinct<GateId>,
    known: Option<&BTreeSet<&CaseId>>,
) -> Read<BlueprintGate> {
    let mut fields = cursor.fields()?;
    let id = fields.required("id").and_then(|c| ids.read(&c));
    let cases = fields
        .required("cases")
        .and_then(|list| list.each_distinct(0..=MAX_CASES, |item| read_cited_case(item, known)));
    let hidden_check = fields.optional("hiddenCheck").map(|c| c.parsed()).transpose();
    let files = fields.optional("hiddenFiles");
    let hidden_files = files.as_ref().map(read_hidden_files).transpose();
    fields.finish()?;
    let (hidden_check, hidden_files) = (hidden_check?, hidden_files?);
    if let (None, Some(at)) = (&hidden_check, files) {
        let message = format!("{} has hidden files and no hidden check that could use them", cursor.name());
        let label = "name the command that they are for as `hiddenCheck`";
        return Err(at.refuse_key(Finding::new(ProblemCode::Contradiction, message, label)));
    }
    Ok(BlueprintGate { id: id?, cases: cases?, hidden_check, hidden_files })
}

fn read_hidden_files(cursor: &Cursor<'_>) -> Read<HiddenFiles> {
    let mut fields = cursor.fields()?;
    let from = fields.required("from").and_then(|c| c.parsed());
    let digest = fields.required("digest").and_then(|c| c.parsed());
    fields.finish()?;
    Ok(HiddenFiles { from: from?, digest: digest? })
}

fn read_cited_case(cursor: &Cursor<'_>, known: Option<&BTreeSet<&CaseId>>) -> Read<CaseId> {
    let id: CaseId = cursor.parsed()?;
    let Some(known) = known.filter(|known| !known.contains(&id)) else {
        return Ok(id);
    };
    let meant = closest(id.as_str(), known.iter().map(|known| known.as_str()));
    let label = meant.map_or_else(
        || "it is not among the `acceptanceCases`".to_owned(),
        |meant| format!("did you mean `{meant}`?"),
    );
    let message = format!("there is no acceptance case {}", quoted(id.as_str()));
    Err(cursor.refuse(Finding::new(ProblemCode::UnknownReference, message, label)))
}

fn read_dependencies(cursor: &Cursor<'_>) -> Read<DependencyScope> {
    let mut fields = cursor.fields()?;
    let manifests = fields.required("manifests").and_then(|c| read_patterns(&c, 0));
    let approved = fields
        .required("approved")
        .and_then(|list| list.each_distinct(0..=MAX_DEPENDENCIES, read_dependency));
    fields.finish()?;
    Ok(DependencyScope { manifests: manifests?, approved: approved? })
}

fn read_dependency(cursor: &Cursor<'_>) -> Read<String> {
    let text = cursor.exact_text()?;
    cursor.check_length(text, 1..=NAME_BYTES)?;
    if text.contains(char::is_whitespace) {
        return Err(cursor.malformed(text, &"the name of a dependency has no white space"));
    }
    Ok(text.to_owned())
}

fn read_boundary_map(cursor: &Cursor<'_>) -> Read<Vec<PlaneBoundary>> {
    let mut planes = Distinct::new();
    let map = cursor.each(1..=Plane::ALL.len(), |item| {
        let mut fields = item.fields()?;
        let plane = fields.required("plane").and_then(|c| planes.admit(&c, c.word()?));
        let holds = fields.required("holds").and_then(|c| c.prose(1..=SENTENCE_BYTES));
        let granted_by = fields.required("grantedBy").and_then(|c| c.prose(1..=NAME_BYTES));
        fields.finish()?;
        Ok(PlaneBoundary { plane: plane?, holds: holds?, granted_by: granted_by? })
    })?;
    let absent = |plane: &&Plane| !map.iter().any(|boundary| boundary.plane == **plane);
    let mut complete = Ok(());
    for plane in Plane::ALL.iter().filter(absent) {
        let message = format!("{} says nothing about the plane `{plane}`", cursor.name());
        let label = "every plane must stand here, also one that holds nothing";
        complete = Err(cursor.refuse_key(Finding::new(ProblemCode::NotCovered, message, label)));
    }
    complete.map(|()| map)
}

fn read_authorization(cursor: &Cursor<'_>) -> Read<Authorization> {
    let mut fields = cursor.fields()?;
    let path = fields.required("path").and_then(|c| read_pattern(&c));
    let why = fields.required("why").and_then(|c| c.prose(1..=SENTENCE_BYTES));
    fields.finish()?;
    Ok(Authorization { path: path?, why: why? })
}
