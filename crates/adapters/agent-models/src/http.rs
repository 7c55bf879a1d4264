//! The one place that opens connections.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use reqwest::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, Url};

use crate::document::ModelAgentDocument;
use crate::error::ModelAgentError;
use crate::key::Secret;
use crate::limits::{CONNECT_MS, STREAM_SILENCE_MS};
use crate::wire::Wire;

/// Headers of an answer that mean anything here.
const READ_HEADERS: &[&str] = &["content-type", "retry-after", "retry-after-ms"];

/// How a request did not come to an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    /// It was not sent: there was no connection.
    NotSent,
    /// Time was up after it was sent, wholly or in part.
    Timeout,
    /// The connection broke after it was sent, wholly or in part.
    Broken,
}

/// The beginning of an answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Only those that mean anything, names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Body,
}

/// The rest of it.
#[derive(Debug)]
pub(crate) enum Body {
    Arriving(Response),
    /// From a cassette; `broken` where it ended in a broken connection.
    Recorded {
        bytes: Option<Vec<u8>>,
        broken: bool,
    },
}

impl Body {
    pub(crate) async fn chunk(&mut self) -> Result<Option<Vec<u8>>, Lost> {
        match self {
            Self::Arriving(response) => match response.chunk().await {
                Ok(chunk) => Ok(chunk.map(|chunk| chunk.to_vec())),
                Err(error) if error.is_timeout() => Err(Lost::Timeout),
                Err(_) => Err(Lost::Broken),
            },
            Self::Recorded { bytes, broken } => match bytes.take() {
                None if *broken => Err(Lost::Broken),
                bytes => Ok(bytes),
            },
        }
    }
}

/// Sends requests of one agent. No redirect is followed, no proxy asked, no cookie kept, no connection used twice: one
/// that the other side is about to close would leave it open whether a request arrived.
#[derive(Debug)]
pub(crate) struct Connection {
    client: Client,
    endpoint: Url,
}

impl Connection {
    pub(crate) fn new(document: &ModelAgentDocument) -> Result<Self, ModelAgentError> {
        // Another part of the program may have chosen a provider already; that one serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let total = Duration::from_millis(document.timeout_ms());
        let silence = if document.streams() { STREAM_SILENCE_MS } else { document.timeout_ms() };
        let here = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
        let mut builder = Client::builder()
            .user_agent(concat!("ambit/", env!("CARGO_PKG_VERSION")))
            .no_proxy()
            .redirect(Policy::none())
            .referer(false)
            .retry(reqwest::retry::never())
            .pool_max_idle_per_host(0)
            .http1_only()
            .connect_timeout(Duration::from_millis(CONNECT_MS).min(total))
            .read_timeout(Duration::from_millis(silence))
            .timeout(total)
            .resolve_to_addrs("localhost", &here.map(|address| SocketAddr::new(address, 0)));
        if document.base().is_plain() {
            // Nothing is verified in the clear, and root certificates need not be there.
            builder = builder.tls_certs_only([]);
        } else {
            builder = builder.https_only(true);
        }
        let client = builder.build().map_err(ModelAgentError::Transport)?;
        Ok(Self { client, endpoint: document.base().endpoint(document.wire().path()) })
    }

    pub(crate) async fn send(
        &self,
        wire: Wire,
        key: Option<&Secret>,
        stream: bool,
        body: Vec<u8>,
    ) -> Result<Answer, Lost> {
        let headers = headers(wire, key, stream).ok_or(Lost::NotSent)?;
        let request = self.client.post(self.endpoint.clone()).headers(headers).body(body);
        let response = request.send().await.map_err(|error| match error {
            error if error.is_connect() || error.is_builder() => Lost::NotSent,
            error if error.is_timeout() => Lost::Timeout,
            _ => Lost::Broken,
        })?;
        let read = |name: &&str| {
            let value = response.headers().get(*name)?.to_str().ok()?;
            Some(((*name).to_owned(), value.to_owned()))
        };
        let headers = READ_HEADERS.iter().filter_map(read).collect();
        Ok(Answer { status: response.status().as_u16(), headers, body: Body::Arriving(response) })
    }
}

fn headers(wire: Wire, key: Option<&Secret>, stream: bool) -> Option<HeaderMap> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let accept = if stream { "text/event-stream" } else { "application/json" };
    headers.insert(ACCEPT, HeaderValue::from_static(accept));
    // Whoever does not say this may be sent anything.
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    if wire == Wire::AnthropicMessages {
        headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
    }
    if let Some(key) = key {
        let (name, text) = match wire {
            Wire::AnthropicMessages => ("x-api-key", zeroize::Zeroizing::new(key.expose().to_owned())),
            Wire::OpenaiResponses | Wire::OpenaiChat => {
                (AUTHORIZATION.as_str(), zeroize::Zeroizing::new(format!("Bearer {}", key.expose())))
            }
        };
        let mut value = HeaderValue::from_str(&text).ok()?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Some(headers)
}
