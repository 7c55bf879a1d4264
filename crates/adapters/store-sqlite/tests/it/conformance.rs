use ambit_conformance::{leases, store};

use crate::place::{Place, dump};

#[tokio::test(flavor = "multi_thread")]
async fn the_suite_of_stores_passes() {
    let place = Place::new();
    store::suite(|name| place.open(name)).await;
}

// proves E-O02
// break crates/adapters/store-sqlite/src/leases.rs: `Some(lease) if lease.owner == owner => lease.fence,` -> `Some(lease) if lease.owner != owner => lease.fence,`
#[tokio::test(flavor = "multi_thread")]
async fn the_suite_of_leases_passes() {
    let place = Place::new();
    leases::suite(|name| place.open(name)).await;
}

// proves E-A10
// break crates/adapters/store-sqlite/src/records.rs: `WHERE organization = ? AND project = ? AND id > ? ORDER BY id LIMIT ?` -> `WHERE ?1 <> '' AND ?2 <> '' AND id > ? ORDER BY id LIMIT ?`
#[tokio::test(flavor = "multi_thread")]
async fn another_owner_sees_nothing() {
    let place = Place::new();
    store::another_owner_sees_nothing(&|name: &str| place.open(name)).await;
}

// proves E-A10
// break crates/adapters/store-sqlite/src/inbox.rs: `DELETE FROM inbox WHERE id = ? AND organization = ? AND project = ? AND run = ?` -> `DELETE FROM inbox WHERE id = ?1 AND ?2 <> '' AND ?3 <> '' AND ?4 <> ''`
#[tokio::test(flavor = "multi_thread")]
async fn another_owner_takes_nothing() {
    let place = Place::new();
    store::another_owner_takes_nothing(&|name: &str| place.open(name)).await;
}

// proves D1
// break crates/adapters/store-sqlite/src/commit.rs: `if let Some(holder) = holder {` -> `if let Some(holder) = holder.filter(|_| false) {`
#[tokio::test(flavor = "multi_thread")]
async fn one_of_many_claimers_wins() {
    let place = Place::new();
    store::one_of_many_claimers_wins(&|name: &str| place.open(name)).await;
}

// proves D7
// break crates/adapters/store-sqlite/src/commit.rs: `if found != commit.expected {` -> `if found < commit.expected {`
#[tokio::test(flavor = "multi_thread")]
async fn one_of_many_committers_wins() {
    let place = Place::new();
    store::one_of_many_committers_wins(&|name: &str| place.open(name)).await;
}

// proves D7
// break crates/adapters/store-sqlite/src/commit.rs: `Some(newest) if newest > fence.0 => refuse(StoreError::Fenced(stream.clone())),` -> `Some(newest) if newest > fence.0 => Ok(()),`
#[tokio::test(flavor = "multi_thread")]
async fn an_older_fence_is_refused() {
    let place = Place::new();
    store::an_older_fence_is_refused(&|name: &str| place.open(name)).await;
}

/// The suite compares what the port shows. This compares every row of the file.
#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_leaves_every_row_as_it_was() {
    use ambit_ports::store::Store as _;
    use store::sample::{claim, commit, message, project_stream};

    let place = Place::new();
    let opened = place.open("rows");
    let mut first = commit(&project_stream(), 0, None, &["a"]);
    first.claims = vec![claim("name/taken", "first")];
    opened.commit(first).await.unwrap();
    let client = place.client("rows");
    let before = dump(&client);
    let mut second = commit(&project_stream(), 1, None, &["b", "c"]);
    second.outbox = vec![message("b")];
    second.claims = vec![claim("name/free", "second"), claim("name/taken", "second")];
    assert_eq!(opened.commit(second.clone()).await.unwrap_err().code(), "CLAIM_TAKEN");
    assert_eq!(dump(&client), before);
    second.claims.pop();
    opened.commit(second).await.unwrap();
    assert_eq!(dump(&client).len(), before.len() + 4, "two records, a claim and a message");
}
