//! The suite of [`StreamLeases`](ambit_ports::leases::StreamLeases).

use std::sync::Arc;

use ambit_ids::{DurationMs, UnixMs};
use ambit_ports::leases::{LeaseError, StreamLease, StreamLeases};
use tokio::task::JoinSet;

use crate::store::sample::{run_stream, scope};

const TTL: DurationMs = DurationMs::new(1_000);

/// Runs every check.
pub async fn suite<L, F>(open: F)
where
    L: StreamLeases + 'static,
    F: Fn(&str) -> L,
{
    a_live_lease_is_held(&open).await;
    a_lease_that_ended_is_lost(&open).await;
    a_released_lease_is_free(&open).await;
    who_holds_a_lease_can_be_read(&open).await;
    fences_grow_across_restarts(&open).await;
    one_of_many_owners_wins(&open).await;
}

async fn acquire<L: StreamLeases>(leases: &L, owner: &str, now: u64) -> Result<StreamLease, LeaseError> {
    leases.acquire(&run_stream(1), owner, UnixMs::new(now), TTL).await
}

/// While a lease is live nobody else gets one, to the last millisecond; its owner gets it renewed.
pub async fn a_live_lease_is_held<L: StreamLeases>(open: &impl Fn(&str) -> L) {
    let leases = open("held");
    let first = acquire(&leases, "a", 5_000).await.unwrap();
    assert_eq!((first.owner.as_str(), first.expires), ("a", UnixMs::new(6_000)));
    for now in [0, 5_000, 5_999] {
        match acquire(&leases, "b", now).await {
            Err(LeaseError::Held { stream, expires }) => {
                assert_eq!((stream, expires), (run_stream(1), UnixMs::new(6_000)));
            }
            other => panic!("{other:?}"),
        }
    }
    let again = acquire(&leases, "a", 5_500).await.unwrap();
    assert_eq!((again.fence, again.expires), (first.fence, UnixMs::new(6_500)));
    let renewed = leases.renew(&again, UnixMs::new(6_499), TTL).await.unwrap();
    assert_eq!((renewed.fence, renewed.expires), (first.fence, UnixMs::new(7_499)));
    assert!(acquire(&leases, "b", 7_498).await.is_err());
    assert!(acquire(&leases, "b", 7_499).await.unwrap().fence > first.fence);
    let elsewhere = ambit_ports::store::StreamId::Project(scope("acme", "shop"));
    assert!(leases.acquire(&elsewhere, "c", UnixMs::new(0), TTL).await.is_ok(), "another stream is free");
    assert!(acquire(&leases, "", 9_000).await.is_err(), "nobody is no owner");
}

/// An owner whose lease ended cannot renew it, taken over or not, and gets a greater fence when it asks anew.
pub async fn a_lease_that_ended_is_lost<L: StreamLeases>(open: &impl Fn(&str) -> L) {
    let leases = open("lost");
    let first = acquire(&leases, "a", 0).await.unwrap();
    let late = leases.renew(&first, UnixMs::new(1_000), TTL).await;
    assert!(matches!(late, Err(LeaseError::Lost(_))), "{late:?}");
    let second = acquire(&leases, "a", 1_000).await.unwrap();
    assert!(second.fence > first.fence, "it could have been taken over in between");
    assert!(
        leases.renew(&first, UnixMs::new(1_001), TTL).await.is_err(),
        "the earlier life of the same owner"
    );
    assert!(leases.renew(&second, UnixMs::new(1_001), TTL).await.is_ok());
    let never = StreamLease { stream: run_stream(2), ..second };
    assert!(matches!(leases.renew(&never, UnixMs::new(1_001), TTL).await, Err(LeaseError::Lost(_))));
    let endless =
        leases.acquire(&run_stream(3), "a", UnixMs::new(5), DurationMs::new(u64::MAX)).await.unwrap();
    assert!(endless.expires > UnixMs::new(1 << 60), "a span past the end of time does not wrap");
}

/// Whoever asks learns who holds a live lease, and may give it back for a holder that is dead.
pub async fn who_holds_a_lease_can_be_read<L: StreamLeases>(open: &impl Fn(&str) -> L) {
    let leases = open("holder");
    let stream = run_stream(1);
    let holder = |now| leases.holder(&stream, UnixMs::new(now));
    assert_eq!(holder(0).await.unwrap(), None, "nobody had it yet");
    let first = acquire(&leases, "a", 5_000).await.unwrap();
    assert_eq!(holder(5_999).await.unwrap(), Some(first.clone()));
    assert_eq!(leases.holder(&run_stream(2), UnixMs::new(5_999)).await.unwrap(), None, "another stream");
    assert_eq!(holder(6_000).await.unwrap(), None, "it ended");
    let found = open("holder").holder(&stream, UnixMs::new(5_100)).await.unwrap().unwrap();
    leases.release(&found).await.unwrap();
    assert_eq!(holder(5_200).await.unwrap(), None, "it was given back");
    assert!(acquire(&leases, "b", 5_200).await.unwrap().fence > first.fence);
}

/// What is given back is free at once; giving back what was lost takes nothing from its new owner.
pub async fn a_released_lease_is_free<L: StreamLeases>(open: &impl Fn(&str) -> L) {
    let leases = open("released");
    let first = acquire(&leases, "a", 0).await.unwrap();
    leases.release(&first).await.unwrap();
    let second = acquire(&leases, "b", 1).await.unwrap();
    assert!(second.fence > first.fence);
    leases.release(&first).await.unwrap();
    assert!(acquire(&leases, "c", 2).await.is_err(), "the late release took nothing");
    assert!(leases.renew(&second, UnixMs::new(2), TTL).await.is_ok());
}

/// A restart forgets neither a live lease nor the greatest fence.
pub async fn fences_grow_across_restarts<L: StreamLeases>(open: &impl Fn(&str) -> L) {
    let mut newest = None;
    for life in 0..5 {
        let leases = open("restarts");
        if life > 0 {
            assert!(acquire(&leases, "b", life * 2_000 - 1_001).await.is_err(), "still live");
        }
        let lease = acquire(&leases, "a", life * 2_000).await.unwrap();
        assert!(Some(lease.fence) > newest, "life {life}");
        newest = Some(lease.fence);
        if life % 2 == 1 {
            leases.release(&lease).await.unwrap();
            let again = acquire(&leases, "a", life * 2_000).await.unwrap();
            assert!(again.fence > lease.fence);
            newest = Some(again.fence);
        }
    }
}

/// Of many who ask at once, one gets the lease.
pub async fn one_of_many_owners_wins<L: StreamLeases + 'static>(open: &impl Fn(&str) -> L) {
    let handles = [Arc::new(open("owners")), Arc::new(open("owners"))];
    let mut owners = JoinSet::new();
    for number in 0..64 {
        let leases = Arc::clone(&handles[number % 2]);
        owners.spawn(async move { acquire(&*leases, &format!("owner {number}"), 0).await });
    }
    let (mut won, mut held) = (0, 0);
    for outcome in owners.join_all().await {
        match outcome {
            Ok(_) => won += 1,
            Err(LeaseError::Held { .. }) => held += 1,
            Err(other) => panic!("{other:?}"),
        }
    }
    assert_eq!((won, held), (1, 63));
}
