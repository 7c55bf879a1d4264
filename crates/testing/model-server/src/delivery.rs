//! An answer on its way: its status, its headers, and what goes wrong with its bytes.

use std::io::Write;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::Response;
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderValue, LOCATION, RETRY_AFTER};
use serde_json::Value;

use crate::answer::Answer;
use crate::body::{AnswerBody, Step};
use crate::fault::Fault;
use crate::wire::{Asked, Rejection, Wire};

/// Where redirects lead: on this server, where nothing answers but everything is written down.
const ELSEWHERE: &str = "/elsewhere";
const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream; charset=utf-8";

/// A request on its way back.
pub(crate) struct Delivery<'a> {
    pub(crate) wire: Wire,
    pub(crate) number: u64,
    pub(crate) body: &'a Value,
    pub(crate) asked: &'a Asked,
}

impl Delivery<'_> {
    /// What stands in an answer's place where the fault needs none.
    pub(crate) fn instead(&self, fault: &Fault) -> Option<Response<AnswerBody>> {
        if let Some((status, says)) = fault.status() {
            let mut response = rejected(self.wire, self.number, &Rejection::new(status, says));
            if let Fault::RateLimitedFor { seconds } = fault {
                response.headers_mut().insert(RETRY_AFTER, (*seconds).into());
            }
            return Some(response);
        }
        match fault {
            Fault::Redirect302 => Some(redirect(302)),
            Fault::Redirect307 => Some(redirect(307)),
            Fault::ErrorBody => {
                let error = Rejection::new(500, "Internal server error");
                let mut response = rejected(self.wire, self.number, &error);
                *response.status_mut() = hyper::StatusCode::OK;
                Some(response)
            }
            Fault::ErrorEvent { .. } if !self.asked.stream => {
                Some(rejected(self.wire, self.number, &Rejection::new(500, "Internal server error")))
            }
            _ => None,
        }
    }

    /// The answer, with what goes wrong on the way.
    pub(crate) fn of(&self, answer: &Answer, fault: Option<&Fault>) -> Response<AnswerBody> {
        let pieces = if self.asked.stream {
            self.wire.events(answer, self.body, self.asked).iter().map(crate::wire::Event::bytes).collect()
        } else {
            vec![self.wire.whole(answer, self.body).to_string().into_bytes()]
        };
        let usual = if self.asked.stream { EVENTS } else { JSON };
        let content_type = if fault == Some(&Fault::WrongContentType) { "text/html" } else { usual };
        let body = match fault {
            None if !self.asked.stream => AnswerBody::whole(pieces.concat()),
            Some(Fault::Gzip) => AnswerBody::whole(compressed(&pieces.concat())),
            fault => AnswerBody::of(self.steps(pieces, fault)),
        };
        let mut response = Response::new(body);
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        if fault == Some(&Fault::Gzip) {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        identified(&mut response, self.wire, self.number);
        response
    }

    fn steps(&self, pieces: Vec<Vec<u8>>, fault: Option<&Fault>) -> Vec<Step> {
        let first = |bytes: usize| pieces.concat().into_iter().take(bytes).collect::<Vec<u8>>();
        match fault {
            Some(Fault::Cut { after_bytes }) => vec![Step::Send(first(*after_bytes)), Step::BreakOff],
            Some(Fault::CutCleanly { after_bytes }) => vec![Step::Send(first(*after_bytes))],
            Some(Fault::Stall { after_bytes }) => vec![Step::Send(first(*after_bytes)), Step::Hold],
            Some(Fault::Drip { bytes, every_ms }) => {
                let whole = pieces.concat();
                let drops = whole.chunks((*bytes).max(1));
                let pause = Duration::from_millis(*every_ms);
                drops.flat_map(|drop| [Step::Send(drop.to_vec()), Step::Wait(pause)]).collect()
            }
            Some(Fault::ErrorEvent { after_events }) => {
                let mut steps: Vec<_> = pieces.into_iter().take(*after_events).map(Step::Send).collect();
                steps.push(Step::Send(self.wire.error_event(self.number, steps.len()).bytes()));
                steps
            }
            Some(Fault::Endless) if self.asked.stream => {
                let opening = pieces.into_iter().take(self.wire.opening_events());
                let mut steps: Vec<_> = opening.map(Step::Send).collect();
                steps.push(Step::Forever(self.wire.filler_event(self.number, steps.len()).bytes()));
                steps
            }
            Some(Fault::Endless) => vec![Step::Send(b"{".to_vec()), Step::Forever(b" ".to_vec())],
            Some(Fault::EndlessLine) => {
                let opening = if self.asked.stream { "data: {\"type\":\"" } else { "{\"id\":\"" };
                vec![Step::Send(opening.into()), Step::Forever(b"a".to_vec())]
            }
            _ => pieces.into_iter().map(Step::Send).collect(),
        }
    }
}

/// The vendor's error.
pub(crate) fn rejected(wire: Wire, number: u64, rejection: &Rejection) -> Response<AnswerBody> {
    let error = wire.error(rejection, number).to_string();
    let mut response = Response::new(AnswerBody::whole(error.into_bytes()));
    *response.status_mut() =
        hyper::StatusCode::from_u16(rejection.status).unwrap_or(hyper::StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    identified(&mut response, wire, number);
    response
}

/// JSON that belongs to no wire.
pub(crate) fn plain(status: u16, body: String) -> Response<AnswerBody> {
    let mut response = Response::new(AnswerBody::whole(body.into_bytes()));
    *response.status_mut() =
        hyper::StatusCode::from_u16(status).unwrap_or(hyper::StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    response
}

fn redirect(status: u16) -> Response<AnswerBody> {
    let mut response = plain(status, String::new());
    response.headers_mut().insert(LOCATION, HeaderValue::from_static(ELSEWHERE));
    response
}

fn identified(response: &mut Response<AnswerBody>, wire: Wire, number: u64) {
    if let Ok(value) = HeaderValue::from_str(&format!("req_{number:012}")) {
        response.headers_mut().insert(wire.request_id_header(), value);
    }
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.unwrap_or_default()
}
