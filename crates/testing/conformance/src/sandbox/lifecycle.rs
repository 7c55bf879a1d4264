//! Allocation, staging, cancelling, destroying, and what each answers.

use std::collections::BTreeSet;
use std::sync::Arc;

use ambit_gates::Ending;
use ambit_ids::{Digest, LeaseId};
use ambit_ports::AbortHandle;
use ambit_ports::sandbox::{
    BatchFileKind, Cancellation, CapabilityManifest, FileBatch, Isolation, Lives, PreviewGrant,
    PreviewPolicy, ProbeFamily, SandboxError, SandboxSpec,
};
use ambit_run::StopReason;

use super::bench::never;
use super::gated::Gated;
use super::{Bench, PROMPT, Staged};

/// The manifest is complete and every claim rests on probes of all six families.
pub async fn the_manifest_is_measured(bench: &Bench) {
    let manifest = bench.port.inspect_capabilities().await.expect("the backend can be measured");
    // First: what the manifest claims follows from it, and tells less.
    let failed: Vec<_> = manifest.evidence_probes.iter().filter(|probe| !probe.passed).collect();
    assert!(failed.is_empty(), "{failed:?}");
    assert_eq!(&manifest.backend_id, bench.port.backend_id());
    assert_eq!(manifest.isolation, Isolation::DedicatedSandboxPerRun);
    assert_eq!(manifest.cancellation, Cancellation::ProcessStopThenDestroy);
    assert!(!manifest.adapter_version.is_empty());
    let passed: BTreeSet<ProbeFamily> =
        manifest.evidence_probes.iter().filter(|probe| probe.passed).map(|probe| probe.family).collect();
    assert_eq!(passed.len(), 6, "{:?}", manifest.evidence_probes);
    let ids: Vec<&str> = manifest.evidence_probes.iter().map(|probe| probe.id.as_str()).collect();
    assert!(ids.is_sorted() && ids.iter().collect::<BTreeSet<_>>().len() == ids.len(), "{ids:?}");
    let encoded = ambit_canonical::encode(&manifest).expect("a manifest has canonical bytes");
    let read: CapabilityManifest = ambit_canonical::decode(encoded.as_bytes(), 1 << 20).unwrap();
    assert_eq!(read, manifest);
}

/// Asking twice for one run is asking once; another run gets another sandbox.
pub async fn a_run_has_one_sandbox(bench: &Bench) {
    let first = bench.staged("lifecycle-one").await;
    let again = bench.port.allocate(bench.spec("lifecycle-one")).await.unwrap();
    assert_eq!(again, first.lease);
    let other = bench.staged("lifecycle-two").await;
    assert_ne!(other.lease.lease, first.lease.lease);
    assert_ne!(other.lease.incarnation, first.lease.incarnation);

    assert_eq!(bench.probe(&first, &["write", "/tmp/mine", "x"]).await.ending, Ending::Exited { code: 0 });
    bench.refused(&other, &["read", "/tmp/mine"], &[2]).await;
    bench.destroy(&first).await;
    bench.allowed(&other, &["loopback"]).await;
    bench.destroy(&other).await;
}

/// There is no image but by its digest, and a run keeps the one that it started with.
pub async fn an_image_is_named_by_its_digest(bench: &Bench) {
    let mut spec = bench.spec("lifecycle-image");
    spec.image = Digest::of(b"an image that nobody has");
    let refused = bench.port.allocate(spec.clone()).await;
    assert!(matches!(&refused, Err(SandboxError::Image(_))), "{refused:?}");
    let staged = bench.staged("lifecycle-image").await;
    let refused = bench.port.allocate(spec).await;
    assert!(matches!(&refused, Err(SandboxError::Conflict(_) | SandboxError::Image(_))), "{refused:?}");
    bench.allowed(&staged, &["loopback"]).await;
    bench.destroy(&staged).await;
}

/// A command runs on exactly the tree that it names, each time anew.
pub async fn every_execution_starts_from_the_tree(bench: &Bench) {
    let staged = bench.staged("lifecycle-tree").await;
    for _ in 0..2 {
        let seen = bench.probe(&staged, &["list", "/workspace"]).await.stdout.head;
        let names: BTreeSet<&str> = seen.lines().filter(|line| !line.starts_with("ok ")).collect();
        assert_eq!(names, BTreeSet::from(["probe", "sub"]));
        assert_eq!(bench.probe(&staged, &["read", "/workspace/sub/file"]).await.stdout.head, "contentok 7\n");
        bench.refused(&staged, &["read", "/tmp/trace"], &[2]).await;
        bench.allowed(&staged, &["write", "/workspace/new", "x"]).await;
        bench.allowed(&staged, &["write", "/workspace/sub/file", "changed"]).await;
        bench.allowed(&staged, &["write", "/tmp/trace", "x"]).await;
    }
    let mut unknown = bench.command(&staged, &["exit", "0"]);
    unknown.tree = Digest::of(b"a tree that nobody brought");
    let refused = bench.port.execute_named(&staged.lease, unknown.clone(), never()).await;
    assert!(matches!(refused, Err(SandboxError::TreeMissing(tree)) if tree == unknown.tree), "{refused:?}");
    bench.destroy(&staged).await;
}

/// Bringing a tree that is given up halfway is in the way of nobody, and two that bring the same at once bring it once.
pub async fn a_tree_arrives_whole_or_again(bench: &Bench) {
    let gate = Gated::around(&bench.blobs);
    let spec = SandboxSpec { blobs: Arc::new(gate.clone()), ..bench.spec("lifecycle-halfway") };
    let lease = bench.port.allocate(spec).await.unwrap();
    let tree = bench.batch().await.tree;
    let bring = |batch| {
        let (port, lease) = (Arc::clone(&bench.port), lease.clone());
        tokio::spawn(async move { port.write_files(&lease, batch).await })
    };
    let given_up = bring(bench.batch().await);
    gate.reached(1).await;
    given_up.abort();
    assert!(given_up.await.unwrap_err().is_cancelled());
    let both = [bring(bench.batch().await), bring(bench.batch().await)];
    tokio::time::timeout(PROMPT, gate.reached(2)).await.expect("both begin where the first one ended");
    gate.open();
    for brought in both {
        assert_eq!(brought.await.unwrap().expect("the tree arrives").tree, tree);
    }
    let staged = Staged { lease, tree };
    assert_eq!(bench.probe(&staged, &["read", "/workspace/sub/file"]).await.stdout.head, "contentok 7\n");
    bench.destroy(&staged).await;
}

/// The same tree can come twice; other files under its name, or files that contradict each other, are refused.
pub async fn a_tree_is_what_it_first_was(bench: &Bench) {
    let staged = bench.staged("lifecycle-batch").await;
    bench.port.write_files(&staged.lease, bench.batch().await).await.expect("the same tree again");
    let mut changed = bench.batch().await;
    changed.files[1] = bench.file("sub/file", BatchFileKind::File, b"other").await;
    let refused = bench.port.write_files(&staged.lease, changed).await;
    assert!(matches!(refused, Err(SandboxError::TreeMismatch { expected, .. }) if expected == staged.tree));

    let link = bench.file("a", BatchFileKind::Link, b"/etc").await;
    let below = bench.file("a/b", BatchFileKind::File, b"x").await;
    let unsorted = vec![below.clone(), link.clone()];
    for files in [vec![link.clone(), below], unsorted, vec![link.clone(), link]] {
        let batch = FileBatch { tree: Digest::of(b"a tree that contradicts itself"), files };
        assert!(bench.port.write_files(&staged.lease, batch).await.is_err());
    }
    bench.destroy(&staged).await;
}

/// Cancelling stops every process, from the lease alone and as often as asked; what is left is a sandbox that is gone.
pub async fn cancel_stops_everything(bench: &Bench) {
    let staged = bench.staged("lifecycle-cancel").await;
    let reason = StopReason::CustomerCancelled;
    // Whichever comes first, the command ends, and never well.
    let command = bench.command(&staged, &["family", "3"]);
    let (ran, receipt) = tokio::join!(
        bench.port.execute_named(&staged.lease, command, never()),
        bench.port.cancel(&staged.lease, &reason)
    );
    assert!(ran.is_err() || ran.is_ok_and(|seen| seen.ending == Ending::Aborted));
    let receipt = receipt.expect("the sandbox is cancelled");
    assert_eq!((receipt.remaining_processes, &receipt.incarnation), (0, &staged.lease.incarnation));
    let gone = bench.port.execute_named(&staged.lease, bench.command(&staged, &["exit", "0"]), never()).await;
    assert!(matches!(&gone, Err(SandboxError::Gone(lease)) if *lease == staged.lease.lease), "{gone:?}");
    let again = bench.port.cancel(&staged.lease, &reason).await.expect("cancelling what is cancelled");
    assert_eq!((again.killed_processes, again.remaining_processes), (0, 0));

    let next = bench.staged("lifecycle-cancel").await;
    assert_eq!(next.lease.lease, staged.lease.lease);
    assert_ne!(next.lease.incarnation, staged.lease.incarnation);
    // The earlier life is over; nobody ends the later one by it.
    bench.port.cancel(&staged.lease, &reason).await.unwrap();
    assert!(bench.port.destroy(&staged.lease, Lives::Named).await.unwrap().is_proof());
    bench.allowed(&next, &["loopback"]).await;
    // Where the answer to an allocation was lost, nobody knows the name of the life that it began.
    assert!(bench.port.destroy(&staged.lease, Lives::Every).await.unwrap().is_proof());
    let gone = bench.port.execute_named(&next.lease, bench.command(&next, &["exit", "0"]), never()).await;
    assert!(matches!(&gone, Err(SandboxError::Gone(_))), "{gone:?}");
}

/// An abort ends the whole tree of processes at once, and the observation says so.
pub async fn an_abort_ends_the_command(bench: &Bench) {
    let staged = bench.staged("lifecycle-abort").await;
    for words in [&["sleep"][..], &["family", "8"], &["spin"]] {
        let (handle, signal) = AbortHandle::new();
        let started = std::time::Instant::now();
        let running = bench.port.execute_named(&staged.lease, bench.command(&staged, words), signal);
        let (seen, ()) = tokio::join!(running, async {
            tokio::task::yield_now().await;
            handle.abort();
        });
        let seen = seen.expect("an abort is an end, not a failure");
        assert_eq!(seen.ending, Ending::Aborted, "{words:?}");
        assert!(started.elapsed() < PROMPT, "{words:?} took {:?}", started.elapsed());
    }
    // The sandbox goes on: only the command was aborted.
    assert_eq!(bench.attempt(&staged, &["call", "39"]).await.split(' ').next(), Some("ok"));
    bench.destroy(&staged).await;
}

/// Destroying leaves nothing, proves it, and can be repeated; the run can then have a new sandbox.
pub async fn destroy_leaves_nothing(bench: &Bench) {
    let staged = bench.staged("lifecycle-destroy").await;
    bench.probe(&staged, &["orphans", "2"]).await;
    bench.destroy(&staged).await;
    let gone = bench.port.execute_named(&staged.lease, bench.command(&staged, &["exit", "0"]), never()).await;
    assert!(matches!(gone, Err(SandboxError::Gone(_))), "{gone:?}");
    let gone = bench.port.write_files(&staged.lease, bench.batch().await).await;
    assert!(matches!(gone, Err(SandboxError::Gone(_))));
    bench.destroy(&staged).await;
    let next = bench.staged("lifecycle-destroy").await;
    assert_ne!(next.lease.incarnation, staged.lease.incarnation);
    bench.destroy(&next).await;
}

/// Fifty askers for one run get one sandbox, and it works.
pub async fn fifty_askers_get_one_sandbox(bench: &Bench) {
    let mut askers = Vec::new();
    for _ in 0..50 {
        let (port, spec) = (bench.port.clone(), bench.spec("lifecycle-fifty"));
        askers.push(tokio::spawn(async move { port.allocate(spec).await }));
    }
    let mut leases = BTreeSet::new();
    for asker in askers {
        let lease = asker.await.unwrap().expect("every asker gets an answer");
        leases.insert((lease.lease.to_string(), lease.incarnation.to_string()));
    }
    assert_eq!(leases.len(), 1, "{leases:?}");
    let staged = bench.staged("lifecycle-fifty").await;
    bench.allowed(&staged, &["loopback"]).await;
    bench.destroy(&staged).await;
}

/// A preview is denied without a grant, and ending one that never was has a receipt.
pub async fn a_preview_needs_a_grant(bench: &Bench) {
    let staged = bench.staged("lifecycle-preview").await;
    let denied = bench.port.expose_preview(&staged.lease, PreviewPolicy { port: 8080, grant: None }).await;
    assert!(matches!(denied, Err(SandboxError::PreviewDenied)), "{denied:?}");
    let grant = PreviewGrant {
        incarnation: staged.lease.incarnation.clone(),
        lease: staged.lease.lease.clone(),
        port: 8080,
    };
    let receipt = bench.port.revoke_preview(&grant).await.unwrap();
    assert_eq!((&receipt.lease, receipt.was_exposed), (&staged.lease.lease, false));
    bench.destroy(&staged).await;
}

/// A lease that nobody has is gone, and can be cancelled and destroyed.
pub async fn an_unknown_lease_is_gone(bench: &Bench) {
    let mut staged = bench.staged("lifecycle-unknown").await;
    bench.destroy(&staged).await;
    staged.lease.lease = LeaseId::new("lease_nobodyhasthis").unwrap();
    let gone = bench.port.execute_named(&staged.lease, bench.command(&staged, &["exit", "0"]), never()).await;
    assert!(matches!(gone, Err(SandboxError::Gone(_))), "{gone:?}");
    bench.port.cancel(&staged.lease, &StopReason::CustomerCancelled).await.unwrap();
    bench.destroy(&staged).await;
}
