//! What a command can ask of the kernel.

use crate::sandbox::hostile::row::{Row, row};
use crate::sandbox::hostile::seen::Seen;

pub(super) static ROWS: [Row; 10] = [
    row(
        &[
            "sys-bpf",
            "sys-perf_event_open",
            "sys-keyctl",
            "sys-add_key",
            "sys-userfaultfd",
            "sys-kexec_load",
            "sys-init_module",
            "sys-finit_module",
            "sys-setns",
            "sys-process_vm_readv",
            "sys-mount_setattr",
            "sys-fsopen",
            "sys-move_mount",
            "sys-swapon",
            "sys-reboot",
            "sys-settimeofday",
            "sys-acct",
            "sys-ptrace-attach-1",
            "sys-socket-AF_PACKET",
            "sys-socket-AF_ALG",
            "sys-socket-AF_NETLINK-nf",
            "sys-socket-SOCK_RAW",
            "sys-clone-newuser",
            "sys-quotactl",
            "sys-personality-aslr-off",
        ],
        Seen::failed_as_expected,
    ),
    // Either is fine; what counts is that the watcher sees nothing.
    row(&["sys-memfd-exec"], |seen| seen.succeeded() && seen.stdout.starts_with("memfd-exec ")),
    row(&["pivot"], |seen| ["-1 1\n", "-1 22\n", "-1 38\n"].contains(&seen.stdout.as_str())),
    row(&["userns"], |seen| seen.refusals(1)),
    row(&["mount", "remount", "nice-rt"], |seen| seen.refusals(2)),
    row(&["kill-all"], Seen::ended_plainly).then("echo on", |seen| seen.succeeded() && seen.stdout == "on\n"),
    row(&["signal-parent"], Seen::ended_plainly)
        .then("echo on", |seen| seen.succeeded() && seen.stdout == "on\n"),
    row(&["rlimit-raise"], |seen| {
        // Not every shell can name the last of them.
        seen.exited() && seen.stdout.matches("not permitted").count() >= 2 && seen.last() != "unlimited"
    })
    .then("hard=$(ulimit -Hn); ulimit -Hn $((hard + 1)); ulimit -Hn; echo $hard", |seen| {
        let hard: Vec<&str> = seen.stdout.lines().collect();
        hard.len() == 2 && hard[0] == hard[1]
    }),
    row(&["oom-adj"], |seen| seen.last().parse::<i32>().is_ok_and(|score| score >= 0)),
    row(&["clock"], |seen| {
        let year = 1970 + std::time::UNIX_EPOCH.elapsed().unwrap().as_secs() / 31_556_952;
        seen.refusals(1) && seen.last().parse::<u64>().is_ok_and(|said| said.abs_diff(year) <= 1)
    }),
];
