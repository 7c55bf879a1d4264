//! Command lines by which checks are run: which checks they call, on what, and whether a failure is still one.

use std::collections::BTreeSet;

use ambit_ids::RepoPath;
use ambit_policy::FactKind;

use super::shell::{Call, STRICT, call, split};
use crate::config::node::Node;
use crate::config::told::{Spot, Told};

/// One line of commands.
#[derive(Clone, Debug)]
pub(in crate::config) struct Command {
    pub(in crate::config) text: String,
    pub(in crate::config) line: u32,
}

/// The command lines that a setting holds.
pub(in crate::config) fn commands(node: &Node) -> Vec<Command> {
    let mut found = Vec::new();
    node.walk("", &mut |_, node| {
        let texts = node.text().into_iter().flat_map(str::lines);
        found.extend(texts.map(|text| Command { text: text.trim().to_owned(), line: node.line }));
    });
    found.retain(|command| !command.text.is_empty() && !command.text.starts_with('#'));
    found
}

/// Options that keep checks from running, failures from being told, or expectations from being compared.
const HARMFUL: [&str; 52] = [
    "--passWithNoTests",
    "--pass-with-no-tests",
    "--testPathIgnorePatterns",
    "--testNamePattern",
    "-t",
    "-k",
    "--deselect",
    "--ignore",
    "--ignore-glob",
    "--grep",
    "-g",
    "--fgrep",
    "--invert",
    "--skip",
    "--exclude",
    "--no-run",
    "-run",
    "-short",
    "--test-name-pattern",
    "--test-skip-pattern",
    "--test-only",
    "--only",
    "-u",
    "--updateSnapshot",
    "--update-snapshots",
    "--update",
    "--snapshot-update",
    "--accept",
    "--dry-run",
    "--collect-only",
    "--co",
    "--listTests",
    "--list",
    "--onlyChanged",
    "--changed",
    "--lastCommit",
    "--onlyFailures",
    "--exit-zero",
    "--no-fail",
    "--force-exit",
    "--retries",
    "--reruns",
    "--allow-no-tests",
    "--cap-lints",
    "--no-verify",
    "-i",
    "--ignore-errors",
    "--no-error",
    "-x",
    "--lf",
    "--last-failed",
    "--no-cov",
];
/// Names of models and of what asks them for a judgement.
const JUDGES: [&str; 14] = [
    "promptfoo",
    "deepeval",
    "ragas",
    "openai",
    "anthropic",
    "ollama",
    "llm",
    "gpt",
    "chat/completions",
    "v1/messages",
    "generatecontent",
    "llm-judge",
    "langsmith",
    "litellm",
];

/// The calls of checks. Where the whole is a check, every program that does more than prepare is one.
fn calls(commands: &[Command], is_check: bool) -> Vec<Call> {
    let mut found = Vec::new();
    let mut ignores = false;
    for command in commands {
        let text = command.text.as_str();
        ignores = (ignores || text.contains("set +e")) && !text.contains("set -e");
        let ignored = ignores || (text.starts_with('-') && !text.starts_with("--"));
        let text = text.trim_start_matches(['-', '@', '+']);
        let parts = split(text);
        for (number, (part, _)) in parts.iter().enumerate() {
            let Some(mut call) = call(part, is_check) else { continue };
            call.is_swallowed = ignored || is_swallowed(&parts[number..]);
            call.line = command.line;
            call.text.clone_from(&command.text);
            found.push(call);
        }
    }
    found
}

fn is_swallowed(parts: &[(String, &'static str)]) -> bool {
    let next = parts.get(1).map(|(text, _)| text.trim()).unwrap_or_default();
    let forgives = next.is_empty()
        || ["true", ":", "exit 0", "/bin/true", "echo", "printf", "return 0"]
            .iter()
            .any(|word| next.starts_with(word));
    let fails = parts.iter().skip(1).any(|(text, _)| {
        let text = text.trim();
        text.starts_with("exit") && text != "exit 0" || text == "false"
    });
    match parts.first().map_or("", |(_, mark)| *mark) {
        "||" => !fails,
        "|" | "|&" => !next.starts_with("xargs"),
        "&" => true,
        ";" => forgives && !next.is_empty() && !fails,
        "&&" => {
            is_swallowed(&parts[1..]) && parts.iter().skip(1).any(|(_, mark)| *mark == "||" || *mark == ";")
        }
        _ => false,
    }
}

/// What the second commands check less than the first.
pub(in crate::config) fn compare(
    path: &RepoPath,
    before: &[Command],
    after: &[Command],
    is_check: bool,
    told: &mut Told,
) {
    if before.iter().map(|command| &command.text).eq(after.iter().map(|command| &command.text)) {
        return;
    }
    let (old, new) = (calls(before, is_check), calls(after, is_check));
    if let Some(judge) = after.iter().find(|command| is_judged(&command.text))
        && !before.iter().any(|command| is_judged(&command.text))
    {
        let was = before.first().map(|command| command.text.as_str()).unwrap_or_default();
        told.tell(FactKind::GateJudgedByModel, Spot::after(path, judge.line), was, &judge.text);
    }
    let mut used = BTreeSet::new();
    for call in &old {
        let same = |(at, other): &(usize, &Call)| !used.contains(at) && other.program == call.program;
        let as_it_was =
            |(_, other): &(usize, &Call)| other.places == call.places && other.flags == call.flags;
        let candidates = || new.iter().enumerate().filter(same);
        let Some((at, other)) = candidates().find(as_it_was).or_else(|| candidates().next()) else {
            // Called once where it was called twice, on the same: nothing is lost.
            let kept = new.iter().any(|other| {
                let replaces = other.program == call.program
                    || (call.program == "cargo check" && other.program == "cargo clippy");
                replaces && (!is_check || other.places == call.places)
            });
            if !kept {
                let is = new.first().map(|call| call.text.as_str());
                let is = is.or(after.first().map(|command| command.text.as_str())).unwrap_or_default();
                told.tell(FactKind::RunnerChanged, Spot::before(path, call.line), &call.text, is);
            }
            continue;
        };
        if is_less(call, other) {
            told.tell(FactKind::RunnerChanged, Spot::after(path, other.line), &call.text, &other.text);
        }
        used.insert(at);
    }
    // What nobody called before and nobody hears of now is no check; what was heard of may not become such by another name.
    let says_zero = |commands: &[Command]| commands.iter().any(|command| ends_well(&command.text));
    if is_check && !old.is_empty() && says_zero(after) && !says_zero(before) && told_nothing(&old, &new) {
        let line = after.last().map_or(0, |command| command.line);
        let text =
            |commands: &[Command]| commands.last().map(|command| command.text.clone()).unwrap_or_default();
        told.tell(FactKind::RunnerChanged, Spot::after(path, line), &text(before), &text(after));
    }
}

fn told_nothing(old: &[Call], new: &[Call]) -> bool {
    old.iter().all(|call| new.iter().any(|other| other.program == call.program && !other.is_swallowed))
}

fn ends_well(text: &str) -> bool {
    let text = text.trim();
    ["exit 0", "; true", "; :", "|| true", "|| :"].iter().any(|end| text.ends_with(end))
}

fn is_less(old: &Call, new: &Call) -> bool {
    if new.is_swallowed && !old.is_swallowed {
        return true;
    }
    let name = |flag: &str| flag.split('=').next().unwrap_or(flag).to_owned();
    let has = |call: &Call, flag: &str| call.flags.iter().any(|other| name(other) == name(flag));
    let harmful =
        new.flags.iter().any(|flag| HARMFUL.contains(&name(flag).as_str()) && !old.flags.contains(flag));
    let laxer = old.flags.iter().any(|flag| STRICT.contains(&name(flag).as_str()) && !has(new, flag));
    let all = |call: &Call| call.places.iter().any(|place| place == "." || place == "./...");
    let lost =
        !all(new) && old.places.iter().any(|place| !new.places.iter().any(|kept| reaches(kept, place)));
    let narrowed =
        old.places.is_empty() && !new.places.is_empty() && !new.places.iter().all(|place| is_whole(place));
    harmful || laxer || (lost && !new.places.is_empty()) || narrowed
}

/// Whether one place of tests holds the other one.
fn reaches(kept: &str, place: &str) -> bool {
    let plain = |text: &str| text.trim_start_matches("./").trim_end_matches(['/', '*']).to_owned();
    let deep = kept.split_once("**/*").is_some_and(|(above, end)| holds_all_below(above, end, place));
    let (kept, place) = (plain(kept), plain(place));
    deep || kept == place
        || kept.is_empty()
        || place.starts_with(&format!("{kept}/"))
        || kept.contains('$')
        || place.contains('$')
}

/// Whether every file below a directory whose name ends so holds those of a place: of a pattern in there, or of the whole.
fn holds_all_below(above: &str, end: &str, place: &str) -> bool {
    let plain = |text: &str| text.trim_start_matches("./").trim_end_matches('/').to_owned();
    let (above, place) = (plain(above), plain(place));
    let is_ending = end.starts_with('.') && !end.contains(['*', '/']);
    let inside = place.strip_prefix(&format!("{above}/"));
    is_ending && (place == above || inside.is_some_and(|inside| inside.ends_with(end)))
}

fn is_whole(place: &str) -> bool {
    let place = place.trim_start_matches("./").trim_end_matches('/');
    matches!(place, "" | "." | "tests" | "test" | "src" | "..." | "lib") || place.contains(['$', '{'])
}

/// Whether a command asks a model.
pub(in crate::config) fn is_judged(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let parts: Vec<&str> =
        text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '/' | '-' | '_'))).collect();
    JUDGES.iter().any(|judge| match judge.contains('/') {
        true => text.contains(judge),
        false => parts.iter().any(|part| part.split(['-', '_', '/']).any(|word| word == *judge)),
    })
}

/// Whether a line both asks a model and makes its answer the result.
pub(in crate::config) fn is_judged_line(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    is_judged(text)
        && ["eval", "judge", "verdict", "grade", "review", "curl"].iter().any(|word| lower.contains(word))
}
