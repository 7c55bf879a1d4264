//! Whether a revision is eligible for a preview, and if not, which link is missing.

use ambit_evidence::Project;
use ambit_ids::{Digest, RevisionId, RunId, Scope, vocabulary};
use ambit_ports::store::RunRef;
use serde::{Deserialize, Serialize};

use crate::finding::{Finding, LinkName};
use crate::findings::refuting;
use crate::report::{CheckId, Report, Verdict};
use crate::run::Inspection;
use crate::stream::Stream;
use crate::verifier::Verifier;

vocabulary!(
    /// Whether a revision is eligible.
    EligibilityStanding {
        /// A bounded run made it, everything about that run is proved, and it completed. No more than that.
        Eligible = "eligible",
        /// A link of the chain is missing or refuted.
        Ineligible = "ineligible",
        /// It could not be told, which is not eligible either.
        Unknown = "unknown",
    }
);

/// The link that keeps a revision from being eligible.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Missing {
    /// The check that found it; `None` where no run could be checked.
    pub check: Option<CheckId>,
    /// The link, and what is wrong with it.
    pub finding: Finding,
}

/// Whether a revision is eligible for a preview under its run's own policy. It says nothing about deployment or users.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Eligibility {
    /// The revision.
    pub revision: RevisionId,
    /// How it stands.
    pub standing: EligibilityStanding,
    /// Its tree, where it is eligible.
    pub tree: Option<Digest>,
    /// The run that made it, where there is exactly one.
    pub run: Option<RunId>,
    /// What is missing, where it is not eligible.
    pub missing: Option<Missing>,
    /// The report about the run.
    pub report: Option<Report>,
}

impl Eligibility {
    fn without_run(revision: RevisionId, finding: Finding) -> Self {
        let standing =
            if finding.refutes { EligibilityStanding::Ineligible } else { EligibilityStanding::Unknown };
        let missing = Some(Missing { check: None, finding });
        Self { revision, standing, tree: None, run: None, missing, report: None }
    }

    /// Whether it is eligible. Everything else is not.
    #[must_use]
    pub fn is_eligible(&self) -> bool {
        self.standing == EligibilityStanding::Eligible
    }
}

impl Verifier {
    /// Whether a revision is eligible for a preview. Only what one bounded run made, completed and proves is.
    pub async fn eligible(&self, scope: &Scope, revision: RevisionId) -> Eligibility {
        let link = || LinkName::Revision { revision };
        let makers = match self.makers(scope, revision).await {
            Ok(makers) => makers,
            Err(finding) => return Eligibility::without_run(revision, finding),
        };
        let run = match makers.as_slice() {
            [run] => RunRef { scope: scope.clone(), run: run.clone() },
            [] => {
                let why = self.unmade(scope, revision).await;
                return Eligibility::without_run(revision, refuting(link(), why));
            }
            _ => {
                let why = "several runs of the project claim it";
                return Eligibility::without_run(revision, refuting(link(), why));
            }
        };
        let (project, stream) = self.streams(&run).await;
        let inspection = self.inspect(&run, &project, &stream).await;
        judged(revision, &run, inspection, &project, &stream)
    }

    /// Why there is no run that made a revision.
    async fn unmade(&self, scope: &Scope, revision: RevisionId) -> &'static str {
        let project = self.project_stream(scope).await;
        if Project::fold(scope, &project.links).import(revision).is_some() {
            "it was imported, and no run made it: there is nothing that speaks for it"
        } else {
            "the project has no such revision"
        }
    }
}

/// What the inspection of a run says about the revision that it made.
pub(crate) fn judged(
    revision: RevisionId,
    run: &RunRef,
    Inspection { report, eligibility }: Inspection,
    project: &Stream,
    stream: &Stream,
) -> Eligibility {
    let link = || LinkName::Revision { revision };
    let imported = Project::fold(&run.scope, &project.links).import(revision).is_some();
    let last = stream.links.last().map_or_else(link, crate::findings::record_name);
    let missing = match (&eligibility, imported) {
        (_, true) => Some(missing_of(&report, Some(refuting(link(), "it was imported as well")))),
        (Some(Ok(_)), false) if report.verdict == Verdict::Proved => None,
        (Some(Err(why)), false) => Some(missing_of(&report, Some(refuting(last, why.to_string())))),
        (Some(Ok(_)) | None, false) => Some(missing_of(&report, None)),
    };
    let standing = match &missing {
        None => EligibilityStanding::Eligible,
        Some(missing) if missing.finding.refutes => EligibilityStanding::Ineligible,
        Some(_) => EligibilityStanding::Unknown,
    };
    let tree = eligibility.and_then(Result::ok).filter(|_| missing.is_none());
    Eligibility { revision, standing, tree, run: Some(run.run.clone()), missing, report: Some(report) }
}

/// What is missing first: what refutes a check, then why the run does not speak for the revision, then what could not be
/// checked.
fn missing_of(report: &Report, reason: Option<Finding>) -> Missing {
    let of_check =
        |(check, finding): (CheckId, &Finding)| Missing { check: Some(check), finding: finding.clone() };
    let findings = report.findings();
    let first = findings.first().copied();
    match (first, reason) {
        (Some((check, finding)), _) if finding.refutes => of_check((check, finding)),
        (_, Some(finding)) => Missing { check: Some(CheckId::Acceptance), finding },
        (Some(found), None) => of_check(found),
        (None, None) => Missing {
            check: None,
            finding: crate::findings::unsettled(None, "nothing of the run could be read"),
        },
    }
}
