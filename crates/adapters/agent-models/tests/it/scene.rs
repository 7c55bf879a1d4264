//! What the tests share: a document, a request, a clock that does not wait, and a server of one's own.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex};

use ambit_agent_models::{
    CallFailure, Cassette, Client, Message, Model, ModelAgentDocument, ModelReply, ModelRequest, ToolSpec,
};
use ambit_ids::UnixMs;
use ambit_ports::AbortHandle;
use ambit_ports::runtime::{Clock, Entropy};
use async_trait::async_trait;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The key of every client that has one.
pub(crate) const KEY: &str = "CANARY-0123456789-key";

pub(crate) const WIRES: [&str; 3] = ["anthropic-messages", "openai-responses", "openai-chat"];

pub(crate) fn document(wire: &str, base: &str, more: &str) -> ModelAgentDocument {
    let text = format!(
        "apiVersion: coding-agent.enterprise/v1\nkind: ModelAgent\nmetadata: {{name: t}}\nspec:\n  wire: {wire}\n  \
         baseUrl: \"{base}\"\n  model: m\n  maxOutputTokens: 100\n  contextTokens: 20000\n{more}"
    );
    ModelAgentDocument::read(Path::new("t.yaml"), text.as_bytes()).unwrap()
}

pub(crate) fn request() -> ModelRequest {
    ModelRequest {
        system: "Be brief.".to_owned(),
        messages: vec![Message::User("Hello?".to_owned())],
        tools: vec![ToolSpec {
            name: "read_project_file".to_owned(),
            description: "Reads a file.".to_owned(),
            schema: serde_json::json!({"type": "object", "properties": {"path": {"type": "string"}}}),
        }],
        max_output_tokens: 100,
    }
}

/// A clock that stands at one moment, and knows how long it was asked to wait.
#[derive(Default)]
pub(crate) struct StillClock(Mutex<Vec<u64>>);

const NOW: UnixMs = UnixMs::new(1_796_000_000_000);

impl StillClock {
    pub(crate) fn waits(&self) -> Vec<u64> {
        self.0.lock().unwrap().clone()
    }
}

#[async_trait]
impl Clock for StillClock {
    fn now(&self) -> UnixMs {
        NOW
    }

    async fn sleep_until(&self, moment: UnixMs) {
        self.0.lock().unwrap().push(moment.since(NOW).get());
    }
}

pub(crate) struct NoChance;

impl Entropy for NoChance {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(0);
    }
}

pub(crate) async fn ask(client: &Client) -> Result<ModelReply, CallFailure> {
    let (_handle, signal) = AbortHandle::new();
    client.complete(request(), signal).await
}

/// A client that is answered from what another one recorded.
pub(crate) fn replaying(wire: &str, cassette: Cassette) -> Client {
    let document = document(wire, "https://models.example", "  key: none\n  price: free\n");
    Client::replaying(document, cassette, Arc::new(StillClock::default()), Arc::new(NoChance)).unwrap()
}

/// A cassette as it stands in a file.
pub(crate) fn written(cassette: &Cassette) -> String {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("cassette.json");
    cassette.write(&path).unwrap();
    std::fs::read_to_string(&path).unwrap()
}

/// How a connection is answered.
#[derive(Clone)]
pub(crate) enum Play {
    /// Reads the request, writes this, closes.
    Answer(Vec<u8>),
    /// Reads the request, writes this, and is then silent.
    Stall(Vec<u8>),
    /// Closes as soon as a byte has arrived.
    Reset,
}

/// A server on loopback that plays one connection after the other, and the last one for ever.
pub(crate) struct Server {
    pub(crate) base: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(crate) async fn start(plays: Vec<Play>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        tokio::spawn(async move {
            let mut plays: VecDeque<Play> = plays.into();
            while let Ok((stream, _)) = listener.accept().await {
                let play = if plays.len() > 1 { plays.pop_front() } else { plays.front().cloned() };
                tokio::spawn(serve(stream, play.unwrap(), Arc::clone(&seen)));
            }
        });
        Self { base, requests }
    }

    /// The requests, headers and bodies.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    pub(crate) fn client(&self, wire: &str, more: &str) -> (Client, Arc<StillClock>) {
        client_of(document(wire, &self.base, more))
    }
}

pub(crate) fn client_of(document: ModelAgentDocument) -> (Client, Arc<StillClock>) {
    let clock = Arc::new(StillClock::default());
    let environment = |name: &str| (name == "KEY").then(|| KEY.to_owned());
    let waits: Arc<dyn Clock> = clock.clone();
    (Client::new(document, &environment, waits, Arc::new(NoChance), 0).unwrap(), clock)
}

async fn serve(mut stream: TcpStream, play: Play, seen: Arc<Mutex<Vec<String>>>) {
    if let Play::Reset = play {
        let mut byte = [0; 1];
        let _ = stream.read(&mut byte).await;
        seen.lock().unwrap().push(String::from_utf8_lossy(&byte).into_owned());
        return;
    }
    let request = read_request(&mut stream).await;
    seen.lock().unwrap().push(request);
    match play {
        Play::Answer(bytes) => {
            let _ = stream.write_all(&bytes).await;
            let _ = stream.shutdown().await;
        }
        Play::Stall(bytes) => {
            let _ = stream.write_all(&bytes).await;
            std::future::pending::<()>().await;
        }
        Play::Reset => {}
    }
}

async fn read_request(stream: &mut TcpStream) -> String {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok())
                .unwrap_or(0);
            if body.len() >= length {
                return text;
            }
        }
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return text,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        }
    }
}

/// An answer with a length.
pub(crate) fn answer(status: &str, headers: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n{headers}\r\n{body}", body.len()).into_bytes()
}

pub(crate) const USAGE: &str = r#""usage":{"prompt_tokens":9,"completion_tokens":1}"#;

pub(crate) fn chat_answer() -> String {
    format!(r#"{{"choices":[{{"message":{{"content":"Hi."}},"finish_reason":"stop"}}],{USAGE}}}"#)
}
