//! The system-call filter, and the calls that it leaves to the guest to decide.

use linux_raw_sys::general as sys;
use rustix::fd::{BorrowedFd, FromRawFd as _, OwnedFd};
use rustix::io::Errno;

use super::{Result, call, raw_fd};

const SET_MODE_FILTER: usize = linux_raw_sys::ptrace::SECCOMP_SET_MODE_FILTER as usize;
const NEW_LISTENER: usize = 1 << 3;
const RECEIVE: usize = 0xc050_2100;
const SEND: usize = 0xc018_2101;
const CONTINUE: u32 = 1;

/// Installs a system-call filter on this process for good. Answers the descriptor at which its questions are answered;
/// `None` where the kernel has none to give, and then it refuses the calls in question itself.
pub fn set_filter(filter: &[u8]) -> Result<Option<OwnedFd>> {
    if let Ok(listener) = install(filter, NEW_LISTENER) {
        let listener = i32::try_from(listener).map_err(|_| Errno::BADF)?;
        // SAFETY: a new descriptor that nobody else knows of.
        return Ok(Some(unsafe { OwnedFd::from_raw_fd(listener) }));
    }
    set_mute_filter(filter).map(|()| None)
}

/// Likewise one that asks nothing, and that leaves it to a later filter to ask: the kernel grants one descriptor only.
pub fn set_mute_filter(filter: &[u8]) -> Result<()> {
    install(filter, 0).map(drop)
}

fn install(filter: &[u8], flags: usize) -> Result<usize> {
    #[repr(C)]
    struct Program {
        len: u16,
        instructions: *const u8,
    }
    let (instructions, rest) = filter.as_chunks::<8>();
    if !rest.is_empty() {
        return Err(Errno::INVAL);
    }
    let len = u16::try_from(instructions.len()).map_err(|_| Errno::INVAL)?;
    let program = Program { len, instructions: filter.as_ptr() };
    let at = (&raw const program) as usize;
    // SAFETY: `program` names exactly `len` instructions of eight bytes; the kernel copies and checks them.
    unsafe { call(sys::__NR_seccomp, [SET_MODE_FILTER, flags, at, 0, 0]) }
}

/// A call that waits for an answer, as the kernel tells of it.
#[repr(C)]
#[derive(Default)]
pub struct Asked {
    id: u64,
    pid: u32,
    flags: u32,
    /// The number of the call.
    pub number: i32,
    family: u32,
    instruction: u64,
    /// The arguments, copied when the call was made: the caller cannot change them any more.
    pub arguments: [u64; 6],
}

/// What becomes of a call that was asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is made.
    Made,
    /// It fails.
    Refused(Errno),
}

/// The next call that waits.
///
/// # Errors
/// `ENOENT` where the caller was interrupted meanwhile.
pub fn receive(listener: BorrowedFd<'_>) -> Result<Asked> {
    let mut asked = Asked::default();
    let at = (&raw mut asked) as usize;
    // SAFETY: the kernel writes one structure of the 80 bytes that the number of the operation names.
    unsafe { call(sys::__NR_ioctl, [raw_fd(&listener), RECEIVE, at, 0, 0]) }.map(|_| asked)
}

/// Answers a call.
///
/// # Errors
/// `ENOENT` where the caller was interrupted meanwhile: the call was not made.
pub fn answer(listener: BorrowedFd<'_>, asked: &Asked, answer: Answer) -> Result<()> {
    #[repr(C)]
    struct Response {
        id: u64,
        value: i64,
        error: i32,
        flags: u32,
    }
    let (error, flags) = match answer {
        Answer::Made => (0, CONTINUE),
        Answer::Refused(errno) => (-errno.raw_os_error(), 0),
    };
    let response = Response { id: asked.id, value: 0, error, flags };
    let at = (&raw const response) as usize;
    // SAFETY: reads one structure of the 24 bytes that the number of the operation names.
    unsafe { call(sys::__NR_ioctl, [raw_fd(&listener), SEND, at, 0, 0]) }.map(drop)
}

const _: () = assert!(size_of::<Asked>() == 80);
