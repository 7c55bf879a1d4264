use std::path::{Path, PathBuf};
use std::sync::Arc;

use ambit_blobs::DirectoryBlobs;
use ambit_blueprint::{Document, PolicyRules, PolicySet};
use ambit_ids::{ByteCount, Digest, RunId, Scope, limits};
use ambit_policy::EngineVersion;
use ambit_policy_rules::RuleEngine;
use ambit_ports::blobs::BlobStore;
use ambit_ports::policy::{Policies, PolicyEngine, PolicyUnusable};
use ambit_ports::signer::{KeyRole, PublicKey, Signer as _};
use ambit_ports::store::{RunRef, SignedHead};
use ambit_signer_file::FileSigner;
use ambit_store_sqlite::{SqliteStore, StoreOptions};
use ambit_verify_trace::Verifier;
use async_trait::async_trait;
use tempfile::TempDir;

pub(crate) type Head = SignedHead;

pub(crate) fn scope() -> Scope {
    Scope { organization: "acme".parse().unwrap(), project: "shop".parse().unwrap() }
}

/// A store, its blobs and the log key, in one directory.
pub(crate) struct Site {
    directory: TempDir,
    pub(crate) store: Arc<SqliteStore>,
    pub(crate) blobs: Arc<DirectoryBlobs>,
    pub(crate) signer: Arc<FileSigner>,
}

impl Site {
    pub(crate) fn open(directory: TempDir) -> Self {
        let (store, blobs, signer) = open_at(&directory.path().join("site"));
        Self { directory, store, blobs, signer }
    }

    pub(crate) fn store_path(&self) -> PathBuf {
        self.directory.path().join("site/store.sqlite")
    }

    /// Where the blobs of a scope lie.
    pub(crate) fn blobs_path(&self, scope: &Scope) -> PathBuf {
        let blobs = self.directory.path().join("site/blobs");
        blobs.join(scope.organization.as_str()).join(scope.project.as_str())
    }

    pub(crate) fn blob_path(&self, scope: &Scope, digest: Digest) -> PathBuf {
        let hex = digest.to_hex();
        self.blobs_path(scope).join(&hex[..2]).join(&hex[2..])
    }

    pub(crate) async fn log_key(&self) -> PublicKey {
        self.signer.public_key(KeyRole::Log).await.unwrap()
    }

    pub(crate) async fn verifier(&self) -> Verifier {
        self.verifier_trusting(self.log_key().await)
    }

    pub(crate) fn verifier_trusting(&self, key: PublicKey) -> Verifier {
        let policies = Arc::new(BundledPolicies { blobs: self.blobs.clone() });
        Verifier::new(self.store.clone(), self.blobs.clone(), key, policies)
    }

    pub(crate) fn run(&self, run: &RunId) -> RunRef {
        RunRef { scope: scope(), run: run.clone() }
    }
}

pub(super) fn open_at(path: &Path) -> (Arc<SqliteStore>, Arc<DirectoryBlobs>, Arc<FileSigner>) {
    let store = SqliteStore::open(&path.join("store.sqlite"), StoreOptions::default()).unwrap();
    let blobs = DirectoryBlobs::open(&path.join("blobs")).unwrap();
    let signer = FileSigner::create_if_absent(&path.join("keys")).unwrap();
    (Arc::new(store), Arc::new(blobs), Arc::new(signer))
}

/// The rules of whatever bundle a policy set names.
pub(super) struct BundledPolicies {
    pub(super) blobs: Arc<DirectoryBlobs>,
}

#[async_trait]
impl Policies for BundledPolicies {
    async fn engine(&self, scope: &Scope, policy: Digest) -> Result<Arc<dyn PolicyEngine>, PolicyUnusable> {
        let unusable = |why: String| PolicyUnusable { policy, why };
        let limit = ByteCount::new(limits::DOCUMENT_BYTES as u64);
        let read = async |digest| self.blobs.get(scope, digest, limit).await;
        let set = read(policy).await.map_err(|error| unusable(error.to_string()))?;
        let set = PolicySet::read(&set).map_err(|error| unusable(error.to_string()))?;
        let bundle = read(set.tool_rules.digest).await.map_err(|error| unusable(error.to_string()))?;
        match Document::parse("the bundle", &bundle) {
            Ok(Document::Bundle(bundle)) => match &bundle.spec {
                PolicyRules::ToolRules(rules) => {
                    let engine =
                        RuleEngine::new(policy, rules).map_err(|error| unusable(error.to_string()))?;
                    Ok(Arc::new(engine))
                }
                _ => Err(unusable("no tool rules".to_owned())),
            },
            _ => Err(unusable("no bundle".to_owned())),
        }
    }

    async fn engine_named(
        &self,
        scope: &Scope,
        policy: Digest,
        name: &EngineVersion,
    ) -> Result<Arc<dyn PolicyEngine>, PolicyUnusable> {
        if name.0 == ambit_policy_rules::ENGINE {
            return self.engine(scope, policy).await;
        }
        Err(PolicyUnusable { policy, why: format!("there is no engine {name}") })
    }
}
