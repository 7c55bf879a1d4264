//! The contents of files, each in a file of its own, until it is known where they belong.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use ambit_ports::images::ImageError;

use crate::regular::failed_at;

/// The content of a file, and what of it an image does not keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Content {
    pub(crate) id: ContentId,
    pub(crate) size_bytes: u64,
    pub(crate) is_executable: bool,
    pub(crate) had_set_id: bool,
    pub(crate) had_attributes: bool,
}

/// A directory of contents, numbered as they came.
#[derive(Debug)]
pub(crate) struct Spool {
    directory: PathBuf,
    count: u64,
}

/// Which content, in the order in which they came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ContentId(pub(crate) u64);

/// Why a content was not kept.
#[derive(Debug)]
pub(crate) enum Unspooled {
    /// It could not be read.
    Read(io::Error),
    /// It could not be written.
    Write(ImageError),
}

impl Spool {
    /// Makes the directory.
    pub(crate) fn make(directory: PathBuf) -> Result<Self, ImageError> {
        DirBuilder::new().mode(0o700).create(&directory).map_err(failed_at(&directory))?;
        Ok(Self { directory, count: 0 })
    }

    /// Keeps everything that `from` has.
    pub(crate) fn take(&mut self, from: &mut dyn Read) -> Result<ContentId, Unspooled> {
        let content = ContentId(self.count);
        let path = self.path(content);
        self.count += 1;
        let write = |error| Unspooled::Write(failed_at(&path)(error));
        let mut file = create(&path).map_err(write)?;
        let mut buffer = vec![0; 64 << 10];
        loop {
            match from.read(&mut buffer) {
                Ok(0) => return Ok(content),
                Ok(read) => file.write_all(&buffer[..read]).map_err(write)?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Unspooled::Read(error)),
            }
        }
    }

    /// Where a content lies.
    pub(crate) fn path(&self, content: ContentId) -> PathBuf {
        self.directory.join(content.0.to_string())
    }
}

fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}
