//! Which repository belongs to which project. The home says so, by the place of the repository; nothing in a repository
//! can name a project.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use ambit_ids::{Digest, OrganizationId, ProjectId, Scope};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::home::Home;
use crate::input_file::read_bytes;

/// A repository that is bound to a project.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    /// Its top directory, without links.
    pub(crate) root: PathBuf,
    pub(crate) record: Record,
}

/// What the home keeps of a repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Record {
    /// The project.
    pub(crate) project: ProjectId,
    /// The documents that the user agreed to, as their text was then.
    pub(crate) agreed: Texts,
}

/// The text of the three documents of a repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Texts {
    pub(crate) blueprint: String,
    pub(crate) commands: String,
    pub(crate) profile: String,
}

/// Three documents of the largest size, every character of them escaped.
const RECORD_BYTES: usize = 32 << 20;

impl Bound {
    /// The repository that holds the current directory, the innermost if there are several.
    pub(crate) fn here(home: &Home, organization: &OrganizationId) -> Result<Option<Self>, Failure> {
        if !home.repositories().is_dir() {
            return Ok(None);
        }
        let Ok(place) = std::env::current_dir().and_then(|place| place.canonicalize()) else {
            return Ok(None);
        };
        for root in place.ancestors() {
            if let Some(bound) = Self::find(home, organization, root)? {
                return Ok(Some(bound));
            }
        }
        Ok(None)
    }

    /// The binding of the repository with this top directory, which is without links.
    pub(crate) fn find(
        home: &Home,
        organization: &OrganizationId,
        root: &Path,
    ) -> Result<Option<Self>, Failure> {
        let file = file(home, organization, root);
        if !file.is_file() {
            return Ok(None);
        }
        let bytes = read_bytes(&file, RECORD_BYTES)?;
        let record = serde_json::from_slice(&bytes).map_err(|error| {
            Failure::of("BINDING_DAMAGED", &error).help(format!(
                "nothing was changed; remove {} and run `ambit init --replace` in {}",
                file.display(),
                root.display()
            ))
        })?;
        Ok(Some(Self { root: root.to_owned(), record }))
    }

    /// Keeps the binding, in the place of an earlier one of the same repository.
    pub(crate) fn keep(&self, home: &Home, organization: &OrganizationId) -> Result<(), Failure> {
        use std::os::unix::fs::DirBuilderExt as _;
        let unkept = |error: &(dyn std::error::Error + 'static)| {
            Failure::of("BINDING_UNWRITABLE", error).help("free space in the home, and do the same again")
        };
        let file = file(home, organization, &self.root);
        let directory = file.parent().unwrap_or(&file);
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory);
        made.map_err(|error| unkept(&error))?;
        let bytes = serde_json::to_vec(&self.record).map_err(|error| unkept(&error))?;
        let staged = file.with_extension(format!("{}.new", std::process::id()));
        let _ = std::fs::remove_file(&staged);
        crate::new_file::write_new(&staged, &bytes, 0o600)?;
        std::fs::rename(&staged, &file).map_err(|error| unkept(&error))
    }

    /// Whether the current directory lies in a repository.
    pub(crate) fn holds_this_place(root: &Path) -> bool {
        std::env::current_dir()
            .and_then(|place| place.canonicalize())
            .is_ok_and(|place| place.starts_with(root))
    }

    pub(crate) fn scope(&self, organization: &OrganizationId) -> Scope {
        Scope { organization: organization.clone(), project: self.record.project.clone() }
    }
}

fn file(home: &Home, organization: &OrganizationId, root: &Path) -> PathBuf {
    let place = Digest::of(root.as_os_str().as_bytes());
    home.repositories().join(organization.as_str()).join(format!("{}.json", place.to_hex()))
}

/// The project of a repository: its name for people, and its place so that no two share one.
pub(crate) fn project_of(root: &Path) -> Result<ProjectId, Failure> {
    let name = root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let plain: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' })
        .take(40)
        .collect();
    let plain = plain.trim_start_matches(['.', '_', '-']);
    let plain = if plain.is_empty() { "repository" } else { plain };
    let place = Digest::of(root.as_os_str().as_bytes());
    ProjectId::new(format!("{plain}-{}", place.short())).map_err(|error| Failure::of("USAGE_VALUE", &error))
}

/// The top directory of the innermost repository that holds a place: where `.git` lies, or `bound`, which holds the place
/// too; else the place itself. A repository within one that is bound is another one, whoever wrote it.
pub(crate) fn innermost(place: &Path, bound: Option<&Path>) -> Result<PathBuf, Failure> {
    let place = place.canonicalize().map_err(|error| {
        Failure::new("SURVEY_NOT_A_DIRECTORY", format!("{} is not a directory: {error}", place.display()))
    })?;
    let is_top = |above: &&Path| bound == Some(*above) || above.join(".git").symlink_metadata().is_ok();
    Ok(place.ancestors().find(is_top).unwrap_or(&place).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_within_a_bound_one_is_another() {
        let machine = tempfile::tempdir().unwrap();
        let at = |path: &str| machine.path().canonicalize().unwrap().join(path);
        for directory in
            ["outer/.git", "outer/part/deep", "outer/inner/.git", "outer/inner/deep", "plain/deep"]
        {
            std::fs::create_dir_all(at(directory)).unwrap();
        }
        for (place, bound, top) in [
            ("outer/part/deep", Some("outer"), "outer"),
            ("outer/part/deep", Some("outer/part"), "outer/part"),
            ("outer/part/deep", None, "outer"),
            ("outer/inner/deep", Some("outer"), "outer/inner"),
            ("outer/inner", None, "outer/inner"),
            ("plain/deep", Some("plain"), "plain"),
            ("plain/deep", None, "plain/deep"),
        ] {
            let found = innermost(&at(place), bound.map(at).as_deref());
            assert_eq!(found.ok(), Some(at(top)), "{place} {bound:?}");
        }
    }
}
