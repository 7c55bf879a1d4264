//! The files that every program is linked with: start-up code, the run-time of the compiler, and the C library.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::closure::Closure;
use crate::driver::Driver;
use crate::error::CaptureError;
use crate::limits;
use crate::plan::unreadable;
use crate::regular::open_regular;

/// Of every program in C. No library for static linking beside those that have no other form.
const INPUTS: [&str; 31] = [
    "Scrt1.o",
    "crt1.o",
    "crtbegin.o",
    "crtbeginS.o",
    "crtbeginT.o",
    "crtend.o",
    "crtendS.o",
    "crtfastmath.o",
    "crti.o",
    "crtn.o",
    "rcrt1.o",
    "libanl.so",
    "libatomic.so",
    "libc.so",
    "libc_nonshared.a",
    "libdl.a",
    "libdl.so",
    "libgcc.a",
    "libgcc_eh.a",
    "libgcc_s.so",
    "libgcc_s.so.1",
    "liblto_plugin.so",
    "libm.so",
    "libmvec.so",
    "libpthread.a",
    "libpthread.so",
    "libresolv.so",
    "librt.a",
    "librt.so",
    "libutil.a",
    "libssp_nonshared.a",
];
/// Of one in C++ too.
const INPUTS_OF_CPP: [&str; 3] = ["libstdc++.so", "libstdc++fs.a", "libsupc++.a"];

/// Takes the files that `driver` finds.
pub(crate) fn take(closure: &mut Closure<'_>, driver: &Driver<'_>, is_cpp: bool) -> Result<(), CaptureError> {
    let mut seen = BTreeSet::new();
    let names = INPUTS.iter().chain(INPUTS_OF_CPP.iter().filter(|_| is_cpp));
    for name in names {
        let Some(path) = driver.file(name)? else { continue };
        let real = closure.plan.take(&path)?;
        for path in named_by_script(&real)? {
            if seen.insert(path.clone()) && path.is_file() {
                closure.plan.take(&path)?;
            }
        }
    }
    Ok(())
}

/// The files that a text names which stands for a library; none where it is a library itself.
fn named_by_script(path: &Path) -> Result<Vec<PathBuf>, CaptureError> {
    if path.extension() == Some(OsStr::new("o")) {
        return Ok(Vec::new());
    }
    let mut bytes = Vec::new();
    let file = open_regular(path).map_err(unreadable(path))?;
    let is_short = file.metadata().map_err(unreadable(path))?.len() <= limits::DESCRIPTION_BYTES;
    if is_short {
        file.take(limits::DESCRIPTION_BYTES).read_to_end(&mut bytes).map_err(unreadable(path))?;
    }
    Ok(names_in(&bytes))
}

fn names_in(bytes: &[u8]) -> Vec<PathBuf> {
    let is_library = bytes.starts_with(b"\x7fELF") || bytes.starts_with(b"!<");
    let Some(text) = str::from_utf8(bytes).ok().filter(|_| !is_library) else { return Vec::new() };
    let words = text.split(|letter: char| letter.is_ascii_whitespace() || matches!(letter, '(' | ')' | ','));
    let is_path = |word: &&str| word.starts_with('/') && !word.starts_with("/*") && !word.contains('\0');
    words.filter(is_path).map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_in_place_of_a_library_names_others() {
        let script = b"/* GNU ld script\n   Use the shared library. */\nOUTPUT_FORMAT(elf64-x86-64)\n\
            GROUP ( /lib/libc.so.6 /usr/lib/libc_nonshared.a  AS_NEEDED ( /lib64/ld.so,/lib/x.so ) -lgcc )\n";
        let expected = ["/lib/libc.so.6", "/usr/lib/libc_nonshared.a", "/lib64/ld.so", "/lib/x.so"];
        assert_eq!(names_in(script), expected.map(PathBuf::from));
        for library in [&b"\x7fELF /lib/a"[..], b"!<arch>\n /lib/a", b"!<thin>\n/lib/a", b"\xff /lib/a", b""]
        {
            assert_eq!(names_in(library), [] as [PathBuf; 0]);
        }
    }
}
