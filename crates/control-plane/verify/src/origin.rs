//! Where a run begins and ends in the stream of its project.

use ambit_evidence::v1::{Body, ProjectBody};
use ambit_evidence::{Link, Project};
use ambit_ids::{BlueprintId, Digest, RunId, Scope};
use ambit_run::{Phase, Pins};

use crate::finding::{Finding, LinkName};
use crate::findings::{Findings, record_name, refuting, unsettled};

/// The part of the project's stream that the run was admitted under: up to the record that its first one follows.
pub(crate) fn origin<'p>(project: &'p [Link], first: &Link) -> Result<&'p [Link], Finding> {
    match project.iter().position(|link| link.leaf == first.record.prev) {
        Some(at) => Ok(&project[..=at]),
        None => Err(refuting(
            record_name(first),
            format!("it follows {}, which is no record of the project", first.record.prev),
        )),
    }
}

/// Whether exactly the pinned blueprint was approved in this part of the project's stream.
pub(crate) fn approval(scope: &Scope, before: &[Link], pins: &Pins) -> Findings {
    let mut findings = Findings::default();
    let (blueprint, digest) = (&pins.blueprint.id, pins.blueprint.digest);
    if Project::fold(scope, before).is_approved(blueprint, digest) {
        return findings;
    }
    let unsigned = before.iter().find(|link| approved(link) == Some((blueprint, digest)));
    match unsigned {
        Some(link) => findings.refute(
            record_name(link),
            "it is signed by nobody who could approve then, so it approves nothing",
        ),
        None => findings.refute(
            LinkName::Approval { blueprint: blueprint.clone(), digest },
            "the project has no such approval from before the run",
        ),
    }
    findings
}

/// Whether every approval of the project, and whatever else only an approver can say, is signed by somebody who could approve
/// then.
pub(crate) fn approvals(scope: &Scope, project: &[Link]) -> Findings {
    let mut findings = Findings::default();
    let mut before = Project::default();
    for link in project {
        let Body::Project(body) = &link.record.body else { continue };
        if !before.accepts(scope, body) {
            let was_withdrawn =
                approved(link).is_some_and(|(blueprint, digest)| before.is_withdrawn(blueprint, digest));
            let why = if was_withdrawn {
                "it was withdrawn before, which is final"
            } else {
                "it is signed by nobody who could approve then"
            };
            findings.refute(record_name(link), why);
        }
        before.take(scope, body);
    }
    findings
}

fn approved(link: &Link) -> Option<(&BlueprintId, Digest)> {
    match &link.record.body {
        Body::Project(body) => match body.as_ref() {
            ProjectBody::BlueprintApproved { blueprint, digest, .. } => Some((blueprint, *digest)),
            _ => None,
        },
        Body::Run(_) => None,
    }
}

/// Whether the project names this last record of the run. `last` is the run's last record and its phase, where it is
/// over.
pub(crate) fn end(project: &[Link], run: &RunId, last: Option<&Link>, phase: Option<Phase>) -> Findings {
    let mut findings = Findings::default();
    let mut closings = project.iter().filter_map(|link| closed(link, run).map(|closed| (link, closed)));
    let (first, second) = (closings.next(), closings.next());
    match (first, phase) {
        (None, None) => findings.push(unsettled(None, "the run is not over")),
        (None, Some(_)) => findings.push(unsettled(
            Some(LinkName::Closing { run: run.clone() }),
            "the run is over, and its project does not say so",
        )),
        (Some((closing, named)), phase) => {
            let found = last.map(|link| (link.record.seq, link.leaf));
            if found != Some((named.0, named.1)) {
                let found = found.map_or_else(
                    || "has no record".to_owned(),
                    |(seq, leaf)| format!("ends with record {seq}, {leaf}"),
                );
                let why = format!("it names record {} {} as the last, and the run {found}", named.0, named.1);
                findings.refute(record_name(closing), why);
            } else if phase.map(Phase::as_str) != Some(named.2) {
                let phase = phase.map_or("not over", Phase::as_str);
                findings.refute(record_name(closing), format!("it says {}, and the run is {phase}", named.2));
            }
        }
    }
    if let Some((again, _)) = second {
        findings.refute(record_name(again), "the run was closed before");
    }
    findings
}

fn closed<'l>(link: &'l Link, of: &RunId) -> Option<(u64, Digest, &'l str)> {
    match &link.record.body {
        Body::Project(body) => match body.as_ref() {
            ProjectBody::RunClosed { run, last_seq, leaf, phase } if run == of => {
                Some((*last_seq, *leaf, phase))
            }
            _ => None,
        },
        Body::Run(_) => None,
    }
}
