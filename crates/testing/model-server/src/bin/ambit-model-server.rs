//! The model server by itself: prints its address once it answers, and lives until it is ended.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use ambit_model_server::{ModelServer, Price, Script, Wire};

const USAGE: &str = "usage: ambit-model-server --script FILE [--wire any|anthropic|responses|chat] [--key KEY] \
[--price input=N,cache_read=N,cache_write=N,output=N] [--port N]\n\
prices are micro-dollars for a million tokens";

struct Arguments {
    script: PathBuf,
    wires: Vec<Wire>,
    key: Option<String>,
    price: Price,
    port: u16,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(says) => {
            let _nobody_reads = writeln!(std::io::stderr(), "{says}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), String> {
    let arguments = read(std::env::args().skip(1))?;
    let script = Script::load(&arguments.script).map_err(|cause| with_causes(&cause))?;
    let mut builder =
        ModelServer::builder(script).wires(&arguments.wires).price(arguments.price).port(arguments.port);
    if let Some(key) = &arguments.key {
        builder = builder.key(key);
    }
    let server = builder.start().map_err(|cause| with_causes(&cause))?;
    let mut out = std::io::stdout();
    let printed = writeln!(out, "{}", server.base_url()).and_then(|()| out.flush());
    printed.map_err(|cause| format!("the address could not be printed: {cause}"))?;
    server.wait();
    Ok(())
}

fn read(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let (mut script, mut key, mut port) = (None, None, 0);
    let (mut wires, mut price) = (Wire::ALL.to_vec(), Price::default());
    while let Some(word) = words.next() {
        let Some(value) = words.next() else { return Err(USAGE.to_owned()) };
        let wrong = || format!("{word}: `{value}` is not understood\n{USAGE}");
        match word.as_str() {
            "--script" => script = Some(PathBuf::from(value)),
            "--key" => key = Some(value),
            "--port" => port = value.parse().map_err(|_| wrong())?,
            "--price" => price = Price::parse(&value).ok_or_else(wrong)?,
            "--wire" if value == "any" => {}
            "--wire" => wires = vec![Wire::named(&value).ok_or_else(wrong)?],
            _ => return Err(USAGE.to_owned()),
        }
    }
    let script = script.ok_or_else(|| USAGE.to_owned())?;
    Ok(Arguments { script, wires, key, price, port })
}

fn with_causes(error: &dyn std::error::Error) -> String {
    let mut says = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        says = format!("{says}: {error}");
        cause = error.source();
    }
    says
}
