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

use linux_raw_sys::general as sys;
use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{Mode, OFlags, RawDir, open, openat};
use rustix::io::{Errno, read};

use crate::roles::memory_files;
use crate::roles::raw::{self, Answer, Asked};
use crate::roles::text::Text;

/// The most processes of which it is told which have one memory.
const COMPARED: usize = 128;
const PAGE_BYTES: u64 = 4096;
/// The most of a line that is kept. Those that are asked for are shorter.
const LINE_BYTES: usize = 40;

/// The memory that a command has left.
pub(crate) struct Memory {
    limit_bytes: u64,
    shareable_bytes: u64,
    refusals: u32,
    /// Whether it is held by another kernel, in files without a name that it need not map.
    in_files: bool,
}

impl Memory {
    /// All of it.
    pub(crate) const fn new(limit_bytes: u64) -> Self {
        Self { limit_bytes, shareable_bytes: limit_bytes, refusals: 0, in_files: false }
    }

    /// So much more than is held now by the processes of another kernel, for its own use and for the command.
    pub(crate) fn of_another_kernel(more_bytes: u64) -> Self {
        let now = memory_files::held_with_files().unwrap_or(0);
        Self { in_files: true, ..Self::new(now.saturating_add(more_bytes)) }
    }

    /// How many calls were refused.
    pub(crate) const fn refusals(&self) -> u32 {
        self.refusals
    }

    /// What becomes of a call for memory; `None` where it is another call.
    pub(crate) fn ask(&mut self, asked: &Asked) -> Option<Answer> {
        let size = size_of_shared(asked)?;
        match self.shareable_bytes.checked_sub(size) {
            Some(left) => {
                self.shareable_bytes = left;
                Some(Answer::Made)
            }
            None => {
                self.refusals = self.refusals.saturating_add(1);
                Some(Answer::Refused(Errno::NOMEM))
            }
        }
    }

    /// Counts a call that was to be made, and was not, no longer.
    pub(crate) fn take_back(&mut self, asked: &Asked) {
        let size = size_of_shared(asked).unwrap_or(0);
        self.shareable_bytes = self.shareable_bytes.saturating_add(size).min(self.limit_bytes);
    }

    /// Looks whether the command holds more than it may.
    pub(crate) fn is_exceeded(&self) -> bool {
        let held = if self.in_files { memory_files::held_with_files() } else { look(self.limit_bytes) };
        match held {
            Ok(held_bytes) => held_bytes > self.limit_bytes,
            // What cannot be looked at cannot be bounded.
            Err(_) => true,
        }
    }
}

/// How much a call asks for; `None` where it asks for something else.
fn size_of_shared(asked: &Asked) -> Option<u64> {
    const SHARING: [u32; 2] = [sys::__NR_mmap, sys::__NR_shmget];
    if !SHARING.iter().any(|number| i64::from(*number) == i64::from(asked.number)) {
        return None;
    }
    // Of both calls the second argument is the size.
    let [_, size, ..] = asked.arguments;
    Some(size.max(1).checked_next_multiple_of(PAGE_BYTES).unwrap_or(u64::MAX))
}

/// How many looks one after the other must agree that the limit is exceeded.
const LOOKS: usize = 3;

/// What all processes but this one hold. What they hold together is told apart only where it matters, because that takes
/// longer: the kernel then looks at every page.
///
/// No look is of one moment: a page of a process that forks meanwhile is seen as its own and once more as shared with the
/// child, the more so the busier the machine is. So one look is not believed alone; what is really held is there in the
/// next one too.
fn look(limit_bytes: u64) -> Result<u64, Errno> {
    let proc = open(c"/proc", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let mut held = sum(proc.as_fd(), |status, _| Some(status.field(b"RssAnon") + status.field(b"RssShmem")))?;
    for _ in 0..LOOKS {
        if held <= limit_bytes {
            break;
        }
        held = look_closely(proc.as_fd())?;
    }
    Ok(held)
}

fn look_closely(proc: BorrowedFd<'_>) -> Result<u64, Errno> {
    let mut seen = [0; COMPARED];
    let mut count = 0;
    sum(proc, |status, id| {
        if seen[..count].iter().any(|earlier| raw::share_memory(*earlier, id)) {
            return None;
        }
        if let Some(place) = seen.get_mut(count) {
            *place = id;
            count += 1;
        }
        let pages: Option<Lines> = Lines::read(proc, format_args!("{id}/smaps_rollup"));
        Some(match pages.filter(|pages| pages.has(b"Pss_Anon")) {
            Some(pages) => pages.field(b"Pss_Anon") + pages.field(b"Pss_Shmem"),
            None => status.field(b"RssAnon") + status.field(b"RssShmem"),
        })
    })
}

/// Adds up what `pages` answers for every process, with its page tables and what of it was swapped out; `None` leaves the
/// process out.
pub(super) fn sum(
    proc: BorrowedFd<'_>,
    mut pages: impl FnMut(&Lines, usize) -> Option<u64>,
) -> Result<u64, Errno> {
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
pub(super) fn each_number(
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
pub(super) struct Lines {
    bytes: [u8; 2048],
    len: usize,
}

impl Lines {
    fn read(directory: BorrowedFd<'_>, path: core::fmt::Arguments<'_>) -> Option<Self> {
        let path: Text<48> = Text::format(path).ok()?;
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let file = openat(directory, path.as_c_str().ok()?, flags, Mode::empty()).ok()?;
        let mut lines = Self { bytes: [0; 2048], len: 0 };
        let (mut part, mut column) = ([0; 1024], 0);
        loop {
            match read(&file, &mut part).ok()? {
                0 => return Some(lines),
                len => column = lines.keep(&part[..len], column),
            }
        }
    }

    /// Keeps the beginning of every line: that of the groups of a user is as long as there are groups. `column` is how much
    /// of a line was before this part; the answer is that for the next one.
    fn keep(&mut self, part: &[u8], mut column: usize) -> usize {
        for byte in part {
            column = if *byte == b'\n' { 0 } else { column + 1 };
            if let Some(place) = self.bytes.get_mut(self.len).filter(|_| column <= LINE_BYTES) {
                *place = *byte;
                self.len += 1;
            }
        }
        column
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
    pub(super) fn field(&self, name: &[u8]) -> u64 {
        let digits = self
            .value(name)
            .and_then(|value| value.trim_ascii().split(|byte| *byte == b' ').next().and_then(number));
        (digits.unwrap_or(0) as u64).saturating_mul(1024)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_any_length_hides_none_after_it() {
        let mut lines = Lines { bytes: [0; 2048], len: 0 };
        let mut column = lines.keep(b"Name:\tit\nVmSwap:\t       4 kB\nGroups:\t", 0);
        for _ in 0..65536 {
            column = lines.keep(b"65534 ", column);
        }
        lines.keep(b"\nVmPTE:\t     120 kB\n", column);
        assert_eq!((lines.field(b"VmSwap"), lines.field(b"VmPTE")), (4096, 120 * 1024));
        assert!(lines.has(b"VmPTE") && lines.has(b"Groups") && !lines.has(b"RssAnon"));
    }
}
