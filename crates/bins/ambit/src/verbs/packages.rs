//! Packages that gates need and that no sandbox can fetch.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use ambit_ids::{Digest, ProjectId, VolumeName};
use ambit_images::{VolumeRequest, VolumeSource};
use ambit_project_survey::VolumeNeed;

use crate::compose::Services;
use crate::config::resolved;
use crate::context::Context;
use crate::failure::Failure;
use crate::verbs::volume::home_of_cargo;

/// Where the virtual environment of a repository usually lies.
const ENVIRONMENTS: [&str; 2] = [".venv", "venv"];

/// Captures what gates need of packages, as they are installed on this machine.
pub(crate) async fn capture(
    context: &Context,
    services: &Services,
    root: &Path,
    project: &ProjectId,
    needs: &BTreeSet<VolumeNeed>,
) -> Result<BTreeMap<VolumeNeed, Digest>, Failure> {
    let mut captured = BTreeMap::new();
    for need in needs {
        let request = VolumeRequest { name: name_of(project, *need)?, source: source_of(root, *need)? };
        context.note(&format!("capturing the packages of the project ({})", need.as_str()));
        let report = services.images.capture_volume(request).await.map_err(|error| {
            let failure = Failure::of(error.code(), &error);
            failure.help(format!("nothing was written; {}", mend(*need)))
        })?;
        captured.insert(*need, report.volume.digest);
    }
    Ok(captured)
}

/// A name on this machine that tells the project and what it holds.
fn name_of(project: &ProjectId, need: VolumeNeed) -> Result<VolumeName, Failure> {
    let told = project.as_str().to_ascii_lowercase();
    let word: String =
        told.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(40).collect();
    let start = if word.starts_with(|c: char| c.is_ascii_alphabetic()) { "" } else { "of-" };
    VolumeName::new(format!("{start}{word}-{}", need.as_str()))
        .map_err(|error| Failure::of("USAGE_VALUE", &error))
}

fn source_of(root: &Path, need: VolumeNeed) -> Result<VolumeSource, Failure> {
    let absent = |what: &str| {
        Failure::new("PREPARATION_LACKS_PACKAGES", format!("the gates need packages, and there is no {what}"))
            .help(format!("nothing was written; {}", mend(need)))
    };
    match need {
        VolumeNeed::Cargo => {
            let lockfile = within(root, &root.join("Cargo.lock"))?;
            if !lockfile.is_file() {
                return Err(absent("Cargo.lock"));
            }
            let cargo_home = home_of_cargo().ok_or_else(|| absent("home of Cargo"))?;
            Ok(VolumeSource::Cargo { lockfile, cargo_home })
        }
        VolumeNeed::NodeModules => {
            let modules = within(root, &root.join("node_modules"))?;
            modules
                .is_dir()
                .then_some(VolumeSource::NodeModules(modules))
                .ok_or_else(|| absent("node_modules"))
        }
        VolumeNeed::Python => {
            let beside = ENVIRONMENTS.into_iter().map(|name| root.join(name));
            let entered = std::env::var_os("VIRTUAL_ENV").map(PathBuf::from);
            let found = beside.chain(entered).find(|environment| environment.join("pyvenv.cfg").is_file());
            let found = found.ok_or_else(|| absent("virtual environment (.venv)"))?;
            within(root, &found).map(VolumeSource::Python)
        }
    }
}

/// A place without links. One of the repository must lie in it: whoever writes a repository puts links into it, and what
/// is captured can be read by its tests, and by agents.
fn within(root: &Path, place: &Path) -> Result<PathBuf, Failure> {
    let real = resolved(place);
    if place.starts_with(root) && !real.starts_with(root) {
        let message = format!("{} leads out of the repository, to {}", place.display(), real.display());
        return Err(Failure::new("PREPARATION_LEADS_OUT", message)
            .help("nothing was written; put what it leads to in its place, or take the link away"));
    }
    Ok(real)
}

/// How the packages come onto this machine.
const fn mend(need: VolumeNeed) -> &'static str {
    match need {
        VolumeNeed::Cargo => {
            "`cargo fetch --locked` fetches the crates, `cargo generate-lockfile` makes a lock first"
        }
        VolumeNeed::NodeModules => "`npm install` (or pnpm, yarn) installs them into node_modules",
        VolumeNeed::Python => {
            "`python3 -m venv .venv && .venv/bin/pip install ...` installs them, with the test runner, beside the project"
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_repository_gives_of_itself_and_nothing_that_its_links_lead_to() {
        let machine = tempfile::tempdir().unwrap();
        let at = |path: &str| machine.path().canonicalize().unwrap().join(path);
        for directory in ["secrets", "repository/real", "repository-2"] {
            std::fs::create_dir_all(at(directory)).unwrap();
        }
        let links = [("out", "../secrets"), ("whole", "/"), ("beside", "../repository-2"), ("in", "real")];
        for (link, target) in links {
            symlink(target, at("repository").join(link)).unwrap();
        }
        symlink("out", at("repository/twice")).unwrap();
        let root = at("repository");
        for (place, leads) in [
            ("repository/real", Some("repository/real")),
            ("repository/in", Some("repository/real")),
            ("repository/absent", Some("repository/absent")),
            ("secrets", Some("secrets")),
            ("repository/out", None),
            ("repository/twice", None),
            ("repository/whole", None),
            ("repository/beside", None),
        ] {
            let found = within(&root, &at(place));
            assert_eq!(found.ok(), leads.map(at), "{place}");
        }
    }
}
