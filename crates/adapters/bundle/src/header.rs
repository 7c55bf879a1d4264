//! The one header that a member of a tar may have: a plain file of ustar, mode 0644, of nobody and of no time.
//!
//! A header is read by making it again from the name and the size that it gives, so that whatever else it could say is
//! refused without having to be known.

use crate::error::BundleError;
use crate::name::{self, MemberName};

/// The size of a block, and of a header.
pub(crate) const BLOCK: usize = 512;

/// The bytes that a file of this size takes up after its header.
pub(crate) const fn padded(size: u64) -> u64 {
    size.next_multiple_of(BLOCK as u64)
}

/// The prefix and the name under which a header holds a path; `None` where it holds it under none.
pub(crate) fn split(path: &str) -> Option<(&str, &str)> {
    if path.len() <= 100 {
        return Some(("", path));
    }
    let cut = path.match_indices('/').map(|(at, _)| at).find(|at| path.len() - at - 1 <= 100)?;
    (cut <= 155).then(|| (&path[..cut], &path[cut + 1..]))
}

/// The header of a member.
pub(crate) fn header(name: &MemberName, size: u64) -> Option<[u8; BLOCK]> {
    let (prefix, rest) = split(name.as_str())?;
    let mut block = [0; BLOCK];
    let mut put = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, rest.as_bytes());
    put(100, b"0000644\0");
    put(108, b"0000000\0");
    put(116, b"0000000\0");
    put(124, format!("{size:011o}\0").as_bytes().get(..12)?);
    put(136, b"00000000000\0");
    put(148, b"        ");
    put(156, b"0");
    put(257, b"ustar\x0000");
    put(345, prefix.as_bytes());
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    Some(block)
}

/// The name and the size of a member, by its header at `offset`.
pub(crate) fn parse(block: &[u8; BLOCK], offset: u64) -> Result<(MemberName, u64), BundleError> {
    let malformed = |why| BundleError::Archive { offset, why };
    let path = path(block);
    if let Some(what) = other_kind(block[156]) {
        return Err(BundleError::Entry { name: String::from_utf8_lossy(&path).into_owned(), what });
    }
    let name = name::read(&path)?;
    let size = octal(&block[124..136]).ok_or_else(|| malformed("a size that is no octal number"))?;
    match header(&name, size) {
        Some(made) if made == *block => Ok((name, size)),
        _ => Err(malformed("a header that says more than a name and a size")),
    }
}

fn path(block: &[u8; BLOCK]) -> Vec<u8> {
    let text = |field: &[u8]| field.split(|byte| *byte == 0).next().unwrap_or_default().to_vec();
    let (prefix, rest) = (text(&block[345..500]), text(&block[..100]));
    if prefix.is_empty() { rest } else { [prefix, rest].join(&b'/') }
}

fn octal(field: &[u8]) -> Option<u64> {
    let digits = std::str::from_utf8(field.strip_suffix(b"\0")?).ok()?;
    let is_octal = digits.bytes().all(|digit| (b'0'..=b'7').contains(&digit));
    if is_octal { u64::from_str_radix(digits, 8).ok() } else { None }
}

/// What an entry is that is no plain file.
fn other_kind(flag: u8) -> Option<&'static str> {
    match flag {
        b'0' => None,
        b'1' => Some("a hard link"),
        b'2' => Some("a symbolic link"),
        b'3' | b'4' => Some("a device"),
        b'5' => Some("a directory entry"),
        b'6' => Some("a pipe"),
        b'x' | b'g' => Some("an extended header"),
        b'L' | b'K' => Some("a long name"),
        b'S' => Some("a sparse file"),
        _ => Some("an entry of an unknown kind"),
    }
}
