//! A model server that follows a script, in the wires of the vendors: Anthropic Messages, OpenAI Responses and OpenAI Chat
//! Completions, each whole and as a stream. It listens on the loopback alone.
//!
//! It is written from the vendors' public descriptions and knows no client of this workspace, so that the two check each
//! other; the vendors' own clients converse with it in its tests. It refuses what the vendors refuse, goes wrong as they go
//! wrong ([`Fault`]), and writes its own [`Bill`].
//!
//! A script is JSON or YAML:
//!
//! ```yaml
//! select: order                # or answers, tool_results
//! captures:                    # searched in all strings of the request; the last match wins
//!   digest: "digest: (sha256:[0-9a-f]{64})"
//! turns:
//!   - when: "Name this conversation"   # a side request: answered whenever it comes
//!     repeat: true
//!     text: A small repair
//!   - thinking: Let me look first.
//!     text: I read the file.
//!     calls:
//!       - name: read_file
//!         arguments: {path: src/cart.py}
//!     usage: {input: 900, cache_read: 100, cache_write: 0, output: 60, reasoning: 20}
//!   - before: [rate_limited, {cut: {after_bytes: 300}}]   # two requests go wrong, the third is answered
//!     calls:
//!       - name: edit_file
//!         arguments: {path: src/cart.py, expects: "${digest}"}
//!   - text: It is repaired.
//!     stop: end
//!   - fault: overloaded
//! default:
//!   text: There is nothing left to do.
//! ```
//!
//! With `random: {seed: 7}` instead of turns it makes conversations up, with calls of the tools that requests declare.
//!
//! ```no_run
//! use ambit_model_server::{ModelServer, Script, Turn};
//!
//! let script = Script::of([Turn::call("read_file", serde_json::json!({"path": "a"})), Turn::text("Done.")]);
//! let server = ModelServer::start(script)?;
//! println!("{}/v1", server.base_url());
//! // a client converses
//! assert!(server.problems().is_empty());
//! println!("{} micro-dollars", server.bill().total_micro_dollars());
//! # Ok::<(), ambit_model_server::StartError>(())
//! ```

#![forbid(unsafe_code)]

mod answer;
mod bill;
mod body;
mod chance;
mod connection;
mod delivery;
mod exchange;
mod fault;
mod random;
mod request_text;
mod sample;
mod script;
mod server;
mod stage;
mod wire;
mod yaml;

pub use bill::{Bill, BillEntry, Price, Usage};
pub use exchange::TakenRequest;
pub use fault::Fault;
pub use random::RandomPlan;
pub use script::{Call, Script, ScriptError, Selection, Stop, Turn, UsageGiven};
pub use server::{ModelServer, ServerBuilder, StartError};
pub use wire::Wire;
