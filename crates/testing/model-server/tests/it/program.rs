//! The program by itself.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

const SCRIPT: &str = "captures:\n  digest: \"digest (\\\\w+)\"\nturns:\n  - text: \"It is ${digest}.\"\n    usage: {input: 1000001, output: 0}\n";

#[test]
fn the_program_plays_a_yaml_file_and_prints_where_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script.yaml");
    std::fs::write(&script, SCRIPT).unwrap();
    let mut program = Command::new(env!("CARGO_BIN_EXE_ambit-model-server"))
        .arg("--script")
        .arg(&script)
        .args(["--wire", "chat", "--key", "k", "--price", "input=1,output=5"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut address = String::new();
    BufReader::new(program.stdout.take().unwrap()).read_line(&mut address).unwrap();
    let host = address.trim().strip_prefix("http://").unwrap();
    let body = r#"{"model":"m","messages":[{"role":"user","content":"digest abc"}]}"#;
    let asked = |request: String| {
        let mut stream = TcpStream::connect(host).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let answer = asked(format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer k\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    ));
    let bill = asked("GET /bill HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".to_owned());
    program.kill().unwrap();
    program.wait().unwrap();
    assert!(answer.contains("It is abc."), "{answer}");
    assert!(bill.contains("\"cost_micro_dollars\":2"), "{bill}");
}

#[test]
fn the_program_refuses_what_it_does_not_understand() {
    for words in
        [&["--script"][..], &[], &["--script", "no-such-file"], &["--port", "x"], &["--wire", "pigeon"]]
    {
        let output = Command::new(env!("CARGO_BIN_EXE_ambit-model-server")).args(words).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(!output.stderr.is_empty() && output.stdout.is_empty());
    }
}
