use serde::{Deserialize, Serialize};

use crate::{ByteCount, Digest, DurationMs, VolumeName};

/// What one execution of a named command may use. Every field is enforced by the sandbox, and passing one has its own
/// class in the observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExecutionLimits {
    /// Memory of all its processes together, page cache and temporary volumes included.
    pub memory_bytes: ByteCount,
    /// Processes and threads at any one time, the sandbox's own init not counted.
    pub processes: u32,
    /// Processor time at any one moment, in thousandths of a processor. More is throttled.
    pub cpu_millis: u32,
    /// Processor time in all. More ends the command.
    pub cpu_time_ms: DurationMs,
    /// Time by the clock. More ends the command.
    pub wall_ms: DurationMs,
    /// Bytes written to the workspace and to the temporary volume, each.
    pub disk_bytes: ByteCount,
    /// Bytes of standard output and standard error together. More ends the command.
    pub output_bytes: ByteCount,
}

impl ExecutionLimits {
    /// These limits, and nowhere wider than the others: what a command may use of what its run may.
    #[must_use]
    pub fn within(&self, outer: &Self) -> Self {
        Self {
            memory_bytes: self.memory_bytes.min(outer.memory_bytes),
            processes: self.processes.min(outer.processes),
            cpu_millis: self.cpu_millis.min(outer.cpu_millis),
            cpu_time_ms: self.cpu_time_ms.min(outer.cpu_time_ms),
            wall_ms: self.wall_ms.min(outer.wall_ms),
            disk_bytes: self.disk_bytes.min(outer.disk_bytes),
            output_bytes: self.output_bytes.min(outer.output_bytes),
        }
    }
}

/// A volume that a command finds below `/volumes`, read-only.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct VolumeMount {
    /// The name there.
    pub name: VolumeName,
    /// The volume.
    pub digest: Digest,
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn all(value: u32) -> ExecutionLimits {
        ExecutionLimits {
            memory_bytes: ByteCount::new(value as u64),
            processes: value,
            cpu_millis: value,
            cpu_time_ms: DurationMs::new(value as u64),
            wall_ms: DurationMs::new(value as u64),
            disk_bytes: ByteCount::new(value as u64),
            output_bytes: ByteCount::new(value as u64),
        }
    }

    #[test]
    fn limits_are_narrowed_one_by_one_and_never_widened() {
        assert_eq!(all(3).within(&all(2)), all(2));
        assert_eq!(all(2).within(&all(3)), all(2));
        let few = ExecutionLimits { processes: 1, ..all(3) };
        assert_eq!(few.within(&all(2)), ExecutionLimits { processes: 1, ..all(2) });
    }
}
