use std::collections::{BTreeSet, HashMap, HashSet};

use ambit_ids::Digest;
use ambit_policy::{Fact, FactKind, Request};
use cedar_policy::{Context, Entities, Entity, EntityUid, RestrictedExpression};

use crate::ground::{Ground, uid};

/// A request as Cedar takes it. Its entities are those that it names and the actions of the schema, however many there are
/// elsewhere.
pub(crate) struct Question {
    pub(crate) request: cedar_policy::Request,
    pub(crate) entities: Entities,
}

/// The kinds of the facts.
pub(crate) fn kinds_of(request: &Request) -> BTreeSet<FactKind> {
    request.facts.iter().map(Fact::kind).collect()
}

impl Question {
    /// The question whether the run may do `action`, asked of an engine that holds `policy`. `None` where the schema does not
    /// take it.
    pub(crate) fn new(
        ground: &Ground,
        policy: Digest,
        request: &Request,
        kinds: &BTreeSet<FactKind>,
        action: &EntityUid,
    ) -> Option<Self> {
        let organization = request.scope.organization.as_str();
        let project = |name: &str| uid(&ground.types.project, &format!("{organization}/{name}"));
        let own = project(request.scope.project.as_str());
        let target = named_project(request).map(project).unwrap_or_else(|| own.clone());
        let run = uid(&ground.types.run, request.run.as_str());
        let tenant = uid(&ground.types.organization, organization);

        let projects = HashSet::from([own.clone(), target.clone()]);
        let attributes = HashMap::from([
            ("policy".to_owned(), text(&request.policy.to_string())),
            ("blueprint".to_owned(), text(&request.blueprint.to_string())),
        ]);
        let mut named = vec![
            Entity::new(run.clone(), attributes, HashSet::from([own])).ok()?,
            Entity::new_no_attrs(tenant.clone(), HashSet::new()),
        ];
        named.extend(
            projects.into_iter().map(|uid| Entity::new_no_attrs(uid, HashSet::from([tenant.clone()]))),
        );
        let entities = Entities::from_entities(named, Some(&ground.schema)).ok()?;
        let context = context(ground, policy, request, kinds)?;
        let schema = Some(&ground.schema);
        let request = cedar_policy::Request::new(run, action.clone(), target, context, schema).ok()?;
        Some(Self { request, entities })
    }
}

/// The other project that a call names, where it names one.
fn named_project(request: &Request) -> Option<&str> {
    request.facts.iter().find_map(|fact| match fact {
        Fact::ForeignProject { project } => Some(project.as_str()),
        _ => None,
    })
}

fn context(
    ground: &Ground,
    policy: Digest,
    request: &Request,
    kinds: &BTreeSet<FactKind>,
) -> Option<Context> {
    let facts: Option<Vec<RestrictedExpression>> =
        kinds.iter().map(|kind| ground.facts.get(kind).cloned()).collect();
    let mut pairs = vec![
        ("policy".to_owned(), text(&policy.to_string())),
        ("arguments".to_owned(), text(&request.arguments.to_string())),
        ("facts".to_owned(), RestrictedExpression::new_set(facts?)),
    ];
    if let Some(asked) = &request.asked {
        pairs.push(("asked".to_owned(), ground.capabilities.get(asked)?.clone()));
    }
    if let Some(approval) = &request.approval {
        let members = [
            ("capability".to_owned(), ground.capabilities.get(&approval.capability)?.clone()),
            ("subject".to_owned(), text(&approval.subject.to_string())),
        ];
        pairs.push(("approval".to_owned(), RestrictedExpression::new_record(members).ok()?));
    }
    Context::from_pairs(pairs).ok()
}

fn text(value: &str) -> RestrictedExpression {
    RestrictedExpression::new_string(value.to_owned())
}
