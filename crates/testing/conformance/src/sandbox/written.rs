//! What a command wrote at watched places, and what it did not.

use ambit_ids::PathPattern;
use ambit_ports::sandbox::{Watch, Written};

use super::bench::path;
use super::{Bench, Staged};

async fn told(bench: &Bench, staged: &Staged, words: &[&str], watched: &[&str]) -> Option<Written> {
    let mut command = bench.command(staged, words);
    command.watched.0 = watched.iter().map(|pattern| PathPattern::new(pattern).unwrap()).collect();
    bench.execute(staged, command).await.written
}

/// Whatever was written at a watched place is told, also where the old bytes are there again, or nothing is. A backend that
/// sees the end alone says so, and tells what is there.
pub async fn what_is_written_at_watched_places_is_told(bench: &Bench) {
    let staged = bench.staged("written").await;
    let none: &[&str] = &[];
    for (words, files, emptied) in [
        (&["exit", "0"][..], none, none),
        (&["read", "/workspace/sub/file"], none, none),
        (&["write", "/workspace/other", "x"], none, none),
        (&["write", "/workspace/sub/new", "x"], &["sub/new"], none),
        (&["write", "/workspace/sub/file", "content"], &["sub/file"], none),
        (&["link", "/etc/passwd", "/workspace/sub/link"], &["sub/link"], none),
        (&["remove", "/workspace/sub/file"], &["sub/file"], none),
        (&["fill-and-clear", "/workspace/sub/passing", "1"], none, &["sub"]),
    ] {
        let written = told(bench, &staged, words, &["sub/**"]).await.expect("it is told");
        let expected: Vec<_> = files.iter().map(|file| path(file)).collect();
        if written.watch == Watch::Course {
            let emptied: Vec<_> = emptied.iter().map(|place| path(place)).collect();
            assert_eq!((written.files, written.emptied), (expected, emptied), "{words:?}");
        } else {
            let new = expected.into_iter().filter(|path| path.to_string() != "sub/file");
            assert!(new.into_iter().all(|path| written.files.contains(&path)), "{words:?}: {written:?}");
        }
    }
    assert_eq!(told(bench, &staged, &["write", "/workspace/sub/new", "x"], none).await, None);
    bench.destroy(&staged).await;
}

/// No directory of the tree can be moved away and back, which would exchange what lies below it and leave no sign.
pub async fn what_cannot_be_told_cannot_be_done(bench: &Bench) {
    const EXDEV: i32 = 18;
    let staged = bench.staged("moved-away").await;
    let written = told(bench, &staged, &["exit", "0"], &["sub/**"]).await.expect("it is told");
    if written.watch == Watch::Course {
        bench.refused(&staged, &["rename", "/workspace/sub", "/workspace/away"], &[EXDEV]).await;
        bench.allowed(&staged, &["rename", "/workspace/sub/file", "/workspace/sub/away"]).await;
    }
    bench.destroy(&staged).await;
}
