use std::collections::BTreeSet;

use ambit_ids::{PathPattern, PathSet, RepoPath};

use crate::error::NothingToCheck;
use crate::gate::{Ecosystem, GateKind, ImageTool, ProposedGate, VolumeNeed};
use crate::limits;
use crate::name;
use crate::parts::Parts;

/// Everything that the documents of a repository's runs are written from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The gates, from the cheapest to the dearest; never empty.
    pub gates: Vec<ProposedGate>,
    /// The programs that the image must hold. A run has one sandbox, so one image holds all of them.
    pub tools: BTreeSet<ImageTool>,
    /// The packages that the gates need.
    pub volumes: BTreeSet<VolumeNeed>,
    /// What a patch may touch, as patterns.
    pub scope: Vec<String>,
    /// What no patch may touch, tests among it.
    pub protected: Vec<String>,
    /// Where assertions are counted and skips are looked for.
    pub test_paths: Vec<String>,
    /// Where dependencies are declared.
    pub manifests: Vec<String>,
    /// How long a run may take, in minutes.
    pub elapsed_minutes: u32,
    /// What somebody should know before they agree.
    pub remarks: Vec<String>,
}

/// What is never part of the work: what bounds runs, and how the project is built by others.
const ALWAYS_PROTECTED: [&str; 3] = [".ambit/**", "AGENTS.md", "ambit.toml"];
/// Directories at the top that are made, not written.
const MADE: [&str; 5] = ["target", "node_modules", "vendor", "venv", "env"];

impl Plan {
    pub(crate) fn of(
        parts: Parts,
        tops: &[(String, bool)],
        remarks: Vec<String>,
    ) -> Result<Self, NothingToCheck> {
        let mut gates = parts.gates;
        if gates.is_empty() {
            return Err(NothingToCheck);
        }
        gates.sort_by_key(|gate| gate.kind);
        gates.truncate(MAX_GATES);
        let volumes = gates.iter().flat_map(|gate| gate.volumes.iter().copied()).collect();
        let elapsed_minutes = gates.iter().map(|gate| minutes(gate.ecosystem)).max().unwrap_or(30);
        let mut protected: BTreeSet<String> = parts.tests.iter().cloned().collect();
        protected.extend(parts.protected);
        protected.extend(ALWAYS_PROTECTED.map(str::to_owned));
        let scope = scope(tops, &parts.scope, &protected);
        let tests: BTreeSet<String> = parts.tests.into_iter().chain(parts.sources_with_tests).collect();
        Ok(Self {
            gates,
            tools: parts.tools,
            volumes,
            scope,
            protected: bounded(protected),
            test_paths: bounded(tests),
            manifests: bounded(parts.manifests),
            elapsed_minutes,
            remarks,
        })
    }

    /// Whether a gate runs tests, so that its passing says more than that the source is well-formed.
    #[must_use]
    pub fn has_tests(&self) -> bool {
        self.gates.iter().any(|gate| gate.kind == GateKind::Test)
    }
}

const MAX_GATES: usize = 16;

const fn minutes(ecosystem: Ecosystem) -> u32 {
    match ecosystem {
        Ecosystem::Python | Ecosystem::Node => 30,
        Ecosystem::Go | Ecosystem::Make | Ecosystem::Just => 45,
        Ecosystem::Rust => 60,
    }
}

/// What lies at the top, without what is hidden, made or protected, and where new files may appear.
fn scope(tops: &[(String, bool)], more: &BTreeSet<String>, protected: &BTreeSet<String>) -> Vec<String> {
    let decides: PathSet =
        PathSet(protected.iter().filter_map(|pattern| PathPattern::new(pattern).ok()).collect());
    let is_protected = |name: &str| {
        name.parse::<RepoPath>().is_ok_and(|path| decides.0.iter().any(|found| found.matches(&path)))
    };
    let is_free = |name: &str| {
        !name.starts_with('.') && !MADE.contains(&name) && !name.ends_with(".egg-info") && !is_protected(name)
    };
    let patterns = tops
        .iter()
        .filter(|(name, _)| is_free(name))
        .filter_map(|(name, is_dir)| if *is_dir { name::below(name) } else { name::pattern(name) });
    let found: BTreeSet<String> =
        patterns.chain(more.iter().cloned()).filter(|pattern| !protected.contains(pattern)).collect();
    if found.is_empty() || found.len() > limits::PATTERNS {
        return vec!["**".to_owned()];
    }
    found.into_iter().collect()
}

/// The patterns, or one for everything where there are more than a document may hold: too much is protected then, and
/// not too little.
fn bounded(patterns: BTreeSet<String>) -> Vec<String> {
    if patterns.len() > limits::PATTERNS {
        return vec!["**".to_owned()];
    }
    patterns.into_iter().collect()
}
