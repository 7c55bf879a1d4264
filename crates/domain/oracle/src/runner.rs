//! The part of a file with other purposes that a test runner or a check reads.

use std::collections::BTreeMap;

use ambit_ids::RepoPath;
use serde_json::Map;
use toml::Table;

use crate::change::{FileChange, Unreadable, text};
use crate::manifest::{at, toml as read_toml};

/// The formats that have such a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    PackageJson,
    Pyproject,
    SetupCfg,
    CargoToml,
    Makefile,
}

/// What the runner reads. Nothing where the file has no such part.
type Part = BTreeMap<String, String>;

/// Scripts of a `package.json` that gates are made of, by how their names start.
const SCRIPTS: [&str; 12] = [
    "test",
    "pretest",
    "posttest",
    "lint",
    "check",
    "typecheck",
    "type-check",
    "build",
    "coverage",
    "ci",
    "verify",
    "prepare",
];
/// Scripts that run when packages are installed.
const INSTALL_SCRIPTS: [&str; 3] = ["preinstall", "install", "postinstall"];
/// Sections of a `package.json` that configure a runner or a check.
const PACKAGE_SECTIONS: [&str; 11] =
    ["jest", "mocha", "ava", "nyc", "c8", "tap", "vitest", "eslintConfig", "eslintIgnore", "xo", "standard"];
/// Tables of a `pyproject.toml` that configure a runner or a check, or put a plugin into one.
const PYPROJECT_TABLES: [&[&str]; 16] = [
    &["tool", "pytest"],
    &["tool", "coverage"],
    &["tool", "tox"],
    &["tool", "nox"],
    &["tool", "hatch", "envs"],
    &["tool", "pdm", "scripts"],
    &["tool", "poe"],
    &["tool", "taskipy"],
    &["tool", "mypy"],
    &["tool", "ruff"],
    &["tool", "pyright"],
    &["tool", "pylint"],
    &["tool", "flake8"],
    &["tool", "bandit"],
    &["project", "entry-points", "pytest11"],
    &["tool", "poetry", "plugins", "pytest11"],
];
/// Sections of a `setup.cfg`, likewise, by how their names start.
const SETUP_SECTIONS: [&str; 9] =
    ["tool:", "pytest", "flake8", "mypy", "coverage:", "tox", "pylint", "aliases", "options.entry_points"];
/// Tables and values of a `Cargo.toml` that decide which tests exist and how they and the lints are run.
const CARGO_ENTRIES: [&[&str]; 14] = [
    &["test"],
    &["bench"],
    &["lib", "test"],
    &["lib", "doctest"],
    &["lib", "harness"],
    &["package", "autotests"],
    &["package", "autolib"],
    &["lints"],
    &["profile", "test"],
    &["profile", "dev"],
    &["workspace", "lints"],
    &["workspace", "members"],
    &["workspace", "exclude"],
    &["workspace", "default-members"],
];
/// Targets of a makefile that gates are made of, by what their names hold.
const TARGETS: [&str; 7] = ["test", "check", "lint", "verify", "ci", "cover", "all"];

/// Whether the change touches what a runner or a check reads in this file.
///
/// `None` for a file that has no such part.
///
/// # Errors
/// [`Unreadable`] where it cannot be told.
pub(crate) fn is_touched(change: &FileChange<'_>) -> Result<Option<bool>, Unreadable> {
    let Some(format) = Format::of(change.path) else { return Ok(None) };
    let read = |side: Option<&[u8]>| match side {
        None => Ok(Part::new()),
        Some(_) => format.read(text(side)?),
    };
    // A side before that cannot be read held nothing, so that everything after it is new.
    Ok(Some(read(change.before).unwrap_or_default() != read(change.after)?))
}

impl Format {
    fn of(path: &RepoPath) -> Option<Self> {
        match path.file_name() {
            b"package.json" => Some(Self::PackageJson),
            b"pyproject.toml" => Some(Self::Pyproject),
            b"setup.cfg" => Some(Self::SetupCfg),
            b"Cargo.toml" => Some(Self::CargoToml),
            b"Makefile" | b"makefile" | b"GNUmakefile" | b"justfile" | b"Justfile" | b".justfile" => {
                Some(Self::Makefile)
            }
            _ => None,
        }
    }

    fn read(self, text: &str) -> Result<Part, Unreadable> {
        match self {
            Self::PackageJson => package_json(text),
            Self::Pyproject => Ok(entries(&read_toml(text)?, &PYPROJECT_TABLES)),
            Self::SetupCfg => Ok(setup_cfg(text)),
            Self::CargoToml => cargo_toml(text),
            Self::Makefile => Ok(makefile(text)),
        }
    }
}

fn package_json(text: &str) -> Result<Part, Unreadable> {
    let document: Map<String, serde_json::Value> =
        serde_json::from_str(text).map_err(|_| Unreadable::Syntax)?;
    let scripts = document.get("scripts").and_then(serde_json::Value::as_object);
    let counts =
        |name: &str| SCRIPTS.iter().any(|start| name.starts_with(start)) || INSTALL_SCRIPTS.contains(&name);
    let scripts = scripts.into_iter().flatten().filter(|(name, _)| counts(name));
    let sections = document.iter().filter(|(name, _)| PACKAGE_SECTIONS.contains(&name.as_str()));
    Ok(scripts
        .map(|(name, value)| (format!("scripts {name}"), value.to_string()))
        .chain(sections.map(|(name, value)| (name.clone(), value.to_string())))
        .collect())
}

/// The values below the paths. Their debug form tells two values apart and is read by nobody.
fn entries(document: &Table, paths: &[&[&str]]) -> Part {
    let found = paths.iter().filter_map(|path| at(document, path).map(|value| (path, value)));
    found.map(|(path, value)| (path.join("."), format!("{value:?}"))).collect()
}

fn cargo_toml(text: &str) -> Result<Part, Unreadable> {
    let document = read_toml(text)?;
    let mut part = entries(&document, &CARGO_ENTRIES);
    let targets = ["bin", "example"].iter().filter_map(|kind| document.get(*kind)?.as_array()).flatten();
    for (number, target) in targets.enumerate() {
        for key in ["test", "harness"] {
            part.extend(
                target.get(key).map(|value| (format!("target {number} {key}"), format!("{value:?}"))),
            );
        }
    }
    Ok(part)
}

fn setup_cfg(text: &str) -> Part {
    let mut part = Part::new();
    let mut section = None;
    for line in text.lines().map(str::trim_end).filter(|line| !line.trim_start().starts_with(['#', ';'])) {
        if let Some(name) = line.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            let name = name.trim();
            section = SETUP_SECTIONS.iter().any(|start| name.starts_with(start)).then(|| name.to_owned());
        } else if let Some(section) = section.as_ref().filter(|_| !line.is_empty()) {
            let lines = part.entry(section.clone()).or_default();
            lines.push_str(line);
            lines.push('\n');
        }
    }
    part
}

/// A makefile without the recipes of targets that no gate is made of: what is left are the recipes of the others, and
/// the variables and includes that any recipe may use.
fn makefile(text: &str) -> Part {
    let mut kept = String::new();
    let mut in_other_recipe = false;
    for line in text.lines().map(str::trim_end).filter(|line| !line.trim_start().starts_with('#')) {
        if line.is_empty() {
            continue;
        }
        if !line.starts_with(['\t', ' ']) {
            in_other_recipe = is_other_rule(line);
        }
        if !in_other_recipe {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    let mut part = Part::new();
    if !kept.is_empty() {
        part.insert("kept".to_owned(), kept);
    }
    part
}

/// Whether the line starts a rule for targets of which none looks like part of a gate.
fn is_other_rule(line: &str) -> bool {
    let Some((targets, rest)) = line.split_once(':') else { return false };
    let assigns = rest.starts_with('=') || targets.contains('=') || rest.starts_with(":=");
    let special = targets.starts_with('.') || targets.contains(['$', '%']);
    !assigns && !special && !TARGETS.iter().any(|word| targets.contains(word))
}
