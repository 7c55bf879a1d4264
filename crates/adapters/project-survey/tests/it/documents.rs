//! The proposal as documents.

use std::collections::BTreeMap;

use ambit_blueprint::{AggregateLimits, Blueprint, ExecutionCapabilityProfile, NamedCommandCatalog};
use ambit_ids::Digest;
use ambit_project_survey::{CATALOG_NAME, PROFILE_NAME, TEMPLATE_NAME, profile, survey};

use crate::repositories::{ALL, written};

#[test]
fn every_proposal_is_read_by_the_readers_of_documents_and_is_the_same_again() {
    let image = Digest::of(b"image");
    for (name, files) in ALL {
        let repository = written(files);
        let propose = || {
            let plan = survey(repository.path()).unwrap().settle(&[]).unwrap();
            (plan.blueprint("ada"), plan.catalog(image, &BTreeMap::new()))
        };
        let (blueprint, catalog) = propose();
        assert_eq!((blueprint.clone(), catalog.clone()), propose(), "{name}");
        let read = Blueprint::parse("b", blueprint.as_bytes())
            .unwrap_or_else(|error| panic!("{name}: {}", error.render()));
        let commands = NamedCommandCatalog::parse("c", catalog.as_bytes())
            .unwrap_or_else(|error| panic!("{name}: {}", error.render()));
        assert!(read.commands_missing_in(&commands).is_empty(), "{name}");
        assert_eq!(read.spec.gates.len(), commands.spec.commands.len(), "{name}");
        assert!(commands.spec.commands.iter().all(|command| command.image == image), "{name}");
        assert_eq!(
            (read.metadata.name.as_str(), commands.metadata.name.as_str()),
            (TEMPLATE_NAME, CATALOG_NAME)
        );
        assert!(blueprint.lines().chain(catalog.lines()).filter(|line| line.contains('#')).count() > 5);
        let wide = blueprint.lines().find(|line| line.len() > 120);
        assert_eq!(wide, None, "{name}");
    }
}

#[test]
fn the_profile_names_the_catalog_and_says_how_limits_hold() {
    for limits in [AggregateLimits::Enforced, AggregateLimits::BestEffort] {
        let text = profile(limits);
        let read = ExecutionCapabilityProfile::parse("p", text.as_bytes()).unwrap();
        assert_eq!(read.spec.required.aggregate_limits, limits);
        assert_eq!(read.metadata.name.as_str(), PROFILE_NAME);
        assert_eq!(read.spec.policy_refs.commands.to_string(), format!("policy://{CATALOG_NAME}/v1"));
    }
}

#[test]
fn names_that_a_document_reads_otherwise_are_told_exactly() {
    let files = [
        ("a{b}.py", ""),
        ("we\"ird/__init__.py", ""),
        ("[x]/__init__.py", ""),
        ("- dash/__init__.py", ""),
        ("null/__init__.py", ""),
        ("ü é/__init__.py", ""),
        ("back\\slash.py", ""),
        ("pyproject.toml", "[project]\nname = \"a\"\n"),
    ];
    let plan = survey(written(&files).path()).unwrap().settle(&[]).unwrap();
    let blueprint = Blueprint::parse("b", plan.blueprint("a\u{202e}da\n").as_bytes()).unwrap();
    let scope = &blueprint.spec.scope.paths;
    for path in ["a{b}.py", "we\"ird/x.py", "[x]/x.py", "null/x.py", "ü é/x.py", "back\\\\slash.py"] {
        assert!(scope.contains(&path.parse().unwrap()), "{path}: {scope:?}");
    }
    assert!(!scope.contains(&"x/x.py".parse().unwrap()), "a bracket is no pattern");
    NamedCommandCatalog::parse("c", plan.catalog(Digest::of(b""), &BTreeMap::new()).as_bytes()).unwrap();
    assert_eq!(blueprint.spec.accountability.owner, "ada");
}
