//! The memory of a runtime's own kernel: it keeps that of the command in files without a name (`memfd_create`), and no process
//! need have a page of them in reach for it to be held.

use core::mem::MaybeUninit;

use rustix::fd::{AsFd as _, BorrowedFd};
use rustix::fs::{AtFlags, Mode, OFlags, open, openat, readlinkat_raw, statat};
use rustix::io::Errno;

use crate::roles::memory::{each_number, sum};
use crate::roles::text::Text;

/// What the kernel calls such a file where it is opened.
const NAME: &[u8] = b"/memfd:";
/// The unit in which the kernel tells what a file holds.
const BLOCK_BYTES: u64 = 512;
/// The most files that are told apart. A kernel has a few.
const COMPARED: usize = 64;

/// What all processes but this one hold of their own, and in such files, each counted once.
pub(super) fn held_with_files() -> Result<u64, Errno> {
    let proc = open(c"/proc", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let mut files = Files { seen: [0; COMPARED], count: 0, bytes: 0 };
    let own = sum(proc.as_fd(), |status, process| {
        // One that has ended meanwhile has none.
        let _ = files.add(proc.as_fd(), process);
        Some(status.field(b"RssAnon"))
    })?;
    Ok(own.saturating_add(files.bytes))
}

struct Files {
    /// The numbers of those that were counted.
    seen: [u64; COMPARED],
    count: usize,
    bytes: u64,
}

impl Files {
    fn add(&mut self, proc: BorrowedFd<'_>, process: usize) -> Result<(), Errno> {
        let path: Text<32> = Text::format(format_args!("{process}/fd"))?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let descriptors = openat(proc, path.as_c_str()?, flags, Mode::empty())?;
        each_number(descriptors.as_fd(), |number| {
            let name: Text<16> = Text::format(format_args!("{number}"))?;
            let mut space = [MaybeUninit::uninit(); 64];
            let place = readlinkat_raw(&descriptors, name.as_c_str()?, &mut space);
            if place.is_ok_and(|(place, _)| place.starts_with(NAME)) {
                let file = statat(&descriptors, name.as_c_str()?, AtFlags::empty())?;
                self.count_once(file.st_ino, u64::try_from(file.st_blocks).unwrap_or(0));
            }
            Ok(())
        })
    }

    /// One for which there is no room is counted again and again: rather too much than too little.
    fn count_once(&mut self, number: u64, blocks: u64) {
        if self.seen[..self.count].contains(&number) {
            return;
        }
        if let Some(place) = self.seen.get_mut(self.count) {
            *place = number;
            self.count += 1;
        }
        self.bytes = self.bytes.saturating_add(blocks.saturating_mul(BLOCK_BYTES));
    }
}
