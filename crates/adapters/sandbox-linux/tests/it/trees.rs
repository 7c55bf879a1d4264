//! A tree is written once for all leases of its tenant, and is nobody's to change.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ambit_conformance::sandbox::{Bench, PROMPT, Staged};
use ambit_gates::Ending;
use ambit_ids::Scope;
use ambit_ports::AbortHandle;
use ambit_ports::blobs::BlobStore as _;
use ambit_ports::sandbox::{FileBatch, SandboxError};
use ambit_sandbox_linux::{LinuxSandboxes, PROBER};
use bytes::Bytes;

use crate::support::{adapter, bench, image_digest, volumes};

/// The trees that leases share; none where this user cannot share any.
fn shared(directory: &Path) -> usize {
    std::fs::read_dir(directory.join("state/trees")).unwrap().count()
}

fn can_share() -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        println!("skipped: NOT_ROOT an ordinary user's trees are written for every lease");
    }
    root
}

/// What a file holds; the prober says a word of its own after it.
async fn reads(bench: &Bench, staged: &Staged, file: &str) -> String {
    let said = bench.probe(staged, &["read", file]).await.stdout.head;
    said.rsplit_once("ok ").map_or(said.clone(), |(content, _)| content.to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn leases_share_a_tree_and_see_nothing_of_each_other() {
    if !can_share() {
        return;
    }
    let (bench, directory) = bench();
    let (one, other) = (bench.staged("trees-one").await, bench.staged("trees-other").await);
    assert_eq!(shared(directory.path()), 1);
    // Each writes over a file of the tree that both have, in one and the same command's workspace.
    for staged in [&one, &other] {
        let told = bench.probe(staged, &["read", "/proc/self/mountinfo"]).await.stdout.artifact;
        let mounts = String::from_utf8(bench.blob(told).await.to_vec()).unwrap();
        assert!(mounts.contains(" /workspace ") && mounts.contains(" - overlay "), "a copy: {mounts}");
        let wrote = bench.attempt(staged, &["write", "/workspace/sub/file", "mine"]).await;
        assert!(wrote.starts_with("ok"), "{wrote}");
        assert_eq!(reads(&bench, staged, "/workspace/sub/file").await, "content");
    }
    bench.destroy(&one).await;
    assert_eq!(reads(&bench, &other, "/workspace/sub/file").await, "content");
    bench.destroy(&other).await;
    assert_eq!(shared(directory.path()), 1, "a tree goes with a lease");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tree_of_one_tenant_is_none_of_another() {
    if !can_share() {
        return;
    }
    let (bench, directory) = bench();
    let mine = bench.staged("trees-mine").await;
    let mut spec = bench.spec("trees-theirs");
    spec.scope = Scope { organization: "other".parse().unwrap(), ..Bench::scope() };
    let batch = bench.batch().await;
    for file in &batch.files {
        let content = bench.blobs.get(&Bench::scope(), file.content, file.size).await.unwrap();
        bench.blobs.put(&spec.scope, content).await.unwrap();
    }
    let theirs = bench.staged_from(spec).await;
    assert_eq!(shared(directory.path()), 2);
    bench.destroy(&mine).await;
    bench.destroy(&theirs).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_files_under_the_name_of_a_shared_tree_stay_their_leases_own() {
    let (bench, _directory) = bench();
    let one = bench.staged("trees-first").await;
    let lease = bench.port.allocate(bench.spec("trees-second")).await.unwrap();
    let mut files = bench.batch().await.files;
    files.truncate(1);
    bench.port.write_files(&lease, FileBatch { tree: one.tree, files: files.clone() }).await.unwrap();
    let second = Staged { lease, tree: one.tree };
    let read = bench.probe(&second, &["read", "/workspace/sub/file"]).await;
    assert_ne!(read.ending, Ending::Exited { code: 0 }, "the files of another batch: {:?}", read.stdout.head);
    assert_eq!(reads(&bench, &one, "/workspace/sub/file").await, "content");
    // Within one lease a name has one meaning.
    let again = bench.port.write_files(&one.lease, FileBatch { tree: one.tree, files }).await;
    assert!(matches!(again, Err(SandboxError::TreeMismatch { .. })));
    let run =
        bench.port.execute_named(&second.lease, bench.command(&second, &["exit", "7"]), AbortHandle::new().1);
    assert_eq!(run.await.unwrap().ending, Ending::Exited { code: 7 });
    bench.destroy(&one).await;
    bench.destroy(&second).await;
}

/// Ends a sandbox, and waits until there is a slot for the next.
async fn end_and_refill(bench: &Bench, port: &LinuxSandboxes, staged: &Staged) {
    bench.destroy(staged).await;
    let refilled = async {
        while port.pool_counts().waiting == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PROMPT, refilled).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slot_has_the_tree_that_its_tenant_will_likely_bring_and_nobody_else_sees_it() {
    if !can_share() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("image")).unwrap();
    let port = Arc::new(adapter(directory.path().join("state"), directory.path().join("image")));
    let bench = Bench::new(port.clone(), image_digest(), volumes(), Bytes::from_static(PROBER));
    // Two show which tree it will be, and a slot may have been on the way by then.
    let mut like = bench.staged("trees-like").await;
    for number in 0..10 {
        if port.pool_counts().foreseen > 0 {
            break;
        }
        end_and_refill(&bench, &port, &like).await;
        like = bench.staged(&format!("trees-like-{number}")).await;
    }
    assert_eq!(port.pool_counts().foreseen, 1);
    let wrote = bench.attempt(&like, &["write", "/workspace/sub/file", "mine"]).await;
    assert!(wrote.starts_with("ok"), "{wrote}");
    assert_eq!(reads(&bench, &like, "/workspace/sub/file").await, "content");
    end_and_refill(&bench, &port, &like).await;

    // Other files under the same name are what their lease sees.
    let lease = bench.port.allocate(bench.spec("trees-unlike")).await.unwrap();
    let mut files = bench.batch().await.files;
    files.truncate(1);
    bench.port.write_files(&lease, FileBatch { tree: like.tree, files }).await.unwrap();
    let unlike = Staged { lease, tree: like.tree };
    assert_eq!((port.pool_counts().foreseen, port.pool_counts().misses), (1, 1), "a slot with the tree");
    let read = bench.probe(&unlike, &["read", "/workspace/sub/file"]).await;
    assert_ne!(
        read.ending,
        Ending::Exited { code: 0 },
        "the files that were foreseen: {:?}",
        read.stdout.head
    );
    end_and_refill(&bench, &port, &unlike).await;

    // Another tenant is not served with it.
    let mut spec = bench.spec("trees-another");
    spec.scope = Scope { organization: "another".parse().unwrap(), ..Bench::scope() };
    let theirs = bench.port.allocate(spec).await.unwrap();
    assert_eq!((port.pool_counts().foreseen, port.pool_counts().misses), (1, 2), "one made for them");
    bench.destroy(&Staged { lease: theirs, tree: like.tree }).await;
}
