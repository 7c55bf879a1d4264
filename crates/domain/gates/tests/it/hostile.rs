//! Output is written by whoever wants to confuse its reader.

use ambit_gates::{GateOutput, summarize};
use proptest::prelude::*;

use crate::{FAILED, seen, told};

const LOGS: [&str; 10] = [
    include_str!("logs/pytest-long.txt"),
    include_str!("logs/pytest-short.txt"),
    include_str!("logs/pytest-collection.txt"),
    include_str!("logs/jest.txt"),
    include_str!("logs/node.txt"),
    include_str!("logs/go.txt"),
    include_str!("logs/go-build.txt"),
    include_str!("logs/tsc-pretty.txt"),
    include_str!("logs/javac.txt"),
    "test a ... FAILED\n---- a stdout ----\nthread 'a' panicked at src/lib.rs:4:23:\nx: y\ntest result: FAILED. 1 failed\n\
     TAP version 13\n# Subtest: s\n    not ok 1 - n\n      ---\n      error: |-\n        m\n      name: 'E'\n      stack: |-\n\
     \x20       f (/workspace/a.js:1:2)\n      ...\n======\nFAIL: t (m.C)\nTraceback (most recent call last):\n  File \"a\", line 1\nE: x\n",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn shuffled_and_cut_logs_are_read_without_harm(
        picks in prop::collection::vec((0..LOGS.len(), any::<prop::sample::Index>(), 0..200_usize), 1..60),
    ) {
        let mut bytes = Vec::new();
        for (log, line, cut) in picks {
            let lines: Vec<&str> = LOGS[log].lines().collect();
            let line = line.get(&lines).as_bytes();
            bytes.extend_from_slice(&line[..cut.min(line.len())]);
            bytes.push(b'\n');
        }
        let output = GateOutput { stdout: &bytes, stderr: &bytes };
        let summary = summarize(FAILED, output).unwrap();
        let size = ambit_canonical::encode(&summary).unwrap().as_bytes().len();
        prop_assert!(size < 24 << 10, "{size} bytes");
    }

    #[test]
    fn any_bytes_are_read_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        let print = seen(&String::from_utf8_lossy(&bytes));
        prop_assert!(print.class.len() <= 120 && print.location.is_none_or(|at| at.len() <= 512));
    }
}

#[test]
fn a_stream_of_headers_is_bounded_in_what_is_told_and_in_work() {
    let header = format!("{}\nFAIL: {} (m.C)\n", "=".repeat(70), "x".repeat(3000));
    let told_of = told(&header.repeat(10_000));
    assert_eq!(told_of.failures.len(), 12);
    assert!(told_of.failures.iter().all(|failure| failure.test.as_ref().unwrap().len() <= 240));
    assert!(told_of.more_failures > 0);
    for pattern in
        ["not ok 1 - x\n  ---\n", "error: x\n", "--- FAIL: T (0.0s)\n", "✖ a (1ms)\n", "  ● a\n", "__ a __\n"]
    {
        let log = format!("FAIL x\n==== FAILURES ====\n{}", pattern.repeat(60_000));
        let _ = told(&log);
    }
}
