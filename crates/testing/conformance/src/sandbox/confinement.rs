//! What a command can see and do: each refusal stands beside a control that shows the same tool at work.

use std::collections::BTreeMap;
use std::net::TcpListener;

use ambit_gates::Ending;

use super::{Bench, Staged};

const EPERM: i32 = 1;
const ENOENT: i32 = 2;
const EACCES: i32 = 13;
const EROFS: i32 = 30;
const ENOSYS: i32 = 38;
const ENETUNREACH: i32 = 101;
const ECONNREFUSED: i32 = 111;
const EPROTONOSUPPORT: i32 = 93;

async fn output(bench: &Bench, staged: &Staged, words: &[&str]) -> String {
    let seen = bench.probe(staged, words).await;
    assert_eq!(seen.ending, Ending::Exited { code: 0 }, "{words:?}: {}", seen.stdout.head);
    String::from_utf8_lossy(&bench.blob(seen.stdout.artifact).await).into_owned()
}

/// A command is an ordinary user without any capability, under a filter, and can gain nothing.
pub async fn a_command_has_no_power(bench: &Bench) {
    let staged = bench.staged("confinement-power").await;
    let status = output(bench, &staged, &["read", "/proc/self/status"]).await;
    let field = |name: &str| -> String {
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.unwrap_or_else(|| panic!("{name} is not in {status}")).trim().to_owned()
    };
    for set in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
        assert_eq!(field(set).trim_start_matches('0'), "", "{set}");
    }
    assert_eq!((field("NoNewPrivs").as_str(), field("Seccomp").as_str()), ("1", "2"));
    for ids in ["Uid", "Gid"] {
        assert!(field(ids).split_whitespace().all(|id| id != "0"), "{ids}: {}", field(ids));
    }
    assert_ne!(field("PPid"), "0", "the command is not the init");
    bench.destroy(&staged).await;
}

/// The environment is what the catalog says, and nothing of whoever started the sandbox.
pub async fn the_environment_is_given_whole(bench: &Bench) {
    let staged = bench.staged("confinement-environment").await;
    let mut command = bench.command(&staged, &["environment"]);
    command.environment = vec![("LANG".into(), "C".into()), ("EMPTY".into(), String::new())];
    let seen = bench.execute(&staged, command).await;
    assert_eq!(bench.blob(seen.stdout.artifact).await, "LANG=C\0EMPTY=\0ok 14\n");
    let descriptors = output(bench, &staged, &["list", "/proc/self/fd"]).await;
    let mut numbers: Vec<&str> = descriptors.lines().filter(|line| !line.starts_with("ok")).collect();
    numbers.sort_unstable();
    // The fourth is the directory that is being listed.
    assert_eq!(numbers, ["0", "1", "2", "3"]);
    bench.destroy(&staged).await;
}

/// Nothing of the host's files is there, and what is there of the system cannot be written.
pub async fn the_file_system_is_reduced(bench: &Bench) {
    let canary = std::env::temp_dir().join(format!("ambit-canary-{}", std::process::id()));
    std::fs::write(&canary, "canary").unwrap();
    let staged = bench.staged_from(ambit_ports::sandbox::SandboxSpec {
        fixtures: vec![bench.fixture("seed", b"seeded").await],
        ..bench.spec("confinement-files")
    });
    let staged = staged.await;
    bench.refused(&staged, &["read", canary.to_str().unwrap()], &[ENOENT, EACCES]).await;
    std::fs::remove_file(&canary).unwrap();
    bench.allowed(&staged, &["read", "/workspace/sub/file"]).await;
    bench.allowed(&staged, &["read", "/fixtures/seed/seed.txt"]).await;

    for at in ["/x", "/usr/x", "/etc/x", "/fixtures/x", "/fixtures/seed/seed.txt", "/dev/x", "/proc/x"] {
        bench.refused(&staged, &["write", at, "x"], &[EROFS, EACCES, ENOENT, EPERM]).await;
    }
    for at in ["/workspace/x", "/tmp/x", "/dev/shm/x", "/dev/null"] {
        bench.allowed(&staged, &["write", at, "x"]).await;
    }
    for at in [
        "/proc/sysrq-trigger",
        "/proc/sys/kernel/core_pattern",
        "/proc/sys/vm/panic_on_oom",
        "/proc/irq/0/smp_affinity",
    ] {
        bench.refused(&staged, &["write", at, "x"], &[EROFS, EACCES, ENOENT, EPERM]).await;
    }
    for at in ["/proc/kcore", "/proc/keys", "/proc/config.gz", "/proc/timer_list", "/proc/kallsyms"] {
        let said = bench.attempt(&staged, &["read", at]).await;
        assert!(said == "ok 0" || said.starts_with("errno "), "{at}: {said}");
    }
    for at in
        ["/proc/1/environ", "/proc/1/root", "/proc/1/cwd", "/proc/1/mem", "/sys/kernel", "/home", "/root"]
    {
        let word = if at.ends_with("environ") || at.ends_with("mem") { "read" } else { "list" };
        bench.refused(&staged, &[word, at], &[EACCES, ENOENT, EPERM]).await;
    }
    let devices = output(bench, &staged, &["list", "/dev"]).await;
    let known = [
        "null", "zero", "full", "random", "urandom", "tty", "fd", "stdin", "stdout", "stderr", "shm", "pts",
        "ptmx",
    ];
    let strange: Vec<&str> =
        devices.lines().filter(|line| !line.starts_with("ok") && !known.contains(line)).collect();
    assert!(strange.is_empty(), "{strange:?}");
    bench.destroy(&staged).await;
}

/// Nothing that tells about the host can be read below `/proc`, and what programs need to know of the machine can.
pub async fn proc_tells_nothing_of_the_host(bench: &Bench) {
    let staged = bench.staged("confinement-proc").await;
    for file in [
        "buddyinfo",
        "cmdline",
        "config.gz",
        "consoles",
        "diskstats",
        "interrupts",
        "iomem",
        "ioports",
        "kallsyms",
        "kcore",
        "key-users",
        "keys",
        "kmsg",
        "latency_stats",
        "modules",
        "partitions",
        "sched_debug",
        "softirqs",
        "sys/kernel/random/boot_id",
        "timer_list",
        "zoneinfo",
    ] {
        let said = bench.attempt(&staged, &["read", &format!("/proc/{file}")]).await;
        assert!(["ok 0", "errno 2", "errno 13"].contains(&said.as_str()), "{file}: {said}");
    }
    for directory in ["acpi", "asound", "scsi"] {
        let said = bench.attempt(&staged, &["list", &format!("/proc/{directory}")]).await;
        assert!(said == "ok 0" || said == "errno 2", "{directory}: {said}");
    }
    for file in [
        "cpuinfo",
        "meminfo",
        "stat",
        "loadavg",
        "uptime",
        "version",
        "filesystems",
        "sys/vm/overcommit_memory",
    ] {
        let said = bench.attempt(&staged, &["read", &format!("/proc/{file}")]).await;
        assert!(said.starts_with("ok ") && said != "ok 0", "{file}: {said}");
    }
    let said = bench.attempt(&staged, &["list", "/sys"]).await;
    assert!(said == "ok 0" || said == "errno 2", "/sys: {said}");
    for switch in
        ["kernel/core_pattern", "vm/overcommit_memory", "net/ipv4/ip_forward", "kernel/random/boot_id"]
    {
        let place = format!("/proc/sys/{switch}");
        bench.refused(&staged, &["path-call", "2", &place, "1"], &[EROFS, EACCES]).await;
    }
    bench.destroy(&staged).await;
}

/// The only network is the sandbox's own loopback.
pub async fn there_is_no_way_out(bench: &Bench) {
    let staged = bench.staged("confinement-network").await;
    bench.allowed(&staged, &["loopback"]).await;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    assert!(
        std::net::TcpStream::connect(listener.local_addr().unwrap()).is_ok(),
        "the host's listener works"
    );
    bench.refused(&staged, &["connect", "127.0.0.1", &port], &[ECONNREFUSED]).await;
    for address in ["192.0.2.1", "169.254.169.254", "10.0.0.1"] {
        bench.refused(&staged, &["connect", address, "80"], &[ENETUNREACH]).await;
    }
    let interfaces = output(bench, &staged, &["read", "/proc/net/dev"]).await;
    let names: Vec<&str> =
        interfaces.lines().filter_map(|line| Some(line.split_once(':')?.0.trim())).collect();
    assert_eq!(names, ["lo"]);
    bench.destroy(&staged).await;
}

/// The calls by which programs leave sandboxes are refused; their harmless relatives work.
pub async fn the_kernel_is_out_of_reach(bench: &Bench) {
    if !cfg!(target_arch = "x86_64") {
        return;
    }
    let staged = bench.staged("confinement-kernel").await;
    let denied = [EPERM, ENOSYS];
    for number in [
        "165",
        "166",
        "155",
        "161",
        "428",
        "429",
        "430",
        "442", // mounts and roots
        "321",
        "298",
        "323",
        "425",
        "101",
        "310",
        "311",
        "438", // bpf, perf, userfaultfd, io_uring, other processes
        "248",
        "249",
        "250", // keys
        "246",
        "320",
        "175",
        "313",
        "169",
        "167",
        "163",
        "164",
        "227",
        "179",
        "103",
        "304",
        "300",
        "447",
        "272 0x10000000",
        "272 0x20000",
        "308 3 0",
        "56 0x10000000",
        "56 0x40000011",
        "435", // namespaces
        "135 0x40000",
        "139 1",
    ] {
        let words: Vec<&str> = std::iter::once("call").chain(number.split(' ')).collect();
        bench.refused(&staged, &words, &denied).await;
    }
    // socket(domain, type, protocol)
    for socket in ["17 3 0", "38 5 0", "16 3 12", "2 3 1", "40 1 0", "31 3 0"] {
        let words: Vec<&str> = ["call", "41"].into_iter().chain(socket.split(' ')).collect();
        bench.refused(&staged, &words, &denied).await;
    }
    bench.refused(&staged, &["call", "41", "2", "1", "132"], &[EPROTONOSUPPORT, EPERM]).await;
    for socket in ["1 1 0", "2 1 0", "2 2 17", "10 1 6", "16 3 0"] {
        let words: Vec<&str> = ["call", "41"].into_iter().chain(socket.split(' ')).collect();
        bench.allowed(&staged, &words).await;
    }
    for number in ["39", "102", "135 0xffffffff", "272 0"] {
        let words: Vec<&str> = std::iter::once("call").chain(number.split(' ')).collect();
        bench.allowed(&staged, &words).await;
    }
    bench.destroy(&staged).await;
}

/// The first process inside cannot be stopped, slowed or looked into by a command.
pub async fn the_init_is_out_of_reach(bench: &Bench) {
    if !cfg!(target_arch = "x86_64") {
        return;
    }
    let staged = bench.staged("confinement-init").await;
    for signal in ["9", "19", "15", "11"] {
        // The kernel takes the signal and does not deliver it.
        let _ = bench.probe(&staged, &["call", "62", "1", signal]).await;
    }
    bench.allowed(&staged, &["loopback"]).await;
    // prlimit64, sched_setaffinity, setpriority, ioprio_set, ptrace attach, of process 1
    for words in [
        ["302", "1", "7", "0"],
        ["203", "1", "8", "0"],
        ["141", "0", "1", "19"],
        ["251", "1", "1", "0"],
        ["101", "16", "1", "0"],
    ] {
        let words: Vec<&str> = std::iter::once("call").chain(words).collect();
        bench.refused(&staged, &words, &[EPERM]).await;
    }
    bench.allowed(&staged, &["call", "302", "0", "7", "0"]).await;
    bench.allowed(&staged, &["call", "141", "0", "0", "19"]).await;
    bench.allowed(&staged, &["loopback"]).await;
    bench.destroy(&staged).await;
}

/// A set-user-ID file gives nobody another user, and devices cannot be made.
pub async fn files_give_no_power(bench: &Bench) {
    if !cfg!(target_arch = "x86_64") {
        return;
    }
    let staged = bench.staged("confinement-setuid").await;
    // mknod(path, block device, 8:0), and as a control a named pipe.
    bench.refused(&staged, &["path-call", "133", "/tmp/disk", "0x61a4", "0x800"], &[EPERM]).await;
    bench.allowed(&staged, &["fifo", "/tmp/pipe"]).await;
    let mounts = output(bench, &staged, &["read", "/proc/self/mountinfo"]).await;
    // The last mount at a place is the one that is seen there.
    let seen: BTreeMap<&str, &str> = mounts
        .lines()
        .filter_map(|line| {
            let mut fields = line.split(' ').skip(4);
            Some((fields.next().filter(|at| at.starts_with('/'))?, fields.next()?))
        })
        .collect();
    for (at, options) in seen {
        let options: Vec<&str> = options.split(',').collect();
        assert!(options.contains(&"nosuid"), "{at}: {options:?}");
        let writable = matches!(at, "/workspace" | "/tmp" | "/proc");
        assert_eq!(options.contains(&"rw"), writable, "{at}: {options:?}");
    }
    bench.destroy(&staged).await;
}
