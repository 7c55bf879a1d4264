use std::path::Path;

use ambit_blueprint::read_typed;
use ambit_ids::{Digest, DocumentName, UnixMs};
use serde::Deserialize;

use crate::base_url::BaseUrl;
use crate::bound;
use crate::dialogue::ModelRequest;
use crate::error::ModelAgentError;
use crate::key::KeyReference;
use crate::limits::ESTIMATED_TOKEN_BYTES;
use crate::price::{Price, Pricing};
use crate::stated_price::{PriceChoice, PriceForm};
use crate::wire::{Manner, OutputLimitName, Wire};

const OPENAI: &str = "api.openai.com";

/// Which model answers, where, with which key, and what it may use: a document of the kind `ModelAgent`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelAgentDocument {
    name: DocumentName,
    digest: Digest,
    wire: Wire,
    base: BaseUrl,
    model: String,
    key: KeyReference,
    stream: bool,
    output_limit: OutputLimitName,
    max_output_tokens: u32,
    context_tokens: u32,
    price: PriceChoice,
    token_cap: Option<u64>,
    timeout_ms: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Form {
    api_version: ApiVersion,
    kind: Kind,
    metadata: Metadata,
    spec: Spec,
}

#[derive(Deserialize)]
enum ApiVersion {
    #[serde(rename = "coding-agent.enterprise/v1")]
    V1,
}

#[derive(Deserialize)]
enum Kind {
    ModelAgent,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Metadata {
    name: DocumentName,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Spec {
    wire: Wire,
    base_url: String,
    model: String,
    key: String,
    #[serde(default = "yes")]
    stream: bool,
    output_limit: Option<OutputLimitName>,
    max_output_tokens: u64,
    context_tokens: u64,
    #[serde(default)]
    price: PriceForm,
    token_cap: Option<u64>,
    #[serde(default = "ten_minutes")]
    timeout_seconds: u64,
    #[serde(default)]
    allow_plain_http: bool,
}

const fn yes() -> bool {
    true
}

const fn ten_minutes() -> u64 {
    600
}

impl ModelAgentDocument {
    /// Reads a document of at most [`ambit_ids::limits::DOCUMENT_BYTES`]. `file` names it in problems, which are told at
    /// their places.
    ///
    /// # Errors
    /// [`ModelAgentError`] where it is none, a field lies outside its range, or its base URL or key reference is refused.
    pub fn read(file: &Path, bytes: &[u8]) -> Result<Self, ModelAgentError> {
        let (form, value) = read_typed(&file.to_string_lossy(), bytes)?;
        let Form { api_version: ApiVersion::V1, kind: Kind::ModelAgent, metadata, spec } = form;
        let digest = ambit_canonical::encode(&value)?.digest();
        let visible = spec.model.bytes().all(|b| b.is_ascii_graphic());
        if spec.model.is_empty() || spec.model.len() > 200 || !visible {
            return Err(ModelAgentError::Range {
                field: "model",
                range: "1 to 200 visible ASCII characters".to_owned(),
            });
        }
        if let Some(cap) = spec.token_cap {
            within::<u64>("tokenCap", cap, 1, ambit_ids::limits::CANONICAL_INTEGER_MAX)?;
        }
        if spec.output_limit.is_some() && spec.wire != Wire::OpenaiChat {
            let range = "left out unless `wire` is `openai-chat`".to_owned();
            return Err(ModelAgentError::Range { field: "outputLimit", range });
        }
        let base = BaseUrl::parse(&spec.base_url, spec.allow_plain_http)?;
        let output_limit = spec.output_limit.unwrap_or(if base.is_of(OPENAI) {
            OutputLimitName::MaxCompletionTokens
        } else {
            OutputLimitName::MaxTokens
        });
        Ok(Self {
            name: metadata.name,
            digest,
            wire: spec.wire,
            base,
            model: spec.model,
            key: KeyReference::parse(&spec.key)?,
            stream: spec.stream,
            output_limit,
            max_output_tokens: within("maxOutputTokens", spec.max_output_tokens, 16, 1_000_000)?,
            context_tokens: within("contextTokens", spec.context_tokens, 20_000, 16_000_000)?,
            price: spec.price.read()?,
            token_cap: spec.token_cap,
            timeout_ms: within("timeoutSeconds", spec.timeout_seconds, 1, 3_600)
                .map(|seconds: u32| u64::from(seconds) * 1_000)?,
        })
    }

    /// How the document is named.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.as_str()
    }

    /// Where the key is, in the words of the document: `env:NAME`, `file:/absolute/path` or `none`. Never the key.
    #[must_use]
    pub fn key_reference(&self) -> String {
        self.key.to_string()
    }

    /// The digest of everything that it says, in canonical form: the reference to the key, never the key.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// The wire that is spoken.
    #[must_use]
    pub const fn wire(&self) -> Wire {
        self.wire
    }

    /// The model, as its vendor names it.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Where it is, without any secret.
    #[must_use]
    pub fn base_url(&self) -> &str {
        self.base.as_str()
    }

    /// The most tokens of one answer, reasoning included.
    #[must_use]
    pub const fn max_output_tokens(&self) -> u32 {
        self.max_output_tokens
    }

    /// The tokens of one request, by an estimate of three bytes each.
    #[must_use]
    pub const fn context_tokens(&self) -> u32 {
        self.context_tokens
    }

    /// The most tokens of one request that any vendor can count, one for each byte of the estimate. No request is sent that
    /// is larger by [`input_bound_tokens`](Self::input_bound_tokens), and this much is reserved for each.
    #[must_use]
    pub const fn request_bound_tokens(&self) -> u64 {
        self.context_tokens as u64 * ESTIMATED_TOKEN_BYTES as u64
    }

    /// The most tokens that all calls of a run may use together, where there is such a cap.
    #[must_use]
    pub const fn token_cap(&self) -> Option<u64> {
        self.token_cap
    }

    /// More tokens than a vendor can count for the input of this request: one for each byte of its text, and what a vendor
    /// adds around it.
    #[must_use]
    pub fn input_bound_tokens(request: &ModelRequest) -> u64 {
        bound::input_tokens(request)
    }

    /// What the model's tokens cost on the day of `now`.
    ///
    /// # Errors
    /// [`ModelAgentError::PriceUnknown`] where the table does not know the model and the document has no token cap.
    pub fn pricing(&self, now: UnixMs) -> Result<Pricing, ModelAgentError> {
        match &self.price {
            PriceChoice::Free => Ok(Pricing::Free),
            PriceChoice::Stated(price) => Ok(Pricing::Priced(*price)),
            PriceChoice::Table => match Price::of_model(&self.model, now) {
                Err(ModelAgentError::PriceUnknown(_)) if self.token_cap.is_some() => Ok(Pricing::Unknown),
                found => found.map(Pricing::Priced),
            },
        }
    }

    pub(crate) fn manner(&self) -> Manner {
        Manner { model: self.model.clone(), stream: self.stream, output_limit: self.output_limit }
    }

    pub(crate) const fn base(&self) -> &BaseUrl {
        &self.base
    }

    pub(crate) const fn key(&self) -> &KeyReference {
        &self.key
    }

    pub(crate) const fn timeout_ms(&self) -> u64 {
        self.timeout_ms
    }

    pub(crate) const fn streams(&self) -> bool {
        self.stream
    }
}

fn within<T: TryFrom<u64>>(
    field: &'static str,
    value: u64,
    least: u64,
    most: u64,
) -> Result<T, ModelAgentError> {
    let refused = || ModelAgentError::Range { field, range: format!("{least} to {most}") };
    if !(least..=most).contains(&value) {
        return Err(refused());
    }
    T::try_from(value).map_err(|_| refused())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEC: &str = "wire: openai-chat, baseUrl: \"http://localhost:1\", model: m, key: none, maxOutputTokens: 100, contextTokens: 20000, price: free";

    fn read(spec: &str) -> Result<ModelAgentDocument, ModelAgentError> {
        let text = format!(
            "apiVersion: coding-agent.enterprise/v1\nkind: ModelAgent\nmetadata: {{name: t}}\nspec: {{{spec}}}\n"
        );
        ModelAgentDocument::read(Path::new("t.yaml"), text.as_bytes())
    }

    #[test]
    fn the_model_agents_on_the_page_are_some() {
        let page = include_str!("../../../../docs/documents.md");
        let blocks: Vec<&str> =
            page.split("```yaml model-agent\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
        assert!(blocks.len() >= 2);
        for block in blocks {
            ModelAgentDocument::read(Path::new("documents.md"), block.as_bytes()).unwrap();
        }
    }

    #[test]
    fn what_lies_outside_is_told_with_its_code() {
        for (old, new, code) in [
            ("key: none", "key: sk-1", "MODEL_KEY_REFERENCE"),
            ("http://localhost:1", "http://models.example", "MODEL_PLAIN_HTTP"),
            ("http://localhost:1", "https://u:p@models.example", "MODEL_URL_REFUSED"),
            ("model: m", "model: \"a b\"", "MODEL_AGENT_RANGE"),
            ("model: m", "model: \"\"", "MODEL_AGENT_RANGE"),
            ("maxOutputTokens: 100", "maxOutputTokens: 0", "MODEL_AGENT_RANGE"),
            ("maxOutputTokens: 100", "maxOutputTokens: 9999999", "MODEL_AGENT_RANGE"),
            ("contextTokens: 20000", "contextTokens: 100", "MODEL_AGENT_RANGE"),
            ("price: free", "price: free, tokenCap: 0", "MODEL_AGENT_RANGE"),
            ("price: free", "price: free, timeoutSeconds: 0", "MODEL_AGENT_RANGE"),
            ("price: free", "price: cheap", "DOCUMENT_UNKNOWN_WORD"),
            ("price: free", "price: 7", "DOCUMENT_WRONG_TYPE"),
            ("price: free", "price: {inputUsdPerMillion: 1}", "DOCUMENT_MISSING_FIELD"),
            ("price: free", "price: free, temperature: 1", "DOCUMENT_UNKNOWN_FIELD"),
            ("wire: openai-chat", "wire: openai-responses, outputLimit: max-tokens", "MODEL_AGENT_RANGE"),
            ("wire: openai-chat", "wire: smoke-signals", "DOCUMENT_UNKNOWN_WORD"),
            ("maxOutputTokens: 100", "maxOutputTokens: -1", "DOCUMENT_MALFORMED_VALUE"),
            (
                "price: free",
                "price: {inputUsdPerMillion: 1.0000001, cacheReadUsdPerMillion: 1, cacheWriteUsdPerMillion: 1, outputUsdPerMillion: 1}",
                "MODEL_PRICE_MALFORMED",
            ),
        ] {
            assert!(SPEC.contains(old));
            assert_eq!(read(&SPEC.replace(old, new)).unwrap_err().code(), code, "{new}");
        }
        read(SPEC).unwrap();
    }

    #[test]
    fn a_slip_is_told_at_its_place_with_what_was_meant() {
        for (old, new, slip, meant) in [
            ("maxOutputTokens: 100", "maxOutputToken: 100", "maxOutputToken:", "maxOutputTokens"),
            ("wire: openai-chat", "wire: openai-chta", "openai-chta", "openai-chat"),
            ("price: free", "price: tabel", "tabel", "table"),
            ("price: free", "price: {inputUsdPerMilion: 1}", "inputUsdPerMilion", "inputUsdPerMillion"),
        ] {
            let spec = SPEC.replace(old, new);
            let column = "spec: {".len() + spec.find(slip).unwrap() + 1;
            let ModelAgentError::Document(error) = read(&spec).unwrap_err() else { panic!("{new}") };
            let told = error.to_string();
            assert!(told.contains(&format!("t.yaml:4:{column}")), "{new}: {told}");
            assert!(told.contains(&format!("did you mean `{meant}`?")), "{new}: {told}");
        }
    }

    #[test]
    fn a_price_is_stated_looked_up_or_made_needless_by_a_cap() {
        let now = UnixMs::new(1_796_000_000_000);
        let pricing = |spec: &str| read(spec).unwrap().pricing(now);
        assert_eq!(pricing(SPEC).unwrap(), Pricing::Free);
        let unknown = SPEC.replace(", price: free", "");
        assert_eq!(pricing(&unknown).unwrap_err().code(), "MODEL_PRICE_UNKNOWN");
        assert_eq!(pricing(&format!("{unknown}, tokenCap: 9000")).unwrap(), Pricing::Unknown);
        let known = unknown.replace("model: m", "model: gpt-5");
        assert!(matches!(pricing(&known).unwrap(), Pricing::Priced(_)));
        let stated = "{inputUsdPerMillion: 3, cacheReadUsdPerMillion: 0.30, cacheWriteUsdPerMillion: 3.75, outputUsdPerMillion: 15}";
        let Pricing::Priced(price) = pricing(&SPEC.replace("free", stated)).unwrap() else { panic!() };
        assert_eq!(price.quote(1_000_000, 0).get(), 3_750_000);
    }

    #[test]
    fn the_digest_is_of_what_is_said_and_not_of_how() {
        let plain = read(SPEC).unwrap();
        assert_eq!(
            plain.digest(),
            read(&SPEC.replace("price: free", "\"price\":   \"free\"")).unwrap().digest()
        );
        assert_ne!(plain.digest(), read(&SPEC.replace("key: none", "key: \"env:K\"")).unwrap().digest());
    }

    #[test]
    fn the_limit_of_output_has_the_name_that_its_host_knows() {
        let limit = |spec: &str| read(spec).unwrap().output_limit;
        assert_eq!(limit(SPEC), OutputLimitName::MaxTokens);
        let openai = SPEC.replace("http://localhost:1", "https://api.openai.com/v1");
        assert_eq!(limit(&openai), OutputLimitName::MaxCompletionTokens);
        assert_eq!(limit(&format!("{openai}, outputLimit: max-tokens")), OutputLimitName::MaxTokens);
    }
}
