//! What a command may leave: declared files, and nothing that only looks like one.

use ambit_gates::Ending;
use ambit_ids::{ByteCount, Digest};
use ambit_ports::sandbox::{BatchFileKind, DeclaredOutput, ExecutionObservation, FileBatch, OutputRefusal};

use super::bench::{declared, path};
use super::{Bench, Staged};

async fn leave(bench: &Bench, staged: &Staged, words: &[&str], at: &str, limit: u64) -> ExecutionObservation {
    let mut command = bench.command(staged, words);
    command.outputs = vec![declared(at, limit)];
    bench.execute(staged, command).await
}

/// A declared file is kept, as a blob, and only it.
pub async fn a_declared_file_is_kept(bench: &Bench) {
    let staged = bench.staged("outputs-kept").await;
    let seen = leave(bench, &staged, &["write", "/workspace/sub/report", "made"], "sub/report", 10).await;
    assert!(seen.refused_outputs.is_empty());
    assert_eq!(seen.outputs.len(), 1);
    assert_eq!((&seen.outputs[0].path, seen.outputs[0].bytes.get()), (&path("sub/report"), 4));
    assert_eq!(bench.blob(seen.outputs[0].artifact).await, "made");

    // A file of the tree that the command left alone is there as well.
    let seen = leave(bench, &staged, &["exit", "3"], "sub/file", 10).await;
    assert_eq!((seen.ending, seen.outputs.len()), (Ending::Exited { code: 3 }, 1));
    let none = bench.probe(&staged, &["write", "/workspace/report", "made"]).await;
    assert!(none.outputs.is_empty() && none.refused_outputs.is_empty());
    bench.destroy(&staged).await;
}

/// Whatever else lies where a file is declared is refused with its reason, and nothing is waited for.
pub async fn what_is_not_a_file_is_refused(bench: &Bench) {
    let staged = bench.staged("outputs-refused").await;
    let cases: [(&[&str], &str, OutputRefusal); 9] = [
        (&["exit", "0"], "absent", OutputRefusal::Absent),
        (&["exit", "0"], "sub/file/below", OutputRefusal::Absent),
        (&["link", "/etc/passwd", "/workspace/out"], "out", OutputRefusal::Link),
        (&["link", "/workspace/sub/file", "/workspace/out"], "out", OutputRefusal::Link),
        (&["link", "/workspace/sub", "/workspace/dir"], "dir/file", OutputRefusal::Link),
        (&["fifo", "/workspace/out"], "out", OutputRefusal::NotAFile),
        (&["exit", "0"], "sub", OutputRefusal::NotAFile),
        (&["hardlink", "/workspace/sub/file", "/workspace/out"], "out", OutputRefusal::HardLink),
        (&["sparse", "/workspace/out", "107374182400"], "out", OutputRefusal::TooLarge),
    ];
    for (words, at, why) in cases {
        let seen = leave(bench, &staged, words, at, 6).await;
        assert!(seen.outputs.is_empty(), "{words:?}");
        let refused: Vec<_> =
            seen.refused_outputs.iter().map(|refused| (refused.path.clone(), refused.why)).collect();
        assert_eq!(refused, [(path(at), why)], "{words:?}");
    }
    let seen = leave(bench, &staged, &["exit", "0"], "sub/file", 6).await;
    assert_eq!(seen.refused_outputs[0].why, OutputRefusal::TooLarge, "seven bytes where six are allowed");
    bench.destroy(&staged).await;
}

/// What came of a declared directory: the paths that were kept, and those that were refused.
type Came = (Vec<String>, Vec<(String, OutputRefusal)>);

/// A tree with a directory `out` of two files, a link and three directories, and one of 17 directories in each other.
async fn with_directories(bench: &Bench, run: &str) -> Staged {
    let mut staged = bench.staged(run).await;
    let deep = (2..=17).fold("deep".to_owned(), |path, depth| format!("{path}/{depth}"));
    let files = vec![
        bench.file(&format!("{deep}/file"), BatchFileKind::File, b"x").await,
        bench.file("link", BatchFileKind::Link, b"out").await,
        bench.file("out/a", BatchFileKind::File, b"one").await,
        bench.file("out/b/c/file", BatchFileKind::File, b"two").await,
        bench.file("out/link", BatchFileKind::Link, b"../probe").await,
        bench.file("probe", BatchFileKind::Executable, &bench.prober).await,
    ];
    staged.tree = Digest::of(b"a tree with directories");
    bench.port.write_files(&staged.lease, FileBatch { tree: staged.tree, files }).await.unwrap();
    staged
}

async fn leave_directory(
    bench: &Bench,
    staged: &Staged,
    words: &[&str],
    at: &str,
    (bytes, entries): (u64, u32),
) -> Came {
    let mut command = bench.command(staged, words);
    let limit = ByteCount::new(bytes);
    command.outputs = vec![DeclaredOutput { path: path(at), limit, entries: Some(entries) }];
    let seen = bench.execute(staged, command).await;
    let kept = seen.outputs.iter().map(|kept| kept.path.to_string());
    let refused = seen.refused_outputs.iter().map(|refused| (refused.path.to_string(), refused.why));
    (kept.collect(), refused.collect())
}

/// A directory is kept file by file, and what in it is not a file with one name is refused by its own.
pub async fn a_declared_directory_is_kept(bench: &Bench) {
    let staged = with_directories(bench, "outputs-directory").await;
    let mut command = bench.command(&staged, &["fifo", "/workspace/out/pipe"]);
    command.outputs = vec![DeclaredOutput { path: path("out"), limit: ByteCount::new(6), entries: Some(6) }];
    let seen = bench.execute(&staged, command).await;
    let mut kept = Vec::new();
    for output in &seen.outputs {
        kept.push((output.path.to_string(), bench.blob(output.artifact).await));
    }
    assert_eq!(kept, [("out/a".to_owned(), "one".into()), ("out/b/c/file".to_owned(), "two".into())]);
    let refused: Vec<_> =
        seen.refused_outputs.iter().map(|refused| (refused.path.to_string(), refused.why)).collect();
    let link = ("out/link".to_owned(), OutputRefusal::Link);
    assert_eq!(refused, [link.clone(), ("out/pipe".to_owned(), OutputRefusal::NotAFile)]);

    let words = ["hardlink", "/workspace/out/a", "/workspace/out/again"];
    let (kept, refused) = leave_directory(bench, &staged, &words, "out", (100, 100)).await;
    assert_eq!(kept, ["out/b/c/file"]);
    let twice = ["out/a", "out/again"].map(|path| (path.to_owned(), OutputRefusal::HardLink));
    assert_eq!(refused, [&twice[..], &[link]].concat());
    bench.destroy(&staged).await;
}

/// A directory that passes a bound is refused as a whole, as is what is no directory.
pub async fn a_directory_has_bounds(bench: &Bench) {
    let staged = with_directories(bench, "outputs-bounds").await;
    let nothing: &[&str] = &["exit", "0"];
    let sparse: &[&str] = &["sparse", "/workspace/out/huge", "107374182400"];
    let many: &[&str] = &["files", "/workspace/out", "1100"];
    let whole = (1 << 40, u32::MAX);
    for (words, at, bounds, why) in [
        (nothing, "out", (5, 5), OutputRefusal::TooLarge),
        (nothing, "out", (6, 4), OutputRefusal::TooMany),
        (sparse, "out", whole, OutputRefusal::TooLarge),
        (many, "out", whole, OutputRefusal::TooMany),
        (nothing, "deep", whole, OutputRefusal::TooDeep),
        (nothing, "out/a", whole, OutputRefusal::NotADirectory),
        (nothing, "absent", whole, OutputRefusal::Absent),
        (nothing, "link", whole, OutputRefusal::Link),
        (nothing, "link/b", whole, OutputRefusal::Link),
    ] {
        let (kept, refused) = leave_directory(bench, &staged, words, at, bounds).await;
        assert_eq!((kept, refused), (Vec::new(), vec![(at.to_owned(), why)]), "{words:?} {bounds:?}");
    }
    let (kept, _) = leave_directory(bench, &staged, nothing, "out", (6, 5)).await;
    assert_eq!(kept, ["out/a", "out/b/c/file"], "what just fits");
    let (kept, _) = leave_directory(bench, &staged, nothing, "deep/2", whole).await;
    assert_eq!(kept.len(), 1, "as deep as may be");
    bench.destroy(&staged).await;
}
