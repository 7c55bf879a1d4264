use std::collections::{BTreeMap, BTreeSet};

/// What a project is built with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ecosystem {
    /// Python.
    Python,
    /// Rust, by cargo.
    Rust,
    /// JavaScript and what becomes it, by Node.
    Node,
    /// Go.
    Go,
    /// A makefile.
    Make,
    /// A justfile.
    Just,
}

impl Ecosystem {
    /// What people call it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Python => "Python",
            Self::Rust => "Rust",
            Self::Node => "Node",
            Self::Go => "Go",
            Self::Make => "make",
            Self::Just => "just",
        }
    }
}

/// What a gate finds out, from the cheapest to the dearest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GateKind {
    /// Whether the source is well-formed.
    Syntax,
    /// Whether it builds, or passes the checks of its compiler.
    Build,
    /// Whether its tests pass.
    Test,
}

/// A program that a sandbox image must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ImageTool {
    /// `python3`.
    Python3,
    /// `node`.
    Node,
    /// `npm`.
    Npm,
    /// `pnpm`.
    Pnpm,
    /// `yarn`.
    Yarn,
    /// `cargo`.
    Cargo,
    /// `rustc`.
    Rustc,
    /// `cc`, which links.
    Cc,
    /// `go`.
    Go,
    /// `make`.
    Make,
    /// `just`.
    Just,
    /// `env`, which the first line of many scripts names.
    Env,
    /// `sh`.
    Sh,
}

impl ImageTool {
    /// The name by which it is captured and called.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Python3 => "python3",
            Self::Node => "node",
            Self::Npm => "npm",
            Self::Pnpm => "pnpm",
            Self::Yarn => "yarn",
            Self::Cargo => "cargo",
            Self::Rustc => "rustc",
            Self::Cc => "cc",
            Self::Go => "go",
            Self::Make => "make",
            Self::Just => "just",
            Self::Env => "env",
            Self::Sh => "sh",
        }
    }
}

/// Packages that a gate needs and cannot fetch: they are captured once and mounted read-only at `/volumes/NAME`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum VolumeNeed {
    /// A cargo home with the packages of `Cargo.lock`: `CARGO_HOME=/volumes/cargo`.
    Cargo,
    /// The installed packages of `package.json`: `/volumes/node_modules`.
    NodeModules,
    /// Installed Python packages: `PYTHONPATH=/volumes/python`.
    Python,
}

impl VolumeNeed {
    /// The name below `/volumes`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cargo => "cargo",
            Self::NodeModules => "node_modules",
            Self::Python => "python",
        }
    }
}

/// What one execution of a gate may use, in the units of a command catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resources {
    /// Memory of all its processes together, in MiB. What it writes counts too where files live in memory.
    pub memory_mib: u32,
    /// Processes and threads.
    pub processes: u32,
    /// Processor share in thousandths of a processor.
    pub cpu_millis: u32,
    /// Processor time in all, in seconds.
    pub cpu_seconds: u32,
    /// Time by the clock, in seconds.
    pub wall_seconds: u32,
    /// What may be written, in MiB.
    pub disk_mib: u32,
    /// Output, in KiB.
    pub output_kib: u32,
}

impl Resources {
    /// What a gate of an ecosystem ordinarily needs, with room.
    pub(crate) const fn of(ecosystem: Ecosystem, kind: GateKind) -> Self {
        let (memory_mib, processes, disk_mib, seconds) = match (ecosystem, kind) {
            (Ecosystem::Python, GateKind::Test) => (1024, 64, 256, 300),
            (Ecosystem::Python, _) => (256, 8, 64, 60),
            (Ecosystem::Node, GateKind::Test) => (2048, 128, 256, 300),
            (Ecosystem::Node, _) => (1024, 64, 64, 120),
            (Ecosystem::Rust, GateKind::Test) => (4096, 256, 2048, 900),
            (Ecosystem::Rust, _) => (3072, 256, 1024, 600),
            (Ecosystem::Go, _) => (3072, 256, 1024, 600),
            (Ecosystem::Make | Ecosystem::Just, _) => (2048, 128, 512, 600),
        };
        Self {
            memory_mib,
            processes,
            cpu_millis: 2000,
            cpu_seconds: 2 * seconds,
            wall_seconds: seconds,
            disk_mib,
            output_kib: 512,
        }
    }
}

/// A gate that is proposed, with the command that it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposedGate {
    /// Its id in the blueprint and in the catalog.
    pub id: String,
    /// What it checks, for people.
    pub summary: String,
    /// What kind of gate it is.
    pub kind: GateKind,
    /// What it belongs to.
    pub ecosystem: Ecosystem,
    /// The program and its arguments. Words of the repository stand in it as they are.
    pub argv: Vec<String>,
    /// The whole environment.
    pub environment: BTreeMap<&'static str, String>,
    /// The directory within the project in which it runs; `None` is the top.
    pub workdir: Option<String>,
    /// What it needs of packages.
    pub volumes: BTreeSet<VolumeNeed>,
    /// What it may use.
    pub resources: Resources,
}

impl ProposedGate {
    pub(crate) fn new(
        ecosystem: Ecosystem,
        kind: GateKind,
        name: &str,
        summary: &str,
        argv: &[&str],
    ) -> Self {
        let resources = Resources::of(ecosystem, kind);
        let environment = BTreeMap::from([
            ("HOME", "/tmp".to_owned()),
            ("LC_ALL", "C.UTF-8".to_owned()),
            ("PATH", "/usr/local/bin:/usr/bin:/bin".to_owned()),
            ("TZ", "UTC".to_owned()),
        ]);
        Self {
            id: name.to_owned(),
            summary: summary.to_owned(),
            kind,
            ecosystem,
            argv: argv.iter().map(|word| (*word).to_owned()).collect(),
            environment,
            workdir: None,
            volumes: BTreeSet::new(),
            resources,
        }
    }

    pub(crate) fn with(mut self, variable: &'static str, value: impl Into<String>) -> Self {
        self.environment.insert(variable, value.into());
        self
    }

    pub(crate) fn needing(mut self, volume: VolumeNeed) -> Self {
        self.volumes.insert(volume);
        self
    }

    /// The command as people type it: words that a shell would take apart stand in quotes.
    #[must_use]
    pub fn command_line(&self) -> String {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@+%".contains(c);
        let words = self.argv.iter().map(|word| match !word.is_empty() && word.chars().all(plain) {
            true => word.clone(),
            false => format!("'{}'", word.replace('\'', "'\\''")),
        });
        words.collect::<Vec<_>>().join(" ")
    }
}
