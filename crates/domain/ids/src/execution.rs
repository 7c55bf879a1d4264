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

/// A volume that a command finds below `/volumes`, read-only.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct VolumeMount {
    /// The name there.
    pub name: VolumeName,
    /// The volume.
    pub digest: Digest,
}
