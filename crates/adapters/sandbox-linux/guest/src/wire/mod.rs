//! The messages between the adapter, the spawner and the guest.
//!
//! One message is one packet of a sequenced-packet socket: a tag byte, then the fields in order. Integers are little-endian,
//! byte strings carry their length as `u32`. Descriptors travel beside a message, in the order that its documentation gives.
//! A message that does not parse is answered by nothing and ends the receiver: both ends are built together.

use core::ffi::CStr;

use crate::Step;
use ambit_system_calls::Counts;

mod codec;
mod encoding;
#[cfg(test)]
mod tests;

pub use codec::{Message, Reader, Writer};

/// The longest message. Arguments and environment of a command must fit into one.
pub const MESSAGE_BYTES: usize = 128 << 10;

/// The most arguments, and the most variables, of a command.
pub const STRINGS: usize = 4096;

/// The most volumes that can be brought.
pub const DECLARED_VOLUMES: usize = 16;

/// The most descriptors beside one message.
pub const MESSAGE_DESCRIPTORS: usize = 6;

/// The length of the name of a tree: a SHA-256 in hexadecimal digits.
pub const TREE_NAME_BYTES: usize = 64;

/// Asks the spawner for a new guest. Beside it: the guest's end of its control socket, then, where [`Spawn::placed`], the
/// directory of the unified control group in which the guest is to be born, then the lists of tasks of the legacy
/// control groups that it is to enter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spawn {
    /// The user outside that the sandbox's user is mapped to.
    pub outer_uid: u32,
    /// The group outside, likewise.
    pub outer_gid: u32,
    /// Whether that user is another one than the spawner's own, so that groups can and must be dropped.
    pub foreign: bool,
    /// Whether image and share will be named by their paths, so that the host's root is needed until then.
    pub by_path: bool,
    /// Whether the guest bounds the memory of the whole, because no control group does.
    pub counted: bool,
    /// Whether there is a directory for it to be born in.
    pub placed: bool,
}

/// The spawner's answer. Beside a [`Spawned::Started`]: a descriptor of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spawned {
    /// The guest runs.
    Started {
        /// Its process id, as the spawner sees it.
        pid: i32,
    },
    /// It could not be made.
    Failed(Failed),
}

/// The step of a set-up that failed, and the error number of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed {
    /// What was being done.
    pub step: Step,
    /// The error number.
    pub errno: i32,
}

/// What can be written to the workspace, and to the temporary volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The most bytes on each of them.
    pub disk_bytes: u64,
    /// The most files on each of them.
    pub disk_files: u64,
}

/// The volumes of one execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Volumes {
    /// The name of the tree below the share's `trees`.
    pub tree: [u8; TREE_NAME_BYTES],
    /// How large they are.
    pub sizes: Sizes,
    /// Which of the volumes that were brought are mounted, one bit each, the first lowest.
    pub declared: u32,
}

/// Limits of single processes, the second wall behind the control groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessLimits {
    /// Processor time of one process.
    pub cpu_seconds: u64,
    /// Processes and threads of the user.
    pub processes: u64,
    /// Private memory of one process, and the memory of all where the guest bounds it; `u64::MAX` where a control group
    /// limits the whole.
    pub data_bytes: u64,
    /// Open descriptors of one process.
    pub open_files: u64,
}

/// One command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Execute<'a> {
    /// On what it runs.
    pub volumes: Volumes,
    /// When the guest ends it.
    pub wall_ms: u64,
    /// What each of its processes may use.
    pub limits: ProcessLimits,
    /// The working directory, relative to the workspace; empty for its top.
    pub workdir: &'a CStr,
    /// Each argument followed by a NUL.
    pub arguments: &'a [u8],
    /// Each `NAME=VALUE` followed by a NUL.
    pub environment: &'a [u8],
}

/// What the adapter asks of a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request<'a> {
    /// Keep a volume for the commands that will name it, before the root is built. Beside it, where the path is empty: a
    /// detached mount. Answered only where it fails.
    Bring {
        /// The name below `/volumes`.
        name: &'a CStr,
        /// The volume's directory on the host.
        path: &'a CStr,
    },
    /// Build the root. Beside it, where the paths are empty: detached mounts of the image and of the share.
    Assemble {
        /// The image's directory on the host.
        image: &'a CStr,
        /// The share's directory on the host, which holds `trees` and `fixtures`.
        share: &'a CStr,
        /// The system-call filter of every command: classic BPF instructions as the kernel takes them.
        filter: &'a [u8],
    },
    /// Keep a tree for the commands that will name it, at its place below the share's `trees`. Beside it: a detached mount.
    /// Answered only where it fails, and then the guest ends.
    Tree([u8; TREE_NAME_BYTES]),
    /// Mount empty volumes and start the process of the next command, whatever its tree will be. Not answered.
    Lay(Sizes),
    /// Make the volumes and the confined process of the next command ready.
    Prepare(Volumes),
    /// Run a command. Beside it: where its standard output and its standard error go.
    Execute(Execute<'a>),
    /// Stop the command that runs.
    Stop,
    /// Open what lies at a path of the workspace of the command that ended.
    Open {
        /// Whether only what the command wrote is looked at, in the layer that holds it.
        written: bool,
        /// The path; empty for the top.
        path: &'a CStr,
    },
    /// Take the volumes of the command that ended away.
    Finish,
    /// Answer with this number, once everything before it is done.
    Prove {
        /// The number.
        nonce: u64,
    },
}

/// How the main process of a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// With an exit code.
    Exited(u8),
    /// By a signal.
    Signalled(u8),
    /// The program is not there.
    NotFound,
    /// The program cannot be executed.
    NotExecutable,
    /// The working directory is not there.
    NoWorkdir,
    /// The volumes or a control could not be put in place; nothing ran.
    NotConfined(Failed),
}

/// Who ended the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndedBy {
    /// Itself.
    Itself,
    /// The guest, because its time was over.
    Deadline,
    /// The guest, because it was asked to.
    Request,
    /// The guest, because it held too much memory.
    Memory,
}

/// The end of a command, after every process of it is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// How its main process ended.
    pub how: How,
    /// Who ended it.
    pub by: EndedBy,
    /// Other processes that were still alive and were killed.
    pub killed: u32,
    /// From start to end of the main process.
    pub wall_us: u64,
    /// Processor time of all processes that were waited for.
    pub cpu_us: u64,
    /// Whether the workspace or the temporary volume is full.
    pub disk_full: bool,
    /// Calls for shared memory that the guest refused.
    pub memory_refusals: u32,
    /// Calls that it refused as signs of an attempt to get out; `None` where it could not be asked.
    pub signs: Option<Counts>,
}

/// What a guest answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Response {
    /// The guest has its namespaces and waits for [`Request::Assemble`].
    Born,
    /// The root is assembled.
    Assembled,
    /// The volumes are ready; `copied` where the workspace is a copy because no overlay could be mounted.
    Prepared {
        /// Whether it is a copy.
        copied: bool,
    },
    /// Something failed. After a failure to be born or to assemble the guest ends.
    Failed(Failed),
    /// The command ended.
    Ended(Ended),
    /// The file is beside this message.
    Opened,
    /// The file could not be opened.
    Unopened {
        /// The error number.
        errno: i32,
    },
    /// The volumes are gone.
    Finished,
    /// The guest lives, and did what it was asked to before.
    Proven {
        /// The number that it was given.
        nonce: u64,
    },
}
