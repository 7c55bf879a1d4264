//! The guest's program, as the build embedded it.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Write as _};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

/// The bytes of the static program that runs inside, which is also the prober of the conformance suite; empty on processor families that it is not written for.
pub const PROGRAM: &[u8] = include_bytes!(env!("SANDBOX_GUEST"));

/// What the kernel calls the program's file.
const NAME: &CStr = c"ambit-sandbox";

/// Whether a process runs the program, as the kernel tells it. A process that this user may not look at does not.
pub(crate) fn is_run_by(pid: i32) -> bool {
    std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|path| {
        let name = path.to_str().and_then(|path| path.strip_prefix("/memfd:"));
        name.and_then(|name| name.strip_suffix(" (deleted)"))
            .is_some_and(|name| name.as_bytes() == NAME.to_bytes())
    })
}

/// The program as an executable file that has no name and can no longer be changed.
pub(crate) fn sealed() -> io::Result<File> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    // Kernels before 6.3 do not know the flag, and need none.
    let descriptor = memfd_create(NAME, flags | MemfdFlags::EXEC).or_else(|_| memfd_create(NAME, flags))?;
    let mut file = File::from(descriptor);
    file.write_all(PROGRAM)?;
    fcntl_add_seals(&file, SealFlags::SEAL | SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE)?;
    Ok(file)
}
