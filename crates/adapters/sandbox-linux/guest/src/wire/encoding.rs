use super::{
    Ended, EndedBy, Execute, Failed, How, Message, ProcessLimits, Reader, Request, Response, Sizes, Spawn,
    Spawned, Volumes, Writer,
};
use crate::Step;
use ambit_system_calls::{Counts, SIGNS};

impl Message<'_> for Spawn {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.u32(self.outer_uid).u32(self.outer_gid);
        for flag in [self.foreign, self.by_path, self.counted, self.placed] {
            writer.u8(u8::from(flag));
        }
    }

    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        Some(Self {
            outer_uid: reader.u32()?,
            outer_gid: reader.u32()?,
            foreign: reader.flag()?,
            by_path: reader.flag()?,
            counted: reader.flag()?,
            placed: reader.flag()?,
        })
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

impl Message<'_> for Sizes {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.u64(self.disk_bytes).u64(self.disk_files);
    }

    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        Some(Self { disk_bytes: reader.u64()?, disk_files: reader.u64()? })
    }
}

impl Message<'_> for Volumes {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.raw(&self.tree);
        self.sizes.write(writer);
        writer.u32(self.declared);
    }

    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        Some(Self { tree: reader.array()?, sizes: Sizes::read(reader)?, declared: reader.u32()? })
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
            Self::Open { written, path } => {
                writer.u8(4).u8(u8::from(*written)).c_str(path);
            }
            Self::Finish => {
                writer.u8(5);
            }
            Self::Bring { name, path } => {
                writer.u8(6).c_str(name).c_str(path);
            }
            Self::Tree(name) => {
                writer.u8(7).raw(name);
            }
            Self::Lay(sizes) => sizes.write(writer.u8(8)),
            Self::Prove { nonce } => {
                writer.u8(9).u64(*nonce);
            }
        }
    }

    fn read(reader: &mut Reader<'a>) -> Option<Self> {
        Some(match reader.u8()? {
            0 => Self::Assemble { image: reader.c_str()?, share: reader.c_str()?, filter: reader.bytes()? },
            1 => Self::Prepare(Volumes::read(reader)?),
            2 => Self::Execute(Execute::read(reader)?),
            3 => Self::Stop,
            4 => Self::Open { written: reader.flag()?, path: reader.c_str()? },
            5 => Self::Finish,
            6 => Self::Bring { name: reader.c_str()?, path: reader.c_str()? },
            7 => Self::Tree(reader.array()?),
            8 => Self::Lay(Sizes::read(reader)?),
            9 => Self::Prove { nonce: reader.u64()? },
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
            EndedBy::Memory => 3,
        });
        writer.u32(self.killed).u64(self.wall_us).u64(self.cpu_us);
        writer.u8(u8::from(self.disk_full)).u32(self.memory_refusals);
        writer.u8(u8::from(self.signs.is_some()));
        for count in self.signs.iter().flatten() {
            writer.u32(*count);
        }
    }

    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        Some(Self {
            how: How::read(reader)?,
            by: match reader.u8()? {
                0 => EndedBy::Itself,
                1 => EndedBy::Deadline,
                2 => EndedBy::Request,
                3 => EndedBy::Memory,
                _ => return None,
            },
            killed: reader.u32()?,
            wall_us: reader.u64()?,
            cpu_us: reader.u64()?,
            disk_full: reader.flag()?,
            memory_refusals: reader.u32()?,
            signs: match reader.flag()? {
                true => Some(read_counts(reader)?),
                false => None,
            },
        })
    }
}

fn read_counts(reader: &mut Reader<'_>) -> Option<Counts> {
    let mut counts = [0; SIGNS];
    for count in &mut counts {
        *count = reader.u32()?;
    }
    Some(counts)
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
            Self::Proven { nonce } => {
                writer.u8(8).u64(*nonce);
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
            8 => Self::Proven { nonce: reader.u64()? },
            _ => return None,
        })
    }
}
