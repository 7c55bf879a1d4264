//! The JSON Schemas of the documents that people write, and of what programs read of an export, a backend and a sandbox.

use std::path::Path;

use ambit_blueprint::DocumentKind;
use ambit_blueprint::schema::schema;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::cli::SchemaVerb;
use crate::failure::Failure;
use crate::new_file::write_over;
use crate::terminal::in_order;
use crate::verbs::{backend_schemas, oracle_schema};

pub(crate) fn run(verb: &SchemaVerb) -> Result<Answer, Failure> {
    match verb {
        SchemaVerb::List => Ok(list()),
        SchemaVerb::Show { kind } => show(kind),
        SchemaVerb::Write { out } => write(out),
    }
}

/// The schema of every kind of document, by the word that documents have for it.
fn schemas() -> Vec<(&'static str, Value)> {
    let mut all: Vec<(&'static str, Value)> =
        DocumentKind::ALL.iter().map(|kind| (kind.as_str(), schema(*kind))).collect();
    all.push((ambit_project_survey::REQUESTS_KIND, ambit_project_survey::requests_schema()));
    all.push((ambit_agent_scripted::KIND, ambit_agent_scripted::schema()));
    all.push((ambit_agent_models::KIND, ambit_agent_models::schema()));
    all.push((ambit_evidence::artifacts::KIND, ambit_evidence::artifacts::schema()));
    all.extend(backend_schemas::schemas());
    all.push(oracle_schema::schema());
    all
}

fn list() -> Answer {
    let schemas = schemas();
    let text: String =
        schemas.iter().map(|(kind, schema)| format!("{kind:<28} {}\n", title(schema))).collect();
    let kinds: Vec<&str> = schemas.iter().map(|(kind, _)| *kind).collect();
    Answer::new(text, json!({"kinds": kinds})).prose()
}

/// What the title says behind the name of the kind.
fn title(schema: &Value) -> &str {
    let title = schema["title"].as_str().unwrap_or_default();
    title.split_once(": ").map_or(title, |(_, says)| says)
}

fn show(kind: &str) -> Result<Answer, Failure> {
    let schemas = schemas();
    let known: Vec<&str> = schemas.iter().map(|(kind, _)| *kind).collect();
    let unknown = Failure::new("DOCUMENT_UNKNOWN_WORD", format!("there is no kind of document {kind}"))
        .help(format!("the kinds are {}", known.join(", ")))
        .meant(kind, known.iter().copied());
    let (_, schema) = schemas.into_iter().find(|(known, _)| *known == kind).ok_or(unknown)?;
    Ok(Answer::new(pretty(&schema)?, schema).verbatim())
}

fn write(out: &Path) -> Result<Answer, Failure> {
    let mut files = Vec::new();
    for (kind, schema) in schemas() {
        let file = out.join(format!("{kind}.schema.json"));
        write_over(&file, pretty(&schema)?.as_bytes())?;
        files.push(file);
    }
    let text = format!(
        "{} schemas are in {}\nlet an editor take one by a first line such as\n# yaml-language-server: $schema={}\n",
        files.len(),
        out.display(),
        files.first().map(|file| file.display().to_string()).unwrap_or_default()
    );
    Ok(Answer::new(text, json!({"files": files})))
}

fn pretty(schema: &Value) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(&in_order(schema))
        .map_err(|error| Failure::of("OUTPUT_UNWRITABLE", &error))?;
    Ok(text + "\n")
}
