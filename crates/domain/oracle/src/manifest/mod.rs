//! What manifests name as dependencies, one format a module.

mod cargo;
mod gomod;
mod npm;
mod python;

use std::collections::BTreeSet;
use std::fmt;

use ambit_ids::RepoPath;

use crate::change::Unreadable;

/// Where the packages of a manifest come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ecosystem {
    /// PyPI.
    Python,
    /// npm.
    Npm,
    /// Cargo's registry.
    Cargo,
    /// Go modules.
    Go,
}

/// The formats that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manifest {
    Requirements,
    Pyproject,
    SetupCfg,
    SetupPy,
    Pipfile,
    PackageJson,
    CargoToml,
    GoMod,
}

/// A dependency: its name in the form in which its ecosystem compares names, and where it comes from if not from the
/// ecosystem's registry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) source: Option<String>,
}

impl Dependency {
    /// One that the ecosystem's registry answers for.
    pub(crate) fn registered(name: impl Into<String>) -> Self {
        Self { name: name.into(), source: None }
    }

    /// One from elsewhere.
    pub(crate) fn sourced(name: impl Into<String>, source: impl Into<String>) -> Self {
        Self { name: name.into(), source: Some(source.into()) }
    }
}

impl fmt::Display for Dependency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = match &self.source {
            Some(source) => format!("{} from {source}", self.name),
            None => self.name.clone(),
        };
        f.write_str(&whole[..whole.floor_char_boundary(256)])
    }
}

impl Manifest {
    /// The format that the name of the file tells.
    pub(crate) fn of(path: &RepoPath) -> Option<Self> {
        let name = std::str::from_utf8(path.file_name()).ok()?;
        let in_requirements = path.parent().is_some_and(|parent| parent.file_name() == b"requirements");
        match name {
            "pyproject.toml" => Some(Self::Pyproject),
            "setup.cfg" => Some(Self::SetupCfg),
            "setup.py" => Some(Self::SetupPy),
            "Pipfile" => Some(Self::Pipfile),
            "package.json" => Some(Self::PackageJson),
            "Cargo.toml" => Some(Self::CargoToml),
            "go.mod" => Some(Self::GoMod),
            _ => {
                let lists = name.ends_with(".txt") || name.ends_with(".in");
                let named = name.contains("requirements") || name.contains("constraints") || in_requirements;
                (lists && named).then_some(Self::Requirements)
            }
        }
    }

    pub(crate) const fn ecosystem(self) -> Ecosystem {
        match self {
            Self::Requirements | Self::Pyproject | Self::SetupCfg | Self::SetupPy | Self::Pipfile => {
                Ecosystem::Python
            }
            Self::PackageJson => Ecosystem::Npm,
            Self::CargoToml => Ecosystem::Cargo,
            Self::GoMod => Ecosystem::Go,
        }
    }

    /// What the manifest names.
    pub(crate) fn read(self, path: &RepoPath, text: &str) -> Result<BTreeSet<Dependency>, Unreadable> {
        match self {
            Self::Requirements => Ok(python::requirements(text)),
            Self::Pyproject => Ok(python::pyproject(&toml(text)?)),
            Self::SetupCfg => Ok(python::setup_cfg(text)),
            Self::SetupPy => python::setup_py(text),
            Self::Pipfile => Ok(python::pipfile(&toml(text)?)),
            Self::PackageJson => npm::package_json(path, text),
            Self::CargoToml => Ok(cargo::cargo_toml(path, &toml(text)?)),
            Self::GoMod => Ok(gomod::go_mod(path, text)),
        }
    }
}

impl Ecosystem {
    /// The name in the one form in which the ecosystem compares names.
    pub(crate) fn normal(self, name: &str) -> String {
        match self {
            Self::Python => python::normal(name),
            Self::Cargo => name.replace('_', "-"),
            Self::Npm | Self::Go => name.to_owned(),
        }
    }
}

/// A document of TOML 1.0.
pub(crate) fn toml(text: &str) -> Result<toml::Table, Unreadable> {
    toml::from_str(text).map_err(|_| Unreadable::Syntax)
}

/// The value below a path of tables.
pub(crate) fn at<'a>(table: &'a toml::Table, path: &[&str]) -> Option<&'a toml::Value> {
    let (first, rest) = path.split_first()?;
    let value = table.get(*first)?;
    if rest.is_empty() { Some(value) } else { at(value.as_table()?, rest) }
}

/// Whether a path that a manifest names, relative to the manifest, stays within the project.
fn stays_inside(manifest: &RepoPath, relative: &str) -> bool {
    let mut depth = manifest.components().count().saturating_sub(1);
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." if depth == 0 => return false,
            ".." => depth -= 1,
            _ => depth += 1,
        }
    }
    !relative.starts_with(['/', '~']) && !relative.contains('\\')
}
