//! A run as it is told while it goes on: at a real pseudo-terminal, and to a program.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::rig::{FIX, PLAN, Project, diligent, patch, transcript};
use crate::screen::Screen;

/// A shell in a pseudo-terminal.
pub(crate) struct Terminal {
    shell: Child,
    keys: ChildStdin,
    bytes: Receiver<Vec<u8>>,
    said: String,
}

impl Terminal {
    /// Runs a command line of a project in a terminal of this many columns.
    fn run(project: &Project, words: &[String], columns: u16) -> Option<Self> {
        Self::of(project.dir.path(), &project.command(words), columns)
    }

    /// Runs a command in a terminal of this many columns, and then tells what became of the terminal; `None` where this machine
    /// has no `script`.
    pub(crate) fn of(dir: &Path, command: &Command, columns: u16) -> Option<Self> {
        if !Command::new("script").arg("--version").output().is_ok_and(|output| output.status.success()) {
            println!("skipped: SCRIPT_ABSENT");
            return None;
        }
        let quoted: Vec<String> =
            command.get_args().map(|word| format!("'{}'", word.to_str().unwrap())).collect();
        let line = format!(
            "trap : INT QUIT; stty rows 24 cols {columns}; '{}' {}; echo \"code $?\"; stty -a",
            env!("CARGO_BIN_EXE_ambit"),
            quoted.join(" ")
        );
        let mut shell = Command::new("script");
        shell.args(["-qefc", &line, "/dev/null"]).current_dir(dir).env_clear();
        shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell.env("TERM", "xterm-256color").env("LANG", "C.UTF-8").env("SHELL", "/bin/sh");
        let mut shell = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (keys, mut out) = (shell.stdin.take().unwrap(), shell.stdout.take().unwrap());
        let (tell, bytes) = channel();
        std::thread::spawn(move || {
            let mut read = [0; 4096];
            while let Ok(count @ 1..) = out.read(&mut read) {
                let _ = tell.send(read[..count].to_vec());
            }
        });
        Some(Self { shell, keys, bytes, said: String::new() })
    }

    pub(crate) fn types(&mut self, keys: &[u8]) {
        self.keys.write_all(keys).unwrap();
        self.keys.flush().unwrap();
    }

    /// Waits until something was said since the last time that something was waited for.
    #[track_caller]
    pub(crate) fn until(&mut self, words: &str) {
        let late = Instant::now() + Duration::from_secs(60);
        let from = self.said.len();
        while !self.said[from..].contains(words) {
            let left = late.saturating_duration_since(Instant::now());
            let bytes = self.bytes.recv_timeout(left).unwrap_or_else(|_| panic!("{words}: {}", self.said));
            self.said.push_str(&String::from_utf8_lossy(&bytes));
        }
    }

    /// Waits until the screen looks so.
    #[track_caller]
    fn until_seen(&mut self, columns: usize, looks: impl Fn(&str) -> bool) {
        let late = Instant::now() + Duration::from_secs(60);
        loop {
            let mut screen = Screen::new(columns);
            screen.feed(whole(&self.said));
            if looks(&screen.text()) {
                return;
            }
            let left = late.saturating_duration_since(Instant::now());
            let bytes = self.bytes.recv_timeout(left).unwrap_or_else(|_| panic!("{}", screen.text()));
            self.said.push_str(&String::from_utf8_lossy(&bytes));
        }
    }

    /// Everything that was said.
    pub(crate) fn ended(mut self) -> String {
        self.until("icanon");
        while let Ok(bytes) = self.bytes.recv_timeout(Duration::from_secs(60)) {
            self.said.push_str(&String::from_utf8_lossy(&bytes));
        }
        self.shell.wait().unwrap();
        self.said
    }
}

/// What was said, without an escape of which the end has not come yet.
fn whole(said: &str) -> &str {
    let begins = said.rfind('\u{1b}').unwrap_or(0);
    let has_ended = said[begins..].chars().skip(2).any(|c| c.is_ascii_alphabetic());
    if has_ended { said } else { &said[..begins] }
}

/// What stands on a terminal after all that was said, once nothing of the block may be left.
#[track_caller]
fn left(said: &str, columns: usize) -> String {
    let mut screen = Screen::new(columns);
    let (during, after) = said.split_at(said.rfind("must act").expect("a block was drawn"));
    screen.feed(during);
    assert!(!screen.cursor_is_seen && screen.text().contains("left"), "{}", screen.text());
    screen.feed(after);
    let text = screen.text();
    assert!(screen.cursor_is_seen, "the cursor is hidden");
    assert!(!text.contains("must act"), "the block was left behind: {text}");
    for mode in ["-icanon", "-echo ", "-isig", "-opost"] {
        assert!(!text.contains(mode), "the terminal is left in {mode}: {text}");
    }
    text
}

/// An agent of which the gate takes a while, on a project whose gate does.
fn slow() -> (Project, String) {
    let project = Project::empty();
    project.write("app/check.sh", "sleep 1\nsaid=$(sh greet.sh ada)\n[ \"$said\" = 'hello ada' ]\n");
    project.approve_as_ada();
    (project, diligent("finish"))
}

#[test]
fn a_terminal_gets_a_block_that_is_gone_afterwards() {
    let (project, agent) = slow();
    for (name, columns) in [("wide", 140), ("usual", 80), ("narrow", 40)] {
        let words = project.start_words(name, &agent);
        let Some(mut terminal) = Terminal::run(&project, &words, columns) else { return };
        terminal.until("unit: 0.");
        terminal.until("unit: 0.");
        let said = terminal.ended();
        let text = left(&said, columns.into());
        assert!(said.contains(" of 10 s") && text.contains("code 0"), "{text}");
        for part in ["allowed    gate unit", "is preview-ready", "revision diff rev-0"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}

/// The gate goes on until the run is cancelled, which only the sight of what it puts out does.
#[test]
fn a_terminal_shows_what_a_gate_puts_out_while_it_runs() {
    let project = Project::empty();
    let script = "printf 'looking \\033[31m\\n'; echo 'a warning' >&2; printf half; sleep 600\n";
    project.write("app/check.sh", script);
    project.approve_as_ada();
    let words = project.start_words("watched", &diligent("finish"));
    let Some(mut terminal) = Terminal::run(&project, &words, 80) else { return };
    let rows = ["out | looking \u{fffd}[31m", "err | a warning", "out | half"];
    terminal.until_seen(80, |text| text.contains("output ") && rows.iter().all(|row| text.contains(row)));
    terminal.types(b"\x03");
    terminal.until("Cancel this run?");
    terminal.types(b"y");
    let text = left(&terminal.ended(), 80);
    assert!(text.contains("code 130") && !text.contains("out |"), "{text}");
}

/// An agent that says nothing more after its patch.
fn silent() -> String {
    transcript(&format!("{PLAN}{}", patch(FIX, "")), "silence")
}

#[test]
fn the_keyboard_is_asked_once_before_a_run_is_cancelled() {
    let project = Project::new();
    for (name, keys) in [("by-key", &b"y"[..]), ("by-signal", b"\x03")] {
        let words = project.start_words(name, &silent());
        let Some(mut terminal) = Terminal::run(&project, &words, 80) else { return };
        terminal.until("the agent: turn 3");
        // A key that was typed before the question is no answer to it, and another one means that the run goes on.
        terminal.types(b"y");
        terminal.types(b"\x03");
        terminal.until("Cancel this run?");
        assert_eq!(project.show(name)["awaiting"], "agent");
        terminal.types(b"n");
        terminal.until_seen(80, |text| text.contains("must act") && !text.contains("Cancel this run?"));
        terminal.types(b"\x03");
        terminal.until("Cancel this run?");
        terminal.types(keys);
        let text = left(&terminal.ended(), 80);
        assert!(text.contains("code 130") && text.contains("customer-cancelled"), "{text}");
        assert_eq!(project.show(name)["phase"], "cancelled");
        assert_eq!(project.sandboxes_of(name), Vec::<String>::new());
    }
}

#[test]
fn who_stops_watching_leaves_the_run_as_it_is() {
    let project = Project::new();
    let mut driving = project.silent("quiet");
    let words = ["run", "watch", "quiet"].map(str::to_owned);
    if let Some(mut terminal) = Terminal::run(&project, &words, 80) {
        terminal.until("must act");
        terminal.types(b"\x03");
        let text = left(&terminal.ended(), 80);
        assert!(text.contains("code 130") && text.contains("the run goes on"), "{text}");
        assert!(text.contains("patched    greet.sh"), "what happened before is told: {text}");
    }
    assert_eq!(project.show("quiet")["awaiting"], "agent");
    project.ambit(["run", "cancel", "quiet"]).well();
    driving.wait().unwrap();
}

#[test]
fn a_program_gets_a_line_an_event_and_then_the_run() {
    let project = Project::new();
    let mut words = project.start_words("first", &diligent("finish"));
    words.extend(["--json", "--quiet"].map(str::to_owned));
    let started = project.ambit(&words).well();
    let watched = project.ambit(["run", "watch", "first", "--json"]).well();
    let lines =
        |out: &str| -> Vec<Value> { out.lines().map(|line| serde_json::from_str(line).unwrap()).collect() };
    let (started, watched) = (lines(&started.out), lines(&watched.out));
    let (last, events) = started.split_last().unwrap();
    assert_eq!((&last["phase"], last.get("event")), (&"completed".into(), None));
    let shown = project.show("first");
    assert_eq!(
        last.as_object().unwrap().keys().collect::<Vec<_>>(),
        shown.as_object().unwrap().keys().collect::<Vec<_>>()
    );
    let kinds: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    for kind in
        ["plan.accepted", "tool.decided", "patch.applied", "gate.started", "gate.finished", "run.ended"]
    {
        assert!(kinds.contains(&kind), "{kind}: {kinds:?}");
    }
    // Whoever watches is told the same, from the first record on.
    let told = |event: &Value| (event["seq"].clone(), event["event"].clone(), event["data"].clone());
    let of_watch: Vec<_> = watched[..watched.len() - 1].iter().map(told).collect();
    assert_eq!((of_watch[0].0.clone(), of_watch[0].1.clone()), (0.into(), "run.started".into()));
    assert_eq!(of_watch, events.iter().map(told).collect::<Vec<_>>());
}
