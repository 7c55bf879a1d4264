use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::controller::{Controller, Hierarchy};
use crate::gauges::Gauges;
use crate::removal::remove_directory;

/// The period over which a processor share is measured out: short, so that a guest whose share is used up still answers
/// soon.
const PERIOD_US: u64 = 20_000;
/// The smallest share of a period that the kernel takes.
const LEAST_QUOTA_US: u64 = 1000;

/// What the processes of a group may use together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupLimits {
    /// Memory.
    pub memory_bytes: u64,
    /// Processes and threads.
    pub processes: u64,
    /// Thousandths of a processor.
    pub cpu_millis: u64,
}

/// What the processes of a group have used and been refused so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Processor time.
    pub cpu_us: Option<u64>,
    /// The most memory at any moment.
    pub peak_memory_bytes: Option<u64>,
    /// Processes that were killed because memory ran out.
    pub memory_kills: u64,
    /// Processes that were refused.
    pub process_refusals: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Member {
    controller: Controller,
    hierarchy: Hierarchy,
    directory: PathBuf,
}

/// A group: one directory per hierarchy, all with the same processes in them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Group {
    members: Vec<Member>,
}

impl Group {
    pub(crate) fn add(
        &mut self,
        controller: Controller,
        hierarchy: Hierarchy,
        directory: PathBuf,
    ) -> io::Result<()> {
        if !self.directories().any(|made| made == directory) {
            fs::create_dir(&directory)?;
        }
        self.members.push(Member { controller, hierarchy, directory });
        Ok(())
    }

    /// Every directory, once.
    pub fn directories(&self) -> impl Iterator<Item = &Path> {
        self.members.iter().enumerate().filter_map(|(index, member)| {
            let earlier = &self.members[..index];
            earlier
                .iter()
                .all(|earlier| earlier.directory != member.directory)
                .then_some(member.directory.as_path())
        })
    }

    fn member(&self, controller: Controller) -> Option<&Member> {
        self.members.iter().find(|member| member.controller == controller)
    }

    /// Where a controller keeps its files for this group.
    pub(crate) fn place(&self, controller: Controller) -> Option<(&Path, Hierarchy)> {
        self.member(controller).map(|member| (member.directory.as_path(), member.hierarchy))
    }

    /// The directory in which the kernel can start a process, where there is one.
    pub fn unified_directory(&self) -> io::Result<Option<File>> {
        let unified = self.members.iter().find(|member| member.hierarchy == Hierarchy::Unified);
        unified.map(|member| File::open(&member.directory)).transpose()
    }

    /// The lists of tasks of the groups in which the kernel cannot start a process. A process with one thread that writes
    /// `0` to each is in them at once; no other move is as cheap.
    pub fn entrances(&self) -> io::Result<Vec<File>> {
        let mut directories: Vec<&Path> = Vec::new();
        for member in self.members.iter().filter(|member| member.hierarchy == Hierarchy::Legacy) {
            if !directories.contains(&member.directory.as_path()) {
                directories.push(&member.directory);
            }
        }
        let open = |directory: &Path| fs::OpenOptions::new().write(true).open(directory.join("tasks"));
        directories.into_iter().map(open).collect()
    }

    /// Moves a process in, on the hierarchies where it could not be started in place. Slow: the kernel waits for every
    /// processor.
    pub fn adopt(&self, pid: i32) -> io::Result<()> {
        let mut moved: Vec<&Path> = Vec::new();
        for member in self.members.iter().filter(|member| member.hierarchy == Hierarchy::Legacy) {
            if !moved.contains(&member.directory.as_path()) {
                fs::write(member.directory.join("cgroup.procs"), pid.to_string())?;
                moved.push(&member.directory);
            }
        }
        Ok(())
    }

    /// Puts limits in place.
    pub fn limit(&self, limits: GroupLimits) -> io::Result<()> {
        for member in &self.members {
            member.limit(limits)?;
        }
        Ok(())
    }

    /// Starts a new count of the most memory at any moment; answers whether the kernel can.
    pub fn forget_peak(&self) -> bool {
        Gauges::open(self).forget_peak()
    }

    /// What was used so far.
    pub fn usage(&self) -> Usage {
        Gauges::open(self).usage()
    }

    /// The processor time that was used so far.
    pub fn cpu_us(&self) -> Option<u64> {
        Gauges::open(self).cpu_us()
    }

    /// How many processes are in it; `None` where it has no directory to count in.
    pub fn population(&self) -> Option<u32> {
        let directory = self.directories().next()?;
        match fs::read_to_string(directory.join("cgroup.procs")) {
            Ok(processes) => u32::try_from(processes.lines().count()).ok(),
            Err(_) => Some(0),
        }
    }

    /// Kills every process in it and below it at once, where the kernel has a way to; answers whether it has. Whatever it
    /// forks meanwhile is killed as well.
    pub fn kill(&self) -> bool {
        let unified = self.members.iter().find(|member| member.hierarchy == Hierarchy::Unified);
        unified.is_some_and(|member| member.write("cgroup.kill", "1").is_ok())
    }

    /// How many of its directories exist.
    pub fn remaining(&self) -> u32 {
        u32::try_from(self.directories().filter(|directory| directory.exists()).count()).unwrap_or(u32::MAX)
    }

    /// Removes it, which the kernel refuses while a process is in it, and for as long as one is ending there.
    ///
    /// # Errors
    /// The kernel's. What is not there is removed.
    pub fn remove(&self) -> io::Result<()> {
        self.remove_within(Duration::ZERO)
    }

    /// Likewise, and waits for processes that are ending. Blocks for at most so long.
    ///
    /// # Errors
    /// The kernel's, at once where a process is in it that goes on.
    pub fn remove_within(&self, patience: Duration) -> io::Result<()> {
        for directory in self.directories() {
            match remove_directory(directory, patience) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

impl Member {
    fn write(&self, file: &str, value: &str) -> io::Result<()> {
        fs::write(self.directory.join(file), value)
    }

    fn limit(&self, limits: GroupLimits) -> io::Result<()> {
        let quota_us = (limits.cpu_millis.saturating_mul(PERIOD_US) / 1000).max(LEAST_QUOTA_US);
        match (self.controller, self.hierarchy) {
            (Controller::Memory, Hierarchy::Legacy) => {
                // Swap is counted together with memory, and its limit can never be the lower one. A kernel without swap
                // accounting has no such file.
                let bytes = limits.memory_bytes.to_string();
                let _ = self.write("memory.memsw.limit_in_bytes", "-1");
                self.write("memory.limit_in_bytes", &bytes)?;
                let _ = self.write("memory.memsw.limit_in_bytes", &bytes);
                self.write("memory.swappiness", "0")
            }
            (Controller::Memory, Hierarchy::Unified) => {
                let _ = self.write("memory.swap.max", "0");
                self.write("memory.max", &limits.memory_bytes.to_string())
            }
            (Controller::Pids, _) => self.write("pids.max", &limits.processes.to_string()),
            (Controller::Cpu, Hierarchy::Legacy) => {
                self.write("cpu.cfs_period_us", &PERIOD_US.to_string())?;
                match self.write("cpu.cfs_quota_us", &quota_us.to_string()) {
                    // A group above has less than is asked for here, and its limit holds.
                    Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                        self.write("cpu.cfs_quota_us", "-1")
                    }
                    other => other,
                }
            }
            (Controller::Cpu, Hierarchy::Unified) => {
                self.write("cpu.max", &format!("{quota_us} {PERIOD_US}"))
            }
            (Controller::CpuAccounting, _) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::{Child, Command, Stdio};
    use std::time::Instant;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);

    /// A group of the unified hierarchy of this machine, and where it is; `None` where this user can make none.
    fn unified(name: &str) -> Option<(Group, PathBuf)> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let mount = mounts.lines().find(|line| line.contains(" - cgroup2 "))?;
        let directory =
            Path::new(mount.split(' ').nth(4)?).join(format!("ambit-{}-{name}", std::process::id()));
        let mut group = Group::default();
        group.add(Controller::Pids, Hierarchy::Unified, directory.clone()).ok()?;
        Some((group, directory))
    }

    fn sleeper_in(directory: &Path) -> Child {
        let child = Command::new("sleep").arg("600").spawn().unwrap();
        fs::write(directory.join("cgroup.procs"), child.id().to_string()).unwrap();
        child
    }

    #[test]
    fn everything_in_a_unified_group_is_killed_at_once() {
        let Some((group, directory)) = unified("kill") else {
            println!("skipped: NO_UNIFIED_GROUP this user can make none");
            return;
        };
        let mut inside = [sleeper_in(&directory), sleeper_in(&directory)];
        assert_eq!(group.population(), Some(2));
        let told = group.kill();
        if !told {
            inside.iter_mut().for_each(|child| child.kill().unwrap());
        }
        for child in &mut inside {
            assert_eq!(child.wait().unwrap().signal(), Some(9));
        }
        group.remove().unwrap();
        assert_eq!((told, group.remaining()), (true, 0), "cgroup.kill is there since Linux 5.14");
    }

    #[test]
    fn a_group_in_a_group_goes_with_it_unless_a_process_is_in_it() {
        let Some((_, directory)) = unified("nested") else {
            println!("skipped: NO_UNIFIED_GROUP this user can make none");
            return;
        };
        let inner = directory.join("of-a-runtime/of-its-own");
        fs::create_dir_all(&inner).unwrap();
        let mut child = sleeper_in(&inner);
        let told = crate::remove_empty(&directory, PATIENCE);
        let kept = inner.exists();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(told.is_err() && kept, "{told:?}");
        crate::remove_empty(&directory, PATIENCE).unwrap();
        assert!(!directory.exists());
    }

    /// Waits until a process has as many pages of memory as is asked for.
    fn pages(process: &Child, is_enough: impl Fn(u64) -> bool) {
        let began = Instant::now();
        let resident = || {
            let pages = fs::read_to_string(format!("/proc/{}/statm", process.id())).unwrap();
            pages.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap()
        };
        while !is_enough(resident()) {
            assert!(began.elapsed() < PATIENCE, "{} pages", resident());
            std::thread::yield_now();
        }
    }

    /// A group is tried as soon as the memory of a process is being given back: some have not let go by then.
    #[test]
    fn what_is_ending_in_a_group_is_waited_for_and_what_goes_on_is_not() {
        let Some((group, directory)) = unified("ending") else {
            println!("skipped: NO_UNIFIED_GROUP this user can make none");
            return;
        };
        let mut going_on = sleeper_in(&directory);
        let told = group.remove_within(PATIENCE).unwrap_err();
        assert_eq!(told.kind(), io::ErrorKind::ResourceBusy);
        going_on.kill().unwrap();
        going_on.wait().unwrap();
        for _ in 0..10 {
            let mut large = Command::new("dd");
            large.args(["if=/dev/zero", "of=/dev/zero", "bs=64M"]).stderr(Stdio::null());
            let mut ending = large.spawn().unwrap();
            fs::write(directory.join("cgroup.procs"), ending.id().to_string()).unwrap();
            pages(&ending, |pages| pages > 15_000);
            ending.kill().unwrap();
            pages(&ending, |pages| pages == 0);
            group.remove_within(PATIENCE).unwrap();
            assert!(!directory.exists());
            ending.wait().unwrap();
            fs::create_dir(&directory).unwrap();
        }
        group.remove().unwrap();
    }

    #[test]
    fn a_legacy_group_cannot_be_killed_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let mut group = Group::default();
        group.add(Controller::Memory, Hierarchy::Legacy, directory.path().join("group")).unwrap();
        assert!(!group.kill());
        assert!(!Group::default().kill());
    }
}
