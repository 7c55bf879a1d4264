//! The fingerprint by which a repeated failure is recognised.

use std::collections::BTreeSet;

use ambit_canonical::encode;
use ambit_ids::{Digest, GateId};
use serde::{Deserialize, Serialize};

use crate::failure::shortened;
use crate::noise::without_noise;
use crate::{Ending, GateOutput, NotStarted, ResourceLimit, runner};

/// How many of the last lines that look like an error stand for output in no known format.
const TELLING_LINES: usize = 20;
/// The most failures that the digest covers, of those that sort first.
const COVERED: usize = 64;
const TELLING_WORDS: [&str; 14] = [
    "error",
    "fail",
    "panic",
    "exception",
    "fatal",
    "abort",
    "denied",
    "cannot",
    "undefined",
    "unresolved",
    "missing",
    "not found",
    "no such",
    "unexpected",
];

/// What makes two failures of a gate the same failure: the gate, the type of the error, and where it lies.
///
/// Two fingerprints are of the same failure where they are equal. The digest covers all failures of the execution as a
/// set, so that the order in which parallel tests end does not matter, and a fix of one of three failing tests is
/// progress and not a repetition. `class` and `location` describe the one that sorts first and are for people.
///
/// Nothing that differs by itself between two executions takes part: no timestamp, duration, address, port, object id,
/// UUID, temporary path, value in a message or line number. A line moves with every edit above it, so the location is
/// the test, the file and the function; where a compiler or a loading module names neither, the file and the message.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FailureFingerprint {
    /// The gate.
    pub gate: GateId,
    /// The type of the error: what the runner calls it, or how the execution ended. At most 120 bytes.
    pub class: String,
    /// Where the failure lies; `None` where the output does not tell. At most 512 bytes.
    pub location: Option<String>,
    /// The digest of the gate, the ending, and the types and locations of all failures.
    pub digest: Digest,
}

/// What the digest is of.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Identity<'a> {
    version: u32,
    gate: &'a GateId,
    ending: &'a str,
    breaches: &'a BTreeSet<ResourceLimit>,
    failures: &'a BTreeSet<(String, Option<String>)>,
    telling: BTreeSet<String>,
}

/// The fingerprint of one execution of a gate.
///
/// `None` where the gate said nothing about the revision: it passed, was aborted, or nobody knows how it ended. Where a
/// limit ended the execution, the limit is the whole error, since how far the output came is chance. Output in no known
/// format is recognised by its last lines that look like an error, as a set and without noise.
#[must_use]
pub fn fingerprint(
    gate: &GateId,
    ending: Ending,
    breaches: &BTreeSet<ResourceLimit>,
    output: GateOutput<'_>,
) -> Option<FailureFingerprint> {
    let ended = ending_class(ending)?;
    let streams = if output_counts(ending) { output.streams() } else { [Vec::new(), Vec::new()] };
    let failures: BTreeSet<(String, Option<String>)> = runner::read(&streams)
        .map(|(_, report)| report.failures)
        .unwrap_or_default()
        .iter()
        .map(|failure| (failure.class.clone(), failure.location().map(|at| shortened(&at, 512))))
        .collect();
    let failures: BTreeSet<_> = failures.into_iter().take(COVERED).collect();
    let exited = matches!(ending, Ending::Exited { .. });
    let first = failures.first().cloned();
    let (class, location) = match (first, breaches.first()) {
        (Some((class, location)), _) if exited => (class, location),
        (Some((_, location)), _) => (ended.clone(), location),
        (None, Some(limit)) if exited => (format!("limit {}", limit.as_str()), None),
        (None, _) => (ended.clone(), None),
    };
    let telling = if failures.is_empty() { telling_lines(&streams) } else { BTreeSet::new() };
    // A runner's exit code says no more than its list of failures does.
    let ending = if exited && !failures.is_empty() { "exit" } else { &ended };
    let identity = Identity { version: 1, gate, ending, breaches, failures: &failures, telling };
    let digest = match encode(&identity) {
        Ok(bytes) => bytes.digest(),
        Err(_) => Digest::of_parts(&[gate.as_str().as_bytes(), b"\0", class.as_bytes()]),
    };
    Some(FailureFingerprint { gate: gate.clone(), class, location, digest })
}

fn ending_class(ending: Ending) -> Option<String> {
    match ending {
        Ending::Exited { code: 0 } | Ending::Aborted | Ending::Indeterminate => None,
        Ending::Exited { code } => Some(format!("exit {code}")),
        Ending::Signalled { signal } => Some(format!("signal {signal}")),
        Ending::LimitReached { limit } => Some(format!("limit {}", limit.as_str())),
        Ending::NotStarted { why } => Some(format!(
            "not started: {}",
            match why {
                NotStarted::CommandNotFound => "command not found",
                NotStarted::NotExecutable => "not executable",
                NotStarted::WorkdirMissing => "working directory missing",
            }
        )),
    }
}

fn output_counts(ending: Ending) -> bool {
    matches!(ending, Ending::Exited { .. } | Ending::Signalled { .. })
}

/// The last lines that look like an error; where none does, the last lines.
fn telling_lines(streams: &[Vec<String>; 2]) -> BTreeSet<String> {
    let lines = || streams.iter().flatten().rev().filter(|line| !line.trim().is_empty());
    let looks_like_error = |line: &&String| {
        let lower = line.to_lowercase();
        TELLING_WORDS.iter().any(|word| lower.contains(word))
    };
    let telling: BTreeSet<String> =
        lines().filter(looks_like_error).take(TELLING_LINES).map(|line| without_noise(line)).collect();
    if telling.is_empty() {
        lines().take(TELLING_LINES).map(|line| without_noise(line)).collect()
    } else {
        telling
    }
}
