use std::collections::VecDeque;

use super::OutputStream;

/// The most of a stream that waits.
pub(super) const WAITING_BYTES: usize = 256 << 10;
/// The largest piece that a watcher is handed at once.
pub(super) const PIECE_BYTES: usize = 16 << 10;
/// What a piece is counted as beside its bytes, so that many small ones are bounded, too.
const PIECE_COST: usize = 64;

/// What waits for a watcher.
#[derive(Default)]
pub(super) struct Waiting {
    streams: [Queue; 2],
    /// The number of the newest piece of any stream.
    newest: u64,
    nobody_watches: bool,
}

#[derive(Default)]
struct Queue {
    pieces: VecDeque<Piece>,
    /// What the pieces are counted as.
    cost: usize,
    /// How many bytes of the stream have come.
    poured: u64,
    is_taken: bool,
    has_ended: bool,
}

/// Bytes of a stream that follow each other.
pub(super) struct Piece {
    number: u64,
    /// How many bytes of the stream come before.
    pub(super) offset: u64,
    pub(super) bytes: Vec<u8>,
}

impl Waiting {
    /// Takes a stream; answers whether it was not taken before.
    pub(super) fn take(&mut self, stream: OutputStream) -> bool {
        !std::mem::replace(&mut self.streams[stream as usize].is_taken, true)
    }

    /// Adds the next bytes of a stream, and drops its oldest where there is no room.
    pub(super) fn add(&mut self, stream: OutputStream, bytes: &[u8]) {
        if self.nobody_watches {
            return;
        }
        for part in bytes.chunks(PIECE_BYTES) {
            self.newest = self.streams[stream as usize].add(self.newest, part);
        }
    }

    pub(super) fn end(&mut self, stream: OutputStream) {
        self.streams[stream as usize].has_ended = true;
    }

    pub(super) fn end_every(&mut self) {
        OutputStream::BOTH.into_iter().for_each(|stream| self.end(stream));
    }

    /// Keeps nothing from now on.
    pub(super) fn forget(&mut self) {
        self.nobody_watches = true;
        self.streams = Default::default();
    }

    /// The piece that came first of those that wait.
    pub(super) fn next(&mut self) -> Option<(OutputStream, Piece)> {
        let first = |stream: &OutputStream| self.streams[*stream as usize].pieces.front().map(|it| it.number);
        let stream = OutputStream::BOTH
            .into_iter()
            .filter(|stream| first(stream).is_some())
            .min_by_key(|stream| first(stream))?;
        self.streams[stream as usize].pop().map(|piece| (stream, piece))
    }

    /// The number of bytes of a stream that has ended.
    pub(super) fn ended(&self, stream: OutputStream) -> Option<u64> {
        let queue = &self.streams[stream as usize];
        queue.has_ended.then_some(queue.poured)
    }
}

impl Queue {
    /// Adds bytes after the piece `newest` of any stream; answers the number of the newest piece now.
    fn add(&mut self, newest: u64, bytes: &[u8]) -> u64 {
        let offset = self.poured;
        self.poured += bytes.len() as u64;
        self.cost += bytes.len();
        // What comes in little bits becomes one piece, unless the other stream came in between.
        let last = self.pieces.back_mut();
        let joined = last.filter(|it| it.number == newest && it.bytes.len() + bytes.len() <= PIECE_BYTES);
        let number = match joined {
            Some(last) => {
                last.bytes.extend_from_slice(bytes);
                newest
            }
            None => {
                self.cost += PIECE_COST;
                self.pieces.push_back(Piece { number: newest + 1, offset, bytes: bytes.to_vec() });
                newest + 1
            }
        };
        while self.cost > WAITING_BYTES && self.pop().is_some() {}
        number
    }

    fn pop(&mut self) -> Option<Piece> {
        let piece = self.pieces.pop_front()?;
        self.cost -= piece.bytes.len() + PIECE_COST;
        Some(piece)
    }
}
