//! A start that is refused creates nothing and leaves its refusal.

use std::sync::Arc;

use ambit_evidence::v1::{Body, ProjectBody};
use ambit_ids::Digest;
use ambit_orchestrator::StartRun;
use ambit_policy::LifecycleStage;
use ambit_ports::sandbox::{Egress, Enforcer, ProbeFamily};
use ambit_simulation::{Cut, Fault, Reply, SandboxFault, Setup, Verb, World, simulate};

use crate::policies::{NoEngine, world};

struct Case {
    name: &'static str,
    code: &'static str,
    setup: fn(&mut Setup),
    world: fn(&World),
    request: fn(&mut StartRun),
}

const CASE: Case = Case { name: "", code: "", setup: |_| {}, world: |_| {}, request: |_| {} };

/// What can be wrong with the blueprint and what it names.
fn about_documents() -> Vec<Case> {
    let not_approved = Case { code: "BLUEPRINT_NOT_APPROVED", ..CASE };
    let malformed = Case { code: "DOCUMENT_MALFORMED", ..CASE };
    vec![
        Case { name: "an unknown digest", request: |it| it.digest = Digest::of(b"another"), ..not_approved },
        Case { name: "a draft", setup: |it| it.approved = false, ..not_approved },
        Case {
            name: "an unknown blueprint",
            request: |it| it.blueprint = "bp-2".parse().unwrap(),
            ..not_approved
        },
        Case {
            name: "another stage",
            code: "STAGE_NOT_ACTIONABLE",
            setup: |it| it.blueprint.spec.stage = LifecycleStage::Preview,
            ..CASE
        },
        Case { name: "no owner", setup: |it| it.blueprint.spec.accountability.owner.clear(), ..malformed },
        Case {
            name: "no later owner",
            setup: |it| it.blueprint.spec.accountability.later_owner.clear(),
            ..malformed
        },
        Case {
            name: "nothing to clean up",
            setup: |it| it.blueprint.spec.accountability.cleanup.obligation.clear(),
            ..malformed
        },
        Case {
            name: "an altered blueprint",
            code: "BLOB_CORRUPT",
            world: |world| world.blobs.tamper(&world.scope, world.digest, bytes::Bytes::from_static(b"{}")),
            ..CASE
        },
        Case {
            name: "an unknown profile",
            code: "PROFILE_UNKNOWN",
            request: |it| it.profile = "root-v1".parse().unwrap(),
            ..CASE
        },
        Case { name: "no catalog", code: "POLICY_UNRESOLVED", setup: |it| it.documents.clear(), ..CASE },
        Case {
            name: "unknown rules",
            code: "POLICY_UNRESOLVED",
            request: |it| it.tool_rules = "policy://generation-tools/v9".parse().unwrap(),
            ..CASE
        },
        Case {
            name: "a gate that the catalog does not have",
            code: "GATE_UNKNOWN",
            setup: |it| it.blueprint.spec.gates[0].id = "deploy".parse().unwrap(),
            ..CASE
        },
        Case {
            name: "an unknown request",
            code: "REQUEST_UNKNOWN",
            request: |it| it.request = Some(Digest::of(b"a wish")),
            ..CASE
        },
    ]
}

/// What can be wrong with the base revision and the backend.
fn about_the_world() -> Vec<Case> {
    let gone = Case { code: "BASE_REVISION_GONE", ..CASE };
    let not_admitted = Case { code: "BACKEND_NOT_ADMITTED", ..CASE };
    vec![
        Case { name: "an unknown base", request: |it| it.base = "rev-7".parse().unwrap(), ..gone },
        Case {
            name: "a base that is not there any more",
            world: |world| world.blobs.remove(&world.scope, world.base_tree.digest()),
            ..gone
        },
        Case {
            name: "a machine without sandboxes",
            code: "SANDBOX_UNAVAILABLE",
            world: |world| world.sandbox.plan_always(Verb::Inspect, SandboxFault::Unavailable),
            ..CASE
        },
        Case {
            name: "egress that is not proven",
            world: |world| world.sandbox.alter_manifest(|it| it.egress = Egress::Unproven),
            ..not_admitted
        },
        Case {
            name: "a family of probes that is missing",
            world: |world| {
                let keep = |family| family != ProbeFamily::Recovery;
                world.sandbox.alter_manifest(|it| it.evidence_probes.retain(|probe| keep(probe.family)));
            },
            ..not_admitted
        },
        Case {
            name: "limits of single processes only",
            world: |world| world.sandbox.alter_manifest(|it| it.limits.memory = Enforcer::RlimitPerProcess),
            ..not_admitted
        },
        Case {
            name: "a failed probe that says a lot",
            world: |world| {
                world.sandbox.alter_manifest(|it| {
                    it.evidence_probes[0].passed = false;
                    it.evidence_probes[0].observed = "é".repeat(100_000);
                });
            },
            ..not_admitted
        },
    ]
}

/// Whatever a refused start could have left behind.
async fn check_nothing_was_made(world: &World, case: &Case) {
    let name = case.name;
    assert!(world.store.streams().iter().all(|stream| stream.run().is_none()), "{name}: there is a run");
    assert!(world.store.leased().is_empty(), "{name}: there is a lease");
    assert_eq!(world.sandbox.asked(Verb::Allocate), 0, "{name}: a sandbox was asked for");
    let links = world.project_links().await;
    let last = &links.last().unwrap().record;
    let Body::Project(body) = &last.body else { panic!("{name}: no record of the project") };
    let ProjectBody::RunRejected { action, code, .. } = body.as_ref() else {
        panic!("{name}: the refusal is not recorded: {}", last.kind())
    };
    assert_eq!(
        (action.as_str(), code.as_str(), last.actor.id.as_str()),
        ("run.start", case.code, "ada"),
        "{name}"
    );
}

// proves E-A01 E-A02 E-A07 E-A11 E-N04 E-I05 E-D13 D2
// break crates/control-plane/orchestrator/src/check.rs: `if !project.is_approved(&command.blueprint, command.digest) {` -> `if project.is_approved(&command.blueprint, command.digest) && false {`
// break crates/control-plane/orchestrator/src/start.rs: `self.record_rejection(&command, rejected).await?;` -> `let _ = rejected;`
// break crates/control-plane/orchestrator/src/check.rs: `return Err(reject("STAGE_NOT_ACTIONABLE", detail, "").into());` -> `return Err(reject("STAGE_UNKNOWN", detail, "").into());`
// break crates/control-plane/sandboxes/src/admission.rs: `.filter(|family| !passed.contains(family))` -> `.filter(|family| passed.contains(family) && false)`
// break crates/control-plane/orchestrator/src/start.rs: `detail: recorded(&rejected.detail).to_owned(),` -> `detail: rejected.detail.clone(),`
#[test]
fn a_refused_start_makes_nothing_and_leaves_its_refusal() {
    for case in about_documents().into_iter().chain(about_the_world()) {
        let mut setup = Setup::standard();
        (case.setup)(&mut setup);
        simulate(async {
            let world = world(setup).await;
            (case.world)(&world);
            let agent = world.agent(|_| Reply::Finished);
            let mut request = world.request(&agent, Some("refused"));
            (case.request)(&mut request);
            let refused = world.orchestrator().start(request).await.expect_err(case.name);
            assert_eq!(refused.code(), case.code, "{}", case.name);
            check_nothing_was_made(&world, &case).await;
        });
    }
    simulate(async {
        let world = world(Setup::standard()).await;
        world.start(&world.agent(|_| Reply::Finished)).await;
        assert_eq!(world.sandbox.asked(Verb::Allocate), 0, "a run is not allocated anything by its start");
    });
}

#[test]
fn a_policy_set_without_an_engine_refuses_a_start() {
    simulate(async {
        let world = World::build(Setup::standard(), Arc::new(NoEngine)).await;
        let request = world.request(&world.agent(|_| Reply::Finished), None);
        assert_eq!(world.orchestrator().start(request).await.unwrap_err().code(), "POLICY_UNUSABLE");
    });
}

// proves E-A02
// break crates/control-plane/orchestrator/src/check.rs: `let detail = format!("{} with the digest {} is not approved", command.blueprint, command.digest);` -> `let detail = format!("{} with the digest {} is not approved, {} are", command.blueprint, command.digest, project.approved_digests(&command.blueprint).count());`
#[test]
fn a_draft_and_an_unknown_digest_are_refused_in_the_same_words() {
    let refusal = |approved: bool| {
        simulate(async move {
            let world = world(Setup { approved, ..Setup::standard() }).await;
            let mut request = world.request(&world.agent(|_| Reply::Finished), None);
            if approved {
                request.digest = Digest::of(b"another");
            }
            let digest = request.digest.to_string();
            let refused = world.orchestrator().start(request).await.unwrap_err();
            (refused.code(), refused.to_string().replace(&digest, "?"))
        })
    };
    assert_eq!(refusal(true), refusal(false));
}

#[test]
fn storage_that_stumbles_decides_nothing_and_the_same_start_succeeds_later() {
    simulate(async {
        let world = world(Setup::standard()).await;
        let agent = world.agent(|_| Reply::Finished);
        let before = world.project_links().await.len();
        world.faults.plan_always(Cut::BlobGet, Fault::Fail);
        let failed = world.orchestrator().start(world.request(&agent, Some("once"))).await.unwrap_err();
        assert_eq!(failed.code(), "BLOB_STORE_FAILED");
        assert_eq!(world.project_links().await.len(), before, "nothing was refused");
        world.faults.heal();
        world.orchestrator().start(world.request(&agent, Some("once"))).await.unwrap();
    });
}
