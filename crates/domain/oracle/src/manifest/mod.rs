//! What manifests name as dependencies, one format a module.

mod cargo;
mod dependency;
mod ecosystem;
mod gomod;
mod npm;
mod python;
mod table;

use std::collections::BTreeSet;

use ambit_ids::RepoPath;

use crate::change::Unreadable;
pub(crate) use dependency::Dependency;
pub use ecosystem::Ecosystem;
pub(crate) use table::{at, toml};

/// What else ends a line for `str.splitlines` of Python, by which pip reads requirements.
const LINE_ENDS: [char; 6] = ['\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}'];

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

    const fn is_read_by_line(self) -> bool {
        matches!(self, Self::Requirements | Self::SetupCfg | Self::SetupPy | Self::GoMod)
    }

    /// What the manifest names.
    pub(crate) fn read(self, path: &RepoPath, text: &str) -> Result<BTreeSet<Dependency>, Unreadable> {
        if self.is_read_by_line() && text.contains(LINE_ENDS) {
            return Err(Unreadable::LineEnd);
        }
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
