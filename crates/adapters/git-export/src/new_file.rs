use std::fs::Permissions;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use ambit_ids::{ByteCount, Digest};
use sha2::{Digest as _, Sha256};
use tempfile::{Builder, NamedTempFile};

use crate::ExportError;

/// A file that is written beside the name that it is to have, and gets it once it is whole. Dropped before that, nothing
/// is left; a crash can leave a file named `.ambit-export-` and some letters.
pub struct NewFile {
    path: PathBuf,
    file: BufWriter<NamedTempFile>,
    sum: Sha256,
    size_bytes: u64,
}

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// The digest of the file.
    pub digest: Digest,
    /// Its size.
    pub size: ByteCount,
}

impl NewFile {
    /// Begins the file `path`, which does not exist.
    ///
    /// # Errors
    /// [`ExportError::Exists`] where something has the name, a link that leads nowhere too, and
    /// [`ExportError::NoPlace`] where its directory takes no file.
    pub fn at(path: &Path) -> Result<Self, ExportError> {
        let no_place = |source: io::Error| ExportError::NoPlace { path: path.to_owned(), source };
        match path.symlink_metadata() {
            Ok(_) => return Err(ExportError::Exists { path: path.to_owned() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(no_place(error)),
        }
        if path.file_name().is_none() {
            return Err(no_place(io::ErrorKind::InvalidInput.into()));
        }
        let above = path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let file = Builder::new()
            .prefix(".ambit-export-")
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(above)
            .map_err(no_place)?;
        Ok(Self { path: path.to_owned(), file: BufWriter::new(file), sum: Sha256::new(), size_bytes: 0 })
    }

    /// Gives the file its name. Whoever made something of that name meanwhile keeps it.
    ///
    /// # Errors
    /// [`ExportError`] where the disk did not take it all or the name is taken.
    pub fn publish(self) -> Result<Written, ExportError> {
        let file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.as_file().sync_all()?;
        file.persist_noclobber(&self.path).map_err(|failed| match failed.error.kind() {
            io::ErrorKind::AlreadyExists => ExportError::Exists { path: self.path.clone() },
            _ => failed.error.into(),
        })?;
        let digest = Digest::from_bytes(self.sum.finalize().into());
        Ok(Written { digest, size: ByteCount::new(self.size_bytes) })
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.sum.update(&bytes[..written]);
        self.size_bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
