//! Which agent answers the turns of a run.

use std::path::Path;
use std::sync::Arc;

use ambit_ports::agent::Agent;

use crate::config::UserConfig;
use crate::failure::Failure;
use crate::verbs::run::scripted;

/// Variables that hold the keys of models. Only whether they are set is ever looked at here.
const KEYS: [&str; 2] = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"];

/// The agent that a file describes: the only place that knows which kinds there are.
pub(crate) fn agent(file: &Path) -> Result<Arc<dyn Agent>, Failure> {
    Ok(scripted(file)?)
}

/// The agent that was named, or else the user's own. A repository never says who works on it.
pub(crate) fn chosen(named: Option<&Path>, config: &UserConfig) -> Result<Arc<dyn Agent>, Failure> {
    if let Some(file) = named {
        return agent(file);
    }
    let file = config.agent();
    if file.is_file() {
        return agent(&file);
    }
    let set: Vec<&str> = KEYS.into_iter().filter(|name| std::env::var_os(name).is_some()).collect();
    let seen = if set.is_empty() { String::new() } else { format!(" ({} is set)", set.join(" and ")) };
    let message = format!("no agent was named, and there is none in {}{seen}", file.display());
    Err(Failure::new("AGENT_MISSING", message).exiting(crate::failure::exit::USAGE).help(format!(
        "nothing was started; name one for this run with `--agent FILE`, or keep one for every run:\n  mkdir -p {}\n  cp FILE {}",
        file.parent().unwrap_or(&file).display(),
        file.display()
    )))
}
