use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::controller::{Controller, Hierarchy};

/// The period over which a processor share is measured out: short, so that a guest whose share is used up still answers
/// soon.
const PERIOD_US: u64 = 20_000;
/// The smallest share of a period that the kernel takes.
const LEAST_QUOTA_US: u64 = 1000;

/// What the processes of a group may use together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GroupLimits {
    /// Memory.
    pub(crate) memory_bytes: u64,
    /// Processes and threads.
    pub(crate) processes: u64,
    /// Thousandths of a processor.
    pub(crate) cpu_millis: u64,
}

/// What the processes of a group have used and been refused so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Processor time.
    pub(crate) cpu_us: Option<u64>,
    /// The most memory at any moment.
    pub(crate) peak_memory_bytes: Option<u64>,
    /// Processes that were killed because memory ran out.
    pub(crate) memory_kills: u64,
    /// Processes that were refused.
    pub(crate) process_refusals: u64,
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
pub(crate) struct Group {
    members: Vec<Member>,
}

impl Group {
    pub(super) fn add(
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
    pub(crate) fn directories(&self) -> impl Iterator<Item = &Path> {
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

    /// The directory in which the kernel can start a process, where there is one.
    pub(crate) fn unified_directory(&self) -> io::Result<Option<File>> {
        let unified = self.members.iter().find(|member| member.hierarchy == Hierarchy::Unified);
        unified.map(|member| File::open(&member.directory)).transpose()
    }

    /// Moves a process in, on the hierarchies where it could not be started in place. Slow: the kernel waits for every
    /// processor.
    pub(crate) fn adopt(&self, pid: i32) -> io::Result<()> {
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
    pub(crate) fn limit(&self, limits: GroupLimits) -> io::Result<()> {
        for member in &self.members {
            member.limit(limits)?;
        }
        Ok(())
    }

    /// Starts a new count of the most memory at any moment; answers whether the kernel can.
    pub(crate) fn forget_peak(&self) -> bool {
        // The unified hierarchy forgets only for one open file, and only in newer kernels.
        self.member(Controller::Memory).is_some_and(|memory| {
            memory.hierarchy == Hierarchy::Legacy && memory.write("memory.max_usage_in_bytes", "0").is_ok()
        })
    }

    /// What was used so far.
    pub(crate) fn usage(&self) -> Usage {
        let mut usage = Usage::default();
        if let Some(memory) = self.member(Controller::Memory) {
            (usage.peak_memory_bytes, usage.memory_kills) = memory.memory_usage();
        }
        if let Some(pids) = self.member(Controller::Pids) {
            usage.process_refusals = pids.field("pids.events", "max").unwrap_or(0);
        }
        usage.cpu_us = self.cpu_us();
        usage
    }

    /// The processor time that was used so far.
    pub(crate) fn cpu_us(&self) -> Option<u64> {
        self.member(Controller::CpuAccounting)?.cpu_us()
    }

    /// How many processes are in it; `None` where it has no directory to count in.
    pub(crate) fn population(&self) -> Option<u32> {
        let directory = self.directories().next()?;
        match fs::read_to_string(directory.join("cgroup.procs")) {
            Ok(processes) => u32::try_from(processes.lines().count()).ok(),
            Err(_) => Some(0),
        }
    }

    /// How many of its directories exist.
    pub(crate) fn remaining(&self) -> u32 {
        u32::try_from(self.directories().filter(|directory| directory.exists()).count()).unwrap_or(u32::MAX)
    }

    /// Removes it, which the kernel refuses while a process is in it.
    pub(crate) fn remove(&self) -> io::Result<()> {
        for directory in self.directories() {
            match fs::remove_dir(directory) {
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

    fn number(&self, file: &str) -> Option<u64> {
        fs::read_to_string(self.directory.join(file)).ok()?.trim().parse().ok()
    }

    /// A field of a file of `name value` lines.
    fn field(&self, file: &str, name: &str) -> Option<u64> {
        let text = fs::read_to_string(self.directory.join(file)).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
        line.trim().parse().ok()
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

    /// The most memory at any moment, and the number of processes killed for lack of it.
    fn memory_usage(&self) -> (Option<u64>, u64) {
        match self.hierarchy {
            Hierarchy::Legacy => (
                self.number("memory.max_usage_in_bytes"),
                self.field("memory.oom_control", "oom_kill").unwrap_or(0),
            ),
            Hierarchy::Unified => {
                (self.number("memory.peak"), self.field("memory.events", "oom_kill").unwrap_or(0))
            }
        }
    }

    fn cpu_us(&self) -> Option<u64> {
        match self.hierarchy {
            Hierarchy::Legacy => self.number("cpuacct.usage").map(|nanoseconds| nanoseconds / 1000),
            Hierarchy::Unified => self.field("cpu.stat", "usage_usec"),
        }
    }
}
