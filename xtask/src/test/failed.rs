//! What the tests that failed said, so that it can be told once more at the end: of a long run only that may be left.

use std::collections::{BTreeSet, VecDeque};

/// The last lines of a test that are told again.
const LINES: usize = 30;
/// The most of a line that is told again.
const CHARS: usize = 1_500;
/// The tests of which more than the name is told.
const TESTS: usize = 12;
/// The lines of a test that are remembered until it is known which are its last ones.
const REMEMBERED: usize = 4_000;

#[derive(Debug)]
struct Failed {
    binary: String,
    test: String,
    /// Its last lines, without backtraces.
    said: Vec<String>,
}

/// Collects it line by line.
#[derive(Debug, Default)]
pub(super) struct Failures {
    /// The tests of this binary that failed. Whatever else looks like the beginning of a test's output was printed by one.
    names: BTreeSet<String>,
    /// The one whose output is being told.
    current: Option<(String, VecDeque<String>)>,
    /// Those that were told.
    told: Vec<Failed>,
    /// Binaries that did not live to tell.
    killed: Vec<String>,
}

impl Failures {
    /// A line from before the binary tells what its tests printed.
    pub(super) fn progress(&mut self, line: &str) {
        if let Some(name) = line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... FAILED")) {
            // `test NAME - should panic ... FAILED`
            let name = name.strip_suffix(" - should panic").unwrap_or(name);
            self.names.insert(name.to_owned());
        }
        if line.contains("process didn't exit successfully") && line.contains("(signal: ") {
            self.killed.push(line.trim().to_owned());
        }
    }

    /// Whether a test of this binary failed.
    pub(super) fn any(&self) -> bool {
        !self.names.is_empty()
    }

    /// A line of what the failed tests of a binary printed.
    pub(super) fn output(&mut self, binary: &str, line: &str) {
        let name = line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----"));
        if let Some(name) = name.filter(|name| self.names.contains(*name)) {
            self.end_test(binary, false);
            self.current = Some((name.to_owned(), VecDeque::new()));
        } else if let Some((_, lines)) = &mut self.current {
            if lines.len() == REMEMBERED {
                lines.pop_front();
            }
            lines.push_back(line.to_owned());
        }
    }

    /// The binary has said everything.
    pub(super) fn end_binary(&mut self, binary: &str) {
        self.end_test(binary, true);
        // Those whose output was not told: a name is better than nothing.
        let told: BTreeSet<&str> =
            self.told.iter().filter(|it| it.binary == binary).map(|it| it.test.as_str()).collect();
        let untold: Vec<Failed> = self
            .names
            .iter()
            .filter(|name| !told.contains(name.as_str()))
            .map(|name| Failed { binary: binary.to_owned(), test: name.clone(), said: Vec::new() })
            .collect();
        self.told.extend(untold);
        self.names.clear();
    }

    fn end_test(&mut self, binary: &str, is_last: bool) {
        let Some((test, lines)) = self.current.take() else { return };
        let mut lines: Vec<String> = lines.into();
        if is_last && let Some(summary) = lines.iter().rposition(|line| line == "failures:") {
            // The names of those that failed, and the result: what the binary says after the output of its last test.
            let is_ours =
                |line: &String| line.strip_prefix("    ").is_some_and(|name| self.names.contains(name));
            if lines[summary + 1..].first().is_some_and(is_ours) {
                lines.truncate(summary);
            }
        }
        self.told.push(Failed { binary: binary.to_owned(), test, said: last_words(&lines) });
    }

    pub(super) fn print(&self) {
        for line in self.lines() {
            println!("{line}");
        }
    }

    fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for (index, Failed { binary, test, said }) in self.told.iter().enumerate() {
            lines.push(format!("failed: {binary} {test}"));
            if index < TESTS {
                lines.extend(said.iter().map(|line| format!("    {line}")));
            }
        }
        lines.extend(self.killed.iter().map(|line| format!("failed: {line}")));
        lines
    }
}

/// The last lines; a backtrace tells nobody what was expected.
fn last_words(lines: &[String]) -> Vec<String> {
    let mut in_backtrace = false;
    let mut kept: Vec<&String> = Vec::new();
    for line in lines {
        let is_frame = in_backtrace && line.starts_with(' ');
        in_backtrace = line == "stack backtrace:" || is_frame;
        let is_advice = line.starts_with("note: ") && line.contains("RUST_BACKTRACE");
        let is_more_space = line.is_empty() && kept.last().is_none_or(|last| last.is_empty());
        if !(in_backtrace || is_advice || is_more_space) {
            kept.push(line);
        }
    }
    while kept.last().is_some_and(|last| last.is_empty()) {
        kept.pop();
    }
    let first_panic = kept.iter().position(|line| line.contains("panicked at "));
    let from = kept.len().saturating_sub(LINES);
    // Where it panicked first is told in any case, with the line after it.
    let panic = first_panic.filter(|at| *at < from).map_or(0..0, |at| at..from.min(at + 2));
    kept[panic].iter().chain(&kept[from..]).map(|line| cut(line)).collect()
}

fn cut(line: &str) -> String {
    let mut kept: String = line.chars().take(CHARS).collect();
    if kept.len() < line.len() {
        kept.push_str(" ...");
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(names: &[&str], outputs: &str) -> Vec<String> {
        let mut failures = Failures::default();
        for name in names {
            failures.progress(&format!("test {name} ... FAILED"));
        }
        outputs.lines().for_each(|line| failures.output("it", line));
        failures.end_binary("it");
        failures.lines()
    }

    #[test]
    fn each_failed_test_is_told_by_its_last_lines_without_backtraces() {
        let outputs = "
---- one stdout ----
thread 'one' panicked at a.rs:1:2:
left: 1

stack backtrace:
   0: begin
             at somewhere
   1: end
note: Some details are omitted, run with `RUST_BACKTRACE=full` for a verbose backtrace.

---- two stdout ----
this is the second

failures:
    one
    two

test result: FAILED. 0 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out
error: test failed, to rerun pass `--test it`
";
        let told = of(&["one", "two"], outputs);
        assert_eq!(
            told,
            [
                "failed: it one",
                "    thread 'one' panicked at a.rs:1:2:",
                "    left: 1",
                "failed: it two",
                "    this is the second"
            ]
        );
    }

    #[test]
    fn what_a_test_prints_of_other_tests_is_its_own_output() {
        let outputs = "
---- outer stdout ----
thread 'outer' panicked at a.rs:1:2:
running 1 test
failures:

---- inner stdout ----
thread 'inner' panicked at b.rs:7:7:
why it is red

failures:
    inner

test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out
after it

---- later stdout ----
and later
failures:
    inner

test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out
the very last

failures:
    later
    outer

test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out
";
        let told = of(&["outer", "later"], outputs);
        let later = told.iter().position(|line| line == "failed: it later").unwrap();
        assert!(
            told[0] == "failed: it outer" && told[..later].contains(&"    why it is red".to_owned()),
            "{told:?}"
        );
        assert_eq!([told[later - 1].trim(), told.last().unwrap().trim()], ["after it", "the very last"]);
        assert_eq!(told.iter().filter(|line| line.starts_with("failed: ")).count(), 2, "{told:?}");
    }

    #[test]
    fn the_first_panic_is_told_however_much_comes_after_it_and_lines_and_tests_are_bounded() {
        let after: String = (0..200).map(|number| format!("line {number}\n")).collect();
        let long = "x".repeat(9_000);
        let outputs = format!("---- one stdout ----\nthread panicked at a.rs:1:2:\nwhy\n{after}{long}\n");
        let told = of(&["one"], &outputs);
        assert_eq!(told.len(), 1 + 2 + LINES, "{told:?}");
        assert_eq!(told[1..3], ["    thread panicked at a.rs:1:2:", "    why"]);
        assert!(told[3].ends_with("line 171") && told[32].len() < CHARS + 10, "{told:?}");

        let names: Vec<String> = (0..TESTS + 5).map(|number| format!("test_{number:02}")).collect();
        let outputs: String = names.iter().map(|name| format!("---- {name} stdout ----\nsaid\n")).collect();
        let told = of(&names.iter().map(String::as_str).collect::<Vec<_>>(), &outputs);
        assert_eq!(told.iter().filter(|line| line.starts_with("failed: ")).count(), TESTS + 5);
        assert_eq!(told.iter().filter(|line| line.ends_with("said")).count(), TESTS);
    }

    #[test]
    fn a_test_that_said_nothing_and_a_binary_that_was_killed_are_told_by_name() {
        let mut failures = Failures::default();
        failures.progress("test quiet - should panic ... FAILED");
        failures.progress("test fine ... ok");
        failures.progress(
            "  process didn't exit successfully: `/t/it-1` (signal: 6, SIGABRT: process abort signal)",
        );
        failures.end_binary("crate::it");
        let told = failures.lines();
        assert_eq!(told[0], "failed: crate::it quiet");
        assert!(told.len() == 2 && told[1].contains("SIGABRT"), "{told:?}");
    }
}
