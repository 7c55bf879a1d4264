//! Samples of what names the project as it was known, and of how an approver's credential is kept.

use ambit_evidence::v1::{Actor, ActorKind, Body, ProjectBody, Record, RunBody};
use ambit_evidence::{CredentialForm, leaf_hash};
use ambit_run::{Event, VoidReason};

use crate::samples::{digest, record};

/// What depends on who may approve in the project.
pub(crate) fn events() -> Vec<Event> {
    let receipt: ambit_ids::ReceiptId = "apr_000001".parse().unwrap();
    let voided = |reason| Event::ReceiptVoided { receipt: receipt.clone(), reason };
    vec![
        Event::ApprovalConsumed { turn: 4, receipt: receipt.clone() },
        voided(VoidReason::ApproverRevoked),
        voided(VoidReason::PolicyChanged),
    ]
}

fn bodies() -> Vec<ProjectBody> {
    vec![
        ProjectBody::ApproverRegistered {
            approver: "ada".parse().unwrap(),
            public_key: "00".repeat(32),
            credential: Some(CredentialForm::Sealed),
        },
        ProjectBody::ApproverAdded {
            approver: "bob".parse().unwrap(),
            public_key: "22".repeat(32),
            credential: Some(CredentialForm::Open),
            by: "ada".parse().unwrap(),
            signature: "33".repeat(64),
        },
    ]
}

/// The samples as two chains: a run's and its project's.
pub(crate) fn records() -> Vec<Record> {
    let run: ambit_ids::RunId = "run_000001".parse().unwrap();
    let actor = Actor { kind: ActorKind::Human, id: "ada".to_owned() };
    let mut records = Vec::new();
    let mut prev = digest("origin");
    for (seq, event) in events().iter().enumerate() {
        let body = RunBody::from(event);
        let (actor, artifact) = (body.actor(&run), body.artifact());
        let body = Body::Run(Box::new(body));
        let mut sample = record(Some(run.clone()), seq as u64, prev, actor, artifact, body);
        sample.precondition.project = Some(digest("project"));
        prev = leaf_hash(ambit_canonical::encode(&sample).unwrap().as_bytes());
        records.push(sample);
    }
    prev = digest("origin");
    for (seq, body) in bodies().into_iter().enumerate() {
        let sample = record(None, seq as u64, prev, actor.clone(), None, Body::Project(Box::new(body)));
        prev = leaf_hash(ambit_canonical::encode(&sample).unwrap().as_bytes());
        records.push(sample);
    }
    records
}
