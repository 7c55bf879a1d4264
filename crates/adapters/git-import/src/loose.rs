//! Objects that lie by themselves: a zlib stream of `KIND SIZE`, a NUL byte and the content.

use std::io::{self, Read as _};
use std::sync::Arc;

use crate::inflate::{Inflate, Unpacking};
use crate::place::Place;
use crate::reading::Reading;
use crate::{ObjectId, ObjectKind};

/// The longest beginning of an object: the longest word, a space, twenty digits and the NUL byte.
const HEADER_BYTES: usize = 28;

/// Opens an object; `None` where there is none.
pub(crate) fn open(objects: &Place, id: ObjectId, unpacking: &Unpacking) -> io::Result<Option<Reading>> {
    let digits = id.to_string();
    let name = format!("{}/{}", &digits[..2], &digits[2..]);
    let Some(file) = objects.file(name.as_bytes())? else { return Ok(None) };
    let mut stream = Inflate::new(Arc::new(file), 0, unpacking);
    let (kind, size_bytes) = header(&mut stream)?;
    Ok(Some(Reading::new(id, kind, size_bytes, Box::new(stream))))
}

fn header(stream: &mut Inflate) -> io::Result<(ObjectKind, u64)> {
    let malformed = || io::Error::from(io::ErrorKind::InvalidData);
    let mut header = Vec::with_capacity(HEADER_BYTES);
    loop {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        match byte {
            [0] => break,
            _ if header.len() == HEADER_BYTES => return Err(malformed()),
            [byte] => header.push(byte),
        }
    }
    let space = header.iter().position(|byte| *byte == b' ').ok_or_else(malformed)?;
    let (word, digits) = (&header[..space], &header[space + 1..]);
    let plain = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let size = std::str::from_utf8(digits).ok().filter(|_| plain).and_then(|digits| digits.parse().ok());
    Ok((ObjectKind::of_word(word).ok_or_else(malformed)?, size.ok_or_else(malformed)?))
}

/// The names that begin with these digits, of which there are at least two, added to `found`.
pub(crate) fn with_prefix(objects: &Place, digits: &[u8], found: &mut Vec<ObjectId>) -> io::Result<()> {
    let Some(directory) = objects.directory(&digits[..2])? else { return Ok(()) };
    for name in directory.names(LOOSE_OBJECTS)? {
        if name.starts_with(&digits[2..]) {
            found.extend(ObjectId::from_hex(&[&digits[..2], name.as_slice()].concat()));
        }
    }
    Ok(())
}

/// The most objects that are looked through in one of the 256 directories. Git packs them when there are about 27.
const LOOSE_OBJECTS: usize = 1_000_000;
