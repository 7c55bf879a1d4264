use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};

use ambit_gates::Ending;
use ambit_ids::{BackendId, ByteCount, Digest, DurationMs, Incarnation, Scope, UnixMs};
use ambit_ports::AbortSignal;
use ambit_ports::blobs::BlobStore;
use ambit_ports::sandbox::{
    BatchFile, Cancellation, CancellationReceipt, CapabilityManifest, DestructionReceipt, Egress, Enforcer,
    ExecutionObservation, ExportedOutput, FileBatch, FileReceipt, Isolation, LimitEnforcement, Lives,
    ManifestVersion, NamedCommand, OutputCapture, Preview, PreviewGrant, PreviewPolicy, Probe, ProbeFamily,
    ProviderAudit, RevocationReceipt, SandboxError, SandboxLease, SandboxPort, SandboxSpec, SecretDelivery,
    Watch, Written,
};
use ambit_run::StopReason;
use async_trait::async_trait;

/// What goes wrong with the next execution or removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The sandbox is gone when a command is to run.
    Gone,
    /// The command never ends.
    Hangs,
    /// Something remains when the sandbox is to be removed.
    Remains,
}

/// A sandbox whose commands look for a text in a file of the tree: deterministic, and judged by the real bytes.
pub(crate) struct LookingSandbox {
    backend: BackendId,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    lives: u32,
    blobs: Option<Arc<dyn BlobStore>>,
    trees: BTreeMap<Digest, Vec<BatchFile>>,
    troubles: VecDeque<Trouble>,
}

impl LookingSandbox {
    pub(crate) fn new() -> Self {
        Self { backend: BackendId::new("looking").unwrap(), inner: Mutex::default() }
    }

    /// What goes wrong from now on, in this order, and nothing else.
    pub(crate) fn expect(&self, troubles: impl IntoIterator<Item = Trouble>) {
        self.inner.lock().unwrap().troubles = troubles.into_iter().collect();
    }

    fn meets(&self, trouble: Trouble) -> bool {
        let mut inner = self.inner.lock().unwrap();
        let meets = inner.troubles.front() == Some(&trouble);
        if meets {
            inner.troubles.pop_front();
        }
        meets
    }

    async fn capture(&self, scope: &Scope, text: String) -> OutputCapture {
        let blobs = self.inner.lock().unwrap().blobs.clone().unwrap();
        let bytes = ByteCount::new(text.len() as u64);
        let artifact = blobs.put(scope, text.clone().into_bytes().into()).await.unwrap();
        OutputCapture { head: text, tail: String::new(), truncated: false, bytes, artifact, redactions: None }
    }
}

/// One test for every name that a file gives a value, in TAP.
fn points(text: &str) -> String {
    let names: Vec<&str> =
        text.lines().filter_map(|line| line.split_once(" = ")).map(|(name, _)| name).collect();
    let points = names.iter().enumerate().map(|(at, name)| format!("ok {} - {name}\n", at + 1));
    format!("1..{}\n{}", names.len(), points.collect::<String>())
}

#[async_trait]
impl SandboxPort for LookingSandbox {
    fn backend_id(&self) -> &BackendId {
        &self.backend
    }

    async fn inspect_capabilities(&self) -> Result<CapabilityManifest, SandboxError> {
        let families = [
            ("positive", ProbeFamily::Positive),
            ("denied", ProbeFamily::Denied),
            ("failure", ProbeFamily::Failure),
            ("cancellation", ProbeFamily::Cancellation),
            ("cleanup", ProbeFamily::Cleanup),
            ("recovery", ProbeFamily::Recovery),
        ];
        let probe = |(id, family): (&str, ProbeFamily)| Probe {
            id: id.to_owned(),
            family,
            passed: true,
            observed: "as it must be".to_owned(),
        };
        Ok(CapabilityManifest {
            manifest_version: ManifestVersion::V1,
            backend_id: self.backend.clone(),
            adapter_version: "1".to_owned(),
            isolation: Isolation::DedicatedSandboxPerRun,
            egress: Egress::DenyAll,
            secret_delivery: SecretDelivery::NoneBound,
            preview: Preview::Disabled,
            cancellation: Cancellation::ProcessStopThenDestroy,
            provider_audit: ProviderAudit::NotReliedUpon,
            limits: LimitEnforcement {
                memory: Enforcer::CgroupV2,
                processes: Enforcer::CgroupV2,
                cpu: Enforcer::CgroupV2,
            },
            evidence_probes: families.into_iter().map(probe).collect(),
            lacks: Vec::new(),
            advisories: Vec::new(),
            environment: Digest::of(b"environment"),
            measured_at: UnixMs::new(1_700_000_000_000),
        })
    }

    async fn allocate(&self, spec: SandboxSpec) -> Result<SandboxLease, SandboxError> {
        let mut inner = self.inner.lock().unwrap();
        inner.lives += 1;
        inner.blobs = Some(spec.blobs);
        Ok(SandboxLease {
            lease: SandboxLease::id_of(&spec.scope, &spec.run),
            incarnation: Incarnation::new(format!("inc_{:06}", inner.lives)).unwrap(),
            backend: self.backend.clone(),
            run: spec.run,
            scope: spec.scope,
            image: spec.image,
        })
    }

    async fn write_files(&self, lease: &SandboxLease, batch: FileBatch) -> Result<FileReceipt, SandboxError> {
        let receipt = FileReceipt {
            incarnation: lease.incarnation.clone(),
            tree: batch.tree,
            files: batch.files.len() as u64,
            bytes: ByteCount::new(batch.files.iter().map(|file| file.size.get()).sum()),
        };
        self.inner.lock().unwrap().trees.insert(batch.tree, batch.files);
        Ok(receipt)
    }

    async fn execute_named(
        &self,
        lease: &SandboxLease,
        command: NamedCommand,
        mut abort: AbortSignal,
    ) -> Result<ExecutionObservation, SandboxError> {
        if self.meets(Trouble::Gone) {
            return Err(SandboxError::Gone(lease.lease.clone()));
        }
        if self.meets(Trouble::Hangs) {
            abort.raised().await;
        }
        let [_, path, text] = command.argv.as_slice() else { panic!("{:?}", command.argv) };
        let (blobs, files) = {
            let inner = self.inner.lock().unwrap();
            (inner.blobs.clone().unwrap(), inner.trees[&command.tree].clone())
        };
        let file = files.iter().find(|file| file.path.to_string() == *path).unwrap();
        let bytes = blobs.get(&lease.scope, file.content, file.size).await.unwrap();
        let holds = String::from_utf8_lossy(&bytes).contains(text.as_str());
        let (out, err) = if holds {
            (format!("{path} holds it, says {}\n", command.gate), String::new())
        } else {
            (String::new(), format!("error: {path} does not hold {text:?}\n"))
        };
        let mut outputs = Vec::new();
        for declared in &command.outputs {
            // What the gate is not to touch is there as it was.
            if let Some(file) = files.iter().find(|file| file.path == declared.path) {
                let (artifact, bytes) = (file.content, file.size);
                outputs.push(ExportedOutput { path: declared.path.clone(), artifact, bytes });
                continue;
            }
            let report = match declared.path.file_name() {
                b"tests.tap" => points(&String::from_utf8_lossy(&bytes)),
                _ => format!("report of {} on {}\n", command.gate, command.tree),
            };
            let bytes = ByteCount::new(report.len() as u64);
            let artifact = blobs.put(&lease.scope, report.into_bytes().into()).await.unwrap();
            outputs.push(ExportedOutput { path: declared.path.clone(), artifact, bytes });
        }
        Ok(ExecutionObservation {
            incarnation: lease.incarnation.clone(),
            effect: command.effect,
            ending: Ending::Exited { code: u8::from(!holds) },
            breaches: BTreeSet::new(),
            stdout: self.capture(&lease.scope, out).await,
            stderr: self.capture(&lease.scope, err).await,
            outputs,
            refused_outputs: Vec::new(),
            duration_ms: DurationMs::new(3),
            cpu_ms: None,
            peak_memory_bytes: None,
            killed_processes: 0,
            signs: None,
            written: (!command.watched.0.is_empty()).then(|| Written {
                watch: Watch::Course,
                files: Vec::new(),
                emptied: Vec::new(),
            }),
            protected: None,
        })
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
        Ok(CancellationReceipt {
            incarnation: lease.incarnation.clone(),
            lease: lease.lease.clone(),
            killed_processes: 2,
            remaining_processes: 0,
        })
    }

    async fn destroy(&self, lease: &SandboxLease, lives: Lives) -> Result<DestructionReceipt, SandboxError> {
        // At the end of a run, not where room is made for another sandbox of it.
        if lives == Lives::Named && self.meets(Trouble::Remains) {
            let remaining = vec![("mounts".to_owned(), 1)];
            return Err(SandboxError::DestructionUnproven { lease: lease.lease.clone(), remaining });
        }
        Ok(DestructionReceipt {
            incarnation: lease.incarnation.clone(),
            lease: lease.lease.clone(),
            remaining: vec![("processes".to_owned(), 0), ("files".to_owned(), 0)],
        })
    }
}
