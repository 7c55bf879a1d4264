use std::future::Future as _;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use super::waiting::{PIECE_BYTES, WAITING_BYTES};
use super::*;
use crate::sandbox::shown;

/// Colours, the title of a window, text that runs backwards, characters of every length, and what is no character.
const STREAM: &[u8] = b"\x1b[31ma\xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9e\x1b]0;x\x07\xe2\x80\xaeb\r\n\xff\xc3(\xe2\x82\xf0\x9d\x84";

fn text(bytes: &[u8]) -> String {
    shown(bytes).map(|(shown, _)| shown).collect()
}

/// What was seen of a stream: its text, the bytes that it stands for, and the bytes that were missed. Everything that is told
/// follows on what was told before.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    text: String,
    bytes: u64,
    missed: u64,
}

impl Seen {
    fn add(&mut self, sight: Sight) {
        let (Sight::Text { offset, .. } | Sight::Gap { offset, .. }) = &sight;
        assert_eq!(*offset, self.bytes + self.missed, "{sight:?} does not follow");
        match sight {
            Sight::Text { text, bytes, .. } => {
                self.text += &text;
                self.bytes += bytes;
            }
            Sight::Gap { bytes, .. } => self.missed += bytes,
        }
    }
}

fn stream_of(sight: &Sight) -> OutputStream {
    let (Sight::Text { stream, .. } | Sight::Gap { stream, .. }) = sight;
    *stream
}

/// Takes what there is to see already.
fn look(watcher: &mut Watcher, seen: &mut [Seen; 2]) {
    while let Some(sight) = watcher.seen() {
        seen[stream_of(&sight) as usize].add(sight);
    }
}

fn both(tap: &Tap) -> [Flow; 2] {
    OutputStream::BOTH.map(|stream| tap.flow(stream).unwrap())
}

/// What is seen of both streams where one flows in these pieces and is looked at after every one.
fn watched<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> [Seen; 2] {
    let (tap, mut watcher) = Tap::new();
    let mut flows = both(&tap);
    let mut seen = [Seen::default(), Seen::default()];
    for piece in pieces {
        flows[1].pour(piece);
        look(&mut watcher, &mut seen);
    }
    drop(flows);
    look(&mut watcher, &mut seen);
    seen
}

#[test]
fn a_stream_may_come_in_any_pieces() {
    let whole = Seen { text: text(STREAM), bytes: STREAM.len() as u64, missed: 0 };
    let plain = |c: char| matches!(c, '\n' | '\u{fffd}') || !c.is_control() && c != '\u{202e}';
    assert!(whole.text.contains("aé€𝄞\u{fffd}]0;x") && whole.text.chars().all(plain), "{whole:?}");
    for first in 0..=STREAM.len() {
        for second in first..=STREAM.len() {
            let pieces = [&STREAM[..first], &STREAM[first..second], &STREAM[second..]];
            assert_eq!(watched(pieces)[1], whole, "in pieces at {first} and {second}");
        }
    }
    assert_eq!(watched(STREAM.chunks(1)), [Seen::default(), whole], "byte by byte");
}

#[test]
fn whoever_looks_too_late_is_told_what_is_missing() {
    let (tap, mut watcher) = Tap::new();
    let mut flows = both(&tap);
    // What is dropped ends within a character.
    let euros = format!("€€a{}", "€".repeat(WAITING_BYTES));
    flows[0].pour(euros.as_bytes());
    flows[1].pour(b"of the other stream nothing is lost");
    let mut seen = [Seen::default(), Seen::default()];
    look(&mut watcher, &mut seen);
    drop(flows);
    look(&mut watcher, &mut seen);
    let [out, err] = seen;
    assert!(out.missed > 0 && out.bytes > (WAITING_BYTES - 2 * PIECE_BYTES) as u64, "{}", out.missed);
    assert_eq!(out.missed + out.bytes, euros.len() as u64);
    assert!(out.text.chars().all(|c| c == '€'), "a cut character is shown broken");
    assert_eq!((err.text.as_str(), err.missed), ("of the other stream nothing is lost", 0));
}

#[test]
fn a_character_of_which_the_rest_is_lost_is_missing_with_it() {
    let (tap, mut watcher) = Tap::new();
    let mut flows = both(&tap);
    let mut seen = [Seen::default(), Seen::default()];
    flows[0].pour(b"a\xe2\x82");
    look(&mut watcher, &mut seen);
    assert_eq!((seen[0].text.as_str(), seen[0].bytes), ("a", 1));
    flows[0].pour(b"\xac");
    flows[0].pour(&[b'x'; WAITING_BYTES]);
    drop(flows);
    look(&mut watcher, &mut seen);
    assert!(seen[0].missed >= 3 && seen[0].text.bytes().all(|byte| matches!(byte, b'a' | b'x')), "{seen:?}");
    assert_eq!(seen[0].missed + seen[0].bytes, 4 + WAITING_BYTES as u64);
}

/// What waits is bounded, however small the pieces are in which it came.
#[test]
fn little_bits_take_no_more_room_than_large_ones() {
    for (size, others) in [(1, 1), (1, 0), (PIECE_BYTES * 3, 0), (100, 7)] {
        let (tap, watcher) = Tap::new();
        let [mut out, mut err] = both(&tap);
        for _ in 0..2 * WAITING_BYTES / size {
            out.pour(&vec![b'x'; size]);
            err.pour(&vec![b'y'; others]);
        }
        let mut waiting = watcher.pool.lock();
        let (mut pieces, mut bytes) = (0, 0);
        while let Some((_, piece)) = waiting.next() {
            pieces += 1;
            bytes += piece.bytes.capacity();
        }
        assert!(bytes <= 4 * WAITING_BYTES && pieces <= 2 * WAITING_BYTES / 64, "{pieces} of {bytes} bytes");
        assert!(bytes >= WAITING_BYTES / 128, "{bytes} bytes are no backlog");
    }
}

#[test]
fn nothing_is_kept_for_one_who_left() {
    let (tap, watcher) = Tap::new();
    let mut flows = both(&tap);
    flows[0].pour(b"before");
    let pool = Arc::clone(&watcher.pool);
    assert!(pool.lock().next().is_some(), "what is watched waits");
    flows[0].pour(b"before");
    drop(watcher);
    flows[0].pour(b"after");
    assert!(pool.lock().next().is_none());
}

fn polled(watcher: &mut Watcher) -> Poll<Option<Sight>> {
    pin!(watcher.next()).poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn a_stream_is_watched_to_its_end() {
    let (tap, mut watcher) = Tap::new();
    assert!(polled(&mut watcher).is_pending());
    let [mut out, err] = both(&tap);
    assert!(tap.flow(OutputStream::Stdout).is_none(), "a stream flows once");
    drop(err);
    out.pour(b"a\xe2");
    assert!(matches!(polled(&mut watcher), Poll::Ready(Some(Sight::Text { bytes: 1, .. }))));
    assert!(polled(&mut watcher).is_pending(), "one stream goes on");
    drop(out);
    let Poll::Ready(Some(Sight::Text { text, .. })) = polled(&mut watcher) else { panic!("the rest") };
    assert_eq!(text, "\u{fffd}");
    assert_eq!(polled(&mut watcher), Poll::Ready(None), "though the tap is still held");
    drop(tap);
}

#[test]
fn a_tap_that_nobody_holds_any_more_has_ended() {
    let (tap, mut watcher) = Tap::new();
    let copy = tap.clone();
    assert_eq!(tap, copy);
    drop(tap);
    assert!(polled(&mut watcher).is_pending());
    drop(copy);
    assert_eq!(polled(&mut watcher), Poll::Ready(None));
}

/// Notes that it was woken.
#[derive(Default)]
struct Bell(AtomicBool);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_wait_is_over_when_something_comes() {
    let (tap, mut watcher) = Tap::new();
    let [mut out, _err] = both(&tap);
    let bell = Arc::new(Bell::default());
    let waker = Waker::from(bell.clone());
    let mut next = pin!(watcher.next());
    assert!(next.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    assert!(!bell.0.load(Ordering::Relaxed));
    out.pour(b"x");
    assert!(bell.0.load(Ordering::Relaxed), "nobody is told that something came");
    let x = Sight::Text { stream: OutputStream::Stdout, offset: 0, bytes: 1, text: "x".into() };
    assert_eq!(next.poll(&mut Context::from_waker(&waker)), Poll::Ready(Some(x)));
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(16))]
    /// However two streams come, and whenever somebody looks: every byte is seen or counted as missing.
    #[test]
    fn every_byte_is_seen_or_counted(
        pours in proptest::collection::vec(
            (0_usize..2, proptest::collection::vec(proptest::num::u8::ANY, 0..64), 0_usize..6000, 0_u8..4), 0..8),
    ) {
        let (tap, mut watcher) = Tap::new();
        let mut flows = both(&tap);
        let mut poured = [Vec::new(), Vec::new()];
        let mut seen = [Seen::default(), Seen::default()];
        for (stream, bytes, times, looks) in &pours {
            for _ in 0..*times {
                flows[*stream].pour(bytes);
                poured[*stream].extend_from_slice(bytes);
            }
            if *looks == 0 {
                look(&mut watcher, &mut seen);
            }
        }
        drop(flows);
        look(&mut watcher, &mut seen);
        for (seen, poured) in seen.iter().zip(&poured) {
            proptest::prop_assert_eq!(seen.bytes + seen.missed, poured.len() as u64);
            if seen.missed == 0 {
                proptest::prop_assert_eq!(&seen.text, &text(poured));
            }
        }
    }
}
