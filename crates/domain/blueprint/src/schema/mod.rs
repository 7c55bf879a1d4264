//! JSON Schemas (2020-12) of the documents, for editors.
//!
//! A schema says what an editor can check while somebody types. It is not what decides: reading a document does, and it
//! is stricter (references within a document, bytes instead of characters, what readers of YAML disagree about). Every
//! document that reads is valid under its schema.

mod blueprint;
mod bundle;
mod catalog;
mod parts;
mod profile;

use serde_json::{Value, json};

use crate::DocumentKind;
use parts::{exactly, object};

/// The JSON Schema of a kind of document.
#[must_use]
pub fn schema(kind: DocumentKind) -> Value {
    let (title, metadata, spec) = match kind {
        DocumentKind::Blueprint => blueprint::parts(),
        DocumentKind::ExecutionCapabilityProfile => profile::parts(),
        DocumentKind::NamedCommandCatalog => catalog::parts(),
        DocumentKind::PolicyBundle => bundle::parts(),
    };
    document_schema(kind.as_str(), title, metadata, spec)
}

/// The JSON Schema of a document of this envelope, also of one that another crate reads.
#[must_use]
pub fn document_schema(kind: &str, title: &str, metadata: Value, spec: Value) -> Value {
    let mut schema = object(
        &[
            ("apiVersion", exactly(crate::API_VERSION), "The version of the shape."),
            ("kind", exactly(kind), "The kind of the document."),
            ("metadata", metadata, "How the document is named."),
            ("spec", spec, "What it says."),
        ],
        &[],
    );
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["$id"] = json!(format!("urn:ambit:schema:{kind}:v1"));
    schema["title"] = json!(title);
    schema
}
