use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;

use crate::controller::{Controller, Hierarchy};
use crate::group::{Group, Usage};

/// The counters of a group, kept open: each look at one is a single call of the kernel.
#[derive(Debug, Default)]
pub struct Gauges {
    processor: Option<(File, Hierarchy)>,
    peak: Option<(File, Hierarchy)>,
    kills: Option<File>,
    refusals: Option<File>,
}

impl Gauges {
    /// Opens those that the group has.
    #[must_use]
    pub fn open(group: &Group) -> Self {
        let read = |controller, legacy, unified| {
            let (directory, hierarchy) = group.place(controller)?;
            let file = File::open(directory.join(named(hierarchy, legacy, unified))).ok()?;
            Some((file, hierarchy))
        };
        let peak = group.place(Controller::Memory).and_then(|(directory, hierarchy)| {
            let is_legacy = hierarchy == Hierarchy::Legacy;
            let name = named(hierarchy, "memory.max_usage_in_bytes", "memory.peak");
            let file = OpenOptions::new().read(true).write(is_legacy).open(directory.join(name)).ok()?;
            Some((file, hierarchy))
        });
        Self {
            processor: read(Controller::CpuAccounting, "cpuacct.usage", "cpu.stat"),
            peak,
            kills: read(Controller::Memory, "memory.oom_control", "memory.events").map(|(file, _)| file),
            refusals: read(Controller::Pids, "pids.events", "pids.events").map(|(file, _)| file),
        }
    }

    /// Starts a new count of the most memory at any moment; answers whether the kernel can.
    #[must_use]
    pub fn forget_peak(&self) -> bool {
        // The unified hierarchy forgets only for one open file, and only in newer kernels.
        matches!(&self.peak, Some((file, Hierarchy::Legacy)) if file.write_at(b"0", 0).is_ok())
    }

    /// The processor time that was used so far.
    #[must_use]
    pub fn cpu_us(&self) -> Option<u64> {
        match self.processor.as_ref()? {
            (file, Hierarchy::Legacy) => number(file).map(|nanoseconds| nanoseconds / 1000),
            (file, Hierarchy::Unified) => field(file, "usage_usec"),
        }
    }

    /// What was used so far.
    #[must_use]
    pub fn usage(&self) -> Usage {
        Usage {
            cpu_us: self.cpu_us(),
            peak_memory_bytes: self.peak.as_ref().and_then(|(file, _)| number(file)),
            memory_kills: self.kills.as_ref().and_then(|file| field(file, "oom_kill")).unwrap_or(0),
            process_refusals: self.refusals.as_ref().and_then(|file| field(file, "max")).unwrap_or(0),
        }
    }
}

const fn named(hierarchy: Hierarchy, legacy: &'static str, unified: &'static str) -> &'static str {
    match hierarchy {
        Hierarchy::Legacy => legacy,
        Hierarchy::Unified => unified,
    }
}

/// The kernel writes such a file anew for every reader that starts at its beginning.
fn with_text<T>(file: &File, read: impl FnOnce(&str) -> Option<T>) -> Option<T> {
    /// Longer than any of them.
    const LEN: usize = 2048;
    let mut buffer = [0; LEN];
    let len = loop {
        match file.read_at(&mut buffer, 0) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => break other.ok()?,
        }
    };
    read(std::str::from_utf8(&buffer[..len]).ok()?)
}

fn number(file: &File) -> Option<u64> {
    with_text(file, |text| text.trim().parse().ok())
}

/// A field of a file of `name value` lines.
fn field(file: &File, name: &str) -> Option<u64> {
    with_text(file, |text| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
        line.trim().parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gauge_is_read_anew_every_time() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("events");
        std::fs::write(&path, "max 3\noom_kill 7\noom_kill_disable 9\n").unwrap();
        let file = File::open(&path).unwrap();
        assert_eq!(
            (field(&file, "max"), field(&file, "oom_kill"), field(&file, "oom")),
            (Some(3), Some(7), None)
        );
        assert_eq!(number(&file), None);
        std::fs::write(&path, "12\n").unwrap();
        assert_eq!((number(&file), field(&file, "max")), (Some(12), None));
    }

    #[test]
    fn a_group_that_is_nowhere_has_no_gauges() {
        let gauges = Gauges::open(&Group::default());
        assert_eq!(gauges.usage(), Usage::default());
        assert!(!gauges.forget_peak());
    }
}
