use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ambit_revision::Tree;
use ambit_source_directory::{ExportError, SourceFiles, write_new};

use super::decide::Outcome;
use crate::crew;
use crate::failure::Failure;
use crate::interrupt::Signals;

/// Writes what came out to a new directory: all of it, or only the files that the patch made or changed. Whoever
/// interrupts it finds no directory.
pub(super) fn write(outcome: Outcome, base: &Path, out: &Path, changed_only: bool) -> Result<(), Failure> {
    let Outcome { changed, tree, contents } = outcome;
    let changed = || Tree::from_files(changed).map_err(|error| Failure::of(error.code(), &error));
    let tree = if changed_only { changed()? } else { tree.map_or_else(changed, Ok)? };
    let (base, out) = (base.to_owned(), out.to_owned());
    let work = move |is_stopped: &AtomicBool| {
        let mut files: Option<SourceFiles> = None;
        let mut content = |path: &_, file: &ambit_revision::TreeFile| {
            if let Some(bytes) = contents.get(&file.content) {
                return Ok(bytes.to_vec());
            }
            let files = match &mut files {
                Some(files) => files,
                None => files.insert(SourceFiles::open(&base).map_err(ExportError::Source)?),
            };
            files.read(path, file).map_err(ExportError::Source)
        };
        write_new(&tree, &out, &base, &mut content, is_stopped).map(drop)
    };
    stoppable(work)
}

/// Does work on a thread of its own and tells it to stop where this program is told to end.
fn stoppable(
    work: impl FnOnce(&AtomicBool) -> Result<(), ExportError> + Send + 'static,
) -> Result<(), Failure> {
    crew::two()?.block_on(async {
        let mut signals = Signals::to_end();
        let is_stopped = Arc::new(AtomicBool::new(false));
        let stopping = Arc::clone(&is_stopped);
        let mut working = tokio::task::spawn_blocking(move || work(&is_stopped));
        let mut exit = None;
        let worked = tokio::select! {
            worked = &mut working => worked,
            signal = signals.next() => {
                stopping.store(true, Ordering::Relaxed);
                exit = Some(signal.exit());
                working.await
            }
        };
        let failed = |error: ExportError| {
            let failure = Failure::of(error.code(), &error);
            match (exit, error) {
                (Some(exit), ExportError::Interrupted) => failure.exiting(exit),
                _ => failure,
            }
        };
        worked.map_err(|_| Failure::new("EXPORT_INTERRUPTED", "the writing was ended"))?.map_err(failed)
    })
}
