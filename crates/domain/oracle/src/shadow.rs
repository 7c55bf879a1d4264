//! New files that stand in the place of a module which is not in the patch.

use ambit_ids::{Excerpt, RepoPath};
use ambit_policy::{Fact, FactKind, Side, Weakening};

use crate::change::{FileChange, Guard, text};

/// Files beside tests that runners or people look for by their names.
const KNOWN: [&str; 5] = ["conftest.py", "__init__.py", "__main__.py", "setup.py", "settings.py"];

/// A module beside the tests that no file of the patch asks for is found by those that ask for another of its name; so is a
/// mock that a runner takes by its name.
pub(crate) fn facts(changes: &[FileChange<'_>], guard: &Guard) -> Vec<Fact> {
    let new = changes.iter().filter(|change| change.before.is_none() && change.after.is_some());
    new.filter(|change| !guard.opened.contains(change.path))
        .filter_map(|change| is_shadow(change, changes, guard).then(|| told(change.path)).flatten())
        .collect()
}

fn is_shadow(change: &FileChange<'_>, changes: &[FileChange<'_>], guard: &Guard) -> bool {
    let path = change.path;
    let is_moved = changes.iter().any(|other| {
        other.after.is_none() && (other.path.file_name() == path.file_name() || other.before == change.after)
    });
    if is_moved {
        return false;
    }
    if path.components().any(|part| part == b"__mocks__") {
        return true;
    }
    let Some(name) = std::str::from_utf8(path.file_name()).ok().filter(|name| !KNOWN.contains(name)) else {
        return false;
    };
    let Some(module) = name.strip_suffix(".py") else { return false };
    let is_test = module.starts_with("test") || module.ends_with("test") || module.ends_with("tests");
    // The folder of the tests itself, which a runner puts before all others; what lies deeper belongs to a package.
    let is_beside = path.components().count() == 2 && guard.tests.contains(path);
    is_beside && !is_test && !changes.iter().any(|other| other.path != path && asks_for(other, module))
}

/// Whether a file newly asks for a module: by an import that it did not have.
fn asks_for(change: &FileChange<'_>, module: &str) -> bool {
    let imports = |side| {
        let lines = text(side).unwrap_or("").lines();
        let words =
            |line: &str| line.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == module);
        lines.filter(|line| (line.contains("import") || line.contains('\"')) && words(line)).count()
    };
    imports(change.after) > imports(change.before)
}

fn told(path: &RepoPath) -> Option<Fact> {
    let name = String::from_utf8_lossy(path.file_name()).into_owned();
    let place = Weakening {
        path: path.clone(),
        line: 0,
        side: Side::After,
        was: Excerpt::of(""),
        is: Excerpt::of(&name),
    };
    place.told_as(FactKind::ModuleShadowed)
}
