use std::fs::File;
use std::io::{self, Read as _};
use std::sync::Arc;

use ambit_ids::{ByteCount, Content, Digest, Scope};
use ambit_ports::blobs::BlobError;

use crate::disk::{failed, refused};
use crate::layout::{BlobName, Found, Layout};

/// What one thread reads before another is worth its start: waking one costs about as much as reading some small blobs.
const BLOBS_A_THREAD: usize = 10;
/// How many threads read for one caller. More of them than processors are of use where each waits for the disk.
const THREADS: usize = 8;

/// Reads one blob and holds it against its digest.
pub(crate) fn get(
    layout: &Layout,
    scope: &Scope,
    digest: Digest,
    limit: ByteCount,
) -> Result<Content, BlobError> {
    let (file, size_bytes) = match layout.open(scope, &BlobName::of(digest)).map_err(failed)? {
        Found::File(file, size_bytes) => (File::from(file), size_bytes),
        Found::Nothing => return Err(BlobError::NotFound(digest)),
        Found::Other => return Err(BlobError::Corrupt(digest)),
    };
    if size_bytes > limit.get() {
        return Err(BlobError::TooLarge { digest, found: ByteCount::new(size_bytes), limit });
    }
    let mut bytes = Vec::new();
    let room = usize::try_from(size_bytes).map_err(|_| io::ErrorKind::OutOfMemory);
    room.and_then(|room| bytes.try_reserve_exact(room).map_err(|_| io::ErrorKind::OutOfMemory))
        .map_err(|kind| BlobError::Io(kind.into()))?;
    // Bounded, since the file may grow under a tamperer's hands.
    file.take(size_bytes).read_to_end(&mut bytes).map_err(refused)?;
    let content = Content::of(bytes);
    if content.digest() == digest { Ok(content) } else { Err(BlobError::Corrupt(digest)) }
}

/// Reads blobs on as many threads as that is worth, and hashes them there.
pub(crate) async fn get_many(
    layout: &Arc<Layout>,
    scope: &Scope,
    digests: &[Digest],
    limit: ByteCount,
) -> Vec<Result<Content, BlobError>> {
    let threads = digests.len().div_ceil(BLOBS_A_THREAD).clamp(1, THREADS);
    let parts = digests.chunks(digests.len().div_ceil(threads).max(1)).map(|part| {
        let (layout, scope, digests) = (Arc::clone(layout), scope.clone(), part.to_vec());
        let count = part.len();
        let read = move || digests.into_iter().map(|digest| get(&layout, &scope, digest, limit)).collect();
        (count, tokio::task::spawn_blocking(read))
    });
    // All of them are started before one is waited for.
    let parts: Vec<(usize, tokio::task::JoinHandle<Vec<_>>)> = parts.collect();
    let mut answers = Vec::with_capacity(digests.len());
    for (count, part) in parts {
        match part.await {
            Ok(read) => answers.extend(read),
            Err(error) => {
                let kind = if error.is_panic() { "failed" } else { "was given up" };
                let failed = || BlobError::Io(io::Error::other(format!("the reading {kind}")));
                answers.extend(std::iter::repeat_with(|| Err(failed())).take(count));
            }
        }
    }
    answers
}
