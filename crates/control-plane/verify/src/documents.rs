//! The documents that a run is pinned to, and the pins that follow from them.

use std::collections::BTreeMap;
use std::sync::Arc;

use ambit_blueprint::{
    Blueprint, BudgetCeilings, Document, ExecutionCapabilityProfile, NamedCommandCatalog, PolicyKey,
    PolicySet,
};
use ambit_broker::Ground;
use ambit_evidence::Project;
use ambit_evidence::v1::PinsV1;
use ambit_ids::{ByteCount, Digest, Scope, limits};
use ambit_run::{Circumstances, PinnedDocuments, Pins};
use serde_json::Value;

use crate::finding::{Finding, LinkName};
use crate::findings::{Findings, refuting};
use crate::vault::Vault;

const DOCUMENT_LIMIT: ByteCount = ByteCount::new(limits::DOCUMENT_BYTES as u64);

/// Everything that a run is pinned to, read back.
pub(crate) struct Pinned {
    pub(crate) blueprint: Blueprint,
    pub(crate) profile: ExecutionCapabilityProfile,
    pub(crate) catalog: NamedCommandCatalog,
}

fn document_name(what: &str, digest: Digest) -> LinkName {
    LinkName::Document { what: what.to_owned(), digest }
}

/// Reads a document and holds it to its one canonical form.
pub(crate) async fn read_document(
    vault: &Vault,
    scope: &Scope,
    what: &str,
    digest: Digest,
) -> Result<Document, Finding> {
    let bytes = vault.read(scope, what, digest, DOCUMENT_LIMIT).await?;
    let unfit = |why: String| refuting(document_name(what, digest), why);
    let document = Document::parse(what, &bytes).map_err(|error| unfit(error.to_string()))?;
    match document.to_canonical() {
        Ok(canonical) if canonical.as_bytes() == bytes => Ok(document),
        Ok(_) => Err(unfit("its bytes are not the canonical form of what they say".to_owned())),
        Err(error) => Err(unfit(error.to_string())),
    }
}

async fn read_blueprint(vault: &Vault, scope: &Scope, digest: Digest) -> Result<Blueprint, Finding> {
    match read_document(vault, scope, "the blueprint", digest).await? {
        Document::Blueprint(blueprint) => Ok(*blueprint),
        other => Err(another_kind("the blueprint", digest, &other)),
    }
}

async fn read_profile(
    vault: &Vault,
    scope: &Scope,
    digest: Digest,
) -> Result<ExecutionCapabilityProfile, Finding> {
    match read_document(vault, scope, "the execution profile", digest).await? {
        Document::Profile(profile) => Ok(*profile),
        other => Err(another_kind("the execution profile", digest, &other)),
    }
}

fn another_kind(what: &str, digest: Digest, found: &Document) -> Finding {
    refuting(document_name(what, digest), format!("it is a {}", found.kind()))
}

/// Reads every document that the pins name, directly or through the policy set, and holds them to one another.
pub(crate) async fn read(vault: &Vault, pins: &Pins) -> (Option<Pinned>, Findings) {
    let mut findings = Findings::default();
    let scope = &pins.scope;
    let blueprint = findings.take(read_blueprint(vault, scope, pins.blueprint.digest).await);
    let profile = findings.take(read_profile(vault, scope, pins.profile.digest).await);
    let set = findings.take(read_policy_set(vault, scope, pins.policy).await);
    let mut catalog = None;
    if let (Some(profile), Some(set)) = (&profile, &set) {
        let known = read_named(vault, scope, set, &mut catalog, &mut findings).await;
        check_set(pins, profile, set, &known, &mut findings);
    }
    let pinned = match (blueprint, profile, catalog) {
        (Some(blueprint), Some(profile), Some(catalog)) => Some(Pinned { blueprint, profile, catalog }),
        _ => None,
    };
    (pinned, findings)
}

async fn read_policy_set(vault: &Vault, scope: &Scope, digest: Digest) -> Result<PolicySet, Finding> {
    let what = "the policy set";
    let bytes = vault.read(scope, what, digest, DOCUMENT_LIMIT).await?;
    PolicySet::read(&bytes).map_err(|error| refuting(document_name(what, digest), error.to_string()))
}

/// Reads the documents that a policy set names; the catalog is kept.
async fn read_named(
    vault: &Vault,
    scope: &Scope,
    set: &PolicySet,
    catalog: &mut Option<NamedCommandCatalog>,
    findings: &mut Findings,
) -> BTreeMap<PolicyKey, Digest> {
    let named = [
        ("the command catalog", &set.commands),
        ("the egress policy", &set.network),
        ("the secret policy", &set.secrets),
        ("the retention policy", &set.retention),
        ("the tool rules", &set.tool_rules),
    ];
    let mut known = BTreeMap::new();
    for (what, policy) in named {
        let read = read_document(vault, scope, what, policy.digest).await;
        let Some(document) = findings.take(read) else { continue };
        if let Some(key) = document.policy_key() {
            known.insert(key, policy.digest);
        }
        if let (Document::Catalog(found), true) = (document, policy.digest == set.commands.digest) {
            *catalog = Some(found);
        }
    }
    known
}

/// The set must be the one that the profile's references resolve to among the documents that it names.
fn check_set(
    pins: &Pins,
    profile: &ExecutionCapabilityProfile,
    set: &PolicySet,
    known: &BTreeMap<PolicyKey, Digest>,
    findings: &mut Findings,
) {
    let link = || document_name("the policy set", pins.policy);
    match PolicySet::resolve(profile, &set.tool_rules.reference, known) {
        Ok(resolved) if resolved == *set => {}
        Ok(_) => findings.refute(link(), "it is not what the profile's references resolve to"),
        // What could not be read is told already.
        Err(_) if !findings.is_empty() => {}
        Err(error) => findings.refute(link(), error.to_string()),
    }
    if set.commands.digest != pins.catalog {
        findings.refute(link(), format!("it names another catalog than the pinned {}", pins.catalog));
    }
}

/// Derives the pins again. The recorded limits stand as caps, so one that is above those of a document shows as a
/// difference.
pub(crate) fn pins(recorded: &Pins, pinned: &Pinned, project: &Project, first: LinkName) -> Findings {
    let mut findings = Findings::default();
    let request = match &recorded.request {
        None => None,
        Some(pin) => match project.request(pin.digest) {
            Some(asked)
                if asked.digest(&recorded.scope) == pin.digest
                    && asked.blueprint == recorded.blueprint.digest
                    && asked.revision == recorded.base.id
                    && asked.case == pin.case =>
            {
                Some((pin.clone(), asked.text.clone()))
            }
            _ => {
                let why =
                    format!("the project has no such revision request {} of this blueprint", pin.digest);
                findings.refute(first, why);
                return findings;
            }
        },
    };
    let documents = PinnedDocuments {
        blueprint: (&pinned.blueprint, recorded.blueprint.digest),
        profile: (&pinned.profile, recorded.profile.digest),
        catalog: (&pinned.catalog, recorded.catalog),
        policy: recorded.policy,
    };
    let circumstances = Circumstances {
        scope: recorded.scope.clone(),
        run: recorded.run.clone(),
        name: recorded.name.clone(),
        base: recorded.base.clone(),
        revision: recorded.revision,
        ceilings: BudgetCeilings::from(&recorded.limits),
        backend: recorded.backend.clone(),
        agent: recorded.agent.clone(),
        request,
        rules: recorded.rules,
    };
    match Pins::derive(&documents, circumstances) {
        Ok(derived) if derived == *recorded => {}
        Ok(derived) => {
            let why = format!("{} do not follow from the documents", differing(recorded, &derived));
            findings.refute(first, why);
        }
        Err(error) => findings.refute(first, error.to_string()),
    }
    findings
}

/// The names of the pins that differ.
fn differing(recorded: &Pins, derived: &Pins) -> String {
    let members = |pins: &Pins| match serde_json::to_value(PinsV1::from(pins)) {
        Ok(Value::Object(members)) => members,
        _ => serde_json::Map::new(),
    };
    let (recorded, derived) = (members(recorded), members(derived));
    let names: Vec<&str> = recorded
        .iter()
        .filter(|(name, value)| derived.get(*name) != Some(value))
        .map(|(name, _)| name.as_str())
        .collect();
    if names.is_empty() { "some pins".to_owned() } else { names.join(", ") }
}

/// What the run stood on, for assessing its calls again.
pub(crate) fn ground(pins: &Pins, pinned: &Pinned) -> Ground {
    Ground {
        pins: Arc::new(pins.clone()),
        blueprint: Arc::new(pinned.blueprint.clone()),
        catalog: Arc::new(pinned.catalog.clone()),
    }
}
