use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use ambit_evidence::v1::{Body, RunBody};
use ambit_ids::{ByteCount, Digest, limits};
use ambit_orchestrator::{RunRef, view};
use ambit_ports::sandbox::ExecutionObservation;
use ambit_ports::signer::KeyRole;
use ambit_ports::store::StreamId;
use ambit_run::{Dossier, GateRecord, State};
use ambit_source_directory::export as export_tree;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::compose::Services;
use crate::context::Context;
use crate::failure::Failure;
use crate::verbs::artifacts::{artifacts, changes};
use crate::verbs::run_view::{as_of, links};

/// Writes everything about a run to a new directory: what it made in one document, the revision, the sandbox manifest,
/// the patches, the gates with their artifacts, the trace, the documents that it is pinned to, and the proof of the
/// cleanup.
pub(crate) async fn run(context: &Context, named: &str, out: &Path) -> Result<Answer, Failure> {
    let services = context.open()?;
    let (run, state) = services.run(&context.scope, named).await?;
    if out.exists() {
        return Err(Failure::new("USAGE_DIRECTORY", format!("{} exists", out.display()))
            .help("name a directory that does not exist"));
    }
    let draft = out.with_extension("partial");
    // A directory of an earlier try that was cut off holds nothing that is not written again.
    let _ = fs::remove_dir_all(&draft);
    let mut bundle =
        Bundle { services: &services, context, run: &run, dir: draft.clone(), outputs: Vec::new() };
    bundle.write(&state).await?;
    fs::rename(&draft, out).map_err(|error| io(out, &error))?;
    let outputs = bundle.outputs;
    let told: String = outputs.iter().take(TOLD).map(|path| format!("  {path}\n")).collect();
    let more = outputs.len().checked_sub(TOLD).filter(|more| *more > 0);
    let more = more.map(|more| format!("  and {more} more\n")).unwrap_or_default();
    let kept = if outputs.is_empty() { "" } else { "what its gates kept is in\n" };
    Ok(Answer::new(
        format!("{} is written to {}\n{kept}{told}{more}", run.run, out.display()),
        json!({"run": run.run, "directory": out, "outputs": outputs}),
    ))
}

struct Bundle<'a> {
    services: &'a Services,
    context: &'a Context,
    run: &'a RunRef,
    dir: PathBuf,
    /// Where the outputs of gates are in it, as text.
    outputs: Vec<String>,
}

/// The most outputs that are told.
const TOLD: usize = 10;

impl Bundle<'_> {
    async fn write(&mut self, state: &State) -> Result<(), Failure> {
        let Some(dossier) = state.dossier() else {
            return Err(Failure::new("RUN_NOT_FOUND", "there is no such run"));
        };
        self.make("")?;
        let links = links(self.services, self.run).await?;
        let seen = view(state, as_of(self.services, &links, state)?);
        self.json("run.json", &serde_json::to_value(seen).unwrap_or(Value::Null))?;
        self.trace("trace", &self.run.stream()).await?;
        self.trace("project", &StreamId::Project(self.run.scope.clone())).await?;
        self.documents(dossier).await?;
        self.revision(dossier).await?;
        self.patches(dossier).await?;
        self.artifacts(state, dossier).await?;
        self.make("gates")?;
        for record in dossier.gates.records() {
            self.gate(record).await?;
        }
        self.receipts().await
    }

    fn make(&self, name: impl AsRef<Path>) -> Result<PathBuf, Failure> {
        let path = self.dir.join(name);
        fs::create_dir_all(&path).map_err(|error| io(&path, &error))?;
        Ok(path)
    }

    fn file(&self, name: impl AsRef<Path>, bytes: &[u8]) -> Result<(), Failure> {
        let path = self.dir.join(name);
        fs::write(&path, bytes).map_err(|error| io(&path, &error))
    }

    fn json(&self, name: &str, value: &Value) -> Result<(), Failure> {
        self.file(name, format!("{value:#}\n").as_bytes())
    }

    async fn blob(&self, digest: Digest) -> Result<Vec<u8>, Failure> {
        let limit = ByteCount::new(limits::FILE_BYTES);
        let bytes = self
            .services
            .blobs
            .get(&self.context.scope, digest, limit)
            .await
            .map_err(|error| Failure::of(error.code(), &error))?;
        Ok(bytes.to_vec())
    }

    /// The records of a stream, one a line, exactly as they are, and the signed head with the key that signed it.
    async fn trace(&self, name: &str, stream: &StreamId) -> Result<(), Failure> {
        let failed = |error: ambit_journal::JournalError| Failure::of(error.code(), &error);
        let loaded = self.services.journal.load(stream).await.map_err(failed)?;
        let rows = self.services.journal.rows(stream).await.map_err(failed)?;
        let mut lines = Vec::new();
        for row in rows.iter().take(loaded.links.len()) {
            lines.extend_from_slice(&row.bytes);
            lines.push(b'\n');
        }
        self.file(format!("{name}.jsonl"), &lines)?;
        let head =
            self.services.store.head(stream).await.map_err(|error| Failure::of(error.code(), &error))?;
        let key = self
            .services
            .signer
            .public_key(KeyRole::Log)
            .await
            .map_err(|error| Failure::of(error.code(), &error))?;
        let Some(head) = head else { return Ok(()) };
        let signature = ambit_evidence::signature::to_hex(&head.signature.bytes);
        self.json(
            &format!("{name}-head.json"),
            &json!({
                "stream": stream.to_string(), "seq": head.seq.0, "leaf": head.leaf, "signature": signature,
                "publicKey": ambit_evidence::signature::to_hex(&key.bytes),
            }),
        )
    }

    /// What the run is pinned to, as canonical bytes under readable names.
    async fn documents(&self, dossier: &Dossier) -> Result<(), Failure> {
        self.make("documents")?;
        let pins = &dossier.pins;
        let named = [
            ("blueprint", pins.blueprint.digest),
            ("catalog", pins.catalog),
            ("profile", pins.profile.digest),
            ("policy-set", pins.policy),
        ];
        for (name, digest) in named {
            self.file(format!("documents/{name}.json"), &self.blob(digest).await?)?;
        }
        Ok(())
    }

    async fn revision(&self, dossier: &Dossier) -> Result<(), Failure> {
        let tree = self
            .services
            .revisions
            .load(&self.context.scope, dossier.head)
            .await
            .map_err(|error| Failure::of(error.code(), &error))?;
        export_tree(&tree, &self.context.scope, self.services.blobs.as_ref(), &self.dir.join("revision"))
            .await
            .map_err(|error| Failure::of(error.code(), &error))?;
        self.json("revision.json", &json!({"revision": dossier.pins.revision, "tree": dossier.head}))
    }

    /// Every patch in order, as the agent wrote it and in canonical form.
    async fn patches(&self, dossier: &Dossier) -> Result<(), Failure> {
        self.make("patches")?;
        for (number, patch) in dossier.patches.iter().enumerate() {
            let name = format!("patches/{:02}", number + 1);
            self.file(format!("{name}.patch"), &self.blob(patch.canonical).await?)?;
            self.file(format!("{name}.proposed.patch"), &self.blob(patch.proposed).await?)?;
        }
        Ok(())
    }

    /// The patch from the base to the newest tree, and the document that says what the run made.
    async fn artifacts(&self, state: &State, dossier: &Dossier) -> Result<(), Failure> {
        let changes = changes(self.services, self.run, dossier).await?;
        self.file("changes.patch", &changes.text)?;
        let made = artifacts(self.services, self.run, state, dossier, &changes).await?;
        let bytes = made.to_bytes().map_err(|error| Failure::of(error.code(), &error))?;
        self.file("artifacts.json", &bytes)
    }

    async fn gate(&mut self, record: &GateRecord) -> Result<(), Failure> {
        let name = format!("gates/{}-{}", record.gate, record.attempt);
        self.make(&name)?;
        let bytes = self.blob(record.artifact).await?;
        self.file(format!("{name}/observation.json"), &bytes)?;
        let seen: ExecutionObservation =
            serde_json::from_slice(&bytes).map_err(|error| Failure::of("OBSERVATION_UNREADABLE", &error))?;
        self.file(format!("{name}/stdout"), &self.blob(seen.stdout.artifact).await?)?;
        self.file(format!("{name}/stderr"), &self.blob(seen.stderr.artifact).await?)?;
        for output in &seen.outputs {
            let place = Path::new(&name).join("outputs").join(OsStr::from_bytes(output.path.as_bytes()));
            self.make(place.parent().unwrap_or(Path::new(&name)))?;
            self.file(&place, &self.blob(output.artifact).await?)?;
            self.outputs.push(format!("{name}/outputs/{}", output.path));
        }
        Ok(())
    }

    /// The manifests that sandboxes were allocated under, and the receipts of their end.
    async fn receipts(&self) -> Result<(), Failure> {
        let loaded = self
            .services
            .journal
            .load(&self.run.stream())
            .await
            .map_err(|error| Failure::of(error.code(), &error))?;
        self.make("cleanup")?;
        let mut manifests = Vec::new();
        for link in &loaded.links {
            let Body::Run(body) = &link.record.body else { continue };
            match body.as_ref() {
                RunBody::LeaseAllocated { manifest, .. } => {
                    let bytes = self.blob(*manifest).await?;
                    manifests.push(serde_json::from_slice::<Value>(&bytes).unwrap_or(Value::Null));
                }
                RunBody::ProcessTerminated { receipt, .. } => {
                    self.file("cleanup/cancellation.json", &self.blob(*receipt).await?)?;
                }
                RunBody::SandboxDestroyed { receipt } => {
                    self.file("cleanup/destruction.json", &self.blob(*receipt).await?)?;
                }
                _ => {}
            }
        }
        self.json("sandbox-manifest.json", &Value::Array(manifests))
    }
}

fn io(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new("EXPORT_FAILED", format!("{} cannot be written: {error}", path.display()))
}
