use std::sync::Arc;

use ambit_blueprint::{Document, builtin};
use ambit_ids::{
    ByteCount, Digest, DurationMs, ExecutionLimits, PathSet, ReceiptId, RunId, Scope, VolumeMount,
};
use ambit_ports::AbortHandle;
use ambit_ports::blobs::BlobStore as _;
use ambit_ports::sandbox::{
    BatchFile, BatchFileKind, FileBatch, NamedCommand, Preview, PreviewGrant, PreviewPolicy, SandboxLease,
    Sight, Tap,
};
use ambit_run::StopReason;
use ambit_sandboxes::{Needs, Sandboxes, SandboxesError};
use ambit_simulation::{
    Execution, Faults, MemoryBlobs, Outcome, SandboxFault, SimClock, SimSandbox, Verb, honest_manifest,
    simulate,
};

const LIMITS: ExecutionLimits = ExecutionLimits {
    memory_bytes: ByteCount::new(1 << 20),
    processes: 8,
    cpu_millis: 1_000,
    cpu_time_ms: DurationMs::new(1_000),
    wall_ms: DurationMs::new(1_000),
    disk_bytes: ByteCount::new(1 << 20),
    output_bytes: ByteCount::new(1 << 10),
};

pub(crate) struct Bench {
    pub(crate) port: Arc<SimSandbox>,
    blobs: MemoryBlobs,
    pub(crate) sandboxes: Sandboxes,
    scope: Scope,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::of(Outcome::passes())
    }

    /// A bench on which every command ends so.
    fn of(outcome: Outcome) -> Self {
        let blobs = MemoryBlobs::default();
        let judge = move |_: &Execution<'_>| outcome.clone();
        let port = Arc::new(SimSandbox::new(SimClock::start(), Faults::default(), judge));
        let scope = Scope { organization: "acme".parse().unwrap(), project: "shop".parse().unwrap() };
        Self { sandboxes: Sandboxes::new(port.clone(), Arc::new(blobs.clone())), port, blobs, scope }
    }

    pub(crate) fn needs(&self) -> Needs {
        Needs {
            scope: self.scope.clone(),
            run: RunId::new("run_000001").unwrap(),
            image: Digest::of(b"image"),
            limits: LIMITS,
            fixtures: Vec::new(),
            volumes: Vec::new(),
        }
    }

    pub(crate) async fn allocate(&self) -> Result<SandboxLease, SandboxesError> {
        let manifest = self.sandboxes.measure().await.unwrap();
        Ok(self.sandboxes.allocate(self.needs(), &manifest).await?.receipt)
    }

    /// A tree of one file.
    async fn batch(&self, text: &str) -> FileBatch {
        let bytes = bytes::Bytes::copy_from_slice(text.as_bytes());
        let size = ByteCount::new(bytes.len() as u64);
        let content = self.blobs.put(&self.scope, bytes).await.unwrap();
        let file = BatchFile { path: "a.txt".parse().unwrap(), kind: BatchFileKind::File, content, size };
        let entry = format!("ambit tree 1\nfile {} {} 5 a.txt\n", content.to_hex(), size.get());
        FileBatch { tree: Digest::of(entry.as_bytes()), files: vec![file] }
    }

    async fn execute(
        &self,
        lease: &SandboxLease,
        batch: FileBatch,
        number: u32,
    ) -> Result<(), SandboxesError> {
        self.execute_with(lease, batch, number, Vec::new()).await
    }

    async fn execute_with(
        &self,
        lease: &SandboxLease,
        batch: FileBatch,
        number: u32,
        volumes: Vec<VolumeMount>,
    ) -> Result<(), SandboxesError> {
        let command = NamedCommand { volumes, ..command(batch.tree, number) };
        let (_handle, abort) = AbortHandle::new();
        self.sandboxes.execute(lease, batch, command, abort).await.map(|_| ())
    }
}

fn command(tree: Digest, number: u32) -> NamedCommand {
    NamedCommand {
        gate: "unit".parse().unwrap(),
        effect: format!("run_000001.call.{number}").parse().unwrap(),
        tree,
        argv: vec!["check".to_owned()],
        environment: Vec::new(),
        workdir: None,
        limits: LIMITS,
        redactor: Default::default(),
        volumes: Vec::new(),
        outputs: Vec::new(),
        watched: PathSet::default(),
        tap: None,
    }
}

/// Both streams of a command that goes on are seen, as far as they arrive, and end with it.
#[test]
fn what_arrives_is_seen_before_the_command_has_ended() {
    let outcome = Outcome { stderr: b"\x1b[1mwarning\n".to_vec(), ..Outcome::passes() };
    let bytes = outcome.travelling().len();
    for (fault, seen_of_it) in [
        (None, vec!["ok\n", "\u{fffd}[1mwarning\n"]),
        (Some(SandboxFault::CutAt(5 + 3 + 5 + 4)), vec!["ok\n", "\u{fffd}[1m"]),
        (Some(SandboxFault::CutAt(bytes - 1)), vec!["ok\n", "\u{fffd}[1mwarning\n"]),
    ] {
        simulate(async {
            let bench = Bench::of(outcome.clone().after(DurationMs::new(500)));
            let lease = bench.allocate().await.unwrap();
            let batch = bench.batch("one\n").await;
            let ((tap, mut watcher), (_handle, abort)) = (Tap::new(), AbortHandle::new());
            let command = NamedCommand { tap: Some(tap), ..command(batch.tree, 1) };
            if let Some(fault) = fault {
                bench.port.plan(Verb::Execute, 0, fault);
            }
            let running = bench.sandboxes.execute(&lease, batch, command, abort);
            tokio::pin!(running);
            let mut texts = Vec::new();
            while texts.len() < 2 {
                tokio::select! {
                    biased;
                    ended = &mut running => panic!("{texts:?} is all that was seen before {ended:?}"),
                    sight = watcher.next() => match sight {
                        Some(Sight::Text { text, .. }) => texts.push(text),
                        other => panic!("{other:?}"),
                    },
                }
            }
            assert_eq!(texts, seen_of_it);
            let observed = running.await.unwrap();
            assert_eq!((observed.stdout.head, observed.stderr.head), (texts[0].clone(), texts[1].clone()));
            assert_eq!(watcher.next().await, None);
        });
    }
}

// proves E-I04 E-P05
// break crates/control-plane/sandboxes/src/lib.rs: `Ok(self.blobs.put(scope, bytes.into_bytes().into()).await?)` -> `Ok(bytes.digest()).inspect(|_| { let _ = scope; })`
#[test]
fn what_was_measured_and_every_receipt_is_kept_under_its_digest() {
    simulate(async {
        let bench = Bench::new();
        let manifest = bench.sandboxes.measure().await.unwrap();
        assert_eq!(manifest, honest_manifest(&manifest.backend_id));
        let kept = bench.sandboxes.allocate(bench.needs(), &manifest).await.unwrap();
        let cancelled = bench.sandboxes.cancel(&kept.receipt, &StopReason::CustomerCancelled).await.unwrap();
        let destroyed = bench.sandboxes.destroy(&kept.receipt).await.unwrap();
        for (digest, word) in [
            (kept.digest, "evidenceProbes"),
            (cancelled.digest, "killedProcesses"),
            (destroyed.digest, "remaining"),
        ] {
            let bytes = bench.blobs.get(&bench.scope, digest, ByteCount::new(1 << 20)).await.unwrap();
            assert!(String::from_utf8_lossy(&bytes).contains(word), "{word}");
        }
        assert!(bench.port.live().is_empty());
        bench.sandboxes.destroy(&kept.receipt).await.unwrap();
    });
}

#[test]
fn a_tree_is_brought_once_to_each_life_of_a_sandbox() {
    simulate(async {
        let bench = Bench::new();
        let lease = bench.allocate().await.unwrap();
        for number in 0..3 {
            bench.execute(&lease, bench.batch("one\n").await, number).await.unwrap();
        }
        assert_eq!(bench.port.asked(Verb::Write), 1);
        bench.execute(&lease, bench.batch("another\n").await, 3).await.unwrap();
        assert_eq!(bench.port.asked(Verb::Write), 2);
        bench.port.vanish();
        let gone = bench.execute(&lease, bench.batch("one\n").await, 4).await.unwrap_err();
        assert_eq!(gone.code(), "SANDBOX_GONE");
        let again = bench.allocate().await.unwrap();
        assert_eq!((again.lease == lease.lease, again.incarnation == lease.incarnation), (true, false));
        bench.execute(&again, bench.batch("one\n").await, 5).await.unwrap();
        assert_eq!(bench.port.asked(Verb::Write), 3);
        assert_eq!(bench.port.executed().len(), 5);
    });
}

// proves E-A12 E-I01
// break crates/control-plane/sandboxes/src/lib.rs: `return Err(SandboxesError::AnotherRun);` -> `{}`
// break crates/control-plane/sandboxes/src/lib.rs: `if !is_about_it || !receipt.is_proof() {` -> `if !receipt.is_proof() {`
// break crates/control-plane/sandboxes/src/lib.rs: `if observation.incarnation != lease.incarnation || observation.effect != effect {` -> `if observation.effect != effect {`
#[test]
fn an_answer_about_another_sandbox_or_another_life_counts_for_nothing() {
    simulate(async {
        let bench = Bench::new();
        bench.port.plan(Verb::Allocate, 0, SandboxFault::AnotherRun);
        assert_eq!(bench.allocate().await.unwrap_err().code(), "SANDBOX_ANOTHER_RUN");
        let lease = bench.allocate().await.unwrap();
        bench.port.plan(Verb::Execute, 0, SandboxFault::AnotherLife);
        let batch = bench.batch("one\n").await;
        assert_eq!(bench.execute(&lease, batch, 0).await.unwrap_err().code(), "SANDBOX_ANOTHER_LIFE");
        bench.port.plan(Verb::Destroy, 0, SandboxFault::AnotherRun);
        let unproven = bench.sandboxes.destroy(&lease).await.unwrap_err();
        assert_eq!(unproven.code(), "DESTRUCTION_UNPROVEN");
        bench.port.plan(Verb::Destroy, 0, SandboxFault::Remains);
        assert_eq!(bench.sandboxes.destroy(&lease).await.unwrap_err().code(), "DESTRUCTION_UNPROVEN");
        bench.port.plan(Verb::Cancel, 0, SandboxFault::Remains);
        let remain = bench.sandboxes.cancel(&lease, &StopReason::CustomerCancelled).await.unwrap_err();
        assert_eq!(remain.code(), "PROCESSES_REMAIN");
        assert_eq!(bench.port.live().len(), 1, "it is still there to be removed");
        bench.sandboxes.destroy(&lease).await.unwrap();
    });
}

// proves E-P04 E-P06
// break crates/control-plane/sandboxes/src/lib.rs: `lease: SandboxLease::id_of(scope, run),` -> `lease: SandboxLease::id_of(scope, &RunId::new("run_another").map_err(|_| SandboxesError::AnotherLife)?),`
#[test]
fn whoever_knows_the_run_removes_what_was_begun_for_it() {
    simulate(async {
        let bench = Bench::new();
        bench.allocate().await.unwrap();
        let needs = bench.needs();
        let another_process = Sandboxes::new(bench.port.clone(), Arc::new(bench.blobs.clone()));
        another_process.destroy_every(&needs.scope, &needs.run, needs.image).await.unwrap();
        assert!(bench.port.live().is_empty());
    });
}

#[test]
fn a_command_is_refused_a_volume_that_its_sandbox_was_made_without() {
    simulate(async {
        let bench = Bench::new();
        let known = VolumeMount { name: "cargo".parse().unwrap(), digest: Digest::of(b"crates") };
        let manifest = bench.sandboxes.measure().await.unwrap();
        let needs = Needs { volumes: vec![known.clone()], ..bench.needs() };
        let lease = bench.sandboxes.allocate(needs, &manifest).await.unwrap().receipt;
        let batch = || bench.batch("one\n");
        bench.execute_with(&lease, batch().await, 0, vec![known.clone()]).await.unwrap();
        bench.execute(&lease, batch().await, 1).await.unwrap();
        let renamed = VolumeMount { name: "data".parse().unwrap(), ..known.clone() };
        let other = VolumeMount { digest: Digest::of(b"other"), ..known.clone() };
        for (number, unknown) in [(2, renamed), (3, other)] {
            let refused =
                bench.execute_with(&lease, batch().await, number, vec![known.clone(), unknown]).await;
            assert_eq!(refused.unwrap_err().code(), "SANDBOX_VOLUME_MISSING");
        }
        assert_eq!(bench.port.executed().len(), 2);
    });
}

/// Whatever a backend could do: under the profile nothing is exposed without a grant, nor by a backend without previews.
// proves E-I13 C12
// break crates/control-plane/sandboxes/src/preview.rs: `if policy.grant.is_none() {` -> `if false {`
#[test]
fn nothing_is_exposed_without_a_grant_whatever_the_backend_could_do() {
    simulate(async {
        let bench = Bench::new();
        let Document::Profile(profile) = builtin::SECURE_GENERATION_V1.parse().unwrap() else { panic!() };
        let required = profile.spec.required.preview;
        let lease = bench.allocate().await.unwrap();
        let receipt = ReceiptId::new("apr_000001").unwrap();
        for preview in [Preview::Disabled, Preview::Authenticated] {
            bench.port.alter_manifest(|manifest| manifest.preview = preview);
            let ask =
                |grant| bench.sandboxes.expose_preview(required, &lease, PreviewPolicy { port: 80, grant });
            assert_eq!(ask(None).await.unwrap_err().code(), "PREVIEW_DENIED", "{preview:?}");
            let granted = ask(Some(receipt.clone())).await;
            assert_eq!(granted.is_ok(), preview == Preview::Authenticated, "{preview:?}");
        }
        let PreviewGrant { port, .. } = bench
            .sandboxes
            .expose_preview(required, &lease, PreviewPolicy { port: 80, grant: Some(receipt) })
            .await
            .unwrap();
        let grant = PreviewGrant { incarnation: lease.incarnation.clone(), lease: lease.lease.clone(), port };
        let kept = bench.sandboxes.revoke_preview(&lease, &grant).await.unwrap();
        assert!(bench.blobs.get(&bench.scope, kept.digest, ByteCount::new(1 << 10)).await.is_ok());
        assert!(!kept.receipt.was_exposed);
    });
}
