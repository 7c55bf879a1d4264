//! One execution of a named command, from the limits to the observation.

use std::collections::BTreeSet;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use ambit_capture::Capture;
use ambit_control_groups::Usage;
use ambit_gates::{Ending, ResourceLimit};
use ambit_ids::{ByteCount, DurationMs, ExecutionLimits};
use ambit_outputs::Outputs;
use ambit_ports::AbortSignal;
use ambit_ports::sandbox::{ExecutionObservation, NamedCommand, OutputStream, SandboxError};
use ambit_sandbox_guest::wire::{Ended, How, Request, Response};
use ambit_verdict::{Facts, Stop};
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe::Receiver;
use tokio::time::{Instant, sleep_until};

use crate::guest::refused;
use crate::handover::Handover;
use crate::sandbox::Sandbox;
use crate::{account, limits, signs};

/// How much later than the guest's own the deadline of this side is.
const DEADLINE_MARGIN: Duration = Duration::from_millis(1000);
/// How long a guest may take to stop a command before it is killed itself.
const STOP_GRACE: Duration = Duration::from_millis(500);
/// How long output may still flow after every process has ended.
const DRAIN_GRACE: Duration = Duration::from_secs(2);
/// The shortest pause between two looks at the processor time.
const CPU_PAUSE: Duration = Duration::from_millis(10);

/// Kills the guest when an execution is given up halfway, because nobody would hear how it ended.
struct Unfinished<'a>(Option<&'a Sandbox>);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if let Some(sandbox) = self.0 {
            let _ = sandbox.guest.process.kill();
        }
    }
}

/// Runs a command.
pub(crate) async fn execute(
    sandbox: &Sandbox,
    command: &NamedCommand,
    mut abort: AbortSignal,
) -> Result<ExecutionObservation, SandboxError> {
    let mut turn = tokio::select! {
        turn = sandbox.turn.lock() => turn,
        () = abort.raised() => return never_ran(sandbox, command).await,
    };
    sandbox.check_alive()?;
    if !sandbox.has_tree(command.tree) {
        return Err(SandboxError::TreeMissing(command.tree));
    }
    let limits = command.limits.within(&sandbox.limits);
    let volumes = sandbox.volumes(command.tree, &limits, sandbox.declared(&command.volumes)?);
    let handover = Handover::of(command).map_err(SandboxError::during("reading the command"))?;
    sandbox.settled(&mut turn).await.map_err(|_| SandboxError::Gone(sandbox.lease.lease.clone()))?;
    let (before, has_own_peak) = limits::control(sandbox, &mut turn, &limits)?;

    let mut unfinished = Unfinished(Some(sandbox));
    let (stdout, stderr) = handover.start(sandbox, &mut turn, volumes, &limits).await?;
    // Where nobody looked at them before, they are opened while the command starts.
    let gauges = sandbox.gauges();
    let tapped = |stream| Capture::of(command, &sandbox.lease.scope, &sandbox.blobs).tapped(command, stream);
    let mut running = Running {
        sandbox,
        limits: &limits,
        stdout: Stream::new(stdout, tapped(OutputStream::Stdout))?,
        stderr: Stream::new(stderr, tapped(OutputStream::Stderr))?,
        stop: None,
        started: Instant::now(),
        cpu_before_us: before.cpu_us,
    };
    let ended = running.watch(&mut abort).await?;
    sandbox.has_begun();
    let mut after = gauges.usage();
    turn.counted = Some(after);
    after.peak_memory_bytes = after.peak_memory_bytes.filter(|_| has_own_peak);
    let observation = observe(running, command, ended, (before, after)).await?;
    if ended.is_some() {
        sandbox.settle(&mut turn, volumes).await;
        unfinished.0 = None;
    }
    Ok(observation)
}

/// The observation of a command that was aborted while another one ran.
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
    fn new(source: OwnedFd, capture: Capture) -> Result<Self, SandboxError> {
        let source = Receiver::from_owned_fd(source).map_err(SandboxError::during("reading the output"))?;
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
    sandbox: &'a Sandbox,
    limits: &'a ExecutionLimits,
    stdout: Stream,
    stderr: Stream,
    /// Why this side ended it.
    stop: Option<Stop>,
    started: Instant,
    cpu_before_us: Option<u64>,
}

enum Event {
    Ended(io::Result<Ended>),
    Stdout(io::Result<usize>),
    Stderr(io::Result<usize>),
    Stop(Stop),
    Overdue,
}

impl Running<'_> {
    /// Follows the command to its end; `None` where the guest vanished before it told.
    async fn watch(&mut self, abort: &mut AbortSignal) -> Result<Option<Ended>, SandboxError> {
        let wall = Duration::from_millis(self.limits.wall_ms.get());
        let deadline = later(self.started, wall.saturating_add(DEADLINE_MARGIN));
        let mut overdue = None;
        let mut cpu_check =
            later(self.started, soonest(self.limits, self.limits.cpu_time_ms.get().saturating_mul(1000)));
        let ended = loop {
            let stopping = self.stop.is_some();
            let event = tokio::select! {
                biased;
                ended = ended(self.sandbox) => Event::Ended(ended),
                () = until(overdue) => Event::Overdue,
                () = abort.raised(), if !stopping => Event::Stop(Stop::Abort),
                () = sleep_until(deadline), if !stopping => Event::Stop(Stop::Deadline),
                read = self.stdout.next(), if self.stdout.open => Event::Stdout(read),
                read = self.stderr.next(), if self.stderr.open => Event::Stderr(read),
                () = cpu_exceeded(self.sandbox, self.limits, self.cpu_before_us, &mut cpu_check), if !stopping
                    => Event::Stop(Stop::Cpu),
            };
            match event {
                Event::Ended(ended) => break ended.ok(),
                Event::Overdue => {
                    let _ = self.sandbox.guest.process.kill();
                    overdue = None;
                }
                Event::Stop(stop) => overdue = Some(self.request_stop(stop).await),
                Event::Stdout(read) => {
                    let len = read.map_err(SandboxError::during("reading the output"))?;
                    let room = self.room();
                    self.stdout.keep(len, room).await?;
                    overdue = overdue.or(self.check_output(len, room).await);
                }
                Event::Stderr(read) => {
                    let len = read.map_err(SandboxError::during("reading the output"))?;
                    let room = self.room();
                    self.stderr.keep(len, room).await?;
                    overdue = overdue.or(self.check_output(len, room).await);
                }
            }
        };
        if ended.is_none() {
            // The connection ends a moment before the process.
            let _ = self.sandbox.guest.process.kill();
            self.sandbox.guest.process.ended().await;
        }
        // Every process that could write has ended, so what is left in the pipes is all there is.
        tokio::time::timeout(DRAIN_GRACE, self.drain()).await.unwrap_or(Ok(()))?;
        Ok(ended)
    }

    /// How many bytes of output are still kept.
    fn room(&self) -> u64 {
        let kept = self.stdout.capture.total() + self.stderr.capture.total();
        self.limits.output_bytes.get().saturating_sub(kept)
    }

    /// Stops the command where its output does not fit; answers when it must have ended.
    async fn check_output(&mut self, len: usize, room: u64) -> Option<Instant> {
        if len as u64 <= room || self.stop.is_some() {
            return None;
        }
        Some(self.request_stop(Stop::Output).await)
    }

    async fn request_stop(&mut self, stop: Stop) -> Instant {
        self.stop = Some(stop);
        let _ = self.sandbox.guest.send(&Request::Stop, 0, &[]).await;
        Instant::now() + STOP_GRACE
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

async fn ended(sandbox: &Sandbox) -> io::Result<Ended> {
    sandbox
        .guest
        .receive_until(|response, _| match response {
            Response::Ended(ended) => Some(ended),
            _ => None,
        })
        .await
}

/// Waits until more processor time is used than allowed. Each look is at the earliest moment at which that can be.
async fn cpu_exceeded(
    sandbox: &Sandbox,
    limits: &ExecutionLimits,
    before_us: Option<u64>,
    next: &mut Instant,
) {
    let Some(before_us) = before_us else { return std::future::pending().await };
    let limit_us = limits.cpu_time_ms.get().saturating_mul(1000);
    loop {
        sleep_until(*next).await;
        let used_us = sandbox.gauges().cpu_us().unwrap_or(0).saturating_sub(before_us);
        let Some(left_us) = limit_us.checked_sub(used_us).filter(|left| *left > 0) else { return };
        *next = later(Instant::now(), soonest(limits, left_us));
    }
}

/// The shortest time in which a command can use so much processor time.
fn soonest(limits: &ExecutionLimits, cpu_us: u64) -> Duration {
    let share = u64::from(limits.cpu_millis).max(1);
    Duration::from_micros(cpu_us.saturating_mul(1000) / share).max(CPU_PAUSE)
}

async fn observe(
    running: Running<'_>,
    command: &NamedCommand,
    ended: Option<Ended>,
    (before, after): (Usage, Usage),
) -> Result<ExecutionObservation, SandboxError> {
    let Running { sandbox, limits, stdout, stderr, stop, started, .. } = running;
    if let Some(How::NotConfined(failed)) = ended.map(|ended| ended.how) {
        return Err(refused(failed));
    }
    let cpu_us = match (before.cpu_us, after.cpu_us) {
        (Some(before), Some(after)) => Some(after.saturating_sub(before)),
        _ => ended.map(|ended| ended.cpu_us),
    };
    let facts = Facts {
        account: ended.as_ref().map(account::of),
        stop: stop.or(sandbox.was_stopped().then_some(Stop::Abort)),
        memory_kills: after.memory_kills.saturating_sub(before.memory_kills),
        memory_refusals: ended.map_or(0, |ended| ended.memory_refusals),
        process_refusals: after.process_refusals.saturating_sub(before.process_refusals),
        disk_full: ended.is_some_and(|ended| ended.disk_full),
        cpu_us: cpu_us.unwrap_or(0),
        cpu_limit_us: limits.cpu_time_ms.get().saturating_mul(1000),
    };
    let (ending, breaches): (_, BTreeSet<ResourceLimit>) = facts.verdict();
    let counts = ended.and_then(|ended| ended.signs);
    let signs = counts.map(|counts| signs::of(counts, &facts, &breaches));
    let (scope, blobs) = (&sandbox.lease.scope, &sandbox.blobs);
    let (mut outputs, mut written) = (Outputs::unreadable(&command.outputs), None);
    if ended.is_some() {
        outputs = ambit_outputs::collect(sandbox, &command.outputs, scope, blobs).await?;
        written = ambit_outputs::written(sandbox, &command.watched).await?;
    }
    let (stdout, stderr) = tokio::try_join!(stdout.capture.finish(), stderr.capture.finish())?;
    let wall = ended.map_or(started.elapsed(), |ended| Duration::from_micros(ended.wall_us));
    let millis =
        |duration: Duration| DurationMs::new(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX));
    Ok(ExecutionObservation {
        incarnation: sandbox.lease.incarnation.clone(),
        effect: command.effect.clone(),
        ending,
        breaches,
        stdout,
        stderr,
        outputs: outputs.kept,
        refused_outputs: outputs.refused,
        duration_ms: millis(wall),
        cpu_ms: cpu_us.map(|cpu_us| DurationMs::new(cpu_us / 1000)),
        peak_memory_bytes: after.peak_memory_bytes.map(ByteCount::new),
        killed_processes: ended.map_or(0, |ended| ended.killed),
        signs,
        written,
        protected: None,
    })
}
