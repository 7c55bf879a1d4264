//! One sandbox that runs case after case, with the watcher's look after each.

use std::time::{Duration, Instant};

use ambit_ids::Digest;
use ambit_ports::sandbox::{BatchFileKind, FileBatch, NamedCommand};
use tokio::sync::watch::Receiver;

use super::case::Case;
use super::ground::{Outcome, Shared};
use super::outside;
use super::row::{Beside, Prepare, Row, as_it_is};
use super::rows::ZOMBIES;
use super::seen::Seen;
use crate::sandbox::bench::never;
use crate::sandbox::{Bench, Staged};

/// Longer than any case may take.
const PATIENCE: Duration = Duration::from_secs(400);

/// What a case may have that needs more processes than most.
pub(super) const MOST_PROCESSES: u32 = 300;

/// A lane.
pub(super) struct Lane<'a> {
    number: usize,
    shared: &'a Shared<'a>,
}

/// A file that must not be there at a moment.
struct Later {
    id: String,
    file: &'static str,
    mark: String,
    at: Instant,
}

impl<'a> Lane<'a> {
    pub(super) const fn new(number: usize, shared: &'a Shared<'a>) -> Self {
        Self { number, shared }
    }

    /// Runs cases until there are none.
    pub(super) async fn run(&self) -> Outcome {
        let staged = self.staged().await;
        self.see_what_is_there_to_be_seen(&staged).await;
        let mut outcome = Outcome::default();
        let mut later = Vec::new();
        while let Some((case, row)) = self.shared.next() {
            if let Some(program) = row.needs
                && !self.has(&staged, program).await
            {
                outcome.skipped.push((case.id, program.to_owned()));
                continue;
            }
            match self.hold(&staged, &case, &row, &mut later).await {
                Ok(()) => {
                    outcome.held.insert(case.id);
                }
                Err(what) => outcome.broken.push((case.id, what)),
            }
        }
        for look in later {
            if let Err(what) = self.look_again(&staged, &look).await {
                outcome.held.remove(&look.id);
                outcome.broken.push((look.id, what));
            }
        }
        self.shared.bench.destroy(&staged).await;
        outcome
    }

    async fn staged(&self) -> Staged {
        let bench = self.shared.bench;
        let mut spec = bench.spec(&format!("hostile-{}", self.number));
        spec.limits.processes = MOST_PROCESSES;
        let mut staged = bench.staged_from(spec).await;
        let files = vec![
            bench.file("app/cart.py", BatchFileKind::File, b"TOTAL = 0\n").await,
            bench.file("tests/test_cart.py", BatchFileKind::File, b"assert True\n").await,
        ];
        staged.tree = Digest::of(b"a small project");
        bench.port.write_files(&staged.lease, FileBatch { tree: staged.tree, files }).await.unwrap();
        staged
    }

    /// The controls of the watcher: each thing that must not be seen later is seen where it is there.
    async fn see_what_is_there_to_be_seen(&self, staged: &Staged) {
        let shared = self.shared;
        let say = format!("echo {}", shared.plants.canary);
        let said = self.execute(staged, "control-said", &say, as_it_is).await;
        assert!(said.everything().any(|bytes| shared.plants.are_in(bytes)), "a secret that is said is seen");
        let made = "sh -c 'echo x > ./AFTER'; find / -name AFTER 2>/dev/null; true";
        let made = self.execute(staged, "control-made", made, as_it_is).await;
        assert_eq!(made.stdout, "/workspace/AFTER\n", "a file that is made is seen");
        let undead = format!(
            "python3 -c 'import os\nif os.fork()==0: os._exit(0)\nos.waitid(os.P_ALL,0,os.WEXITED|os.WNOWAIT)\n{ZOMBIES}'"
        );
        let undead = self.execute(staged, "control-zombies", &undead, as_it_is).await;
        assert_eq!(undead.stdout, "1\n", "a zombie is seen");
    }

    async fn has(&self, staged: &Staged, program: &str) -> bool {
        let found = self.execute(staged, "control-has", &format!("command -v {program}"), as_it_is).await;
        found.succeeded()
    }

    async fn hold(
        &self,
        staged: &Staged,
        case: &Case,
        row: &Row,
        later: &mut Vec<Later>,
    ) -> Result<(), String> {
        let started = Instant::now();
        let (over, is_over) = tokio::sync::watch::channel(false);
        let running = async {
            let seen = self.execute(staged, &case.id, &case.command, row.prepare).await;
            over.send_replace(true);
            seen
        };
        let (mut seen, (reached, other_answered)) =
            tokio::join!(running, self.beside(row.beside, &case.id, &is_over));
        seen.expect.clone_from(&case.expect);
        (seen.reached, seen.other_answered) = (reached, other_answered);
        self.watch(&case.id, &seen)?;
        if !(row.holds)(&seen) {
            return Err(format!("{:?}, {:?}", seen.observed, seen.stdout));
        }
        if let Some((file, after)) = row.never {
            let (id, mark) = (case.id.clone(), self.mark(&case.id));
            later.push(Later { id, file, mark, at: started + after });
        }
        if let Some(next) = row.next {
            let seen = self.execute(staged, &case.id, next.command, next.prepare).await;
            self.watch(&case.id, &seen)?;
            if !(next.holds)(&seen) {
                return Err(format!("and then {:?}, {:?}", seen.observed, seen.stdout));
            }
        }
        Ok(())
    }

    /// What stands in the environment of every process of a case.
    fn mark(&self, id: &str) -> String {
        let name = &Digest::of(id.as_bytes()).to_hex()[..8];
        format!("probe-{name}-{}-{}", self.number, std::process::id())
    }

    fn command(&self, staged: &Staged, id: &str, script: &str) -> NamedCommand {
        let shared = self.shared;
        let text = |path: &std::path::Path| path.to_string_lossy().into_owned();
        let mut command = shared.bench.command(staged, &[]);
        command.argv = ["/bin/sh", "-c", script].map(str::to_owned).to_vec();
        let mut variables = vec![("PATH", "/usr/sbin:/usr/bin".to_owned()), ("PROBE", self.mark(id))];
        match id {
            "net-host-loopback" => variables.push(("HOSTPORT", shared.doors.port().to_string())),
            "home-secrets" => variables.push(("HOME", text(&shared.plants.home()))),
            "own-home" => variables.push(("HOMES", text(&shared.plants.home()))),
            "own-sockets" => {
                variables.push(("SOCKET", text(shared.doors.place())));
                variables.push(("NAME", shared.doors.name().to_owned()));
            }
            _ => {}
        }
        command.environment = variables.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        command
    }

    async fn execute(&self, staged: &Staged, id: &str, script: &str, prepare: Prepare) -> Seen {
        let bench = self.shared.bench;
        let mut command = self.command(staged, id, script);
        prepare(&mut command);
        let started = Instant::now();
        let running = bench.port.execute_named(&staged.lease, command, never());
        let observed = tokio::time::timeout(PATIENCE, running).await;
        let observed = observed.unwrap_or_else(|_| panic!("{id} has no end")).expect("the command runs");
        let took = started.elapsed();
        seen(bench, observed, took).await
    }

    /// What is done from outside while a case runs: whether its port was reached, and whether another run was answered.
    async fn beside(&self, beside: Beside, id: &str, is_over: &Receiver<bool>) -> (bool, bool) {
        match beside {
            Beside::Nothing => (false, false),
            Beside::AnotherRun => (false, self.shared.rival.is_answered(self.shared.bench).await),
            Beside::Connections(port) => {
                let mark = self.mark(id);
                let mut reached = false;
                let mut seen = !self.shared.processes_are_seen;
                // From before its first process until after its last.
                loop {
                    reached |= outside::answers(port);
                    let lives = match self.shared.processes_are_seen {
                        true => !outside::processes(&mark).is_empty(),
                        false => !*is_over.borrow(),
                    };
                    if seen && !lives {
                        return (reached, false);
                    }
                    seen |= lives;
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            }
        }
    }

    /// What must be so after every case, whatever it was.
    fn watch(&self, id: &str, seen: &Seen) -> Result<(), String> {
        let left = outside::processes(&self.mark(id));
        if !left.is_empty() {
            return Err(format!("processes are left: {left:?}"));
        }
        if seen.everything().any(|bytes| self.shared.plants.are_in(bytes)) {
            return Err("a planted secret was read".to_owned());
        }
        if !self.shared.rival.lives() {
            return Err("the run of another tenant was ended".to_owned());
        }
        Ok(())
    }

    /// Looks for what a process that outlived its command would have made.
    async fn look_again(&self, staged: &Staged, look: &Later) -> Result<(), String> {
        tokio::time::sleep_until(look.at.into()).await;
        let find = format!("find / -name {} 2>/dev/null; true", look.file);
        let seen = self.execute(staged, &look.id, &find, as_it_is).await;
        let left = outside::processes(&look.mark);
        let files = outside::files(self.shared.state, &[look.file], None);
        if seen.succeeded() && seen.whole.is_empty() && left.is_empty() && files.is_empty() {
            return Ok(());
        }
        Err(format!("{} was made, or could be: {:?}, {left:?}, {files:?}", look.file, seen.stdout))
    }
}

async fn seen(bench: &Bench, observed: ambit_ports::sandbox::ExecutionObservation, took: Duration) -> Seen {
    let whole = bench.blob(observed.stdout.artifact).await;
    let errors = bench.blob(observed.stderr.artifact).await;
    let mut exported = Vec::new();
    for output in &observed.outputs {
        exported.push((output.path.clone(), bench.blob(output.artifact).await));
    }
    let stdout = format!("{}{}", observed.stdout.head, observed.stdout.tail);
    let (expect, reached, other_answered) = (String::new(), false, false);
    Seen { expect, observed, stdout, whole, errors, exported, took, reached, other_answered }
}
