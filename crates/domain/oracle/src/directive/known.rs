//! The comments that tools obey, and how each names what it silences.

use super::Reach;
use crate::source::Language;

/// How the checks are named after the start of a directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    /// No check can be named: everything is silenced.
    None,
    /// The directive is about this one check.
    Of(&'static str),
    /// By codes after a colon that follows at once: `noqa: E501, F401`.
    Codes,
    /// By codes after a blank: `nosec B101`.
    BareCodes,
    /// Within brackets that follow: `type: ignore[arg-type]`.
    Brackets,
    /// By names after a colon or an equals sign: `pylint: disable=a, b`.
    Assigned,
    /// By names with commas between, up to a reason: `eslint-disable-line a, b -- why`.
    Listed,
    /// By the first word: `lint:ignore SA1019 why`.
    First,
    /// Whatever follows is one setting: `eslint no-shadow: 0`.
    Setting,
}

/// One comment that a tool obeys.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// What it starts with, in lower case and without white space after its first colon.
    pub(super) start: &'static str,
    pub(super) name: &'static str,
    pub(super) names: Names,
    pub(super) reach: Reach,
    /// Whether it holds for what follows where it stands on a line of its own.
    pub(super) goes_on: bool,
    /// What ends it, where it holds for what follows.
    pub(super) ends: &'static str,
}

const fn at(start: &'static str, name: &'static str, names: Names) -> Known {
    Known { start, name, names, reach: Reach::Place, goes_on: false, ends: "" }
}

const fn file(start: &'static str, name: &'static str, names: Names) -> Known {
    Known { start, name, names, reach: Reach::File, goes_on: false, ends: "" }
}

/// Holds for the rest of the file where it stands at the outmost level on a line of its own.
const fn going_on(start: &'static str, name: &'static str, names: Names) -> Known {
    Known { start, name, names, reach: Reach::Place, goes_on: true, ends: "" }
}

/// Holds up to a comment that ends it.
const fn until(start: &'static str, name: &'static str, names: Names, ends: &'static str) -> Known {
    Known { start, name, names, reach: Reach::File, goes_on: false, ends }
}

// A longer start stands before a shorter one of the same words.
const PYTHON: [Known; 16] = [
    at("noqa", "noqa", Names::Codes),
    file("flake8:noqa", "noqa", Names::Codes),
    file("ruff:noqa", "noqa", Names::Codes),
    until("ruff:disable", "noqa", Names::Brackets, "ruff:enable"),
    at("type:ignore", "type: ignore", Names::Brackets),
    at("pyright:ignore", "pyright: ignore", Names::Brackets),
    file("pyright:", "pyright", Names::Setting),
    at("ty:ignore", "ty: ignore", Names::Brackets),
    file("mypy:", "mypy", Names::Setting),
    going_on("pytype:disable", "pytype: disable", Names::Assigned),
    at("pylint:disable-next", "pylint: disable", Names::Assigned),
    going_on("pylint:disable", "pylint: disable", Names::Assigned),
    file("pylint:skip-file", "pylint: disable", Names::None),
    at("pragma:no cover", "pragma: no cover", Names::Of("coverage")),
    at("pragma:no branch", "pragma: no cover", Names::Of("coverage")),
    at("nosec", "nosec", Names::BareCodes),
];
const JAVASCRIPT: [Known; 28] = [
    at("eslint-disable-next-line", "eslint-disable", Names::Listed),
    at("eslint-disable-line", "eslint-disable", Names::Listed),
    until("eslint-disable", "eslint-disable", Names::Listed, "eslint-enable"),
    file("eslint ", "eslint", Names::Setting),
    at("oxlint-disable-next-line", "eslint-disable", Names::Listed),
    at("oxlint-disable-line", "eslint-disable", Names::Listed),
    until("oxlint-disable", "eslint-disable", Names::Listed, "oxlint-enable"),
    at("tslint:disable-next-line", "tslint:disable", Names::Assigned),
    at("tslint:disable-line", "tslint:disable", Names::Assigned),
    until("tslint:disable", "tslint:disable", Names::Assigned, "tslint:enable"),
    at("@ts-ignore", "@ts-ignore", Names::Of("types")),
    at("@ts-expect-error", "@ts-ignore", Names::Of("types")),
    file("@ts-nocheck", "@ts-ignore", Names::None),
    file("istanbul ignore file", "coverage ignore", Names::Of("coverage")),
    at("istanbul ignore", "coverage ignore", Names::Of("coverage")),
    until("c8 ignore start", "coverage ignore", Names::Of("coverage"), "c8 ignore stop"),
    file("c8 ignore file", "coverage ignore", Names::Of("coverage")),
    at("c8 ignore", "coverage ignore", Names::Of("coverage")),
    until("v8 ignore start", "coverage ignore", Names::Of("coverage"), "v8 ignore stop"),
    file("v8 ignore file", "coverage ignore", Names::Of("coverage")),
    at("v8 ignore", "coverage ignore", Names::Of("coverage")),
    until("node:coverage disable", "coverage ignore", Names::Of("coverage"), "node:coverage enable"),
    at("node:coverage ignore", "coverage ignore", Names::Of("coverage")),
    file("biome-ignore-", "biome-ignore", Names::First),
    at("biome-ignore", "biome-ignore", Names::First),
    file("deno-lint-ignore-file", "deno-lint-ignore", Names::Listed),
    at("deno-lint-ignore", "deno-lint-ignore", Names::Listed),
    file("jshint ignore", "jshint ignore", Names::None),
];
const GO: [Known; 7] = [
    at("nolint", "nolint", Names::Assigned),
    at("lint:ignore", "lint:ignore", Names::First),
    file("lint:file-ignore", "lint:ignore", Names::First),
    at("#nosec", "nosec", Names::BareCodes),
    at("revive:disable-next-line", "revive:disable", Names::Assigned),
    at("revive:disable-line", "revive:disable", Names::Assigned),
    until("revive:disable", "revive:disable", Names::Assigned, "revive:enable"),
];
const JAVA: [Known; 7] = [
    at("nosonar", "NOSONAR", Names::None),
    at("nopmd", "NOPMD", Names::None),
    at("noinspection", "noinspection", Names::Listed),
    until("checkstyle:off", "CHECKSTYLE:OFF", Names::Assigned, "checkstyle:on"),
    until("checkstyle.off", "CHECKSTYLE:OFF", Names::Assigned, "checkstyle.on"),
    at("ktlint-disable", "ktlint-disable", Names::Listed),
    file("detekt:", "detekt", Names::Setting),
];

/// The comments that are known of a language.
pub(super) fn of(language: Language) -> &'static [Known] {
    match language {
        Language::Python => &PYTHON,
        Language::JavaScript { .. } => &JAVASCRIPT,
        Language::Go => &GO,
        Language::Java => &JAVA,
        Language::Rust => &[],
    }
}

/// Settings that ask for more of a check, and silence nothing.
const STRICTER: [&str; 10] = [
    "strict",
    "disallow",
    "warn",
    "check-untyped",
    "enable-error-code",
    "no-implicit",
    "extra-checks",
    "local-partial-types",
    "no-allow",
    "report",
];

impl Known {
    /// The checks that are named by what follows the start of the directive. `None` where nothing is silenced.
    pub(super) fn rules(&self, rest: &str) -> Option<Vec<String>> {
        let names = |text: &str| -> Vec<String> {
            let separate = |c: char| c == ',' || c.is_whitespace();
            let words = text.split(separate).map(|word| word.trim_matches([':', '.', '"', '\'']).to_owned());
            words.collect()
        };
        Some(super::named(match self.names {
            Names::None => Vec::new(),
            Names::Of(check) => vec![check.to_owned()],
            Names::Codes => rest.strip_prefix(':').map_or(Vec::new(), codes),
            Names::BareCodes => codes(rest.trim_start_matches(':')),
            Names::Brackets => {
                let inside = rest.trim_start().strip_prefix('[').and_then(|rest| rest.split_once(']'));
                inside.map_or(Vec::new(), |(inside, _)| names(inside))
            }
            Names::Assigned => {
                let rest = rest.trim_start().strip_prefix(['=', ':']).unwrap_or("");
                assigned(rest)
            }
            Names::Listed => {
                let rest = rest.split(" --").next().unwrap_or("").split("*/").next().unwrap_or("");
                names(rest.split('\n').next().unwrap_or(""))
            }
            Names::First => {
                let first = rest.split_whitespace().find(|word| !word.is_empty()).unwrap_or("");
                let first = first.trim_end_matches(':');
                // `lint` and `lint/style` are groups; a check of biome's has three parts.
                let is_group = self.name == "biome-ignore"
                    && first.starts_with("lint")
                    && first.matches('/').count() < 2;
                if is_group { Vec::new() } else { names(first) }
            }
            Names::Setting => {
                let rest: String = rest.split_whitespace().collect::<Vec<_>>().join(" ");
                let is_said_in_passing = self.name == "eslint" && !rest.contains(':');
                if is_stricter(&rest) || is_said_in_passing {
                    return None;
                }
                vec![rest]
            }
        }))
    }
}

/// Whether every part of a setting asks for more: `strict`, `eslint a: "error"`.
fn is_stricter(setting: &str) -> bool {
    let is = |part: &str| {
        let part = part.trim();
        let (key, value) = part.split_once([':', '=']).map_or((part, ""), |(key, value)| (key, value.trim()));
        let value = value.trim_matches(['"', '\'']);
        match value {
            "error" | "2" => true,
            "" | "true" => STRICTER.iter().any(|start| key.trim().starts_with(start)),
            _ => false,
        }
    };
    !setting.is_empty() && setting.split(',').all(is)
}

/// Codes such as `E501`, up to the first word that is none.
fn codes(text: &str) -> Vec<String> {
    let words = text.split(|c: char| c == ',' || c.is_whitespace()).filter(|word| !word.is_empty());
    words.take_while(|word| is_code(word)).map(str::to_uppercase).collect()
}

fn is_code(word: &str) -> bool {
    let digits = word.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    digits.len() < word.len() && !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Names with commas between them; the next word after a blank is a reason. A category of one letter names no check.
fn assigned(text: &str) -> Vec<String> {
    let mut rules = Vec::new();
    for part in text.split(',') {
        let mut words = part.split_whitespace();
        rules.extend(words.next().map(str::to_owned));
        if words.next().is_some() {
            break;
        }
    }
    if rules.iter().any(|rule| rule.len() == 1) { Vec::new() } else { rules }
}
