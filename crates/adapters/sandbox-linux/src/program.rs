//! The guest's program, as the build embedded it.

use std::fs::File;
use std::io::{self, Write as _};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

/// The bytes of the static program that runs inside, which is also the prober of the conformance suite; empty on processor families that it is not written for.
pub const PROGRAM: &[u8] = include_bytes!(env!("SANDBOX_GUEST"));

/// The program as an executable file that has no name and can no longer be changed.
pub(crate) fn sealed() -> io::Result<File> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    // Kernels before 6.3 do not know the flag, and need none.
    let descriptor = memfd_create(c"ambit-sandbox", flags | MemfdFlags::EXEC)
        .or_else(|_| memfd_create(c"ambit-sandbox", flags))?;
    let mut file = File::from(descriptor);
    file.write_all(PROGRAM)?;
    fcntl_add_seals(&file, SealFlags::SEAL | SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE)?;
    Ok(file)
}
