//! The statements of a run, filled from the corpus of stored records.

use ambit_attestation::layout::{LinkFile, PATCH_STEP, TREE};
use ambit_attestation::predicate::{
    ApprovalReceipt, Approver, CleanupProof, Decision, DenialProbe, Denied, GateFacts, Lack, Link, Material,
    Provenance, RECEIPT_MS, RunFacts, RunScope, SandboxManifest, SummaryFacts, TestResult,
    VerificationSummary,
};
use ambit_attestation::{
    DigestSet, Envelope, KeyRole, Moment, Name, Payload, Predicate, ResourceDescriptor, Statement, Subject,
    Uri,
};
use ambit_evidence::v1::{Body, GateRecordV1, ObservationV1, PatchV1, PinsV1, Record, RunBody};
use ambit_ids::{Digest, GateId, UnixMs, limits};

use crate::parties::{DEPLOYMENT, Party};

const GOLDEN: &str = include_str!("../../../evidence/tests/golden/v1.jsonl");

/// What the first records of the corpus say that a statement needs.
pub(crate) struct Records {
    pub(crate) all: Vec<Record>,
    pub(crate) pins: PinsV1,
    pub(crate) gate: GateRecordV1,
    pub(crate) patch: PatchV1,
}

pub(crate) fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

pub(crate) fn uri(text: &str) -> Uri {
    Uri::new(text).unwrap()
}

impl Records {
    pub(crate) fn read() -> Self {
        let all: Vec<Record> = GOLDEN
            .lines()
            .map(|line| ambit_canonical::decode(line.as_bytes(), limits::RECORD_BYTES).unwrap())
            .collect();
        let found =
            |find: fn(&RunBody) -> bool| all.iter().find_map(|record| body(record).filter(|body| find(body)));
        let Some(RunBody::Admitted { pins, .. }) = found(|body| matches!(body, RunBody::Admitted { .. }))
        else {
            panic!("no run was admitted")
        };
        let (pins, patch) = (pins.as_ref().clone(), patch(&all));
        let gate = all.iter().filter_map(body).find_map(|body| match body {
            RunBody::GateFinished { observation: ObservationV1::Gate(gate), .. } => Some(gate.clone()),
            _ => None,
        });
        Self { pins, gate: gate.unwrap(), patch, all }
    }

    pub(crate) fn first(&self) -> &Record {
        &self.all[0]
    }

    pub(crate) fn at(&self) -> Moment {
        self.first().ts.parse().unwrap()
    }

    /// The revision, as every statement about it names it.
    pub(crate) fn revision(&self) -> DigestSet {
        DigestSet {
            sha256: self.patch.tree,
            git_tree: Some("4b825dc642cb6eb9a060e54bf8d69288fbee4904".parse().unwrap()),
            git_commit: None,
        }
    }

    pub(crate) fn about_revision<P: Predicate>(&self, predicate: P) -> Statement<P> {
        let subject = Subject { name: name(&self.pins.revision.to_string()), digest: self.revision() };
        Statement::new(vec![subject], predicate).unwrap()
    }

    fn manifest(&self) -> Digest {
        self.first().environment.manifest.unwrap()
    }

    pub(crate) fn provenance(&self) -> Statement<Provenance> {
        let pins = &self.pins;
        let facts = RunFacts {
            deployment: uri(DEPLOYMENT),
            run: self.first().run.clone().unwrap(),
            started: self.at(),
            finished: self.at(),
            program: name(&self.first().environment.program),
            blueprint: (pins.blueprint.clone(), pins.blueprint_digest),
            base: (pins.base, pins.base_tree),
            profile: (pins.profile.clone(), pins.profile_digest),
            request: pins.request.as_ref().map(|request| request.digest),
            agent: (pins.agent.clone(), pins.agent_definition),
            backend: pins.backend.clone(),
            catalog: pins.catalog,
            policy: pins.policy,
            image: pins.image,
            others: pins
                .volumes
                .iter()
                .map(|volume| ResourceDescriptor::named(name(volume.name.as_str()), volume.digest))
                .collect(),
            byproducts: vec![
                ResourceDescriptor::named(name("patch"), self.patch.canonical),
                ResourceDescriptor::named(name("sandbox-manifest"), self.manifest()),
            ],
        };
        self.about_revision(Provenance::of_run(facts).unwrap())
    }

    pub(crate) fn gate_result(&self, passed: bool) -> Statement<TestResult> {
        let facts = GateFacts {
            gate: self.gate.gate.clone(),
            passed: passed && self.gate.ending.is_success() && self.gate.objections.is_empty(),
            command: self.pins.gates[0].command,
            catalog: self.pins.catalog,
            image: self.pins.image,
            manifest: self.manifest(),
            output: self.gate.artifact,
        };
        self.about_revision(TestResult::of_gate(&facts).unwrap())
    }

    pub(crate) fn summary(&self, preview_ready: bool) -> Statement<VerificationSummary> {
        let inputs =
            [("provenance", envelope(&self.provenance())), ("gate-unit", envelope(&self.gate_result(true)))];
        let (program, version) = self.first().environment.program.split_once('/').unwrap();
        self.about_revision(VerificationSummary::of_revision(SummaryFacts {
            deployment: uri(DEPLOYMENT),
            program: (name(program), name(version)),
            verified: self.at(),
            resource: uri("urn:ambit:revision:acme:shop:rev-1"),
            policy: (uri("policy://generation-tools/v3"), self.pins.policy),
            inputs: inputs
                .map(|(called, envelope)| (name(called), envelope.print().unwrap().digest()))
                .into(),
            preview_ready,
        }))
    }

    /// What patches made: the tree, and one file of it.
    pub(crate) fn products(&self) -> Vec<Subject> {
        let file = Subject { name: name("src/order.py"), digest: Digest::of(b"order").into() };
        vec![Subject { name: name(TREE), digest: self.revision() }, file]
    }

    pub(crate) fn patch_link(&self) -> Statement<Link> {
        let base = Material { name: name(TREE), digest: self.patch.base.into() };
        Statement::new(self.products(), link(PATCH_STEP, vec![base])).unwrap()
    }

    /// The link of the gate, which takes these and makes nothing.
    pub(crate) fn gate_link(&self, gate: &GateId, taken: Vec<Subject>) -> LinkFile {
        let materials = taken.into_iter().map(|taken| Material { name: taken.name, digest: taken.digest });
        LinkFile::new(link(&format!("gate-{gate}"), materials.collect()), Vec::new()).unwrap()
    }

    pub(crate) fn receipt(&self) -> Statement<ApprovalReceipt> {
        let (mut requested, mut decided) = (None, None);
        for body in self.all.iter().filter_map(body) {
            match body {
                RunBody::ApprovalRequested { capability, .. } => requested = Some(*capability),
                RunBody::ApprovalDecided {
                    approver, receipt, evidence, receipt_expires_ms, digest, ..
                } => {
                    decided =
                        Some((approver.clone(), receipt.clone(), *evidence, *receipt_expires_ms, *digest));
                }
                _ => {}
            }
        }
        let (id, receipt, evidence, expires, proposal) = decided.unwrap();
        let record = self.first();
        let scope = RunScope {
            org: record.org.clone(),
            project: record.project.clone().unwrap(),
            run: record.run.clone().unwrap(),
            tree: self.pins.base_tree,
            policy: self.pins.policy,
        };
        let receipt = ApprovalReceipt {
            receipt,
            decision: Decision::Approved,
            capability: requested.unwrap(),
            arguments: Digest::of(b"arguments"),
            scope,
            approver: Approver { id, evidence, credential: Some(name("sealed")) },
            // Every record of the corpus is of one moment; a run derives the beginning of a receipt from its end.
            decided_at: Moment::new(UnixMs::new(expires.get() - RECEIPT_MS)).unwrap(),
            expires_at: Moment::new(expires).unwrap(),
            view: Some(Digest::of(b"view")),
            audience: Some(Party::role(KeyRole::ToolBroker).key.id()),
            uses: 1,
        };
        let subject = Subject { name: name("proposal"), digest: proposal.into() };
        Statement::new(vec![subject], receipt).unwrap()
    }

    pub(crate) fn sandbox(&self) -> Statement<SandboxManifest> {
        let leased = self.all.iter().filter_map(body).find_map(|body| match body {
            RunBody::LeaseAllocated { lease, incarnation, backend, manifest, .. } => {
                Some((lease.clone(), incarnation.clone(), backend.clone(), *manifest))
            }
            _ => None,
        });
        let (lease, incarnation, backend, manifest) = leased.unwrap();
        let predicate = SandboxManifest {
            run: self.first().run.clone().unwrap(),
            lease,
            incarnation,
            backend,
            image: self.pins.image,
            environment: Digest::of(b"environment"),
            measured_at: self.at(),
            probes_passed: 31,
            lacks: vec![Lack {
                feature: name("cgroups"),
                consequence: name("nothing bounds memory as a whole"),
            }],
        };
        about("sandbox-manifest", manifest, predicate)
    }

    pub(crate) fn denial(&self) -> Statement<DenialProbe> {
        let probe = |id: &str, observed: &str| Denied {
            id: name(id),
            denied: true,
            control: true,
            observed: name(observed),
        };
        let predicate = DenialProbe {
            backend: self.pins.backend.clone(),
            environment: Digest::of(b"environment"),
            tried_at: self.at(),
            probes: vec![
                probe("denied.network.loopback-of-host", "connection refused"),
                probe("denied.files.outside", "no such file"),
            ],
        };
        about("sandbox-manifest", self.manifest(), predicate)
    }

    pub(crate) fn cleanup(&self) -> Statement<CleanupProof> {
        let sandbox = self.sandbox();
        let destroyed = self.all.iter().filter_map(body).find_map(|body| match body {
            RunBody::SandboxDestroyed { receipt } => Some(*receipt),
            _ => None,
        });
        let killed = self.all.iter().filter_map(body).find_map(|body| match body {
            RunBody::ProcessTerminated { killed, .. } => Some(*killed),
            _ => None,
        });
        let surfaces = ["processes", "mounts", "cgroups", "files"];
        let predicate = CleanupProof {
            run: sandbox.predicate().run.clone(),
            lease: sandbox.predicate().lease.clone(),
            incarnation: sandbox.predicate().incarnation.clone(),
            killed: killed.unwrap(),
            remaining: surfaces.into_iter().map(|surface| (name(surface), 0)).collect(),
            proved_at: self.at(),
        };
        about("destruction-receipt", destroyed.unwrap(), predicate)
    }

    /// Every statement of the run by what it is called, signed by the key whose role it is.
    pub(crate) fn envelopes(&self) -> Vec<(&'static str, KeyRole, Envelope)> {
        vec![
            signed("provenance", &self.provenance()),
            signed("gate-unit", &self.gate_result(true)),
            signed("summary", &self.summary(true)),
            signed("link-patch", &self.patch_link()),
            signed("receipt", &self.receipt()),
            signed("sandbox", &self.sandbox()),
            signed("denial", &self.denial()),
            signed("cleanup", &self.cleanup()),
        ]
    }
}

fn signed<P: Predicate>(called: &'static str, statement: &Statement<P>) -> (&'static str, KeyRole, Envelope) {
    (called, signer::<P>(), envelope(statement))
}

/// The first role that may sign it.
pub(crate) fn signer<P: Predicate>() -> KeyRole {
    *KeyRole::ALL.iter().find(|role| role.may_sign().contains(&P::TYPE)).unwrap()
}

pub(crate) fn envelope<P: Predicate>(statement: &Statement<P>) -> Envelope
where
    Statement<P>: Payload,
{
    Party::role(signer::<P>()).envelope(statement)
}

fn about<P: Predicate>(called: &str, digest: Digest, predicate: P) -> Statement<P> {
    Statement::new(vec![Subject { name: name(called), digest: digest.into() }], predicate).unwrap()
}

fn link(step: &str, materials: Vec<Material>) -> Link {
    Link {
        name: name(step),
        command: Vec::new(),
        materials,
        byproducts: Default::default(),
        environment: Default::default(),
    }
}

pub(crate) fn body(record: &Record) -> Option<&RunBody> {
    match &record.body {
        Body::Run(body) => Some(body.as_ref()),
        Body::Project(_) => None,
    }
}

fn patch(all: &[Record]) -> PatchV1 {
    let applied = all.iter().filter_map(body).find_map(|body| match body {
        RunBody::PatchApplied { observation: ObservationV1::Patch(patch), .. } => Some(patch.clone()),
        _ => None,
    });
    applied.unwrap()
}
