use std::path::Path;

use ambit_blueprint::{Blueprint, Document};
use ambit_evidence::Project;
use ambit_ids::{BlueprintId, CaseId, Digest};
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::cli::BlueprintVerb;
use crate::context::Context;
use crate::credential::credential;
use crate::failure::Failure;
use crate::input_file::read_document;
use crate::new_file::made;
use crate::verbs::hidden::{beside, check_hidden_files, keep_hidden_files};

/// A valid blueprint with remarks, and the name in it that is replaced.
const TEMPLATE: &str = include_str!("blueprint.yaml");
const TEMPLATE_NAME: &str = "my-blueprint";

pub(crate) async fn run(context: &Context, verb: BlueprintVerb) -> Result<Answer, Failure> {
    match verb {
        BlueprintVerb::New { name, out } => {
            made(TEMPLATE.replacen(TEMPLATE_NAME, name.as_str(), 1), "blueprint", out.as_deref())
        }
        BlueprintVerb::Validate { file } => {
            let blueprint = read_document(&file, Blueprint::parse)?;
            check_hidden_files(&blueprint, beside(&file)).await?;
            let digest = digest_of(&Document::Blueprint(Box::new(blueprint.clone())))?;
            let (name, version) = (&blueprint.metadata.name, blueprint.metadata.version);
            Ok(Answer::new(
                format!("{} is a blueprint: {name} v{version}\n{digest}\n", file.display()),
                json!({"valid": true, "name": name, "version": version, "digest": digest}),
            ))
        }
        BlueprintVerb::Approve { file, credential: named } => {
            let blueprint = read_document(&file, Blueprint::parse)?;
            let services = context.open()?;
            let credential = credential(context, &services, &named).await?;
            keep_hidden_files(context, &services, &blueprint, beside(&file)).await?;
            let digest = services
                .projects
                .approve(&context.scope, &blueprint, &credential)
                .await
                .map_err(|error| Failure::of(error.code(), &error))?;
            let name = &blueprint.metadata.name;
            Ok(Answer::new(
                format!("{name} is approved in {} with the digest\n{digest}\n", context.scope),
                json!({"approved": true, "blueprint": name, "digest": digest}),
            ))
        }
        BlueprintVerb::Withdraw { blueprint, digest, credential: named } => {
            let services = context.open()?;
            let credential = credential(context, &services, &named).await?;
            let withdrawn = services.projects.withdraw(&context.scope, &blueprint, digest, &credential).await;
            withdrawn.map_err(|error| Failure::of(error.code(), &error))?;
            Ok(Answer::new(
                format!("{blueprint} is approved no more in {} with the digest\n{digest}\n", context.scope),
                json!({"approved": false, "blueprint": blueprint, "digest": digest}),
            ))
        }
        BlueprintVerb::Show { blueprint } => show(context, &blueprint).await,
    }
}

pub(crate) fn digest_of(document: &Document) -> Result<Digest, Failure> {
    document.digest().map_err(|error| Failure::of("DOCUMENT_NOT_CANONICAL", &error))
}

async fn show(context: &Context, named: &str) -> Result<Answer, Failure> {
    let path = Path::new(named);
    if path.exists() {
        return view(&read_document(path, Blueprint::parse)?, None);
    }
    let missing = || {
        Failure::new("BLUEPRINT_NOT_FOUND", format!("there is no file and no registered blueprint {named}"))
            .help("`ambit blueprint approve FILE` registers and approves one")
    };
    let id = BlueprintId::new(named).map_err(|_| missing())?;
    let services = context.open()?;
    let project = services.project(&context.scope).await?;
    let digest = newest(&project, &id).ok_or_else(|| missing().meant(named, blueprints(&project)))?;
    let blueprint = services
        .documents()
        .blueprint(&context.scope, digest)
        .await
        .map_err(|error| Failure::of(error.code(), &error))?;
    view(&blueprint, Some(project.is_approved(&id, digest)))
}

/// That the project has no such blueprint, and which name is closest.
pub(crate) fn blueprint_missing(context: &Context, project: &Project, id: &BlueprintId) -> Failure {
    Failure::new("BLUEPRINT_NOT_FOUND", format!("{} has no blueprint {id}", context.scope))
        .help("`ambit blueprint approve FILE` registers and approves one")
        .meant(id.as_str(), blueprints(project))
}

fn blueprints(project: &Project) -> impl Iterator<Item = &str> {
    project.documents().filter(|(key, _)| key.kind == "Blueprint").map(|(key, _)| key.name.as_str())
}

/// The digest of the newest version of a blueprint that the project knows.
pub(crate) fn newest(project: &Project, id: &BlueprintId) -> Option<Digest> {
    project
        .documents()
        .filter(|(key, _)| key.kind == "Blueprint" && key.name.as_str() == id.as_str())
        .max_by_key(|(key, _)| key.version)
        .map(|(_, digest)| digest)
}

fn view(blueprint: &Blueprint, approved: Option<bool>) -> Result<Answer, Failure> {
    let document = Document::Blueprint(Box::new(blueprint.clone()));
    let bytes = document.to_canonical().map_err(|error| Failure::of("DOCUMENT_NOT_CANONICAL", &error))?;
    let canonical: Value =
        serde_json::from_slice(bytes.as_bytes()).map_err(|error| Failure::of("OUTPUT_UNWRITABLE", &error))?;
    let spec = &canonical["spec"];
    let (name, version, digest) = (&blueprint.metadata.name, blueprint.metadata.version, bytes.digest());
    let json = json!({
        "name": name,
        "version": version,
        "title": blueprint.metadata.title,
        "digest": digest,
        "approved": approved,
        "goal": blueprint.spec.goal,
        "scope": spec["scope"],
        "protectedOracles": spec["protectedOracles"],
        "acceptanceCases": spec["acceptanceCases"],
        "gates": spec["gates"],
        "budgets": spec["runBudget"],
        "archetypeProbes": spec["archetypeProbes"],
        "boundaryMap": spec["boundaryMap"],
        "accountability": spec["accountability"],
    });
    let state = match approved {
        Some(true) => "approved",
        Some(false) => "not approved",
        None => "a file",
    };
    let mut text = format!(
        "{name} v{version} ({state}): {}\n{digest}\n\n{}\n\nacceptance cases\n",
        blueprint.metadata.title, blueprint.spec.goal
    );
    for case in &blueprint.spec.acceptance_cases {
        text.push_str(&format!("  {:<8} {}\n", case.id.as_str(), case.statement));
    }
    text.push_str("\ngates, from cheap to dear\n");
    for gate in &blueprint.spec.gates {
        let cases: Vec<&str> = gate.cases.iter().map(CaseId::as_str).collect();
        text.push_str(&format!("  {:<28} {}\n", gate.id.as_str(), cases.join(", ")));
    }
    text.push_str("\nscope\n");
    for (name, words) in [
        ("paths", &spec["scope"]["paths"]),
        ("work", &spec["scope"]["work"]),
        ("not", &spec["scope"]["outOfScope"]),
        ("protected", &spec["protectedOracles"]["paths"]),
    ] {
        text.push_str(&format!("  {name:<10} {}\n", list(words)));
    }
    text.push_str("\nbudget\n");
    for (limit, value) in spec["runBudget"].as_object().into_iter().flatten() {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        if limit != "maxToolCostMicroUsd" {
            text.push_str(&format!("  {limit:<34} {value}\n"));
        }
    }
    text.push_str(&format!("  {:<34} {}\n", "maxToolCostUsd", blueprint.spec.run_budget.max_tool_cost));
    Ok(Answer::new(text, json).prose())
}

/// The words of a list in a document.
fn list(words: &Value) -> String {
    let words = words.as_array().into_iter().flatten().filter_map(Value::as_str);
    words.collect::<Vec<_>>().join(", ")
}
