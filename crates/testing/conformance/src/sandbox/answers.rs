//! What every answer is about, what may be asked twice, and what a lost answer costs: nothing.

use ambit_ids::{Incarnation, LeaseId, ReceiptId};
use ambit_ports::AbortHandle;
use ambit_ports::sandbox::{Lives, PreviewGrant, PreviewPolicy, SandboxError, SandboxLease};
use ambit_run::StopReason;

use super::Bench;
use super::bench::never;

const REASON: StopReason = StopReason::CustomerCancelled;

/// Every answer about a lease names the life that it is true of, and a life that never was is gone.
pub async fn every_answer_names_its_life(bench: &Bench) {
    let staged = bench.staged("answers-life").await;
    let life = &staged.lease.incarnation;
    let receipt = bench.port.write_files(&staged.lease, bench.batch().await).await.unwrap();
    assert_eq!(&receipt.incarnation, life);
    assert_eq!(&bench.probe(&staged, &["exit", "0"]).await.incarnation, life);

    let invented = Incarnation::new("inc_that-never-was").unwrap();
    let other = SandboxLease { incarnation: invented.clone(), ..staged.lease.clone() };
    let gone = bench.port.write_files(&other, bench.batch().await).await;
    assert!(matches!(&gone, Err(SandboxError::Gone(lease)) if *lease == other.lease), "{gone:?}");
    let gone = bench.port.execute_named(&other, bench.command(&staged, &["exit", "0"]), never()).await;
    assert!(matches!(&gone, Err(SandboxError::Gone(lease)) if *lease == other.lease), "{gone:?}");
    let cancelled = bench.port.cancel(&other, &REASON).await.unwrap();
    assert_eq!((&cancelled.lease, &cancelled.incarnation), (&other.lease, &invented));
    let destroyed = bench.port.destroy(&other, Lives::Named).await.unwrap();
    assert_eq!((&destroyed.lease, &destroyed.incarnation), (&other.lease, &invented));
    bench.allowed(&staged, &["loopback"]).await;

    let cancelled = bench.port.cancel(&staged.lease, &REASON).await.unwrap();
    assert_eq!((&cancelled.lease, &cancelled.incarnation), (&staged.lease.lease, life));
    bench.destroy(&staged).await;
}

/// Whoever lost an answer asks again, and there is one sandbox, one tree and no command beside another.
pub async fn a_lost_answer_is_learned_by_asking_again(bench: &Bench) {
    // The asker is gone at some moment of the work, which goes on or does not.
    for yields in [0, 1, 2, 4, 8, 64] {
        let asking = bench.port.allocate(bench.spec("answers-lost"));
        tokio::select! {
            biased;
            () = some(yields) => {}
            answered = asking => { answered.unwrap(); }
        }
        let staged = bench.staged("answers-lost").await;
        let again = bench.port.allocate(bench.spec("answers-lost")).await.unwrap();
        assert_eq!(again, staged.lease);
        let writing = bench.port.write_files(&staged.lease, bench.batch().await);
        tokio::select! {
            biased;
            () = some(yields) => {}
            answered = writing => { answered.unwrap(); }
        }
        bench.port.write_files(&staged.lease, bench.batch().await).await.unwrap();
        bench.allowed(&staged, &["loopback"]).await;
        bench.destroy(&staged).await;
    }
    let staged = bench.staged("answers-lost").await;
    let running = bench.port.execute_named(&staged.lease, bench.command(&staged, &["sleep"]), never());
    tokio::select! {
        biased;
        () = some(64) => {}
        seen = running => panic!("a command that sleeps ended: {seen:?}"),
    }
    let receipt = bench.port.cancel(&staged.lease, &REASON).await.unwrap();
    assert_eq!(receipt.remaining_processes, 0);
    bench.destroy(&staged).await;
}

async fn some(yields: u32) {
    for _ in 0..yields {
        tokio::task::yield_now().await;
    }
}

/// A lease can be cancelled and destroyed in whatever state it is, over and over.
pub async fn a_lease_ends_from_every_state(bench: &Bench) {
    let end = async |lease: &SandboxLease| {
        for _ in 0..2 {
            let receipt =
                bench.port.cancel(lease, &REASON).await.expect("whatever is there can be cancelled");
            assert_eq!((receipt.remaining_processes, &receipt.incarnation), (0, &lease.incarnation));
        }
        for lives in [Lives::Named, Lives::Named, Lives::Every] {
            let receipt = bench.port.destroy(lease, lives).await.expect("whatever is there can be destroyed");
            assert!(receipt.is_proof(), "{receipt:?}");
        }
        let again = bench.port.cancel(lease, &REASON).await.unwrap();
        assert_eq!((again.killed_processes, again.remaining_processes), (0, 0));
    };
    // Without a tree.
    let lease = bench.port.allocate(bench.spec("answers-end")).await.unwrap();
    end(&lease).await;
    // One that was never allocated.
    end(&SandboxLease { lease: LeaseId::new("lease_neverallocated").unwrap(), ..lease }).await;
    // Before its first command, after one, and while one runs.
    end(&bench.staged("answers-end").await.lease).await;
    let staged = bench.staged("answers-end").await;
    bench.probe(&staged, &["orphans", "2"]).await;
    end(&staged.lease).await;
    let staged = bench.staged("answers-end").await;
    let command = bench.command(&staged, &["family", "2"]);
    let (seen, ()) = tokio::join!(bench.port.execute_named(&staged.lease, command, never()), async {
        some(8).await;
        end(&staged.lease).await;
    });
    assert!(!seen.is_ok_and(|seen| seen.ending.is_success()), "a command that was ended is no success");
    // After an abort.
    let staged = bench.staged("answers-end").await;
    let (handle, signal) = AbortHandle::new();
    handle.abort();
    let _ = bench.port.execute_named(&staged.lease, bench.command(&staged, &["sleep"]), signal).await;
    end(&staged.lease).await;
}

/// Where previews are disabled no grant opens one, in no state of a lease, and ending what never was has a receipt.
pub async fn no_grant_opens_a_disabled_preview(bench: &Bench) {
    let staged = bench.staged("answers-preview").await;
    let grant = PreviewGrant {
        incarnation: staged.lease.incarnation.clone(),
        lease: staged.lease.lease.clone(),
        port: 8080,
    };
    let receipt = ReceiptId::new("apr_000001").unwrap();
    for is_gone in [false, true] {
        if is_gone {
            bench.destroy(&staged).await;
        }
        for policy in [None, Some(receipt.clone())].map(|grant| PreviewPolicy { port: 8080, grant }) {
            let denied = bench.port.expose_preview(&staged.lease, policy).await;
            assert!(matches!(denied, Err(SandboxError::PreviewDenied)), "{denied:?}");
        }
        let revoked = bench.port.revoke_preview(&grant).await.unwrap();
        assert_eq!((&revoked.lease, revoked.was_exposed), (&staged.lease.lease, false));
    }
}
