//! What is left of containers is found by looking at the machine, and goes only where whoever made it is dead.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ambit_conformance::sandbox::{Bench, PROMPT, Staged};
use ambit_gates::Ending;
use ambit_ports::AbortHandle;
use ambit_ports::sandbox::{Found, LeakScan, Lives, Maker, SandboxLease, Surface};
use ambit_sandbox_linux::PROBER;
use ambit_sandbox_oci::OciSandboxes;
use bytes::Bytes;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use crate::ordinary_user::holds_as_nobody;
use crate::support::{adapter, bench, image_digest, is_there, linux, volumes};

const RUNTIME: &str = "crun";
/// Where the copy of this program that is killed keeps its state.
const STATE: &str = "AMBIT_TEST_STATE";
/// The run that it allocates for.
const RUN: &str = "leaks-killed";
/// Where something of a container that runs is.
const EVERYWHERE: [Surface; 4] =
    [Surface::Processes, Surface::ControlGroups, Surface::Containers, Surface::Leases];

/// Another process's view of the same state.
fn scanner(runtime: &str, directory: &Path) -> OciSandboxes {
    adapter(runtime, directory.join("state"), directory.join("image"))
}

async fn of_run(scan: &impl LeakScan, run: &str) -> Vec<Found> {
    let run = ambit_ids::RunId::new(format!("run_{run}")).unwrap();
    let lease = SandboxLease::id_of(&Bench::scope(), &run);
    let survey = scan.survey().await.unwrap();
    survey.found.into_iter().filter(|found| found.lease.as_ref() == Some(&lease)).collect()
}

/// The keeper, the first process, the command and its two children.
const FAMILY: usize = 5;

/// Looks until a command with two children runs, and its runtime has gone.
async fn running(scan: &impl LeakScan, run: &str) -> Vec<Found> {
    running_on(&EVERYWHERE, scan, run).await
}

/// Likewise, where something of a container is on these surfaces.
async fn running_on(surfaces: &[Surface], scan: &impl LeakScan, run: &str) -> Vec<Found> {
    let began = Instant::now();
    let mut before = Vec::new();
    loop {
        let found = of_run(scan, run).await;
        let on = |surface| found.iter().filter(|it| it.surface == surface).count();
        let is_whole = surfaces.iter().all(|surface| on(*surface) > 0);
        if is_whole && on(Surface::Processes) == FAMILY && found == before {
            return found;
        }
        before = found;
        assert!(began.elapsed() < PROMPT, "{before:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

// proves E-T40
// break crates/adapters/sandbox-oci/src/known.rs: `_ => maker_of_process(pid, |pid| members.contains_key(&pid)),` -> `_ => Maker::Gone,`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_live_container_is_found_on_every_surface_and_nothing_of_it_can_be_taken() {
    if !is_there(RUNTIME) {
        return;
    }
    let (bench, directory) = bench(RUNTIME);
    let staged = bench.staged("leaks-live").await;
    let scan = scanner(RUNTIME, directory.path());
    let (abort, signal) = AbortHandle::new();
    let command = bench.command(&staged, &["family", "2"]);
    let looking = async {
        let found = running(&scan, "leaks-live").await;
        for thing in &found {
            assert_eq!(thing.maker, Maker::Lives, "{thing:?}");
            assert!(scan.remove(thing).await.is_err(), "{thing:?}");
        }
        assert_eq!(running(&scan, "leaks-live").await, found, "all of it is there as before");
        no_other_backend_claims(&found, directory.path()).await;
        abort.abort();
    };
    let (seen, ()) = tokio::join!(bench.port.execute_named(&staged.lease, command, signal), looking);
    assert_eq!(seen.unwrap().ending, Ending::Aborted, "it went on until it was aborted");
    bench.destroy(&staged).await;
    assert_eq!(of_run(&scan, "leaks-live").await, []);
}

/// What one backend finds, no other one does, wherever it keeps its own.
async fn no_other_backend_claims(found: &[Found], directory: &Path) {
    let linux = linux(directory.join("other"), directory.join("image"));
    let others: [&dyn LeakScan; 2] = [&linux, &scanner("runc", directory)];
    for other in others {
        let claimed = other.survey().await.unwrap().found;
        let of_a_container = |it: &Found| matches!(it.surface, Surface::Processes | Surface::ControlGroups);
        for thing in found.iter().filter(|found| of_a_container(found)) {
            assert!(claimed.iter().all(|it| it.reference != thing.reference), "{thing:?}");
        }
    }
}

/// A copy of this program that allocates and runs a command until it is killed.
fn begin(directory: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["leaks::run_until_killed", "--exact", "--ignored", "--nocapture"])
        .env(STATE, directory)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn pid_of(found: &Found) -> Option<Pid> {
    let is_process = found.surface == Surface::Processes;
    is_process.then(|| Pid::from_raw(found.reference.split('/').next()?.parse().ok()?)).flatten()
}

// proves E-T45 E-P06
// break crates/adapters/sandbox-oci/src/known.rs: `of_container(known, container).map_or_else(by_name, |known| known.maker)` -> `of_container(known, container).map_or_else(by_name, |_| Maker::Lives)`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_killed_control_plane_leaves_goes_and_a_live_container_stays() {
    if !is_there(RUNTIME) {
        return;
    }
    let (bench, directory) = bench(RUNTIME);
    let live = bench.staged("leaks-stays").await;
    let (abort, signal) = AbortHandle::new();
    let command = bench.command(&live, &["family", "2"]);
    let killing = async {
        let scan = scanner(RUNTIME, directory.path());
        for everything_stopped in [true, false] {
            kill_and_sweep(&scan, directory.path(), everything_stopped).await;
        }
        let found = running(&scan, "leaks-stays").await;
        assert!(found.iter().all(|it| it.maker == Maker::Lives), "{found:?}");
        abort.abort();
    };
    let (seen, ()) = tokio::join!(bench.port.execute_named(&live.lease, command, signal), killing);
    assert_eq!(seen.unwrap().ending, Ending::Aborted, "it went on until it was aborted");
    bench.destroy(&live).await;
}

/// Kills a control plane that runs a container. Processes that are stopped outlive it, others end by themselves.
async fn kill_and_sweep(scan: &OciSandboxes, directory: &Path, everything_stopped: bool) {
    let mut maker = begin(directory);
    let found = running(scan, RUN).await;
    assert!(found.iter().all(|it| it.maker == Maker::Lives), "{found:?}");
    for pid in found.iter().filter_map(pid_of).filter(|_| everything_stopped) {
        kill_process(pid, Signal::STOP).unwrap();
    }
    maker.kill().unwrap();
    maker.wait().unwrap();
    let began = Instant::now();
    let mut left = of_run(scan, RUN).await;
    while !everything_stopped && left.iter().any(|it| it.surface == Surface::Processes) {
        assert!(began.elapsed() < PROMPT, "{left:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
        left = of_run(scan, RUN).await;
    }
    let processes = left.iter().filter(|it| it.surface == Surface::Processes).count();
    assert_eq!(processes, if everything_stopped { FAMILY } else { 0 }, "{left:?}");
    for surface in &EVERYWHERE[1..] {
        assert!(left.iter().any(|it| it.surface == *surface), "{surface:?}: {left:?}");
    }
    for thing in &left {
        assert_eq!(thing.maker, Maker::Gone, "{thing:?}");
        scan.remove(thing).await.unwrap();
    }
    assert_eq!(of_run(scan, RUN).await, []);
    let groups = format!("/ambit-{}-", maker.id());
    let found = scan.survey().await.unwrap().found;
    assert!(found.iter().all(|it| !it.reference.contains(&groups)), "{found:?}");
}

/// One look later the run goes on in one sandbox, whatever was left of the first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_whose_control_plane_was_killed_gets_one_sandbox() {
    if !is_there(RUNTIME) {
        return;
    }
    let (bench, directory) = bench(RUNTIME);
    let scan = scanner(RUNTIME, directory.path());
    let mut maker = begin(directory.path());
    running(&scan, RUN).await;
    maker.kill().unwrap();
    maker.wait().unwrap();
    let staged = bench.staged(RUN).await;
    assert_eq!(bench.probe(&staged, &["exit", "7"]).await.ending, Ending::Exited { code: 7 });
    let found = of_run(&scan, RUN).await;
    assert!(found.iter().all(|it| it.maker == Maker::Lives), "{found:?}");
    assert_eq!(found.iter().map(|it| it.surface).collect::<Vec<_>>(), [Surface::Leases]);
    assert!(bench.port.destroy(&staged.lease, Lives::Named).await.unwrap().is_proof());
    assert_eq!(of_run(&scan, RUN).await, []);
}

// proves E-T45 E-P06
// break crates/adapters/sandbox-linux/guest/src/roles/rootless.rs: `set_parent_process_death_signal(Some(Signal::KILL)).at("parent")?;` -> `let _ = Signal::KILL;`
#[test]
fn nothing_of_an_ordinary_user_outlives_a_killed_control_plane() {
    holds_as_nobody("leaks::an_ordinary_users_container_ends_with_its_control_plane");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "only as an ordinary user: nothing_of_an_ordinary_user_outlives_a_killed_control_plane starts it so"]
async fn an_ordinary_users_container_ends_with_its_control_plane() {
    if !is_there(RUNTIME) {
        return;
    }
    let (_bench, directory) = bench(RUNTIME);
    let scan = scanner(RUNTIME, directory.path());
    let mut maker = begin(directory.path());
    let on_disk = [Surface::Containers, Surface::Leases];
    let found = running_on(&[&[Surface::Processes], &on_disk[..]].concat(), &scan, RUN).await;
    for thing in &found {
        assert_eq!(thing.maker, Maker::Lives, "{thing:?}");
        assert!(scan.remove(thing).await.is_err(), "{thing:?}");
    }
    let processes: Vec<Pid> = found.iter().filter_map(pid_of).collect();
    for pid in &processes {
        kill_process(*pid, Signal::STOP).unwrap();
    }
    maker.kill().unwrap();
    maker.wait().unwrap();
    // The kernel ends even those that stand still.
    let began = Instant::now();
    while processes.iter().any(|pid| test_kill_process(*pid).is_ok()) {
        assert!(began.elapsed() < PROMPT, "{processes:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let left = of_run(&scan, RUN).await;
    assert_eq!(left.iter().map(|it| it.surface).collect::<Vec<_>>(), on_disk, "{left:?}");
    for thing in &left {
        assert_eq!(thing.maker, Maker::Gone, "{thing:?}");
        scan.remove(thing).await.unwrap();
    }
    assert_eq!(of_run(&scan, RUN).await, []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "only as the process that the tests above start and kill"]
async fn run_until_killed() {
    let directory = std::env::var_os(STATE).unwrap();
    let port = Arc::new(scanner(RUNTIME, Path::new(&directory)));
    let bench = Bench::new(port, image_digest(), volumes(), Bytes::from_static(PROBER));
    let staged: Staged = bench.staged(RUN).await;
    loop {
        bench.probe(&staged, &["family", "2"]).await;
    }
}
