use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use super::waiting::{Piece, Waiting};
use super::{OutputStream, Pool};
use crate::sandbox::shown::{begun_at_end, continued_at_start, shown};

/// What a watcher sees next of a stream. All that is told of it, texts and gaps, follows without overlap from its first byte
/// to its last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sight {
    /// Text, as views show it: no character is cut, and what is unprintable is replaced.
    Text {
        /// The stream.
        stream: OutputStream,
        /// How many bytes of the stream come before.
        offset: u64,
        /// For how many bytes it stands.
        bytes: u64,
        /// The text; at most 48 KiB and a character.
        text: String,
    },
    /// Bytes that were dropped, because they were not watched in time.
    Gap {
        /// The stream.
        stream: OutputStream,
        /// How many bytes of the stream come before.
        offset: u64,
        /// How many.
        bytes: u64,
    },
}

/// Whoever watches the output of an execution. It may be slow, leave or do nothing, and nobody waits for it.
pub struct Watcher {
    pub(super) pool: Arc<Pool>,
    told: [Told; 2],
    sights: VecDeque<Sight>,
}

/// How much of a stream was told.
#[derive(Default)]
struct Told {
    bytes: u64,
    /// The bytes behind it, where they begin a character.
    begun: Vec<u8>,
    is_over: bool,
}

impl Watcher {
    pub(super) fn of(pool: Arc<Pool>) -> Self {
        Self { pool, told: Default::default(), sights: VecDeque::new() }
    }

    /// The next that there is to see, when it comes; `None` once both streams have ended, or nothing can come any more.
    /// The streams end before the observation is answered. Dropping the wait loses nothing.
    pub async fn next(&mut self) -> Option<Sight> {
        loop {
            if let Some(sight) = self.seen() {
                return Some(sight);
            }
            if self.told.iter().all(|told| told.is_over) {
                return None;
            }
            self.pool.news.notified().await;
        }
    }

    /// The next that there is to see already.
    pub fn seen(&mut self) -> Option<Sight> {
        while self.sights.is_empty() {
            let (piece, ended) = {
                let mut waiting = self.pool.lock();
                (waiting.next(), OutputStream::BOTH.map(|stream| waiting.ended(stream)))
            };
            match piece {
                Some((stream, piece)) => self.take(stream, piece),
                None => {
                    for (stream, poured) in OutputStream::BOTH.into_iter().zip(ended) {
                        if let Some(poured) = poured {
                            self.end(stream, poured);
                        }
                    }
                    break;
                }
            }
        }
        self.sights.pop_front()
    }

    fn take(&mut self, stream: OutputStream, piece: Piece) {
        let told = &mut self.told[stream as usize];
        let mut bytes = std::mem::take(&mut told.begun);
        if piece.offset == told.bytes + bytes.len() as u64 {
            bytes.extend_from_slice(&piece.bytes);
        } else {
            // What is left of a character that was cut is part of what is missing.
            let continued = continued_at_start(&piece.bytes);
            bytes = piece.bytes;
            bytes.drain(..continued);
            self.miss(stream, piece.offset + continued as u64);
        }
        let begun = bytes.split_off(bytes.len() - begun_at_end(&bytes));
        self.tell(stream, &bytes);
        self.told[stream as usize].begun = begun;
    }

    /// A stream of so many bytes has ended.
    fn end(&mut self, stream: OutputStream, poured: u64) {
        let told = &mut self.told[stream as usize];
        if std::mem::replace(&mut told.is_over, true) {
            return;
        }
        let begun = std::mem::take(&mut told.begun);
        if told.bytes + begun.len() as u64 == poured {
            self.tell(stream, &begun);
        } else {
            self.miss(stream, poured);
        }
    }

    fn tell(&mut self, stream: OutputStream, bytes: &[u8]) {
        let told = &mut self.told[stream as usize];
        if !bytes.is_empty() {
            let text = shown(bytes).map(|(shown, _)| shown).collect();
            let (offset, bytes) = (told.bytes, bytes.len() as u64);
            told.bytes += bytes;
            self.sights.push_back(Sight::Text { stream, offset, bytes, text });
        }
    }

    /// Nothing is there to be told of a stream before so many bytes of it.
    fn miss(&mut self, stream: OutputStream, until: u64) {
        let told = &mut self.told[stream as usize];
        let bytes = until.saturating_sub(told.bytes);
        if bytes > 0 {
            let offset = std::mem::replace(&mut told.bytes, until);
            self.sights.push_back(Sight::Gap { stream, offset, bytes });
        }
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watcher")
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        Waiting::forget(&mut self.pool.lock());
    }
}
