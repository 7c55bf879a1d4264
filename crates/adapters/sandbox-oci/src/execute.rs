//! One execution of a named command, from the container to the observation.

use std::collections::BTreeSet;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use ambit_capture::Capture;
use ambit_gates::{Ending, ResourceLimit};
use ambit_ids::{ByteCount, DurationMs, ExecutionLimits};
use ambit_outputs::Outputs;
use ambit_ports::AbortSignal;
use ambit_ports::sandbox::{ExecutionObservation, NamedCommand, OutputStream, SandboxError};
use ambit_verdict::{Facts, Stop};
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe::Receiver;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use crate::account::Told;
use crate::container::{Container, EXCEEDED};
use crate::sandbox::Sandbox;

/// How much later than the first process's own the deadline of this side is.
const DEADLINE_MARGIN: Duration = Duration::from_millis(1500);
/// How long the first process may take to end a command before everything is killed.
const STOP_GRACE: Duration = Duration::from_millis(500);
/// How long the runtime may take to go once the command has ended.
const LEAVING: Duration = Duration::from_secs(5);
/// How long output may still flow after every process has ended.
const DRAIN_GRACE: Duration = Duration::from_secs(2);
/// The pause between two looks at what a command uses.
const LOOK: Duration = Duration::from_millis(20);

/// Runs a command.
pub(crate) async fn execute(
    sandbox: &Sandbox,
    command: &NamedCommand,
    mut abort: AbortSignal,
) -> Result<ExecutionObservation, SandboxError> {
    let _turn = tokio::select! {
        turn = sandbox.turn.lock() => turn,
        () = abort.raised() => return never_ran(sandbox, command).await,
    };
    sandbox.check_alive()?;
    if !sandbox.has_tree(command.tree) {
        return Err(SandboxError::TreeMissing(command.tree));
    }
    let limits = command.limits.within(&sandbox.limits);
    sandbox.check_volumes(&command.volumes)?;
    check_workdir(command).map_err(SandboxError::during("reading the command"))?;
    let (present, mut absent) = mpsc::channel(1);
    let seen = in_container(sandbox, command, &limits, abort, present).await;
    // However it ended, and however much of a container there was, nothing of it is written any more.
    absent.recv().await;
    seen
}

/// Likewise, in a container of its own. `present` goes with the last of that.
async fn in_container(
    sandbox: &Sandbox,
    command: &NamedCommand,
    limits: &ExecutionLimits,
    mut abort: AbortSignal,
    present: mpsc::Sender<()>,
) -> Result<ExecutionObservation, SandboxError> {
    let mut container = tokio::select! {
        made = sandbox.container(command, limits, present) => match made {
            Err(_) if sandbox.is_gone() => return Err(SandboxError::Gone(sandbox.lease.lease.clone())),
            other => other?,
        },
        () = abort.raised() => return never_ran(sandbox, command).await,
    };
    // Whoever ended the sandbox before this has not seen the container; whoever ends it from now on does.
    sandbox.check_alive()?;
    let before_us = container.cpu_before_us();
    container.begin().await?;
    let tapped = |stream| Capture::of(command, &sandbox.lease.scope, &sandbox.blobs).tapped(command, stream);
    let mut running = Running {
        limits,
        stdout: Stream::new(&mut container.stdout, tapped(OutputStream::Stdout))?,
        stderr: Stream::new(&mut container.stderr, tapped(OutputStream::Stderr))?,
        stop: None,
        disk_full: false,
        started: Instant::now(),
        cpu_before_us: before_us,
    };
    let account = running.watch(&mut container, &mut abort).await?;
    observe(sandbox, running, command, container, account).await
}

/// Refuses a working directory that would not arrive as it is: a bundle holds text.
fn check_workdir(command: &NamedCommand) -> io::Result<()> {
    let is_text = command.workdir.as_ref().is_none_or(|path| std::str::from_utf8(path.as_bytes()).is_ok());
    if is_text { Ok(()) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

/// The observation of a command that was aborted before it began.
async fn never_ran(sandbox: &Sandbox, command: &NamedCommand) -> Result<ExecutionObservation, SandboxError> {
    let Outputs { kept, refused } = Outputs::unreadable(&command.outputs);
    let empty = || Capture::of(command, &sandbox.lease.scope, &sandbox.blobs).finish();
    Ok(ExecutionObservation {
        incarnation: sandbox.lease.incarnation.clone(),
        effect: command.effect.clone(),
        ending: Ending::Aborted,
        breaches: BTreeSet::new(),
        stdout: empty().await?,
        stderr: empty().await?,
        outputs: kept,
        refused_outputs: refused,
        duration_ms: DurationMs::ZERO,
        cpu_ms: None,
        peak_memory_bytes: None,
        killed_processes: 0,
        signs: None,
        written: None,
        protected: None,
    })
}

/// One stream while it flows.
struct Stream {
    source: Receiver,
    capture: Capture,
    buffer: Vec<u8>,
    open: bool,
}

impl Stream {
    fn new(source: &mut Option<OwnedFd>, capture: Capture) -> Result<Self, SandboxError> {
        let what = "reading the output";
        let source =
            source.take().ok_or_else(|| SandboxError::during(what)(io::ErrorKind::NotConnected.into()))?;
        let source = Receiver::from_owned_fd(source).map_err(SandboxError::during(what))?;
        Ok(Self { source, capture, buffer: vec![0; 64 << 10], open: true })
    }

    /// Waits for the next bytes and answers how many there are in the buffer; 0 at the end.
    async fn next(&mut self) -> io::Result<usize> {
        let read = self.source.read(&mut self.buffer).await;
        self.open = matches!(read, Ok(len) if len > 0);
        read
    }

    /// Keeps the first `len` bytes of the buffer, up to `room`.
    async fn keep(&mut self, len: usize, room: u64) -> Result<(), SandboxError> {
        let kept = usize::try_from(room).map_or(len, |room| len.min(room));
        Ok(self.capture.push(&self.buffer[..kept]).await?)
    }
}

struct Running<'a> {
    limits: &'a ExecutionLimits,
    stdout: Stream,
    stderr: Stream,
    /// Why this side ended it.
    stop: Option<Stop>,
    /// Whether what it can write to was seen full. A command may remove what it could not finish before it ends.
    disk_full: bool,
    started: Instant,
    cpu_before_us: Option<u64>,
}

enum Event {
    Told(io::Result<String>),
    Stdout(io::Result<usize>),
    Stderr(io::Result<usize>),
    Stop(Stop),
    Look,
    Overdue,
}

impl Running<'_> {
    /// Follows the command to the end of its container; `None` where the first process vanished before it told.
    async fn watch(
        &mut self,
        container: &mut Container,
        abort: &mut AbortSignal,
    ) -> Result<Option<Told>, SandboxError> {
        let wall = Duration::from_millis(self.limits.wall_ms.get());
        let deadline = later(self.started, wall.saturating_add(DEADLINE_MARGIN));
        let mut overdue = None;
        let mut look = self.started + LOOK;
        let told = loop {
            let stopping = self.stop.is_some();
            let event = tokio::select! {
                biased;
                told = container.next_line() => match told {
                    Ok(line) if line == EXCEEDED => Event::Stop(Stop::Memory),
                    told => Event::Told(told),
                },
                () = until(overdue) => Event::Overdue,
                () = abort.raised(), if !stopping => Event::Stop(Stop::Abort),
                () = sleep_until(deadline), if !stopping => Event::Stop(Stop::Deadline),
                () = sleep_until(look) => Event::Look,
                read = self.stdout.next(), if self.stdout.open => Event::Stdout(read),
                read = self.stderr.next(), if self.stderr.open => Event::Stderr(read),
            };
            let stop = match event {
                Event::Told(told) => break told.ok(),
                Event::Overdue => {
                    container.hold.kill();
                    overdue = None;
                    None
                }
                Event::Stop(stop) => Some(stop),
                Event::Look => {
                    look = Instant::now() + LOOK;
                    self.look(container)
                }
                Event::Stdout(read) => {
                    let len = read.map_err(SandboxError::during("reading the output"))?;
                    let room = self.room();
                    self.stdout.keep(len, room).await?;
                    (len as u64 > room).then_some(Stop::Output)
                }
                Event::Stderr(read) => {
                    let len = read.map_err(SandboxError::during("reading the output"))?;
                    let room = self.room();
                    self.stderr.keep(len, room).await?;
                    (len as u64 > room).then_some(Stop::Output)
                }
            };
            if let Some(stop) = stop.filter(|_| self.stop.is_none()) {
                self.stop = Some(stop);
                container.ask_to_stop().await;
                overdue = Some(Instant::now() + STOP_GRACE);
            }
        };
        let account = told.as_deref().and_then(Told::parse);
        if account.is_none() || tokio::time::timeout(LEAVING, container.ended()).await.is_err() {
            container.hold.kill();
            let _ = tokio::time::timeout(LEAVING, container.ended()).await;
        }
        if container.exceeded {
            self.stop.get_or_insert(Stop::Memory);
        }
        // Every process that could write has ended, so what is left in the pipes is all there is.
        tokio::time::timeout(DRAIN_GRACE, self.drain()).await.unwrap_or(Ok(()))?;
        self.disk_full |= container.held.is_full();
        Ok(account)
    }

    /// Looks at what the command uses; answers whether that is more processor time than it may.
    fn look(&mut self, container: &Container) -> Option<Stop> {
        self.disk_full |= container.held.is_full();
        let used_us = container.hold.cpu_us()?.saturating_sub(self.cpu_before_us?);
        (used_us >= self.limits.cpu_time_ms.get().saturating_mul(1000)).then_some(Stop::Cpu)
    }

    /// How many bytes of output are still kept.
    fn room(&self) -> u64 {
        let kept = self.stdout.capture.total() + self.stderr.capture.total();
        self.limits.output_bytes.get().saturating_sub(kept)
    }

    async fn drain(&mut self) -> Result<(), SandboxError> {
        while self.stdout.open {
            let len = self.stdout.next().await.map_err(SandboxError::during("reading the output"))?;
            let room = self.room();
            self.stdout.keep(len, room).await?;
            self.note_excess(len, room);
        }
        while self.stderr.open {
            let len = self.stderr.next().await.map_err(SandboxError::during("reading the output"))?;
            let room = self.room();
            self.stderr.keep(len, room).await?;
            self.note_excess(len, room);
        }
        Ok(())
    }

    /// Output that did not fit is a limit that was passed, even where the command ended before it could be stopped.
    fn note_excess(&mut self, len: usize, room: u64) {
        if len as u64 > room {
            self.stop.get_or_insert(Stop::Output);
        }
    }
}

fn later(from: Instant, by: Duration) -> Instant {
    /// Far enough: a timer cannot be set to the end of time.
    const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);
    from + by.min(LONGEST)
}

async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

async fn observe(
    sandbox: &Sandbox,
    running: Running<'_>,
    command: &NamedCommand,
    container: Container,
    account: Option<Told>,
) -> Result<ExecutionObservation, SandboxError> {
    let Running { limits, stdout, stderr, stop, started, disk_full, cpu_before_us } = running;
    if let Some(errno) = account.and_then(|told| told.not_confined) {
        let source = io::Error::from_raw_os_error(i32::from(errno));
        return Err(SandboxError::ControlFailed { control: "the process of the command".into(), source });
    }
    let after = container.hold.usage();
    let cpu_us = after.cpu_us.zip(cpu_before_us).map(|(after, before)| after.saturating_sub(before));
    let facts = Facts {
        account: account.map(|told| told.account),
        stop: stop.or(sandbox.is_gone().then_some(Stop::Abort)),
        memory_kills: after.memory_kills,
        memory_refusals: 0,
        process_refusals: after.process_refusals,
        disk_full,
        cpu_us: cpu_us.unwrap_or(0),
        cpu_limit_us: limits.cpu_time_ms.get().saturating_mul(1000),
    };
    let (ending, breaches): (_, BTreeSet<ResourceLimit>) = facts.verdict();
    let Outputs { kept, refused } = match account {
        Some(_) => {
            ambit_outputs::collect(&container.held, &command.outputs, &sandbox.lease.scope, &sandbox.blobs)
                .await?
        }
        None => Outputs::unreadable(&command.outputs),
    };
    let written = match account {
        Some(_) => ambit_outputs::written(&container.held, &command.watched).await?,
        None => None,
    };
    let wall = account.map_or(started.elapsed(), |account| Duration::from_micros(account.wall_us));
    // What the runtime's own kernel uses is in the same count.
    let peak = after.peak_memory_bytes.filter(|_| !sandbox.runtime.kind.has_own_kernel());
    let left = container.clear().await;
    if left > 0 {
        return Err(sandbox.unproven(left));
    }
    let millis =
        |duration: Duration| DurationMs::new(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX));
    Ok(ExecutionObservation {
        incarnation: sandbox.lease.incarnation.clone(),
        effect: command.effect.clone(),
        ending,
        breaches,
        stdout: stdout.capture.finish().await?,
        stderr: stderr.capture.finish().await?,
        outputs: kept,
        refused_outputs: refused,
        duration_ms: millis(wall),
        cpu_ms: cpu_us.map(|cpu_us| DurationMs::new(cpu_us / 1000)),
        peak_memory_bytes: peak.map(ByteCount::new),
        killed_processes: account.map_or(0, |account| account.killed),
        signs: None,
        written,
        protected: None,
    })
}
