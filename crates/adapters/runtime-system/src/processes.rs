use std::path::Path;

use ambit_ports::runtime::Processes;
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

/// The processes of this machine, told apart by the boot, the namespace of process ids, the id, and the start time of
/// each (`proc(5)`).
///
/// A process of another boot, another machine or another namespace is never said to be gone: its id means nothing here.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinuxProcesses;

impl Processes for LinuxProcesses {
    fn own(&self) -> String {
        own().unwrap_or_else(|| format!("unplaced/{}", std::process::id()))
    }

    fn is_gone(&self, name: &str) -> bool {
        let Some((place, id, started)) = read(name) else { return false };
        here().is_some_and(|here| here == place) && is_over(id, started)
    }
}

fn own() -> Option<String> {
    let id = i32::try_from(std::process::id()).ok()?;
    // Where `/proc` is of another namespace, its "self" has another id, or is not there.
    let stat = Stat::read("self").filter(|stat| stat.id == id)?;
    Some(format!("{}/{id}/{}", here()?, stat.started))
}

/// Where an id of a process means something: this boot, and this namespace of process ids.
fn here() -> Option<String> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = std::fs::read_link(Path::new("/proc/self/ns/pid")).ok()?;
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | ':' | '[' | ']');
    let place = format!("{}/{}", boot.trim_end(), namespace.to_str()?);
    place.chars().all(|c| is_word(c) || c == '/').then_some(place)
}

/// The place, the id and the start time that a name tells.
fn read(name: &str) -> Option<(&str, Pid, u64)> {
    let (rest, started) = name.rsplit_once('/')?;
    let (place, id) = rest.rsplit_once('/')?;
    Some((place, Pid::from_raw(id.parse().ok()?)?, started.parse().ok()?))
}

/// Whether no process has this id, or one that started at another time, or one of which only the exit status is left. A
/// process that is there and cannot be looked at is taken to live.
fn is_over(id: Pid, started: u64) -> bool {
    // The kernel is asked: `/proc` may hide processes of others.
    if test_kill_process(id) == Err(Errno::SRCH) {
        return true;
    }
    Stat::read(&id.as_raw_nonzero().to_string())
        .is_some_and(|stat| stat.started != started || stat.is_only_a_status)
}

/// What `/proc/ID/stat` tells of a process.
struct Stat {
    id: i32,
    /// In clock ticks since the boot.
    started: u64,
    /// Whether it ended, with all its threads, and nobody has asked for its status yet.
    is_only_a_status: bool,
}

impl Stat {
    fn read(process: &str) -> Option<Self> {
        Self::parse(&std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
    }

    /// The name of the program stands in parentheses and may hold anything, parentheses too.
    fn parse(text: &str) -> Option<Self> {
        let (id, rest) = text.split_once(" (")?;
        let (_, rest) = rest.rsplit_once(") ")?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        // These are the fields 3, 20 and 22 of the manual.
        let (state, threads, started) = (fields.first()?, fields.get(17)?, fields.get(19)?);
        let threads: u32 = threads.parse().ok()?;
        let is_only_a_status = matches!(*state, "Z" | "X") && threads <= 1;
        Some(Self { id: id.parse().ok()?, started: started.parse().ok()?, is_only_a_status })
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    /// The name that a process of this machine would give itself.
    fn name_of(id: u32) -> String {
        format!("{}/{id}/{}", here().unwrap(), Stat::read(&id.to_string()).unwrap().started)
    }

    #[test]
    fn a_process_is_gone_once_it_ended_and_not_before() {
        let own = LinuxProcesses.own();
        assert!(own.len() <= 200 && own.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#'), "{own}");
        assert!(!LinuxProcesses.is_gone(&own));
        assert_eq!(own, name_of(std::process::id()));
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let name = name_of(child.id());
        assert!(!LinuxProcesses.is_gone(&name));
        child.kill().unwrap();
        // Nobody has asked for its status yet; the kernel takes a moment to end it.
        while !LinuxProcesses.is_gone(&name) {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert!(LinuxProcesses.is_gone(&name));
    }

    #[test]
    fn the_id_of_a_later_process_does_not_bring_an_earlier_one_back() {
        let own = LinuxProcesses.own();
        let (earlier, started) = own.rsplit_once('/').unwrap();
        let earlier = format!("{earlier}/{}", started.parse::<u64>().unwrap() - 1);
        assert!(LinuxProcesses.is_gone(&earlier));
    }

    #[test]
    fn nothing_is_proven_of_a_process_elsewhere_or_of_a_name_that_is_none() {
        let here = here().unwrap();
        assert!(LinuxProcesses.is_gone(&format!("{here}/2147483647/1")), "no process has the last id");
        for name in [
            "",
            "owner-1",
            "unplaced/2147483647",
            "another-boot/pid:[1]/2147483647/1",
            &format!("{here}/2147483647"),
            &format!("{here}/0/1"),
            &format!("{here}/-1/1"),
            &format!("{here}/99999999999/1"),
            &format!("{here}/2147483647/x"),
            &format!("x{here}/2147483647/1"),
        ] {
            assert!(!LinuxProcesses.is_gone(name), "{name}");
        }
    }

    #[test]
    fn a_program_may_be_called_anything() {
        let numbers = "1 ".repeat(15);
        let stat = Stat::parse(&format!("42 (a) Z 1 (b)) S 7 {numbers}3 0 123456 9\n")).unwrap();
        assert_eq!((stat.id, stat.started, stat.is_only_a_status), (42, 123_456, false));
        let stat = Stat::parse(&format!("42 (a) Z 7 {numbers}3 0 123456 9\n")).unwrap();
        assert!(!stat.is_only_a_status, "threads of it go on");
        assert!(Stat::parse(&format!("42 (a) Z 7 {numbers}1 0 1 9\n")).unwrap().is_only_a_status);
        assert!(Stat::parse("42 (a) Z 7").is_none());
    }
}
