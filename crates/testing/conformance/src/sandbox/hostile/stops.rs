//! An abort and a cancellation, against processes that do what they can to go on.

use std::time::{Duration, Instant};

use ambit_gates::Ending;
use ambit_ports::AbortHandle;
use ambit_ports::sandbox::NamedCommand;
use ambit_run::StopReason;

use super::outside;
use crate::sandbox::bench::never;
use crate::sandbox::{Bench, PROMPT, Staged};

/// Deaf to every signal that can be ignored, in sessions of their own, twice forked, and holding the output open.
const STUBBORN: &str = "trap '' TERM INT HUP QUIT; \
    (setsid sh -c \"trap '' TERM; while :; do sleep 1; done\" &) ; \
    (nohup setsid sh -c '(sleep 300 &) ; sleep 300' >/dev/null 2>&1 &) ; \
    while :; do sleep 1; done";
/// How many of them there are at least.
const PROCESSES: usize = 5;

/// An abort ends every process of the command, and the sandbox goes on; a cancellation ends the sandbox as well. How many
/// that were is told where the kernel counts them.
#[expect(clippy::print_stdout, reason = "what was left out must be seen in what the test said")]
pub(super) async fn are_final(bench: &Bench, processes_are_seen: bool, counted: bool) {
    if !processes_are_seen {
        println!("skipped: NO_PROCESSES an abort and a cancellation: the host sees no process of a command");
        return;
    }
    let staged = bench.staged("hostile-stops").await;
    let mark = format!("stubborn-{}", std::process::id());
    let (handle, signal) = AbortHandle::new();
    let running = bench.port.execute_named(&staged.lease, command(bench, &staged, &mark), signal);
    let aborting = async {
        are_there(&mark).await;
        handle.abort();
        Instant::now()
    };
    let (seen, aborted) = tokio::join!(running, aborting);
    let took = aborted.elapsed();
    assert_eq!(seen.unwrap().ending, Ending::Aborted);
    assert!(outside::processes(&mark).is_empty(), "{:?} outlived an abort", outside::processes(&mark));
    assert!(took < PROMPT, "an abort took {took:?}");
    bench.allowed(&staged, &["loopback"]).await;

    let running = bench.port.execute_named(&staged.lease, command(bench, &staged, &mark), never());
    let cancelling = async {
        are_there(&mark).await;
        let started = Instant::now();
        let receipt = bench.port.cancel(&staged.lease, &StopReason::CustomerCancelled).await.unwrap();
        assert!(outside::processes(&mark).is_empty(), "{:?} are left", outside::processes(&mark));
        (receipt, started.elapsed())
    };
    let (seen, (receipt, took)) = tokio::join!(running, cancelling);
    assert!(seen.is_err() || seen.is_ok_and(|seen| !seen.ending.is_success()));
    assert_eq!(receipt.remaining_processes, 0);
    assert!(!counted || receipt.killed_processes as usize >= PROCESSES, "{receipt:?}");
    assert!(took < PROMPT, "a cancellation took {took:?}");
    bench.destroy(&staged).await;
}

fn command(bench: &Bench, staged: &Staged, mark: &str) -> NamedCommand {
    let mut command = bench.command(staged, &[]);
    command.argv = ["/bin/sh", "-c", STUBBORN].map(str::to_owned).to_vec();
    command.environment =
        vec![("PATH".into(), "/usr/sbin:/usr/bin".into()), ("STUBBORN".into(), mark.to_owned())];
    command
}

async fn are_there(mark: &str) {
    let began = Instant::now();
    while began.elapsed() < PROMPT {
        if outside::processes(mark).len() >= PROCESSES {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("the watcher sees {:?}", outside::processes(mark));
}
