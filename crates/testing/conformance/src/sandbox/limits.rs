//! Each limit is enforced and has its own class in the observation.

use std::time::Instant;

use ambit_gates::{Ending, ResourceLimit};
use ambit_ids::{ByteCount, DurationMs};
use ambit_ports::sandbox::{Enforcer, ExecutionObservation, NamedCommand};

use super::{Bench, PROMPT, Staged};

async fn limited(
    bench: &Bench,
    staged: &Staged,
    words: &[&str],
    tighten: fn(&mut NamedCommand),
) -> ExecutionObservation {
    let mut command = bench.command(staged, words);
    tighten(&mut command);
    bench.execute(staged, command).await
}

fn reached(limit: ResourceLimit) -> Ending {
    Ending::LimitReached { limit }
}

/// More time by the clock ends the command, children and all.
pub async fn time_by_the_clock(bench: &Bench) {
    let staged = bench.staged("limits-wall").await;
    for words in [&["sleep"][..], &["family", "4"], &["spin"]] {
        let started = Instant::now();
        let seen =
            limited(bench, &staged, words, |command| command.limits.wall_ms = DurationMs::new(200)).await;
        assert_eq!(seen.ending, reached(ResourceLimit::Timeout), "{words:?}");
        assert!(seen.breaches.contains(&ResourceLimit::Timeout));
        assert!(seen.duration_ms >= DurationMs::new(200) && started.elapsed() < PROMPT, "{seen:?}");
    }
    bench.allowed(&staged, &["loopback"]).await;
    bench.destroy(&staged).await;
}

/// More processor time in all ends the command.
pub async fn processor_time(bench: &Bench) {
    let staged = bench.staged("limits-cpu").await;
    let seen =
        limited(bench, &staged, &["spin"], |command| command.limits.cpu_time_ms = DurationMs::new(300)).await;
    assert_eq!(seen.ending, reached(ResourceLimit::Cpu), "{seen:?}");
    assert!(seen.breaches.contains(&ResourceLimit::Cpu));
    bench.destroy(&staged).await;
}

/// A larger share of a processor is throttled.
pub async fn processor_share(bench: &Bench) {
    let manifest = bench.port.inspect_capabilities().await.unwrap();
    if manifest.limits.cpu == Enforcer::RlimitPerProcess {
        assert!(!manifest.lacks.is_empty(), "what is not enforced is named");
        return;
    }
    let staged = bench.staged("limits-share").await;
    let seen = limited(bench, &staged, &["spin"], |command| {
        command.limits.cpu_millis = 250;
        command.limits.wall_ms = DurationMs::new(800);
    })
    .await;
    assert_eq!(seen.ending, reached(ResourceLimit::Timeout));
    // By its own clock: on a busy machine it is ended late, and gets less than its share.
    let (used, lasted) = (seen.cpu_ms.expect("what is throttled is counted").get(), seen.duration_ms.get());
    assert!(
        (1..lasted / 2 + 50).contains(&used),
        "a quarter of a processor for {lasted} ms is not {used} ms"
    );
    bench.destroy(&staged).await;
}

/// More memory ends the command, and it is told as memory.
pub async fn memory(bench: &Bench) {
    let staged = bench.staged("limits-memory").await;
    let tighten: fn(&mut NamedCommand) = |command| command.limits.memory_bytes = ByteCount::new(48 << 20);
    let fits = limited(bench, &staged, &["hog", "16"], tighten).await;
    assert_eq!(fits.ending, Ending::Exited { code: 0 }, "{fits:?}");
    let seen = limited(bench, &staged, &["hog", "128"], tighten).await;
    let manifest = bench.port.inspect_capabilities().await.unwrap();
    if manifest.limits.memory == Enforcer::RlimitPerProcess {
        // The kernel refuses the memory; the command sees it, and the observation cannot tell.
        assert_eq!(seen.stdout.head, "errno 12\n");
        assert!(!manifest.lacks.is_empty(), "what is not enforced is named");
    } else {
        assert_eq!(seen.ending, reached(ResourceLimit::Memory), "{seen:?}");
        assert!(seen.breaches.contains(&ResourceLimit::Memory));
        assert!(seen.peak_memory_bytes.is_none_or(|peak| peak <= ByteCount::new(48 << 20)), "{seen:?}");
    }
    bench.allowed(&staged, &["loopback"]).await;
    bench.destroy(&staged).await;
}

/// More processes are refused, and none is left.
pub async fn processes(bench: &Bench) {
    let staged = bench.staged("limits-pids").await;
    let seen = limited(bench, &staged, &["fork", "500"], |command| command.limits.processes = 10).await;
    assert_eq!(seen.ending, Ending::Exited { code: 0 });
    let forked: u32 = seen.stdout.head.trim().strip_prefix("ok ").unwrap().parse().unwrap();
    assert!((8..=10).contains(&forked), "{forked} children beside their parent, of 10");
    assert_eq!(seen.killed_processes, forked);
    let manifest = bench.port.inspect_capabilities().await.unwrap();
    if manifest.limits.processes == Enforcer::RlimitPerProcess {
        assert!(!manifest.lacks.is_empty(), "what is not enforced is named");
    } else {
        assert!(seen.breaches.contains(&ResourceLimit::Pids), "{seen:?}");
    }
    bench.destroy(&staged).await;
}

/// More bytes or files than a volume holds are refused, on each of them.
pub async fn disk(bench: &Bench) {
    let staged = bench.staged("limits-disk").await;
    for at in ["/workspace/big", "/tmp/big", "/dev/shm/big"] {
        let tighten: fn(&mut NamedCommand) = |command| command.limits.disk_bytes = ByteCount::new(4 << 20);
        let fits = limited(bench, &staged, &["fill", at, "2"], tighten).await;
        assert_eq!((fits.ending, fits.breaches.is_empty()), (Ending::Exited { code: 0 }, true), "{at}");
        let seen = limited(bench, &staged, &["fill", at, "8"], tighten).await;
        assert_eq!(
            (seen.ending, seen.stdout.head.as_str()),
            (Ending::Exited { code: 1 }, "errno 28\n"),
            "{at}"
        );
        assert!(seen.breaches.contains(&ResourceLimit::Disk), "{at}: {seen:?}");
    }
    // What was removed again before the end has met the limit all the same.
    for (mebibytes, met) in [("2", false), ("8", true)] {
        let words = ["fill-and-clear", "/workspace/big", mebibytes];
        let seen = limited(bench, &staged, &words, |command| {
            command.limits.disk_bytes = ByteCount::new(4 << 20);
        })
        .await;
        assert_eq!(seen.breaches.contains(&ResourceLimit::Disk), met, "{seen:?}");
    }
    let seen = limited(bench, &staged, &["files", "/tmp", "100000"], |command| {
        command.limits.disk_bytes = ByteCount::new(4 << 20);
    })
    .await;
    assert_eq!(seen.stdout.head, "errno 28\n");
    assert!(seen.breaches.contains(&ResourceLimit::Disk));
    bench.destroy(&staged).await;
}

/// More output ends the command; both ends of what was kept are shown.
pub async fn output(bench: &Bench) {
    let staged = bench.staged("limits-output").await;
    let seen = limited(bench, &staged, &["print", "1000000000"], |command| {
        command.limits.output_bytes = ByteCount::new(100_000);
    })
    .await;
    assert_eq!(seen.ending, reached(ResourceLimit::Output), "{seen:?}");
    assert!(seen.breaches.contains(&ResourceLimit::Output));
    assert!(seen.stdout.truncated && !seen.stdout.head.is_empty() && !seen.stdout.tail.is_empty());
    assert_eq!(seen.stdout.bytes, ByteCount::new(100_000));
    assert_eq!(bench.blob(seen.stdout.artifact).await.len(), 100_000);

    // A command that was through before it could be stopped has passed the limit all the same.
    let brief = limited(bench, &staged, &["say", "0123456789"], |command| {
        command.limits.output_bytes = ByteCount::new(4);
    })
    .await;
    assert_eq!((brief.ending, brief.stdout.head.as_str()), (reached(ResourceLimit::Output), "0123"));
    bench.destroy(&staged).await;
}
