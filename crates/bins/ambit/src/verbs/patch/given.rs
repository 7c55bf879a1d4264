use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use ambit_ids::{Digest, limits};
use ambit_revision::{PatchError, PatchFault, PatchSet, parse};

use super::Aim;
use crate::failure::Failure;

/// A patch as it was given. Of one that is too large only the start was read.
pub(super) struct Given {
    bytes: Vec<u8>,
    size_bytes: usize,
}

impl Given {
    /// Reads a file, a pipe, or with `-` standard input.
    pub(super) fn read(file: &Path, aim: Aim) -> Result<Self, Failure> {
        let shown =
            if file == Path::new("-") { "standard input".to_owned() } else { file.display().to_string() };
        let given = if file == Path::new("-") {
            Self::of(io::stdin().lock(), 0)
        } else {
            File::open(file).and_then(|opened| {
                let size_bytes = opened.metadata()?.len();
                Self::of(opened, usize::try_from(size_bytes).unwrap_or(usize::MAX))
            })
        };
        given.map_err(|error| {
            Failure::new("USAGE_FILE_UNREADABLE", format!("{shown} cannot be read: {error}"))
                .help(format!("{}; name a file with a patch, or - for standard input", aim.kept()))
        })
    }

    fn of(source: impl Read, size_bytes: usize) -> io::Result<Self> {
        let mut bytes = Vec::new();
        source.take(limits::PATCH_BYTES as u64 + 1).read_to_end(&mut bytes)?;
        let size_bytes = size_bytes.max(bytes.len());
        Ok(Self { bytes, size_bytes })
    }

    /// Understands it.
    pub(super) fn parse(&self) -> Result<PatchSet, PatchError> {
        if self.bytes.len() > limits::PATCH_BYTES {
            return Err(PatchError { line: 1, fault: PatchFault::TooLarge(self.size_bytes) });
        }
        parse(&self.bytes)
    }

    /// Its digest, where it was read to its end.
    pub(super) fn digest(&self) -> Option<Digest> {
        (self.bytes.len() <= limits::PATCH_BYTES).then(|| Digest::of(&self.bytes))
    }
}
