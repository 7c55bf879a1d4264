//! Who may approve, what an approval covers, and what is registered for good.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]

use std::sync::Arc;

use ambit_blueprint::Document;
use ambit_evidence::CredentialForm;
use ambit_evidence::v1::{Actor, ActorKind, Body, Environment, Precondition, ProjectBody};
use ambit_ids::{ApproverId, Digest, RevisionId, Scope};
use ambit_journal::Entry;
use ambit_ports::store::StreamId;
use ambit_projects::{ApproverCredential, Import, Wish};
use ambit_simulation::{EPOCH, OneEngine, Permissive, Setup, SimEntropy, World, simulate};
use tokio::task::JoinSet;

async fn world(approved: bool) -> World {
    let setup = Setup { approved, ..Setup::standard() };
    World::build(setup, Arc::new(OneEngine(Arc::new(Permissive)))).await
}

fn stranger() -> ApproverCredential {
    ApproverCredential::generate(&SimEntropy::new(77))
}

async fn is_approved(world: &World, scope: &Scope) -> bool {
    let project = world.projects().project(scope).await.unwrap();
    project.is_approved(&world.blueprint.metadata.name, world.digest)
}

/// Writes a record to the stream of a project past the service, as whoever can write to the store could.
async fn write(world: &World, scope: &Scope, body: ProjectBody) {
    let entry = Entry {
        actor: Actor { kind: ActorKind::Human, id: "ada".to_owned() },
        precondition: Precondition::default(),
        artifact: None,
        environment: Environment::of_program("somebody/1"),
        body: Body::Project(Box::new(body)),
    };
    world.journal().append_to_end(&StreamId::Project(scope.clone()), EPOCH, vec![entry], &[]).await.unwrap();
}

// proves E-A05 E-A01 E-H04
// break crates/control-plane/projects/src/approvers.rs: `None => Err(ProjectError::WrongCredential),` -> `None => Ok(ApproverId::new("ada").map_err(|_| ProjectError::WrongCredential)?),`
#[test]
fn only_the_credential_of_the_approver_approves() {
    simulate(async {
        let world = world(false).await;
        let projects = world.projects();
        let refused = projects.approve(&world.scope, &world.blueprint, &stranger()).await.unwrap_err();
        assert_eq!(refused.code(), "CREDENTIAL_REFUSED");
        assert!(!is_approved(&world, &world.scope).await);
        let elsewhere = Scope { project: "site".parse().unwrap(), ..world.scope.clone() };
        let refused = projects.approve(&elsewhere, &world.blueprint, &world.credential).await.unwrap_err();
        assert_eq!(refused.code(), "APPROVER_MISSING");
        projects.approve(&world.scope, &world.blueprint, &world.credential).await.unwrap();
        assert!(is_approved(&world, &world.scope).await);
        let records = world.project_links().await.len();
        projects.approve(&world.scope, &world.blueprint, &world.credential).await.unwrap();
        assert_eq!(world.project_links().await.len(), records, "approving again changes nothing");
    });
}

// proves E-A05 E-A01
// break crates/domain/evidence/src/project.rs: `self.may_approve(approver).is_some_and(|key| key.verifies_hex(message, signature))` -> `self.may_approve(approver).is_some() && message.len() > signature.len() / 1000`
#[test]
fn an_approval_that_was_written_past_the_service_does_not_count() {
    simulate(async {
        let world = world(false).await;
        let (scope, blueprint) = (&world.scope, world.blueprint.metadata.name.clone());
        let forged = |signature: String| ProjectBody::BlueprintApproved {
            blueprint: blueprint.clone(),
            digest: world.digest,
            approver: world.approver.clone(),
            signature,
        };
        write(&world, scope, forged(String::new())).await;
        write(&world, scope, forged("0".repeat(128))).await;

        // The genuine approval of the same person for another project.
        let elsewhere = Scope { project: "site".parse().unwrap(), ..scope.clone() };
        let key = world.credential.public_key();
        world
            .projects()
            .register_approver(&elsewhere, &world.approver, &key, CredentialForm::Open)
            .await
            .unwrap();
        world.projects().approve(&elsewhere, &world.blueprint, &world.credential).await.unwrap();
        let links = world.journal().load(&StreamId::Project(elsewhere.clone())).await.unwrap().links;
        let signature = links.into_iter().find_map(|link| match link.record.body {
            Body::Project(body) => match *body {
                ProjectBody::BlueprintApproved { signature, .. } => Some(signature),
                _ => None,
            },
            Body::Run(_) => None,
        });
        write(&world, scope, forged(signature.unwrap())).await;
        assert!(is_approved(&world, &elsewhere).await, "it counts where it was made");
        assert!(!is_approved(&world, scope).await, "and nowhere else");

        // Whoever can write can also name another approver; the first one stays.
        let eve = ProjectBody::ApproverRegistered {
            approver: world.approver.clone(),
            public_key: stranger().public_key().to_hex(),
            credential: None,
        };
        write(&world, scope, eve).await;
        let project = world.projects().project(scope).await.unwrap();
        assert_eq!(project.approver(&world.approver), Some(&key));
    });
}

#[test]
fn of_many_who_want_to_approve_in_a_project_the_first_may() {
    simulate(async {
        let world = Arc::new(world(false).await);
        let fresh = Scope { project: "fresh".parse().unwrap(), ..world.scope.clone() };
        let mut registrations = JoinSet::new();
        for number in 0..20_u64 {
            let (world, scope) = (world.clone(), fresh.clone());
            registrations.spawn(async move {
                let key = ApproverCredential::generate(&SimEntropy::new(number)).public_key();
                let name = ApproverId::new(format!("person-{number}")).unwrap();
                let form = CredentialForm::Open;
                world
                    .projects()
                    .register_approver(&scope, &name, &key, form)
                    .await
                    .map_err(|error| error.code())
            });
        }
        let outcomes = registrations.join_all().await;
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
        assert!(outcomes.iter().all(|outcome| outcome.is_ok() || *outcome == Err("APPROVER_EXISTS")));
        assert_eq!(world.projects().project(&fresh).await.unwrap().approvers().count(), 1);
    });
}

// proves E-A13 E-M08
// break crates/control-plane/projects/src/lib.rs: `Some(known) if known == digest => return Ok(digest),` -> `Some(_) => return Ok(digest),`
#[test]
fn a_registered_document_is_never_changed() {
    simulate(async {
        let world = world(false).await;
        let projects = world.projects();
        let document = Document::Blueprint(Box::new(world.blueprint.clone()));
        let records = world.project_links().await.len();
        assert_eq!(projects.register(&world.scope, &document, "eve").await.unwrap(), world.digest);
        assert_eq!(world.project_links().await.len(), records, "the same again changes nothing");

        let mut wider = world.blueprint.clone();
        wider.spec.scope.paths = ambit_ids::PathSet(vec![ambit_ids::PathPattern::new("**").unwrap()]);
        let changed = Document::Blueprint(Box::new(wider.clone()));
        let refused = projects.register(&world.scope, &changed, "eve").await.unwrap_err();
        assert_eq!(refused.code(), "DOCUMENT_CHANGED");
        assert_eq!(
            projects.approve(&world.scope, &wider, &world.credential).await.unwrap_err().code(),
            "DOCUMENT_CHANGED"
        );

        wider.metadata.version = 2;
        let digest = projects.approve(&world.scope, &wider, &world.credential).await.unwrap();
        let bytes = world.blob(digest).unwrap();
        assert_eq!(Digest::of(&bytes), digest, "what is approved can be read by its digest");
        assert!(!is_approved(&world, &world.scope).await, "the narrower version is not approved by it");
    });
}

#[test]
fn imports_at_once_are_different_revisions() {
    simulate(async {
        let world = Arc::new(world(false).await);
        let mut imports = JoinSet::new();
        for _ in 0..20 {
            let world = world.clone();
            imports.spawn(async move {
                let tree = world.base_tree.digest();
                let import = Import { tree, entries: 4, source: "again".to_owned() };
                world.projects().import(&world.scope, &import, "ada").await.unwrap()
            });
        }
        let mut revisions = imports.join_all().await;
        revisions.sort();
        assert_eq!(revisions, (1..=20).map(RevisionId::new).collect::<Vec<_>>());
    });
}

// proves E-G02
// break crates/control-plane/projects/src/lib.rs: `if !blueprint.spec.acceptance_cases.iter().any(|case| case.id == wish.case) {` -> `if blueprint.spec.acceptance_cases.is_empty() {`
// break crates/control-plane/projects/src/lib.rs: `if !self.project(scope).await?.is_approved(&wish.blueprint, wish.digest) {` -> `if false {`
#[test]
fn a_wish_belongs_to_a_case_of_the_approved_blueprint_and_changes_nothing_about_it() {
    let wish = |world: &World, text: &str, case: &str| Wish {
        text: text.to_owned(),
        revision: world.base,
        blueprint: world.blueprint.metadata.name.clone(),
        digest: world.digest,
        case: case.parse().unwrap(),
    };
    simulate(async {
        let draft = world(false).await;
        let asked = draft
            .projects()
            .request(&draft.scope, &wish(&draft, "more", "AC-1"), &draft.blueprint, "ada")
            .await;
        assert_eq!(asked.unwrap_err().code(), "REQUEST_REFUSED", "nothing is approved yet");

        let world = world(true).await;
        for (text, case) in [("more", "AC-9"), ("", "AC-1"), ("  ", "AC-1"), (&"x".repeat(4_001), "AC-1")] {
            let asked = world
                .projects()
                .request(&world.scope, &wish(&world, text, case), &world.blueprint, "ada")
                .await;
            assert_eq!(asked.unwrap_err().code(), "REQUEST_REFUSED", "{case}: {} bytes", text.len());
        }
        let asked = wish(&world, "keep it visible after a refresh", "AC-1");
        let digest = world.projects().request(&world.scope, &asked, &world.blueprint, "ada").await.unwrap();
        let again = world.projects().request(&world.scope, &asked, &world.blueprint, "ada").await.unwrap();
        assert_eq!(digest, again);
        let project = world.projects().project(&world.scope).await.unwrap();
        assert_eq!(project.requests().count(), 1);
        assert_eq!(project.request(digest).unwrap().case, asked.case);
        assert!(is_approved(&world, &world.scope).await, "the approved job is as it was");
    });
}
