//! The messages between the adapter, the spawner and the guest.
//!
//! One message is one packet of a sequenced-packet socket: a tag byte, then the fields in order. Integers are little-endian,
//! byte strings carry their length as `u32`. Descriptors travel beside a message, in the order that its documentation gives.
//! A message that does not parse is answered by nothing and ends the receiver: both ends are built together.

use core::ffi::CStr;

use crate::Step;

/// The longest message. Arguments and environment of a command must fit into one.
pub const MESSAGE_BYTES: usize = 128 << 10;

/// The most descriptors beside one message.
pub const MESSAGE_DESCRIPTORS: usize = 3;

/// The length of the name of a tree: a SHA-256 in hexadecimal digits.
pub const TREE_NAME_BYTES: usize = 64;

/// Asks the spawner for a new guest. Beside it: the guest's end of its control socket, and optionally the directory of
/// the unified control group in which the guest is to be born.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spawn {
    /// The user outside that the sandbox's user is mapped to.
    pub outer_uid: u32,
    /// The group outside, likewise.
    pub outer_gid: u32,
    /// Whether that user is another one than the spawner's own, so that groups can and must be dropped.
    pub foreign: bool,
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

/// The volumes of one execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Volumes {
    /// The name of the tree below the share's `trees`.
    pub tree: [u8; TREE_NAME_BYTES],
    /// The most bytes that can be written to the workspace, and to the temporary volume.
    pub disk_bytes: u64,
    /// The most files on each of them.
    pub disk_files: u64,
}

/// Limits of single processes, the second wall behind the control groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessLimits {
    /// Processor time of one process.
    pub cpu_seconds: u64,
    /// Processes and threads of the user.
    pub processes: u64,
    /// Private memory of one process; `u64::MAX` where a control group limits the whole.
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
    /// Build the root. Beside it, where the paths are empty: detached mounts of the image and of the share.
    Assemble {
        /// The image's directory on the host.
        image: &'a CStr,
        /// The share's directory on the host, which holds `trees` and `fixtures`.
        share: &'a CStr,
        /// The system-call filter of every command: classic BPF instructions as the kernel takes them.
        filter: &'a [u8],
    },
    /// Make the volumes and the confined process of the next command ready.
    Prepare(Volumes),
    /// Run a command. Beside it: where its standard output and its standard error go.
    Execute(Execute<'a>),
    /// Stop the command that runs.
    Stop,
    /// Open a file of the workspace of the command that ended.
    Open(&'a CStr),
    /// Take the volumes of the command that ended away.
    Finish,
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
}

/// Writes a message into a buffer.
pub struct Writer<'b> {
    buffer: &'b mut [u8],
    len: usize,
    fits: bool,
}

impl<'b> Writer<'b> {
    /// Starts a message in `buffer`.
    pub fn new(buffer: &'b mut [u8]) -> Self {
        Self { buffer, len: 0, fits: true }
    }

    /// The length of the message; `None` where it did not fit.
    #[must_use]
    pub fn finish(self) -> Option<usize> {
        self.fits.then_some(self.len)
    }

    fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        match self.buffer.get_mut(self.len..).and_then(|rest| rest.get_mut(..bytes.len())) {
            Some(place) => {
                place.copy_from_slice(bytes);
                self.len += bytes.len();
            }
            None => self.fits = false,
        }
        self
    }

    fn u8(&mut self, value: u8) -> &mut Self {
        self.raw(&[value])
    }

    fn u32(&mut self, value: u32) -> &mut Self {
        self.raw(&value.to_le_bytes())
    }

    fn i32(&mut self, value: i32) -> &mut Self {
        self.raw(&value.to_le_bytes())
    }

    fn u64(&mut self, value: u64) -> &mut Self {
        self.raw(&value.to_le_bytes())
    }

    fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        match u32::try_from(bytes.len()) {
            Ok(len) => {
                self.u32(len);
                self.raw(bytes)
            }
            Err(_) => {
                self.fits = false;
                self
            }
        }
    }

    fn c_str(&mut self, text: &CStr) -> &mut Self {
        self.bytes(text.to_bytes_with_nul())
    }
}

/// Reads a message. Every read answers `None` past the end of it.
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Reads `message`.
    #[must_use]
    pub const fn new(message: &'a [u8]) -> Self {
        Self(message)
    }

    fn raw(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.raw(N)?.try_into().ok()
    }

    fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn i32(&mut self) -> Option<i32> {
        self.array().map(i32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn flag(&mut self) -> Option<bool> {
        match self.u8()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = self.u32()?;
        self.raw(usize::try_from(len).ok()?)
    }

    fn c_str(&mut self) -> Option<&'a CStr> {
        CStr::from_bytes_with_nul(self.bytes()?).ok()
    }

    fn end<T>(&self, value: T) -> Option<T> {
        self.0.is_empty().then_some(value)
    }
}

/// A value that travels as one message.
pub trait Message<'a>: Sized {
    /// Writes it.
    fn write(&self, writer: &mut Writer<'_>);

    /// Reads it; `None` where the bytes are not one whole message of this kind.
    fn read(reader: &mut Reader<'a>) -> Option<Self>;

    /// Writes it into `buffer`; `None` where it does not fit.
    fn encode(&self, buffer: &mut [u8]) -> Option<usize> {
        let mut writer = Writer::new(buffer);
        self.write(&mut writer);
        writer.finish()
    }

    /// Reads it from exactly these bytes.
    fn decode(message: &'a [u8]) -> Option<Self> {
        let mut reader = Reader::new(message);
        let value = Self::read(&mut reader)?;
        reader.end(value)
    }
}

impl Message<'_> for Spawn {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.u32(self.outer_uid).u32(self.outer_gid).u8(u8::from(self.foreign));
    }

    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        Some(Self { outer_uid: reader.u32()?, outer_gid: reader.u32()?, foreign: reader.flag()? })
    }
}

impl Message<'_> for Failed {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.u8(self.step as u8).i32(self.errno);
    }

    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        Some(Self { step: Step::from_number(reader.u8()?)?, errno: reader.i32()? })
    }
}

impl Message<'_> for Spawned {
    fn write(&self, writer: &mut Writer<'_>) {
        match self {
            Self::Started { pid } => {
                writer.u8(0).i32(*pid);
            }
            Self::Failed(failed) => failed.write(writer.u8(1)),
        }
    }

    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        match reader.u8()? {
            0 => Some(Self::Started { pid: reader.i32()? }),
            1 => Failed::read(reader).map(Self::Failed),
            _ => None,
        }
    }
}

impl Message<'_> for Volumes {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.raw(&self.tree).u64(self.disk_bytes).u64(self.disk_files);
    }

    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        Some(Self { tree: reader.array()?, disk_bytes: reader.u64()?, disk_files: reader.u64()? })
    }
}

impl Message<'_> for ProcessLimits {
    fn write(&self, writer: &mut Writer<'_>) {
        let Self { cpu_seconds, processes, data_bytes, open_files } = *self;
        writer.u64(cpu_seconds).u64(processes).u64(data_bytes).u64(open_files);
    }

    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        Some(Self {
            cpu_seconds: reader.u64()?,
            processes: reader.u64()?,
            data_bytes: reader.u64()?,
            open_files: reader.u64()?,
        })
    }
}

impl<'a> Message<'a> for Execute<'a> {
    fn write(&self, writer: &mut Writer<'_>) {
        self.volumes.write(writer);
        writer.u64(self.wall_ms);
        self.limits.write(writer);
        writer.c_str(self.workdir).bytes(self.arguments).bytes(self.environment);
    }

    fn read(reader: &mut Reader<'a>) -> Option<Self> {
        Some(Self {
            volumes: Volumes::read(reader)?,
            wall_ms: reader.u64()?,
            limits: ProcessLimits::read(reader)?,
            workdir: reader.c_str()?,
            arguments: reader.bytes()?,
            environment: reader.bytes()?,
        })
    }
}

impl<'a> Message<'a> for Request<'a> {
    fn write(&self, writer: &mut Writer<'_>) {
        match self {
            Self::Assemble { image, share, filter } => {
                writer.u8(0).c_str(image).c_str(share).bytes(filter);
            }
            Self::Prepare(volumes) => volumes.write(writer.u8(1)),
            Self::Execute(execute) => execute.write(writer.u8(2)),
            Self::Stop => {
                writer.u8(3);
            }
            Self::Open(path) => {
                writer.u8(4).c_str(path);
            }
            Self::Finish => {
                writer.u8(5);
            }
        }
    }

    fn read(reader: &mut Reader<'a>) -> Option<Self> {
        Some(match reader.u8()? {
            0 => Self::Assemble { image: reader.c_str()?, share: reader.c_str()?, filter: reader.bytes()? },
            1 => Self::Prepare(Volumes::read(reader)?),
            2 => Self::Execute(Execute::read(reader)?),
            3 => Self::Stop,
            4 => Self::Open(reader.c_str()?),
            5 => Self::Finish,
            _ => return None,
        })
    }
}

impl Message<'_> for How {
    fn write(&self, writer: &mut Writer<'_>) {
        match self {
            Self::Exited(code) => {
                writer.u8(0).u8(*code);
            }
            Self::Signalled(signal) => {
                writer.u8(1).u8(*signal);
            }
            Self::NotFound => {
                writer.u8(2);
            }
            Self::NotExecutable => {
                writer.u8(3);
            }
            Self::NoWorkdir => {
                writer.u8(4);
            }
            Self::NotConfined(failed) => failed.write(writer.u8(5)),
        }
    }

    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        Some(match reader.u8()? {
            0 => Self::Exited(reader.u8()?),
            1 => Self::Signalled(reader.u8()?),
            2 => Self::NotFound,
            3 => Self::NotExecutable,
            4 => Self::NoWorkdir,
            5 => Self::NotConfined(Failed::read(reader)?),
            _ => return None,
        })
    }
}

impl Message<'_> for Ended {
    fn write(&self, writer: &mut Writer<'_>) {
        self.how.write(writer);
        writer.u8(match self.by {
            EndedBy::Itself => 0,
            EndedBy::Deadline => 1,
            EndedBy::Request => 2,
        });
        writer.u32(self.killed).u64(self.wall_us).u64(self.cpu_us).u8(u8::from(self.disk_full));
    }

    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        Some(Self {
            how: How::read(reader)?,
            by: match reader.u8()? {
                0 => EndedBy::Itself,
                1 => EndedBy::Deadline,
                2 => EndedBy::Request,
                _ => return None,
            },
            killed: reader.u32()?,
            wall_us: reader.u64()?,
            cpu_us: reader.u64()?,
            disk_full: reader.flag()?,
        })
    }
}

impl Message<'_> for Response {
    fn write(&self, writer: &mut Writer<'_>) {
        match self {
            Self::Born => {
                writer.u8(0);
            }
            Self::Assembled => {
                writer.u8(1);
            }
            Self::Prepared { copied } => {
                writer.u8(2).u8(u8::from(*copied));
            }
            Self::Failed(failed) => failed.write(writer.u8(3)),
            Self::Ended(ended) => ended.write(writer.u8(4)),
            Self::Opened => {
                writer.u8(5);
            }
            Self::Unopened { errno } => {
                writer.u8(6).i32(*errno);
            }
            Self::Finished => {
                writer.u8(7);
            }
        }
    }

    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        Some(match reader.u8()? {
            0 => Self::Born,
            1 => Self::Assembled,
            2 => Self::Prepared { copied: reader.flag()? },
            3 => Self::Failed(Failed::read(reader)?),
            4 => Self::Ended(Ended::read(reader)?),
            5 => Self::Opened,
            6 => Self::Unopened { errno: reader.i32()? },
            7 => Self::Finished,
            _ => return None,
        })
    }
}
