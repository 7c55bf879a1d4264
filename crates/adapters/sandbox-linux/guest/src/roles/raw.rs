//! The system calls that no safe wrapper covers. Every unsafe block of the guest's logic is here.

use core::arch::asm;
use core::ffi::{CStr, c_char};
use core::marker::PhantomData;

use linux_raw_sys::general as sys;
use rustix::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use rustix::io::Errno;
use rustix::process::Pid;

use crate::wire::STRINGS;

mod attempt;
mod filter;
mod landlock;
mod mounts;
mod objects;
mod place;
mod thread;

pub use attempt::{OLD_FAMILY, attempt};
pub use filter::{Answer, Asked, answer, receive, set_filter, set_mute_filter};
pub use landlock::{Handled, landlock_allow, landlock_restrict, landlock_ruleset, landlock_version};
pub use mounts::{Reach, let_write, map_owners, restrict_mount};
pub use objects::remove_objects;
pub use place::go_on_in_a_small_place;
pub use thread::go_on_in_a_thread;

type Result<T> = core::result::Result<T, Errno>;

const SIGCHLD: u32 = 17;
const SIG_DFL: usize = 0;
const SIG_IGN: usize = 1;

/// Calls the kernel with up to five arguments; a sixth is zero.
///
/// # Safety
/// As the call: every pointer among the arguments must be valid for what the call does with it.
unsafe fn call(number: u32, arguments: [usize; 5]) -> Result<usize> {
    let [first, second, third, fourth, fifth] = arguments;
    let answer: isize;
    // SAFETY: the kernel's calling convention of this architecture; the caller vouches for the arguments.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as usize => answer,
            in("rdi") first,
            in("rsi") second,
            in("rdx") third,
            in("r10") fourth,
            in("r8") fifth,
            in("r9") 0_usize,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    checked(answer)
}

/// The kernel's answer: a value, or the error number as a negative one.
fn checked(answer: isize) -> Result<usize> {
    usize::try_from(answer).map_err(|_| {
        Errno::from_raw_os_error(i32::try_from(answer.wrapping_neg()).unwrap_or(Errno::INVAL.raw_os_error()))
    })
}

fn raw_fd(fd: &impl AsRawFd) -> usize {
    usize::try_from(fd.as_raw_fd()).unwrap_or(usize::MAX)
}

/// Which of two processes a fork returned in.
pub enum Fork<T> {
    /// The new one.
    Child,
    /// The old one, with what it knows of the new one.
    Parent(T),
}

/// Forks this single-threaded process; the old one learns the id of the new.
pub fn fork() -> Result<Fork<Pid>> {
    // SAFETY: takes no pointer. Without CLONE_VM the child has its own copy of everything, so both sides go on as after
    // any fork.
    let pid = unsafe { call(sys::__NR_clone, [SIGCHLD as usize, 0, 0, 0, 0]) }?;
    Ok(i32::try_from(pid).ok().and_then(Pid::from_raw).map_or(Fork::Child, Fork::Parent))
}

/// Forks into new namespaces (`CLONE_NEW*`), born in `cgroup` where one is given; the old process gets a descriptor of the
/// new one as well.
pub fn fork_into(namespaces: u64, cgroup: Option<BorrowedFd<'_>>) -> Result<Fork<(Pid, OwnedFd)>> {
    let mut descriptor: i32 = -1;
    let mut arguments = sys::clone_args {
        flags: namespaces | u64::from(sys::CLONE_PIDFD),
        pidfd: (&raw mut descriptor) as u64,
        child_tid: 0,
        parent_tid: 0,
        exit_signal: u64::from(SIGCHLD),
        stack: 0,
        stack_size: 0,
        tls: 0,
        set_tid: 0,
        set_tid_size: 0,
        cgroup: 0,
    };
    if let Some(cgroup) = cgroup {
        arguments.flags |= sys::CLONE_INTO_CGROUP;
        arguments.cgroup = raw_fd(&cgroup) as u64;
    }
    let at = (&raw mut arguments) as usize;
    // SAFETY: `arguments` is valid for its size, and so is the place of the descriptor that it names. Without
    // CLONE_VM the child has its own copy of everything.
    let pid = unsafe { call(sys::__NR_clone3, [at, size_of::<sys::clone_args>(), 0, 0, 0]) }?;
    match i32::try_from(pid).ok().and_then(Pid::from_raw) {
        None => Ok(Fork::Child),
        // SAFETY: on success the kernel put a new descriptor there, and nobody else knows of it.
        Some(pid) => Ok(Fork::Parent((pid, unsafe { OwnedFd::from_raw_fd(descriptor) }))),
    }
}

/// Texts as an exec takes them: pointers, and a null pointer after the last.
pub struct Strings<'a> {
    pointers: &'static mut [*const c_char; STRINGS + 1],
    texts: PhantomData<&'a CStr>,
}

impl<'a> Strings<'a> {
    /// The list of these texts.
    ///
    /// # Errors
    /// `E2BIG` where there are more than [`STRINGS`].
    pub fn of(texts: impl Iterator<Item = &'a CStr>) -> Result<Self> {
        let list = Self { pointers: allocate()?, texts: PhantomData };
        for (index, text) in texts.enumerate() {
            if index == STRINGS {
                return Err(Errno::TOOBIG);
            }
            list.pointers[index] = text.as_ptr();
        }
        Ok(list)
    }
}

/// Replaces this process. Answers only where that fails.
pub fn execve(program: &CStr, arguments: &Strings<'_>, environment: &Strings<'_>) -> Errno {
    let (arguments, environment) =
        (arguments.pointers.as_ptr() as usize, environment.pointers.as_ptr() as usize);
    // SAFETY: a NUL-terminated path, and two lists of pointers to NUL-terminated texts that live as long as the lists,
    // which end with a null pointer because one more than the texts has a place.
    match unsafe { call(sys::__NR_execve, [program.as_ptr() as usize, arguments, environment, 0, 0]) } {
        Ok(_) => Errno::INVAL,
        Err(errno) => errno,
    }
}

/// Ends this process.
pub fn exit(code: u8) -> ! {
    loop {
        // SAFETY: takes no pointer.
        let _ = unsafe { call(sys::__NR_exit_group, [usize::from(code), 0, 0, 0, 0]) };
    }
}

/// Sends `signal` to every process that this one may signal, but not to itself and not to init.
pub fn kill_all(signal: u32) -> Result<()> {
    // SAFETY: takes no pointer.
    unsafe { call(sys::__NR_kill, [usize::MAX, signal as usize, 0, 0, 0]) }.map(drop)
}

/// What becomes of a range of descriptors.
#[derive(Clone, Copy)]
pub enum Closing {
    /// They are closed. The caller owns none of them.
    Now,
    /// They are closed when this process becomes another program.
    AtExec,
}

/// Closes every descriptor from `first` on.
pub fn close_from(first: u32, closing: Closing) -> Result<()> {
    let flags = match closing {
        Closing::Now => 0,
        Closing::AtExec => 1 << 2,
    };
    // No descriptor is higher, and not every kernel takes a number that is.
    let last = i32::MAX as usize;
    // SAFETY: takes no pointer.
    unsafe { call(sys::__NR_close_range, [first as usize, last, flags, 0, 0]) }.map(drop)
}

/// A standard stream of this process. Each of the three is open from the start to the end of every role.
pub fn standard_stream(number: i32) -> BorrowedFd<'static> {
    // SAFETY: the stream is never closed, only replaced, and the clamp keeps the number one of the three.
    unsafe { BorrowedFd::borrow_raw(number.clamp(0, 2)) }
}

/// A type of which memory full of zeroes is a value.
///
/// # Safety
/// As it says.
pub unsafe trait Zeroed {}

// SAFETY: zero is a byte.
unsafe impl<const N: usize> Zeroed for [u8; N] {}

// SAFETY: zero is the null pointer.
unsafe impl<const N: usize> Zeroed for [*const c_char; N] {}

/// A value of zeroes in memory of its own, which is never given back. Pages of it that nobody touches cost nothing.
pub fn allocate<T: Zeroed>() -> Result<&'static mut T> {
    let protection = (sys::PROT_READ | sys::PROT_WRITE) as usize;
    let flags = (sys::MAP_PRIVATE | sys::MAP_ANONYMOUS) as usize;
    let near = place::near(size_of::<T>());
    // SAFETY: a mapping at a place of the kernel's choice, with an offset of zero.
    let at = unsafe { call(sys::__NR_mmap, [near, size_of::<T>(), protection, flags, usize::MAX]) }?;
    // SAFETY: the region starts on a page, is as large as the type and full of zeroes, and only the answer refers to it.
    Ok(unsafe { &mut *(at as *mut T) })
}

const fn signal_bit(signal: u32) -> u64 {
    1 << (signal - 1)
}

fn set_blocked(signals: u64) -> Result<()> {
    let at = (&raw const signals) as usize;
    // SAFETY: reads one signal set of eight bytes.
    unsafe { call(sys::__NR_rt_sigprocmask, [sys::SIG_SETMASK as usize, at, 0, size_of::<u64>(), 0]) }
        .map(drop)
}

/// Blocks every signal, so that those of ended children are only read from a descriptor.
pub fn block_signals() -> Result<()> {
    set_blocked(u64::MAX)
}

/// Lets every signal through.
pub fn unblock_signals() -> Result<()> {
    set_blocked(0)
}

/// A descriptor that is readable when a child has ended. Needs the signal blocked.
pub fn child_events() -> Result<OwnedFd> {
    let signals = signal_bit(SIGCHLD);
    let at = (&raw const signals) as usize;
    let flags = (sys::O_CLOEXEC | sys::O_NONBLOCK) as usize;
    // SAFETY: reads one signal set of eight bytes.
    let fd = unsafe { call(sys::__NR_signalfd4, [usize::MAX, at, size_of::<u64>(), flags, 0]) }?;
    let fd = i32::try_from(fd).map_err(|_| Errno::BADF)?;
    // SAFETY: a new descriptor that nobody else knows of.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// What becomes of ended children.
#[derive(Clone, Copy)]
pub enum Children {
    /// The kernel forgets them at once.
    Forgotten,
    /// They wait to be waited for.
    Awaited,
}

/// Sets what becomes of ended children.
pub fn set_children(children: Children) -> Result<()> {
    let handler = match children {
        Children::Forgotten => SIG_IGN,
        Children::Awaited => SIG_DFL,
    };
    // The kernel's structure: handler, flags, restorer, mask.
    let action: [usize; 4] = [handler, 0, 0, 0];
    let at = action.as_ptr() as usize;
    // SAFETY: reads one action of four words; neither disposition calls a handler.
    unsafe { call(sys::__NR_rt_sigaction, [SIGCHLD as usize, at, 0, size_of::<u64>(), 0]) }.map(drop)
}

/// Processor time of the children that were waited for, and of theirs, in microseconds.
pub fn children_cpu_us() -> u64 {
    // Two times of seconds and microseconds lead the structure of 18 words.
    let mut usage = [0_i64; 18];
    let at = usage.as_mut_ptr() as usize;
    // SAFETY: the kernel writes one structure of 18 words.
    if unsafe { call(sys::__NR_getrusage, [usize::MAX, at, 0, 0, 0]) }.is_err() {
        return 0;
    }
    let [user_s, user_us, system_s, system_us, ..] = usage;
    u64::try_from((user_s + system_s) * 1_000_000 + user_us + system_us).unwrap_or(0)
}

/// The monotonic clock in microseconds.
pub fn monotonic_us() -> u64 {
    let mut time = [0_i64; 2];
    let at = time.as_mut_ptr() as usize;
    // SAFETY: the kernel writes one time of two words.
    let _ = unsafe { call(sys::__NR_clock_gettime, [sys::CLOCK_MONOTONIC as usize, at, 0, 0, 0]) };
    let [seconds, nanoseconds] = time;
    u64::try_from(seconds * 1_000_000 + nanoseconds / 1000).unwrap_or(0)
}

/// Whether two processes have one memory. Where the kernel does not tell, they have not.
pub fn share_memory(one: usize, other: usize) -> bool {
    const MEMORY: usize = 1;
    // SAFETY: takes no pointer.
    let told = unsafe { call(sys::__NR_kcmp, [one, other, MEMORY, 0, 0]) };
    told == Ok(0)
}

/// Brings the loopback interface of this network namespace up.
pub fn raise_loopback(socket: BorrowedFd<'_>) -> Result<()> {
    // The kernel's `ifreq`: a name of 16 bytes, then here the flags.
    let mut request = [0_u8; 40];
    request[..2].copy_from_slice(b"lo");
    let flags = u16::try_from(linux_raw_sys::net::net_device_flags::IFF_UP as u32).unwrap_or(1);
    request[16..18].copy_from_slice(&flags.to_ne_bytes());
    let at = request.as_mut_ptr() as usize;
    let operation = linux_raw_sys::ioctl::SIOCSIFFLAGS as usize;
    // SAFETY: reads one `ifreq` of 40 bytes.
    unsafe { call(sys::__NR_ioctl, [raw_fd(&socket), operation, at, 0, 0]) }.map(drop)
}

/// A namespace that this process can leave for a fresh one.
#[derive(Clone, Copy)]
pub enum Fresh {
    /// System V objects and message queues.
    Ipc,
    /// The view of the control groups.
    Cgroup,
}

/// Leaves one namespace for a fresh one.
pub fn renew(namespace: Fresh) -> Result<()> {
    let flag = match namespace {
        Fresh::Ipc => sys::CLONE_NEWIPC,
        Fresh::Cgroup => sys::CLONE_NEWCGROUP,
    };
    // SAFETY: takes no pointer, and neither flag changes what this program's memory or descriptors mean.
    unsafe { call(sys::__NR_unshare, [flag as usize, 0, 0, 0, 0]) }.map(drop)
}

/// Leaves for fresh namespaces (`CLONE_NEW*`); that of processes is for the children alone.
pub fn leave_for(namespaces: u32) -> Result<()> {
    // SAFETY: takes no pointer, and no flag of a namespace changes what this program's memory or descriptors mean.
    unsafe { call(sys::__NR_unshare, [namespaces as usize, 0, 0, 0, 0]) }.map(drop)
}

/// Moves this process to a personality-free state: no executable stack or old memory layout is inherited.
pub fn reset_personality() -> Result<()> {
    // SAFETY: takes no pointer.
    unsafe { call(sys::__NR_personality, [0, 0, 0, 0, 0]) }.map(drop)
}
