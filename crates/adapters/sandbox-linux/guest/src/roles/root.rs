//! The root of a sandbox: an image that cannot be written, a reduced `/proc`, six devices, and nothing of the host.

use core::ffi::CStr;
use core::mem::MaybeUninit;

use linux_raw_sys::general as sys;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, mkdirat, openat, readlinkat_raw, symlinkat};
use rustix::io::Errno;
use rustix::mount::{
    MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount_change, move_mount, open_tree,
};

use crate::Step;
use crate::roles::declared::Declared;
use crate::roles::mounts::{READ_ONLY, Source, WORKSPACE, attach, leave_host, restricted_copy, temporary};
use crate::roles::proc;
use crate::roles::raw::{self, Reach};
use crate::wire::Failed;

/// The directories that the sandbox itself provides, whatever the image holds under these names.
const OWN: [&CStr; 6] = [c"proc", c"dev", c"tmp", c"workspace", c"fixtures", c"sys"];

/// The most entries at the top of an image.
const IMAGE_ENTRIES: usize = 64;

const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];

/// The least, the first and the most bytes of a TCP buffer: none grows beyond the size that other sockets have.
const SMALL_BUFFERS: &[u8] = b"4096 65536 212992";

const DEVICE_LINKS: [(&CStr, &CStr); 5] = [
    (c"/proc/self/fd", c"dev/fd"),
    (c"/proc/self/fd/0", c"dev/stdin"),
    (c"/proc/self/fd/1", c"dev/stdout"),
    (c"/proc/self/fd/2", c"dev/stderr"),
    (c"/tmp", c"dev/shm"),
];

/// Names the step at which something failed.
pub(crate) trait At<T> {
    /// Names the step.
    fn at(self, step: Step) -> Result<T, Failed>;
}

impl<T> At<T> for Result<T, Errno> {
    fn at(self, step: Step) -> Result<T, Failed> {
        self.map_err(|errno| Failed { step, errno: errno.raw_os_error() })
    }
}

/// Builds everything that does not depend on the image, and enters it. The host's root stays reachable only for this
/// process, below the workspace, until [`assemble`] takes it away. Where memory is `counted`, what the kernel holds for a
/// socket is kept small, and memory cannot be made from a device.
pub(crate) fn enter(counted: bool) -> Result<(), Failed> {
    mount_change(c"/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC).at(Step::Root)?;
    let root = temporary(c"64k", c"160", c"0755").at(Step::Root)?;
    // Any directory serves as the place to attach it, and this one exists on every host that can run sandboxes.
    attach(root.as_fd(), CWD, c"/proc").at(Step::Root)?;
    rustix::process::fchdir(&root).at(Step::Root)?;
    for name in OWN {
        if name != c"sys" {
            mkdirat(CWD, name, Mode::from_raw_mode(0o755)).at(Step::Root)?;
        }
    }
    rustix::process::pivot_root(c".", c"workspace").at(Step::Pivot)?;
    rustix::process::chdir(c"/").at(Step::Pivot)?;
    proc::mount().at(Step::Proc)?;
    switch("/proc/sys/user/max_user_namespaces", b"0").at(Step::NestedNamespaces)?;
    // Otherwise a port stays taken for a minute after a command whose server ended first.
    switch("/proc/sys/net/ipv4/tcp_max_tw_buckets", b"0").at(Step::Network)?;
    if counted {
        for buffers in ["/proc/sys/net/ipv4/tcp_rmem", "/proc/sys/net/ipv4/tcp_wmem"] {
            switch(buffers, SMALL_BUFFERS).at(Step::Network)?;
        }
    }
    proc::reduce().at(Step::ProcMask)?;
    devices(counted).at(Step::Devices)
}

/// Sets a switch of the sandbox's own namespaces.
fn switch(path: &str, value: &[u8]) -> Result<(), Errno> {
    let file = openat(CWD, path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(&file, value).map(drop)
}

fn devices(counted: bool) -> Result<(), Errno> {
    let host =
        openat(CWD, c"/workspace/dev", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let own = openat(CWD, c"dev", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    for name in DEVICES {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        openat(&own, name, flags, Mode::from_raw_mode(0o444))?;
        let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
        // It reads the same, but a shared mapping of it would be memory.
        let from = if counted && name == "zero" { "full" } else { name };
        let device = open_tree(&host, from, flags)?;
        raw::restrict_mount(
            device.as_fd(),
            Reach::One,
            sys::MOUNT_ATTR_RDONLY | sys::MOUNT_ATTR_NOSUID | sys::MOUNT_ATTR_NOEXEC,
        )?;
        move_mount(&device, c"", &own, name, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
    }
    for (target, link) in DEVICE_LINKS {
        symlinkat(target, CWD, link)?;
    }
    Ok(())
}

/// Puts the image in place, but for what gives way to the declared volumes, takes the host's root away where that is still there, and makes the root read-only. Answers
/// the directory that holds the staged trees.
pub(crate) fn assemble(
    image: Source<'_>,
    share: Source<'_>,
    declared: &Declared,
    by_path: bool,
) -> Result<OwnedFd, Failed> {
    let image = image.mount().at(Step::Image)?;
    let share = share.mount().at(Step::Share)?;
    if by_path {
        leave_host().at(Step::HostRoot)?;
    }
    attach_image(image.as_fd(), declared).at(Step::Image)?;
    let trees = attach_share(share.as_fd()).at(Step::Share)?;
    let root = openat(CWD, c"/", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .at(Step::ReadOnly)?;
    raw::restrict_mount(root.as_fd(), Reach::One, READ_ONLY).at(Step::ReadOnly)?;
    Ok(trees)
}

fn attach_image(image: BorrowedFd<'_>, declared: &Declared) -> Result<(), Errno> {
    // An entry of a mount can be copied from it only once it is attached; the temporary volume's place is free so far.
    attach(image, CWD, c"/tmp")?;
    let directory =
        openat(CWD, c"/tmp", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let mut space = [MaybeUninit::uninit(); 2048];
    let mut entries = RawDir::new(&directory, &mut space);
    let mut count = 0;
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." || OWN.contains(&name) || declared.takes(name) {
            continue;
        }
        count += 1;
        if count > IMAGE_ENTRIES {
            return Err(Errno::TOOBIG);
        }
        attach_entry(directory.as_fd(), name)?;
    }
    Ok(())
}

fn attach_entry(image: BorrowedFd<'_>, name: &CStr) -> Result<(), Errno> {
    let stat = rustix::fs::statat(image, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let root = openat(CWD, c"/", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Symlink => {
            let mut space = [MaybeUninit::uninit(); 1024];
            let (target, rest) = readlinkat_raw(image, name, &mut space)?;
            if rest.is_empty() {
                return Err(Errno::NAMETOOLONG);
            }
            return symlinkat(&*target, &root, name);
        }
        FileType::Directory => mkdirat(&root, name, Mode::from_raw_mode(0o755))?,
        FileType::RegularFile => {
            let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
            openat(&root, name, flags, Mode::from_raw_mode(0o444)).map(drop)?;
        }
        _ => return Ok(()),
    }
    let copy = restricted_copy(image, name, READ_ONLY)?;
    attach(copy.as_fd(), root.as_fd(), name)
}

fn attach_share(share: BorrowedFd<'_>) -> Result<OwnedFd, Errno> {
    attach(share, CWD, WORKSPACE)?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fixtures = restricted_copy(CWD, c"/workspace/fixtures", READ_ONLY | sys::MOUNT_ATTR_NOEXEC)?;
    attach(fixtures.as_fd(), CWD, c"/fixtures")?;
    openat(CWD, c"/workspace/trees", flags, Mode::empty())
}
