use std::collections::BTreeSet;

use ambit_gates::{Ending, ResourceLimit};
use ambit_ids::{
    ByteCount, CommandSize, CommandTooLarge, Digest, DurationMs, EffectKey, ExecutionLimits, GateId,
    Incarnation, PathSet, RepoPath, VolumeMount,
};
use ambit_redaction::{Redactions, Redactor};
use serde::{Deserialize, Serialize};

use super::{EscapeSigns, Tap, Watch, Written};

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
    /// What takes secrets out of its output, before any of it is kept or shown.
    pub redactor: Redactor,
    /// The volumes that it finds below `/volumes`, and no others. Each is one of the sandbox's.
    pub volumes: Vec<VolumeMount>,
    /// The files and directories that are kept from its workspace after it ended. Nothing else is.
    pub outputs: Vec<DeclaredOutput>,
    /// The paths of its workspace at which it is told what was written; none, as a rule, and then nothing is told.
    pub watched: PathSet,
    /// Where its output is poured while it runs, for somebody who watches; nowhere, as a rule. A tap serves one execution.
    pub tap: Option<Tap>,
}

/// Why no backend can hand a command over as it is. Nothing was run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CommandUnfit {
    /// It is too large.
    #[error(transparent)]
    TooLarge(#[from] CommandTooLarge),
    /// A word would end where it says nothing of an end.
    #[error("an argument or a variable of the command has a NUL in it, where the kernel would end it")]
    Nul,
    /// A variable would be read as another one.
    #[error("a variable of the command has no name, or a name with `=` in it")]
    VariableName,
}

impl CommandUnfit {
    /// The stable code.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::TooLarge(_) => "COMMAND_TOO_LARGE",
            Self::Nul | Self::VariableName => "COMMAND_MALFORMED",
        }
    }
}

impl NamedCommand {
    /// Refuses arguments and variables that would not arrive as they are, or with which no program could be started.
    ///
    /// # Errors
    /// [`CommandUnfit`].
    pub fn check(&self) -> Result<(), CommandUnfit> {
        let variables = || self.environment.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        CommandSize::of(self.argv.iter().map(String::as_str), variables()).check()?;
        let mut words = self.argv.iter().map(String::as_str).chain(variables().flat_map(<[&str; 2]>::from));
        if words.any(|word| word.contains('\0')) {
            return Err(CommandUnfit::Nul);
        }
        if variables().any(|(name, _)| name.is_empty() || name.contains('=')) {
            return Err(CommandUnfit::VariableName);
        }
        Ok(())
    }
}

/// A file or a directory that a command is expected to leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredOutput {
    /// Where in the workspace.
    pub path: RepoPath,
    /// The largest that is kept; of a directory, all its files together, and at most
    /// [`OUTPUT_DIRECTORY_BYTES`](ambit_ids::limits::OUTPUT_DIRECTORY_BYTES).
    pub limit: ByteCount,
    /// `None` where it is a file. Where it is a directory, the most entries below it, whatever they are, and at most
    /// [`OUTPUT_DIRECTORY_ENTRIES`](ambit_ids::limits::OUTPUT_DIRECTORY_ENTRIES).
    pub entries: Option<u32>,
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
    /// The declared outputs that were there, in the order of the catalog. Of a directory, each file that was kept, by path.
    pub outputs: Vec<ExportedOutput>,
    /// Declared outputs that were not kept, and entries of declared directories, each with the reason.
    pub refused_outputs: Vec<RefusedOutput>,
    /// From start to end by a monotonic clock.
    pub duration_ms: DurationMs,
    /// Processor time of all its processes, where it can be told.
    pub cpu_ms: Option<DurationMs>,
    /// The most memory at any moment, where it can be told.
    pub peak_memory_bytes: Option<ByteCount>,
    /// Processes that were still alive when the command had ended, and were killed.
    pub killed_processes: u32,
    /// What it was seen to try beyond what it may; `None` where the backend cannot count that, never as zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signs: Option<EscapeSigns>,
    /// What was written at the watched paths of its workspace; `None` where none is watched, or nobody could look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<Written>,
    /// What became of the protected files in its workspace. A backend says nothing here: whoever asked for the execution
    /// takes it from the outputs that it asked for, and from what was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protected: Option<ProtectedSeen>,
}

/// Protected files of a workspace, hashed again after the last process had ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProtectedSeen {
    /// How many were looked at.
    pub looked_at: u32,
    /// The first of those that are not what they were.
    pub changed: Vec<ChangedFile>,
    /// How many more of those there are.
    pub more: u32,
    /// How far what was written at protected paths can be told; `None` where nobody looked, as in runs of earlier rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watch: Option<Watch>,
}

/// A protected path that was written to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChangedFile {
    /// Which.
    pub path: RepoPath,
    /// The digest of what it was; `None` where the tree has no file there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Digest>,
    /// What it is now, as a blob; `None` where that was not kept. The same as before where it was put back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Digest>,
    /// Why it was not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<OutputRefusal>,
}

/// One stream of output: both ends here, the whole as a blob.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OutputCapture {
    /// The first bytes as [`shown`](super::shown): what is unprintable is replaced, and UTF-8 is never cut.
    pub head: String,
    /// The last bytes, likewise; empty unless the stream is longer than the head.
    pub tail: String,
    /// Whether there is more between head and tail.
    pub truncated: bool,
    /// How many bytes were kept in the artifact.
    pub bytes: ByteCount,
    /// The bytes themselves, unaltered but for what was taken out, as a blob.
    pub artifact: Digest,
    /// What was taken out of the stream before anything was made of it. Captures from before there were rules say nothing of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redactions: Option<Redactions>,
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

/// A declared output, or an entry of a declared directory, that was not kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RefusedOutput {
    /// Where it was expected, or was found.
    pub path: RepoPath,
    /// The name of the entry below `path`, escaped, where no path can spell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
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
    /// It is larger than its limit. Of a directory nothing is kept then.
    TooLarge,
    /// It has more than one name, so its bytes may belong to something else.
    HardLink,
    /// It could not be read.
    Unreadable,
    /// A directory was declared, and it is none.
    NotADirectory,
    /// The directory has more entries than its limit. Nothing of it is kept.
    TooMany,
    /// The directory is deeper than [`OUTPUT_DIRECTORY_DEPTH`](ambit_ids::limits::OUTPUT_DIRECTORY_DEPTH). Nothing of it
    /// is kept.
    TooDeep,
    /// No path of a project can spell its name.
    Name,
}

impl OutputRefusal {
    /// Its name, as records hold it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Link => "link",
            Self::NotAFile => "not-a-file",
            Self::TooLarge => "too-large",
            Self::HardLink => "hard-link",
            Self::Unreadable => "unreadable",
            Self::NotADirectory => "not-a-directory",
            Self::TooMany => "too-many",
            Self::TooDeep => "too-deep",
            Self::Name => "name",
        }
    }
}
