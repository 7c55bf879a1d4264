//! Who a command is, and what it is surrounded by.

use crate::sandbox::hostile::row::{Row, row};

/// Variables that a shell sets itself, and those that the suite gives.
const KNOWN: [&str; 5] = ["PATH", "PWD", "OLDPWD", "_", "PROBE"];
/// What a first process must not be.
const HOSTS: [&str; 4] = ["systemd", "init", "ambit", "it-"];

fn host(what: &str) -> String {
    std::fs::read_to_string(what).unwrap().trim().to_owned()
}

/// A line of `mountinfo`: the place, its options, and the rest.
fn parts(line: &str) -> (&str, Vec<&str>, &str) {
    let (place, rest) = line.split_once(' ').unwrap_or((line, ""));
    let (options, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    (place, options.split(',').collect(), rest)
}

fn mounts_are_few(stdout: &str) -> bool {
    let mounts: Vec<_> = stdout.lines().map(parts).collect();
    let of = |at: &str| mounts.iter().rfind(|(place, ..)| *place == at).map(|(_, options, _)| options);
    let has =
        |at: &str, wanted: &[&str]| of(at).is_some_and(|it| wanted.iter().all(|word| it.contains(word)));
    let writable = |(place, options, _): &(&str, Vec<&str>, &str)| {
        !options.contains(&"rw")
            || ["/workspace", "/tmp", "/proc"].contains(place)
            || *place == "/dev"
            || place.starts_with("/dev/")
    };
    let foreign = |(place, _, rest): &(&str, Vec<&str>, &str)| {
        ["/home", "/root", "/run", "/var/run"].iter().any(|at| place.starts_with(at))
            || rest.contains("docker.sock")
    };
    has("/", &["ro"])
        && has("/workspace", &["rw", "nosuid", "nodev"])
        && has("/tmp", &["rw", "nosuid", "nodev"])
        && mounts.iter().all(writable)
        && !mounts.iter().any(foreign)
}

pub(super) static ROWS: [Row; 10] = [
    row(&["uid"], |seen| seen.succeeded() && seen.last().parse::<u32>().is_ok_and(|uid| uid != 0)),
    row(&["caps"], |seen| {
        seen.stdout.lines().count() == 5
            && seen.stdout.lines().all(|line| line.ends_with("\t0000000000000000"))
    }),
    row(&["nnp"], |seen| seen.stdout == "NoNewPrivs:\t1\n"),
    row(&["seccomp"], |seen| seen.stdout == "Seccomp:\t2\n"),
    row(&["env-secrets"], |seen| {
        seen.stdout.lines().count() >= 2 && seen.stdout.lines().all(|name| KNOWN.contains(&name))
    }),
    row(&["cwd-inside"], |seen| seen.stdout == "/workspace\n/workspace\n"),
    row(&["procs"], |seen| seen.last().parse::<u32>().is_ok_and(|count| (1..10).contains(&count))),
    row(&["pid1"], |seen| {
        let own = host("/proc/self/comm");
        seen.succeeded() && seen.last() != own && !HOSTS.iter().any(|name| seen.last().starts_with(name))
    }),
    row(&["hostname"], |seen| seen.stdout == "sandbox\n" && host("/proc/sys/kernel/hostname") != "sandbox"),
    row(&["mounts"], |seen| mounts_are_few(&seen.stdout)),
];
