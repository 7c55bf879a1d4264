use ambit_ids::{ByteCount, DurationMs, ExecutionLimits};
use serde::{Serialize, Serializer};

use super::unit::{DAY_SECONDS, KIB, MIB, SECOND_MS, whole};
use crate::cursor::{Cursor, Read};

/// What one execution of a command may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandResources {
    /// What the sandbox enforces. In a document sizes are whole MiB (output: KiB) and times whole seconds.
    pub limits: ExecutionLimits,
    /// How many processes it counts as against the run's `maxParallelProcesses`.
    pub parallel_processes: u32,
}

impl CommandResources {
    pub(super) fn read(cursor: &Cursor<'_>) -> Read<Self> {
        let mut fields = cursor.fields()?;
        let mut scaled = |name, range, unit| {
            fields.required(name).and_then(|c| c.integer(range)).map(|value| value * unit)
        };
        let memory = scaled("memoryMib", 1..=256 << 10, MIB);
        let disk = scaled("diskMib", 1..=1 << 20, MIB);
        let output = scaled("outputKib", 1..=1 << 20, KIB);
        let cpu_time = scaled("cpuSeconds", 1..=DAY_SECONDS, SECOND_MS);
        let wall = scaled("wallSeconds", 1..=DAY_SECONDS, SECOND_MS);
        let processes = fields.required("processes").and_then(|c| c.count(1..=4096));
        let cpu_millis = fields.required("cpuMillis").and_then(|c| c.count(10..=256_000));
        let parallel = fields.optional("parallelProcesses").map(|c| c.count(1..=64)).transpose();
        fields.finish()?;
        Ok(Self {
            limits: ExecutionLimits {
                memory_bytes: ByteCount::new(memory?),
                processes: processes?,
                cpu_millis: cpu_millis?,
                cpu_time_ms: DurationMs::new(cpu_time?),
                wall_ms: DurationMs::new(wall?),
                disk_bytes: ByteCount::new(disk?),
                output_bytes: ByteCount::new(output?),
            },
            parallel_processes: parallel?.unwrap_or(1),
        })
    }
}

impl Serialize for CommandResources {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Shape {
            memory_mib: u64,
            processes: u32,
            cpu_millis: u32,
            cpu_seconds: u64,
            wall_seconds: u64,
            disk_mib: u64,
            output_kib: u64,
            parallel_processes: u32,
        }
        let limits = &self.limits;
        Shape {
            memory_mib: whole(limits.memory_bytes.get(), MIB)?,
            processes: limits.processes,
            cpu_millis: limits.cpu_millis,
            cpu_seconds: whole(limits.cpu_time_ms.get(), SECOND_MS)?,
            wall_seconds: whole(limits.wall_ms.get(), SECOND_MS)?,
            disk_mib: whole(limits.disk_bytes.get(), MIB)?,
            output_kib: whole(limits.output_bytes.get(), KIB)?,
            parallel_processes: self.parallel_processes,
        }
        .serialize(serializer)
    }
}
