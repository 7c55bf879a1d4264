//! What a command finds in the file system, and what it can change there.

use ambit_ports::sandbox::OutputRefusal;

use crate::sandbox::bench::declared;
use crate::sandbox::hostile::row::{Row, row};

const DEVICES: [&str; 14] = [
    "null", "zero", "full", "random", "urandom", "tty", "fd", "stdin", "stdout", "stderr", "shm", "pts",
    "ptmx", "console",
];

pub(super) static ROWS: [Row; 13] = [
    row(&["write-root", "mknod"], |seen| seen.exited() && seen.last().trim() == "0"),
    row(&["home-secrets", "sockets", "other-project"], |seen| seen.exited() && seen.stdout.trim() == "0"),
    row(&["suid"], |seen| seen.succeeded() && !["", "0"].contains(&seen.last())),
    row(&["tmp-exec-suid"], |seen| {
        // Where the program was copied it ran, and gave nothing.
        seen.stdout.lines().count() == 2 && seen.last().parse::<u32>().is_ok_and(|uid| uid != 0)
    }),
    row(&["devs"], |seen| {
        seen.stdout.lines().count() >= 5 && seen.stdout.lines().all(|name| DEVICES.contains(&name))
    }),
    row(&["proc-writes"], |seen| seen.succeeded() && !seen.stdout.contains("WROTE")),
    row(&["proc-masked"], |seen| {
        seen.stdout.lines().count() == 6 && seen.stdout.split_whitespace().all(|count| count == "0")
    }),
    row(&["dmesg"], |seen| seen.refusals(2)),
    row(&["proc1-root"], |seen| {
        seen.stdout.lines().count() >= 1 && seen.stdout.lines().all(|line| line.starts_with("ls: "))
    }),
    row(&["link-proc-out"], |seen| {
        seen.refusals(1) && !seen.stdout.contains("root:") && seen.refused_as(OutputRefusal::Link)
    })
    .with(|command| command.outputs = vec![declared("out.txt", 1 << 20)]),
    row(&["immutable"], |seen| seen.refusals(1)),
    row(&["cgroup-write"], |seen| seen.exited() && seen.whole.is_empty()),
    row(&["tiocsti"], |seen| seen.succeeded() && seen.stdout.starts_with("no ")),
];
