//! The revision that a run starts from, and who made a revision.

use ambit_evidence::v1::{Body, Record, RunBody};
use ambit_evidence::{Link, Project, eligibility, fold};
use ambit_ids::{Digest, RevisionId, RunId, Scope, limits};
use ambit_ports::store::{RunRef, Seq};
use ambit_run::Pins;

use crate::finding::{Finding, LinkName};
use crate::findings::{Findings, refuting, unsettled};
use crate::stream::Stream;
use crate::verifier::Verifier;

/// How many runs are listed at a time.
const PAGE: usize = 256;
/// The most runs of a project that are looked through.
const RUNS: usize = 100_000;

impl Verifier {
    /// Whether the base tree is that of a revision of the project: imported before the run began, or completed by a run.
    pub(crate) async fn check_base(&self, admitted: &[Link], pins: &Pins) -> Findings {
        let mut findings = Findings::default();
        let base = &pins.base;
        let link = || LinkName::Revision { revision: base.id };
        match Project::fold(&pins.scope, admitted).import(base.id) {
            Some(tree) if tree == base.tree => return findings,
            Some(tree) => {
                findings.refute(link(), format!("it was imported as the tree {tree}"));
                return findings;
            }
            None => {}
        }
        let makers = findings.take(self.makers(&pins.scope, base.id).await).unwrap_or_default();
        if !findings.is_empty() {
            return findings;
        }
        match makers.as_slice() {
            [] => findings.refute(link(), "no import and no run of the project made it"),
            [maker] => {
                let made = self.made_by(&pins.scope, maker, base.tree).await;
                findings.take(made);
            }
            _ => findings.refute(link(), "several runs of the project claim it"),
        }
        findings
    }

    /// Whether a run completed a revision with this tree.
    async fn made_by(&self, scope: &Scope, run: &RunId, tree: Digest) -> Result<(), Finding> {
        let maker = RunRef { scope: scope.clone(), run: run.clone() };
        let stream = Stream::read(self.store.as_ref(), &maker.stream(), &self.log_keys).await;
        if !stream.is_whole() {
            return Err(unsettled(
                Some(stream.head_name()),
                "the chain of the run that made the base does not hold",
            ));
        }
        let state =
            fold(&stream.links).map_err(|error| refuting(stream.head_name(), format!("{run}: {error}")))?;
        match eligibility(&state) {
            Ok(made) if made == tree => Ok(()),
            Ok(made) => Err(refuting(stream.head_name(), format!("the run made the tree {made}"))),
            Err(why) => Err(refuting(stream.head_name(), why.to_string())),
        }
    }

    /// The runs of a project.
    pub(crate) async fn runs(&self, scope: &Scope) -> Result<Vec<RunId>, Finding> {
        let mut runs: Vec<RunId> = Vec::new();
        loop {
            let page = self.store.runs(scope, runs.last(), PAGE).await;
            let page = page.map_err(|error| unsettled(None, format!("{error} ({})", error.code())))?;
            let last = page.len() < PAGE;
            runs.extend(page);
            if runs.len() > RUNS {
                return Err(unsettled(None, format!("the project has more than {RUNS} runs")));
            }
            if last {
                return Ok(runs);
            }
        }
    }

    /// The runs whose first record says that they opened this revision.
    pub(crate) async fn makers(&self, scope: &Scope, revision: RevisionId) -> Result<Vec<RunId>, Finding> {
        let mut makers = Vec::new();
        for run in self.runs(scope).await? {
            if self.opened(scope, &run).await? == Some(revision) {
                makers.push(run);
            }
        }
        Ok(makers)
    }

    /// The revision that a run says it opened; `None` where its first record says nothing that can be read.
    pub(crate) async fn opened(&self, scope: &Scope, run: &RunId) -> Result<Option<RevisionId>, Finding> {
        let stream = RunRef { scope: scope.clone(), run: run.clone() }.stream();
        let first = self.store.read(&stream, Seq(0), 1).await;
        let first = first.map_err(|error| {
            let link = LinkName::Record { stream: stream.to_string(), seq: 0, kind: None };
            unsettled(Some(link), format!("{error} ({})", error.code()))
        })?;
        let record = first
            .first()
            .and_then(|row| ambit_canonical::decode::<Record>(&row.bytes, limits::RECORD_BYTES).ok());
        Ok(record.and_then(|record| match record.body {
            Body::Run(body) => match *body {
                RunBody::Admitted { pins, .. } => Some(pins.revision),
                _ => None,
            },
            Body::Project(_) => None,
        }))
    }
}
