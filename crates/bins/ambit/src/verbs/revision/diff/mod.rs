//! Two revisions side by side: files, gates, and the acceptance cases that these speak for.

mod files;
mod judgement;
mod page;
mod patch;
mod programs;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use ambit_blueprint::AcceptanceCase;
use ambit_ids::RevisionId;
use ambit_ports::store::RunRef;
use ambit_revision::{Diff, Relation};
use ambit_run::{BlueprintPin, CaseComparison, GateComparison, Judged, State, compare_cases, compare_gates};

use super::{Known, known, load, not_found};
use crate::answer::Answer;
use crate::cli::DiffArgs;
use crate::compose::Services;
use crate::context::{Context, ambit_in};
use crate::failure::Failure;
use crate::terminal::counted;

/// Everything that there is to say about two revisions.
struct Compared {
    before: Seen,
    after: Seen,
    relation: Relation,
    gates: Vec<GateComparison>,
    cases: Vec<CaseComparison>,
    diff: Diff,
    /// How a command about them begins.
    ambit: String,
}

/// A revision, and what made it.
struct Seen {
    known: Known,
    /// What its run goes by.
    named: Option<String>,
    blueprint: Option<BlueprintPin>,
}

/// The run of a revision, with what its blueprint wants.
struct Made {
    state: State,
    cases: Vec<AcceptanceCase>,
}

pub(super) async fn run(context: &Context, services: &Services, asked: &DiffArgs) -> Result<Answer, Failure> {
    let compared = compare(context, services, asked.before, asked.after).await?;
    let json = compared.to_json(asked.stat);
    if asked.patch {
        let binary = compared.diff.comparison.totals.files_binary;
        if binary > 0 {
            context.note(&format!(
                "{} in the patch by digest alone, so nothing can apply it whole",
                counted(binary, "binary file") + if binary == 1 { " stands" } else { " stand" }
            ));
        }
        return Ok(Answer::exact(compared.diff.text, json));
    }
    Ok(Answer::new(compared.page(asked.stat), json).verbatim())
}

async fn compare(
    context: &Context,
    services: &Services,
    before: RevisionId,
    after: RevisionId,
) -> Result<Compared, Failure> {
    let all = known(context, services).await?;
    let parents: BTreeMap<RevisionId, RevisionId> =
        all.iter().filter_map(|known| Some((known.revision, known.parent?))).collect();
    let find = |revision| {
        let found = all.iter().find(|known| known.revision == revision);
        found.cloned().ok_or_else(|| not_found(context, revision))
    };
    let (one, other) = (find(before)?, find(after)?);
    let (made_before, made_after) =
        (made(context, services, &one).await?, made(context, services, &other).await?);
    let (judged_before, judged_after) = (judged(made_before.as_ref()), judged(made_after.as_ref()));
    let diff = services
        .revisions
        .difference(
            &context.scope,
            &load(context, services, one.tree).await?,
            &load(context, services, other.tree).await?,
        )
        .await
        .map_err(|error| Failure::of(error.code(), &error))?;
    Ok(Compared {
        relation: Relation::of(before, after, &parents),
        gates: compare_gates(judged_before, judged_after),
        cases: compare_cases(judged_before, judged_after),
        diff,
        before: Seen::of(one, made_before.as_ref()),
        after: Seen::of(other, made_after.as_ref()),
        ambit: ambit_in(&context.scope),
    })
}

/// The run that made a revision, if one did. Where its blueprint cannot be read, the statements of its cases are missing.
async fn made(context: &Context, services: &Services, known: &Known) -> Result<Option<Made>, Failure> {
    let Some(run) = known.run.clone() else { return Ok(None) };
    let run = RunRef { scope: context.scope.clone(), run };
    let state = services.orchestrator.state(&run).await.map_err(|error| Failure::of(error.code(), &error))?;
    let Some(dossier) = state.dossier() else { return Ok(None) };
    let blueprint = services.documents().blueprint(&context.scope, dossier.pins.blueprint.digest).await;
    let cases = blueprint.map(|blueprint| blueprint.spec.acceptance_cases).unwrap_or_default();
    Ok(Some(Made { state, cases }))
}

fn judged(made: Option<&Made>) -> Judged<'_> {
    match made.and_then(|made| Some((made.state.dossier()?, &made.cases))) {
        None => Judged::Imported,
        Some((dossier, cases)) => Judged::ByRun { dossier, cases },
    }
}

impl Seen {
    fn of(known: Known, made: Option<&Made>) -> Self {
        let pins = made.and_then(|made| made.state.dossier()).map(|dossier| &dossier.pins);
        let named =
            |pins: &ambit_run::Pins| pins.name.as_ref().map_or(pins.run.to_string(), ToString::to_string);
        Self { known, named: pins.map(named), blueprint: pins.map(|pins| pins.blueprint.clone()) }
    }

    const fn revision(&self) -> RevisionId {
        self.known.revision
    }

    const fn is_imported(&self) -> bool {
        self.known.run.is_none()
    }
}

impl Compared {
    const fn seen(&self) -> [&Seen; 2] {
        [&self.before, &self.after]
    }

    /// How a command for the same comparison begins.
    fn again(&self) -> String {
        format!("{} revision diff {} {}", self.ambit, self.before.revision(), self.after.revision())
    }

    /// Whether the two were made under blueprints that are not the same.
    fn has_other_blueprint(&self) -> bool {
        matches!(self.seen().map(|seen| seen.blueprint.as_ref().map(|pin| pin.digest)), [Some(one), Some(other)] if one != other)
    }
}
