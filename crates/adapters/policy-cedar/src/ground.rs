use std::collections::BTreeMap;

use ambit_policy::{Capability, FactKind, ToolName};
use cedar_policy::{
    EntityId, EntityTypeName, EntityUid, Policy, PolicySet, RestrictedExpression, Schema, ValidationMode,
    Validator,
};

use crate::law::Law;
use crate::refusal::CedarError;
use crate::schema::schema_text;
use crate::standing::standing_text;

/// What no bundle changes: the schema, the names of the vocabularies in it, and the policies around every bundle.
#[derive(Debug)]
pub(crate) struct Ground {
    pub(crate) schema: Schema,
    validator: Validator,
    pub(crate) types: Types,
    pub(crate) tools: BTreeMap<ToolName, EntityUid>,
    pub(crate) facts: BTreeMap<FactKind, RestrictedExpression>,
    pub(crate) capabilities: BTreeMap<Capability, RestrictedExpression>,
    pub(crate) standing: Vec<Law>,
}

/// The types of entities.
#[derive(Debug)]
pub(crate) struct Types {
    pub(crate) organization: EntityTypeName,
    pub(crate) project: EntityTypeName,
    pub(crate) run: EntityTypeName,
    pub(crate) action: EntityTypeName,
}

pub(crate) fn uid(kind: &EntityTypeName, id: &str) -> EntityUid {
    EntityUid::from_type_name_and_id(kind.clone(), EntityId::new(id))
}

impl Ground {
    pub(crate) fn build() -> Result<Self, CedarError> {
        let (schema, _warnings) =
            Schema::from_cedarschema_str(&schema_text()).map_err(|error| CedarError::unusable(&error))?;
        let kind = |name: &str| name.parse::<EntityTypeName>().map_err(|error| CedarError::unusable(&error));
        let types = Types {
            organization: kind("Organization")?,
            project: kind("Project")?,
            run: kind("Run")?,
            action: kind("Action")?,
        };
        let (fact, capability) = (kind("FactKind")?, kind("Capability")?);
        let word = |kind, id| RestrictedExpression::new_entity_uid(uid(kind, id));
        let policies: PolicySet = standing_text().parse().map_err(|error| CedarError::unusable(&error))?;
        let standing: Result<Vec<Law>, CedarError> = policies.policies().map(Law::of_standing).collect();
        let mut standing = standing?;
        standing.sort_by(|one, other| one.id.cmp(&other.id));
        let ground = Self {
            tools: ToolName::ALL.iter().map(|tool| (*tool, uid(&types.action, tool.as_str()))).collect(),
            facts: FactKind::ALL.iter().map(|it| (*it, word(&fact, it.as_str()))).collect(),
            capabilities: Capability::ALL.iter().map(|it| (*it, word(&capability, it.as_str()))).collect(),
            validator: Validator::new(schema.clone()),
            schema,
            types,
            standing,
        };
        ground.validate("the standing policies", ground.standing.iter().map(|law| law.policy.clone()))?;
        Ok(ground)
    }

    /// All the policies as one set that the schema's strict validation takes.
    pub(crate) fn validate(
        &self,
        what: &str,
        policies: impl Iterator<Item = Policy>,
    ) -> Result<PolicySet, CedarError> {
        let refused = |why: String| CedarError::Refused { policy: what.to_owned(), why };
        let policies = PolicySet::from_policies(policies).map_err(|error| refused(error.to_string()))?;
        let validation = self.validator.validate(&policies, ValidationMode::Strict);
        if validation.validation_passed() {
            return Ok(policies);
        }
        let found: Vec<String> = validation.validation_errors().map(ToString::to_string).collect();
        Err(refused(found.join("; ")))
    }
}
