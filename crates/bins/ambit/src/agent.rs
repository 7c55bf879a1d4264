//! Which agent answers the turns of a run: the only place that knows which kinds there are.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ambit_agent_models::{
    Client, ContextAllowance, ModelAgent, ModelAgentDocument, ModelAgentError, ModelSettings,
};
use ambit_agent_scripted::{ScriptedAgent, Transcript, TranscriptError};
use ambit_blueprint::read_untyped;
use ambit_ids::{AgentId, MicroUsd, limits};
use ambit_ports::agent::Agent;
use ambit_run::AgentPin;
use ambit_runtime_system::{SystemClock, SystemEntropy};

use crate::config::UserConfig;
use crate::failure::{Failure, exit};
use crate::input_file::read_bytes;

/// Variables that hold the keys of models. Only whether they are set is ever looked at here.
const KEYS: [(&str, &str); 2] =
    [("ANTHROPIC_API_KEY", "claude-sonnet-5-5"), ("OPENAI_API_KEY", "gpt-5.6-terra")];

/// The agent that a file describes, for a run that has had so many turns before.
pub(crate) fn agent(file: &Path, turns_before: u32) -> Result<Arc<dyn Agent>, Failure> {
    let bytes = read_bytes(file, limits::DOCUMENT_BYTES)?;
    let value = read_untyped(&file.to_string_lossy(), &bytes).map_err(Failure::of_document)?;
    // Whatever is no model is read as a transcript, which says what is wrong with it.
    if value["kind"] == ambit_agent_models::KIND {
        return modelled(file, &bytes, turns_before);
    }
    Ok(Arc::new(scripted(file, &bytes)?))
}

/// The agent that was named, or else the user's own, and the file that describes it. A repository never says who works on
/// it.
pub(crate) fn chosen(
    named: Option<&Path>,
    config: &UserConfig,
) -> Result<(Arc<dyn Agent>, PathBuf), Failure> {
    let file = match named {
        Some(file) => file.to_owned(),
        None => own(config)?,
    };
    Ok((agent(&file, 0)?, file))
}

/// The option that names this agent, in a command that is told for copying: none where it is the user's own.
pub(crate) fn option(pinned: &AgentPin) -> &'static str {
    let kept = UserConfig::find().and_then(|config| agent(&own(&config)?, 0));
    let is_own = kept.is_ok_and(|kept| *kept.id() == pinned.id && kept.definition() == pinned.definition);
    if is_own { "" } else { " --agent FILE" }
}

/// The file of the user's own agent.
pub(crate) fn own(config: &UserConfig) -> Result<PathBuf, Failure> {
    let file = config.agent();
    if file.is_file() {
        return Ok(file);
    }
    let set = KEYS.into_iter().find(|(name, _)| std::env::var_os(name).is_some());
    let (seen, model) = match set {
        Some((name, model)) => (format!(" ({name} is set)"), model),
        None => (String::new(), "MODEL"),
    };
    let message = format!("no agent was named, and there is none in {}{seen}", file.display());
    Err(Failure::new("AGENT_MISSING", message).exiting(exit::USAGE).help(format!(
        "nothing was started; `ambit model use {model}` keeps a model for every run, and `--agent FILE` names an agent for this one"
    )))
}

/// The agent of a transcript. Patches lie beside it.
fn scripted(file: &Path, bytes: &[u8]) -> Result<ScriptedAgent, Failure> {
    let beside = file.parent().map(PathBuf::from).unwrap_or_default();
    let patches = |name: &str| {
        let bytes = read_bytes(&beside.join(name), limits::PATCH_BYTES).ok()?;
        String::from_utf8(bytes).ok()
    };
    let refused = |error: TranscriptError| match error {
        TranscriptError::Document(wrong) => Failure::of_document(wrong),
        error => {
            Failure::of(error.code(), &error).help(format!("nothing was started; mend {}", file.display()))
        }
    };
    ScriptedAgent::new(Transcript::read(file, bytes, &patches).map_err(refused)?).map_err(refused)
}

/// The agent that a model answers.
fn modelled(file: &Path, bytes: &[u8], turns_before: u32) -> Result<Arc<dyn Agent>, Failure> {
    let refused = |error: ModelAgentError| refused(file, error);
    let document = ModelAgentDocument::read(file, bytes).map_err(refused)?;
    let named = AgentId::new(format!("model.{}", document.name()));
    let id = named.map_err(|error| Failure::of("MODEL_AGENT_NAME", &error))?;
    let context = ContextAllowance::of_tokens(document.context_tokens())
        .map_err(|error| Failure::of(error.code(), &error))?;
    let environment = |name: &str| std::env::var(name).ok();
    let (model, max_output_tokens) = (document.digest(), document.max_output_tokens());
    let client =
        Client::new(document, &environment, Arc::new(SystemClock), Arc::new(SystemEntropy), turns_before)
            .map_err(refused)?;
    let (quote, pricing) = (client.call_quote(), client.pricing());
    let redactor = client.redactor();
    let settings = ModelSettings {
        model,
        quote,
        // Where no price is known, a cap on tokens stands in for the one on money.
        cost: Arc::new(move |usage| pricing.cost(usage).unwrap_or(MicroUsd::ZERO)),
        max_output_tokens,
        redactor,
        context,
    };
    Ok(Arc::new(ModelAgent::new(id, Arc::new(client), settings)))
}

/// Why a file describes no model that could be asked.
pub(crate) fn refused(file: &Path, error: ModelAgentError) -> Failure {
    match error {
        ModelAgentError::Document(wrong) => Failure::of_document(wrong),
        ModelAgentError::KeyAbsent(ref name) => Failure::of(error.code(), &error)
            .help(format!("nothing was started; `export {name}=...` puts the key there")),
        error => {
            Failure::of(error.code(), &error).help(format!("nothing was started; mend {}", file.display()))
        }
    }
}

/// What a run is pinned to of its agent.
pub(crate) fn pin(agent: &dyn Agent) -> AgentPin {
    AgentPin { id: agent.id().clone(), definition: agent.definition(), turn_quote: agent.turn_quote() }
}
