use std::path::PathBuf;

use ambit_blueprint::DocumentError;

/// Why there is no client for a document, or why a file is no such document. Nothing was sent.
#[derive(Debug, thiserror::Error)]
pub enum ModelAgentError {
    /// It is no document, or one of another shape.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// A number or a text lies outside its range.
    #[error("`{field}` must be {range}")]
    Range {
        /// The field.
        field: &'static str,
        /// What it may be.
        range: String,
    },
    /// An amount of money is none.
    #[error("the price {text:?} is none")]
    Money {
        /// The text.
        text: String,
        /// Why.
        #[source]
        source: ambit_ids::ParseMoneyError,
    },
    /// The base URL is none that is spoken to.
    #[error("`baseUrl` is refused: {0}")]
    Url(&'static str),
    /// A key would travel in the clear.
    #[error(
        "`baseUrl` is plain http to another machine: use https, or say `allowPlainHttp: true` where the network is yours"
    )]
    PlainHttp,
    /// The reference to a key is none. Only its beginning is told, in case it is the key itself.
    #[error("`key` must be `env:NAME`, `file:/absolute/path` or `none`, and begins with {0:?}")]
    KeyReference(String),
    /// The environment variable that holds the key is not set.
    #[error(
        "the environment variable {0} is not set or empty: put the key there, or name another one in `key`"
    )]
    KeyAbsent(String),
    /// The file that holds the key cannot be read.
    #[error("the key file {} cannot be read", path.display())]
    KeyFile {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// What stands in the place of the key is none, or others may read it.
    #[error("the key cannot be used: {0}")]
    KeyUnusable(String),
    /// Nobody can tell what a call costs.
    #[error(
        "no price is known for the model {0:?}: state one under `price`, say `price: free`, or set a `tokenCap`"
    )]
    PriceUnknown(String),
    /// The price table that comes with this program is malformed.
    #[error("the price table is malformed: {0}")]
    PriceTable(String),
    /// It has no canonical form.
    #[error("the model agent has no canonical form")]
    Canonical(#[from] ambit_canonical::EncodeError),
    /// No connection can be made at all: usually this machine has no root certificates.
    #[error("no connections can be made: look whether the package with root certificates is installed")]
    Transport(#[source] reqwest::Error),
}

impl ModelAgentError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Document(error) => error.code(),
            Self::Range { .. } => "MODEL_AGENT_RANGE",
            Self::Money { .. } => "MODEL_PRICE_MALFORMED",
            Self::Url(_) => "MODEL_URL_REFUSED",
            Self::PlainHttp => "MODEL_PLAIN_HTTP",
            Self::KeyReference(_) => "MODEL_KEY_REFERENCE",
            Self::KeyAbsent(_) => "MODEL_KEY_ABSENT",
            Self::KeyFile { .. } => "MODEL_KEY_FILE",
            Self::KeyUnusable(_) => "MODEL_KEY_UNUSABLE",
            Self::PriceUnknown(_) => "MODEL_PRICE_UNKNOWN",
            Self::PriceTable(_) => "MODEL_PRICE_TABLE",
            Self::Canonical(_) => "MODEL_AGENT_NOT_CANONICAL",
            Self::Transport(_) => "MODEL_TRANSPORT",
        }
    }
}
