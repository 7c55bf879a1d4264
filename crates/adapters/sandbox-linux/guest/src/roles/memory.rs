//! The memory of a command as a whole, where no control group bounds it.
//!
//! The kernel then limits single processes at best, and even that by the kind of a mapping: what was written and is then
//! made read-only, a stack of any size, or the pages of a second process are not in its count. So the guest bounds the whole
//! itself, in two ways that close each other's gaps:
//!
//! - It *looks*: many times a second it adds up what all processes hold, with their page tables and what was swapped out, and
//!   ends a command that holds more than its limit. What two processes hold together counts once. Between two looks a
//!   command can hold more: as much as it can touch in that time.
//! - It *counts*: memory that no process needs to hold, so that no look could find it, is counted when it is asked for. That
//!   is what processes share without a file: anonymous mappings and System V segments. The filter asks the guest about
//!   these calls, their size is a register that nobody can change any more, and they are allowed until their sum is the
//!   limit. It is never given back before the command ends, because who else holds it is not known.
//!
//! What can be neither seen nor counted is refused in the way of a kernel that does not have it, and programs that use it
//! have another way for such kernels: files without a name (`memfd_create`; libraries take `/dev/shm`, a volume with a size),
//! message queues and semaphores of System V, pages lent to a pipe (`vmsplice`). Huge pages are answered as where none are
//! reserved. `/dev/zero` can be read but not mapped.
//!
//! What stays is what the kernel holds for itself: above all the buffers of pipes and sockets. They are kept at their usual
//! sizes, and the number of descriptors at 1024 for each process. Watches, timers and queues of POSIX have limits of the
//! kernel's own for each user.
//!
//! Where a control group bounds the memory none of this is done.

use core::mem::MaybeUninit;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags, RawDir, open, openat};
use rustix::io::{Errno, read};

use crate::roles::raw::{self, Answer};
use crate::roles::text::Text;

/// The most processes of which it is told which have one memory.
const COMPARED: usize = 128;
const PAGE_BYTES: u64 = 4096;

/// The memory that a command has left.
pub(crate) struct Memory {
    limit_bytes: u64,
    /// Where the filter asks.
    listener: Option<OwnedFd>,
    shareable_bytes: u64,
    refusals: u32,
}

impl Memory {
    /// All of it.
    pub(crate) fn new(limit_bytes: u64, listener: Option<OwnedFd>) -> Self {
        Self { limit_bytes, listener, shareable_bytes: limit_bytes, refusals: 0 }
    }

    /// What is readable when a call waits for an answer.
    pub(crate) fn listener(&self) -> Option<BorrowedFd<'_>> {
        self.listener.as_ref().map(AsFd::as_fd)
    }

    /// How many calls were refused.
    pub(crate) fn refusals(&self) -> u32 {
        self.refusals
    }

    /// Answers the call that waits.
    pub(crate) fn answer(&mut self) {
        let Some(listener) = &self.listener else { return };
        let Ok(asked) = raw::receive(listener.as_fd()) else { return };
        // Of both calls that are asked about, the second argument is the size.
        let [_, size, ..] = asked.arguments;
        let size = size.max(1).checked_next_multiple_of(PAGE_BYTES).unwrap_or(u64::MAX);
        match self.shareable_bytes.checked_sub(size) {
            Some(left) => {
                // A caller that was interrupted asks again.
                if raw::answer(listener.as_fd(), &asked, Answer::Made).is_ok() {
                    self.shareable_bytes = left;
                }
            }
            None => {
                self.refusals = self.refusals.saturating_add(1);
                let _ = raw::answer(listener.as_fd(), &asked, Answer::Refused(Errno::NOMEM));
            }
        }
    }

    /// Looks whether the command holds more than it may.
    pub(crate) fn is_exceeded(&self) -> bool {
        match look(self.limit_bytes) {
            Ok(held_bytes) => held_bytes > self.limit_bytes,
            // What cannot be looked at cannot be bounded.
            Err(_) => true,
        }
    }
}

/// What all processes but this one hold. What they hold together is told apart only where it matters, because that takes
/// longer: the kernel then looks at every page.
fn look(limit_bytes: u64) -> Result<u64, Errno> {
    let proc = open(c"/proc", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let rough = sum(proc.as_fd(), |status, _| Some(status.field(b"RssAnon") + status.field(b"RssShmem")))?;
    if rough <= limit_bytes {
        return Ok(rough);
    }
    let mut seen = [0; COMPARED];
    let mut count = 0;
    sum(proc.as_fd(), |status, id| {
        if seen[..count].iter().any(|earlier| raw::share_memory(*earlier, id)) {
            return None;
        }
        if let Some(place) = seen.get_mut(count) {
            *place = id;
            count += 1;
        }
        let pages: Option<Lines> = Lines::read(proc.as_fd(), format_args!("{id}/smaps_rollup"));
        Some(match pages.filter(|pages| pages.has(b"Pss_Anon")) {
            Some(pages) => pages.field(b"Pss_Anon") + pages.field(b"Pss_Shmem"),
            None => status.field(b"RssAnon") + status.field(b"RssShmem"),
        })
    })
}

/// Adds up what `pages` answers for every process, with its page tables and what of it was swapped out; `None` leaves the
/// process out.
fn sum(proc: BorrowedFd<'_>, mut pages: impl FnMut(&Lines, usize) -> Option<u64>) -> Result<u64, Errno> {
    let mut total = 0_u64;
    each_number(proc, |id| {
        if id == 1 {
            return Ok(());
        }
        let Some((status, id)) = alive(proc, id) else { return Ok(()) };
        if let Some(bytes) = pages(&status, id) {
            total = total.saturating_add(bytes + status.field(b"VmPTE") + status.field(b"VmSwap"));
        }
        Ok(())
    })?;
    Ok(total)
}

/// The status of a process, by the thread that tells it: the first one may have ended before the others, and then it has
/// no memory to tell of.
fn alive(proc: BorrowedFd<'_>, process: usize) -> Option<(Lines, usize)> {
    let status = Lines::read(proc, format_args!("{process}/status"))?;
    if status.has(b"VmPTE") {
        return Some((status, process));
    }
    let path: Text<32> = Text::format(format_args!("{process}/task")).ok()?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let threads = openat(proc, path.as_c_str().ok()?, flags, Mode::empty()).ok()?;
    let mut found = None;
    let _ = each_number(threads.as_fd(), |thread| {
        let status = Lines::read(threads.as_fd(), format_args!("{thread}/status"));
        match status.filter(|status| status.has(b"VmPTE")) {
            Some(status) => {
                found = Some((status, thread));
                Err(Errno::EXIST)
            }
            None => Ok(()),
        }
    });
    found
}

/// Every entry of a directory that is a number, until an error.
fn each_number(
    directory: BorrowedFd<'_>,
    mut visit: impl FnMut(usize) -> Result<(), Errno>,
) -> Result<(), Errno> {
    rustix::fs::seek(directory, rustix::fs::SeekFrom::Start(0))?;
    let mut space = [MaybeUninit::uninit(); 2048];
    let mut entries = RawDir::new(directory, &mut space);
    while let Some(entry) = entries.next() {
        let name = entry?;
        if let Some(number) = number(name.file_name().to_bytes()) {
            visit(number)?;
        }
    }
    Ok(())
}

fn number(digits: &[u8]) -> Option<usize> {
    core::str::from_utf8(digits).ok()?.parse().ok()
}

/// A file of lines like `VmRSS:     1234 kB`.
struct Lines {
    bytes: [u8; 2048],
    len: usize,
}

impl Lines {
    fn read(directory: BorrowedFd<'_>, path: core::fmt::Arguments<'_>) -> Option<Self> {
        let path: Text<48> = Text::format(path).ok()?;
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let file = openat(directory, path.as_c_str().ok()?, flags, Mode::empty()).ok()?;
        let mut lines = Self { bytes: [0; 2048], len: 0 };
        lines.len = read(&file, &mut lines.bytes).ok()?;
        Some(lines)
    }

    fn value(&self, name: &[u8]) -> Option<&[u8]> {
        self.bytes[..self.len]
            .split(|byte| *byte == b'\n')
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(b":"))
    }

    fn has(&self, name: &[u8]) -> bool {
        self.value(name).is_some()
    }

    /// The bytes of a line in kibibytes; none where there is no such line.
    fn field(&self, name: &[u8]) -> u64 {
        let digits = self
            .value(name)
            .and_then(|value| value.trim_ascii().split(|byte| *byte == b' ').next().and_then(number));
        (digits.unwrap_or(0) as u64).saturating_mul(1024)
    }
}
