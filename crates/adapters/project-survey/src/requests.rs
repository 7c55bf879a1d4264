use std::collections::BTreeMap;
use std::fmt::Display;

use ambit_blueprint::{Blueprint, RunBudget};
use ambit_ids::{ByteCount, DurationMs, MicroUsd, PathPattern, PathSet};
use serde::Deserialize;

use crate::limits;
use crate::narrower::is_within;

/// The file in which a repository asks for less.
pub const REQUESTS_FILE: &str = "ambit.toml";

/// The most patterns in a list of a blueprint.
const MAX_PATTERNS: usize = 128;

/// What a repository asks of every run on it. It can only ask for less than what a person approved: lower limits, fewer
/// paths that a patch may touch, more paths that none may touch. Whoever writes the repository does not bound its runs.
///
/// ```toml
/// [budget]
/// maxModelSteps = 10
/// maxToolCostUsd = "0.50"
///
/// [scope]
/// paths = ["src/**"]
///
/// [protected]
/// paths = ["src/generated/**"]
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requests {
    budget: BTreeMap<Limit, u64>,
    scope: Option<PathSet>,
    protected: PathSet,
}

/// Why a repository's wishes are refused. Nothing was started.
#[derive(Debug, thiserror::Error)]
pub enum RequestsError {
    /// Larger than what is read.
    #[error(
        "{REQUESTS_FILE} has more than the {} bytes that are read; nothing was started",
        limits::REQUESTS_BYTES
    )]
    TooLarge,
    /// No such document.
    #[error("{REQUESTS_FILE} cannot be used; nothing was started: {0}")]
    Malformed(String),
    /// It asks for more than was approved.
    #[error(
        "{REQUESTS_FILE} asks for more than was approved, and may only ask for less; nothing was started: {key} {why}"
    )]
    AsksForMore {
        /// The key that does.
        key: String,
        /// What it would take.
        why: String,
    },
}

impl RequestsError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::TooLarge => "AMBIT_TOML_TOO_LARGE",
            Self::Malformed(_) => "AMBIT_TOML_MALFORMED",
            Self::AsksForMore { .. } => "AMBIT_TOML_ASKS_FOR_MORE",
        }
    }
}

/// A limit of a run, in the unit of its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Limit {
    MaxModelSteps,
    MaxPatchAttemptsPerGate,
    MaxElapsedMinutes,
    MaxChangedFiles,
    MaxAddedDependencies,
    MaxParallelProcesses,
    MaxToolCostUsd,
    StopOnRepeatedFailureFingerprint,
    MaxOutputBytes,
    MaxSideEffects,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    budget: BTreeMap<Limit, Amount>,
    scope: Option<Paths>,
    protected: Option<Paths>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Paths {
    paths: Vec<String>,
}

/// A whole number; of money, dollars in quotes, which are exact.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a whole number, or an amount of dollars in quotes")]
enum Amount {
    Whole(u64),
    Dollars(String),
}

impl Requests {
    /// Reads the file. Whatever it does not know is refused.
    ///
    /// # Errors
    /// [`RequestsError::TooLarge`] and [`RequestsError::Malformed`].
    pub fn read(bytes: &[u8]) -> Result<Self, RequestsError> {
        if bytes.len() > limits::REQUESTS_BYTES {
            return Err(RequestsError::TooLarge);
        }
        let text = std::str::from_utf8(bytes).map_err(malformed)?;
        let file: File = toml::from_str(text).map_err(malformed)?;
        let mut budget = BTreeMap::new();
        for (limit, amount) in file.budget {
            budget.insert(limit, amount.of(limit)?);
        }
        let scope = file.scope.map(|paths| patterns("scope.paths", &paths.paths)).transpose()?;
        if scope.as_ref().is_some_and(|set| set.0.is_empty()) {
            return Err(malformed("scope.paths is empty, and a run needs a path"));
        }
        let protected = file.protected.map(|paths| patterns("protected.paths", &paths.paths)).transpose()?;
        Ok(Self { budget, scope, protected: protected.unwrap_or_default() })
    }

    /// The blueprint with what is asked for. Every limit of it is at most what it was, every path that a patch may touch
    /// was one before, and every path that was protected is.
    ///
    /// # Errors
    /// [`RequestsError::AsksForMore`] with the first key that would widen anything. A pattern of paths of which cannot
    /// be seen that it lies within an approved one counts as wider.
    pub fn narrow(&self, blueprint: &Blueprint) -> Result<Blueprint, RequestsError> {
        let mut narrowed = blueprint.clone();
        for (limit, value) in &self.budget {
            limit.lower(&mut narrowed.spec.run_budget, *value)?;
        }
        if let Some(scope) = &self.scope {
            let approved = &blueprint.spec.scope.paths;
            if let Some(wide) = scope.0.iter().find(|pattern| !is_within(pattern, approved)) {
                let approved: Vec<&str> = approved.0.iter().map(PathPattern::as_str).collect();
                let why = format!("{wide} is not seen to lie within {}", approved.join(", "));
                return Err(RequestsError::AsksForMore { key: "scope.paths".to_owned(), why });
            }
            narrowed.spec.scope.paths = scope.clone();
        }
        let protected = &mut narrowed.spec.protected_oracles.paths.0;
        let new = self
            .protected
            .0
            .iter()
            .filter(|pattern| !blueprint.spec.protected_oracles.paths.0.contains(pattern));
        protected.extend(new.cloned());
        if protected.len() > MAX_PATTERNS {
            return Err(malformed(format!(
                "protected.paths makes more than {MAX_PATTERNS} patterns with the approved ones"
            )));
        }
        if !self.protected.0.is_empty() {
            // What this version would open stays closed where the repository says so.
            narrowed
                .spec
                .authorizes
                .retain(|opened| !self.protected.0.iter().any(|path| touches(path, &opened.path)));
        }
        Ok(narrowed)
    }
}

/// Whether two patterns may have a path in common. Where it cannot be seen the answer is yes.
fn touches(one: &PathPattern, other: &PathPattern) -> bool {
    let literal = |pattern: &PathPattern| {
        let text = pattern.as_str();
        text[..text.find(['*', '?', '[', ']', '{', '}', '\\', '!']).unwrap_or(text.len())].to_owned()
    };
    let (one, other) = (literal(one), literal(other));
    one.starts_with(&other) || other.starts_with(&one)
}

fn malformed(why: impl Display) -> RequestsError {
    RequestsError::Malformed(why.to_string().trim_end().to_owned())
}

fn patterns(key: &str, texts: &[String]) -> Result<PathSet, RequestsError> {
    if texts.len() > limits::PATTERNS {
        return Err(malformed(format!("{key} has more than {} patterns", limits::PATTERNS)));
    }
    let pattern = |text: &String| {
        if text.len() > limits::PATTERN_BYTES || text.chars().any(ambit_ids::is_unprintable) {
            return Err(malformed(format!("{key} has a pattern that is too long or that nobody would see")));
        }
        PathPattern::new(text).map_err(|error| malformed(format!("{key}: {error}")))
    };
    texts.iter().map(pattern).collect::<Result<_, _>>().map(PathSet)
}

impl Amount {
    fn of(self, limit: Limit) -> Result<u64, RequestsError> {
        match (limit, self) {
            (Limit::MaxToolCostUsd, Self::Dollars(text)) => text
                .parse::<MicroUsd>()
                .map(MicroUsd::get)
                .map_err(|error| malformed(format!("maxToolCostUsd: {error}"))),
            (Limit::MaxToolCostUsd, Self::Whole(dollars)) => {
                dollars.checked_mul(1_000_000).ok_or_else(|| malformed("maxToolCostUsd is too large"))
            }
            (_, Self::Whole(value)) => Ok(value),
            (_, Self::Dollars(_)) => {
                Err(malformed(format!("{} is a whole number without quotes", limit.key())))
            }
        }
    }
}

impl Limit {
    /// Every limit, in the order in which documents list them.
    pub(crate) const ALL: [Self; 10] = [
        Self::MaxModelSteps,
        Self::MaxPatchAttemptsPerGate,
        Self::MaxElapsedMinutes,
        Self::MaxChangedFiles,
        Self::MaxAddedDependencies,
        Self::MaxParallelProcesses,
        Self::MaxToolCostUsd,
        Self::StopOnRepeatedFailureFingerprint,
        Self::MaxOutputBytes,
        Self::MaxSideEffects,
    ];

    /// Its key in the file.
    pub(crate) const fn key(self) -> &'static str {
        match self {
            Self::MaxModelSteps => "maxModelSteps",
            Self::MaxPatchAttemptsPerGate => "maxPatchAttemptsPerGate",
            Self::MaxElapsedMinutes => "maxElapsedMinutes",
            Self::MaxChangedFiles => "maxChangedFiles",
            Self::MaxAddedDependencies => "maxAddedDependencies",
            Self::MaxParallelProcesses => "maxParallelProcesses",
            Self::MaxToolCostUsd => "maxToolCostUsd",
            Self::StopOnRepeatedFailureFingerprint => "stopOnRepeatedFailureFingerprint",
            Self::MaxOutputBytes => "maxOutputBytes",
            Self::MaxSideEffects => "maxSideEffects",
        }
    }

    /// Lowers this limit of a budget.
    fn lower(self, budget: &mut RunBudget, value: u64) -> Result<(), RequestsError> {
        let more = |approved: &dyn Display| RequestsError::AsksForMore {
            key: format!("budget.{}", self.key()),
            why: format!("is above the approved {approved}"),
        };
        let none = || malformed(format!("budget.{} is at least 1", self.key()));
        let count = |approved: &mut u32, least: u32| match u32::try_from(value) {
            Ok(value) if value < least => Err(none()),
            Ok(value) if value <= *approved => {
                *approved = value;
                Ok(())
            }
            Ok(_) | Err(_) => Err(more(&*approved)),
        };
        match self {
            Self::MaxModelSteps => count(&mut budget.max_model_steps, 1),
            Self::MaxPatchAttemptsPerGate => count(&mut budget.max_patch_attempts_per_gate, 1),
            Self::MaxChangedFiles => count(&mut budget.max_changed_files, 1),
            Self::MaxAddedDependencies => count(&mut budget.max_added_dependencies, 0),
            Self::MaxParallelProcesses => count(&mut budget.max_parallel_processes, 1),
            Self::StopOnRepeatedFailureFingerprint => {
                count(&mut budget.stop_on_repeated_failure_fingerprint, 1)
            }
            Self::MaxSideEffects => count(&mut budget.max_side_effects, 1),
            Self::MaxElapsedMinutes => match DurationMs::from_minutes(value) {
                Some(_) if value == 0 => Err(none()),
                Some(elapsed) if elapsed <= budget.max_elapsed => {
                    budget.max_elapsed = elapsed;
                    Ok(())
                }
                Some(_) | None => Err(more(&budget.max_elapsed)),
            },
            Self::MaxToolCostUsd => match MicroUsd::new(value) {
                cost if cost <= budget.max_tool_cost => {
                    budget.max_tool_cost = cost;
                    Ok(())
                }
                _ => Err(more(&budget.max_tool_cost)),
            },
            Self::MaxOutputBytes => match ByteCount::new(value) {
                _ if value == 0 => Err(none()),
                output if output <= budget.max_output => {
                    budget.max_output = output;
                    Ok(())
                }
                _ => Err(more(&budget.max_output)),
            },
        }
    }
}
