//! `/proc`, reduced to the sandbox's own processes and to what programs need to know of the machine.
//!
//! It cannot be left to the kernel's own reduction (`subset=pid`): that leaves out `cpuinfo`, `meminfo`, `stat` and the
//! switches, which every larger runtime reads. Nor are other users' processes hidden (`hidepid`): there are none, the first
//! process cannot be looked into because it cannot be dumped, and the option would hide from the guest what makes itself
//! undumpable. There is no `/sys` at all: what is in it is the machine's, and programs get by without.

use core::ffi::CStr;

use linux_raw_sys::general as sys;
use rustix::fd::AsFd as _;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, mkdirat, openat, unlinkat};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen, mount_bind,
};

use crate::roles::mounts::{READ_ONLY, attach, restricted_copy};

/// Files that tell about the host, and could be read by anyone: the kernel's addresses, keys, log, timers and
/// configuration, how it was started and which start this is; where its memory is free, which is half of an attack on it;
/// its hardware and disks, and how often each interrupt comes, which is what others type.
const MASKED: [&CStr; 22] = [
    c"proc/buddyinfo",
    c"proc/cmdline",
    c"proc/config.gz",
    c"proc/consoles",
    c"proc/diskstats",
    c"proc/interrupts",
    c"proc/iomem",
    c"proc/ioports",
    c"proc/kallsyms",
    c"proc/kcore",
    c"proc/key-users",
    c"proc/keys",
    c"proc/kmsg",
    c"proc/latency_stats",
    c"proc/modules",
    c"proc/partitions",
    c"proc/sched_debug",
    c"proc/softirqs",
    c"proc/sys/kernel/random/boot_id",
    c"proc/sysrq-trigger",
    c"proc/timer_list",
    c"proc/zoneinfo",
];

/// Directories that do so.
const EMPTIED: [&CStr; 3] = [c"proc/acpi", c"proc/asound", c"proc/scsi"];

/// Directories that stay readable and cannot be written.
const FROZEN: [&CStr; 4] = [c"proc/sys", c"proc/bus", c"proc/fs", c"proc/irq"];

/// What lies over a hidden file and over a hidden directory, while it is made, and the directory of both.
const MADE: [&CStr; 3] = [c"fixtures/empty/file", c"fixtures/empty/directory", c"fixtures/empty"];
/// Where that directory is attached until the host's root goes, and with it this: each mount that goes by itself makes the
/// kernel wait for every processor.
const HELD: &CStr = c"workspace/proc";
const EMPTY_FILE: &CStr = c"workspace/proc/file";
const EMPTY_DIRECTORY: &CStr = c"workspace/proc/directory";

/// Mounts a fresh one.
pub(crate) fn mount() -> Result<(), Errno> {
    let context = fsopen(c"proc", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(context.as_fd())?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    let proc = fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)?;
    attach(proc.as_fd(), CWD, c"proc")
}

/// Hides what is to be hidden, while the root can still be written.
pub(crate) fn reduce() -> Result<(), Errno> {
    let read_only = READ_ONLY | sys::MOUNT_ATTR_NOEXEC;
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
    let [file, directory, both] = MADE;
    mkdirat(CWD, both, Mode::from_raw_mode(0o555))?;
    openat(CWD, file, flags, Mode::from_raw_mode(0o444))?;
    mkdirat(CWD, directory, Mode::from_raw_mode(0o555))?;
    // A mount of its own: what is bound from there inherits that it cannot be written.
    attach(restricted_copy(CWD, both, read_only)?.as_fd(), CWD, HELD)?;
    for (empty, hidden) in [(EMPTY_FILE, &MASKED[..]), (EMPTY_DIRECTORY, &EMPTIED[..])] {
        for path in hidden {
            unless_absent(mount_bind(empty, *path))?;
        }
    }
    // No name of them is left in the root.
    unlinkat(CWD, file, AtFlags::empty())?;
    unlinkat(CWD, directory, AtFlags::REMOVEDIR)?;
    unlinkat(CWD, both, AtFlags::REMOVEDIR)?;
    for path in FROZEN {
        match restricted_copy(CWD, path, read_only) {
            Ok(copy) => attach(copy.as_fd(), CWD, path)?,
            Err(errno) => unless_absent(Err(errno))?,
        }
    }
    Ok(())
}

/// Not every kernel has everything.
fn unless_absent(outcome: Result<(), Errno>) -> Result<(), Errno> {
    match outcome {
        Err(Errno::NOENT) => Ok(()),
        other => other,
    }
}
