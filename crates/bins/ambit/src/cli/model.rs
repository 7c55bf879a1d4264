//! The verbs of models.

use ambit_agent_models::Wire;
use clap::{Args, Subcommand, builder::PossibleValuesParser, builder::TypedValueParser as _};

#[derive(Debug, Subcommand)]
pub(crate) enum ModelVerb {
    /// Keep a model for every run that names no agent.
    Use(Box<UseArgs>),
    /// Show which model that is, and what a turn of it can cost.
    Show,
}

#[derive(Args, Debug)]
pub(crate) struct UseArgs {
    /// The model, as its vendor names it.
    pub(crate) model: String,
    /// How it is spoken to [default: by the model's name, and openai-chat where a base URL is given].
    #[arg(long, value_parser = PossibleValuesParser::new(Wire::ALL.iter().map(|wire| wire.as_str()))
        .map(|word| word.parse::<Wire>().unwrap_or(Wire::OpenaiChat)))]
    pub(crate) wire: Option<Wire>,
    /// Where it is [default: the vendor's own address].
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Where its key is: env:NAME, file:/absolute/path or none. Never the key itself.
    #[arg(long, value_name = "REFERENCE")]
    pub(crate) key: Option<String>,
    /// It costs nothing.
    #[arg(long, conflicts_with = "token_cap")]
    pub(crate) free: bool,
    /// The most tokens that a run may use, for a model whose price nobody knows.
    #[arg(long, value_name = "TOKENS")]
    pub(crate) token_cap: Option<u64>,
    /// The tokens of one request, by an estimate of three bytes each.
    #[arg(long, value_name = "TOKENS", default_value_t = 40_000)]
    pub(crate) context_tokens: u32,
    /// The most tokens of one answer.
    #[arg(long, value_name = "TOKENS", default_value_t = 8_000)]
    pub(crate) max_output_tokens: u32,
    /// Ask for answers as a whole and not as streams.
    #[arg(long)]
    pub(crate) no_stream: bool,
    /// Take the place of the model that is kept now.
    #[arg(long)]
    pub(crate) replace: bool,
}
