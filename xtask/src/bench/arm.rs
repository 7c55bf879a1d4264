//! One way of doing an operation: a closure in this process, or a child process that answers line by line.
//!
//! The protocol of a child. It writes `ready`, or `absent` and a reason. Then for each line `op` that it reads it does
//! the operation once and writes one line: the nanoseconds that it took, and any number of `name=count`, all separated
//! by single spaces. For a line `run` with a script behind it, whose own ends of lines are carriage returns, it runs that where
//! it would run a program, and writes the line that this prints; or an empty one where it runs none. It ends when its input
//! ends.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc;
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

    /// Runs a script of a shell in it, and answers the line that this prints; `None` where the arm is no place for one.
    fn run(&mut self, _script: &str) -> Result<Option<String>, Failure> {
        Ok(None)
    }

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
const PUT_AWAY: Duration = Duration::from_secs(120);

/// An arm in another process. It is ended with this value.
pub(super) struct Process {
    name: String,
    child: Child,
    /// `None` once it is asked nothing more.
    questions: Option<ChildStdin>,
    answers: mpsc::Receiver<io::Result<String>>,
    /// Whether it understands more than to operate.
    runs_scripts: bool,
}

/// The longest that an arm is waited for.
const ANSWERS: Duration = Duration::from_secs(180);

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
        let answers = lines(child.stdout.take().ok_or_else(died)?);
        let mut process = Self { name: name.to_owned(), child, questions, answers, runs_scripts: false };
        let first = process.line()?;
        process.runs_scripts = first == READY_FOR_SCRIPTS;
        if first == "ready" || process.runs_scripts {
            return Ok(Start::Ready(Box::new(process)));
        }
        match first.strip_prefix("absent ") {
            Some(why) => Ok(Start::Absent(why.to_owned())),
            None => Err(Failure::new(format!("the arm {name} began with {first:?}"))),
        }
    }

    fn line(&mut self) -> Result<String, Failure> {
        match self.answers.recv_timeout(ANSWERS) {
            Ok(Ok(line)) => Ok(line),
            Ok(Err(cause)) => Err(Failure::caused(format!("the arm {} cannot be read", self.name), cause)),
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                Err(Failure::new(format!("the arm {} ended without an answer", self.name)))
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {
                Err(Failure::new(format!("the arm {} did not answer within {ANSWERS:?}", self.name)))
            }
        }
    }

    fn ask(&mut self, question: &str) -> Result<String, Failure> {
        let unasked = |cause| Failure::caused(format!("the arm {} cannot be asked", self.name), cause);
        let Some(questions) = &mut self.questions else {
            return Err(Failure::new(format!("the arm {} is asked nothing more", self.name)));
        };
        questions.write_all(question.as_bytes()).map_err(unasked)?;
        self.line()
    }
}

/// What an arm that runs scripts begins with.
const READY_FOR_SCRIPTS: &str = "ready run";

/// The whole lines of an output, read by a thread so that they can be waited for with an end.
fn lines(output: ChildStdout) -> mpsc::Receiver<io::Result<String>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut output = BufReader::new(output);
        loop {
            let mut line = String::new();
            let read = output.read_line(&mut line).map(|_| line.strip_suffix('\n').map(str::to_owned));
            // A line without an end is no answer.
            let Some(line) = read.transpose() else { return };
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

impl Arm for Process {
    fn operate(&mut self) -> Result<Sample, Failure> {
        let line = self.ask("op\n")?;
        parse(&line).ok_or_else(|| Failure::new(format!("the arm {} answered {line:?}", self.name)))
    }

    fn run(&mut self, script: &str) -> Result<Option<String>, Failure> {
        if !self.runs_scripts {
            return Ok(None);
        }
        let said = self.ask(&format!("run {}\n", script.replace('\n', "\r")))?;
        Ok((!said.is_empty()).then_some(said))
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
    writeln!(out, "{READY_FOR_SCRIPTS}").and_then(|()| out.flush()).map_err(lost)?;
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(lost)?;
        let said = match line.strip_prefix("run ") {
            Some(script) => arm.run(&script.replace('\r', "\n"))?.unwrap_or_default(),
            None if line == "op" => write(&arm.operate()?),
            None => return Err(Failure::new(format!("an arm was asked {line:?}"))),
        };
        writeln!(out, "{said}").and_then(|()| out.flush()).map_err(lost)?;
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
    fn a_child_that_runs_scripts_is_given_them_with_all_their_lines() {
        let script =
            r#"echo ready run; while read -r word rest; do printf '%s\n' "$rest" | tr '\r' ' '; done"#;
        let Start::Ready(mut arm) = shell(script).unwrap() else { panic!("not ready") };
        assert_eq!(arm.run("one\ntwo\nthree").unwrap().as_deref(), Some("one two three"));
        let Start::Ready(mut deaf) = shell("echo ready; read op; echo 1").unwrap() else {
            panic!("not ready")
        };
        assert_eq!(deaf.run("one").unwrap(), None);
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
