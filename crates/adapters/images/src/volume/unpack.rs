//! Unpacks the archive of a crate: files and directories below one directory, and nothing else.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use flate2::read::GzDecoder;
use tar::{Archive, Entry, EntryType};

use super::error::VolumeCaptureError;
use super::lock::LockedCrate;
use super::new_tree::NewTree;
use crate::limits;

/// Files by which Cargo marks a directory as its own. An archive has no say in them.
const MARKS: [&str; 2] = [".cargo-checksum.json", ".cargo-ok"];

/// Unpacks to `vendor/NAME-VERSION`, with the mark by which Cargo takes it for the crate of this checksum.
pub(super) fn unpack(
    locked: &LockedCrate,
    archive: &[u8],
    into: &mut NewTree,
) -> Result<(), VolumeCaptureError> {
    unpack_within(limits::UNPACKED_CRATE_BYTES, locked, archive, into)
}

fn unpack_within(
    limit_bytes: u64,
    locked: &LockedCrate,
    archive: &[u8],
    into: &mut NewTree,
) -> Result<(), VolumeCaptureError> {
    let place = Path::new("vendor").join(&locked.name);
    into.directory(&place)?;
    let refused = |why: String| VolumeCaptureError::ArchiveRefused { name: locked.name.clone(), why };
    let unreadable = |error: io::Error| refused(error.to_string());
    let bounded = GzDecoder::new(archive).take(limit_bytes);
    let mut archive = Archive::new(bounded);
    for entry in archive.entries().map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let kind = entry.header().entry_type();
        if kind == EntryType::XGlobalHeader {
            continue;
        }
        let Some(below) = below(&locked.name, &entry) else {
            return Err(refused(format!("it holds {:?}", name(&entry))));
        };
        if below.as_os_str().is_empty() || MARKS.iter().any(|mark| below == Path::new(mark)) {
            continue;
        }
        let path = place.join(&below);
        let in_archive = |error| twice(error, refused, &below);
        match kind {
            EntryType::Directory => into.directories_to(&path).map_err(in_archive)?,
            EntryType::Regular | EntryType::Continuous => {
                into.directories_to(path.parent().unwrap_or(&place)).map_err(in_archive)?;
                let executable = entry.header().mode().map_err(unreadable)? & 0o111 != 0;
                into.file(&path, executable, entry, unreadable).map_err(in_archive)?;
            }
            _ => return Err(refused(format!("{below:?} is neither a file nor a directory"))),
        }
    }
    if archive.into_inner().limit() == 0 {
        return Err(refused(format!("it holds more than {limit_bytes} bytes")));
    }
    let mark = format!("{{\"files\":{{}},\"package\":\"{}\"}}", locked.checksum);
    into.file(&place.join(MARKS[0]), false, mark.as_bytes(), unreadable)
}

/// The path of an entry below the one directory of the archive; `None` where it is not below it.
fn below<R: Read>(crate_name: &str, entry: &Entry<'_, R>) -> Option<PathBuf> {
    let bytes = entry.path_bytes();
    let path = Path::new(OsStr::from_bytes(&bytes));
    let mut components = path.components();
    if bytes.contains(&0) || components.next() != Some(Component::Normal(OsStr::new(crate_name))) {
        return None;
    }
    components
        .map(|component| match component {
            Component::Normal(name) => Some(name),
            _ => None,
        })
        .collect()
}

fn name<R: Read>(entry: &Entry<'_, R>) -> String {
    String::from_utf8_lossy(&entry.path_bytes()).into_owned()
}

/// A name that is there already is the fault of the archive, and not of the store.
fn twice(
    error: VolumeCaptureError,
    refused: impl Fn(String) -> VolumeCaptureError,
    path: &Path,
) -> VolumeCaptureError {
    match &error {
        VolumeCaptureError::Store(ambit_ports::volumes::VolumeError::Io { source, .. })
            if source.kind() == io::ErrorKind::AlreadyExists =>
        {
            refused(format!("{path:?} stands in it twice"))
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use tar::{Builder, Header};

    use super::*;

    #[test]
    fn an_archive_that_unpacks_to_more_than_it_may_is_refused_also_where_nothing_of_it_is_kept() {
        let locked = LockedCrate { name: "tiny-1.0.0".to_owned(), checksum: "0".repeat(64) };
        let packed = |kind: EntryType, size: usize| {
            let mut builder = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
            let mut header = Header::new_gnu();
            header.set_path("tiny-1.0.0/src").unwrap();
            header.set_entry_type(kind);
            header.set_mode(0o644);
            header.set_size(size as u64);
            header.set_cksum();
            builder.append(&header, &vec![0; size][..]).unwrap();
            let mut packed = builder.into_inner().unwrap();
            packed.flush().unwrap();
            packed.finish().unwrap()
        };
        let directory = tempfile::tempdir().unwrap();
        for (kind, size, fits) in [
            (EntryType::Regular, 1 << 10, true),
            (EntryType::Regular, 1 << 20, false),
            (EntryType::XGlobalHeader, 1 << 10, true),
            (EntryType::XGlobalHeader, 1 << 20, false),
        ] {
            let root = directory.path().join(format!("{kind:?}-{size}"));
            let mut tree = NewTree::begin(&root).unwrap();
            tree.directory(Path::new("vendor")).unwrap();
            let outcome = unpack_within(64 << 10, &locked, &packed(kind, size), &mut tree);
            let code = outcome.map_err(|error| error.code());
            assert_eq!(code, if fits { Ok(()) } else { Err("VOLUME_ARCHIVE_REFUSED") }, "{kind:?} {size}");
        }
    }
}
