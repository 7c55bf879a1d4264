//! The digests of many files. Reading them is what takes the time of an image, so all processors do it.

use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use ambit_ids::Digest;
use ambit_ports::images::ImageError;
use sha2::{Digest as _, Sha256};

use crate::regular::{failed_at, open_regular};

/// More threads than this wait for the disk and not for a processor.
const THREADS: usize = 8;
/// How many files it takes that a thread of its own pays.
const FILES_A_THREAD: usize = 32;

/// A file whose content is to be read.
#[derive(Clone, Debug)]
pub(crate) struct Unread {
    pub(crate) path: PathBuf,
    pub(crate) size_bytes: u64,
}

/// The digest of each file, in their order.
pub(crate) fn digests(files: &[Unread]) -> Result<Vec<Digest>, ImageError> {
    // The largest first, so that none is left to one thread when the others are through.
    let mut order: Vec<usize> = (0..files.len()).collect();
    order.sort_by_key(|index| std::cmp::Reverse(files[*index].size_bytes));
    let next = AtomicUsize::new(0);
    let work = || -> Result<Vec<(usize, Digest)>, ImageError> {
        let mut done = Vec::new();
        while let Some(index) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            let file = &files[*index];
            done.push((*index, digest(file).map_err(failed_at(&file.path))?));
        }
        Ok(done)
    };
    let threads = threads(files);
    let outcomes = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut outcomes = vec![work()];
        outcomes.extend(others.into_iter().map(|other| match other.join() {
            Ok(outcome) => outcome,
            Err(panic) => std::panic::resume_unwind(panic),
        }));
        outcomes
    });
    let mut digests = vec![None; files.len()];
    for outcome in outcomes {
        for (index, digest) in outcome? {
            digests[index] = Some(digest);
        }
    }
    // Every place is filled where no thread failed.
    Ok(digests.into_iter().flatten().collect())
}

fn threads(files: &[Unread]) -> usize {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let large = files.iter().filter(|file| file.size_bytes > 1 << 20).count();
    processors.min(THREADS).min(large + files.len() / FILES_A_THREAD).max(1)
}

fn digest(unread: &Unread) -> io::Result<Digest> {
    let mut file = open_regular(&unread.path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 128 << 10];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(Digest::from_bytes(hasher.finalize().into())),
            read => hasher.update(&buffer[..read]),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn every_file_has_its_own_digest_whoever_reads_it() {
        let directory = tempfile::tempdir().unwrap();
        let files: Vec<Unread> = (0..200_u64)
            .map(|number| {
                let path = directory.path().join(number.to_string());
                let content = vec![b'a'; usize::try_from(number * 7 % 50).unwrap()];
                fs::write(&path, [content.as_slice(), number.to_string().as_bytes()].concat()).unwrap();
                Unread { path, size_bytes: number * 7 % 50 }
            })
            .collect();
        let expected: Vec<Digest> =
            files.iter().map(|file| Digest::of(&fs::read(&file.path).unwrap())).collect();
        assert_eq!(digests(&files).unwrap(), expected);
        assert_eq!(digests(&[]).unwrap(), []);
        assert!(threads(&files) >= 1 && threads(&files[..1]) == 1);
    }

    #[test]
    fn one_file_that_cannot_be_read_fails_them_all() {
        let directory = tempfile::tempdir().unwrap();
        let mut files: Vec<Unread> = (0..100)
            .map(|number| {
                let path = directory.path().join(number.to_string());
                fs::write(&path, "content").unwrap();
                Unread { path, size_bytes: 7 }
            })
            .collect();
        files[50].path = directory.path().join("gone");
        let error = digests(&files).unwrap_err();
        assert!(matches!(&error, ImageError::Io { path, .. } if path.ends_with("gone")), "{error}");
    }
}
