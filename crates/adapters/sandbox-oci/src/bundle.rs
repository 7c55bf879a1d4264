//! The bundle: `config.json` of the OCI runtime specification, built from typed values.
//!
//! These few structures say exactly what a container of ours needs. A library of the whole specification would let every
//! field be left out in silence; here a control that is not written does not compile.

use std::path::{Path, PathBuf};

use ambit_ids::ExecutionLimits;
use ambit_ports::sandbox::NamedCommand;
use ambit_staging::Owner;
use rustix::process::{Resource, getrlimit};
use serde::Serialize;

use crate::runtime::Kind;
use crate::seccomp::Filter;
use crate::stage::{FIRST, Places};

/// The version of the specification that is asked for: the oldest that every runtime of today reads.
const SPECIFICATION: &str = "1.0.2";
const OPEN_FILES: u64 = 4096;
/// Where no control group bounds what the kernel holds for them: a socket's buffers alone are a fifth of a mebibyte.
const FEW_OPEN_FILES: u64 = 1024;
/// Behind the control group's own limit, which is told, and far enough back that that one is met first.
const PROCESSES_BEHIND: u64 = 64;
/// What all POSIX message queues of the command's user hold together: the kernel's own default.
const QUEUE_BYTES: u64 = 819_200;

/// Files and directories of `/proc` that tell about the host, and could be read by anyone: the kernel's addresses, keys, log,
/// timers and configuration, how it was started and which start this is; where its memory is free, which is half of an
/// attack on it; its hardware and disks, and how often each interrupt comes, which is what others type.
const MASKED: [&str; 25] = [
    "/proc/acpi",
    "/proc/asound",
    "/proc/buddyinfo",
    "/proc/cmdline",
    "/proc/config.gz",
    "/proc/consoles",
    "/proc/diskstats",
    "/proc/interrupts",
    "/proc/iomem",
    "/proc/ioports",
    "/proc/kallsyms",
    "/proc/kcore",
    "/proc/key-users",
    "/proc/keys",
    "/proc/kmsg",
    "/proc/latency_stats",
    "/proc/modules",
    "/proc/partitions",
    "/proc/sched_debug",
    "/proc/scsi",
    "/proc/softirqs",
    "/proc/sys/kernel/random/boot_id",
    "/proc/sysrq-trigger",
    "/proc/timer_list",
    "/proc/zoneinfo",
];

/// Directories of `/proc` that stay readable and cannot be written.
const FROZEN: [&str; 4] = ["/proc/sys", "/proc/bus", "/proc/fs", "/proc/irq"];

/// `config.json`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Config {
    oci_version: &'static str,
    hostname: &'static str,
    process: Process,
    root: Root,
    mounts: Vec<Mount>,
    linux: Linux,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Process {
    terminal: bool,
    user: User,
    args: Vec<String>,
    /// Nothing: what a command is given goes through the words of the first process, because runtimes add to this.
    env: [String; 0],
    cwd: &'static str,
    capabilities: Capabilities,
    rlimits: Vec<Rlimit>,
    no_new_privileges: bool,
    oom_score_adj: i32,
}

#[derive(Clone, Debug, Serialize)]
struct User {
    uid: u32,
    gid: u32,
}

/// No capability in any set.
#[derive(Clone, Debug, Default, Serialize)]
struct Capabilities {
    bounding: [String; 0],
    effective: [String; 0],
    inheritable: [String; 0],
    permitted: [String; 0],
    ambient: [String; 0],
}

#[derive(Clone, Debug, Serialize)]
struct Rlimit {
    #[serde(rename = "type")]
    kind: &'static str,
    soft: u64,
    hard: u64,
}

#[derive(Clone, Debug, Serialize)]
struct Root {
    path: PathBuf,
    readonly: bool,
}

#[derive(Clone, Debug, Serialize)]
struct Mount {
    destination: String,
    #[serde(rename = "type")]
    kind: &'static str,
    source: PathBuf,
    options: Vec<&'static str>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Linux {
    namespaces: Vec<Namespace>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cgroups_path: Option<String>,
    masked_paths: Vec<&'static str>,
    readonly_paths: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uid_mappings: Option<[Mapping; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gid_mappings: Option<[Mapping; 1]>,
    seccomp: Filter,
}

#[derive(Clone, Debug, Serialize)]
struct Namespace {
    #[serde(rename = "type")]
    kind: &'static str,
}

/// One number inside for one outside.
#[derive(Clone, Copy, Debug, Serialize)]
struct Mapping {
    #[serde(rename = "containerID")]
    inside: u32,
    #[serde(rename = "hostID")]
    outside: u32,
    size: u32,
}

/// What a container is made for.
pub(crate) struct Making<'a> {
    pub(crate) kind: Kind,
    pub(crate) id: &'a str,
    pub(crate) owner: Owner,
    pub(crate) places: &'a Places,
    pub(crate) command: &'a NamedCommand,
    pub(crate) limits: &'a ExecutionLimits,
}

impl Config {
    /// The container of one command.
    pub(crate) fn of(making: &Making<'_>) -> Self {
        let Making { kind, id, owner, places, command, limits } = *making;
        let rootless = !owner.foreign;
        let user = if rootless { kind.user_inside() } else { owner.uid };
        let group = if rootless { user } else { owner.gid };
        let namespaces = ["pid", "network", "ipc", "uts", "mount", "cgroup"];
        let of_users = (rootless && !kind.has_own_kernel()).then_some("user");
        // The one user whom the keeper's namespace knows is its root.
        let mapping = |inside| of_users.map(|_| [Mapping { inside, outside: 0, size: 1 }]);
        Self {
            oci_version: SPECIFICATION,
            hostname: "sandbox",
            process: Process {
                terminal: false,
                user: User { uid: user, gid: group },
                args: words(command, rootless, limits),
                env: [],
                cwd: "/",
                capabilities: Capabilities::default(),
                rlimits: process_limits(kind, rootless, limits),
                no_new_privileges: true,
                oom_score_adj: 1000,
            },
            // It cannot be written as it is mounted. runc making it so once more would take `nosuid` away; crun does anyway.
            root: Root { path: places.root(), readonly: kind != Kind::Runc },
            mounts: mounts(kind, places),
            linux: Linux {
                namespaces: namespaces.into_iter().chain(of_users).map(|kind| Namespace { kind }).collect(),
                // Relative, so that it lies below the group of whoever starts the runtime, on each hierarchy.
                cgroups_path: (!rootless && !kind.has_own_kernel()).then(|| id.to_owned()),
                masked_paths: MASKED.to_vec(),
                readonly_paths: FROZEN.to_vec(),
                uid_mappings: mapping(user),
                gid_mappings: mapping(group),
                seccomp: Filter::of_commands(kind, rootless),
            },
        }
    }
}

/// The words of the first process: its time, the memory of each process where that is bounded by it, the command's directory, its variables and its own words.
fn words(command: &NamedCommand, rootless: bool, limits: &ExecutionLimits) -> Vec<String> {
    // Where no group bounds the memory of all, that of each is bounded. Runtimes cannot do with as little themselves.
    let data_bytes = if rootless { limits.memory_bytes.get() } else { 0 };
    let workdir = command.workdir.as_ref().map_or_else(String::new, ToString::to_string);
    let mut words = vec![
        FIRST.to_owned(),
        "first".to_owned(),
        limits.wall_ms.get().to_string(),
        data_bytes.to_string(),
        workdir,
        command.environment.len().to_string(),
    ];
    words.extend(command.environment.iter().map(|(name, value)| format!("{name}={value}")));
    words.extend(command.argv.iter().cloned());
    words
}

/// The limits of single processes. None is wider than this process's own, which it could not hand on.
fn process_limits(kind: Kind, rootless: bool, limits: &ExecutionLimits) -> Vec<Rlimit> {
    let open_files = if rootless && !kind.has_own_kernel() { FEW_OPEN_FILES } else { OPEN_FILES };
    let behind = kind.counted_beside(rootless).unwrap_or(PROCESSES_BEHIND);
    let all = [
        // No dump to a file, and none to a helper of the host either: that one looks only for this value.
        ("RLIMIT_CORE", Resource::Core, 1),
        ("RLIMIT_CPU", Resource::Cpu, limits.cpu_time_ms.get().div_ceil(1000) + 1),
        ("RLIMIT_NPROC", Resource::Nproc, u64::from(limits.processes) + behind),
        ("RLIMIT_NOFILE", Resource::Nofile, open_files),
        ("RLIMIT_MSGQUEUE", Resource::Msgqueue, QUEUE_BYTES),
    ];
    all.into_iter()
        .map(|(kind, resource, wanted)| {
            let limit = getrlimit(resource).maximum.map_or(wanted, |maximum| maximum.min(wanted));
            Rlimit { kind, soft: limit, hard: limit }
        })
        .collect()
}

fn mounts(kind: Kind, places: &Places) -> Vec<Mount> {
    let bind = |destination: &str, source: PathBuf, options: &[&'static str]| Mount {
        destination: destination.to_owned(),
        kind: "bind",
        source,
        options: ["bind", "nosuid"].iter().chain(options).copied().collect(),
    };
    let mut mounts = vec![Mount {
        destination: "/proc".into(),
        kind: "proc",
        source: "proc".into(),
        options: vec!["nosuid", "nodev", "noexec"],
    }];
    if kind.has_own_kernel() {
        // Its devices are its own.
        mounts.push(Mount {
            destination: "/dev".into(),
            kind: "tmpfs",
            source: "tmpfs".into(),
            options: vec!["nosuid", "noexec"],
        });
        mounts.push(bind("/dev/shm", places.temporary(), &["rw", "nodev"]));
    } else {
        mounts.push(bind("/dev", places.devices(), &["ro", "noexec"]));
        mounts.extend(
            crate::stage::DEVICES
                .map(|name| bind(&format!("/dev/{name}"), Path::new("/dev").join(name), &["ro", "noexec"])),
        );
    }
    mounts.push(bind("/workspace", places.workspace(), &["rw", "nodev"]));
    mounts.push(bind("/tmp", places.temporary(), &["rw", "nodev"]));
    mounts.push(bind("/fixtures", places.fixtures.clone(), &["ro", "nodev", "noexec"]));
    mounts.extend(
        places
            .volumes
            .iter()
            .map(|(name, source)| bind(&format!("/volumes/{name}"), source.clone(), &["ro", "nodev"])),
    );
    mounts
}
