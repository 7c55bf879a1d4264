//! What the prober looks for: texts, in everything that it can see.
//!
//! A text is given as digits of something else, and compared byte by byte, so that it is never in the memory of the one
//! who looks for it unless somebody else put it there.

use core::ffi::CStr;
use core::mem::MaybeUninit;

use rustix::fd::{AsFd as _, BorrowedFd};
use rustix::fs::{CWD, FileType, Mode, OFlags, RawDir, openat, readlinkat_raw, statat};
use rustix::io::{Errno, pread, read};

use crate::roles::raw;
use crate::roles::text::Text;

/// Every digit pair is a byte of the text under this mask.
const MASK: u8 = 0x55;
const LONGEST: usize = 64;
/// The most texts.
const TEXTS: usize = 16;
/// How much of one file is looked at: less than the largest of `/proc`, more than anything that could hold a secret.
const FILE_BYTES: usize = 1 << 20;
/// How much of one mapping.
const MAPPING_BYTES: usize = 4 << 20;
const BLOCK_BYTES: usize = 64 << 10;
const DEEPEST: u32 = 8;

type Path = Text<512>;

/// A text under the mask.
#[derive(Clone, Copy)]
struct Masked {
    bytes: [u8; LONGEST],
    len: usize,
}

impl Masked {
    fn of(digits: &[u8]) -> Result<Self, Errno> {
        let mut masked = Self { bytes: [0; LONGEST], len: 0 };
        let (pairs, rest) = digits.as_chunks::<2>();
        if pairs.is_empty() || pairs.len() > LONGEST || !rest.is_empty() {
            return Err(Errno::INVAL);
        }
        for (byte, pair) in masked.bytes.iter_mut().zip(pairs) {
            let digits = core::str::from_utf8(pair).map_err(|_| Errno::INVAL)?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| Errno::INVAL)?;
        }
        masked.len = pairs.len();
        Ok(masked)
    }

    fn is_in(&self, bytes: &[u8]) -> bool {
        let Some((first, rest)) = self.bytes[..self.len].split_first() else { return false };
        let first = first ^ MASK;
        let starts = bytes.iter().enumerate().filter(|(_, byte)| **byte == first);
        starts.map(|(at, _)| &bytes[at + 1..]).any(|after| {
            after.len() >= rest.len() && after.iter().zip(rest).all(|(byte, masked)| byte ^ MASK == *masked)
        })
    }
}

/// Texts that are looked for.
pub(crate) struct Search {
    texts: [Option<Masked>; TEXTS],
    block: &'static mut [u8; BLOCK_BYTES],
    found: usize,
    say: fn(&[u8]) -> Result<(), Errno>,
}

impl Search {
    /// A search for the texts of these digits; `say` is told each place.
    pub(crate) fn new(
        digits: impl Fn(usize) -> Option<&'static CStr>,
        say: fn(&[u8]) -> Result<(), Errno>,
    ) -> Result<Self, Errno> {
        let mut texts = [None; TEXTS];
        for (index, text) in texts.iter_mut().enumerate() {
            *text = digits(index).map(|digits| Masked::of(digits.to_bytes())).transpose()?;
        }
        Ok(Self { texts, block: raw::allocate()?, found: 0, say })
    }

    /// Looks below the root, and in the memory of every process; answers in how many places it is.
    pub(crate) fn everywhere(&mut self) -> Result<usize, Errno> {
        let root = openat(CWD, c"/", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        self.directory(root.as_fd(), &Path::format(format_args!(""))?, 0)?;
        for process in 1..=PROCESSES {
            self.memory(process)?;
        }
        Ok(self.found)
    }

    fn is_in(&self, bytes: &[u8]) -> bool {
        self.texts.iter().flatten().any(|text| text.is_in(bytes))
    }

    fn tell(&mut self, path: &Path, kind: &str) -> Result<(), Errno> {
        self.found += 1;
        (self.say)(path.as_bytes())?;
        (self.say)(kind.as_bytes())
    }

    fn directory(&mut self, directory: BorrowedFd<'_>, path: &Path, depth: u32) -> Result<(), Errno> {
        let mut space = [MaybeUninit::uninit(); 1024];
        let mut entries = RawDir::new(directory, &mut space);
        while let Some(entry) = entries.next() {
            // A process can end while its directory is being read.
            let Ok(entry) = entry else { return Ok(()) };
            let name = entry.file_name();
            // Threads show what their process does.
            if name == c"." || name == c".." || name == c"task" {
                continue;
            }
            let (above, below) = (text(path.as_bytes()), text(name.to_bytes()));
            let Ok(path) = Path::format(format_args!("{above}/{below}")) else { continue };
            if self.is_in(name.to_bytes()) {
                self.tell(&path, " name\n")?;
            }
            self.entry(directory, name, &path, depth)?;
        }
        Ok(())
    }

    fn entry(
        &mut self,
        directory: BorrowedFd<'_>,
        name: &CStr,
        path: &Path,
        depth: u32,
    ) -> Result<(), Errno> {
        let Ok(stat) = statat(directory, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW) else { return Ok(()) };
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory if depth < DEEPEST => {
                match openat(directory, name, flags | OFlags::DIRECTORY | OFlags::NOFOLLOW, Mode::empty()) {
                    Ok(below) => self.directory(below.as_fd(), path, depth + 1),
                    Err(_) => Ok(()),
                }
            }
            FileType::Symlink => {
                let mut space = [MaybeUninit::uninit(); 1024];
                let Ok((target, _)) = readlinkat_raw(directory, name, &mut space) else { return Ok(()) };
                if self.is_in(target) { self.tell(path, " link\n") } else { Ok(()) }
            }
            FileType::RegularFile => match openat(directory, name, flags | OFlags::NOFOLLOW, Mode::empty()) {
                Ok(file) => self.file(file.as_fd(), path),
                Err(_) => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn file(&mut self, file: BorrowedFd<'_>, path: &Path) -> Result<(), Errno> {
        let (mut held, mut seen) = (0, 0);
        while seen < FILE_BYTES {
            let Ok(len @ 1..) = read(file, &mut self.block[held..]) else { return Ok(()) };
            (held, seen) = (held + len, seen + len);
            if self.is_in(&self.block[..held]) {
                return self.tell(path, "\n");
            }
            // The text may lie across two reads.
            let kept = held.min(LONGEST);
            self.block.copy_within(held - kept..held, 0);
            held = kept;
        }
        Ok(())
    }

    fn memory(&mut self, process: u32) -> Result<(), Errno> {
        let open = |file: &str| {
            let path = Path::format(format_args!("/proc/{process}/{file}"))?;
            openat(CWD, path.as_c_str()?, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
        };
        let (Ok(maps), Ok(memory)) = (open("maps"), open("mem")) else { return Ok(()) };
        let lines = raw::allocate::<[u8; BLOCK_BYTES]>()?;
        let mut len = 0;
        while let Ok(more @ 1..) = read(&maps, &mut lines[len..]) {
            len += more;
        }
        for line in lines[..len].split(|byte| *byte == b'\n') {
            let Some((from, to)) = range(line) else { continue };
            let mut at = from;
            while at < to && at - from < MAPPING_BYTES as u64 {
                let Ok(len @ 1..) = pread(&memory, &mut self.block[..], at) else { break };
                if self.is_in(&self.block[..len]) {
                    let path = Path::format(format_args!("/proc/{process}/mem"))?;
                    self.tell(&path, "\n")?;
                    return Ok(());
                }
                at += len as u64;
            }
        }
        Ok(())
    }
}

/// The highest process id that is looked at.
const PROCESSES: u32 = 64;

fn text(bytes: &[u8]) -> &str {
    core::str::from_utf8(bytes).unwrap_or("?")
}

/// The addresses at the start of a line of `maps`.
fn range(line: &[u8]) -> Option<(u64, u64)> {
    let (addresses, _) = text(line).split_once(' ')?;
    let (from, to) = addresses.split_once('-')?;
    Some((u64::from_str_radix(from, 16).ok()?, u64::from_str_radix(to, 16).ok()?))
}
