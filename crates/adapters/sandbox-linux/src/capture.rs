//! One stream of output: streamed whole into a blob, with a window of each end kept.

use std::collections::VecDeque;
use std::sync::Arc;

use ambit_ids::{ByteCount, Scope, limits};
use ambit_ports::blobs::{BlobError, BlobStore, BlobWriter};
use ambit_ports::sandbox::OutputCapture;
use bytes::Bytes;

const WINDOW_BYTES: usize = limits::OUTPUT_WINDOW_BYTES;
/// Output up to this size is put in one piece.
const BUFFER_BYTES: usize = 64 << 10;

/// A stream that is being captured.
pub(crate) struct Capture {
    scope: Scope,
    blobs: Arc<dyn BlobStore>,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
    buffer: Vec<u8>,
    writer: Option<Box<dyn BlobWriter>>,
}

impl Capture {
    pub(crate) fn new(scope: Scope, blobs: Arc<dyn BlobStore>) -> Self {
        Self {
            scope,
            blobs,
            head: Vec::new(),
            tail: VecDeque::new(),
            total: 0,
            buffer: Vec::new(),
            writer: None,
        }
    }

    /// How many bytes were captured.
    pub(crate) const fn total(&self) -> u64 {
        self.total
    }

    /// Appends a chunk.
    pub(crate) async fn push(&mut self, chunk: &[u8]) -> Result<(), BlobError> {
        self.total += chunk.len() as u64;
        let (first, rest) = chunk.split_at(chunk.len().min(WINDOW_BYTES - self.head.len()));
        self.head.extend_from_slice(first);
        self.tail.extend(&rest[rest.len().saturating_sub(WINDOW_BYTES)..]);
        self.tail.drain(..self.tail.len().saturating_sub(WINDOW_BYTES));
        self.buffer.extend_from_slice(chunk);
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

    /// Makes the blob durable and answers what was seen.
    pub(crate) async fn finish(self) -> Result<OutputCapture, BlobError> {
        let (artifact, bytes) = match self.writer {
            None => {
                let bytes = ByteCount::new(self.total);
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
            truncated: (shown as u64) < self.total,
            bytes,
            artifact,
        })
    }
}

/// A text view, and how many bytes of the stream it shows.
struct View {
    text: String,
    raw_bytes: usize,
}

/// The pieces of a text view: what is shown, and how many bytes it stands for.
fn pieces(bytes: &[u8]) -> impl Iterator<Item = (char, usize)> {
    bytes.utf8_chunks().flat_map(|chunk| {
        let valid = chunk.valid().chars().map(|c| {
            let shown =
                if c.is_control() && !matches!(c, '\n' | '\t') { char::REPLACEMENT_CHARACTER } else { c };
            (shown, c.len_utf8())
        });
        let invalid = chunk.invalid();
        valid.chain((!invalid.is_empty()).then_some((char::REPLACEMENT_CHARACTER, invalid.len())))
    })
}

/// As much from the start as fits into a window as text. Where more follows, a character that the window cut is left out.
fn text_from_start(bytes: &[u8], is_whole: bool) -> View {
    let bytes = if is_whole { bytes } else { &bytes[..bytes.len() - cut_at_end(bytes)] };
    let mut view = View { text: String::new(), raw_bytes: 0 };
    for (shown, raw) in pieces(bytes) {
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
    let continued = bytes.iter().take(3).take_while(|byte| **byte & 0xc0 == 0x80).count();
    let pieces: Vec<(char, usize)> = pieces(&bytes[continued..]).collect();
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

/// How many bytes at the end start a character that goes on behind them.
fn cut_at_end(bytes: &[u8]) -> usize {
    let start = bytes.iter().rev().take(3).position(|byte| byte & 0xc0 != 0x80);
    let Some((back, byte)) = start.and_then(|back| Some((back + 1, bytes.get(bytes.len() - back - 1)?)))
    else {
        return 0;
    };
    let len = match byte {
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf7 => 4,
        _ => 1,
    };
    if len > back { back } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(stream: &[u8]) -> (String, String, bool) {
        let head_bytes = &stream[..stream.len().min(WINDOW_BYTES)];
        let rest = &stream[head_bytes.len()..];
        let tail_bytes = &rest[rest.len().saturating_sub(WINDOW_BYTES)..];
        let head = text_from_start(head_bytes, tail_bytes.is_empty());
        let tail = text_to_end(tail_bytes);
        (head.text, tail.text, head.raw_bytes + tail.raw_bytes < stream.len())
    }

    #[test]
    fn what_cannot_be_shown_is_replaced_and_the_rest_stays() {
        let (head, tail, truncated) = seen(b"ok \xff\xfe \xc3( caf\xe9\n\x1b[31m\ta\0b\r\n");
        assert_eq!(head, "ok \u{fffd}\u{fffd} \u{fffd}( caf\u{fffd}\n\u{fffd}[31m\ta\u{fffd}b\u{fffd}\n");
        assert_eq!((tail.as_str(), truncated), ("", false));
    }

    #[test]
    fn a_character_on_the_edge_of_a_window_is_left_out_of_it() {
        let euros = "€".repeat(WINDOW_BYTES);
        let (head, tail, truncated) = seen(euros.as_bytes());
        assert!(head.chars().chain(tail.chars()).all(|c| c == '€'), "a cut character is shown broken");
        assert!(head.len() > WINDOW_BYTES - 3 && tail.len() > WINDOW_BYTES - 3);
        assert!(truncated);
    }

    #[test]
    fn the_windows_do_not_overlap_and_stay_small_as_text() {
        let stream = [b"a".repeat(WINDOW_BYTES), b"b".repeat(WINDOW_BYTES)].concat();
        let (head, tail, truncated) = seen(&stream);
        assert_eq!((head.len(), tail.len(), truncated), (WINDOW_BYTES, WINDOW_BYTES, false));
        assert!(seen(&[stream, b"c".to_vec()].concat()).2);
        let (head, tail, truncated) = seen(&[0xff; 3 * WINDOW_BYTES]);
        assert!(head.len() <= WINDOW_BYTES && tail.len() <= WINDOW_BYTES && truncated);
    }

    proptest::proptest! {
        #[test]
        fn any_stream_has_a_view(stream in proptest::collection::vec(proptest::num::u8::ANY, 0..3 * WINDOW_BYTES)) {
            let (head, tail, _) = seen(&stream);
            proptest::prop_assert!(head.len() <= WINDOW_BYTES && tail.len() <= WINDOW_BYTES);
            proptest::prop_assert!(!(head + &tail).chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
        }
    }
}
