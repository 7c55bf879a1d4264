//! A run with short names: every test says only what it is about.

use std::collections::BTreeSet;

use ambit_gates::Ending;
use ambit_ids::{
    AgentId, BackendId, BlueprintId, ByteCount, CaseId, Digest, DocumentName, DurationMs, GateId,
    IdempotencyKey, Incarnation, LeaseId, MicroUsd, PathPattern, PathSet, ProjectId, RepoPath, RevisionId,
    RuleId, RunId, Scope, StepId, UnixMs,
};
use ambit_policy::{Decision, DenialKind, EngineVersion, Fact, LifecycleStage, ToolName, Verdict};
use ambit_run::{
    Accountability, AgentPin, Answered, AppliedPatch, AssessedCall, BlueprintPin, Command, Dossier, Effect,
    Event, Finding, GatePin, GateRecord, Limits, Observation, PatchFinding, Phase, Pins, PlanStep,
    ProfilePin, Proposal, Refusal, RevisionPin, Rules, SandboxHeld, Stage, State, ToolCall, evolve, pending,
    step,
};

pub(crate) const QUOTE: MicroUsd = MicroUsd::new(10_000);
pub(crate) const START: UnixMs = UnixMs::new(1_000_000);

pub(crate) fn digest(text: &str) -> Digest {
    Digest::of(text.as_bytes())
}

pub(crate) fn gate(id: &str) -> GateId {
    GateId::new(id).unwrap()
}

pub(crate) fn limits() -> Limits {
    Limits {
        model_steps: 24,
        patch_attempts_per_gate: 4,
        elapsed: DurationMs::from_minutes(30).unwrap(),
        changed_files: 12,
        added_dependencies: 1,
        parallel_processes: 2,
        tool_cost: MicroUsd::new(4_000_000),
        repeated_failure: 2,
        output: ByteCount::new(1 << 20),
        side_effects: 40,
    }
}

fn gate_pin(id: &str, case: &str) -> GatePin {
    GatePin {
        id: gate(id),
        cases: BTreeSet::from([CaseId::new(case).unwrap()]),
        command: digest(id),
        cost: MicroUsd::ZERO,
        output: ByteCount::new(1 << 10),
        processes: 1,
        reports: false,
        hidden_check: None,
    }
}

pub(crate) fn pins() -> Pins {
    let names = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<BTreeSet<_>>();
    Pins {
        scope: Scope { organization: "acme".parse().unwrap(), project: ProjectId::new("shop").unwrap() },
        run: RunId::new("run_000001").unwrap(),
        name: None,
        goal: "make it work".to_owned(),
        blueprint: BlueprintPin { id: BlueprintId::new("bp-1").unwrap(), digest: digest("bp-1") },
        stage: LifecycleStage::Generate,
        accountability: Accountability {
            owner: "team".to_owned(),
            later_owner: "preview".to_owned(),
            cleanup: "delete after 30 days".to_owned(),
        },
        base: RevisionPin { id: RevisionId::new(0), tree: digest("tree-0") },
        revision: RevisionId::new(1),
        policy: digest("policy"),
        profile: ProfilePin { name: DocumentName::new("laptop-v1").unwrap(), digest: digest("profile") },
        catalog: digest("catalog"),
        image: digest("image"),
        backend: ambit_ids::BackendId::embedded(),
        volumes: Vec::new(),
        paths: PathSet(vec![PathPattern::new("**").unwrap()]),
        work: names(&["domain", "tests"]),
        cases: ["AC-1", "AC-2"].map(|case| CaseId::new(case).unwrap()).into(),
        gates: vec![gate_pin("unit", "AC-1"), gate_pin("integration", "AC-2")],
        limits: limits(),
        agent: AgentPin {
            id: AgentId::new("scripted").unwrap(),
            definition: digest("transcript"),
            turn_quote: QUOTE,
        },
        request: None,
        rules: Rules::NEWEST,
    }
}

/// A run under test with a clock that only the test moves.
pub(crate) struct World {
    pub(crate) state: State,
    pub(crate) at: UnixMs,
    pub(crate) events: Vec<Event>,
    keys: u32,
}

impl World {
    /// No run yet.
    pub(crate) fn vacant() -> Self {
        Self { state: State::Vacant, at: START, events: Vec::new(), keys: 0 }
    }

    /// A run that was admitted and waits for its sandbox.
    pub(crate) fn admitted(pins: Pins) -> Self {
        let mut world = Self::vacant();
        world.tell(Command::Admit(Box::new(pins))).unwrap();
        world
    }

    /// A run that waits for the agent's first answer.
    pub(crate) fn ready(pins: Pins) -> Self {
        let mut world = Self::admitted(pins);
        world.allocate();
        world
    }

    /// A run with an accepted plan that serves both cases.
    pub(crate) fn planned(pins: Pins) -> Self {
        let mut world = Self::ready(pins);
        world.plan(&[("s1", "domain", &["AC-1", "AC-2"])]);
        world
    }

    pub(crate) fn tell(&mut self, command: Command) -> Result<Vec<Event>, Refusal> {
        let events = step(&self.state, self.at, command)?;
        for event in &events {
            self.state = evolve(std::mem::take(&mut self.state), event);
        }
        self.events.extend(events.iter().cloned());
        Ok(events)
    }

    pub(crate) fn later(&mut self, ms: u64) {
        self.at = self.at.saturating_add(DurationMs::new(ms));
    }

    pub(crate) fn dossier(&self) -> &Dossier {
        self.state.dossier().unwrap()
    }

    pub(crate) fn phase(&self) -> Phase {
        self.state.phase().unwrap()
    }

    pub(crate) fn stop_code(&self) -> Option<&'static str> {
        self.state.stop_reason().map(ambit_run::StopReason::code)
    }

    pub(crate) fn allocate(&mut self) -> Vec<Event> {
        let allocation = self.dossier().allocations + 1;
        self.tell(Command::SandboxAllocated(sandbox(allocation))).unwrap()
    }

    pub(crate) fn open_turn(&self) -> u32 {
        match &self.state {
            State::Open(open) => match &open.stage {
                Stage::Agent(turn) => turn.turn,
                other => panic!("no turn is open: {other:?}"),
            },
            other => panic!("the run is not open: {other:?}"),
        }
    }

    pub(crate) fn answer(&mut self, proposal: Proposal) -> Vec<Event> {
        let turn = self.open_turn();
        let answered =
            Answered { turn, cost: Some(MicroUsd::new(1_000)), answer: digest("answer"), proposal };
        self.tell(Command::Propose(Box::new(answered))).unwrap()
    }

    pub(crate) fn plan(&mut self, steps: &[(&str, &str, &[&str])]) -> Vec<Event> {
        let steps = steps.iter().map(|(id, work, cases)| plan_step(id, work, cases)).collect();
        self.answer(Proposal::Plan(steps))
    }

    pub(crate) fn call(&mut self, call: AssessedCall) -> Vec<Event> {
        self.answer(Proposal::Call(Box::new(call)))
    }

    /// The call of a patch from the current tree to `tree`.
    pub(crate) fn patch_call(&self, tree: &str) -> AssessedCall {
        patch_call(self.dossier().head, tree)
    }

    /// Proposes a patch to `tree` and observes it applied.
    pub(crate) fn patch(&mut self, tree: &str) -> Vec<Event> {
        let mut call = self.patch_call(tree);
        if self.dossier().unexplained.is_some() {
            call.hypothesis = Some("the state was not checked".to_owned());
        }
        let mut events = self.call(call);
        events.extend(self.apply());
        events
    }

    /// Observes the patch in flight applied.
    pub(crate) fn apply(&mut self) -> Vec<Event> {
        let flight = self.flight();
        let ToolCall::ApplyProjectPatch { expected_base_sha, patch, .. } = flight.call else {
            panic!("no patch is in flight")
        };
        let applied = AppliedPatch {
            base: expected_base_sha,
            tree: flight.expected_tree.unwrap(),
            proposed: patch,
            canonical: digest("canonical"),
            files: vec![RepoPath::from_bytes(b"src/a.py").unwrap()],
            changed_from_base: 1,
            added_dependencies: 0,
        };
        self.observe(Observation::PatchApplied(applied))
    }

    pub(crate) fn observe(&mut self, observation: Observation) -> Vec<Event> {
        let turn = self.flight().turn;
        self.tell(Command::Observe { turn, observation }).unwrap()
    }

    pub(crate) fn flight(&self) -> ambit_run::InFlight {
        match &self.state {
            State::Open(open) => match &open.stage {
                Stage::Call(flight) => (**flight).clone(),
                other => panic!("nothing is in flight: {other:?}"),
            },
            State::Closing(closing) => closing.in_flight.clone().unwrap(),
            other => panic!("nothing is in flight: {other:?}"),
        }
    }

    pub(crate) fn gate_call(&mut self, id: &str) -> AssessedCall {
        self.keys += 1;
        gate_call(id, &format!("key-{}", self.keys))
    }

    /// Proposes a gate and observes it end with `code`; a failure has the fingerprint of `location`.
    pub(crate) fn gate(&mut self, id: &str, code: u8, location: &str) -> Vec<Event> {
        let call = self.gate_call(id);
        let mut events = self.call(call);
        if matches!(&self.state, State::Open(open) if matches!(open.stage, Stage::Call(_))) {
            let record = self.record(Ending::Exited { code }, location);
            events.extend(self.observe(Observation::GateFinished(record)));
        }
        events
    }

    /// The record of the gate in flight.
    pub(crate) fn record(&self, ending: Ending, location: &str) -> GateRecord {
        let flight = self.flight();
        let ToolCall::RunNamedGate { gate_id, idempotency_key, .. } = flight.call else {
            panic!("no gate is in flight")
        };
        GateRecord {
            attempt: self.dossier().gates.next_attempt(&gate_id),
            fingerprint: (!ending.is_success()).then(|| digest(&format!("{gate_id} {location}"))),
            artifact: digest(&format!("artifact of {idempotency_key}")),
            key: idempotency_key,
            gate: gate_id,
            tree: flight.tree,
            ending,
            breaches: BTreeSet::new(),
            output: ByteCount::new(100),
            redactions: None,
            duration: DurationMs::new(5),
            objections: Vec::new(),
            tests: None,
        }
    }

    /// Finishes the cleanup of a run that is ending.
    pub(crate) fn close(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        if matches!(&self.state, State::Closing(closing) if closing.in_flight.is_some()) {
            events.extend(self.observe(Observation::Failed { code: "ABORTED".to_owned() }));
        }
        for _ in 0..3 {
            let command = match pending(&self.state).first() {
                Some(Effect::TerminateProcesses) => {
                    Command::ProcessesTerminated { killed: 1, receipt: digest("cancellation") }
                }
                Some(Effect::ExportTrace) => Command::TraceExported { artifact: digest("trace") },
                Some(Effect::DestroySandbox) => Command::SandboxDestroyed { receipt: digest("destruction") },
                other => panic!("no cleanup is pending: {other:?}"),
            };
            events.extend(self.tell(command).unwrap());
            if matches!(self.state, State::Ended(_)) {
                break;
            }
        }
        events
    }
}

pub(crate) fn sandbox(allocation: u32) -> SandboxHeld {
    SandboxHeld {
        allocation,
        lease: LeaseId::new("lease_000001").unwrap(),
        incarnation: Incarnation::new(format!("inc_00000{allocation}")).unwrap(),
        backend: BackendId::new("linux").unwrap(),
        manifest: digest("manifest"),
    }
}

pub(crate) fn plan_step(id: &str, work: &str, cases: &[&str]) -> PlanStep {
    PlanStep {
        id: StepId::new(id).unwrap(),
        summary: "do it".to_owned(),
        work: work.to_owned(),
        cases: cases.iter().map(|case| CaseId::new(*case).unwrap()).collect(),
    }
}

pub(crate) fn decision(verdict: Verdict) -> Decision {
    Decision {
        verdict,
        rules: vec![RuleId::new("a.rule").unwrap()],
        engine: EngineVersion("test/1".to_owned()),
        input: digest("input"),
    }
}

fn assessed(call: ToolCall) -> AssessedCall {
    AssessedCall {
        arguments: call.arguments().unwrap(),
        call,
        step: None,
        hypothesis: None,
        facts: Vec::new(),
        finding: Finding::Clear,
        inspection: ambit_run::Inspection::Whole(digest("view")),
        approval: None,
        decision: decision(Verdict::Allow),
        instead: String::new(),
    }
}

pub(crate) fn patch_call(base: Digest, tree: &str) -> AssessedCall {
    let call = ToolCall::ApplyProjectPatch {
        revision_id: RevisionId::new(1),
        expected_base_sha: base,
        patch: digest(&format!("patch to {tree}")),
        patch_bytes: ByteCount::new(100),
    };
    AssessedCall {
        step: Some(StepId::new("s1").unwrap()),
        finding: Finding::Patch(PatchFinding {
            base,
            tree: digest(tree),
            canonical: digest("canonical"),
            files: vec![RepoPath::from_bytes(b"src/a.py").unwrap()],
            changed_from_base: 1,
            added_dependencies: 0,
        }),
        ..assessed(call)
    }
}

pub(crate) fn gate_call(id: &str, key: &str) -> AssessedCall {
    assessed(ToolCall::RunNamedGate {
        revision_id: RevisionId::new(1),
        gate_id: gate(id),
        idempotency_key: IdempotencyKey::new(key).unwrap(),
    })
}

pub(crate) fn read_call(path: &str) -> AssessedCall {
    assessed(ToolCall::ReadProjectFile {
        project_id: ProjectId::new("shop").unwrap(),
        revision_id: RevisionId::new(1),
        path: path.parse().unwrap(),
    })
}

pub(crate) fn read_observation(path: &str) -> Observation {
    Observation::FileRead {
        path: path.parse().unwrap(),
        sha256: digest("content"),
        bytes: ByteCount::new(7),
        truncated: false,
        redactions: None,
    }
}

pub(crate) fn approval_call(
    proposal: &ambit_ids::ProposalId,
    capability: ambit_policy::Capability,
) -> AssessedCall {
    assessed(ToolCall::RequestScopedApproval {
        proposal_id: proposal.clone(),
        capability,
        reason: "needed".to_owned(),
    })
}

/// The same call, answered by the policy with `verdict` for `facts`.
pub(crate) fn decided(mut call: AssessedCall, verdict: Verdict, facts: Vec<Fact>) -> AssessedCall {
    call.decision = decision(verdict);
    call.facts = facts;
    call
}

pub(crate) const CALL_DENIAL: Verdict = Verdict::Deny(DenialKind::Call);
pub(crate) const END: Verdict = Verdict::Deny(DenialKind::Terminating);

/// How many effects of a tool were intended in these events.
pub(crate) fn intended(events: &[Event], tool: ToolName) -> usize {
    events
        .iter()
        .filter(|event| {
            matches!(event, Event::CallDecided(decided)
                if decided.call.tool() == tool && decided.outcome == ambit_run::CallOutcome::Perform)
        })
        .count()
}

/// The code of the denial in these events, if there is one.
pub(crate) fn denied(events: &[Event]) -> Option<ambit_run::DenialCode> {
    events.iter().find_map(|event| match event {
        Event::ProposalDenied { denial, .. } => Some(denial.code),
        Event::CallDecided(decided) => match &decided.outcome {
            ambit_run::CallOutcome::Denied(denial) => Some(denial.code),
            _ => None,
        },
        _ => None,
    })
}
