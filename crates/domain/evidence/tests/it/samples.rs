//! One event of every kind, with every optional part present at least once.

use std::collections::BTreeSet;

use ambit_evidence::leaf_hash;
use ambit_evidence::v1::{
    Actor, ActorKind, Body, Environment, Precondition, ProjectBody, Record, RunBody, Version,
};
use ambit_gates::{Ending, NotStarted, ResourceLimit};
use ambit_ids::{
    ByteCount, Digest, DurationMs, MicroUsd, PathPattern, PathSet, RepoPath, RevisionId, UnixMs,
};
use ambit_policy::{
    Capability, Decision, DenialKind, EngineVersion, Fact, LifecycleStage, Verdict, Weakening,
};
use ambit_run::{
    Accountability, AgentPin, Amounts, AppliedPatch, ApprovalDecision, ApprovalVerdict, BlueprintPin,
    CallDecided, CallOutcome, ChargeBasis, Denial, DenialCode, Event, GatePin, GateRecord, HeldProposal,
    Limit, Limits, Observation, Phase, Pins, Plan, PlanStep, ProfilePin, RequestPin, RevisionPin, Rollback,
    Rules, SandboxHeld, StopReason, ToolCall, VoidReason,
};

use crate::watched::{affordable_events, guarded_events, watched_events};
use crate::{redacted, silenced};

pub(crate) fn digest(text: &str) -> Digest {
    Digest::of(text.as_bytes())
}

pub(crate) fn path(text: &str) -> RepoPath {
    text.parse().unwrap()
}

pub(crate) fn pins() -> Pins {
    Pins {
        scope: ambit_ids::Scope { organization: "acme".parse().unwrap(), project: "shop".parse().unwrap() },
        run: "run_000001".parse().unwrap(),
        name: Some("run-shop-001".parse().unwrap()),
        goal: "Let a customer complete an order.".to_owned(),
        blueprint: BlueprintPin { id: "bp-1".parse().unwrap(), digest: digest("bp-1") },
        stage: LifecycleStage::Generate,
        accountability: Accountability {
            owner: "shop team".to_owned(),
            later_owner: "preview team".to_owned(),
            cleanup: "delete after 30 days".to_owned(),
        },
        base: RevisionPin { id: RevisionId::new(0), tree: digest("tree-0") },
        revision: RevisionId::new(1),
        policy: digest("policy"),
        profile: ProfilePin { name: "laptop-v1".parse().unwrap(), digest: digest("profile") },
        catalog: digest("catalog"),
        image: digest("image"),
        backend: ambit_ids::BackendId::embedded(),
        volumes: Vec::new(),
        paths: PathSet(vec![PathPattern::new("src/**").unwrap()]),
        work: BTreeSet::from(["domain".to_owned()]),
        cases: BTreeSet::from(["AC-1".parse().unwrap()]),
        gates: vec![GatePin {
            id: "unit".parse().unwrap(),
            cases: BTreeSet::from(["AC-1".parse().unwrap()]),
            command: digest("command"),
            cost: MicroUsd::new(5),
            output: ByteCount::new(65_536),
            processes: 1,
            reports: false,
            hidden_check: Some("hidden".parse().unwrap()),
        }],
        limits: Limits {
            model_steps: 24,
            patch_attempts_per_gate: 4,
            elapsed: DurationMs::new(1_800_000),
            changed_files: 12,
            added_dependencies: 1,
            parallel_processes: 2,
            tool_cost: MicroUsd::new(4_000_000),
            repeated_failure: 2,
            output: ByteCount::new(1 << 20),
            side_effects: 40,
        },
        agent: AgentPin {
            id: "scripted".parse().unwrap(),
            definition: digest("transcript"),
            turn_quote: MicroUsd::new(10_000),
        },
        request: Some(RequestPin { digest: digest("request"), case: "AC-1".parse().unwrap() }),
        rules: Rules::First,
    }
}

pub(crate) fn gate_record(ending: Ending) -> GateRecord {
    GateRecord {
        gate: "unit".parse().unwrap(),
        attempt: 1,
        key: "key-1".parse().unwrap(),
        tree: digest("tree-1"),
        ending,
        breaches: BTreeSet::from([ResourceLimit::Pids]),
        fingerprint: (!ending.is_success()).then(|| digest("fingerprint")),
        artifact: digest("artifact"),
        output: ByteCount::new(120),
        redactions: None,
        duration: DurationMs::new(48),
        objections: Vec::new(),
        tests: None,
    }
}

fn patch() -> AppliedPatch {
    AppliedPatch {
        base: digest("tree-0"),
        tree: digest("tree-1"),
        proposed: digest("patch"),
        canonical: digest("canonical"),
        files: vec![path("src/order.py"), RepoPath::from_bytes(b"src/caf\xe9.txt").unwrap()],
        changed_from_base: 2,
        added_dependencies: 1,
    }
}

pub(crate) fn decided(call: ToolCall, verdict: Verdict, outcome: CallOutcome) -> Event {
    Event::CallDecided(Box::new(CallDecided {
        turn: 3,
        arguments: call.arguments().unwrap(),
        call,
        step: Some("s1".parse().unwrap()),
        facts: vec![
            Fact::ProtectedPathTouched { path: path("tests/test_order.py") },
            Fact::AssertionCountFell { path: path("tests/test_order.py"), before: 3, after: 2 },
            Fact::SkipMarkerAdded {
                path: path("tests/test_a.py"),
                line: 7,
                marker: "unittest.skip".to_owned(),
            },
            Fact::DependencyAdded { manifest: path("requirements.txt"), name: "left-pad".to_owned() },
            Fact::ScopeLeft { path: path("deploy/app.yaml") },
            Fact::ForeignProject { project: "bank".parse().unwrap() },
            Fact::GateNotGranted { gate: "release".parse().unwrap() },
            Fact::Unclassified { why: "the manifest does not parse".to_owned() },
        ],
        facts_in_all: 8,
        decision: Decision {
            verdict,
            rules: vec!["patch.protected".parse().unwrap()],
            engine: EngineVersion("rules/1".to_owned()),
            input: digest("input"),
        },
        expected_tree: (outcome == CallOutcome::Perform).then(|| digest("tree-1")),
        reserved: Amounts { side_effects: 1, ..Amounts::default() },
        outcome,
    }))
}

/// A patch with every outcome that only one with an effect has.
pub(crate) fn patch_calls(revision_id: RevisionId) -> [Event; 4] {
    let patch_call = ToolCall::ApplyProjectPatch {
        revision_id,
        expected_base_sha: digest("tree-0"),
        patch: digest("patch"),
        patch_bytes: ByteCount::new(300),
    };
    let held = HeldProposal {
        scope: pins().scope,
        run: pins().run,
        policy: digest("policy"),
        capability: Capability::DependencyAdd,
        arguments: patch_call.arguments().unwrap(),
        subject: digest("patch"),
        target: digest("tree-0"),
        expected_effect: digest("tree-1"),
        evidence: vec![digest("artifact")],
        rollback: Rollback::CancelRun,
        view: None,
    };
    let needs = Verdict::NeedsApproval(Capability::DependencyAdd);
    [
        decided(patch_call.clone(), Verdict::Allow, CallOutcome::Perform),
        decided(patch_call.clone(), needs, CallOutcome::Held(Box::new(held))),
        decided(
            patch_call.clone(),
            Verdict::Allow,
            CallOutcome::Replayed(Box::new(Observation::PatchApplied(patch()))),
        ),
        decided(
            patch_call,
            Verdict::Deny(DenialKind::Terminating),
            CallOutcome::Ends { rules: vec!["patch.protected".parse().unwrap()], instead: String::new() },
        ),
    ]
}

fn calls() -> Vec<Event> {
    let (project_id, revision_id) = ("shop".parse().unwrap(), RevisionId::new(1));
    let denial = Denial::new(DenialCode::PolicyDenied, "names another project, bank")
        .by(&["read.foreign".parse().unwrap()])
        .instead("the run's project is shop");
    let mut calls = Vec::from(patch_calls(revision_id));
    calls.extend([
        decided(
            ToolCall::ReadProjectFile { project_id, revision_id, path: path("src/order.py") },
            Verdict::Deny(DenialKind::Call),
            CallOutcome::Denied(denial),
        ),
        decided(
            ToolCall::ListProjectFiles {
                project_id: "shop".parse().unwrap(),
                revision_id,
                under: Some(path("src")),
            },
            Verdict::Allow,
            CallOutcome::Perform,
        ),
        decided(
            ToolCall::SearchProjectText {
                project_id: "shop".parse().unwrap(),
                revision_id,
                text: "def complete".to_owned(),
                under: None,
            },
            Verdict::Allow,
            CallOutcome::Perform,
        ),
        decided(
            ToolCall::RunNamedGate {
                revision_id,
                gate_id: "unit".parse().unwrap(),
                idempotency_key: "key-1".parse().unwrap(),
            },
            Verdict::Allow,
            CallOutcome::OverLimit(Limit::OutputBytes),
        ),
        decided(
            ToolCall::RequestScopedApproval {
                proposal_id: "prop_000001".parse().unwrap(),
                capability: Capability::DependencyAdd,
                reason: "needed".to_owned(),
            },
            Verdict::Allow,
            CallOutcome::Perform,
        ),
    ]);
    calls
}

fn observations() -> Vec<Event> {
    let seen = [
        Observation::FileRead {
            path: path("src/order.py"),
            sha256: digest("content"),
            bytes: ByteCount::new(900),
            truncated: false,
            redactions: None,
        },
        Observation::FilesListed { count: 12, truncated: false },
        Observation::TextFound { count: 3, truncated: true, redactions: None },
        Observation::PatchApplied(patch()),
        Observation::GateFinished(gate_record(Ending::Exited { code: 0 })),
        Observation::GateFinished(gate_record(Ending::Signalled { signal: 11 })),
        Observation::GateFinished(gate_record(Ending::LimitReached { limit: ResourceLimit::Memory })),
        Observation::GateFinished(gate_record(Ending::NotStarted { why: NotStarted::CommandNotFound })),
        Observation::GateFinished(gate_record(Ending::Aborted)),
        Observation::GateFinished(gate_record(Ending::Indeterminate)),
        Observation::ApprovalAnswered {
            verdict: ApprovalVerdict::Approved,
            receipt: "apr_000001".parse().unwrap(),
        },
        Observation::Failed { code: "SANDBOX_GONE".to_owned() },
        Observation::Unknown,
    ];
    seen.into_iter().map(|observation| Event::CallObserved { turn: 3, observation }).collect()
}

/// What records hold since a receipt ends with what it was given for, and since ends of runs say what is possible instead.
fn consents() -> Vec<Event> {
    let revision_id = RevisionId::new(1);
    let call = ToolCall::ApplyProjectPatch {
        revision_id,
        expected_base_sha: digest("tree-0"),
        patch: digest("patch"),
        patch_bytes: ByteCount::new(300),
    };
    let mut events = patch_calls(revision_id);
    if let Event::CallDecided(decided) = &mut events[1]
        && let CallOutcome::Held(held) = &mut decided.outcome
    {
        held.view = Some(digest("view"));
    }
    let [_, held, ..] = events;
    let rules = vec!["patch.protected".parse().unwrap()];
    let ends = CallOutcome::Ends { rules, instead: "change the code under test".to_owned() };
    let voided = VoidReason::ALL
        .iter()
        .map(|reason| Event::ReceiptVoided { receipt: "apr_000001".parse().unwrap(), reason: *reason });
    let pins = Pins { rules: Rules::Consent, ..pins() };
    let admitted = Event::Admitted { pins: Box::new(pins), at: UnixMs::new(1_795_996_799_999) };
    let mut events = vec![held, decided(call, Verdict::Deny(DenialKind::Terminating), ends)];
    events.extend(voided);
    events.push(admitted);
    events
}

fn endings() -> Vec<Event> {
    let reasons = [
        StopReason::GatesPassed,
        StopReason::BudgetExhausted(Limit::ToolCost),
        StopReason::BudgetExhausted(Limit::RepeatedFailure),
        StopReason::PolicyDenied(vec!["patch.protected".parse().unwrap()]),
        StopReason::CustomerCancelled,
        StopReason::ApprovalExpired,
        StopReason::AgentStopped,
        StopReason::HiddenCheckFailed,
        StopReason::InfrastructureFailure("DESTRUCTION_UNPROVEN".to_owned()),
    ];
    let mut events: Vec<Event> =
        reasons.iter().map(|reason| Event::Stopping { reason: reason.clone() }).collect();
    events.extend(reasons.into_iter().map(|reason| Event::Ended { phase: reason.final_phase(), reason }));
    events.extend(Limit::ALL.iter().map(|limit| Event::LimitReached { limit: *limit }));
    events
}

fn approval_decided(verdict: ApprovalVerdict) -> Event {
    Event::ApprovalDecided {
        decision: ApprovalDecision {
            proposal: "prop_000001".parse().unwrap(),
            digest: digest("proposal"),
            expected_sequence: 11,
            verdict,
            approver: "ada".parse().unwrap(),
            receipt: "apr_000001".parse().unwrap(),
            evidence: digest("signed decision"),
        },
        receipt_expires: UnixMs::new(1_795_998_599_999),
    }
}

/// One event of every kind.
pub(crate) fn events() -> Vec<Event> {
    [
        first_events(),
        guarded_events(),
        silenced::events(),
        watched_events(),
        redacted::events(),
        crate::standing::events(),
        affordable_events(),
    ]
    .concat()
}

fn first_events() -> Vec<Event> {
    let incarnation: ambit_ids::Incarnation = "inc_000001".parse().unwrap();
    let mut events = vec![
        Event::Admitted { pins: Box::new(pins()), at: UnixMs::new(1_795_996_799_999) },
        Event::SandboxAllocated(SandboxHeld {
            allocation: 1,
            lease: "lease_000001".parse().unwrap(),
            incarnation: incarnation.clone(),
            backend: "linux".parse().unwrap(),
            manifest: digest("manifest"),
        }),
        Event::SandboxLost { incarnation },
        Event::TurnOpened { turn: 1, reserved: MicroUsd::new(10_000) },
        Event::TurnSettled { turn: 1, charged: MicroUsd::new(999), basis: ChargeBasis::Reported },
        Event::TurnSettled { turn: 1, charged: MicroUsd::new(10_000), basis: ChargeBasis::Reservation },
        Event::PlanAccepted {
            turn: 1,
            plan: Plan::recorded(vec![PlanStep {
                id: "s1".parse().unwrap(),
                summary: "complete an order once".to_owned(),
                work: "domain".to_owned(),
                cases: BTreeSet::from(["AC-1".parse().unwrap()]),
            }]),
        },
        Event::HypothesisRecorded {
            turn: 4,
            gate: "unit".parse().unwrap(),
            attempt: 1,
            text: "the state is not checked \"before\" the event".to_owned(),
        },
        Event::ApprovalRequested {
            turn: 5,
            proposal: "prop_000001".parse().unwrap(),
            digest: digest("proposal"),
            capability: Capability::DependencyAdd,
            expires: UnixMs::new(1_795_997_699_999),
        },
        Event::ApprovalConsumed { turn: 6, receipt: "apr_000001".parse().unwrap() },
        Event::ApprovalExpired { proposal: "prop_000001".parse().unwrap() },
        Event::CancelRequested { by: "ada".to_owned() },
        Event::HiddenCheckObserved(gate_record(Ending::Exited { code: 1 })),
        Event::ProcessesTerminated { killed: 3, receipt: digest("cancellation") },
        Event::TraceExported { artifact: digest("trace") },
        Event::SandboxDestroyed { receipt: digest("destruction") },
        Event::CleanupFailed { code: "DESTRUCTION_UNPROVEN".to_owned() },
    ];
    events.extend([ApprovalVerdict::Approved, ApprovalVerdict::Rejected].map(approval_decided));
    for was_plan in [true, false] {
        // Records from before every denial said what is possible instead.
        let denial = Denial { instead: String::new(), ..Denial::new(DenialCode::AnswerMalformed, "prose") };
        events.push(Event::ProposalDenied { turn: 2, answer: digest("answer"), was_plan, denial });
    }
    for preview_ready in [true, false] {
        events.push(Event::RevisionMarked {
            revision: RevisionId::new(1),
            tree: digest("tree-1"),
            preview_ready,
        });
    }
    events.extend(calls());
    events.extend(observations());
    events.extend(endings());
    events.push(silenced::weakened(Weakening::kinds().filter(|kind| !silenced::LATER.contains(kind))));
    events.extend(consents());
    assert!(events.iter().any(|event| matches!(event, Event::Ended { phase: Phase::Cancelled, .. })));
    events
}

/// One body of every kind that a project's stream holds.
pub(crate) fn project_bodies() -> Vec<ProjectBody> {
    vec![
        ProjectBody::ApproverRegistered {
            approver: "ada".parse().unwrap(),
            public_key: "00".repeat(32),
            credential: None,
        },
        ProjectBody::DocumentRegistered {
            document_kind: "Blueprint".to_owned(),
            name: "bp-1".parse().unwrap(),
            version: 1,
            digest: digest("bp-1"),
        },
        ProjectBody::BlueprintApproved {
            blueprint: "bp-1".parse().unwrap(),
            digest: digest("bp-1"),
            approver: "ada".parse().unwrap(),
            signature: "11".repeat(64),
        },
        ProjectBody::RevisionImported {
            revision: RevisionId::FIRST,
            tree: digest("tree-0"),
            entries: 30,
            source: "directory".to_owned(),
        },
        ProjectBody::RevisionRequested {
            request: digest("request"),
            text: "Keep it visible.".to_owned(),
            revision: RevisionId::new(1),
            blueprint: digest("bp-1"),
            case: "AC-1".parse().unwrap(),
        },
        ProjectBody::RunRejected {
            action: "run.start".to_owned(),
            code: "BLUEPRINT_NOT_APPROVED".to_owned(),
            detail: "the digest is not approved".to_owned(),
            blueprint: Some("bp-1".parse().unwrap()),
            digest: Some(digest("draft")),
            name: Some("run-shop-001".parse().unwrap()),
        },
        ProjectBody::RunClosed {
            run: "run_000001".parse().unwrap(),
            last_seq: 41,
            leaf: digest("leaf"),
            phase: "completed".to_owned(),
        },
        ProjectBody::ApproverAdded {
            approver: "bob".parse().unwrap(),
            public_key: "22".repeat(32),
            credential: None,
            by: "ada".parse().unwrap(),
            signature: "33".repeat(64),
        },
        ProjectBody::ApproverRevoked {
            approver: "ada".parse().unwrap(),
            by: "bob".parse().unwrap(),
            signature: "44".repeat(64),
        },
        ProjectBody::BlueprintWithdrawn {
            blueprint: "bp-1".parse().unwrap(),
            digest: digest("bp-1"),
            approver: "bob".parse().unwrap(),
            signature: "55".repeat(64),
        },
    ]
}

/// The samples as chains: a run's, its project's, and those of what came later.
pub(crate) fn records() -> Vec<Record> {
    let run: ambit_ids::RunId = "run_000001".parse().unwrap();
    let of_run = |events: Vec<Event>| {
        let bodies = events.iter().map(RunBody::from).map(|body| {
            let (actor, artifact) = (body.actor(&run), body.artifact());
            (Some(run.clone()), actor, artifact, Body::Run(Box::new(body)))
        });
        bodies.collect::<Vec<_>>()
    };
    let actor = Actor { kind: ActorKind::Human, id: "ada".to_owned() };
    let of_project =
        project_bodies().into_iter().map(|body| (None, actor.clone(), None, Body::Project(Box::new(body))));
    let first = [
        of_run(first_events()),
        of_project.collect(),
        of_run(guarded_events()),
        of_run(silenced::events()),
        of_run(watched_events()),
        of_run(redacted::events()),
    ];
    let last = [of_run(affordable_events())];
    let chained = |streams: Vec<Vec<Sampled>>| streams.into_iter().flat_map(chain).collect::<Vec<_>>();
    [chained(first.into()), crate::standing::records(), chained(last.into())].concat()
}

/// What a record is made of beside its place: the run whose stream it is in, who acted, on what, and what happened.
type Sampled = (Option<ambit_ids::RunId>, Actor, Option<Digest>, Body);

/// The records of a stream, each following the one before.
fn chain(stream: Vec<Sampled>) -> Vec<Record> {
    let mut prev = digest("origin");
    let place = |(seq, (run, actor, artifact, body)): (usize, Sampled)| {
        let record = record(run, seq as u64, prev, actor, artifact, body);
        prev = leaf_hash(ambit_canonical::encode(&record).unwrap().as_bytes());
        record
    };
    stream.into_iter().enumerate().map(place).collect()
}

pub(crate) fn record(
    run: Option<ambit_ids::RunId>,
    seq: u64,
    prev: Digest,
    actor: Actor,
    artifact: Option<Digest>,
    body: Body,
) -> Record {
    Record {
        v: Version,
        org: "acme".parse().unwrap(),
        project: Some("shop".parse().unwrap()),
        precondition: Precondition {
            tree: run.as_ref().map(|_| digest("tree-0")),
            phase: run.as_ref().map(|_| "editing".to_owned()),
            project: None,
        },
        run,
        seq,
        prev,
        salt: "AAECAwQFBgcICQoLDA0ODw==".to_owned(),
        ts: "2026-11-29T23:59:59.999Z".to_owned(),
        actor,
        artifact,
        environment: Environment {
            program: "ambit/0.1.0".to_owned(),
            blueprint: Some(digest("bp-1")),
            policy: Some(digest("policy")),
            profile: Some(format!("laptop-v1@{}", digest("profile"))),
            image: Some(digest("image")),
            volumes: Vec::new(),
            manifest: Some(digest("manifest")),
        },
        body,
    }
}
