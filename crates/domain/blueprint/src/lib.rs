//! The documents of a run: parsed, validated, digested.
//!
//! Documents are written by people and are the widest authority in the system, so reading them is strict: nothing that
//! two readers could read differently, nothing that an approver could not see, no field that this version does not
//! know. Every problem has a stable code, a line and a column. What was read is written back in one way only, its
//! canonical bytes, and named by their digest; order, quoting and notation (YAML or JSON) make no difference to it.
//!
//! Documents hold data and are validated here as data. Whether a blueprint is approved, a backend proves a profile or a
//! rule denies a call is decided elsewhere.

#![forbid(unsafe_code)]

mod blueprint;
mod budget;
pub mod builtin;
mod bundle;
mod catalog;
mod cursor;
mod document;
mod envelope;
mod located;
mod one_word_name;
mod policy_ref;
mod policy_set;
mod problem;
mod profile;
pub mod schema;
mod suggest;
mod typed;
mod untyped;
mod vocabularies;
mod word;

pub use blueprint::{
    AcceptanceCase, Accountability, ArchetypeProbe, Authorization, Blueprint, BlueprintGate,
    BlueprintMetadata, BlueprintScope, BlueprintSpec, CleanupObligation, DependencyScope, ExpectedOutcome,
    HiddenFiles, PlaneBoundary, ProbeCase, ProtectedOracles,
};
pub use budget::{BudgetCeilings, RunBudget, StartBoundsError};
pub use bundle::{
    BUILT_IN_RULES, EgressDefault, EgressPolicy, Erasure, ExpectedVerdict, Explanation, PolicyBundle,
    PolicyRules, RetentionPolicy, RuleCondition, RuleEffect, RuleError, RuleExample, RuleException,
    SecretBinding, SecretPolicy, ToolRule, as_meant, check_examples, check_rules,
};
pub use catalog::{
    CatalogCommand, CatalogSpec, CommandFixture, CommandOutput, CommandReport, CommandResources,
    CommandVerdict, Environment, EnvironmentName, EnvironmentNameError, NamedCommandCatalog,
};
pub use document::Document;
pub use envelope::{API_VERSION, DocumentKind, Metadata};
pub use one_word_name::{Archetype, FixtureName, ParseWordError, WorkArea};
pub use policy_ref::{ParsePolicyRefError, PolicyRef};
pub use policy_set::{PolicyKey, PolicySet, PolicySetError, PolicySubject, ResolvedPolicy};
pub use problem::{DocumentError, Problem, ProblemCode};
pub use profile::{
    AggregateLimits, ExecutionCapabilityProfile, PolicyRefs, ProfileMetadata, ProfileSpec,
    RequiredCancellation, RequiredEgress, RequiredEvidence, RequiredIsolation, RequiredOutcomes,
    RequiredPreview, RequiredSecretDelivery,
};
pub use suggest::closest;
pub use typed::read_typed;
pub use untyped::read_untyped;
