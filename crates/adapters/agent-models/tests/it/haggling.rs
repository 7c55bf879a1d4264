//! Prices, caps and conversations that chance makes, and chance that a seed makes.

use std::path::Path;

use ambit_agent_models::{
    Client, Message, ModelAgentDocument, ModelReply, ModelRequest, ToolResult, ToolSpec,
};
use ambit_ids::{ByteCount, DurationMs, MicroUsd, UnixMs};
use ambit_model_server::{Fault, ModelServer, Price};
use ambit_run::{Ledger, Limits};
use serde_json::json;

use crate::scene;

/// Numbers that follow from a seed.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn of(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `many`.
    pub(crate) fn below(&mut self, many: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        u32::try_from((self.0 >> 11) % u64::from(many)).unwrap()
    }

    fn words(&mut self, most: u32) -> String {
        let words: [&str; 7] = ["plain", "\"quoted\"", "a\nline", "日本", "\\", "🦀", "{\"a\": 1}"];
        (0..=self.below(most)).map(|_| words[self.below(7) as usize]).collect()
    }
}

/// What goes wrong, without what takes real time.
pub(crate) fn faults() -> Vec<Fault> {
    vec![
        Fault::RateLimited,
        Fault::RateLimited,
        Fault::RateLimitedFor { seconds: 7 },
        Fault::RateLimitedFor { seconds: 3_600 },
        Fault::Overloaded,
        Fault::Unavailable,
        Fault::ServerError,
        Fault::Redirect302,
        Fault::ErrorBody,
        Fault::Reset,
        Fault::Close,
        Fault::Cut { after_bytes: 300 },
        Fault::CutCleanly { after_bytes: 900 },
        Fault::ErrorEvent { after_events: 3 },
        Fault::WrongContentType,
        Fault::UsageMissing,
        Fault::TwoCalls,
        Fault::TwoCalls,
        Fault::ArgumentsEncodedTwice,
        Fault::ArgumentsOfTheOtherShape,
        Fault::InvalidArguments,
        Fault::WrongToolName,
        Fault::Empty,
        Fault::Refusal,
    ]
}

/// What tokens cost, to the server and to a document, each in its own words.
pub(crate) struct Deal {
    wire: &'static str,
    model: &'static str,
    stated: String,
    pub(crate) price: Price,
}

impl Deal {
    /// Some are the vendor's list price, looked up by the one and known to the other.
    pub(crate) fn made(wire: &'static str, number: u64, chance: &mut Chance) -> Self {
        if number.is_multiple_of(8) {
            let price =
                Price { input: 4_000_000, cache_read: 200_000, cache_write: 5_000_000, output: 20_000_000 };
            return Self { wire, model: "claude-opus-5-5", stated: "table".to_owned(), price };
        }
        let mut rate = || 1 + u64::from(chance.below(30_000_000));
        let price = Price { input: rate(), cache_read: rate(), cache_write: rate(), output: rate() };
        let dollars = |micros: u64| MicroUsd::new(micros).to_string();
        let stated = format!(
            "{{inputUsdPerMillion: {}, cacheReadUsdPerMillion: {}, cacheWriteUsdPerMillion: {}, outputUsdPerMillion: {}}}",
            dollars(price.input),
            dollars(price.cache_read),
            dollars(price.cache_write),
            dollars(price.output)
        );
        Self { wire, model: "m", stated, price }
    }

    /// A client of this price. One in four may use hardly more tokens than its first request.
    pub(crate) fn client(&self, server: &ModelServer, talk: &Talk, chance: &mut Chance) -> Client {
        let bound =
            ModelAgentDocument::input_bound_tokens(&talk.request()) + u64::from(talk.max_output_tokens);
        let cap = match chance.below(4) {
            0 => format!("  tokenCap: {}\n", bound + u64::from(chance.below(6_000))),
            _ => String::new(),
        };
        let text = format!(
            "apiVersion: coding-agent.enterprise/v1\nkind: ModelAgent\nmetadata: {{name: t}}\nspec:\n  wire: {}\n  \
             baseUrl: \"{}\"\n  model: {}\n  key: env:KEY\n  maxOutputTokens: {}\n  contextTokens: {}\n  stream: {}\n  price: {}\n{cap}",
            self.wire,
            server.base_url(),
            self.model,
            talk.max_output_tokens,
            20_000 + chance.below(20_000),
            chance.below(2) == 0,
            self.stated,
        );
        scene::client_of(ModelAgentDocument::read(Path::new("t.yaml"), text.as_bytes()).unwrap()).0
    }

    /// The money of a run: that of a few calls at their quotes, and a little.
    pub(crate) fn ledger(&self, quote: MicroUsd, chance: &mut Chance) -> Ledger {
        let cap = quote.get() * u64::from(1 + chance.below(4)) + u64::from(chance.below(50_000));
        let limits = Limits {
            model_steps: 24,
            patch_attempts_per_gate: 4,
            elapsed: DurationMs::new(60_000),
            changed_files: 12,
            added_dependencies: 1,
            parallel_processes: 2,
            tool_cost: MicroUsd::new(cap),
            repeated_failure: 2,
            output: ByteCount::new(1_000),
            side_effects: 10,
        };
        Ledger::new(limits, UnixMs::new(0))
    }
}

/// A conversation so far.
pub(crate) struct Talk {
    messages: Vec<Message>,
    max_output_tokens: u32,
}

impl Talk {
    pub(crate) fn beginning(chance: &mut Chance) -> Self {
        let messages = vec![Message::User(chance.words(80))];
        Self { messages, max_output_tokens: 16 + chance.below(2_000) }
    }

    pub(crate) fn request(&self) -> ModelRequest {
        let mut request = scene::request();
        request.messages.clone_from(&self.messages);
        request.max_output_tokens = self.max_output_tokens;
        let schema = json!({
            "type": "object",
            "properties": {"path": {"type": "string"}, "depth": {"type": "integer", "minimum": 0, "maximum": 9}},
            "required": ["path"],
        });
        request.tools.push(ToolSpec {
            name: "list_project_files".to_owned(),
            description: "Lists files.".to_owned(),
            schema,
        });
        request
    }

    /// The most that this very request can cost. Less is reserved for none.
    pub(crate) fn dearest(&self, client: &Client) -> MicroUsd {
        let input = ModelAgentDocument::input_bound_tokens(&self.request());
        client.pricing().quote(input, self.max_output_tokens.into())
    }

    /// Takes in what was answered, and answers it with results or with words.
    pub(crate) fn go_on(&mut self, reply: ModelReply, chance: &mut Chance) {
        let results: Vec<ToolResult> = reply
            .calls
            .iter()
            .map(|call| ToolResult {
                call: call.id.clone(),
                content: chance.words(60),
                is_error: chance.below(5) == 0,
            })
            .collect();
        self.messages.push(Message::Assistant { text: reply.text, calls: reply.calls });
        self.messages.push(match results.is_empty() {
            true => Message::User(chance.words(40)),
            false => Message::ToolResults(results),
        });
    }
}
