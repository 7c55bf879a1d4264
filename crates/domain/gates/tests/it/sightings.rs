//! Which pairs of failures are one failure.

use std::collections::BTreeSet;

use ambit_gates::{Ending, FailureFingerprint, GateOutput, NotStarted, ResourceLimit, fingerprint};
use ambit_ids::GateId;

use crate::{FAILED, gate, seen};

fn ended(ending: Ending, stdout: &str) -> Option<FailureFingerprint> {
    let output = GateOutput { stdout: stdout.as_bytes(), stderr: b"" };
    fingerprint(&gate(), ending, &BTreeSet::new(), output)
}

const UNKNOWN: [&str; 2] = [
    "2026-11-29T21:49:00.123Z INFO start pid=4711\n\
     connect 127.0.0.1:43127 ok in 12ms\n\
     2026-11-29T21:49:00.456Z ERROR worker-3 lost session 0b5dfe3c-1c2d-4e5f-8a9b-0c1d2e3f4a5b\n\
     fatal: /tmp/build-x91/out.bin: <Handle at 0x7ff94a2aff10> cannot be closed after 2.5 s\n\
     Error: exit in thread 12\n",
    "2027-01-02T03:04:05Z INFO start pid=9\n\
     connect 127.0.0.1:5000 ok in 1.2s\n\
     Error: exit in thread 3\n\
     2027-01-02T03:04:05.001Z ERROR worker-17 lost session f47ac10b-58cc-4372-a567-0e02b2c3d479\n\
     fatal: /tmp/build-77/out.bin: <Handle at 0x55d0> cannot be closed after 310 ms\n",
];

// proves E-D09
// break crates/domain/gates/src/noise.rs: `(numbers && rest.starts_with(|c: char| c.is_ascii_digit())).then(|| number(rest))` -> `None`
#[test]
fn logs_that_differ_only_in_noise_are_one_failure() {
    assert_eq!(seen(UNKNOWN[0]), seen(UNKNOWN[1]));
    assert_ne!(seen(UNKNOWN[0]), seen(&UNKNOWN[0].replace("lost session", "lost message")));
    assert_ne!(seen(UNKNOWN[0]), seen(&UNKNOWN[0].replace("out.bin", "a:").replace("fatal:", "fatal x:")));

    let log = include_str!("logs/pytest-long.txt");
    let noisy = log
        .replace("0x7f", "0x55")
        .replace(" in 0.", " in 12.")
        .replace("test_a.py:2", "test_a.py:3")
        .replace("cart.py:2", "cart.py:77");
    assert_ne!(log, noisy);
    assert_eq!(seen(log), seen(&noisy));
}

// proves E-D09
// break crates/domain/gates/src/fingerprint.rs: `.map(|failure| (failure.class.clone(), failure.location().map(|at| shortened(&at, 512))))` -> `.map(|failure| (failure.class.clone(), None))`
#[test]
fn another_test_another_type_or_another_place_is_another_failure() {
    let log = include_str!("logs/pytest-short.txt");
    for (from, to) in [
        ("test_key", "test_lock"),
        ("KeyError", "IndexError"),
        ("cart.py:2: in lookup", "cart.py:2: in search"),
        ("app/cart.py:2: in", "app/basket.py:2: in"),
    ] {
        assert_ne!(seen(log), seen(&log.replace(from, to)), "{from} -> {to}");
    }
    let other_gate = GateId::new("unit.other").unwrap();
    let output = GateOutput { stdout: log.as_bytes(), stderr: b"" };
    assert_ne!(Some(seen(log)), fingerprint(&other_gate, FAILED, &BTreeSet::new(), output));
}

#[test]
fn the_order_in_which_parallel_tests_fail_does_not_matter() {
    let one = "test a ... FAILED\ntest b ... FAILED\n";
    let other = "test b ... FAILED\ntest a ... FAILED\n";
    assert_eq!(seen(one), seen(other));
    assert_ne!(seen(one), seen("test b ... FAILED\n"), "one of two failures is fixed: that is progress");
}

#[test]
fn each_ending_is_a_class_of_its_own() {
    let endings = [
        Ending::Exited { code: 1 },
        Ending::Exited { code: 2 },
        Ending::Signalled { signal: 11 },
        Ending::LimitReached { limit: ResourceLimit::Timeout },
        Ending::LimitReached { limit: ResourceLimit::Memory },
        Ending::NotStarted { why: NotStarted::WorkdirMissing },
        Ending::NotStarted { why: NotStarted::CommandNotFound },
    ];
    let classes: BTreeSet<String> = endings.iter().map(|e| ended(*e, "x").unwrap().class).collect();
    let digests: BTreeSet<String> =
        endings.iter().map(|e| ended(*e, "x").unwrap().digest.to_string()).collect();
    assert_eq!((classes.len(), digests.len()), (endings.len(), endings.len()));
    for nothing in [Ending::Exited { code: 0 }, Ending::Aborted, Ending::Indeterminate] {
        assert_eq!(ended(nothing, "error: x"), None);
    }
}

#[test]
fn how_far_the_output_came_before_a_limit_is_chance() {
    let timeout = Ending::LimitReached { limit: ResourceLimit::Timeout };
    assert_eq!(ended(timeout, "test a ... FAILED\n"), ended(timeout, "error: other"));
    assert_ne!(ended(FAILED, "test a ... FAILED\n"), ended(FAILED, "error: other"));
}

#[test]
fn a_limit_that_was_hit_on_the_way_is_part_of_the_failure() {
    let output = GateOutput { stdout: b"Killed", stderr: b"" };
    let breached = |limits: &[ResourceLimit]| {
        fingerprint(&gate(), FAILED, &limits.iter().copied().collect(), output).unwrap()
    };
    assert_eq!(breached(&[ResourceLimit::Memory]).class, "limit memory");
    assert_ne!(breached(&[ResourceLimit::Memory]), breached(&[]));
}
