//! Processes by number and age, and by descriptor while they are held.

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::OnceLock;
use std::time::Duration;

use ambit_ports::sandbox::Maker;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

/// How much of the boot's name stands in a mark.
const MARKED_BOOT: usize = 8;

/// A process, such that no later process can be taken for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProcessIdentity {
    pid: i32,
    /// When it started, in clock ticks since the machine did.
    start_ticks: u64,
    /// Which start of the machine.
    boot: String,
    /// The number of its process namespace.
    namespace: Option<u64>,
}

impl ProcessIdentity {
    /// Reads the identity of a process that cannot have ended unnoticed meanwhile.
    ///
    /// # Errors
    /// Where there is no such process.
    pub fn read(pid: i32) -> io::Result<Self> {
        Ok(Self { pid, start_ticks: start_ticks(pid)?, boot: boot()?, namespace: namespace(pid) })
    }

    /// Its user namespace. It is this process's as long as the process is held.
    ///
    /// # Errors
    /// Where it has ended, or is not this user's to look at.
    pub fn users(&self) -> io::Result<fs::File> {
        fs::File::open(format!("/proc/{}/ns/user", self.pid))
    }

    /// Its mounts. As long as they are held they stay, even where all of its namespace has ended.
    ///
    /// # Errors
    /// As for [`users`](Self::users).
    pub fn mounts(&self) -> io::Result<fs::File> {
        fs::File::open(format!("/proc/{}/ns/mnt", self.pid))
    }

    /// The canonical bytes of this process's own.
    ///
    /// # Errors
    /// Where the kernel does not tell it.
    pub fn own() -> io::Result<&'static [u8]> {
        static OWN: OnceLock<Vec<u8>> = OnceLock::new();
        if let Some(own) = OWN.get() {
            return Ok(own);
        }
        let bytes = ambit_canonical::encode(&Self::of_this_process()?).map_err(io::Error::other)?;
        Ok(OWN.get_or_init(|| bytes.into_bytes()))
    }

    fn of_this_process() -> io::Result<Self> {
        Self::read(i32::try_from(std::process::id()).map_err(io::Error::other)?)
    }

    /// What tells this process from every other one of its number, in the letters that any name may have: `+` and its
    /// namespace, `+` and its start, `+` and the beginning of the boot. Empty where the kernel does not tell it.
    #[must_use]
    pub fn own_mark() -> &'static str {
        static OWN: OnceLock<String> = OnceLock::new();
        OWN.get_or_init(|| Self::of_this_process().ok().and_then(|own| own.mark()).unwrap_or_default())
    }

    fn mark(&self) -> Option<String> {
        Some(format!("+{:x}+{:x}+{}", self.namespace?, self.start_ticks, self.boot.get(..MARKED_BOOT)?))
    }

    /// The process of this number that a mark tells of; `None` where it is none.
    pub(crate) fn of_mark(pid: i32, mark: &str) -> Option<Self> {
        let mut parts = mark.split('+');
        let mut number = || u64::from_str_radix(parts.next()?, 16).ok();
        let (namespace, start_ticks) = (number()?, number()?);
        let marked = parts.next()?.get(..MARKED_BOOT)?;
        let boot = boot().ok().filter(|boot| boot.starts_with(marked));
        let boot = boot.unwrap_or_else(|| marked.to_owned());
        Some(Self { pid, start_ticks, boot, namespace: Some(namespace) })
    }

    /// Whether this process lives that made something. Nothing is known of one of another namespace, whose number says
    /// nothing here.
    #[must_use]
    pub fn maker(&self) -> Maker {
        let here = namespace(i32::try_from(std::process::id()).unwrap_or_default());
        if self.boot.is_empty() || here.is_none() || (self.namespace != here && self.is_of_this_boot()) {
            return Maker::Unknown;
        }
        match self.hold() {
            Ok(Some(process)) if !ended_within(&process, Duration::ZERO) => Maker::Lives,
            Ok(_) => Maker::Gone,
            Err(_) => Maker::Unknown,
        }
    }

    fn is_of_this_boot(&self) -> bool {
        boot().is_ok_and(|boot| boot == self.boot)
    }

    /// The parent of a process.
    #[must_use]
    pub fn parent_of(pid: i32) -> Option<i32> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
    }

    /// Whether a process has an address space: one that is ending has none any more.
    #[must_use]
    pub(crate) fn has_memory(pid: i32) -> bool {
        fs::read_to_string(format!("/proc/{pid}/statm")).is_ok_and(|pages| !pages.starts_with("0 "))
    }

    /// Its number.
    #[must_use]
    pub const fn pid(&self) -> i32 {
        self.pid
    }

    /// The name under which it is found again.
    #[must_use]
    pub fn reference(&self) -> String {
        format!("{}/{}", self.pid, self.start_ticks)
    }

    /// The process of a [`reference`](Self::reference); `None` where it has ended.
    #[must_use]
    pub fn find(reference: &str) -> Option<Self> {
        let pid = reference.split('/').next()?.parse().ok()?;
        Self::read(pid).ok().filter(|found| found.reference() == reference)
    }

    /// Holds the process by a descriptor of it (`pidfd_open(2)`); `None` where it is gone.
    ///
    /// # Errors
    /// Where the kernel refuses to, or does not tell what the process is: then it may live.
    pub fn hold(&self) -> io::Result<Option<OwnedFd>> {
        let Some(pid) = Pid::from_raw(self.pid) else { return Ok(None) };
        if boot()? != self.boot {
            return Ok(None);
        }
        let descriptor = match pidfd_open(pid, PidfdFlags::empty()) {
            Err(Errno::SRCH | Errno::INVAL) => return Ok(None),
            other => other?,
        };
        // The number is fixed by the descriptor now, so the age that is read cannot be another process's.
        match start_ticks(self.pid) {
            Ok(ticks) => Ok((ticks == self.start_ticks).then_some(descriptor)),
            Err(error) if tells_of_no_process(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Processes in its namespace, itself not counted, as far as this user can see.
    #[must_use]
    pub fn companions(&self) -> u32 {
        let Some(namespace_of_it) = self.namespace else { return 0 };
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let count = processes
            .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
            .filter(|pid| *pid != self.pid && namespace(*pid) == Some(namespace_of_it))
            .count();
        u32::try_from(count).unwrap_or(u32::MAX)
    }
}

/// Ends a process that is held, and, where it is the first of its namespace, every process in that.
///
/// # Errors
/// Where it is not this user's to end. One that has ended is no error.
pub fn kill(process: impl AsFd) -> io::Result<()> {
    match pidfd_send_signal(process, Signal::KILL) {
        Ok(()) | Err(Errno::SRCH) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

/// Blocks until a process that is held has ended, or the time is over; answers whether it has.
pub fn ended_within(process: impl AsFd, patience: Duration) -> bool {
    let mut watched = [PollFd::from_borrowed_fd(process.as_fd(), PollFlags::IN)];
    let timeout = Timespec::try_from(patience).unwrap_or_default();
    poll(&mut watched, Some(&timeout)).is_ok_and(|ended| ended > 0)
}

/// Whether a file of a process could not be read because there is no such process, and for no other reason.
fn tells_of_no_process(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(Errno::SRCH.raw_os_error())
}

fn start_ticks(pid: i32) -> io::Result<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The name is in parentheses and may hold anything; the age is the 20th field after it.
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks = after_name.split_whitespace().nth(19).and_then(|ticks| ticks.parse().ok());
    ticks.ok_or_else(|| io::ErrorKind::InvalidData.into())
}

fn boot() -> io::Result<String> {
    Ok(fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned())
}

fn namespace(pid: i32) -> Option<u64> {
    let link = fs::read_link(format!("/proc/{pid}/ns/pid")).ok()?;
    link.to_str()?.strip_prefix("pid:[")?.strip_suffix(']')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::process::Command;

    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    use super::*;

    #[test]
    fn a_process_that_cannot_be_looked_at_is_not_taken_for_gone() {
        let test = ["identity::tests::among_few_descriptors", "--exact", "--ignored"];
        let output = Command::new(std::env::current_exe().unwrap()).args(test).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
    }

    #[test]
    #[ignore = "only as the process that a_process_that_cannot_be_looked_at_is_not_taken_for_gone starts"]
    fn among_few_descriptors() {
        let own = ProcessIdentity::read(i32::try_from(std::process::id()).unwrap()).unwrap();
        let mut child = Command::new("sleep").arg("600").spawn().unwrap();
        let gone = ProcessIdentity::read(i32::try_from(child.id()).unwrap()).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let few = Rlimit { current: Some(64), ..getrlimit(Resource::Nofile) };
        setrlimit(Resource::Nofile, few).unwrap();
        let mut taken: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
        for free in 0..4 {
            assert_ne!(own.maker(), Maker::Gone, "{free} descriptors are free");
            assert!(!matches!(own.hold(), Ok(None)), "{free} descriptors are free");
            taken.pop();
        }
        assert_eq!((own.maker(), gone.maker()), (Maker::Lives, Maker::Gone));
        assert!(gone.hold().unwrap().is_none());
    }
}
