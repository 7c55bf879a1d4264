//! The tar of a bundle: its members by name, each behind the one header that it can have. Nothing is ever unpacked.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read as _, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use ambit_ids::ByteCount;

use crate::error::BundleError;
use crate::header::{self, BLOCK};
use crate::limits;
use crate::name::{MemberName, Names, refused};
use crate::source::{Contents, Entry, Place};

/// Reads where each member lies.
pub(crate) fn index(file: &File) -> Result<Vec<Entry>, BundleError> {
    let failed = |error| BundleError::io("the tar", error);
    let length = file.metadata().map_err(failed)?.len();
    let mut reader = BufReader::new(file);
    let (mut entries, mut names) = (Vec::new(), Names::default());
    let (mut offset, mut total) = (0_u64, 0_u64);
    loop {
        let mut block = [0; BLOCK];
        reader.read_exact(&mut block).map_err(|error| cut(offset, error))?;
        if block == [0; BLOCK] {
            end(&mut reader, offset, length)?;
            return Ok(entries);
        }
        let (name, size) = header::parse(&block, offset)?;
        admit(&mut entries, &mut names, &mut total, name, size, Place::At(offset + BLOCK as u64))?;
        if let [.., before, last] = entries.as_slice()
            && before.name >= last.name
        {
            return Err(BundleError::Archive { offset, why: "members that are not sorted by name" });
        }
        offset += BLOCK as u64 + header::padded(size);
        if offset > length {
            return Err(BundleError::Archive { offset: length, why: "it ends within a member" });
        }
        padding(file, offset, header::padded(size) - size)?;
        let ahead = i64::try_from(header::padded(size)).unwrap_or(i64::MAX);
        reader.seek_relative(ahead).map_err(failed)?;
    }
}

/// Takes an entry, within all bounds.
pub(crate) fn admit(
    entries: &mut Vec<Entry>,
    names: &mut Names,
    total: &mut u64,
    name: MemberName,
    size: u64,
    place: Place,
) -> Result<(), BundleError> {
    if entries.len() >= limits::MEMBERS {
        return Err(BundleError::TooMuch { what: "members", most: limits::MEMBERS as u64 });
    }
    if size > limits::MEMBER_BYTES.get() {
        let (found, most) = (ByteCount::new(size), limits::MEMBER_BYTES);
        return Err(BundleError::TooLarge { name: name.to_string(), found, most });
    }
    *total += size;
    if *total > limits::TOTAL_BYTES.get() {
        return Err(BundleError::TooMuch { what: "bytes of all members", most: limits::TOTAL_BYTES.get() });
    }
    names.take(&name).map_err(|fault| refused(name.as_str().as_bytes(), fault))?;
    entries.push(Entry { name, size, place });
    Ok(())
}

fn cut(offset: u64, error: io::Error) -> BundleError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            BundleError::Archive { offset, why: "it ends without the two blocks that end a tar" }
        }
        _ => BundleError::io("the tar", error),
    }
}

/// The bytes that fill the last block of a member are all zero: nothing hides there.
fn padding(file: &File, end: u64, fill: u64) -> Result<(), BundleError> {
    let mut rest = [0; BLOCK];
    let rest = &mut rest[..usize::try_from(fill).unwrap_or_default()];
    file.read_exact_at(rest, end - fill).map_err(|error| cut(end, error))?;
    if rest.iter().all(|byte| *byte == 0) {
        Ok(())
    } else {
        Err(BundleError::Archive { offset: end - fill, why: "something hides behind a member" })
    }
}

/// A second block of zeroes, and nothing more.
fn end(reader: &mut BufReader<&File>, offset: u64, length: u64) -> Result<(), BundleError> {
    let mut block = [0; BLOCK];
    reader.read_exact(&mut block).map_err(|error| cut(offset, error))?;
    if block != [0; BLOCK] || length != offset + 2 * BLOCK as u64 {
        return Err(BundleError::Archive { offset, why: "something follows its end" });
    }
    Ok(())
}

/// Writes the tar of the bundle in `dir` to the new file `out`. The same bundle always makes the same bytes.
///
/// # Errors
/// [`BundleError`]: the directory is no bundle, or the file exists or cannot be written; what was written of it is removed.
pub fn archive(dir: &Path, out: &Path) -> Result<(), BundleError> {
    let contents = Contents::open(dir)?;
    let unreachable = |source| BundleError::Unreachable { path: out.to_owned(), source };
    let file = File::create_new(out).map_err(unreachable)?;
    let written = fill(&contents, &file);
    if written.is_err() {
        // What is left of it is no tar, and says so to whoever reads it.
        let _ = std::fs::remove_file(out);
    }
    written
}

fn fill(contents: &Contents, file: &File) -> Result<(), BundleError> {
    let failed = |error| BundleError::io("the tar", error);
    let mut writer = BufWriter::new(file);
    for entry in contents.entries() {
        let header = header::header(&entry.name, entry.size)
            .ok_or_else(|| refused(entry.name.as_str().as_bytes(), crate::NameFault::TooLong))?;
        writer.write_all(&header).map_err(failed)?;
        let mut member = contents.read(entry)?;
        let copied = io::copy(&mut member, &mut writer).map_err(failed)?;
        if copied != entry.size {
            let why = "it changed while it was read".to_owned();
            return Err(BundleError::Altered { name: entry.name.to_string(), why });
        }
        let fill = usize::try_from(header::padded(entry.size) - entry.size).unwrap_or_default();
        writer.write_all(&[0; BLOCK][..fill]).map_err(failed)?;
    }
    writer.write_all(&[0; 2 * BLOCK]).map_err(failed)?;
    let file = writer.into_inner().map_err(|error| failed(error.into_error()))?;
    file.sync_all().map_err(failed)
}
