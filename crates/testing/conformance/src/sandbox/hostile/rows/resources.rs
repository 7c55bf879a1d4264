//! What a command can use up.

use std::time::Duration;

use ambit_gates::ResourceLimit;
use ambit_ids::DurationMs;
use ambit_ports::sandbox::NamedCommand;

use crate::sandbox::bench::ROOMY;
use crate::sandbox::hostile::row::{Beside, Row, row};
use crate::sandbox::hostile::seen::Seen;

const BRIEF_MS: u64 = 400;
/// Long enough for the load to be there.
const LOAD_MS: u64 = 1500;
/// How much later a command that ends by itself may have done so: it would take far longer.
const LATE: Duration = Duration::from_secs(4);

fn briefly(command: &mut NamedCommand) {
    command.limits.wall_ms = DurationMs::new(BRIEF_MS);
}

fn under_load(command: &mut NamedCommand) {
    command.limits.wall_ms = DurationMs::new(LOAD_MS);
}

/// Ended by its time or before, in a way that is known, within its memory.
fn load_is_contained(seen: &Seen) -> bool {
    let within = seen.observed.peak_memory_bytes.is_none_or(|peak| peak <= ROOMY.memory_bytes);
    let in_time = !seen.ended_plainly() || seen.within(Duration::from_millis(LOAD_MS) + LATE);
    seen.contained() && !seen.stdout.contains("not found") && within && in_time
}

pub(super) static ROWS: [Row; 9] = [
    row(&["fork-2000"], |seen| {
        seen.number("forked").is_some_and(|count| (1..=32).contains(&count))
            && seen.observed.killed_processes > 0
    }),
    row(&["threads-5000"], |seen| seen.number("threads").is_some_and(|count| (1..=32).contains(&count))),
    row(&["mem-4g"], |seen| {
        let refused = seen.errors.windows(11).any(|word| word == b"MemoryError");
        let told = seen.reached(ResourceLimit::Memory) || seen.breached(ResourceLimit::Memory);
        !seen.stdout.contains("got 4096") && (told || refused)
    }),
    row(&["mem-tmpfs", "disk-4g", "inodes-1m"], |seen| seen.exited() && seen.breached(ResourceLimit::Disk)),
    row(&["fd-100k"], |seen| seen.last().parse::<u32>().is_ok_and(|count| (1..5000).contains(&count))),
    row(&["cpu-8"], |seen| {
        seen.timed_out(Duration::from_millis(BRIEF_MS))
            && seen.other_answered
            && seen.observed.cpu_ms.is_some_and(|used| used.get() < 3 * seen.observed.duration_ms.get())
    })
    .with(briefly)
    .beside(Beside::AnotherRun),
    row(&["cpu-60s"], |seen| seen.timed_out(Duration::from_millis(BRIEF_MS))).with(briefly),
    row(&["stress-ng-vm", "stress-ng-fork", "stress-ng-fs"], load_is_contained)
        .with(under_load)
        .needs("stress-ng"),
    row(&["stress-ng-syscalls"], load_is_contained)
        .with(under_load)
        .needs("stress-ng")
        .then("echo on", Seen::succeeded),
];
