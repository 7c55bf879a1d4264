use std::sync::Arc;

use ambit_ports::leases::StreamLeases;
use ambit_ports::store::{Seq, Store, StoreError, StreamId};
use tokio::task::JoinSet;

use super::sample::{claim, commit, fence, run_stream, scope};

/// Of many who claim a key, one has it. The others learn who, and nothing of their commits is there.
pub async fn one_of_many_claimers_wins<S: Store + StreamLeases + 'static>(open: &impl Fn(&str) -> S) {
    const CLAIMERS: usize = 64;
    let stores = [Arc::new(open("claimers")), Arc::new(open("claimers"))];
    let mut claimers = JoinSet::new();
    for number in 0..CLAIMERS {
        let store = Arc::clone(&stores[number % 2]);
        let stream = run_stream(number);
        let fence = fence(&*store, &stream, "owner", 0).await;
        let mut commit = commit(&stream, 0, Some(fence), &["admitted"]);
        commit.claims = vec![claim("run-name/nightly", &number.to_string())];
        claimers.spawn(async move { (number, store.commit(commit).await) });
    }
    let (mut winners, mut told) = (Vec::new(), Vec::new());
    for (number, outcome) in claimers.join_all().await {
        match outcome {
            Ok(()) => winners.push(number.to_string()),
            Err(StoreError::Claimed { key, holder }) if key == "run-name/nightly" => told.push(holder),
            Err(other) => panic!("{other:?}"),
        }
    }
    assert_eq!((winners.len(), told.len()), (1, CLAIMERS - 1));
    assert!(told.iter().all(|holder| *holder == winners[0]), "every loser learns who won");
    let acme = scope("acme", "shop");
    let holder = stores[1].claim(&acme, "run-name/nightly").await.unwrap();
    assert_eq!(holder.as_ref(), winners.first());
    assert_eq!(stores[0].runs(&acme, None, 100).await.unwrap().len(), 1, "no run of a loser exists");
    for number in 0..CLAIMERS {
        let records = stores[0].read(&run_stream(number), Seq(0), 10).await.unwrap();
        assert_eq!(records.len(), usize::from(winners[0] == number.to_string()));
    }
}

/// A commit that needs a key to be vacant is refused whole once somebody holds the key, and takes nothing itself.
pub async fn a_key_that_must_be_vacant_is_looked_at_in_the_commit<S: Store>(open: &impl Fn(&str) -> S) {
    let store = open("vacant keys");
    let shop = scope("acme", "shop");
    let stream = StreamId::Project(shop.clone());
    let needing = |at: u64, text: &str| {
        let mut commit = commit(&stream, at, None, &[text]);
        commit.vacant = vec!["approver-revoked/ada".to_owned()];
        commit
    };
    store.commit(needing(0, "a")).await.unwrap();
    assert_eq!(store.claim(&shop, "approver-revoked/ada").await.unwrap(), None, "it is not taken by that");
    store.commit(needing(1, "b")).await.unwrap();
    // Of another project, or another key, it says nothing.
    let site = StreamId::Project(scope("acme", "site"));
    for (stream, at, key) in [(&site, 0, "approver-revoked/ada"), (&stream, 2, "approver-revoked/bob")] {
        let mut taking = commit(stream, at, None, &["c"]);
        taking.claims = vec![claim(key, "x")];
        store.commit(taking).await.unwrap();
    }
    store.commit(needing(3, "d")).await.unwrap();
    let mut taking = commit(&stream, 4, None, &["e"]);
    taking.claims = vec![claim("approver-revoked/ada", "bob")];
    store.commit(taking).await.unwrap();
    match store.commit(needing(5, "f")).await {
        Err(StoreError::Claimed { key, holder }) => {
            assert_eq!((key.as_str(), holder.as_str()), ("approver-revoked/ada", "bob"));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(store.read(&stream, Seq(0), 10).await.unwrap().len(), 5, "nothing of it is there");
}

/// One key can be taken once in each project, and is never freed.
pub async fn a_claim_is_of_its_project<S: Store>(open: &impl Fn(&str) -> S) {
    let store = open("claims of projects");
    for (organization, project) in [("acme", "shop"), ("acme", "site"), ("bolt", "shop")] {
        let scope = scope(organization, project);
        let stream = StreamId::Project(scope.clone());
        assert_eq!(store.claim(&scope, "rev/1").await.unwrap(), None);
        let mut taking = commit(&stream, 0, None, &["a"]);
        taking.claims = vec![claim("rev/1", project)];
        store.commit(taking.clone()).await.unwrap();
        assert_eq!(store.claim(&scope, "rev/1").await.unwrap().as_deref(), Some(project));
        assert_eq!(store.claim(&scope, "rev/10").await.unwrap(), None);
        let mut again = commit(&stream, 1, None, &["b"]);
        again.claims = taking.claims;
        assert_eq!(store.commit(again).await.unwrap_err().code(), "CLAIM_TAKEN");
    }
}
