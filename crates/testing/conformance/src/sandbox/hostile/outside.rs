//! What is seen of the sandboxes from outside: their processes, mounts and control groups on the host, and who knocks.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::{fmt, fs};

/// A process of the host.
#[derive(Clone)]
pub(super) struct Process {
    pub(super) pid: u32,
    state: char,
    arguments: String,
}

impl Process {
    /// Whether it runs or could run.
    pub(super) fn is_alive(&self) -> bool {
        !matches!(self.state, 'Z' | 'X' | 'T' | 't')
    }
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.pid, self.state, self.arguments)
    }
}

/// Every process of the host in whose environment or arguments the mark stands.
pub(super) fn processes(mark: &str) -> Vec<Process> {
    let own = std::process::id();
    let pids = fs::read_dir("/proc").unwrap().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| *pid != own).filter_map(|pid| marked(pid, mark)).collect()
}

/// A process of the host, where the mark is its.
pub(super) fn marked(pid: u32, mark: &str) -> Option<Process> {
    let read = |what: &str| fs::read(format!("/proc/{pid}/{what}")).unwrap_or_default();
    let (arguments, environment) = (read("cmdline"), read("environ"));
    let holds = |bytes: &[u8]| bytes.windows(mark.len()).any(|window| window == mark.as_bytes());
    if !holds(&arguments) && !holds(&environment) {
        return None;
    }
    let stat = String::from_utf8_lossy(&read("stat")).into_owned();
    let state = stat.rsplit_once(") ")?.1.chars().next()?;
    Some(Process { pid, state, arguments: String::from_utf8_lossy(&arguments).replace('\0', " ") })
}

/// The mounts that this process sees.
pub(super) fn mounts() -> BTreeSet<String> {
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap();
    table.lines().filter_map(|line| line.split(' ').nth(4)).map(str::to_owned).collect()
}

/// The control groups of this machine whose name holds a word.
pub(super) fn groups(word: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::from("/sys/fs/cgroup")];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            if entry.file_name().to_string_lossy().contains(word) {
                found.push(entry.path());
            }
            open.push(entry.path());
        }
    }
    found
}

/// Every file below a directory whose name is one of these, or that holds the text where one is given.
pub(super) fn files(directory: &Path, names: &[&str], text: Option<&str>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let is_named = names.iter().any(|name| entry.file_name().to_str() == Some(name));
            let holds = |text: &str| {
                let content = fs::read(entry.path()).unwrap_or_default();
                content.windows(text.len()).any(|window| window == text.as_bytes())
            };
            if is_named || kind.is_file() && text.is_some_and(holds) {
                found.push(entry.path());
            }
            if kind.is_dir() {
                open.push(entry.path());
            }
        }
    }
    found
}

/// Sockets of the host on which nobody may knock.
pub(super) struct Doors {
    tcp: TcpListener,
    path: UnixListener,
    named: UnixListener,
    place: PathBuf,
    name: String,
}

impl Doors {
    /// Opens them, and sees that each is one.
    pub(super) fn open(place: PathBuf) -> Self {
        let name = format!("ambit-hostile-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let doors = Self {
            tcp: TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap(),
            path: UnixListener::bind(&place).unwrap(),
            named: UnixListener::bind_addr(&address).unwrap(),
            place,
            name,
        };
        doors.tcp.set_nonblocking(true).unwrap();
        doors.path.set_nonblocking(true).unwrap();
        doors.named.set_nonblocking(true).unwrap();
        let _knocks = (
            TcpStream::connect((Ipv4Addr::LOCALHOST, doors.port())).unwrap(),
            UnixStream::connect(&doors.place).unwrap(),
            UnixStream::connect_addr(&address).unwrap(),
        );
        assert_eq!(doors.knocks(), 3, "a knock is heard");
        doors
    }

    pub(super) fn port(&self) -> u16 {
        self.tcp.local_addr().unwrap().port()
    }

    pub(super) fn place(&self) -> &Path {
        &self.place
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// How many knocked since this was last asked.
    pub(super) fn knocks(&self) -> usize {
        let mut count = 0;
        loop {
            let ended =
                [self.tcp.accept().map(drop), self.path.accept().map(drop), self.named.accept().map(drop)];
            let heard = ended.iter().filter(|knock| knock.is_ok()).count();
            assert!(
                ended
                    .iter()
                    .all(|knock| knock.as_ref().err().is_none_or(|e| e.kind() == ErrorKind::WouldBlock)),
                "{ended:?}"
            );
            if heard == 0 {
                return count;
            }
            count += heard;
        }
    }
}

impl Drop for Doors {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.place);
    }
}

/// Whether a port of the host answers.
pub(super) fn answers(port: u16) -> bool {
    TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok()
}
