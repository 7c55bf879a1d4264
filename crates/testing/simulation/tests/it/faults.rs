use ambit_ids::{DurationMs, UnixMs};
use ambit_ports::runtime::{Clock as _, Entropy as _, IdGenerator as _};
use ambit_simulation::{Cut, Dice, EPOCH, Fault, Faults, SimClock, SimEntropy, SimIds, simulate};

#[test]
fn time_passes_only_while_everything_waits_and_then_at_once() {
    let began = std::time::Instant::now();
    simulate(async {
        let clock = SimClock::start();
        assert_eq!(clock.now(), EPOCH);
        let waiter = tokio::spawn(async move {
            clock.sleep_until(EPOCH.saturating_add(DurationMs::new(60_000))).await;
            clock.now()
        });
        clock.pass(DurationMs::new(3_600_000)).await;
        assert_eq!(waiter.await.unwrap(), UnixMs::new(EPOCH.get() + 60_000));
        assert_eq!(clock.now().since(EPOCH), DurationMs::new(3_600_000));
        clock.sleep_until(UnixMs::ZERO).await;
        assert_eq!(clock.now().since(EPOCH), DurationMs::new(3_600_000), "the past is over");
    });
    assert!(began.elapsed() < std::time::Duration::from_secs(30), "an hour takes no time");
}

#[test]
fn one_seed_is_one_history() {
    let draw = |seed| {
        let (mut dice, ids, entropy) = (Dice::new(seed), SimIds::new(seed), SimEntropy::new(seed));
        let mut bytes = [0; 13];
        entropy.fill(&mut bytes);
        (dice.bits(), ids.next(), ids.next(), bytes)
    };
    assert_eq!(draw(5), draw(5));
    let (one, other) = (draw(5), draw(6));
    assert!(one.0 != other.0 && one.1 != other.1 && one.3 != other.3);
    assert_ne!(one.1, one.2);
}

#[test]
fn a_fault_happens_where_it_is_planned_and_nowhere_else() {
    simulate(async {
        let faults = Faults::default();
        faults.plan(Cut::BlobPut, 1, Fault::Fail);
        let mut seen = Vec::new();
        for cut in [Cut::BlobPut, Cut::BlobGet, Cut::BlobPut, Cut::BlobPut] {
            seen.push(faults.pass(cut).await);
        }
        assert_eq!(seen, [None, None, Some(Fault::Fail), None]);
        faults.plan_always(Cut::BlobGet, Fault::NoSpace);
        assert_eq!(faults.pass(Cut::BlobGet).await, Some(Fault::NoSpace));
        faults.heal();
        assert_eq!(faults.pass(Cut::BlobGet).await, None);
    });
}

#[test]
fn after_a_crash_nothing_of_the_old_life_goes_on() {
    simulate(async {
        let faults = Faults::default();
        faults.crash_after(1);
        assert_eq!(faults.pass(Cut::CommitBefore).await, None);
        let old = faults.clone();
        let life = tokio::spawn(async move { old.pass(Cut::CommitAfter).await });
        faults.crashed().await;
        let late = faults.clone();
        let straggler = tokio::spawn(async move { late.pass(Cut::BlobGet).await });
        tokio::task::yield_now().await;
        assert!(!life.is_finished() && !straggler.is_finished());
        life.abort();
        straggler.abort();
        faults.revive();
        assert_eq!(faults.pass(Cut::CommitBefore).await, None, "the next life goes on");
    });
}
