//! One way of doing an operation: a closure in this process, or a child process that answers line by line.
//!
//! The protocol of a child. It writes `ready`, or `absent` and a reason. Then for each line `op` that it reads it does
//! the operation once and writes one line: the nanoseconds that it took, and any number of `name=count`, all separated
//! by single spaces. It ends when its input ends.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use crate::failure::Failure;

/// What one performance took and counted. Counts do not depend on how fast the machine is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sample {
    pub(super) wall_ns: u64,
    pub(super) counts: BTreeMap<String, u64>,
}

pub(super) trait Arm {
    fn operate(&mut self) -> Result<Sample, Failure>;
}

/// An arm, or why there is none here.
pub(super) enum Start {
    Ready(Box<dyn Arm>),
    Absent(String),
}

/// Reads the counters before and after, outside the time.
pub(super) type Counters = fn() -> Result<BTreeMap<String, u64>, Failure>;

/// An arm in this process.
pub(super) struct Closure<F> {
    operation: F,
    counters: Counters,
}

impl<F: FnMut() -> Result<(), Failure>> Closure<F> {
    pub(super) fn new(operation: F, counters: Counters) -> Self {
        Self { operation, counters }
    }
}

impl<F: FnMut() -> Result<(), Failure>> Arm for Closure<F> {
    fn operate(&mut self) -> Result<Sample, Failure> {
        let before = (self.counters)()?;
        let started = Instant::now();
        (self.operation)()?;
        let wall_ns = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let mut counts = (self.counters)()?;
        for (name, count) in &mut counts {
            *count = count.saturating_sub(before.get(name).copied().unwrap_or(0));
        }
        Ok(Sample { wall_ns, counts })
    }
}

/// An arm in another process. It is ended with this value.
pub(super) struct Process {
    name: String,
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Process {
    /// Starts the child and reads whether it is ready.
    pub(super) fn start(name: &str, command: &mut Command) -> Result<Start, Failure> {
        let died = || Failure::new(format!("the arm {name} has no input or output"));
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|cause| Failure::caused(format!("could not start the arm {name}"), cause))?;
        let questions = child.stdin.take().ok_or_else(died)?;
        let answers = BufReader::new(child.stdout.take().ok_or_else(died)?);
        let mut process = Self { name: name.to_owned(), child, questions, answers };
        let first = process.line()?;
        if first == "ready" {
            return Ok(Start::Ready(Box::new(process)));
        }
        match first.strip_prefix("absent ") {
            Some(why) => Ok(Start::Absent(why.to_owned())),
            None => Err(Failure::new(format!("the arm {name} began with {first:?}"))),
        }
    }

    fn line(&mut self) -> Result<String, Failure> {
        let mut line = String::new();
        let unread = |cause| Failure::caused(format!("the arm {} cannot be read", self.name), cause);
        self.answers.read_line(&mut line).map_err(unread)?;
        match line.strip_suffix('\n') {
            Some(line) => Ok(line.to_owned()),
            None => Err(Failure::new(format!("the arm {} ended without an answer", self.name))),
        }
    }
}

impl Arm for Process {
    fn operate(&mut self) -> Result<Sample, Failure> {
        let unasked = |cause| Failure::caused(format!("the arm {} cannot be asked", self.name), cause);
        self.questions.write_all(b"op\n").map_err(unasked)?;
        let line = self.line()?;
        parse(&line).ok_or_else(|| Failure::new(format!("the arm {} answered {line:?}", self.name)))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself; either way nothing of it is left.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The child's side: answers with `arm` until the input ends.
pub(super) fn answer(start: Start) -> Result<(), Failure> {
    let lost = |cause| Failure::caused("whoever asked is gone", cause);
    let mut out = std::io::stdout().lock();
    let mut arm = match start {
        Start::Absent(why) => return writeln!(out, "absent {why}").map_err(lost),
        Start::Ready(arm) => arm,
    };
    writeln!(out, "ready").and_then(|()| out.flush()).map_err(lost)?;
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(lost)?;
        if line != "op" {
            return Err(Failure::new(format!("an arm was asked {line:?}")));
        }
        writeln!(out, "{}", write(&arm.operate()?)).and_then(|()| out.flush()).map_err(lost)?;
    }
    Ok(())
}

fn write(sample: &Sample) -> String {
    let counts: String = sample.counts.iter().map(|(name, count)| format!(" {name}={count}")).collect();
    format!("{}{counts}", sample.wall_ns)
}

fn parse(line: &str) -> Option<Sample> {
    let mut words = line.split(' ');
    let wall_ns = words.next()?.parse().ok()?;
    let mut counts = BTreeMap::new();
    for word in words {
        let (name, count) = word.split_once('=').filter(|(name, _)| !name.is_empty())?;
        counts.insert(name.to_owned(), count.parse().ok()?).is_none().then_some(())?;
    }
    Some(Sample { wall_ns, counts })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Result<Start, Failure> {
        Process::start("shell", Command::new("sh").args(["-c", script]))
    }

    #[test]
    fn an_answer_reads_back_and_anything_else_is_refused() {
        let sample = Sample {
            wall_ns: 7,
            counts: BTreeMap::from([("faults".to_owned(), 2), ("forks".to_owned(), 1)]),
        };
        assert_eq!(write(&sample), "7 faults=2 forks=1");
        assert_eq!(parse(&write(&sample)), Some(sample));
        for bad in ["", "x", "-1", "1 ", "1  a=1", "1 a", "1 =1", "1 a=x", "1 a=1 a=2", "1.5"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_child_answers_each_question_once() {
        let Start::Ready(mut arm) =
            shell("echo ready; n=0; while read op; do n=$((n+1)); echo \"$n op=1\"; done").unwrap()
        else {
            panic!("not ready");
        };
        assert_eq!(arm.operate().unwrap().wall_ns, 1);
        assert_eq!(
            arm.operate().unwrap(),
            Sample { wall_ns: 2, counts: BTreeMap::from([("op".to_owned(), 1)]) }
        );
    }

    #[test]
    fn a_child_that_is_absent_says_why_and_one_that_breaks_the_protocol_fails() {
        assert!(
            matches!(shell("echo absent no such program").unwrap(), Start::Absent(why) if why == "no such program")
        );
        assert!(shell("echo hello").is_err());
        assert!(shell("exit 3").is_err());
        let Start::Ready(mut arm) = shell("echo ready; read op; echo fast").unwrap() else {
            panic!("not ready")
        };
        assert!(arm.operate().is_err());
        assert!(arm.operate().is_err());
    }

    #[test]
    fn a_closure_counts_what_happened_between() {
        fn counters() -> Result<BTreeMap<String, u64>, Failure> {
            use std::sync::atomic::{AtomicU64, Ordering};
            static READ: AtomicU64 = AtomicU64::new(40);
            Ok(BTreeMap::from([("reads".to_owned(), READ.fetch_add(1, Ordering::Relaxed))]))
        }
        let sample = Closure::new(|| Ok(()), counters).operate().unwrap();
        assert_eq!(sample.counts, BTreeMap::from([("reads".to_owned(), 1)]));
        assert!(Closure::new(|| Err(Failure::new("no")), counters).operate().is_err());
    }
}
