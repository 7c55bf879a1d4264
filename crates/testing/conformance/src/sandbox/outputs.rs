//! What a command may leave: declared files, and nothing that only looks like one.

use ambit_gates::Ending;
use ambit_ports::sandbox::{ExecutionObservation, OutputRefusal};

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
