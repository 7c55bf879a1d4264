//! What is left of sandboxes: reported, removed only where provably ownerless, and measured again.

use ambit_ids::{LeaseId, RunId};
use ambit_ports::sandbox::{Maker, SandboxLease, Surface};
use ambit_sandboxes::{LeakReport, Needs, Owner, Standing, scan};
use ambit_simulation::{SandboxFault, Verb, simulate};

use crate::lives::Bench;

async fn allocate(bench: &Bench, run: &str) -> SandboxLease {
    let manifest = bench.sandboxes.measure().await.unwrap();
    let needs = Needs { run: RunId::new(run).unwrap(), ..bench.needs() };
    bench.sandboxes.allocate(needs, &manifest).await.unwrap().receipt
}

async fn look(bench: &Bench, sweep: bool, owner: impl Fn(&LeaseId) -> Owner) -> LeakReport {
    scan(bench.port.as_ref(), async |lease: &LeaseId| owner(lease), sweep).await.unwrap()
}

/// By the maker and the owner, what may be removed.
// proves E-T41
// break crates/control-plane/sandboxes/src/scan.rs: `(Some(Owner::Going), _) | (Some(Owner::Absent) | None, Maker::Lives) => Self::InUse,` -> `(Some(Owner::Absent | Owner::Going) | None, Maker::Lives) => Self::InUse, (Some(Owner::Going), _) => Self::Ownerless,`
#[test]
fn only_what_nobody_runs_and_nobody_alive_made_is_ownerless() {
    let makers = [Maker::Lives, Maker::Gone, Maker::Unknown];
    let owners = [Some(Owner::Going), Some(Owner::Over), Some(Owner::Absent), None];
    for owner in owners {
        for maker in makers {
            let standing = Standing::of(maker, owner);
            let may_go = maker == Maker::Gone && owner != Some(Owner::Going);
            assert_eq!(standing == Standing::Ownerless, may_go, "{owner:?} {maker:?}: {standing:?}");
            let is_used =
                owner == Some(Owner::Going) || (maker == Maker::Lives && owner != Some(Owner::Over));
            assert_eq!(standing == Standing::InUse, is_used, "{owner:?} {maker:?}: {standing:?}");
        }
    }
}

// proves E-T40 E-T41
// break crates/control-plane/sandboxes/src/scan.rs: `if standings.of(&found, &owner).await == Standing::Ownerless {` -> `if standings.of(&found, &owner).await != Standing::LeftBehind {`
#[test]
fn a_scan_reports_and_a_sweep_removes_the_ownerless_alone() {
    simulate(async {
        let bench = Bench::new();
        let dead = [allocate(&bench, "run_over01").await, allocate(&bench, "run_absent").await];
        let going = allocate(&bench, "run_going1").await;
        bench.port.orphan();
        let live = allocate(&bench, "run_alive1").await;
        let owner = |lease: &LeaseId| match () {
            () if *lease == going.lease => Owner::Going,
            () if *lease == dead[0].lease => Owner::Over,
            () => Owner::Absent,
        };
        let report = look(&bench, false, owner).await;
        assert_eq!((report.in_use, report.removed.len(), report.outstanding_leaks.len()), (2, 0, 2));
        assert_eq!((report.looked_at, report.not_looked_at.len()), (vec![Surface::Leases], 1));
        assert_eq!(bench.port.live().len(), 4, "a look touches nothing");

        let report = look(&bench, true, owner).await;
        assert_eq!((report.in_use, report.removed.len()), (2, 2));
        assert_eq!(report.outstanding_leaks, []);
        let left: Vec<LeaseId> = bench.port.live().into_iter().map(|lease| lease.lease).collect();
        let mut kept = vec![going.lease.clone(), live.lease];
        kept.sort();
        assert_eq!(left, kept);
    });
}

/// A backend that says it removed something and keeps it, and one that refuses: both stay outstanding.
// proves E-T42 E-T43
// break crates/control-plane/sandboxes/src/scan.rs: `tried.retain(|tried| !is_there(tried));` -> `let _ = is_there;`
#[test]
fn what_refuses_to_die_or_only_says_so_stays_outstanding() {
    for (fault, is_refused) in [(SandboxFault::Remains, false), (SandboxFault::Stumbles, true)] {
        simulate(async {
            let bench = Bench::new();
            let lease = allocate(&bench, "run_absent").await;
            bench.port.orphan();
            bench.port.plan(Verb::Destroy, 0, fault);
            let report = look(&bench, true, |_| Owner::Absent).await;
            assert_eq!(report.removed, [], "{fault:?}");
            let [leak] = &report.outstanding_leaks[..] else { panic!("{report:?}") };
            assert_eq!((leak.found.lease.as_ref(), leak.standing), (Some(&lease.lease), Standing::Ownerless));
            assert_eq!(leak.refused.is_some(), is_refused, "{fault:?}");
            let report = look(&bench, true, |_| Owner::Absent).await;
            assert_eq!((report.removed.len(), report.outstanding_leaks.len()), (1, 0), "{fault:?}");
        });
    }
}

/// A backend whose own proof misses something is not believed.
// proves E-T44
// break crates/control-plane/sandboxes/src/lib.rs: `if survey.found.iter().any(|found| found.lease.as_ref() == Some(&lease.lease)) {` -> `if survey.found.is_empty() {`
#[test]
fn a_removal_is_confirmed_by_another_look_than_the_backends_own() {
    simulate(async {
        let bench = Bench::new();
        let lease = bench.allocate().await.unwrap();
        // The backend proves that nothing is left, of an earlier life, and the sandbox stays.
        let mut earlier = lease.clone();
        earlier.incarnation = ambit_ids::Incarnation::new("inc_earlier").unwrap();
        let witnessed = bench.sandboxes.clone().witnessed_by(bench.port.clone());
        assert_eq!(witnessed.destroy(&earlier).await.unwrap_err().code(), "DESTRUCTION_UNPROVEN");
        bench.sandboxes.destroy(&earlier).await.unwrap();
        witnessed.destroy(&lease).await.unwrap();
    });
}

#[test]
fn a_report_is_plain_json() {
    simulate(async {
        let bench = Bench::new();
        let lease = allocate(&bench, "run_absent").await;
        bench.port.orphan();
        let report = look(&bench, false, |_| Owner::Absent).await;
        let json = serde_json::to_value(&report).unwrap();
        let leak = &json["outstandingLeaks"][0];
        assert_eq!(
            (leak["surface"].as_str(), leak["standing"].as_str()),
            (Some("leases"), Some("ownerless"))
        );
        assert_eq!(leak["lease"].as_str(), Some(lease.lease.as_str()));
        assert_eq!((json["lookedAt"][0].as_str(), json["inUse"].as_u64()), (Some("leases"), Some(0)));
    });
}
