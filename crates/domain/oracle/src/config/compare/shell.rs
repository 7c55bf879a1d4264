//! Command lines as a shell reads them, as far as it takes to tell which checks they call.

/// Programs that check.
const CHECKS: [&str; 47] = [
    "pytest",
    "py.test",
    "unittest",
    "tox",
    "nox",
    "nose2",
    "trial",
    "stestr",
    "mypy",
    "ruff",
    "flake8",
    "pylint",
    "pyright",
    "bandit",
    "jest",
    "mocha",
    "ava",
    "tap",
    "tape",
    "vitest",
    "karma",
    "jasmine",
    "uvu",
    "lab",
    "tsc",
    "tsd",
    "eslint",
    "standard",
    "xo",
    "biome",
    "playwright",
    "cypress",
    "nextest",
    "clippy",
    "golangci-lint",
    "gotestsum",
    "staticcheck",
    "ctest",
    "rspec",
    "phpunit",
    "surefire",
    "gradle",
    "gradlew",
    "mvn",
    "mvnw",
    "bats",
    "shellcheck",
];
/// Programs of which one word more tells whether they check.
const PAIRS: [(&str, &[&str]); 12] = [
    ("cargo", &["test", "nextest", "clippy", "check", "fmt", "t", "deny", "audit", "miri"]),
    ("go", &["test", "vet"]),
    ("node", &["--test"]),
    ("npm", &["test", "t", "run", "run-script"]),
    ("yarn", &["test", "run", "lint", "check"]),
    ("pnpm", &["test", "t", "run", "lint", "check"]),
    ("bun", &["test", "run"]),
    ("deno", &["test", "lint", "check"]),
    ("make", &["test", "check", "lint", "tests", "ci", "verify"]),
    ("just", &["test", "check", "lint", "tests", "ci", "verify"]),
    ("hatch", &["test", "run"]),
    ("coverage", &["report"]),
];
/// Words before a program that do not change which one it is.
const WRAPPERS: [&str; 20] = [
    "uvx",
    "pipx",
    "npx",
    "pnpx",
    "bunx",
    "exec",
    "cross-env",
    "env",
    "poetry",
    "uv",
    "pipenv",
    "run",
    "python",
    "python3",
    "-m",
    "sudo",
    "time",
    "xvfb-run",
    "nyc",
    "c8",
];
/// Programs that only prepare, or tell of what was checked before.
const PREPARES: [&str; 22] = [
    "towncrier",
    "pip-compile",
    "gha-update",
    "nodeenv",
    "codecov",
    "echo",
    "cd",
    "rm",
    "rimraf",
    "mkdir",
    "cp",
    "export",
    "set",
    "pip",
    "sleep",
    "exit",
    "true",
    ":",
    "if",
    "fi",
    "then",
    "printf",
];
/// Options without which less is checked.
pub(super) const STRICT: [&str; 22] = [
    "--workspace",
    "--all",
    "--all-targets",
    "--all-features",
    "--check-coverage",
    "--100",
    "-race",
    "--strict",
    "--ci",
    "--frozen-lockfile",
    "--locked",
    "--require-hashes",
    "--max-warnings",
    "--max-warnings=0",
    "--forbid-only",
    "--cov-fail-under",
    "--fail-under",
    "-Werror",
    "--fail-on-warnings",
    "--coverage",
    "--dangling",
    "--no-allow",
];
/// One program of a command line with what it is called with.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) program: String,
    pub(super) flags: Vec<String>,
    pub(super) places: Vec<String>,
    /// Nobody hears of its failure.
    pub(super) is_swallowed: bool,
    pub(super) line: u32,
    pub(super) text: String,
}

/// Words of a command line, without the quotation marks around them.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    for c in text.chars() {
        match quote {
            Some(mark) if c == mark => quote = None,
            Some(_) => word.push(c),
            None if matches!(c, '"' | '\'') => quote = Some(c),
            None if c.is_whitespace() => {
                found.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty()));
            }
            None => word.push(c),
        }
    }
    found.extend(Some(word).filter(|word| !word.is_empty()));
    found
}

/// The parts of a line and what stands behind each.
pub(super) fn split(text: &str) -> Vec<(String, &'static str)> {
    let mut parts = Vec::new();
    let mut part = String::new();
    let mut quote = None;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let operator = ["&&", "||", "|&", "2>&1", ">&2", "&>", "|", ";", "&"]
            .into_iter()
            .find(|mark| rest.starts_with(mark));
        match (quote, operator) {
            (None, Some(mark)) if !mark.contains('>') => {
                parts.push((std::mem::take(&mut part), mark));
                rest = &rest[mark.len()..];
                continue;
            }
            (None, Some(mark)) => {
                rest = &rest[mark.len()..];
                continue;
            }
            (None, None) if matches!(c, '"' | '\'') => quote = Some(c),
            (Some(mark), _) if c == mark => quote = None,
            _ => {}
        }
        part.push(c);
        rest = &rest[c.len_utf8()..];
    }
    parts.push((part, ""));
    parts
}

/// The check that a part of a line calls.
pub(super) fn call(part: &str, is_check: bool) -> Option<Call> {
    let mut words = words(&with_defaults(part.trim().trim_start_matches(['(', '!', '@', '-'])));
    // What a wrapper is to bring along is no program.
    if let Some(at) = words.iter().position(|word| word == "--with") {
        words.drain(at..(at + 2).min(words.len()));
    }
    // `tox` runs by itself what it runs when it is told to.
    if let Some(at) = words.iter().position(|word| word == "tox")
        && words.get(at + 1).is_some_and(|word| matches!(word.as_str(), "run" | "r"))
    {
        words.remove(at + 1);
    }
    let base = |word: &str| word.rsplit('/').next().unwrap_or(word).trim_end_matches(".cmd").to_owned();
    let named = words.iter().position(|word| CHECKS.contains(&base(word).as_str()));
    let paired = words.windows(2).position(|pair| {
        PAIRS.iter().any(|(program, next)| base(&pair[0]) == *program && next.contains(&pair[1].as_str()))
    });
    let starts = |at: &usize| words[..*at].iter().all(|word| is_wrapper(word));
    let (program, rest) = match (paired.filter(starts), named.filter(starts)) {
        (Some(at), _) => {
            let runs = matches!(words[at + 1].as_str(), "run" | "run-script") && words.len() > at + 2;
            let program = words[at..at + 2 + usize::from(runs)].join(" ");
            (program, &words[at + 2 + usize::from(runs)..])
        }
        (None, Some(at)) => (base(&words[at]), &words[at + 1..]),
        (None, None) => {
            let at = words.iter().position(|word| !is_wrapper(word))?;
            if !is_check || PREPARES.contains(&words[at].as_str()) {
                return None;
            }
            (base(&words[at]), &words[at + 1..])
        }
    };
    let (mut flags, mut places) = arguments(rest);
    // Which environments `tox` and `nox` run is what they check.
    if matches!(program.as_str(), "tox" | "nox") {
        let named = rest.windows(2).filter(|pair| matches!(pair[0].as_str(), "-e" | "-s" | "--session"));
        places.extend(named.flat_map(|pair| pair[1].split(',').map(str::to_owned)));
    }
    let before = &words[..words.len() - rest.len()];
    flags.extend(before.iter().filter(|word| STRICT.contains(&word.as_str())).cloned());
    Some(Call { program, flags, places, is_swallowed: false, line: 0, text: String::new() })
}

/// The line with what `tox` puts in where it is given nothing: `{posargs:tests}` is `tests`.
fn with_defaults(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{posargs") {
        let (default, behind) = after.split_once('}').unwrap_or((after, ""));
        out.push_str(before);
        out.push_str(default.trim_start_matches(':'));
        rest = behind;
    }
    out + rest
}

fn is_wrapper(word: &str) -> bool {
    let assigns =
        word.split_once('=').is_some_and(|(name, _)| name.chars().all(|c| c.is_alphanumeric() || c == '_'));
    assigns || word.starts_with('-') || WRAPPERS.contains(&word)
}

fn arguments(words: &[String]) -> (Vec<String>, Vec<String>) {
    const ALONE: [&str; 16] = [
        "-q",
        "-v",
        "-vv",
        "-x",
        "-s",
        "-l",
        "--",
        "--verbose",
        "--coverage",
        "--ci",
        "--silent",
        "--runInBand",
        "--bail",
        "--check-coverage",
        "-race",
        "--fix",
    ];
    let (mut flags, mut places) = (Vec::new(), Vec::new());
    let mut takes_value = false;
    for word in words {
        if word.starts_with('-') {
            takes_value =
                !word.contains('=') && !ALONE.contains(&word.as_str()) && !word.starts_with("--no-");
            flags.push(word.clone());
        } else if std::mem::take(&mut takes_value) && !word.contains(['/', '*']) {
            continue;
        } else {
            places.push(word.clone());
        }
    }
    (flags, places)
}
