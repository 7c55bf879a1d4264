//! The engines that decide tool calls: Cedar for every new decision, and each engine that decided before for its own.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use ambit_blueprint::{Document, PolicySet, ToolRule};
use ambit_ids::{ByteCount, Digest, Scope, limits};
use ambit_policy::EngineVersion;
use ambit_policy_cedar::CedarEngine;
use ambit_policy_rules::RuleEngine;
use ambit_ports::blobs::BlobStore;
use ambit_ports::policy::{Policies, PolicyEngine, PolicyUnusable};
use async_trait::async_trait;

/// The engines of every policy set, each made once.
pub struct Engines {
    blobs: Arc<dyn BlobStore>,
    made: Mutex<BTreeMap<(Digest, Kind), Arc<dyn PolicyEngine>>>,
}

/// The engines that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Cedar,
    Rules,
}

impl Kind {
    /// The engine of this name and version.
    fn named(name: &EngineVersion) -> Option<Self> {
        match name.0.as_str() {
            ambit_policy_cedar::ENGINE => Some(Self::Cedar),
            ambit_policy_rules::ENGINE => Some(Self::Rules),
            _ => None,
        }
    }

    fn make(self, policy: Digest, rules: &[ToolRule]) -> Result<Arc<dyn PolicyEngine>, String> {
        match self {
            Self::Cedar => match CedarEngine::new(policy, rules) {
                Ok(engine) => Ok(Arc::new(engine)),
                Err(error) => Err(error.to_string()),
            },
            Self::Rules => match RuleEngine::new(policy, rules) {
                Ok(engine) => Ok(Arc::new(engine)),
                Err(error) => Err(error.to_string()),
            },
        }
    }
}

impl Engines {
    /// Those of the policy sets in these blobs.
    #[must_use]
    pub fn new(blobs: Arc<dyn BlobStore>) -> Self {
        Self { blobs, made: Mutex::default() }
    }

    async fn get(
        &self,
        scope: &Scope,
        policy: Digest,
        kind: Kind,
    ) -> Result<Arc<dyn PolicyEngine>, PolicyUnusable> {
        let key = (policy, kind);
        if let Some(engine) = self.made.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(engine.clone());
        }
        let engine = self.make(scope, policy, kind).await.map_err(|why| PolicyUnusable { policy, why })?;
        self.made.lock().unwrap_or_else(PoisonError::into_inner).insert(key, engine.clone());
        Ok(engine)
    }

    async fn make(&self, scope: &Scope, policy: Digest, kind: Kind) -> Result<Arc<dyn PolicyEngine>, String> {
        let limit = ByteCount::new(limits::DOCUMENT_BYTES as u64);
        let bytes = self.blobs.get(scope, policy, limit).await.map_err(|error| error.to_string())?;
        let set = PolicySet::read(&bytes).map_err(|error| error.to_string())?;
        let bytes = self.blobs.get(scope, set.tool_rules.digest, limit).await;
        let bytes = bytes.map_err(|error| error.to_string())?;
        let bundle = Document::parse("the policy bundle", &bytes).map_err(|error| error.to_string())?;
        let Document::Bundle(bundle) = bundle else {
            return Err(format!("its tool rules are a {}", bundle.kind()));
        };
        let rules = bundle.tool_rules().ok_or_else(|| "the bundle has no tool rules".to_owned())?;
        kind.make(policy, rules)
    }
}

#[async_trait]
impl Policies for Engines {
    async fn engine(&self, scope: &Scope, policy: Digest) -> Result<Arc<dyn PolicyEngine>, PolicyUnusable> {
        self.get(scope, policy, Kind::Cedar).await
    }

    async fn engine_named(
        &self,
        scope: &Scope,
        policy: Digest,
        name: &EngineVersion,
    ) -> Result<Arc<dyn PolicyEngine>, PolicyUnusable> {
        let Some(kind) = Kind::named(name) else {
            let why = format!("this version of ambit has no engine {name}; verify with the one that decided");
            return Err(PolicyUnusable { policy, why });
        };
        self.get(scope, policy, kind).await
    }
}

#[cfg(test)]
mod tests {
    use ambit_blueprint::{Document, builtin};

    use super::*;

    #[test]
    fn each_engine_is_found_by_the_name_that_its_decisions_carry_and_by_no_other() {
        let Document::Bundle(bundle) = builtin::GENERATION_TOOLS_V2.parse().unwrap() else {
            panic!("no bundle")
        };
        let policy = Digest::of(b"the policy set");
        let request = ambit_policy::Request {
            scope: Scope { organization: "acme".parse().unwrap(), project: "todo".parse().unwrap() },
            run: "run_abcdef".parse().unwrap(),
            blueprint: Digest::of(b"the blueprint"),
            policy,
            tool: ambit_policy::ToolName::ReadProjectFile,
            arguments: Digest::of(b"the arguments"),
            facts: Vec::new(),
            asked: None,
            approval: None,
        };
        for kind in [Kind::Cedar, Kind::Rules] {
            let engine = kind.make(policy, bundle.tool_rules().unwrap()).unwrap();
            assert_eq!(Kind::named(&engine.decide(&request).engine), Some(kind));
        }
        assert_eq!(Kind::named(&EngineVersion("cedar/0".to_owned())), None);
    }
}
