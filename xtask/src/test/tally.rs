//! Counts what the test binaries print.

use std::collections::BTreeSet;

use super::failed::Failures;

/// One test binary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Binary {
    name: String,
    counts: Counts,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    passed: usize,
    failed: usize,
    ignored: usize,
}

/// Which part of a binary's output a line stands in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Part {
    /// Cargo's own lines, and those of the tests that run.
    #[default]
    Progress,
    /// What passing tests printed.
    Successes,
    Failures,
}

#[derive(Debug, Default)]
pub(super) struct Tally {
    binaries: Vec<Binary>,
    /// Tests that said that they could not run here: why, their crate and their name.
    skipped: BTreeSet<String>,
    part: Part,
    /// The crate whose unit tests ran last: its other tests follow.
    crate_name: String,
    /// The test whose output is being told.
    test: String,
    failures: Failures,
}

impl Tally {
    /// Takes a line in, and answers whether people should see it.
    pub(super) fn read(&mut self, line: &str) -> bool {
        if let Some(test) = line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----")) {
            test.clone_into(&mut self.test);
        }
        if let Some(said) = line.trim_start().strip_prefix("skipped: ") {
            let code = said.split_whitespace().next().unwrap_or_default();
            self.skipped.insert(format!("{code} {} {}", self.crate_name, self.test));
        }
        if let Some(started) = Started::read(line) {
            self.end_binary();
            let name = started.name(&mut self.crate_name);
            self.binaries.push(Binary { name, counts: Counts::default() });
        } else if let Some(counts) = parse_result(line) {
            // The last one of a binary is its own: any before it was printed by a test.
            if let Some(binary) = self.binaries.last_mut() {
                binary.counts = counts;
            }
            // Of tests that failed, what other tests said may be told, with results of their own.
            if self.part != Part::Failures {
                self.part = Part::Progress;
            }
        } else if line == "successes:" && self.part != Part::Failures {
            self.part = Part::Successes;
        } else if line == "failures:" && self.failures.any() {
            self.part = Part::Failures;
        }
        match self.part {
            Part::Failures => {
                let binary = self.binaries.last().map_or("", |binary| &binary.name);
                self.failures.output(binary, line);
                true
            }
            Part::Successes => false,
            Part::Progress => {
                self.failures.progress(line);
                !is_routine(line)
            }
        }
    }

    /// Everything was said that will be.
    pub(super) fn end(&mut self) {
        self.end_binary();
    }

    fn end_binary(&mut self) {
        self.part = Part::Progress;
        let binary = self.binaries.last().map_or("", |binary| &binary.name);
        self.failures.end_binary(binary);
    }

    /// Once more, what the tests that failed said.
    pub(super) fn print_failures(&self) {
        self.failures.print();
    }

    pub(super) fn ran(&self) -> usize {
        let total = self.total();
        total.passed + total.failed
    }

    pub(super) fn skipped_for(&self, code: &str) -> bool {
        self.skipped.iter().any(|said| said.split_whitespace().next() == Some(code))
    }

    pub(super) fn print(&self) {
        for binary in self.binaries.iter().filter(|binary| binary.counts != Counts::default()) {
            let Counts { passed, failed, ignored } = binary.counts;
            println!("{:<28}{passed:>5} passed {failed:>3} failed {ignored:>3} ignored", binary.name);
        }
        for said in &self.skipped {
            println!("skipped: {said}");
        }
    }

    /// `N passed, N failed, N skipped`, over all binaries; a skipped test is one that passed by saying that it could
    /// not run. Ignored ones are no tests of their own: others run them.
    pub(super) fn closing_line(&self) -> String {
        let total = self.total();
        let skipped = self.skipped.len().min(total.passed);
        format!("{} passed, {} failed, {skipped} skipped", total.passed - skipped, total.failed)
    }

    fn total(&self) -> Counts {
        self.binaries.iter().fold(Counts::default(), |sum, binary| Counts {
            passed: sum.passed + binary.counts.passed,
            failed: sum.failed + binary.counts.failed,
            ignored: sum.ignored + binary.counts.ignored,
        })
    }
}

/// A binary that cargo says it starts.
enum Started {
    Unit(String),
    /// Of the same package as the unit tests before it.
    Integration(String),
    Docs(String),
}

impl Started {
    /// Reads `Running unittests src/lib.rs (target/release/deps/name-0123)` and its like.
    fn read(line: &str) -> Option<Self> {
        let line = line.trim_start();
        if let Some(of) = line.strip_prefix("Doc-tests ") {
            return Some(Self::Docs(of.to_owned()));
        }
        let (source, path) = line.strip_prefix("Running ")?.split_once(" (")?;
        let file = path.strip_suffix(')')?.rsplit('/').next()?;
        let name = file.rsplit_once('-').map_or(file, |(name, _)| name).to_owned();
        Some(if source.starts_with("unittests ") { Self::Unit(name) } else { Self::Integration(name) })
    }

    fn name(self, crate_name: &mut String) -> String {
        match self {
            Self::Unit(name) => {
                crate_name.clone_from(&name);
                name
            }
            Self::Integration(name) => format!("{crate_name}::{name}"),
            Self::Docs(name) => format!("{name} (docs)"),
        }
    }
}

fn parse_result(line: &str) -> Option<Counts> {
    let counts = line.strip_prefix("test result: ")?.split_once(". ")?.1;
    let count = |word: &str| {
        let part = counts.split("; ").find_map(|part| part.strip_suffix(word))?;
        part.trim().parse().ok()
    };
    Some(Counts { passed: count("passed")?, failed: count("failed")?, ignored: count("ignored")? })
}

fn is_routine(line: &str) -> bool {
    line.is_empty()
        || (line.starts_with("test ") && line.ends_with(" ok"))
        || (line.starts_with("running ") && line.ends_with(" tests"))
        || line == "running 1 test"
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = "   Compiling ambit-ids v0.1.0
     Running unittests src/lib.rs (target/release/deps/ambit_ids-60c1)

running 3 tests
test path::tests::one ... ok
test path::tests::two ... FAILED
test path::tests::three ... ok

successes:

---- path::tests::one stdout ----
skipped: CASES_ABSENT
test result: ok. 99 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out

successes:
    path::tests::one

failures:

---- path::tests::two stdout ----
left: 1

failures:
    path::tests::two

test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s

     Running tests/it/main.rs (target/release/deps/it-77)
running 4 tests
test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s
";

    fn read(text: &str) -> (Tally, Vec<&str>) {
        let mut tally = Tally::default();
        let shown = text.lines().filter(|line| tally.read(line)).collect();
        (tally, shown)
    }

    #[test]
    fn counts_are_summed_and_what_a_test_prints_is_no_count() {
        let (tally, _) = read(RUN);
        let names: Vec<&str> = tally.binaries.iter().map(|binary| binary.name.as_str()).collect();
        assert_eq!(names, ["ambit_ids", "ambit_ids::it"]);
        assert_eq!(tally.total(), Counts { passed: 5, failed: 1, ignored: 1 });
        assert_eq!(tally.closing_line(), "4 passed, 1 failed, 1 skipped");
        assert_eq!(tally.ran(), 6);
    }

    #[test]
    fn what_could_not_run_is_known_by_name() {
        let (tally, _) = read(RUN);
        assert!(tally.skipped_for("CASES_ABSENT"));
        assert!(!tally.skipped_for("CASES"));
        assert_eq!(tally.skipped, BTreeSet::from(["CASES_ABSENT ambit_ids path::tests::one".to_owned()]));
    }

    #[test]
    fn people_see_failures_and_closing_lines() {
        let (_, shown) = read(RUN);
        assert!(shown.contains(&"left: 1"));
        assert!(shown.iter().any(|line| line.starts_with("test result: FAILED")));
        assert!(!shown.contains(&"skipped: CASES_ABSENT"), "what a test prints that passed");
        assert!(shown.iter().any(|line| line.starts_with("test result: ok. 3 passed")));
        assert!(shown.iter().all(|line| !line.ends_with("... ok") && !line.starts_with("skipped")));
    }
}
