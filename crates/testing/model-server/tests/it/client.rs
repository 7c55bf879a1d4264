//! HTTP by hand, so that what is wrong on the wire is seen as it is.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use ambit_model_server::{ModelServer, Wire};
use serde_json::{Value, json};

/// What came back.
pub(crate) struct Raw {
    pub(crate) status: u16,
    /// In small letters, one a line.
    pub(crate) headers: String,
    /// Without the lengths of chunks.
    pub(crate) body: Vec<u8>,
    /// Whether the body ended as HTTP says it must.
    pub(crate) complete: bool,
    /// How reading ended where it did not end in order.
    pub(crate) error: Option<ErrorKind>,
}

impl Raw {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|cause| panic!("{cause}: {}", self.text()))
    }

    /// The data of each event that is JSON.
    pub(crate) fn events(&self) -> Vec<Value> {
        let text = self.text();
        let lines = text.lines().filter_map(|line| line.strip_prefix("data: "));
        lines.filter_map(|data| serde_json::from_str(data).ok()).collect()
    }

    pub(crate) fn has_header(&self, line: &str) -> bool {
        self.headers.lines().any(|known| known == line)
    }
}

/// A small good request with a tool.
pub(crate) fn good(wire: Wire, prompt: &str, stream: bool) -> Value {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    let user = json!([{"role": "user", "content": prompt}]);
    match wire {
        Wire::Messages => json!({
            "model": "m", "max_tokens": 500, "stream": stream, "messages": user,
            "tools": [{"name": "read_file", "input_schema": schema}],
        }),
        Wire::Responses => json!({
            "model": "m", "max_output_tokens": 500, "stream": stream, "input": user,
            "tools": [{"type": "function", "name": "read_file", "parameters": schema}],
        }),
        Wire::Chat => {
            let mut body = json!({
                "model": "m", "max_completion_tokens": 500, "stream": stream, "messages": user,
                "tools": [{"type": "function", "function": {"name": "read_file", "parameters": schema}}],
            });
            if stream {
                body["stream_options"] = json!({"include_usage": true});
            }
            body
        }
    }
}

pub(crate) fn usual_headers(wire: Wire) -> &'static [&'static str] {
    match wire {
        Wire::Messages => {
            &["content-type: application/json", "x-api-key: k", "anthropic-version: 2023-06-01"]
        }
        Wire::Responses | Wire::Chat => &["content-type: application/json", "authorization: Bearer k"],
    }
}

pub(crate) fn post(server: &ModelServer, wire: Wire, body: &Value) -> Raw {
    send(server, "POST", wire.path(), usual_headers(wire), &body.to_string(), usize::MAX)
}

/// Reads until the end, or until so many bytes came.
pub(crate) fn send(
    server: &ModelServer,
    method: &str,
    path: &str,
    headers: &[&str],
    body: &str,
    most_bytes: usize,
) -> Raw {
    send_and_wait(Duration::from_secs(60), server, method, path, headers, body, most_bytes)
}

/// Likewise, where nothing comes for so long at most.
pub(crate) fn send_and_wait(
    patience: Duration,
    server: &ModelServer,
    method: &str,
    path: &str,
    headers: &[&str],
    body: &str,
    most_bytes: usize,
) -> Raw {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(patience)).unwrap();
    let lines: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{lines}content-length: {}\r\n\r\n{body}",
        body.len()
    );
    // Where the server leaves before it reads, what reading says is what counts.
    let _written = stream.write_all(request.as_bytes());
    let (mut bytes, mut buffer) = (Vec::new(), vec![0; 64 * 1024]);
    let mut error = None;
    while bytes.len() < most_bytes {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => bytes.extend_from_slice(&buffer[..read]),
            Err(cause) => {
                error = Some(cause.kind());
                break;
            }
        }
    }
    parsed(&bytes, error)
}

fn parsed(bytes: &[u8], error: Option<ErrorKind>) -> Raw {
    let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
        return Raw { status: 0, headers: String::new(), body: Vec::new(), complete: false, error };
    };
    let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let headers = head.split_once("\r\n").map_or("", |(_, rest)| rest).replace("\r\n", "\n");
    let rest = &bytes[end + 4..];
    let length = headers.lines().find_map(|line| line.strip_prefix("content-length: "));
    let (body, complete) = match length {
        Some(length) => (rest.to_vec(), rest.len() == length.parse::<usize>().unwrap()),
        None => unchunked(rest),
    };
    Raw { status, headers, body, complete, error }
}

fn unchunked(mut rest: &[u8]) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    loop {
        let Some(line) = rest.windows(2).position(|window| window == b"\r\n") else { return (body, false) };
        let size = std::str::from_utf8(&rest[..line]).unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        rest = &rest[line + 2..];
        if size == 0 {
            return (body, true);
        }
        if rest.len() < size + 2 {
            body.extend_from_slice(&rest[..size.min(rest.len())]);
            return (body, false);
        }
        body.extend_from_slice(&rest[..size]);
        rest = &rest[size + 2..];
    }
}
