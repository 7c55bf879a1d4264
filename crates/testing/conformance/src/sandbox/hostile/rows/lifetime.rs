//! How a command ends, and what outlives it.

use std::time::Duration;

use ambit_gates::{Ending, NotStarted};
use ambit_ids::DurationMs;
use ambit_ports::sandbox::NamedCommand;

use crate::sandbox::bench::{PROMPT, declared, path};
use crate::sandbox::hostile::lane::MOST_PROCESSES;
use crate::sandbox::hostile::row::{Row, row};

const BRIEF: Duration = Duration::from_millis(400);

fn briefly(command: &mut NamedCommand) {
    command.limits.wall_ms = DurationMs::new(400);
}

fn with_many_processes(command: &mut NamedCommand) {
    command.limits.processes = MOST_PROCESSES;
}

fn segfault(command: &mut NamedCommand) {
    command.argv = ["/bin/sh", "-c", "kill -SEGV $$"].map(str::to_owned).to_vec();
}

fn absent(command: &mut NamedCommand) {
    command.argv = vec!["/no/such/program".to_owned()];
}

pub(super) static ROWS: [Row; 10] = [
    row(&["sleep-forever", "exec-replace", "ignore-term"], |seen| seen.timed_out(BRIEF)).with(briefly),
    row(&["timeout-then-write"], |seen| seen.timed_out(BRIEF) && seen.exported.is_empty())
        .with(|command| {
            briefly(command);
            command.outputs = vec![declared("LATE", 10)];
        })
        .never("LATE", Duration::from_millis(5300)),
    row(&["bg-holds-pipe"], |seen| {
        seen.succeeded()
            && seen.whole == b"started\n"[..]
            && seen.observed.killed_processes > 0
            && seen.took < PROMPT
    }),
    row(&["setsid-daemon"], |seen| seen.succeeded() && seen.exported.is_empty() && seen.took < PROMPT)
        .with(|command| command.outputs = vec![declared("AFTER", 10)])
        .never("AFTER", Duration::from_millis(3300)),
    row(&["zombies"], |seen| seen.succeeded() && seen.last() == "z").with(with_many_processes).then(
        "python3 -c \"import glob
print(sum('State:\\tZ' in open(f).read() for f in glob.glob('/proc/[0-9]*/status')))\"",
        |seen| seen.stdout == "0\n",
    ),
    row(&["stdin-wait"], |seen| seen.stdout == "got []\n" && seen.within(PROMPT)),
    row(&["tty-wait"], |seen| seen.exited() && !seen.succeeded() && seen.within(PROMPT)),
    row(&["vfork-exit"], |seen| seen.succeeded() && seen.stdout.ends_with("139\n"))
        .then_as(segfault, |seen| seen.observed.ending == Ending::Signalled { signal: 11 }),
    row(&["missing-cmd"], |seen| seen.observed.ending == Ending::Exited { code: 127 })
        .then_as(absent, |seen| {
            seen.observed.ending == Ending::NotStarted { why: NotStarted::CommandNotFound }
        }),
    row(&["missing-workdir"], |seen| {
        seen.observed.ending == Ending::NotStarted { why: NotStarted::WorkdirMissing }
    })
    .with(|command| command.workdir = Some(path("no/such/directory"))),
];
