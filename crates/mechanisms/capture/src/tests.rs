use std::sync::Mutex;

use ambit_ids::{Content, Digest, OrganizationId, ProjectId, is_unprintable};
use ambit_ports::blobs::{BlobBatch, OneByOne, one_after_another};
use async_trait::async_trait;

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
        proptest::prop_assert!(!(head + &tail).chars().any(|c| is_unprintable(c) && c != '\n' && c != '\t'));
    }
}

/// Keeps the last blob.
#[derive(Clone, Default)]
struct LastBlob(Arc<Mutex<Vec<u8>>>);

#[async_trait]
impl BlobStore for LastBlob {
    async fn put(&self, _: &Scope, bytes: Bytes) -> Result<Digest, BlobError> {
        *self.0.lock().unwrap() = bytes.to_vec();
        Ok(Digest::of(&bytes))
    }

    async fn create(&self, _: &Scope) -> Result<Box<dyn BlobWriter>, BlobError> {
        self.0.lock().unwrap().clear();
        Ok(Box::new(self.clone()))
    }

    async fn batch<'a>(&'a self, scope: &Scope) -> Result<Box<dyn BlobBatch + 'a>, BlobError> {
        Ok(OneByOne::over(self, scope))
    }

    async fn get(&self, _: &Scope, digest: Digest, _: ByteCount) -> Result<Bytes, BlobError> {
        Err(BlobError::NotFound(digest))
    }

    async fn get_many(
        &self,
        scope: &Scope,
        digests: &[Digest],
        limit: ByteCount,
    ) -> Vec<Result<Content, BlobError>> {
        one_after_another(self, scope, digests, limit).await
    }

    async fn contains(&self, _: &Scope, _: Digest) -> Result<bool, BlobError> {
        Ok(false)
    }
}

#[async_trait]
impl BlobWriter for LastBlob {
    async fn write(&mut self, chunk: &[u8]) -> Result<(), BlobError> {
        self.0.lock().unwrap().extend_from_slice(chunk);
        Ok(())
    }

    async fn finish(self: Box<Self>) -> Result<(Digest, ByteCount), BlobError> {
        let bytes = self.0.lock().unwrap();
        Ok((Digest::of(&bytes), ByteCount::new(bytes.len() as u64)))
    }
}

/// What is kept of a stream that arrives in these pieces, and the blob.
fn captured<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (OutputCapture, Vec<u8>) {
    let blobs = LastBlob::default();
    let scope =
        Scope { organization: OrganizationId::new("o").unwrap(), project: ProjectId::new("p").unwrap() };
    let mut capture = Capture::new(scope, Arc::new(blobs.clone()), &Redactor::by_rules());
    let seen = tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
        for piece in pieces {
            capture.push(piece).await.unwrap();
        }
        capture.finish().await.unwrap()
    });
    let blob = blobs.0.lock().unwrap().clone();
    (seen, blob)
}

#[test]
fn a_piece_may_end_at_any_byte() {
    let stream = "a\u{7f}é€𝄞\u{1b}]0;x\u{7}\u{9b}2J\u{202e}\n".repeat(600).into_bytes();
    assert!(stream.len() > 2 * WINDOW_BYTES, "both windows are cut");
    let whole = captured([&stream[..]]);
    assert_eq!(whole.1, stream);
    assert_eq!(captured(stream.chunks(1)), whole, "byte by byte");
    for at in (0..64).chain(WINDOW_BYTES - 32..WINDOW_BYTES + 32).chain(stream.len() - 64..stream.len()) {
        let (first, rest) = stream.split_at(at);
        assert_eq!(captured([first, rest]), whole, "in two pieces at {at}");
    }
}

#[test]
fn text_is_never_cut_within_a_character() {
    for shift in 0..8 {
        let stream = format!("{}{}", "-".repeat(shift), "é€𝄞".repeat(3000));
        let (seen, _) = captured(stream.as_bytes().chunks(7));
        assert!(seen.truncated && !seen.head.is_empty() && !seen.tail.is_empty());
        let shown = [seen.head, seen.tail].concat();
        assert!(!shown.contains(char::REPLACEMENT_CHARACTER), "a cut character is shown broken");
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
    #[test]
    fn pieces_make_no_difference(
        stream in proptest::collection::vec(proptest::num::u8::ANY, 0..3 * WINDOW_BYTES),
        size in 1_usize..9000,
    ) {
        let whole = captured([&stream[..]]);
        proptest::prop_assert_eq!(captured(stream.chunks(size)), whole.clone());
        proptest::prop_assert_eq!(whole.1, stream);
    }
}

// proves E-B05
// break crates/mechanisms/capture/src/lib.rs: `self.redacting.push(chunk, &mut self.buffer);` -> `self.buffer.extend_from_slice(chunk);`
#[test]
fn a_secret_is_in_neither_the_blob_nor_a_window_however_its_pieces_arrive() {
    let secret = format!("ghp_{}", "q7Zr2Xw9Kc4Vb8Nm1Lp6Jh3Gf5Ds0AyTuIoP");
    let far = "a line of a log\n".repeat(5000);
    let stream = format!("one {secret}\n{far}two {secret}");
    for size in [1, 7, 100, stream.len()] {
        let (seen, blob) = captured(stream.as_bytes().chunks(size));
        let expected = stream.replace(&secret, "[redacted:github]");
        assert_eq!(String::from_utf8(blob).unwrap(), expected, "in pieces of {size}");
        assert_eq!(seen.bytes.get(), expected.len() as u64);
        assert!(
            seen.head.starts_with("one [redacted:github]\n") && seen.tail.ends_with("two [redacted:github]")
        );
        assert_eq!(seen.redactions.unwrap().total(), 2);
    }
}
