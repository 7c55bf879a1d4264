//! Where things are mounted.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use ambit_ids::LeaseId;
use ambit_ports::sandbox::{Found, Maker, Surface};

/// Every place where something is mounted, as this process sees the machine: absolute, and without links.
///
/// # Errors
/// Where the kernel's table cannot be read.
pub fn mounts() -> io::Result<Vec<PathBuf>> {
    Ok(places(&fs::read("/proc/self/mountinfo")?))
}

/// The mounts that lie in the directory of a lease, each lease with its maker.
///
/// # Errors
/// Where the kernel's table cannot be read.
pub fn mounts_below(leases: &[(&Path, &LeaseId, Maker)]) -> io::Result<Vec<Found>> {
    let found = |place: PathBuf| {
        let (_, lease, maker) = leases.iter().find(|(directory, ..)| place.starts_with(directory))?;
        let reference = place.display().to_string();
        Some(Found { surface: Surface::Mounts, reference, lease: Some((*lease).clone()), maker: *maker })
    };
    Ok(mounts()?.into_iter().filter_map(found).collect())
}

/// The places of a table (`proc_pid_mountinfo(5)`). They are bytes: a machine may have some that are no text.
fn places(table: &[u8]) -> Vec<PathBuf> {
    let lines = table.split(|byte| *byte == b'\n');
    lines.filter_map(|line| line.split(|byte| *byte == b' ').nth(4)).map(unescaped).collect()
}

/// The kernel writes what would end a field, and its own backslash, as a backslash and three octal digits.
fn unescaped(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let code = after.first_chunk::<3>().filter(|_| *first == b'\\').and_then(octal);
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &after[3..] } else { after };
    }
    OsString::from_vec(bytes).into()
}

fn octal(digits: &[u8; 3]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_is_whatever_it_is_called() {
        let table = b"\
31 1 0:27 / / rw,relatime - ext4 /dev/vda rw
32 31 0:28 / /a\\040b\\134040\\011 rw - tmpfs tmpfs rw
33 31 0:29 / /m\xe9dia rw - tmpfs tmpfs rw
34 31 0:30 / /odd\\9 rw - tmpfs tmpfs rw
";
        let read: Vec<Vec<u8>> =
            places(table).into_iter().map(|place| place.into_os_string().into_vec()).collect();
        assert_eq!(read, [&b"/"[..], b"/a b\\040\t", b"/m\xe9dia", b"/odd\\9"]);
    }

    #[test]
    fn the_places_of_this_machine_are_read() {
        let places = mounts().unwrap();
        assert!(["/", "/proc"].iter().all(|place| places.contains(&PathBuf::from(place))), "{places:?}");
    }
}
