mod lives;
mod manifest;
mod plan;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use ambit_gates::Ending;
use ambit_ids::{BackendId, ByteCount, DurationMs, Incarnation, limits};
use ambit_ports::AbortSignal;
use ambit_ports::runtime::Clock;
use ambit_ports::sandbox::{
    CancellationReceipt, CapabilityManifest, DestructionReceipt, ExecutionObservation, FileBatch,
    FileReceipt, Lives, NamedCommand, OutputCapture, PreviewGrant, PreviewPolicy, RevocationReceipt,
    SandboxError, SandboxLease, SandboxPort, SandboxSpec,
};
use ambit_run::StopReason;
use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::watch;

use crate::{Cut, Faults, SimClock};
pub use lives::{Executed, Execution};
use lives::{Living, Running};
pub use manifest::honest_manifest;
use plan::Plan;
pub use plan::{SandboxFault, Verb};

/// How a command ends, as the test says.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The ending.
    pub ending: Ending,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
    /// How long it takes.
    pub takes: DurationMs,
}

impl Outcome {
    /// The command succeeds at once.
    #[must_use]
    pub fn passes() -> Self {
        Self {
            ending: Ending::Exited { code: 0 },
            stdout: b"ok\n".to_vec(),
            stderr: Vec::new(),
            takes: DurationMs::ZERO,
        }
    }

    /// The command fails at once, and says why.
    #[must_use]
    pub fn fails(stderr: &str) -> Self {
        Self {
            ending: Ending::Exited { code: 1 },
            stdout: Vec::new(),
            stderr: stderr.as_bytes().to_vec(),
            takes: DurationMs::ZERO,
        }
    }

    /// The same, and it takes that long.
    #[must_use]
    pub const fn after(mut self, takes: DurationMs) -> Self {
        self.takes = takes;
        self
    }
}

/// Decides how a command ends, from what it runs on.
type Judge = dyn Fn(&Execution<'_>) -> Outcome + Send + Sync;

/// A backend in memory, honest but for what is planned to go wrong. It outlives every control plane of its world.
pub struct SimSandbox {
    id: BackendId,
    clock: SimClock,
    faults: Faults,
    judge: Box<Judge>,
    manifest: Mutex<CapabilityManifest>,
    plan: Mutex<Plan>,
    lives: Arc<Mutex<Living>>,
}

impl SimSandbox {
    /// A backend whose commands end as `judge` says.
    pub fn new(
        clock: SimClock,
        faults: Faults,
        judge: impl Fn(&Execution<'_>) -> Outcome + Send + Sync + 'static,
    ) -> Self {
        let id = BackendId::new("simulated").unwrap();
        Self {
            manifest: Mutex::new(honest_manifest(&id)),
            id,
            clock,
            faults,
            judge: Box::new(judge),
            plan: Mutex::default(),
            lives: Arc::default(),
        }
    }

    /// Lets a verb go wrong, after it was asked for `skip` more times.
    pub fn plan(&self, verb: Verb, skip: u64, fault: SandboxFault) {
        self.planned(|plan| plan.add(verb, skip, fault));
    }

    /// Lets a verb go wrong every time from now on.
    pub fn plan_always(&self, verb: Verb, fault: SandboxFault) {
        self.planned(|plan| plan.add_always(verb, fault));
    }

    /// Lets nothing go wrong any more.
    pub fn heal(&self) {
        self.planned(Plan::clear);
    }

    /// Changes what is measured of it.
    pub fn alter_manifest(&self, alter: impl FnOnce(&mut CapabilityManifest)) {
        alter(&mut self.manifest.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// How often a verb was asked for.
    #[must_use]
    pub fn asked(&self, verb: Verb) -> u64 {
        self.planned(|plan| plan.asked(verb))
    }

    /// Every command that was begun, in order.
    #[must_use]
    pub fn executed(&self) -> Vec<Executed> {
        self.lived(|lives| lives.executed.clone())
    }

    /// The sandboxes that exist now.
    #[must_use]
    pub fn live(&self) -> Vec<SandboxLease> {
        self.lived(|lives| lives.leases())
    }

    /// Lets every sandbox vanish, with whatever runs in it.
    pub fn vanish(&self) {
        self.lived(Living::clear);
    }

    fn planned<T>(&self, act: impl FnOnce(&mut Plan) -> T) -> T {
        act(&mut self.plan.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn lived<T>(&self, act: impl FnOnce(&mut Living) -> T) -> T {
        act(&mut self.lives.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Counts a verb and answers what goes wrong with it.
    async fn begin(&self, verb: Verb) -> Option<SandboxFault> {
        self.faults.pass(Cut::SandboxAsked).await;
        let fault = self.planned(|plan| plan.next(verb));
        if fault == Some(SandboxFault::Hangs) {
            std::future::pending::<()>().await;
        }
        fault
    }

    async fn end<T>(&self, answer: T) -> T {
        self.faults.pass(Cut::SandboxAnswered).await;
        answer
    }

    async fn keep(
        &self,
        spec: &SandboxSpec,
        bytes: &[u8],
        limit: ByteCount,
    ) -> Result<OutputCapture, SandboxError> {
        let kept = &bytes[..bytes.len().min(usize::try_from(limit.get()).unwrap_or(usize::MAX))];
        let artifact = spec.blobs.put(&spec.scope, Bytes::copy_from_slice(kept)).await?;
        let window = limits::OUTPUT_WINDOW_BYTES;
        let text = |bytes: &[u8]| {
            let plain = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
            let shown = |c| if plain(c) { c } else { char::REPLACEMENT_CHARACTER };
            String::from_utf8_lossy(bytes).chars().map(shown).collect::<String>()
        };
        let (head, tail) = kept.split_at(kept.len().min(window));
        Ok(OutputCapture {
            head: text(head),
            tail: text(&tail[tail.len().saturating_sub(window)..]),
            truncated: tail.len() > window,
            bytes: ByteCount::new(kept.len() as u64),
            artifact,
        })
    }

    /// Waits until a command has ended by itself, was aborted, or its sandbox was cancelled or vanished.
    async fn wait(
        &self,
        takes: DurationMs,
        abort: &mut AbortSignal,
        killed: &mut watch::Receiver<bool>,
    ) -> Option<Ending> {
        let end = self.clock.now().saturating_add(takes);
        tokio::select! {
            biased;
            () = abort.raised() => Some(Ending::Aborted),
            _ = killed.wait_for(|killed| *killed) => Some(Ending::Signalled { signal: 9 }),
            () = self.clock.sleep_until(end) => None,
        }
    }
}

#[async_trait]
impl SandboxPort for SimSandbox {
    fn backend_id(&self) -> &BackendId {
        &self.id
    }

    async fn inspect_capabilities(&self) -> Result<CapabilityManifest, SandboxError> {
        if let Some(fault) = self.begin(Verb::Inspect).await {
            return Err(fault.error(None));
        }
        let manifest = self.manifest.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.end(Ok(manifest)).await
    }

    async fn allocate(&self, spec: SandboxSpec) -> Result<SandboxLease, SandboxError> {
        let fault = self.begin(Verb::Allocate).await;
        match fault {
            Some(SandboxFault::Slow(span)) => self.clock.pass(span).await,
            Some(SandboxFault::AnotherRun) | None => {}
            Some(fault) => return Err(fault.error(None)),
        }
        let mut lease = self.lived(|lives| lives.allocate(&self.id, spec));
        if fault == Some(SandboxFault::AnotherRun) {
            lease.lease = "lease_00000000000000000000000000000000".parse().unwrap();
        }
        self.end(Ok(lease)).await
    }

    async fn write_files(&self, lease: &SandboxLease, batch: FileBatch) -> Result<FileReceipt, SandboxError> {
        if let Some(fault) = self.begin(Verb::Write).await {
            return Err(fault.error(Some(lease)));
        }
        let spec = self.lived(|lives| lives.spec(lease))?;
        let mut files = Vec::with_capacity(batch.files.len());
        for file in &batch.files {
            let limit = ByteCount::new(limits::FILE_BYTES);
            files.push((
                file.path.clone(),
                file.kind,
                spec.blobs.get(&spec.scope, file.content, limit).await?,
            ));
        }
        let receipt = self.lived(|lives| lives.bring(lease, batch.tree, files))?;
        self.end(Ok(receipt)).await
    }

    async fn execute_named(
        &self,
        lease: &SandboxLease,
        command: NamedCommand,
        mut abort: AbortSignal,
    ) -> Result<ExecutionObservation, SandboxError> {
        let fault = self.begin(Verb::Execute).await;
        if let Some(fault @ (SandboxFault::Stumbles | SandboxFault::Unavailable)) = fault {
            return Err(fault.error(Some(lease)));
        }
        let spec = self.lived(|lives| lives.spec(lease))?;
        let (mut outcome, mut running) = Running::begin(&self.lives, lease, &command, self.judge.as_ref())?;
        if let Some(SandboxFault::Slow(span)) = fault {
            outcome.takes = span;
        }
        let began = self.clock.now();
        let cut_short = self.wait(outcome.takes, &mut abort, &mut running.killed).await;
        match fault {
            Some(SandboxFault::LosesReply) => std::future::pending::<()>().await,
            Some(SandboxFault::Vanishes) => self.lived(|lives| lives.remove(&lease.lease)),
            Some(SandboxFault::NoExit) => outcome.ending = Ending::Indeterminate,
            _ => outcome.ending = cut_short.unwrap_or(outcome.ending),
        }
        self.lived(|lives| lives.check(lease))?;
        let limit = command.limits.output_bytes;
        let stdout = self.keep(&spec, &outcome.stdout, limit).await?;
        let stderr = self.keep(&spec, &outcome.stderr, limit).await?;
        running.end();
        let incarnation = match fault {
            Some(SandboxFault::AnotherLife) => Incarnation::new("inc_another-life").unwrap(),
            _ => lease.incarnation.clone(),
        };
        self.end(Ok(ExecutionObservation {
            incarnation,
            effect: command.effect,
            ending: outcome.ending,
            breaches: BTreeSet::new(),
            stdout,
            stderr,
            outputs: Vec::new(),
            refused_outputs: Vec::new(),
            duration_ms: self.clock.now().since(began),
            cpu_ms: None,
            peak_memory_bytes: None,
            killed_processes: 0,
        }))
        .await
    }

    async fn expose_preview(&self, _: &SandboxLease, _: PreviewPolicy) -> Result<PreviewGrant, SandboxError> {
        Err(SandboxError::PreviewDenied)
    }

    async fn revoke_preview(&self, grant: &PreviewGrant) -> Result<RevocationReceipt, SandboxError> {
        Ok(RevocationReceipt { lease: grant.lease.clone(), was_exposed: false })
    }

    async fn cancel(
        &self,
        lease: &SandboxLease,
        _: &StopReason,
    ) -> Result<CancellationReceipt, SandboxError> {
        let remaining_processes = match self.begin(Verb::Cancel).await {
            Some(SandboxFault::Remains) => 1,
            Some(fault) => return Err(fault.error(Some(lease))),
            None => 0,
        };
        let killed_processes =
            self.lived(|known| if known.is_current(lease) { known.kill(&lease.lease) } else { 0 });
        self.end(Ok(CancellationReceipt {
            incarnation: lease.incarnation.clone(),
            lease: lease.lease.clone(),
            killed_processes,
            remaining_processes,
        }))
        .await
    }

    async fn destroy(&self, lease: &SandboxLease, lives: Lives) -> Result<DestructionReceipt, SandboxError> {
        let fault = self.begin(Verb::Destroy).await;
        let mut receipt = DestructionReceipt {
            incarnation: lease.incarnation.clone(),
            lease: lease.lease.clone(),
            remaining: ["processes", "files"].map(|surface| (surface.to_owned(), 0)).to_vec(),
        };
        match fault {
            Some(SandboxFault::Remains) => receipt.remaining[1].1 = 1,
            Some(SandboxFault::AnotherRun) => {
                receipt.lease = "lease_00000000000000000000000000000000".parse().unwrap();
            }
            Some(fault) => return Err(fault.error(Some(lease))),
            None => self.lived(|known| {
                if lives == Lives::Every || known.is_current(lease) {
                    known.remove(&lease.lease);
                }
            }),
        }
        self.end(Ok(receipt)).await
    }
}
