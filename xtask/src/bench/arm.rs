//! One way of doing an operation: a closure in this process, or a child process that answers line by line.
//!
//! The protocol of a child. It writes `ready`, or `absent` and a reason. Then for each line `op` that it reads it does
//! the operation once and writes one line: the nanoseconds that it took, and any number of `name=count`, all separated
//! by single spaces. It ends when its input ends.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::failure::Failure;

/// What one performance took and counted. Counts do not depend on how fast the machine is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sample {
    pub(super) wall_ns: u64,
    pub(super) counts: BTreeMap<String, u64>,
}

pub(super) trait Arm {
    fn operate(&mut self) -> Result<Sample, Failure>;

    /// What it and its ended children have written so far, to files, pipes and sockets alike, where that can be told.
    fn written_bytes(&self) -> Option<u64> {
        None
    }
}

/// An arm, or why there is none here.
pub(super) enum Start {
    Ready(Box<dyn Arm>),
    Absent(String),
}

/// An arm in this process.
pub(super) struct Closure<F>(pub(super) F);

impl<F: FnMut() -> Result<(), Failure>> Arm for Closure<F> {
    fn operate(&mut self) -> Result<Sample, Failure> {
        let started = Instant::now();
        (self.0)()?;
        let wall_ns = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Ok(Sample { wall_ns, counts: BTreeMap::new() })
    }
}

/// How long an arm has for putting away what it made, once it is asked nothing more.
const PUT_AWAY: Duration = Duration::from_secs(20);

/// An arm in another process. It is ended with this value.
pub(super) struct Process {
    name: String,
    child: Child,
    /// `None` once it is asked nothing more.
    questions: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Process {
    /// Starts the child and reads whether it is ready. A program that is not installed is an absent arm.
    pub(super) fn start(name: &str, command: &mut Command) -> Result<Start, Failure> {
        let died = || Failure::new(format!("the arm {name} has no input or output"));
        let mut child = match command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn() {
            Ok(child) => child,
            Err(cause) if cause.kind() == ErrorKind::NotFound => {
                let program = command.get_program().to_string_lossy();
                return Ok(Start::Absent(format!("{program} is not installed")));
            }
            Err(cause) => return Err(Failure::caused(format!("could not start the arm {name}"), cause)),
        };
        let questions = child.stdin.take();
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
        let Some(questions) = &mut self.questions else {
            return Err(Failure::new(format!("the arm {} is asked nothing more", self.name)));
        };
        questions.write_all(b"op\n").map_err(unasked)?;
        let line = self.line()?;
        parse(&line).ok_or_else(|| Failure::new(format!("the arm {} answered {line:?}", self.name)))
    }

    fn written_bytes(&self) -> Option<u64> {
        let text = fs::read_to_string(format!("/proc/{}/io", self.child.id())).ok()?;
        text.lines().find_map(|line| line.strip_prefix("wchar: "))?.parse().ok()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It ends when its input does, and puts away what it made; only one that hangs is killed.
        self.questions = None;
        let until = Instant::now() + PUT_AWAY;
        while Instant::now() < until && matches!(self.child.try_wait(), Ok(None)) {
            thread::sleep(Duration::from_millis(2));
        }
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
    fn an_arm_ends_when_nothing_more_is_asked_and_puts_away_what_it_made() {
        let made = std::env::temp_dir().join(format!("ambit-arm-{}", std::process::id()));
        let path = made.display();
        let script = format!("mkdir {path}; echo ready; while read op; do echo 1; done; rmdir {path}");
        let arm = shell(&script).unwrap();
        assert!(made.is_dir());
        drop(arm);
        assert!(!made.exists());
    }

    #[test]
    fn what_an_arm_wrote_is_told_from_outside() {
        let Start::Ready(mut arm) =
            shell("echo ready; while read op; do echo 1 >/dev/null; echo 7; done").unwrap()
        else {
            panic!("not ready");
        };
        arm.operate().unwrap();
        let before = arm.written_bytes().unwrap();
        arm.operate().unwrap();
        arm.operate().unwrap();
        assert_eq!(arm.written_bytes().unwrap() - before, 8);
    }

    #[test]
    fn a_program_that_is_not_installed_is_an_absent_arm() {
        let start = Process::start("none", &mut Command::new("no-such-program-anywhere")).unwrap();
        assert!(matches!(start, Start::Absent(why) if why == "no-such-program-anywhere is not installed"));
    }

    #[test]
    fn a_closure_takes_time_and_may_fail() {
        let pause = || {
            thread::sleep(Duration::from_millis(1));
            Ok(())
        };
        assert!(Closure(pause).operate().unwrap().wall_ns >= 1_000_000);
        assert!(Closure(|| Err(Failure::new("no"))).operate().is_err());
    }
}
