//! One stream of output: secrets taken out, then streamed whole into a blob, with a window of each end kept, and shown as it
//! arrives.

use std::collections::VecDeque;
use std::sync::Arc;

use ambit_ids::{ByteCount, Scope, limits};
use ambit_ports::blobs::{BlobError, BlobStore, BlobWriter};
use ambit_ports::sandbox::{
    Flow, NamedCommand, OutputCapture, OutputStream, begun_at_end, continued_at_start, shown,
};
use ambit_redaction::{Redactor, Stream};
use bytes::Bytes;

const WINDOW_BYTES: usize = limits::OUTPUT_WINDOW_BYTES;
/// Output up to this size is put in one piece.
const BUFFER_BYTES: usize = 64 << 10;

/// A stream that is being captured.
pub struct Capture {
    scope: Scope,
    blobs: Arc<dyn BlobStore>,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
    redacting: Stream,
    /// What is kept and not written yet.
    buffer: Vec<u8>,
    kept: u64,
    writer: Option<Box<dyn BlobWriter>>,
    flow: Option<Flow>,
}

impl Capture {
    /// Nothing captured yet. What `redactor` takes for a secret is kept nowhere.
    #[must_use]
    pub fn new(scope: Scope, blobs: Arc<dyn BlobStore>, redactor: &Redactor) -> Self {
        Self {
            scope,
            blobs,
            head: Vec::new(),
            tail: VecDeque::new(),
            total: 0,
            redacting: redactor.stream(),
            buffer: Vec::new(),
            kept: 0,
            writer: None,
            flow: None,
        }
    }

    /// A stream of this command, of which nothing was captured yet.
    #[must_use]
    pub fn of(command: &NamedCommand, scope: &Scope, blobs: &Arc<dyn BlobStore>) -> Self {
        Self::new(scope.clone(), blobs.clone(), &command.redactor)
    }

    /// The same, which pours what it keeps into the tap of the command, where it has one.
    #[must_use]
    pub fn tapped(mut self, command: &NamedCommand, stream: OutputStream) -> Self {
        self.flow = command.tap.as_ref().and_then(|tap| tap.flow(stream));
        self
    }

    /// How many bytes were captured, secrets included.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// Appends a chunk.
    ///
    /// # Errors
    /// [`BlobError`] where the blob could not be written.
    pub async fn push(&mut self, chunk: &[u8]) -> Result<(), BlobError> {
        self.total += chunk.len() as u64;
        let before = self.buffer.len();
        self.redacting.push(chunk, &mut self.buffer);
        self.show(before);
        if self.buffer.len() < BUFFER_BYTES {
            return Ok(());
        }
        let writer = match &mut self.writer {
            Some(writer) => writer,
            None => self.writer.insert(self.blobs.create(&self.scope).await?),
        };
        writer.write(&self.buffer).await?;
        self.buffer.clear();
        Ok(())
    }

    /// Shows what was put into the buffer behind `from`.
    fn show(&mut self, from: usize) {
        let clean = &self.buffer[from..];
        self.kept += clean.len() as u64;
        if let Some(flow) = &mut self.flow {
            flow.pour(clean);
        }
        let (first, rest) = clean.split_at(clean.len().min(WINDOW_BYTES - self.head.len()));
        self.head.extend_from_slice(first);
        self.tail.extend(&rest[rest.len().saturating_sub(WINDOW_BYTES)..]);
        self.tail.drain(..self.tail.len().saturating_sub(WINDOW_BYTES));
    }

    /// Makes the blob durable and answers what was seen.
    ///
    /// # Errors
    /// [`BlobError`] where the blob could not be written.
    pub async fn finish(mut self) -> Result<OutputCapture, BlobError> {
        let before = self.buffer.len();
        let redactions = self.redacting.finish(&mut self.buffer);
        self.show(before);
        self.flow = None;
        let (artifact, bytes) = match self.writer {
            None => {
                let bytes = ByteCount::new(self.kept);
                (self.blobs.put(&self.scope, Bytes::from(self.buffer)).await?, bytes)
            }
            Some(mut writer) => {
                writer.write(&self.buffer).await?;
                writer.finish().await?
            }
        };
        let tail: Vec<u8> = self.tail.into();
        let head = text_from_start(&self.head, tail.is_empty());
        let tail = text_to_end(&tail);
        let shown = head.raw_bytes + tail.raw_bytes;
        Ok(OutputCapture {
            head: head.text,
            tail: tail.text,
            truncated: (shown as u64) < self.kept,
            bytes,
            artifact,
            redactions: Some(redactions),
        })
    }
}

/// A text view, and how many bytes of the stream it shows.
struct View {
    text: String,
    raw_bytes: usize,
}

/// As much from the start as fits into a window as text. Where more follows, a character that the window cut is left out.
fn text_from_start(bytes: &[u8], is_whole: bool) -> View {
    let bytes = if is_whole { bytes } else { &bytes[..bytes.len() - begun_at_end(bytes)] };
    let mut view = View { text: String::new(), raw_bytes: 0 };
    for (shown, raw) in shown(bytes) {
        if view.text.len() + shown.len_utf8() > WINDOW_BYTES {
            break;
        }
        view.text.push(shown);
        view.raw_bytes += raw;
    }
    view
}

/// As much up to the end as fits into a window as text. A character whose start lies before the window is left out.
fn text_to_end(bytes: &[u8]) -> View {
    let pieces: Vec<(char, usize)> = shown(&bytes[continued_at_start(bytes)..]).collect();
    let mut len = 0;
    let fitting = pieces.iter().rev().take_while(|(shown, _)| {
        len += shown.len_utf8();
        len <= WINDOW_BYTES
    });
    let kept = &pieces[pieces.len() - fitting.count()..];
    View {
        text: kept.iter().map(|(shown, _)| shown).collect(),
        raw_bytes: kept.iter().map(|(_, raw)| raw).sum(),
    }
}

#[cfg(test)]
mod tests;
