//! What a bundle has for people to read. It is made from records and blobs and from nothing else, so whoever verifies makes it
//! again and compares.

use std::collections::BTreeMap;
use std::sync::Arc;

use ambit_evidence::Link;
use ambit_evidence::v1::{Body, RunBody};
use ambit_ids::{Digest, Scope};
use ambit_ports::sandbox::ExecutionObservation;
use ambit_revisions::Revisions;
use ambit_run::{Dossier, GateRecord, State};
use serde::Serialize;
use serde_json::{Value, json};

use crate::artifacts::{artifacts, changes};
use crate::finding::{Finding, LinkName};
use crate::findings::refuting;
use crate::vault::{RECEIPT_BYTES, Vault, of_revision};

/// Where the bytes of a file come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readable {
    /// They are a blob as it is.
    Blob(Digest),
    /// They are made.
    Made(Vec<u8>),
}

impl Readable {
    /// The digest of the bytes.
    #[must_use]
    pub fn digest(&self) -> Digest {
        match self {
            Self::Blob(digest) => *digest,
            Self::Made(bytes) => Digest::of(bytes),
        }
    }
}

/// Whether a bundle can hold a file of this name beside those that were asked for before.
pub(crate) type Fits<'f> = &'f mut (dyn FnMut(&[u8]) -> bool + Send);

/// The files as they are gathered.
struct Files<'f> {
    fits: Fits<'f>,
    files: BTreeMap<String, Readable>,
    /// What a bundle has no name for.
    left_out: Vec<String>,
}

impl Files<'_> {
    fn blob(&mut self, name: impl Into<String>, digest: Digest) {
        self.files.insert(name.into(), Readable::Blob(digest));
    }

    /// A file whose name somebody else chose.
    fn foreign(&mut self, folder: &str, path: &ambit_ids::RepoPath, digest: Digest) {
        let name = [folder.as_bytes(), path.as_bytes()].join(&b'/');
        match String::from_utf8(name) {
            Ok(name) if (self.fits)(name.as_bytes()) => self.blob(name, digest),
            _ => self.left_out.push(format!("{folder}/{path}")),
        }
    }

    fn page(&mut self, name: &str, value: &impl Serialize) -> Result<(), Finding> {
        let value = serde_json::to_value(value).map_err(|error| unmade(name, &error))?;
        self.files.insert(name.to_owned(), Readable::Made(format!("{value:#}\n").into_bytes()));
        Ok(())
    }
}

fn member(name: &str) -> LinkName {
    LinkName::Member { name: name.to_owned() }
}

fn unmade(name: &str, error: &dyn std::error::Error) -> Finding {
    refuting(member(name), format!("it cannot be made: {error}"))
}

/// Every file of a run that people read, by its name in a bundle.
pub(crate) async fn files(
    state: &State,
    links: &[Link],
    vault: &Arc<Vault>,
    fits: Fits<'_>,
) -> Result<BTreeMap<String, Readable>, Finding> {
    let mut files = Files { fits, files: BTreeMap::new(), left_out: Vec::new() };
    let Some(dossier) = state.dossier() else { return Ok(files.files) };
    let (scope, revisions) = (&dossier.pins.scope, Revisions::new(vault.clone()));
    documents(dossier, &mut files);
    revision(dossier, &revisions, &mut files).await?;
    for (number, patch) in dossier.patches.iter().enumerate() {
        let name = format!("patches/{:02}", number + 1);
        files.blob(format!("{name}.patch"), patch.canonical);
        files.blob(format!("{name}.proposed.patch"), patch.proposed);
    }
    let changes = changes(&revisions, scope, dossier).await?;
    let made = artifacts(vault, state, dossier, &changes, &member("artifacts.json")).await?;
    let bytes = made.to_bytes().map_err(|error| unmade("artifacts.json", &error))?;
    files.files.insert("changes.patch".to_owned(), Readable::Made(changes.text));
    files.files.insert("artifacts.json".to_owned(), Readable::Made(bytes));
    for record in dossier.gates.records() {
        gate(record, scope, vault, &mut files).await?;
    }
    receipts(links, scope, vault, &mut files).await?;
    if !files.left_out.is_empty() {
        let left_out = std::mem::take(&mut files.left_out);
        files.page("left-out.json", &left_out)?;
    }
    Ok(files.files)
}

/// What the run is pinned to, as canonical bytes under readable names.
fn documents(dossier: &Dossier, files: &mut Files<'_>) {
    let pins = &dossier.pins;
    files.blob("documents/blueprint.json", pins.blueprint.digest);
    files.blob("documents/catalog.json", pins.catalog);
    files.blob("documents/profile.json", pins.profile.digest);
    files.blob("documents/policy-set.json", pins.policy);
}

/// The files of the newest tree. A link is a file that holds what it points to, since a bundle has no links.
async fn revision(dossier: &Dossier, revisions: &Revisions, files: &mut Files<'_>) -> Result<(), Finding> {
    let tree =
        revisions.load(&dossier.pins.scope, dossier.head).await.map_err(|error| of_revision(&error))?;
    let mut links = Vec::new();
    for (path, file) in tree.files() {
        if file.kind == ambit_revision::FileKind::Link {
            links.push(path.to_string());
        }
        files.foreign("revision", &path, file.content);
    }
    let page = json!({"revision": dossier.pins.revision, "tree": dossier.head, "links": links});
    files.page("revision.json", &page)
}

async fn gate(
    record: &GateRecord,
    scope: &Scope,
    vault: &Vault,
    files: &mut Files<'_>,
) -> Result<(), Finding> {
    let name = format!("gates/{}-{}", record.gate, record.attempt);
    let what = "the observation of an execution";
    let seen: ExecutionObservation = vault.read_value(scope, what, record.artifact).await?;
    files.blob(format!("{name}/observation.json"), record.artifact);
    files.blob(format!("{name}/stdout"), seen.stdout.artifact);
    files.blob(format!("{name}/stderr"), seen.stderr.artifact);
    for output in &seen.outputs {
        files.foreign(&format!("{name}/outputs"), &output.path, output.artifact);
    }
    Ok(())
}

/// The manifests that sandboxes were allocated under, and the receipts of their end.
async fn receipts(
    links: &[Link],
    scope: &Scope,
    vault: &Vault,
    files: &mut Files<'_>,
) -> Result<(), Finding> {
    let mut manifests = Vec::new();
    for link in links {
        let Body::Run(body) = &link.record.body else { continue };
        match body.as_ref() {
            RunBody::LeaseAllocated { manifest, .. } => {
                let bytes = vault.read(scope, "a sandbox manifest", *manifest, RECEIPT_BYTES).await?;
                manifests.push(serde_json::from_slice::<Value>(&bytes).unwrap_or(Value::Null));
            }
            RunBody::ProcessTerminated { receipt, .. } => {
                files.blob("cleanup/cancellation.json", *receipt);
            }
            RunBody::SandboxDestroyed { receipt } => files.blob("cleanup/destruction.json", *receipt),
            _ => {}
        }
    }
    files.page("sandbox-manifest.json", &manifests)
}
