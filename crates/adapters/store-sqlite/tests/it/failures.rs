//! The storage fails. Each failure is told from the others, and what was true before stays true.

use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use ambit_conformance::children::{DISK, arguments, on_a_small_disk, said_by};
use ambit_conformance::store::sample::{canonical, commit, project_stream};
use ambit_ids::ByteCount;
use ambit_ports::store::{Seq, Store as _, StoreError};
use ambit_store_sqlite::{SqliteStore, StoreOptions};

use crate::place::Place;

/// Commits large records until one is refused, and answers how many were taken and the refusal.
async fn fill(store: &SqliteStore) -> (u64, StoreError) {
    let text = "x".repeat(30_000);
    for at in 0..10_000 {
        if let Err(refusal) = store.commit(commit(&project_stream(), at, None, &[&text])).await {
            return (at, refusal);
        }
    }
    panic!("the store never filled up");
}

#[tokio::test]
async fn a_store_at_its_size_limit_is_full_and_readable() {
    let place = Place::new();
    let options = StoreOptions { size_limit: Some(ByteCount::new(1 << 20)), ..StoreOptions::default() };
    let store = SqliteStore::open(&place.file("store"), options).unwrap();
    let (taken, refusal) = fill(&store).await;
    assert_eq!(refusal.code(), "STORAGE_FULL", "{refusal:?}");
    assert!(taken > 10, "{taken}");
    assert_eq!(store.read(&project_stream(), Seq(0), 9_999).await.unwrap().len() as u64, taken);
    assert_eq!(store.head(&project_stream()).await.unwrap().unwrap().seq, Seq(taken - 1));
    drop(store);
    let roomy = place.open("store");
    roomy.commit(commit(&project_stream(), taken, None, &["room again"])).await.unwrap();
}

/// One commit that finds no room takes no other down that shared its transaction.
#[tokio::test(flavor = "multi_thread")]
async fn a_full_store_still_takes_what_fits() {
    let place = Place::new();
    let options = StoreOptions { size_limit: Some(ByteCount::new(1 << 20)), ..StoreOptions::default() };
    let store = std::sync::Arc::new(SqliteStore::open(&place.file("store"), options).unwrap());
    let (taken, _) = fill(&store).await;
    let large = "x".repeat(30_000);
    let mut waiting = tokio::task::JoinSet::new();
    for number in 0..60_u64 {
        let store = std::sync::Arc::clone(&store);
        let large = commit(&project_stream(), taken, None, &[&large]);
        waiting.spawn(async move {
            if number % 2 == 0 {
                ("large", store.commit(large).await.map_err(|error| error.code()))
            } else {
                let sent = store.send(&project_stream(), canonical("small")).await;
                ("small", sent.map(|_| ()).map_err(|error| error.code()))
            }
        });
    }
    let outcomes = waiting.join_all().await;
    assert!(outcomes.iter().filter(|(size, _)| *size == "large").all(|(_, o)| *o == Err("STORAGE_FULL")));
    let small = outcomes.iter().filter(|(size, outcome)| *size == "small" && outcome.is_ok()).count();
    assert!(small > 0, "{outcomes:?}");
    assert_eq!(store.inbox(&project_stream()).await.unwrap().len(), small);
}

/// A real disk without room.
#[test]
fn a_full_disk_is_told_and_changes_nothing() {
    let place = Place::new();
    match on_a_small_disk("failures::child_on_a_full_disk", place.directory()) {
        Some(text) => assert!(text.contains("full after "), "{text}"),
        None => println!("skipped: NO_USER_NAMESPACES a_full_disk_is_told_and_changes_nothing"),
    }
}

#[tokio::test]
#[ignore = "a_full_disk_is_told_and_changes_nothing runs it on a small file system"]
async fn child_on_a_full_disk() {
    let path = Path::new(&std::env::var_os(DISK).expect("only a parent test runs this")).join("store");
    let store = SqliteStore::open(&path, StoreOptions::default()).unwrap();
    let (taken, refusal) = fill(&store).await;
    assert_eq!(refusal.code(), "STORAGE_FULL", "{refusal:?}");
    assert_eq!(store.read(&project_stream(), Seq(0), 9_999).await.unwrap().len() as u64, taken);
    drop(store);
    let store = SqliteStore::open(&path, StoreOptions::default()).unwrap();
    assert_eq!(store.read(&project_stream(), Seq(0), 9_999).await.unwrap().len() as u64, taken);
    println!("full after {taken}");
}

#[tokio::test]
async fn a_store_that_another_holds_is_busy_after_the_wait() {
    let place = Place::new();
    let options = StoreOptions { busy_wait: Duration::from_millis(30), ..StoreOptions::default() };
    let store = SqliteStore::open(&place.file("store"), options).unwrap();
    let holder = place.client("store");
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refusal = store.commit(commit(&project_stream(), 0, None, &["a"])).await.unwrap_err();
    assert_eq!(refusal.code(), "STORE_BUSY", "{refusal:?}");
    assert_eq!(store.head(&project_stream()).await.unwrap(), None, "readers do not wait");
    holder.execute_batch("COMMIT").unwrap();
    store.commit(commit(&project_stream(), 0, None, &["a"])).await.unwrap();
}

/// Permissions mean nothing to root, so that the child is nobody where this is root.
#[test]
fn a_store_that_may_only_be_read_is_refused() {
    let place = Place::new();
    drop(place.open("store"));
    let everyone = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    everyone(&place.file("store"), 0o444);
    everyone(place.directory(), 0o777);
    let program = place.file("program");
    // By another process: what a thread beside this one has open for writing in its new child cannot be executed.
    assert!(
        Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&program).status().unwrap().success()
    );
    everyone(&program, 0o755);
    let mut command = Command::new(&program);
    if rustix::process::geteuid().is_root() {
        command.uid(65_534).gid(65_534);
    }
    command.args(arguments("failures::child_without_permission")).env("AMBIT_CHILD_PLACE", place.directory());
    let text = said_by(&mut command);
    assert!(text.contains("refused with STORE_READ_ONLY"), "{text}");
}

#[test]
#[ignore = "a_store_that_may_only_be_read_is_refused runs it as somebody else"]
fn child_without_permission() {
    let place = PathBuf::from(std::env::var_os("AMBIT_CHILD_PLACE").expect("only a parent test runs this"));
    let code = |name: &str| match SqliteStore::open(&place.join(name), StoreOptions::default()) {
        Ok(_) => "nothing",
        Err(error) => error.code(),
    };
    assert_eq!(code("a new one"), "nothing", "the control: the directory may be written to");
    println!("refused with {}", code("store"));
}

#[tokio::test]
async fn a_damaged_store_says_so() {
    let place = Place::new();
    let store = place.open("store");
    for at in 0..50 {
        store.commit(commit(&project_stream(), at, None, &[&"x".repeat(2_000)])).await.unwrap();
    }
    drop(store);
    let file = std::fs::OpenOptions::new().write(true).open(place.file("store")).unwrap();
    let pages = file.metadata().unwrap().len() / 4_096;
    assert!(pages > 40, "the log was written back: {pages}");
    for page in 20..pages {
        file.write_all_at(&[0xa5; 4_096], page * 4_096).unwrap();
    }
    drop(file);
    let store = place.open("store");
    let refusal = store.read(&project_stream(), Seq(0), 100).await.unwrap_err();
    assert_eq!(refusal.code(), "STORE_DAMAGED", "{refusal:?}");
}

/// Rows that were deleted after the triggers were dropped are missed, and nothing is appended after the gap.
#[tokio::test]
async fn a_gap_is_damage() {
    let place = Place::new();
    let store = place.open("store");
    store.commit(commit(&project_stream(), 0, None, &["a", "b", "c", "d"])).await.unwrap();
    let client = place.client("store");
    client
        .execute_batch("DROP TRIGGER record_guards_deletion; DELETE FROM record WHERE seq IN (1, 3)")
        .unwrap();
    let refusal = store.read(&project_stream(), Seq(0), 9).await.unwrap_err();
    assert_eq!(refusal.code(), "STORE_DAMAGED", "{refusal:?}");
    let refusal = store.commit(commit(&project_stream(), 4, None, &["e"])).await.unwrap_err();
    assert_eq!(refusal.code(), "STORE_DAMAGED", "the tail was cut: {refusal:?}");
}
