mod execute;
mod lives;
mod manifest;
mod plan;
mod scan;
mod wire;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use ambit_gates::Ending;
use ambit_ids::{BackendId, ByteCount, DurationMs, Incarnation, LeaseId, limits};
use ambit_ports::AbortSignal;
use ambit_ports::sandbox::{
    CancellationReceipt, CapabilityManifest, DestructionReceipt, ExecutionObservation, FileBatch,
    FileReceipt, Lives, NamedCommand, OutputCapture, Preview, PreviewGrant, PreviewPolicy, RevocationReceipt,
    SandboxError, SandboxLease, SandboxPort, SandboxSpec, Watch, shown,
};
use ambit_run::StopReason;
use async_trait::async_trait;
use bytes::Bytes;

use crate::{Cut, Faults, SimClock};
use lives::Living;
pub use lives::{Executed, Execution};
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
    /// What it makes of files of its workspace: their bytes, or nothing where it removes them.
    pub leaves: BTreeMap<String, Option<Vec<u8>>>,
    /// Directories in which it wrote what it took away again.
    pub empties: Vec<String>,
    /// How far what it wrote can be told.
    pub watch: Watch,
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
            leaves: BTreeMap::new(),
            empties: Vec::new(),
            watch: Watch::Course,
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
            leaves: BTreeMap::new(),
            empties: Vec::new(),
            watch: Watch::Course,
        }
    }

    /// The same, and it leaves a file with these bytes.
    #[must_use]
    pub fn leaving(mut self, path: &str, bytes: &[u8]) -> Self {
        self.leaves.insert(path.to_owned(), Some(bytes.to_vec()));
        self
    }

    /// The same, and it removes a file.
    #[must_use]
    pub fn removing(mut self, path: &str) -> Self {
        self.leaves.insert(path.to_owned(), None);
        self
    }

    /// The same, and it leaves nothing of what it wrote in a directory.
    #[must_use]
    pub fn emptying(mut self, directory: &str) -> Self {
        self.empties.push(directory.to_owned());
        self
    }

    /// The same, on a backend that only sees what is there at the end.
    #[must_use]
    pub fn seen_at_the_end(mut self) -> Self {
        self.watch = Watch::End;
        self
    }

    /// The same, and it takes that long.
    #[must_use]
    pub fn after(mut self, takes: DurationMs) -> Self {
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
    last: Mutex<Option<ExecutionObservation>>,
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
            last: Mutex::default(),
        }
    }

    /// The same, under another name.
    ///
    /// # Panics
    /// Where no backend can be called so.
    #[must_use]
    pub fn called(mut self, name: &str) -> Self {
        self.id = BackendId::new(name).unwrap();
        self.manifest = Mutex::new(honest_manifest(&self.id));
        self
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

    /// The process that made the sandboxes dies, and leaves them.
    pub fn orphan(&self) {
        self.lived(Living::orphan);
    }

    fn planned<T>(&self, act: impl FnOnce(&mut Plan) -> T) -> T {
        act(&mut self.plan.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn lived<T>(&self, act: impl FnOnce(&mut Living) -> T) -> T {
        act(&mut self.lives.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Counts a verb and answers what goes wrong with it, where that is not over with the verb's beginning.
    async fn begin(
        &self,
        verb: Verb,
        lease: Option<&SandboxLease>,
    ) -> Result<Option<SandboxFault>, SandboxError> {
        self.faults.pass(Cut::SandboxAsked).await;
        let fault = self.planned(|plan| plan.next(verb));
        match (fault, lease) {
            (Some(SandboxFault::Hangs), _) => std::future::pending::<()>().await,
            (
                Some(
                    fault @ (SandboxFault::Unreachable | SandboxFault::Stumbles | SandboxFault::Unavailable),
                ),
                lease,
            ) => return Err(fault.error(lease)),
            (Some(SandboxFault::Slow(span)), _) if verb != Verb::Execute => self.clock.pass(span).await,
            (Some(SandboxFault::Vanished), Some(lease)) => self.lived(|lives| lives.remove(&lease.lease)),
            _ => {}
        }
        Ok(fault)
    }

    /// Answers a verb that was done, or loses the answer.
    async fn end<T>(
        &self,
        fault: Option<SandboxFault>,
        lease: &LeaseId,
        answer: T,
    ) -> Result<T, SandboxError> {
        match fault {
            Some(SandboxFault::LosesReply) => std::future::pending::<()>().await,
            Some(fault @ SandboxFault::BreaksReply) => return Err(fault.error(None)),
            Some(SandboxFault::Vanishes) => self.lived(|lives| lives.remove(lease)),
            _ => {}
        }
        self.faults.pass(Cut::SandboxAnswered).await;
        Ok(answer)
    }

    async fn keep(
        &self,
        spec: &SandboxSpec,
        bytes: &[u8],
        limit: ByteCount,
    ) -> Result<OutputCapture, SandboxError> {
        let kept = within(bytes, limit);
        let artifact = spec.blobs.put(&spec.scope, Bytes::copy_from_slice(kept)).await?;
        let window = limits::OUTPUT_WINDOW_BYTES;
        let text = |bytes: &[u8]| shown(bytes).map(|(shown, _)| shown).collect::<String>();
        let (head, tail) = kept.split_at(kept.len().min(window));
        Ok(OutputCapture {
            head: text(head),
            tail: text(&tail[tail.len().saturating_sub(window)..]),
            truncated: tail.len() > window,
            bytes: ByteCount::new(kept.len() as u64),
            artifact,
            redactions: None,
        })
    }
}

#[async_trait]
impl SandboxPort for SimSandbox {
    fn backend_id(&self) -> &BackendId {
        &self.id
    }

    async fn inspect_capabilities(&self) -> Result<CapabilityManifest, SandboxError> {
        let fault = self.begin(Verb::Inspect, None).await?;
        if fault == Some(SandboxFault::LosesReply) {
            std::future::pending::<()>().await;
        }
        self.faults.pass(Cut::SandboxAnswered).await;
        Ok(self.manifest.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    async fn allocate(&self, spec: SandboxSpec) -> Result<SandboxLease, SandboxError> {
        let fault = self.begin(Verb::Allocate, None).await?;
        let mut lease = self.lived(|lives| lives.allocate(&self.id, spec));
        let id = lease.lease.clone();
        match fault {
            Some(SandboxFault::AnotherRun) => lease.lease = another_run(),
            Some(SandboxFault::AnotherLife) => lease.incarnation = another_life(),
            _ => {}
        }
        self.end(fault, &id, lease).await
    }

    async fn write_files(&self, lease: &SandboxLease, batch: FileBatch) -> Result<FileReceipt, SandboxError> {
        let fault = self.begin(Verb::Write, Some(lease)).await?;
        if fault == Some(SandboxFault::Vanishes) {
            self.lived(|lives| lives.remove(&lease.lease));
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
        let mut receipt = self.lived(|lives| lives.bring(lease, batch.tree, files))?;
        if fault == Some(SandboxFault::AnotherLife) {
            receipt.incarnation = another_life();
        }
        self.end(fault, &lease.lease, receipt).await
    }

    async fn execute_named(
        &self,
        lease: &SandboxLease,
        command: NamedCommand,
        abort: AbortSignal,
    ) -> Result<ExecutionObservation, SandboxError> {
        let fault = self.begin(Verb::Execute, Some(lease)).await?;
        let observation = self.execute(lease, command, abort, fault).await?;
        self.end(fault, &lease.lease, observation).await
    }

    /// Exposes whatever it is asked to where the manifest says that it has previews, and asks nobody.
    async fn expose_preview(
        &self,
        lease: &SandboxLease,
        policy: PreviewPolicy,
    ) -> Result<PreviewGrant, SandboxError> {
        let preview = self.manifest.lock().unwrap_or_else(PoisonError::into_inner).preview;
        if preview == Preview::Disabled {
            return Err(SandboxError::PreviewDenied);
        }
        let SandboxLease { lease, incarnation, .. } = lease.clone();
        Ok(PreviewGrant { incarnation, lease, port: policy.port })
    }

    async fn revoke_preview(&self, grant: &PreviewGrant) -> Result<RevocationReceipt, SandboxError> {
        Ok(RevocationReceipt { lease: grant.lease.clone(), was_exposed: false })
    }

    async fn cancel(
        &self,
        lease: &SandboxLease,
        _: &StopReason,
    ) -> Result<CancellationReceipt, SandboxError> {
        let fault = self.begin(Verb::Cancel, Some(lease)).await?;
        let killed_processes =
            self.lived(|known| if known.is_current(lease) { known.kill(&lease.lease) } else { 0 });
        let mut receipt = CancellationReceipt {
            incarnation: lease.incarnation.clone(),
            lease: lease.lease.clone(),
            killed_processes,
            remaining_processes: u32::from(fault == Some(SandboxFault::Remains)),
        };
        misdirect(fault, &mut receipt.lease, &mut receipt.incarnation);
        self.end(fault, &lease.lease, receipt).await
    }

    async fn destroy(&self, lease: &SandboxLease, lives: Lives) -> Result<DestructionReceipt, SandboxError> {
        let fault = self.begin(Verb::Destroy, Some(lease)).await?;
        let mut receipt = DestructionReceipt {
            incarnation: lease.incarnation.clone(),
            lease: lease.lease.clone(),
            remaining: ["processes", "files"].map(|surface| (surface.to_owned(), 0)).to_vec(),
        };
        let is_elsewhere = misdirect(fault, &mut receipt.lease, &mut receipt.incarnation);
        if fault == Some(SandboxFault::Remains) {
            receipt.remaining[1].1 = 1;
        } else if !is_elsewhere {
            self.lived(|known| {
                if lives == Lives::Every || known.is_current(lease) {
                    known.remove(&lease.lease);
                }
            });
        }
        self.end(fault, &lease.lease, receipt).await
    }
}

/// As much of a stream as is kept.
fn within(bytes: &[u8], limit: ByteCount) -> &[u8] {
    &bytes[..bytes.len().min(usize::try_from(limit.get()).unwrap_or(usize::MAX))]
}

fn another_run() -> LeaseId {
    "lease_00000000000000000000000000000000".parse().unwrap()
}

fn another_life() -> Incarnation {
    Incarnation::new("inc_another-life").unwrap()
}

/// Lets a receipt be about another sandbox where that is what goes wrong, and answers whether it is.
fn misdirect(fault: Option<SandboxFault>, lease: &mut LeaseId, incarnation: &mut Incarnation) -> bool {
    match fault {
        Some(SandboxFault::AnotherRun) => *lease = another_run(),
        Some(SandboxFault::AnotherLife | SandboxFault::Repeats) => *incarnation = another_life(),
        _ => return false,
    }
    true
}
