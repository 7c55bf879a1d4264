//! One attempt to get an answer, and what it means for the next.

use ambit_ids::UnixMs;

use crate::cassette::{Exchange, Tape};
use crate::dialogue::{CallFailure, Charge, ModelReply};
use crate::http::{Answer, Connection, Lost};
use crate::key::Secret;
use crate::limits::{RECORDED_BYTES, REFUSAL_BYTES};
use crate::retry::RetryAfter;
use crate::status::judge;
use crate::thoughts;
use crate::wire::{Decoder, Fault, Flow, Wire, error_of, parse, told, vendor_code};

/// Where answers come from.
#[derive(Debug)]
pub(crate) enum Channel {
    Live(Connection),
    Replay(Tape),
}

/// What came of an attempt.
pub(crate) enum Outcome {
    Ended(Result<ModelReply, CallFailure>),
    /// Nothing was charged, and it may be better later.
    Again(CallFailure, RetryAfter),
}

pub(crate) struct Attempt<'a> {
    pub(crate) channel: &'a Channel,
    pub(crate) wire: Wire,
    pub(crate) key: Option<&'a Secret>,
    pub(crate) stream: bool,
    pub(crate) tape: Option<&'a Tape>,
    pub(crate) body: &'a [u8],
    pub(crate) now: UnixMs,
}

impl Attempt<'_> {
    pub(crate) async fn make(&self) -> Outcome {
        let sent = match self.channel {
            Channel::Live(connection) => {
                connection.send(self.wire, self.key, self.stream, self.body.to_vec()).await
            }
            Channel::Replay(tape) => tape.play(),
        };
        let mut record = Record::new(self);
        let outcome = match sent {
            Err(lost) => {
                record.exchange.broken = lost != Lost::NotSent;
                ended(lost)
            }
            Ok(answer) => {
                record.exchange.status = Some(answer.status);
                record.exchange.headers.clone_from(&answer.headers);
                match answer.status {
                    200 => Outcome::Ended(read(self.wire, answer, &mut record).await),
                    _ => self.refused(answer, &mut record).await,
                }
            }
        };
        record.keep(self);
        outcome
    }

    /// An answer whose status says that there is none. Its body is read for nothing but a code of the vendor.
    async fn refused(&self, mut answer: Answer, record: &mut Record) -> Outcome {
        let verdict = judge(answer.status);
        let mut body = Vec::new();
        while let Ok(Some(chunk)) = answer.body.chunk().await {
            record.take(&chunk);
            body.extend_from_slice(&chunk);
            if body.len() > REFUSAL_BYTES {
                break;
            }
        }
        let vendor = parse(&body).and_then(|body| vendor_code(error_of(&body).unwrap_or(&body)));
        let failure = CallFailure {
            code: verdict.code,
            detail: format!(
                "the vendor answered status {}{}; {}",
                answer.status,
                told(vendor.as_deref()),
                verdict.advice
            ),
            charge: if verdict.free { Charge::Nothing } else { Charge::Unsettled },
        };
        // Waiting mends a rate, not an empty account.
        if !verdict.again || vendor.as_deref() == Some("insufficient_quota") {
            return Outcome::Ended(Err(failure));
        }
        match RetryAfter::of(&answer.headers, self.now) {
            RetryAfter::TooLong => Outcome::Ended(Err(failure)),
            after => Outcome::Again(failure, after),
        }
    }
}

async fn read(wire: Wire, mut answer: Answer, record: &mut Record) -> Result<ModelReply, CallFailure> {
    let mut decoder = Decoder::new(wire);
    loop {
        match answer.body.chunk().await {
            Ok(None) => break,
            Ok(Some(chunk)) => {
                record.take(&chunk);
                if decoder.push(&chunk)? == Flow::Done {
                    break;
                }
            }
            Err(lost) => {
                record.exchange.broken = true;
                return Err(failure_of(lost));
            }
        }
    }
    decoder.finish().map_err(Fault::into)
}

fn ended(lost: Lost) -> Outcome {
    match lost {
        Lost::NotSent => Outcome::Again(failure_of(lost), RetryAfter::Untold),
        Lost::Timeout | Lost::Broken => Outcome::Ended(Err(failure_of(lost))),
    }
}

fn failure_of(lost: Lost) -> CallFailure {
    let (code, detail, charge) = match lost {
        Lost::NotSent => (
            "MODEL_UNREACHABLE",
            "no connection could be made: look at `baseUrl`, and whether a server is there",
            Charge::Nothing,
        ),
        Lost::Timeout => (
            "MODEL_TIMEOUT",
            "time was up before the answer was complete: raise `timeoutSeconds`, or lower `maxOutputTokens`",
            Charge::Unsettled,
        ),
        Lost::Broken => (
            "MODEL_CONNECTION_LOST",
            "the connection broke before the answer was complete",
            Charge::Unsettled,
        ),
    };
    CallFailure { code, detail: detail.to_owned(), charge }
}

/// What a tape gets to know of an attempt; nothing is kept where there is no tape.
struct Record {
    exchange: Exchange,
    bytes: Option<Vec<u8>>,
}

impl Record {
    fn new(attempt: &Attempt<'_>) -> Self {
        let request = attempt.tape.map(|_| String::from_utf8_lossy(attempt.body).into_owned());
        let exchange = Exchange {
            request: request.unwrap_or_default(),
            status: None,
            headers: Vec::new(),
            body: String::new(),
            broken: false,
        };
        Self { exchange, bytes: attempt.tape.map(|_| Vec::new()) }
    }

    /// What no cassette has room for is not kept.
    fn take(&mut self, chunk: &[u8]) {
        if let Some(bytes) = &mut self.bytes
            && bytes.len() + chunk.len() <= RECORDED_BYTES
        {
            bytes.extend_from_slice(chunk);
        }
    }

    fn keep(mut self, attempt: &Attempt<'_>) {
        if let (Some(tape), Some(bytes)) = (attempt.tape, self.bytes) {
            let key = attempt.key.map(Secret::expose);
            self.exchange.body = thoughts::without(&bytes, key);
            tape.add(&self.exchange, key);
        }
    }
}
