//! The bytes of one file.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;

use ambit_ports::sandbox::OutputRefusal;
use bytes::Bytes;

/// Reads a file that has one name and fits.
pub(crate) fn read(file: OwnedFd, limit: u64) -> Result<Bytes, OutputRefusal> {
    let mut file = File::from(file);
    let metadata = file.metadata().map_err(|_| OutputRefusal::Unreadable)?;
    if !metadata.is_file() {
        return Err(OutputRefusal::NotAFile);
    }
    if metadata.nlink() > 1 {
        return Err(OutputRefusal::HardLink);
    }
    if metadata.size() > limit {
        return Err(OutputRefusal::TooLarge);
    }
    let mut content =
        Vec::with_capacity(usize::try_from(metadata.size()).map_err(|_| OutputRefusal::TooLarge)?);
    let read = file.by_ref().take(limit.saturating_add(1)).read_to_end(&mut content);
    match read {
        Ok(len) if len as u64 > limit => Err(OutputRefusal::TooLarge),
        Ok(_) => Ok(Bytes::from(content)),
        Err(_) => Err(OutputRefusal::Unreadable),
    }
}
