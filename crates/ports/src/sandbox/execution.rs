use std::collections::BTreeSet;

use ambit_gates::{Ending, ResourceLimit};
use ambit_ids::{
    ByteCount, Digest, DurationMs, EffectKey, ExecutionLimits, GateId, Incarnation, RepoPath, VolumeMount,
};
use serde::{Deserialize, Serialize};

/// A source tree to bring to a sandbox.
pub struct FileBatch {
    /// The digest of the tree, which the backend uses as its name.
    pub tree: Digest,
    /// Every file of it, sorted by path.
    pub files: Vec<BatchFile>,
}

/// One file, executable or link of a tree. Its content is read from the blobs of the spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchFile {
    /// Where it goes.
    pub path: RepoPath,
    /// What it is.
    pub kind: BatchFileKind,
    /// The digest of its bytes, or of a link's target.
    pub content: Digest,
    /// The number of bytes.
    pub size: ByteCount,
}

/// What a file of a batch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchFileKind {
    /// A file.
    File,
    /// A file that can be executed.
    Executable,
    /// A symbolic link. It is created as it is and never followed by the backend.
    Link,
}

/// Proof that a tree arrived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FileReceipt {
    /// Of which life of the sandbox this is true.
    pub incarnation: Incarnation,
    /// The tree.
    pub tree: Digest,
    /// The number of files.
    pub files: u64,
    /// The number of bytes.
    pub bytes: ByteCount,
}

/// A command of the catalog, resolved. Nothing in it comes from an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedCommand {
    /// The gate that it is.
    pub gate: GateId,
    /// The identity of this execution.
    pub effect: EffectKey,
    /// The tree to run on, brought by `write_files` before.
    pub tree: Digest,
    /// The program and its arguments. There is no shell unless the catalog names one.
    pub argv: Vec<String>,
    /// The whole environment, fixed by the catalog. Nothing is inherited.
    pub environment: Vec<(String, String)>,
    /// The working directory within the workspace; `None` is its top.
    pub workdir: Option<RepoPath>,
    /// What it may use.
    pub limits: ExecutionLimits,
    /// The volumes that it finds below `/volumes`, and no others. Each is one of the sandbox's.
    pub volumes: Vec<VolumeMount>,
    /// The files that are kept from its workspace after it ended. Nothing else is.
    pub outputs: Vec<DeclaredOutput>,
}

/// A file that a command is expected to leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredOutput {
    /// Where in the workspace.
    pub path: RepoPath,
    /// The largest that is kept.
    pub limit: ByteCount,
}

/// What was seen of an execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExecutionObservation {
    /// Of which life of the sandbox this is true.
    pub incarnation: Incarnation,
    /// The execution.
    pub effect: EffectKey,
    /// How it ended.
    pub ending: Ending,
    /// Limits that were hit on the way, whether or not they ended it.
    pub breaches: BTreeSet<ResourceLimit>,
    /// Standard output.
    pub stdout: OutputCapture,
    /// Standard error.
    pub stderr: OutputCapture,
    /// The declared outputs that were there, in the order of the catalog.
    pub outputs: Vec<ExportedOutput>,
    /// Declared outputs that were not kept, with the reason: absent, a link, not a file, too large.
    pub refused_outputs: Vec<RefusedOutput>,
    /// From start to end by a monotonic clock.
    pub duration_ms: DurationMs,
    /// Processor time of all its processes, where it can be told.
    pub cpu_ms: Option<DurationMs>,
    /// The most memory at any moment, where it can be told.
    pub peak_memory_bytes: Option<ByteCount>,
    /// Processes that were still alive when the command had ended, and were killed.
    pub killed_processes: u32,
}

/// One stream of output: both ends here, the whole as a blob.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OutputCapture {
    /// The first bytes, as text: control characters other than line feed and tab are replaced, UTF-8 is never cut.
    pub head: String,
    /// The last bytes, likewise; empty unless the stream is longer than the head.
    pub tail: String,
    /// Whether there is more between head and tail.
    pub truncated: bool,
    /// How many bytes were kept in the artifact.
    pub bytes: ByteCount,
    /// The bytes themselves, unaltered, as a blob.
    pub artifact: Digest,
}

/// A declared output that was kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExportedOutput {
    /// Where it was.
    pub path: RepoPath,
    /// Its bytes, as a blob.
    pub artifact: Digest,
    /// How many.
    pub bytes: ByteCount,
}

/// A declared output that was not kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RefusedOutput {
    /// Where it was expected.
    pub path: RepoPath,
    /// Why.
    pub why: OutputRefusal,
}

/// Why a declared output was not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutputRefusal {
    /// Nothing is there.
    Absent,
    /// It, or a directory on the way to it, is a symbolic link.
    Link,
    /// It is neither a file nor a link.
    NotAFile,
    /// It is larger than its limit.
    TooLarge,
    /// It has more than one name, so its bytes may belong to something else.
    HardLink,
    /// It could not be read.
    Unreadable,
}
