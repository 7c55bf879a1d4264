//! The checks of a project: its stream, what is registered in it, and its runs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ambit_evidence::v1::{Body, ProjectBody};
use ambit_evidence::{Link, Project};
use ambit_ids::{RevisionId, RunId, Scope};
use ambit_ports::store::RunRef;
use ambit_revisions::Revisions;

use crate::finding::{Finding, LinkName};
use crate::findings::{Findings, record_name, refuting, unsettled};
use crate::report::{CheckId, Report, Verdict};
use crate::stream::Stream;
use crate::vault::Vault;
use crate::verifier::Verifier;
use crate::{documents, origin, patches};

impl Verifier {
    /// Derives everything about a project and each of its runs again.
    pub async fn verify_project(&self, scope: &Scope) -> Report {
        let project = self.project_stream(scope).await;
        let vault = Arc::new(Vault::new(self.blobs.clone()));
        let mut results = BTreeMap::from([
            (CheckId::ProjectChain, project.chain.clone()),
            (CheckId::ProjectHead, project.head.clone()),
        ]);
        let mut runs = Vec::new();
        if project.chain.is_empty() {
            let links = &project.links;
            results.insert(CheckId::ProjectApprovals, origin::approvals(scope, links));
            results.insert(CheckId::ProjectDocuments, check_documents(scope, links, &vault).await);
            results.insert(CheckId::ProjectRequests, check_requests(scope, links));
            results.insert(CheckId::ProjectRevisions, self.check_revisions(scope, links, &vault).await);
            let (findings, reports) = self.check_runs(scope, &project).await;
            results.insert(CheckId::ProjectRuns, findings);
            runs = reports;
        }
        let mut covered = vault.covered();
        covered.extend(runs.iter().flat_map(|run| run.covered.iter().copied()));
        let mut report = Report::of(project.name.to_string(), &CheckId::OF_PROJECT, results, covered);
        report.flags = flags(&project.links);
        report.runs = runs;
        report
    }

    /// Numbers are given out without gaps, each to one import or one run; so a number that nobody has tells that
    /// something was removed.
    async fn check_revisions(&self, scope: &Scope, links: &[Link], vault: &Arc<Vault>) -> Findings {
        let mut findings = Findings::default();
        let revisions = Revisions::new(vault.clone());
        let mut holders: BTreeMap<RevisionId, u32> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        for (link, body) in bodies(links) {
            let ProjectBody::RevisionImported { revision, tree, entries, .. } = body else { continue };
            *holders.entry(*revision).or_default() += 1;
            patches::read_whole(scope, *tree, &revisions, &mut seen, &mut findings).await;
            let files = revisions.load(scope, *tree).await.map(|tree| tree.file_count() as u64);
            if files.is_ok_and(|files| files != *entries) {
                findings.refute(record_name(link), "the tree has another number of files");
            }
        }
        for run in findings.take(self.runs(scope).await).unwrap_or_default() {
            let opened = findings.take(self.opened(scope, &run).await).flatten();
            if let Some(revision) = opened {
                *holders.entry(revision).or_default() += 1;
            }
        }
        let mut expected = Some(RevisionId::FIRST);
        for (revision, count) in holders {
            let link = |revision| LinkName::Revision { revision };
            if count > 1 {
                findings.refute(link(revision), "several imports or runs have this number");
            }
            if expected.is_some_and(|expected| expected < revision) {
                findings
                    .refute(link(revision), "numbers before it are gone, and with them an import or a run");
            }
            expected = revision.next();
        }
        findings
    }

    /// Verifies every run that the store lists or the project names.
    async fn check_runs(&self, scope: &Scope, project: &Stream) -> (Findings, Vec<Report>) {
        let mut findings = Findings::default();
        let listed = findings.take(self.runs(scope).await).unwrap_or_default();
        let closed = bodies(&project.links).filter_map(|(_, body)| match body {
            ProjectBody::RunClosed { run, .. } => Some(run.clone()),
            _ => None,
        });
        let runs: BTreeSet<RunId> = listed.into_iter().chain(closed).collect();
        let mut reports = Vec::new();
        for run in runs {
            let run_ref = RunRef { scope: scope.clone(), run: run.clone() };
            let stream = Stream::read(self.store.as_ref(), &run_ref.stream(), &self.log_keys).await;
            let mut report = self.inspect(&run_ref, project, &stream).await.report;
            if report.verdict != Verdict::Proved {
                // The project may have gone on since its stream was read.
                report = self.verify_run(&run_ref).await;
            }
            if report.verdict != Verdict::Proved {
                findings.push(of_run(&run, &report));
            }
            reports.push(report);
        }
        (findings, reports)
    }
}

/// What a run that is not proved says about its project.
fn of_run(run: &RunId, report: &Report) -> Finding {
    let first = report.findings().first().map(|(id, finding)| (*id, (*finding).clone()));
    match first {
        Some((id, finding)) => Finding { why: format!("{run}, {id}: {}", finding.why), ..finding },
        None => unsettled(None, format!("{run} is not proved")),
    }
}

fn bodies(links: &[Link]) -> impl Iterator<Item = (&Link, &ProjectBody)> {
    links.iter().filter_map(|link| match &link.record.body {
        Body::Project(body) => Some((link, body.as_ref())),
        Body::Run(_) => None,
    })
}

async fn check_documents(scope: &Scope, links: &[Link], vault: &Vault) -> Findings {
    let mut findings = Findings::default();
    let mut known = BTreeMap::new();
    for (link, body) in bodies(links) {
        let ProjectBody::DocumentRegistered { document_kind, name, version, digest } = body else { continue };
        if *known.entry((document_kind, name, version)).or_insert(digest) != digest {
            findings.refute(record_name(link), "its name and version had another content before");
        }
        let what = format!("the document {name}");
        let read = documents::read_document(vault, scope, &what, *digest).await;
        let Some(document) = findings.take(read) else { continue };
        if document.kind().as_str() != document_kind || document.name() != name.as_str() {
            let why = format!("the document is a {} named {}", document.kind(), document.name());
            findings.push(refuting(record_name(link), why));
        }
    }
    findings
}

fn check_requests(scope: &Scope, links: &[Link]) -> Findings {
    let mut findings = Findings::default();
    let project = Project::fold(scope, links);
    for (link, body) in bodies(links) {
        let ProjectBody::RevisionRequested { request, .. } = body else { continue };
        let held = project.request(*request).map(|asked| asked.digest(scope));
        if held != Some(*request) {
            findings.refute(record_name(link), "its digest is not that of its content");
        }
    }
    findings
}

fn flags(links: &[Link]) -> Vec<Finding> {
    links
        .windows(2)
        .filter(|pair| pair[1].record.ts < pair[0].record.ts)
        .map(|pair| unsettled(Some(record_name(&pair[1])), "its time is before that of the record before it"))
        .collect()
}
