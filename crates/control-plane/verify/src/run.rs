//! The checks of one run, in their order.

use std::collections::BTreeMap;
use std::sync::Arc;

use ambit_broker::Source;
use ambit_evidence::{Ineligible, Link, Project, eligibility};
use ambit_ids::{Digest, Scope};
use ambit_ports::store::{RunRef, StreamId};
use ambit_revisions::Revisions;
use ambit_run::{Pins, State};

use crate::finding::{Finding, LinkName};
use crate::findings::{Findings, unsettled};
use crate::report::{CheckId, Report};
use crate::stream::Stream;
use crate::trace::Trace;
use crate::vault::Vault;
use crate::verifier::Verifier;
use crate::{
    approvals, decisions, documents, ending, gates, observations, origin, patches, sandboxes, steps,
};

/// How often streams are read until nobody wrote to the store in between.
const READS: u32 = 3;

/// What a verification of a run came to.
pub(crate) struct Inspection {
    pub(crate) report: Report,
    /// What the records say about the revision, where they could be read.
    pub(crate) eligibility: Option<Result<Digest, Ineligible>>,
}

/// The checks of one run as they come out.
struct Results {
    findings: BTreeMap<CheckId, Findings>,
    flags: Vec<Finding>,
}

impl Results {
    fn put(&mut self, id: CheckId, findings: Findings) {
        self.findings.insert(id, findings);
    }
}

impl Verifier {
    /// Derives everything about a run again.
    pub async fn verify_run(&self, run: &RunRef) -> Report {
        let (project, stream) = self.streams(run).await;
        self.inspect(run, &project, &stream).await.report
    }

    /// The streams of a run and of its project, of one moment: a run may go on, or end, while they are read.
    pub(crate) async fn streams(&self, run: &RunRef) -> (Stream, Stream) {
        let mut tries = 0;
        loop {
            let before = self.store.change_mark().await;
            let project = self.project_stream(&run.scope).await;
            let stream = Stream::read(self.store.as_ref(), &run.stream(), &self.log_keys).await;
            let after = self.store.change_mark().await;
            tries += 1;
            if tries == READS || matches!((before, after), (Ok(before), Ok(after)) if before == after) {
                return (project, stream);
            }
        }
    }

    pub(crate) async fn project_stream(&self, scope: &Scope) -> Stream {
        Stream::read(self.store.as_ref(), &StreamId::Project(scope.clone()), &self.log_keys).await
    }

    /// Checks a run whose streams were read.
    pub(crate) async fn inspect(&self, run: &RunRef, project: &Stream, stream: &Stream) -> Inspection {
        let vault = Arc::new(Vault::new(self.blobs.clone()));
        let mut results = Results { findings: BTreeMap::new(), flags: Vec::new() };
        results.put(CheckId::ProjectChain, project.chain.clone());
        results.put(CheckId::ProjectHead, project.head.clone());
        results.put(CheckId::RunChain, stream.chain.clone());
        results.put(CheckId::RunHead, stream.head.clone());
        let state = self.inspect_trace(run, project, stream, &vault, &mut results).await;
        let Results { findings, flags } = results;
        let mut report = Report::of(stream.name.to_string(), &CheckId::OF_RUN, findings, vault.covered());
        report.flags = flags;
        Inspection { report, eligibility: state.map(|state| eligibility(&state)) }
    }

    /// Everything beyond the two chains. Where the records cannot be read at all, nothing of it is reached.
    async fn inspect_trace(
        &self,
        run: &RunRef,
        project: &Stream,
        stream: &Stream,
        vault: &Arc<Vault>,
        results: &mut Results,
    ) -> Option<State> {
        let trace = match Trace::of(&stream.rows, &stream.links) {
            Ok(trace) => trace,
            Err(finding) => {
                let mut findings = Findings::default();
                findings.push(finding);
                results.put(CheckId::Steps, findings);
                return None;
            }
        };
        if project.chain.is_empty() {
            let phase = trace.last_state().phase().filter(|_| trace.is_over());
            let last = stream.links.last();
            results.put(CheckId::RunEnd, origin::end(&project.links, &run.run, last, phase));
        }
        results.flags = trace.flags();
        let (Some(pins), Some(first)) = (trace.pins(), stream.links.first()) else {
            if !stream.links.is_empty() {
                results.put(CheckId::Steps, steps::check(&trace, &decisions::Assessments::new()));
            }
            return None;
        };
        let admitted = self.check_origin(pins, first, project, results).await;
        self.check_ground(&trace, pins, admitted, &project.links, vault, results).await;
        Some(trace.last_state().clone())
    }

    /// Where the run comes from: its place in the project, its blueprint's approval, its base. Answers the project as it
    /// was then.
    async fn check_origin<'p>(
        &self,
        pins: &Pins,
        first: &Link,
        project: &'p Stream,
        results: &mut Results,
    ) -> Option<&'p [Link]> {
        if !project.chain.is_empty() {
            return None;
        }
        let mut findings = Findings::default();
        let admitted = findings.take(origin::origin(&project.links, first));
        results.put(CheckId::RunOrigin, findings);
        let admitted = admitted?;
        results.put(CheckId::Blueprint, origin::approval(&pins.scope, admitted, pins));
        results.put(CheckId::Base, self.check_base(admitted, pins).await);
        Some(admitted)
    }

    /// Everything that rests on documents, source and blobs.
    async fn check_ground(
        &self,
        trace: &Trace<'_>,
        pins: &Pins,
        admitted: Option<&[Link]>,
        project: &[Link],
        vault: &Arc<Vault>,
        results: &mut Results,
    ) {
        let revisions = Revisions::new(vault.clone());
        let source = Source::new(revisions.clone());
        let (pinned, documents) = documents::read(vault, pins).await;
        results.put(CheckId::Documents, documents);
        results.put(CheckId::Records, ending::check_records(trace));
        results.put(CheckId::Acceptance, ending::check_acceptance(trace));
        results.put(CheckId::Trace, ending::check_export(trace, pins, vault).await);
        results.put(CheckId::Patches, patches::check(trace, pins, vault, &revisions).await);
        results.put(CheckId::Trees, patches::check_trees(trace, pins, &revisions).await);
        let ground = pinned.as_ref().map(|pinned| documents::ground(pins, pinned));
        let bench =
            gates::Bench { pins, ground: ground.as_ref(), revisions: &revisions, vault: vault.as_ref() };
        results.put(CheckId::Gates, gates::check(trace, &bench).await);
        results.put(CheckId::Cleanup, sandboxes::check_cleanup(trace, pins, vault).await);
        let folded = Project::fold(&pins.scope, project);
        let mut approved = approvals::check(trace, &pins.scope, &folded, vault).await;
        if let Some(admitted) = admitted {
            approved.extend(approvals::check_standing(trace, pins, admitted, project));
        }
        results.put(CheckId::Approvals, approved);
        let (Some(pinned), Some(ground)) = (pinned, ground) else {
            let why = "the documents that the run is pinned to could not be read";
            for id in
                [CheckId::Pins, CheckId::Steps, CheckId::Decisions, CheckId::Observations, CheckId::Sandboxes]
            {
                results.put(id, Findings::skipped(why));
            }
            return;
        };
        if let Some(admitted) = admitted {
            let folded = Project::fold(&pins.scope, admitted);
            results.put(CheckId::Pins, documents::pins(pins, &pinned, &folded, trace.name(0)));
        }
        results.put(CheckId::Sandboxes, sandboxes::check(trace, pins, &pinned.profile, vault).await);
        let assessments = decisions::assess(trace, &ground, &source, vault).await;
        let policies = self.policies.as_ref();
        results.put(CheckId::Decisions, decisions::check(trace, pins, &assessments, policies, vault).await);
        results.put(CheckId::Steps, steps::check(trace, &assessments));
        results.put(CheckId::Observations, observations::check(trace, &ground, &source).await);
    }
}

impl Trace<'_> {
    /// Records whose time is before that of the one before them. A clock may be set back, so this proves nothing.
    fn flags(&self) -> Vec<Finding> {
        let backwards = (1..self.times.len()).filter(|at| self.times[*at] < self.times[*at - 1]);
        backwards
            .map(|at| unsettled(Some(self.name(at)), "its time is before that of the record before it"))
            .collect()
    }
}

impl Stream {
    /// The name of the stream's head.
    pub(crate) fn head_name(&self) -> LinkName {
        LinkName::Head { stream: self.name.to_string() }
    }
}
