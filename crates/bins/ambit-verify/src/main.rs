//! `ambit-verify BUNDLE --trust-root FILE [--json]`: the verb of the same name, and nothing else.

#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use ambit_verify::{UNVERIFIED, USAGE, page, printable, printable_json, verify};

const HELP: &str = "\
Verifies an evidence bundle offline: nothing but the bundle and the trust root is read.

usage: ambit-verify BUNDLE --trust-root FILE [--json]

  BUNDLE             the directory that `ambit run export --out` wrote, or the file of its --tar
  --trust-root FILE  the keys that are trusted; those in the bundle never are
  --json             answer in JSON
  --version          tell the version

exit codes:
  0    every check ran and held
  2    the command was wrong
  10   something is refuted
  12   it could not be verified
";

/// What is asked for.
struct Asked {
    bundle: PathBuf,
    trust_root: PathBuf,
    json: bool,
}

enum Parsed {
    Verify(Asked),
    Tell(&'static str),
    Wrong(String),
}

fn parse(words: impl Iterator<Item = OsString>) -> Parsed {
    let (mut bundle, mut trust_root, mut json) = (None, None, false);
    let mut words = words;
    while let Some(word) = words.next() {
        match word.to_str() {
            Some("--help" | "-h") => return Parsed::Tell(HELP),
            Some("--version" | "-V") => {
                return Parsed::Tell(concat!("ambit-verify ", env!("CARGO_PKG_VERSION"), "\n"));
            }
            Some("--json") => json = true,
            Some("--trust-root") if trust_root.is_none() => match words.next() {
                Some(file) => trust_root = Some(PathBuf::from(file)),
                None => return Parsed::Wrong("--trust-root names no file".to_owned()),
            },
            Some(other) if other.starts_with('-') => {
                return Parsed::Wrong(format!("`{other}` is not known here, or stands here twice"));
            }
            _ if bundle.is_none() => bundle = Some(PathBuf::from(word)),
            _ => return Parsed::Wrong("more than one bundle is named".to_owned()),
        }
    }
    match (bundle, trust_root) {
        (Some(bundle), Some(trust_root)) => Parsed::Verify(Asked { bundle, trust_root, json }),
        (None, _) => Parsed::Wrong("no bundle is named".to_owned()),
        (_, None) => Parsed::Wrong("no trust root is named".to_owned()),
    }
}

fn main() -> ExitCode {
    let asked = match parse(std::env::args_os().skip(1)) {
        Parsed::Verify(asked) => asked,
        Parsed::Tell(text) => return told(text, 0),
        Parsed::Wrong(why) => {
            let text =
                format!("error[USAGE]: {why}\n  help: ambit-verify BUNDLE --trust-root FILE [--json]\n");
            let _ = std::io::stderr().write_all(printable(&text).as_bytes());
            return ExitCode::from(USAGE);
        }
    };
    match verify(&asked.bundle, &asked.trust_root) {
        Ok(report) => {
            let json = serde_json::to_value(&report).unwrap_or_default();
            let text = if asked.json { printable_json(&json) } else { printable(&page(&report)) };
            told(&text, report.exit())
        }
        Err(refusal) => {
            let error = serde_json::json!({"error": {
                "code": refusal.code, "message": refusal.message, "help": refusal.help}});
            let text = if asked.json { printable_json(&error) } else { printable(&format!("{refusal}\n")) };
            let _ = std::io::stderr().write_all(text.as_bytes());
            ExitCode::from(UNVERIFIED)
        }
    }
}

/// An answer that could not be written is no proof.
fn told(text: &str, exit: u8) -> ExitCode {
    let mut out = std::io::stdout();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => ExitCode::from(UNVERIFIED),
        _ => ExitCode::from(exit),
    }
}
