//! Every limit of the wires, with its unit in its name.

use ambit_ids::limits;

/// The largest answer that is read, a whole one or a stream with everything around the words.
pub(crate) const ANSWER_BYTES: usize = 64 << 20;
/// The largest whole answer. It is in memory at once, several times over while it is read.
pub(crate) const WHOLE_BYTES: usize = 16 << 20;
/// The longest line of a stream, and the largest event of one. Some vendors repeat the whole answer in the last event.
pub(crate) const EVENT_BYTES: usize = 8 << 20;
/// The most events of a stream. Vendors send one for every token.
pub(crate) const STREAM_EVENTS: u32 = 400_000;
/// The most bytes of text and arguments that are kept of an answer.
pub(crate) const KEPT_BYTES: usize = limits::AGENT_ANSWER_BYTES;
/// The most calls of one answer.
pub(crate) const CALLS: usize = limits::QUEUED_CALLS;
/// The most blocks or items of one answer, calls included.
pub(crate) const ITEMS: usize = 1_024;
/// The largest answer that is read where the status says that there is none.
pub(crate) const REFUSAL_BYTES: usize = 64 << 10;
/// The longest id of a call that is kept as it is.
pub(crate) const CALL_ID_BYTES: usize = 128;
/// The longest name of a tool that is sent.
pub(crate) const TOOL_NAME_BYTES: usize = 64;
/// The longest error code of a vendor that is told.
pub(crate) const VENDOR_CODE_BYTES: usize = 40;
/// The largest count of tokens that is believed.
pub(crate) const USAGE_TOKENS: u64 = 1 << 40;

/// The longest wait for a connection, TLS included.
pub(crate) const CONNECT_MS: u64 = 10_000;
/// The longest silence within a stream. Models that reason may say nothing for minutes.
pub(crate) const STREAM_SILENCE_MS: u64 = 300_000;
/// The most attempts of one call.
pub(crate) const ATTEMPTS: u32 = 5;
/// The first wait before another attempt. Each later one is twice as long.
pub(crate) const BACK_OFF_MS: u64 = 500;
/// The longest wait that is chosen here.
pub(crate) const BACK_OFF_LIMIT_MS: u64 = 8_000;
/// The longest wait that a vendor may ask for. Whoever asks for more gets no second attempt.
pub(crate) const RETRY_AFTER_LIMIT_MS: u64 = 60_000;

/// The longest key.
pub(crate) const KEY_BYTES: usize = 4 << 10;
/// The most of an answer that is recorded, before thoughts are taken out.
pub(crate) const RECORDED_BYTES: usize = 4 << 20;
/// The largest cassette that is read.
pub(crate) const CASSETTE_BYTES: u64 = 16 << 20;

/// Tokens that a vendor adds to any request with tools: its own instructions for calls.
pub(crate) const WRAPPING_TOKENS: u64 = 2_048;
/// Tokens that a vendor adds around a message, a call, a result or a tool, beyond its text.
pub(crate) const WRAPPING_PART_TOKENS: u64 = 64;
/// Bytes of text that are estimated as one token where people state a budget in tokens. Real text has more on the average.
pub(crate) const ESTIMATED_TOKEN_BYTES: u32 = 3;
