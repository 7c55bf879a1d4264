//! What a command says.

use std::time::Duration;

use ambit_gates::{Ending, ResourceLimit};
use ambit_ids::ByteCount;

use crate::sandbox::bench::PROMPT;
use crate::sandbox::hostile::row::{Row, row};
use crate::sandbox::hostile::seen::Seen;

/// Whether the stream is exactly the lines with this letter and a number, from 1 up to 20,000.
fn counts_up(stream: &[u8], letter: char) -> bool {
    let wanted: String = (1..=20_000).map(|number| format!("{letter}{number}\n")).collect();
    stream == wanted.as_bytes()
}

fn is_capped(seen: &Seen) -> bool {
    let stdout = &seen.observed.stdout;
    seen.reached(ResourceLimit::Output)
        && stdout.truncated
        && stdout.bytes == ByteCount::new(200_000)
        && seen.whole.len() == 200_000
        && stdout.head.starts_with('x')
        && stdout.tail.ends_with('x')
}

pub(super) static ROWS: [Row; 12] = [
    row(&["out-1g"], is_capped).with(|command| command.limits.output_bytes = ByteCount::new(200_000)),
    row(&["out-err-mix"], |seen| {
        seen.succeeded() && counts_up(&seen.whole, 'o') && counts_up(&seen.errors, 'e')
    }),
    row(&["out-no-newline"], |seen| {
        seen.observed.stdout.tail.ends_with("aEND\n")
            && seen.observed.stdout.truncated
            && seen.whole.len() == 5_000_004
    }),
    row(&["out-binary"], |seen| {
        let shown = |text: &str| text.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\t'));
        let stdout = &seen.observed.stdout;
        seen.whole.len() == 65_536
            && shown(&stdout.head)
            && shown(&stdout.tail)
            && serde_json::to_string(&seen.observed).is_ok()
    }),
    row(&["out-bad-utf8"], |seen| {
        seen.stdout == "ok \u{fffd}\u{fffd} \u{fffd}( caf\u{fffd}\n"
            && seen.whole == b"ok \xff\xfe \xc3( caf\xe9\n"[..]
    }),
    // A page that shows it escapes it; it must arrive unaltered.
    row(&["out-html"], |seen| {
        seen.stdout == "<script>fetch(1)</script><img src=x onerror=alert(1)>\"&\n"
            && seen.whole == seen.stdout.as_bytes()
    }),
    row(&["out-fake-summary"], |seen| seen.observed.ending == Ending::Exited { code: 1 }),
    row(&["out-fake-summary-0"], |seen| seen.observed.ending == Ending::Exited { code: 0 }),
    // What is in the trace is a matter of the platform; it must arrive unaltered.
    row(&["out-secret"], |seen| {
        seen.succeeded() && seen.whole.starts_with(b"AKIAIOSFODNN7EXAMPLE [redacted:github] ")
    }),
    row(&["out-nul"], |seen| seen.stdout == "a\u{fffd}b\n" && seen.whole == b"a\0b\n"[..]),
    row(&["out-slow"], |seen| {
        seen.whole == b"tick 1\ntick 2\ntick 3\n"[..] && seen.observed.duration_ms.get() >= 2900
    }),
    row(&["out-closed"], |seen| {
        seen.observed.ending == Ending::Exited { code: 7 }
            && !seen.within(Duration::from_millis(2900))
            && seen.within(PROMPT)
    }),
];
