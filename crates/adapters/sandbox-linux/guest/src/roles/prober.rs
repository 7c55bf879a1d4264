//! The prober: a command that tries one thing and says what came of it.
//!
//! It is staged into the workspace like any other file, so that it needs nothing of an image. Its first argument names
//! what to try; each attempt prints one line, `ok` with a value or `errno` with the number, and ends with exit code 0 unless
//! ending otherwise is what was asked.

use core::ffi::CStr;

use core::mem::MaybeUninit;
use core::net::{Ipv4Addr, SocketAddrV4};

use rustix::event::{Timespec, poll};
use rustix::fd::AsRawFd as _;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, ftruncate, openat};
use rustix::io::{Errno, read, write};
use rustix::net::{AddressFamily, SocketType, accept, bind, getsockname, listen, socket};

use crate::roles::hoarder;
use crate::roles::lingerer::linger;
use crate::roles::raw;
use crate::roles::searcher::Search;
use crate::roles::sleepers::{fork_sleepers, sleep};
use crate::roles::text::Text;

/// Tries what the arguments name; answers the exit code.
pub fn run(argument: impl Fn(usize) -> Option<&'static CStr>) -> u8 {
    let text = |index| argument(index).unwrap_or(c"");
    let number = |index| parse(text(index).to_bytes());
    let outcome = match text(1).to_bytes() {
        b"exit" => return u8::try_from(number(2)).unwrap_or(u8::MAX),
        b"say" => return u8::from(say(text(2).to_bytes()).is_err()),
        b"speak" => speak(text(2).to_bytes(), text(3).to_bytes()),
        b"print" => print(number(2)),
        b"environment" => read_out(c"/proc/self/environ"),
        b"read" => read_out(text(2)),
        b"write" => write_file(text(2), text(3).to_bytes()),
        b"list" => list(text(2)),
        b"link" => rustix::fs::symlinkat(text(2), CWD, text(3)).map(|()| 0),
        b"hardlink" => rustix::fs::linkat(CWD, text(2), CWD, text(3), AtFlags::empty()).map(|()| 0),
        b"fifo" => {
            rustix::fs::mknodat(CWD, text(2), FileType::Fifo, Mode::from_raw_mode(0o644), 0).map(|()| 0)
        }
        b"sparse" => sparse(text(2), number(3)),
        b"rename" => rustix::fs::rename(text(2), text(3)).map(|()| 0),
        b"search" => Search::new(|index| argument(index + 2), say).and_then(|mut search| search.everywhere()),
        b"remove" => rustix::fs::unlink(text(2)).map(|()| 0),
        b"fill" => fill(text(2), number(3)),
        b"fill-and-clear" => fill_and_clear(text(2), number(3)),
        b"files" => files(text(2), number(3)),
        b"hog" => hoarder::hoard(c"private", number(2)),
        b"hoard" => hoarder::hoard(text(2), number(3)),
        b"hold" => hoarder::hold(text(2), number(3), number(4)),
        b"hold-each" => hoarder::each(text(2), number(3), number(4), number(5)),
        b"hold-together" => hoarder::together(text(2), number(3), number(4)),
        b"hold-borrowed" => hoarder::borrowed(text(2), number(3)),
        b"hold-headless" => hoarder::headless(number(2), number(3)),
        b"map" => hoarder::map_file(text(2)),
        b"fork" => fork_sleepers(number(2)),
        b"flood" => flood(number(2)),
        b"linger" => linger(text(2)),
        b"listen" => listen_at(number(2)),
        b"orphans" => orphans(number(2)),
        b"family" => fork_sleepers(number(2)).and_then(|_| sleep()),
        b"sleep" => sleep(),
        b"spin" => loop {
            core::hint::spin_loop();
        },
        b"signal" => raw::attempt(linux_raw_sys::general::__NR_kill, [own_pid(), number(2), 0, 0, 0]),
        b"call" => raw::attempt(
            u32::try_from(number(2)).unwrap_or(u32::MAX),
            [number(3), number(4), number(5), number(6), number(7)],
        ),
        b"path-call" => raw::attempt(
            u32::try_from(number(2)).unwrap_or(u32::MAX),
            [text(3).as_ptr() as usize, number(4), number(5), number(6), number(7)],
        ),
        b"control" => control(text(2), number(3)),
        b"connect" => connect(address(text(2).to_bytes()), number(3)),
        b"loopback" => loopback(),
        _ => Err(Errno::INVAL),
    };
    report(outcome)
}

fn report(outcome: Result<usize, Errno>) -> u8 {
    let (line, code) = match outcome {
        Ok(value) => (Text::<64>::format(format_args!("ok {value}\n")), 0),
        Err(errno) => (Text::<64>::format(format_args!("errno {}\n", errno.raw_os_error())), 1),
    };
    match line.and_then(|line| say(line.as_bytes())) {
        Ok(()) => code,
        Err(_) => 2,
    }
}

/// Decimal, or hexadecimal after `0x`; a minus sign wraps round as in C.
fn parse(text: &[u8]) -> usize {
    let (negative, digits) = match text.strip_prefix(b"-") {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let (base, digits) = match digits.strip_prefix(b"0x") {
        Some(digits) => (16, digits),
        None => (10, digits),
    };
    let value = digits.iter().fold(0_usize, |value, digit| {
        let digit = char::from(*digit).to_digit(16).unwrap_or(0);
        value.wrapping_mul(base).wrapping_add(digit as usize)
    });
    if negative { value.wrapping_neg() } else { value }
}

fn address(text: &[u8]) -> Ipv4Addr {
    let mut octets = [0_u8; 4];
    for (octet, digits) in octets.iter_mut().zip(text.split(|byte| *byte == b'.')) {
        *octet = u8::try_from(parse(digits)).unwrap_or(0);
    }
    Ipv4Addr::from(octets)
}

fn own_pid() -> usize {
    usize::try_from(rustix::process::getpid().as_raw_nonzero().get()).unwrap_or(0)
}

fn say(bytes: &[u8]) -> Result<(), Errno> {
    say_to(1, bytes)
}

fn say_to(stream: i32, mut bytes: &[u8]) -> Result<(), Errno> {
    while !bytes.is_empty() {
        let written = write(raw::standard_stream(stream), bytes)?;
        bytes = &bytes[written..];
    }
    Ok(())
}

/// Says something on each stream, and goes on.
fn speak(out: &[u8], err: &[u8]) -> Result<usize, Errno> {
    say(out)?;
    say_to(2, err)?;
    sleep()
}

fn print(len: usize) -> Result<usize, Errno> {
    let line = [b'x'; 4096];
    let mut left = len;
    while left > 0 {
        let chunk = left.min(line.len());
        say(&line[..chunk])?;
        left -= chunk;
    }
    Ok(len)
}

fn read_out(path: &CStr) -> Result<usize, Errno> {
    let file = openat(CWD, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    let mut total = 0;
    loop {
        let mut buffer = [0; 4096];
        let len = read(&file, &mut buffer)?;
        if len == 0 {
            return Ok(total);
        }
        say(&buffer[..len])?;
        total += len;
    }
}

fn write_file(path: &CStr, bytes: &[u8]) -> Result<usize, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
    let file = openat(CWD, path, flags, Mode::from_raw_mode(0o644))?;
    write(&file, bytes)
}

fn list(path: &CStr) -> Result<usize, Errno> {
    let directory = openat(CWD, path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let mut space = [MaybeUninit::uninit(); 4096];
    let mut entries = RawDir::new(&directory, &mut space);
    let mut count = 0;
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = entry.file_name();
        if name != c"." && name != c".." {
            count += 1;
            say(name.to_bytes())?;
            say(b"\n")?;
        }
    }
    Ok(count)
}

fn sparse(path: &CStr, len: usize) -> Result<usize, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC;
    let file = openat(CWD, path, flags, Mode::from_raw_mode(0o644))?;
    ftruncate(&file, len as u64).map(|()| len)
}

/// Writes until the number of mebibytes or an error, and says how much there was room for.
fn fill(path: &CStr, mebibytes: usize) -> Result<usize, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC;
    let file = openat(CWD, path, flags, Mode::from_raw_mode(0o644))?;
    let block = [0; 64 << 10];
    for _ in 0..mebibytes * 16 {
        let mut rest = &block[..];
        while !rest.is_empty() {
            let written = write(&file, rest)?;
            rest = &rest[written..];
        }
    }
    Ok(mebibytes)
}

/// Does so, and some time later leaves nothing of it.
fn fill_and_clear(path: &CStr, mebibytes: usize) -> Result<usize, Errno> {
    let filled = fill(path, mebibytes);
    poll(&mut [], Some(&Timespec { tv_sec: 0, tv_nsec: 200_000_000 }))?;
    rustix::fs::unlink(path)?;
    filled
}

fn files(directory: &CStr, count: usize) -> Result<usize, Errno> {
    let directory =
        openat(CWD, directory, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    for index in 0..count {
        let name: Text<24> = Text::format(format_args!("{index}"))?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC;
        openat(&directory, name.as_c_str()?, flags, Mode::from_raw_mode(0o644))?;
    }
    Ok(count)
}

/// Some processes ask for a mount without end.
fn flood(processes: usize) -> Result<usize, Errno> {
    for _ in 0..processes {
        if let raw::Fork::Child = raw::fork()? {
            loop {
                let _ = raw::attempt(linux_raw_sys::general::__NR_mount, [0; 5]);
            }
        }
    }
    sleep()
}

/// Leaves children behind that hold the output open.
fn orphans(count: usize) -> Result<usize, Errno> {
    let made = fork_sleepers(count)?;
    say(b"started\n")?;
    Ok(made)
}

/// Asks something of a device.
fn control(path: &CStr, question: usize) -> Result<usize, Errno> {
    let device = openat(CWD, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    let device = usize::try_from(device.as_raw_fd()).map_err(|_| Errno::BADF)?;
    // Larger than what any of these questions is answered with.
    let mut answer = [0_u64; 32];
    let at = answer.as_mut_ptr() as usize;
    raw::attempt(linux_raw_sys::general::__NR_ioctl, [device, question, at, 0, 0])
}

fn connect(address: Ipv4Addr, port: usize) -> Result<usize, Errno> {
    let port = u16::try_from(port).map_err(|_| Errno::INVAL)?;
    let stream = socket(AddressFamily::INET, SocketType::STREAM, None)?;
    rustix::net::connect(&stream, &SocketAddrV4::new(address, port)).map(|()| 0)
}

/// Leaves a server behind.
fn listen_at(port: usize) -> Result<usize, Errno> {
    let port = u16::try_from(port).map_err(|_| Errno::INVAL)?;
    let server = socket(AddressFamily::INET, SocketType::STREAM, None)?;
    bind(&server, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, port))?;
    listen(&server, 1)?;
    fork_sleepers(1)
}

/// Talks to itself over the sandbox's own loopback interface.
fn loopback() -> Result<usize, Errno> {
    let server = socket(AddressFamily::INET, SocketType::STREAM, None)?;
    bind(&server, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0))?;
    listen(&server, 1)?;
    let at = SocketAddrV4::try_from(getsockname(&server)?)?;
    let client = socket(AddressFamily::INET, SocketType::STREAM, None)?;
    rustix::net::connect(&client, &at)?;
    let accepted = accept(&server)?;
    write(&client, b"x")?;
    read(&accepted, &mut [0; 1])
}
