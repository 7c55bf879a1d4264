//! Output is seen as it arrives, whatever the watcher does, and the observation is the same as without one.

use ambit_gates::Ending;
use ambit_ids::Digest;
use ambit_ports::AbortHandle;
use ambit_ports::sandbox::{
    BatchFileKind, ExecutionObservation, OutputStream, SandboxError, Sight, Tap, Watcher, shown,
};
use ambit_run::StopReason;

use super::bench::never;
use super::{Bench, Staged};

/// What was seen of a stream: texts, each with where it stands, and how much was missed.
#[derive(Debug, Default)]
struct Seen {
    texts: Vec<(u64, u64, String)>,
    bytes: u64,
    missed: u64,
}

impl Seen {
    fn text(&self) -> String {
        self.texts.iter().map(|(_, _, text)| text.as_str()).collect()
    }

    /// Asserts that all of a stream was seen as views show it, or counted.
    fn must_be_of(&self, blob: &[u8]) {
        assert_eq!(self.bytes + self.missed, blob.len() as u64, "a byte is neither seen nor counted");
        for (offset, bytes, text) in &self.texts {
            let end = usize::try_from(offset + bytes).unwrap();
            assert_eq!(*text, view(&blob[end - usize::try_from(*bytes).unwrap()..end]), "at {offset}");
        }
    }
}

fn view(bytes: &[u8]) -> String {
    shown(bytes).map(|(shown, _)| shown).collect()
}

/// Adds a sight, which follows on what was seen of its stream before.
fn add(seen: &mut [Seen; 2], sight: Sight) {
    let (Sight::Text { stream, offset, .. } | Sight::Gap { stream, offset, .. }) = &sight;
    let seen = &mut seen[*stream as usize];
    assert_eq!(*offset, seen.bytes + seen.missed, "{sight:?} does not follow");
    match sight {
        Sight::Text { offset, bytes, text, .. } => {
            seen.bytes += bytes;
            seen.texts.push((offset, bytes, text));
        }
        Sight::Gap { bytes, .. } => seen.missed += bytes,
    }
}

async fn watch(mut watcher: Watcher) -> [Seen; 2] {
    let mut seen = <[Seen; 2]>::default();
    while let Some(sight) = watcher.next().await {
        add(&mut seen, sight);
    }
    seen
}

/// Watches until this was seen of both streams, does what follows from it, and watches on to the end.
async fn watch_until(mut watcher: Watcher, texts: [&str; 2], then: impl AsyncFnOnce()) -> [Seen; 2] {
    let mut seen = <[Seen; 2]>::default();
    while texts != seen.each_ref().map(Seen::text) {
        add(&mut seen, watcher.next().await.expect("the streams end before everything was seen"));
    }
    then().await;
    while let Some(sight) = watcher.next().await {
        add(&mut seen, sight);
    }
    seen
}

/// A command that speaks and goes on until it is ended, which only the sight of what it says does.
pub async fn output_is_seen_while_a_command_runs(bench: &Bench) {
    let said = ["out \u{1b}[31m\u{20ac}\n", "err \u{202e}"];
    let seen_of_it = said.map(|said| view(said.as_bytes()));
    assert_eq!(seen_of_it, ["out \u{fffd}[31m\u{20ac}\n", "err \u{fffd}"]);
    let staged = bench.staged("watching-live").await;
    let command = |tap| {
        let mut command = bench.command(&staged, &["speak", said[0], said[1]]);
        command.tap = Some(tap);
        command
    };

    let ((tap, watcher), (handle, abort)) = (Tap::new(), AbortHandle::new());
    let running = bench.port.execute_named(&staged.lease, command(tap), abort);
    let watching = watch_until(watcher, seen_of_it.each_ref().map(String::as_str), async || handle.abort());
    let (observed, seen) = tokio::join!(running, watching);
    let observed = observed.expect("an abort is an end, not a failure");
    assert_eq!(observed.ending, Ending::Aborted, "it was ended by the sight, and by nothing else");
    for (seen, capture) in seen.iter().zip([&observed.stdout, &observed.stderr]) {
        assert_eq!((seen.text(), seen.missed), (capture.head.clone(), 0));
        seen.must_be_of(&bench.blob(capture.artifact).await);
    }

    // A sandbox that is cancelled ends what is watched as well, whatever is told of the command then.
    let (tap, watcher) = Tap::new();
    let running = bench.port.execute_named(&staged.lease, command(tap), never());
    let cancel =
        async || drop(bench.port.cancel(&staged.lease, &StopReason::CustomerCancelled).await.unwrap());
    let watching = watch_until(watcher, seen_of_it.each_ref().map(String::as_str), cancel);
    let (observed, seen) = tokio::join!(running, watching);
    match observed {
        Ok(observed) => assert!(!observed.ending.is_success(), "{observed:?}"),
        Err(error) => assert!(matches!(error, SandboxError::Gone(_)), "{error:?}"),
    }
    assert!(seen.iter().all(|seen| seen.missed == 0));
    bench.destroy(&staged).await;
}

/// Bytes whose characters and escapes lie across the places at which the prober writes in pieces.
fn across_writes() -> Vec<u8> {
    const WRITE: usize = 4096;
    let laid = ["\u{20ac}", "\u{1d11e}", "\u{1b}[31m", "\u{e9}", "\u{202e}", "\u{9b}2J"].map(str::as_bytes);
    let laid = [&laid[..], &[b"\xf0\x9d\x84(", b"\xff\xfe", b"\xe2\x82"]].concat();
    let mut bytes = Vec::new();
    for (number, laid) in laid.iter().cycle().take(4 * laid.len()).enumerate() {
        // Each of them is cut at another place every time.
        let before = 1 + number % (laid.len() - 1);
        bytes.resize((number + 1) * WRITE - before, b'.');
        bytes.extend_from_slice(laid);
    }
    bytes
}

/// What is seen is what is kept, as views show it, byte by byte, however it was written.
pub async fn what_is_seen_is_what_is_kept(bench: &Bench) {
    let staged = bench.staged("watching-kept").await;
    let bytes = across_writes();
    let mut batch = bench.batch().await;
    batch.tree = Digest::of(b"a tree with bytes across writes");
    batch.files.insert(1, bench.file("raw", BatchFileKind::File, &bytes).await);
    let tree = batch.tree;
    bench.port.write_files(&staged.lease, batch).await.unwrap();

    let (tap, watcher) = Tap::new();
    let mut command = bench.command(&staged, &["read", "/workspace/raw"]);
    (command.tree, command.tap) = (tree, Some(tap));
    let (observed, [out, err]) = tokio::join!(bench.execute(&staged, command), watch(watcher));
    let whole = [&bytes[..], format!("ok {}\n", bytes.len()).as_bytes()].concat();
    assert_eq!(bench.blob(observed.stdout.artifact).await, whole);
    // Less than may wait was written, so nothing can be missing.
    assert_eq!((out.missed, err.bytes + err.missed), (0, 0));
    assert_eq!(out.text(), view(&whole));
    assert!(out.text().contains(".\u{20ac}.") && out.text().contains(".\u{fffd}[31m."));
    bench.destroy(&staged).await;
}

/// Runs a command that prints so much, with somebody who watches.
async fn watched<T>(
    bench: &Bench,
    staged: &Staged,
    count: u64,
    watching: impl AsyncFnOnce(Watcher) -> T,
) -> (ExecutionObservation, T) {
    let (tap, watcher) = Tap::new();
    let mut command = bench.command(staged, &["print", &count.to_string()]);
    command.tap = Some(tap);
    tokio::join!(bench.execute(staged, command), watching(watcher))
}

/// Whoever looks only afterwards is told how much is missing, and of the rest everything.
pub async fn what_is_missed_is_counted(bench: &Bench) {
    let staged = bench.staged("watching-late").await;
    let (observed, watcher) = watched(bench, &staged, 1_000_000, async |watcher| watcher).await;
    let [out, _] = watch(watcher).await;
    assert!(out.missed > 0 && out.bytes > 0, "{} missed, {} seen", out.missed, out.bytes);
    assert!(out.text().ends_with("ok 1000000\n"), "the newest is what is seen");
    out.must_be_of(&bench.blob(observed.stdout.artifact).await);
    bench.destroy(&staged).await;
}

/// One who never looks, one who leaves before, and one who leaves in the middle: nothing of it is seen in what is observed.
pub async fn a_watcher_changes_nothing(bench: &Bench) {
    const COUNT: u64 = 300_000;
    let staged = bench.staged("watching-nothing").await;
    let unwatched = bench.probe(&staged, &["print", &COUNT.to_string()]).await;
    let told = |seen: &ExecutionObservation| (seen.ending, seen.stdout.clone(), seen.stderr.clone());
    assert!(unwatched.ending.is_success() && unwatched.stdout.bytes.get() > COUNT);

    let (never_looks, _watcher) = watched(bench, &staged, COUNT, async |watcher| watcher).await;
    assert_eq!(told(&never_looks), told(&unwatched));
    let (leaves_before, ()) = watched(bench, &staged, COUNT, async |watcher| drop(watcher)).await;
    assert_eq!(told(&leaves_before), told(&unwatched));
    let (leaves, sight) = watched(bench, &staged, COUNT, async |mut watcher| watcher.next().await).await;
    assert_eq!(told(&leaves), told(&unwatched));
    let began = matches!(
        sight,
        Some(
            Sight::Text { stream: OutputStream::Stdout, offset: 0, .. }
                | Sight::Gap { stream: OutputStream::Stdout, offset: 0, .. }
        )
    );
    assert!(began, "{sight:?}");
    bench.destroy(&staged).await;
}
