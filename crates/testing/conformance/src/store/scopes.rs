use ambit_ids::Scope;
use ambit_ports::leases::StreamLeases;
use ambit_ports::store::{Store, StreamId};

use super::sample::{Dump, canonical, claim, commit, fence, message, run, scope};

const KEYS: [&str; 1] = ["run-name/nightly"];

fn streams_of(scope: &Scope) -> [StreamId; 3] {
    [
        StreamId::Organization(scope.organization.clone()),
        StreamId::Project(scope.clone()),
        StreamId::Run(scope.clone(), run(1)),
    ]
}

/// Fills every table for one scope, and answers the id of a command that waits for its run.
async fn fill<S: Store + StreamLeases>(store: &S, scope: &Scope) -> u64 {
    let mut waits = 0;
    for stream in streams_of(scope) {
        let fence = fence(store, &stream, "owner", 0).await;
        let mut commit = commit(&stream, 0, Some(fence), &["a", "b"]);
        commit.outbox = vec![message("a")];
        if stream.run().is_some() {
            commit.claims = vec![claim(KEYS[0], "run_00000001")];
        }
        store.commit(commit).await.unwrap();
        waits = store.send(&stream, canonical("a command")).await.unwrap();
    }
    waits
}

async fn dump<S: Store>(store: &S, scope: &Scope) -> Dump {
    Dump::of(store, &streams_of(scope), std::slice::from_ref(scope), &KEYS).await
}

/// Whoever asks with the same names for another owner is answered as if nothing had ever been there.
pub async fn another_owner_sees_nothing<S: Store + StreamLeases>(open: &impl Fn(&str) -> S) {
    let store = open("invisible");
    let owner = scope("acme", "shop");
    fill(&store, &owner).await;
    assert!(!dump(&store, &owner).await.is_empty(), "the owner sees it");
    for stranger in [
        scope("bolt", "shop"),
        scope("acme1", "shop"),
        scope("ACME", "shop"),
        scope("acme", "shop1"),
        scope("acme", "Shop"),
    ] {
        let other_project = stranger.organization == owner.organization;
        let streams = &streams_of(&stranger)[usize::from(other_project)..];
        let seen = Dump::of(&store, streams, std::slice::from_ref(&stranger), &KEYS).await;
        assert!(seen.is_empty(), "{stranger} sees {seen:?}");
        let lease = store
            .acquire(&streams[1], "stranger", ambit_ids::UnixMs::new(1), ambit_ids::DurationMs::new(1))
            .await;
        assert!(lease.is_ok(), "{stranger} learns of a lease: {lease:?}");
    }
}

/// Whoever names another owner's commands is answered as for ones that never existed, and takes nothing.
pub async fn another_owner_takes_nothing<S: Store + StreamLeases>(open: &impl Fn(&str) -> S) {
    let store = open("untouched");
    let owner = scope("acme", "shop");
    let waits = fill(&store, &owner).await;
    let before = dump(&store, &owner).await;

    let stranger = StreamId::Run(scope("bolt", "shop"), run(1));
    let fence = fence(&store, &stranger, "stranger", 0).await;
    let mut answers = Vec::new();
    for id in [waits, 4_000_000] {
        let mut commit = commit(&stranger, 0, Some(fence), &["a"]);
        commit.answered = vec![id];
        answers.push(store.commit(commit).await.unwrap_err().to_string());
        store.dismiss(&stranger, id).await.unwrap();
    }
    assert_eq!(answers[0], answers[1], "what exists and what never did are answered alike");
    let mut same_names = commit(&stranger, 0, Some(fence), &["mine"]);
    same_names.claims = vec![claim(KEYS[0], "mine")];
    store.commit(same_names).await.unwrap();
    assert_eq!(dump(&store, &owner).await, before);

    let own = streams_of(&owner)[2].clone();
    store.dismiss(&own, waits).await.unwrap();
    assert_eq!(store.inbox(&own).await.unwrap(), [], "the owner can");
}
