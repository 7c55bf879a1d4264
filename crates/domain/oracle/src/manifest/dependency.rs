use std::fmt;

use ambit_ids::RepoPath;

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

/// Whether a path that a manifest names, relative to the manifest, stays within the project.
pub(super) fn stays_inside(manifest: &RepoPath, relative: &str) -> bool {
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
