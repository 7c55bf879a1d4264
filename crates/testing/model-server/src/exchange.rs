//! One request and its answer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::{Method, Request, Response};
use serde_json::Value;

use crate::answer::{Answer, Ground};
use crate::bill::{Bill, BillEntry, Price, Usage};
use crate::body::AnswerBody;
use crate::delivery::{Delivery, plain, rejected};
use crate::fault::Fault;
use crate::request_text::text_of;
use crate::stage::{Cue, Seen, Stage};
use crate::wire::{Asked, Rejection, Wire};

/// Larger requests are answered with 413.
const REQUEST_BYTES: usize = 32 * 1024 * 1024;

/// A request as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenRequest {
    /// Its number, from 1; a bill names it by this.
    pub number: u64,
    /// Its method.
    pub method: String,
    /// Its path, with its query.
    pub path: String,
    /// Its headers, names in small letters. The key is among them.
    pub headers: Vec<(String, String)>,
    /// Its body; bytes that are not UTF-8 are replaced.
    pub body: String,
}

/// The connection ends without an answer.
#[derive(Debug, thiserror::Error)]
#[error("the connection ends without an answer, on purpose")]
pub(crate) struct Unanswered;

/// What all connections share.
pub(crate) struct Shared {
    pub(crate) price: Price,
    pub(crate) key: Option<String>,
    pub(crate) wires: Vec<Wire>,
    pub(crate) stage: Mutex<Stage>,
    pub(crate) kept: Mutex<Kept>,
}

/// What is kept of all requests.
#[derive(Default)]
pub(crate) struct Kept {
    pub(crate) requests: Vec<TakenRequest>,
    pub(crate) bill: Bill,
    pub(crate) problems: Vec<String>,
}

/// What is known of a request before its body.
struct Arrival {
    number: u64,
    wire: Wire,
}

impl Shared {
    pub(crate) fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn stage(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) async fn answer(
        &self,
        request: Request<Incoming>,
        resets: &AtomicBool,
    ) -> Result<Response<AnswerBody>, Unanswered> {
        let (head, body) = request.into_parts();
        if head.method == Method::GET && head.uri.path() == "/bill" {
            let bill = serde_json::to_string(&self.kept().bill).unwrap_or_default();
            return Ok(plain(200, bill));
        }
        let wire = self.wires.iter().copied().find(|wire| wire.path() == head.uri.path());
        let wire = wire.filter(|_| head.method == Method::POST);
        let number = self.keep(&head);
        if let Some(wire) = wire
            && self.stage().takes_reset()
        {
            self.charge_nothing(&Arrival { number, wire }, "", 0);
            resets.store(true, Ordering::Release);
            return Err(Unanswered);
        }
        let body = Limited::new(body, REQUEST_BYTES).collect().await.map(http_body_util::Collected::to_bytes);
        if let Ok(body) = &body {
            self.keep_body(number, body);
        }
        let Some(wire) = wire else {
            let says = format!("{{\"error\":{{\"message\":\"nothing answers at {}\"}}}}", head.uri.path());
            return Ok(plain(404, says));
        };
        let arrival = Arrival { number, wire };
        let answered = match body {
            Ok(body) => self.answer_body(&arrival, &body, resets),
            Err(_) => Err(Outcome::Rejected(Rejection::new(413, "Request exceeds the maximum size"))),
        };
        match answered {
            Ok(response) => Ok(response),
            Err(Outcome::Rejected(rejection)) => {
                self.charge_nothing(&arrival, "", rejection.status);
                Ok(rejected(wire, number, &rejection))
            }
            Err(Outcome::Unanswered) => Err(Unanswered),
        }
    }

    fn answer_body(
        &self,
        arrival: &Arrival,
        bytes: &Bytes,
        resets: &AtomicBool,
    ) -> Result<Response<AnswerBody>, Outcome> {
        let Arrival { number, wire } = *arrival;
        let headers = self.headers_of(number);
        wire.check_headers(&headers, self.key.as_deref())?;
        let is_json = |(name, value): &(String, String)| {
            name == "content-type" && value.starts_with("application/json")
        };
        if !headers.iter().any(is_json) {
            return Err(Rejection::new(415, "content-type: must be application/json").into());
        }
        let body: Value = serde_json::from_slice(bytes)
            .map_err(|cause| Rejection::new(400, format!("The request body is not valid JSON: {cause}")))?;
        let asked = wire.check(&body)?;
        let text = text_of(&body);
        let seen = Seen { number, text: &text, body_bytes: bytes.len(), asked: &asked };
        let Some(Cue { turn, fault, captures }) = self.stage().cue(&seen) else {
            return Err(self.problem(number, "the script has no turn for it"));
        };
        let fault = fault.as_ref();
        let delivery = Delivery { wire, number, body: &body, asked: &asked };
        if let Some(fault) = fault {
            if let Some(response) = delivery.instead(fault) {
                self.charge_nothing(arrival, &asked.model, response.status().as_u16());
                return Ok(response);
            }
            if matches!(fault, Fault::Reset | Fault::Close) {
                self.charge_nothing(arrival, &asked.model, 0);
                resets.store(*fault == Fault::Reset, Ordering::Release);
                return Err(Outcome::Unanswered);
            }
        }
        let ground =
            Ground { wire, number, asked: &asked, body_bytes: bytes.len(), captures: &captures, fault };
        let answer = Answer::of(&turn, &ground)
            .map_err(|name| self.problem(number, &format!("the capture `{name}` was not found in it")))?;
        self.charge(arrival, &asked, answer.usage, fault);
        Ok(delivery.of(&answer, fault))
    }

    /// Writes down what the script did not foresee, and answers it so that no client tries again.
    fn problem(&self, number: u64, says: &str) -> Outcome {
        let says = format!("request {number}: {says}");
        self.kept().problems.push(says.clone());
        Outcome::Rejected(Rejection::new(400, format!("The script does not fit. {says}")))
    }

    fn keep(&self, head: &hyper::http::request::Parts) -> u64 {
        let mut kept = self.kept();
        let number = u64::try_from(kept.requests.len()).unwrap_or(u64::MAX).saturating_add(1);
        let headers = head.headers.iter().map(|(name, value)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        });
        let request = TakenRequest {
            number,
            method: head.method.to_string(),
            path: head.uri.to_string(),
            headers: headers.collect(),
            body: String::new(),
        };
        kept.requests.push(request);
        number
    }

    fn keep_body(&self, number: u64, body: &Bytes) {
        if let Some(request) = self.kept().requests.iter_mut().find(|request| request.number == number) {
            request.body = String::from_utf8_lossy(body).into_owned();
        }
    }

    fn headers_of(&self, number: u64) -> Vec<(String, String)> {
        let kept = self.kept();
        let request = kept.requests.iter().find(|request| request.number == number);
        request.map(|request| request.headers.clone()).unwrap_or_default()
    }

    fn charge_nothing(&self, arrival: &Arrival, model: &str, status: u16) {
        self.enter(BillEntry {
            number: arrival.number,
            wire: arrival.wire,
            model: model.to_owned(),
            status,
            charged: false,
            told: false,
            usage: Usage::default(),
            cost_micro_dollars: 0,
        });
    }

    fn charge(&self, arrival: &Arrival, asked: &Asked, usage: Usage, fault: Option<&Fault>) {
        self.enter(BillEntry {
            number: arrival.number,
            wire: arrival.wire,
            model: asked.model.clone(),
            status: 200,
            charged: true,
            told: asked.wants_usage && !fault.is_some_and(Fault::hides_usage),
            usage,
            cost_micro_dollars: self.price.of(&usage),
        });
    }

    fn enter(&self, entry: BillEntry) {
        let mut kept = self.kept();
        let at = kept.bill.entries.partition_point(|known| known.number < entry.number);
        kept.bill.entries.insert(at, entry);
    }
}

/// Why a request has no answer of the model.
enum Outcome {
    Rejected(Rejection),
    Unanswered,
}

impl From<Rejection> for Outcome {
    fn from(rejection: Rejection) -> Self {
        Self::Rejected(rejection)
    }
}
