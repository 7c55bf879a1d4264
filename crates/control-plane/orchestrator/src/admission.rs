use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ambit_blueprint::{
    Blueprint, CatalogCommand, Document, DocumentError, ExecutionCapabilityProfile, NamedCommandCatalog,
    PolicyBundle,
};
use ambit_broker::Ground;
use ambit_ids::{ByteCount, Digest, ExecutionLimits, RepoPath, Scope, VolumeMount, limits};
use ambit_ports::blobs::{BlobError, BlobStore};
use ambit_ports::sandbox::Fixture;
use ambit_revision::Tree;
use ambit_run::Pins;

/// Documents by their digest, read from the blobs of a project.
#[derive(Clone)]
pub struct Documents {
    blobs: Arc<dyn BlobStore>,
}

/// A document that a run needs and that cannot be had as it was.
#[derive(Debug, thiserror::Error)]
pub enum MissingDocument {
    /// It is gone or altered.
    #[error("{what} {digest} cannot be read")]
    Blob {
        /// What it is.
        what: &'static str,
        /// Its digest.
        digest: Digest,
        /// Why.
        #[source]
        source: BlobError,
    },
    /// It is no document of its kind.
    #[error("{what} {digest} is no such document")]
    Malformed {
        /// What it is.
        what: &'static str,
        /// Its digest.
        digest: Digest,
        /// Why.
        #[source]
        source: Box<DocumentError>,
    },
    /// It is a document of another kind.
    #[error("{what} {digest} is a document of another kind")]
    AnotherKind {
        /// What it should be.
        what: &'static str,
        /// Its digest.
        digest: Digest,
    },
}

impl MissingDocument {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Blob { source, .. } => source.code(),
            Self::Malformed { .. } => "DOCUMENT_MALFORMED",
            Self::AnotherKind { .. } => "DOCUMENT_KIND",
        }
    }
}

impl Documents {
    /// Documents in blobs.
    #[must_use]
    pub fn new(blobs: Arc<dyn BlobStore>) -> Self {
        Self { blobs }
    }

    /// The document of a digest.
    ///
    /// # Errors
    /// [`MissingDocument`] where it is gone, altered, or no document.
    pub async fn read(
        &self,
        scope: &Scope,
        what: &'static str,
        digest: Digest,
    ) -> Result<Document, MissingDocument> {
        let limit = ByteCount::new(limits::DOCUMENT_BYTES as u64 * 2);
        let bytes = self.blobs.get(scope, digest, limit).await.map_err(|source| MissingDocument::Blob {
            what,
            digest,
            source,
        })?;
        Document::parse(what, &bytes).map_err(|source| MissingDocument::Malformed {
            what,
            digest,
            source: Box::new(source),
        })
    }

    /// The blueprint of a digest.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn blueprint(&self, scope: &Scope, digest: Digest) -> Result<Blueprint, MissingDocument> {
        let what = "the blueprint";
        match self.read(scope, what, digest).await? {
            Document::Blueprint(blueprint) => Ok(*blueprint),
            _ => Err(MissingDocument::AnotherKind { what, digest }),
        }
    }

    /// The catalog of a digest.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn catalog(
        &self,
        scope: &Scope,
        digest: Digest,
    ) -> Result<NamedCommandCatalog, MissingDocument> {
        let what = "the command catalog";
        match self.read(scope, what, digest).await? {
            Document::Catalog(catalog) => Ok(catalog),
            _ => Err(MissingDocument::AnotherKind { what, digest }),
        }
    }

    /// The profile of a digest.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn profile(
        &self,
        scope: &Scope,
        digest: Digest,
    ) -> Result<ExecutionCapabilityProfile, MissingDocument> {
        let what = "the execution profile";
        match self.read(scope, what, digest).await? {
            Document::Profile(profile) => Ok(*profile),
            _ => Err(MissingDocument::AnotherKind { what, digest }),
        }
    }

    /// The policy bundle of a digest.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn bundle(&self, scope: &Scope, digest: Digest) -> Result<PolicyBundle, MissingDocument> {
        let what = "the policy bundle";
        match self.read(scope, what, digest).await? {
            Document::Bundle(bundle) => Ok(bundle),
            _ => Err(MissingDocument::AnotherKind { what, digest }),
        }
    }

    /// What a run stands on, by its pins.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn ground(&self, pins: &Pins) -> Result<Ground, MissingDocument> {
        let blueprint = self.blueprint(&pins.scope, pins.blueprint.digest).await?;
        let catalog = self.catalog(&pins.scope, pins.catalog).await?;
        Ok(Ground {
            pins: Arc::new(pins.clone()),
            blueprint: Arc::new(blueprint),
            catalog: Arc::new(catalog),
        })
    }
}

/// What gates need of one sandbox: an image, the widest limits, every fixture and every volume.
#[derive(Clone, Debug)]
pub(crate) struct SandboxNeeds {
    pub(crate) image: Digest,
    pub(crate) limits: ExecutionLimits,
    fixtures: BTreeMap<String, RepoPath>,
    volumes: BTreeSet<VolumeMount>,
}

/// Why the gates of a blueprint cannot share a sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NeedsConflict {
    NoCommand,
    Images(Digest, Digest),
    Fixture(String),
    Volumes,
}

/// The needs of some commands together.
pub(crate) fn sandbox_needs<'a>(
    commands: impl IntoIterator<Item = &'a CatalogCommand>,
) -> Result<SandboxNeeds, NeedsConflict> {
    let mut needs: Option<SandboxNeeds> = None;
    for command in commands {
        let wanted = command.resources.limits;
        let merged = needs.get_or_insert_with(|| SandboxNeeds {
            image: command.image,
            limits: wanted,
            fixtures: BTreeMap::new(),
            volumes: BTreeSet::new(),
        });
        if merged.image != command.image {
            return Err(NeedsConflict::Images(merged.image, command.image));
        }
        merged.volumes.extend(command.volumes.iter().cloned());
        if merged.volumes.len() > limits::RUN_VOLUMES {
            return Err(NeedsConflict::Volumes);
        }
        merged.limits = widest(&merged.limits, &wanted);
        for fixture in &command.fixtures {
            let name = fixture.name.as_str().to_owned();
            match merged.fixtures.get(&name) {
                Some(from) if *from != fixture.from => return Err(NeedsConflict::Fixture(name)),
                _ => merged.fixtures.insert(name, fixture.from.clone()),
            };
        }
    }
    needs.ok_or(NeedsConflict::NoCommand)
}

fn widest(a: &ExecutionLimits, b: &ExecutionLimits) -> ExecutionLimits {
    ExecutionLimits {
        memory_bytes: a.memory_bytes.max(b.memory_bytes),
        processes: a.processes.max(b.processes),
        cpu_millis: a.cpu_millis.max(b.cpu_millis),
        cpu_time_ms: a.cpu_time_ms.max(b.cpu_time_ms),
        wall_ms: a.wall_ms.max(b.wall_ms),
        disk_bytes: a.disk_bytes.max(b.disk_bytes),
        output_bytes: a.output_bytes.max(b.output_bytes),
    }
}

impl SandboxNeeds {
    /// The fixtures with their files, taken from the base revision: an agent that changes them in its own revision
    /// changes nothing here.
    pub(crate) fn fixtures(&self, base: &Tree) -> Vec<Fixture> {
        self.fixtures
            .iter()
            .map(|(name, from)| Fixture {
                name: name.clone(),
                files: ambit_revisions::batch(base, Some(from)),
            })
            .collect()
    }
}
