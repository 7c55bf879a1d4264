use super::python;

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
