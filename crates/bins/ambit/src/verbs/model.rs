//! The model that answers where no agent is named.

use std::path::Path;

use ambit_agent_models::{ModelAgentDocument, Wire};
use ambit_ids::limits;
use ambit_ports::runtime::Clock as _;
use ambit_runtime_system::SystemClock;
use serde_json::{Value, json};

use crate::agent::{own, refused};
use crate::answer::Answer;
use crate::cli::{ModelVerb, UseArgs};
use crate::config::UserConfig;
use crate::failure::Failure;
use crate::input_file::read_bytes;
use crate::new_file::write_own;

pub(crate) fn run(verb: ModelVerb) -> Result<Answer, Failure> {
    let config = UserConfig::find()?;
    match verb {
        ModelVerb::Use(arguments) => keep(&config, &arguments),
        ModelVerb::Show => show(&own(&config)?),
    }
}

/// What is known of a vendor by the names of its models.
struct Vendor {
    wire: Wire,
    base_url: &'static str,
    key: &'static str,
}

fn vendor(model: &str) -> Option<Vendor> {
    let is_openai = |rest: &str| {
        rest.starts_with("gpt-")
            || rest.starts_with('o') && rest[1..].starts_with(|c: char| c.is_ascii_digit())
    };
    if model.starts_with("claude-") {
        let (base_url, key) = ("https://api.anthropic.com", "env:ANTHROPIC_API_KEY");
        return Some(Vendor { wire: Wire::AnthropicMessages, base_url, key });
    }
    is_openai(model).then_some(Vendor {
        wire: Wire::OpenaiResponses,
        base_url: "https://api.openai.com",
        key: "env:OPENAI_API_KEY",
    })
}

fn keep(config: &UserConfig, arguments: &UseArgs) -> Result<Answer, Failure> {
    let file = config.agent();
    let text = document(arguments)?;
    let document = ModelAgentDocument::read(&file, text.as_bytes()).map_err(|error| refused(&file, error))?;
    document.pricing(SystemClock.now()).map_err(|error| {
        Failure::of(error.code(), &error).help(
            "nothing was kept; say --free where it costs nothing, or cap it with --token-cap TOKENS; a price of your own goes into the document (docs/documents.md)",
        )
    })?;
    if file.exists() && !arguments.replace {
        return Err(Failure::new("USAGE_FILE_UNWRITABLE", format!("{} is there already", file.display()))
            .help("nothing was changed; --replace takes its place"));
    }
    write_own(&file, text.as_bytes())?;
    let answer = show(&file)?;
    Ok(Answer::new(format!("kept in {}\n{}", file.display(), answer.text), answer.json))
}

fn document(arguments: &UseArgs) -> Result<String, Failure> {
    let known = vendor(&arguments.model);
    let missing = |what: &str| {
        Failure::new(
            "USAGE_MISSING_ARGUMENT",
            format!("nothing is known of the vendor of {}", arguments.model),
        )
        .help(format!("nothing was kept; say {what}, such as http://localhost:11434 for Ollama"))
    };
    let own_url = arguments.base_url.as_deref();
    let base_url =
        own_url.or(known.as_ref().map(|vendor| vendor.base_url)).ok_or_else(|| missing("--base-url URL"))?;
    let wire = arguments.wire.or(known.as_ref().map(|vendor| vendor.wire)).unwrap_or(Wire::OpenaiChat);
    // A key of a vendor goes to that vendor alone, unless somebody says otherwise.
    let key = arguments.key.as_deref().or(match (own_url, &known) {
        (None, Some(vendor)) => Some(vendor.key),
        _ => None,
    });
    let mut spec = json!({
        "wire": wire,
        "baseUrl": base_url,
        "model": arguments.model,
        "key": key.unwrap_or("none"),
        "stream": !arguments.no_stream,
        "maxOutputTokens": arguments.max_output_tokens,
        "contextTokens": arguments.context_tokens,
    });
    if arguments.free {
        spec["price"] = json!("free");
    }
    if let Some(cap) = arguments.token_cap {
        spec["tokenCap"] = json!(cap);
    }
    let named: String = arguments
        .model
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '.' })
        .take(64)
        .collect();
    let metadata = json!({"name": named.trim_start_matches(['.', '-'])});
    let document = json!({"apiVersion": ambit_blueprint::API_VERSION, "kind": "ModelAgent", "metadata": metadata, "spec": spec});
    Ok(written(&document))
}

/// A document of mappings and plain values as YAML, every text in quotes.
fn written(document: &Value) -> String {
    let mut text = String::from(
        "# The model that answers where no agent is named. docs/documents.md tells every key.\n",
    );
    let keys = ["apiVersion", "kind", "metadata", "spec"];
    for (key, value) in keys.into_iter().map(|key| (key, &document[key])) {
        match value.as_object() {
            None => text.push_str(&format!("{key}: {}\n", value.as_str().unwrap_or_default())),
            Some(members) => {
                text.push_str(&format!("{key}:\n"));
                members.iter().for_each(|(name, value)| text.push_str(&format!("  {name}: {value}\n")));
            }
        }
    }
    text
}

fn show(file: &Path) -> Result<Answer, Failure> {
    let bytes = read_bytes(file, limits::DOCUMENT_BYTES)?;
    let document = ModelAgentDocument::read(file, &bytes).map_err(|error| refused(file, error))?;
    let pricing = document.pricing(SystemClock.now()).map_err(|error| refused(file, error))?;
    let quote = pricing.quote(document.request_bound_tokens(), document.max_output_tokens().into());
    let text = format!(
        "model        {} over {}\nat           {}\na turn       costs at most {quote} USD, which is reserved before it is asked\n",
        document.model(),
        document.wire(),
        document.base_url()
    );
    let json = json!({
        "file": file, "model": document.model(), "wire": document.wire().to_string(), "baseUrl": document.base_url(),
        "turnQuoteMicroUsd": quote, "digest": document.digest(),
    });
    Ok(Answer::new(text, json).prose())
}
