//! What a verification answers.

use std::collections::BTreeSet;

use ambit_ids::{Digest, vocabulary};
use serde::{Deserialize, Serialize};

use crate::finding::Finding;
use crate::findings::{Findings, Standing};

vocabulary!(
    /// The checks. Their ids are stable.
    CheckId {
        /// The records of the project's stream follow one another.
        ProjectChain = "project.chain",
        /// The signed head of the project's stream names its last record.
        ProjectHead = "project.head",
        /// Every approval of a blueprint is signed by somebody who could approve by then.
        ProjectApprovals = "project.approvals",
        /// Every registered document is the one that was registered.
        ProjectDocuments = "project.documents",
        /// Every revision number belongs to one import or one run, and every imported tree can be read whole.
        ProjectRevisions = "project.revisions",
        /// Every revision request has the digest of its content.
        ProjectRequests = "project.requests",
        /// Every run of the project is there, and each is proved.
        ProjectRuns = "project.runs",
        /// The records of the run's stream follow one another.
        RunChain = "run.chain",
        /// The signed head of the run's stream names its last record.
        RunHead = "run.head",
        /// The run's chain begins at a record of its project.
        RunOrigin = "run.origin",
        /// The project names the run's last record.
        RunEnd = "run.end",
        /// The pinned blueprint was approved before the run began.
        Blueprint = "blueprint",
        /// The base revision is one of the project's.
        Base = "base",
        /// The pinned documents are there and name one another.
        Documents = "documents",
        /// The pins follow from the documents.
        Pins = "pins",
        /// Every step of the run follows from the one before.
        Steps = "steps",
        /// Actor, precondition, artifact and environment of every record follow from the run.
        Records = "records",
        /// Every call is assessed and decided again, with the same answer.
        Decisions = "decisions",
        /// Every decision of a person is signed by an approver.
        Approvals = "approvals",
        /// Every look at the source is taken again, and sees the same.
        Observations = "observations",
        /// The recorded patches lead from the base to the final tree.
        Patches = "patches",
        /// Every tree of the run can be read whole.
        Trees = "trees",
        /// Every gate record follows from what was seen of exactly that execution.
        Gates = "gates",
        /// Every sandbox was the run's own, and was measured to meet the profile.
        Sandboxes = "sandboxes",
        /// Processes were stopped and sandboxes removed, provably.
        Cleanup = "cleanup",
        /// The run ended as its records say that it must.
        Acceptance = "acceptance",
        /// The exported trace holds exactly the records before its export.
        Trace = "trace",
        /// Every member that a bundle lists is there, and is what the list says.
        BundleMembers = "bundle.members",
        /// What a bundle has for people to read is what its records and blobs make.
        BundleReadable = "bundle.readable",
    }
);

impl CheckId {
    /// The checks of one run, in the order in which a report lists them.
    pub const OF_RUN: [Self; 22] = [
        Self::ProjectChain,
        Self::ProjectHead,
        Self::RunChain,
        Self::RunHead,
        Self::RunOrigin,
        Self::Blueprint,
        Self::RunEnd,
        Self::Base,
        Self::Documents,
        Self::Pins,
        Self::Steps,
        Self::Records,
        Self::Decisions,
        Self::Approvals,
        Self::Observations,
        Self::Patches,
        Self::Trees,
        Self::Gates,
        Self::Sandboxes,
        Self::Cleanup,
        Self::Acceptance,
        Self::Trace,
    ];

    /// The checks of a project, in the order in which a report lists them.
    pub const OF_PROJECT: [Self; 7] = [
        Self::ProjectChain,
        Self::ProjectHead,
        Self::ProjectApprovals,
        Self::ProjectDocuments,
        Self::ProjectRevisions,
        Self::ProjectRequests,
        Self::ProjectRuns,
    ];

    /// What it holds when it is proved, in a sentence. Where something is taken as recorded, it says so.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::ProjectChain | Self::RunChain => {
                "every record has the shape of its kind and no other field, belongs here, and follows the one before"
            }
            Self::ProjectHead | Self::RunHead => {
                "the log key signed the position and hash of the last record"
            }
            Self::ProjectApprovals => "an approver who was registered before signed every approval",
            Self::ProjectDocuments => "every registered document lies under its digest, name and version",
            Self::ProjectRevisions => {
                "every number belongs to one import or run, and every imported tree can be read whole"
            }
            Self::ProjectRequests => "every revision request has the digest of its content",
            Self::ProjectRuns => {
                "every run that the project or a revision number names is there, and is proved"
            }
            Self::RunOrigin => "the run's first record follows a record of its project",
            Self::Blueprint => {
                "exactly the pinned blueprint was approved, with a signature, before the run began"
            }
            Self::RunEnd => "the project recorded this last record, position and phase",
            Self::Base => "the base tree is that of a revision which was imported or which a run completed",
            Self::Documents => {
                "blueprint, profile, policy set and every document that it names lie under their digests and belong \
                 together"
            }
            Self::Pins => {
                "the pins follow from the documents, no limit is above theirs; name, agent and image content are as \
                 recorded"
            }
            Self::Steps => {
                "the run, told again what was reported to it, answers every record; of a plan or proposal that was \
                 rejected only the code is as recorded, since its text is not kept"
            }
            Self::Records => {
                "actor, precondition, artifact and environment of every record follow from the run"
            }
            Self::Decisions => {
                "every call was assessed again from the source, its request is the one that was kept, and the pinned \
                 rules answer the same to it"
            }
            Self::Approvals => "an approver of the project signed every decision about exactly that proposal",
            Self::Observations => "every file, list and search was read again from the tree, and is the same",
            Self::Patches => {
                "every proposed patch, applied in order from the base, makes the recorded trees and changes"
            }
            Self::Trees => "every directory and file of the base and of each tree lies under its digest",
            Self::Gates => {
                "every gate record follows from the kept observation and output of that execution, on the tree that \
                 was current"
            }
            Self::Sandboxes => {
                "every lease is this run's own, and its measured manifest meets the pinned profile"
            }
            Self::Cleanup => "receipts prove that no process and nothing else of the run's sandbox is left",
            Self::Acceptance => {
                "the standing of the revision follows from gates on its final tree and the cleanup"
            }
            Self::Trace => "the exported trace holds exactly the records before its export",
            Self::BundleMembers => "every member that the bundle lists is there and has the listed digest",
            Self::BundleReadable => {
                "revision, patches, gates, documents, manifests and receipts are made again from records and blobs, and \
                 are the same"
            }
        }
    }
}

vocabulary!(
    /// How a report came out as a whole.
    Verdict {
        /// Every check ran and held.
        Proved = "proved",
        /// At least one check is refuted.
        Refuted = "refuted",
        /// None is refuted, and at least one did not run to its end.
        CouldNotVerify = "could-not-verify",
    }
);

/// One check of a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Check {
    /// Which.
    pub id: CheckId,
    /// What it holds when it is proved.
    pub title: String,
    /// How it came out.
    pub standing: Standing,
    /// What keeps it from being proved, the first of them where they are many; empty where it is proved.
    pub findings: Vec<Finding>,
}

impl Check {
    fn of(id: CheckId, findings: Findings) -> Self {
        let (title, standing) = (id.title().to_owned(), findings.standing());
        Self { id, title, standing, findings: findings.into_listed() }
    }
}

impl Verdict {
    fn of(checks: &[Check]) -> Self {
        let any = |standing| checks.iter().any(|check| check.standing == standing);
        if any(Standing::Refuted) {
            Self::Refuted
        } else if any(Standing::NotChecked) {
            Self::CouldNotVerify
        } else {
            Self::Proved
        }
    }
}

/// What a verification answers about one run or one project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Report {
    /// The run or the project, as streams are named.
    pub subject: String,
    /// How it came out as a whole.
    pub verdict: Verdict,
    /// Every check, whether it ran or not.
    pub checks: Vec<Check>,
    /// What is odd and proves nothing either way, such as a clock that went backwards.
    pub flags: Vec<Finding>,
    /// The digests of all blobs that were read and found to be what their digests say. Whatever else lies in the blobs
    /// of the project is covered by nothing here.
    pub covered: BTreeSet<Digest>,
    /// For a project, the reports of its runs.
    pub runs: Vec<Report>,
}

impl Report {
    /// A report of exactly the checks `ids`. One that is missing in `results` counts as not reached.
    pub(crate) fn of(
        subject: String,
        ids: &[CheckId],
        mut results: std::collections::BTreeMap<CheckId, Findings>,
        covered: BTreeSet<Digest>,
    ) -> Self {
        let checks: Vec<Check> = ids
            .iter()
            .map(|id| {
                let findings = results.remove(id).unwrap_or_else(|| Findings::skipped("it was not reached"));
                Check::of(*id, findings)
            })
            .collect();
        let verdict = Verdict::of(&checks);
        Self { subject, verdict, checks, flags: Vec::new(), covered, runs: Vec::new() }
    }

    /// The same report with one more check, at its end.
    pub(crate) fn and(mut self, id: CheckId, findings: Findings) -> Self {
        self.checks.push(Check::of(id, findings));
        self.verdict = Verdict::of(&self.checks);
        self
    }

    /// A check by its id.
    #[must_use]
    pub fn check(&self, id: CheckId) -> Option<&Check> {
        self.checks.iter().find(|check| check.id == id)
    }

    /// Every finding, each with the check that it belongs to: what refutes first.
    #[must_use]
    pub fn findings(&self) -> Vec<(CheckId, &Finding)> {
        let all = || {
            self.checks.iter().flat_map(|check| check.findings.iter().map(move |finding| (check.id, finding)))
        };
        all()
            .filter(|(_, finding)| finding.refutes)
            .chain(all().filter(|(_, finding)| !finding.refutes))
            .collect()
    }
}
