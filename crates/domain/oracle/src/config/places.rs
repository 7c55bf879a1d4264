//! What a path alone tells: files found in the place of a module, kept results, migrations.

use ambit_ids::RepoPath;
use ambit_policy::FactKind;

use super::kind::has_extension;
use super::told::{Spot, Told};
use crate::change::{FileChange, Guard, text};
use crate::manifest::Manifest;

/// Modules of the standard library of Python that programs and runners import, without those whose names projects give to
/// their own directories every day.
const STANDARD: &str = "abc argparse array ast asyncio base64 bisect builtins bz2 calendar cmath collections concurrent \
    configparser contextlib contextvars copy copyreg csv ctypes dataclasses datetime decimal difflib dis doctest email enum \
    errno faulthandler filecmp fnmatch fractions ftplib functools gc genericpath getpass gettext glob gzip hashlib heapq hmac \
    html http importlib inspect io ipaddress itertools json keyword linecache locale logging lzma math mimetypes \
    multiprocessing numbers operator optparse os pathlib pdb pickle pkgutil posixpath pprint queue random re reprlib runpy \
    sched secrets select selectors shelve shlex shutil signal smtplib socket sqlite3 sre_parse ssl stat statistics string \
    struct subprocess symtable sysconfig tarfile tempfile textwrap threading time timeit tokenize tomllib traceback \
    tracemalloc types typing unicodedata urllib uuid warnings weakref xml zipfile zipimport zlib zoneinfo __future__";
/// Modules of runners and of what they are made of.
const RUNNERS: &str = "pytest _pytest pluggy iniconfig unittest coverage nose nose2 hypothesis mock tox nox xdist pytest_cov \
    pytest_asyncio";

/// Whether a new file would be found in the place of a module of Python, and which.
fn shadowed<'a>(change: &FileChange<'a>, guard: &Guard, named: &[String]) -> Option<&'a str> {
    let path = std::str::from_utf8(change.path.as_bytes()).ok()?;
    let parts: Vec<&str> = path.split('/').collect();
    let file = parts.last()?;
    let is_code = has_extension(file, &["py", "pyc", "pyd", "so"]);
    let holds = |folder: &str| Some(guard.tests.contains(&format!("{folder}/test_a.py").parse().ok()?));
    // A folder that is named as one of tests; where any folder may hold one, none is.
    let in_tests = parts.len() == 2
        && (matches!(parts[0], "tests" | "test") || (holds(parts[0])? && !holds("any other folder")?));
    let module = match parts.as_slice() {
        [file] | ["src" | "lib", file] if is_code => file,
        [package, init] | ["src" | "lib", package, init] if init.starts_with("__init__.") && is_code => {
            package
        }
        [_, file] if in_tests && is_code => file,
        _ => return None,
    };
    let module = module.split('.').next().unwrap_or(module);
    let is_in = |list: &str| list.split_whitespace().any(|known| known == module);
    let is_dependency = !in_tests && named.iter().any(|name| name.replace('-', "_") == module);
    (is_in(STANDARD) || is_in(RUNNERS) || is_dependency).then_some(module)
}

/// Tells of new files that are found in the place of a module: of the standard library, of a runner, or of a dependency
/// that a manifest in the patch names.
pub(super) fn shadows(changes: &[FileChange<'_>], guard: &Guard, told: &mut Told) {
    let is_module =
        |change: &FileChange<'_>| change.before.is_none() && change.path.file_name().ends_with(b".py");
    let named = if changes.iter().any(is_module) { dependencies(changes) } else { Vec::new() };
    for change in changes.iter().filter(|change| change.before.is_none() && change.after.is_some()) {
        let path = change.path;
        if guard.opened.contains(path) {
            continue;
        }
        let moved =
            changes.iter().any(|other| other.after.is_none() && other.path.file_name() == path.file_name());
        // A module that became a package is the same module.
        let grew = |module: &str| {
            let file = format!("{module}.py");
            changes.iter().any(|other| other.after.is_none() && other.path.file_name() == file.as_bytes())
        };
        if let Some(module) = shadowed(change, guard, &named).filter(|module| !moved && !grew(module)) {
            told.tell(FactKind::ModuleShadowed, Spot::after(path, 0), module, "");
        }
        let in_modules = path.components().any(|part| part == b"node_modules");
        if in_modules && !moved {
            told.tell(FactKind::ModuleShadowed, Spot::after(path, 0), "", "node_modules");
        }
        let name = path.file_name();
        if name.ends_with(b".pth")
            || (name.starts_with(b"sitecustomize.") || name.starts_with(b"usercustomize."))
        {
            told.tell(
                FactKind::ModuleShadowed,
                Spot::after(path, 0),
                "",
                "what the interpreter loads by itself",
            );
        }
    }
}

/// Whether tests compare what they get with this file.
fn is_kept_result(path: &RepoPath) -> bool {
    const DIRECTORIES: [&[u8]; 8] = [
        b"__snapshots__",
        b"__image_snapshots__",
        b"snapshots",
        b"golden",
        b"goldens",
        b"testdata",
        b"__file_snapshots__",
        b"baselines",
    ];
    let name = String::from_utf8_lossy(path.file_name()).into_owned();
    let named = has_extension(&name, &["snap", "ambr", "golden", "expected", "approved"])
        || [".approved.", ".expected.", ".golden.", ".verified."].iter().any(|part| name.contains(part));
    let is_source = has_extension(&name, &["py", "rs", "go", "js", "ts", "java", "mod", "sum", "md"]);
    let in_directory =
        path.parent().is_some_and(|parent| parent.components().any(|part| DIRECTORIES.contains(&part)));
    named || (in_directory && !is_source)
}

/// Tells of kept results and migrations that were there and are gone or others.
pub(super) fn kept(changes: &[FileChange<'_>], guard: &Guard, told: &mut Told) {
    for change in changes {
        let Some(before) = change.before.filter(|before| Some(*before) != change.after) else { continue };
        let is_moved = changes.iter().any(|other| other.before.is_none() && other.after == Some(before));
        let is_input = change.path.components().any(|part| matches!(part, b"fuzz" | b"corpus" | b"corpora"));
        if is_kept_result(change.path) && !is_input && !is_moved && !only_grows(before, change.after) {
            let spot = first_difference(change);
            told.tell(FactKind::SnapshotChanged, spot, "", "");
        }
        let keeps_name = |other: &&FileChange<'_>| {
            other.before.is_none()
                && other.after == Some(before)
                && other.path.file_name() == change.path.file_name()
        };
        let is_opened = guard.opened.contains(change.path);
        if is_migration(change.path)
            && !is_opened
            && !changes.iter().any(|other| keeps_name(&other))
            && !says_the_same(before, change.after)
        {
            told.tell(FactKind::MigrationDeleted, first_difference(change), "", "");
        }
    }
}

/// A file of many kept results that gains some and loses none.
fn only_grows(before: &[u8], after: Option<&[u8]>) -> bool {
    let (Ok(before), Ok(after)) =
        (std::str::from_utf8(before), std::str::from_utf8(after.unwrap_or_default()))
    else {
        return false;
    };
    let holds_many = before.contains("exports[`") || before.lines().any(|line| line.starts_with("# name: "));
    let mut lines = after.lines();
    let all_there = before.lines().all(|line| lines.any(|other| other == line));
    let same_text = before.lines().eq(after.lines());
    same_text || (holds_many && all_there)
}

fn is_migration(path: &RepoPath) -> bool {
    let text = String::from_utf8_lossy(path.as_bytes()).into_owned();
    let (directory, name) = text.rsplit_once('/').unwrap_or(("", &text));
    let parts: Vec<&str> = directory.split('/').collect();
    let in_directory = parts.contains(&"migrations")
        || directory.ends_with("db/migrate")
        || directory.ends_with("alembic/versions")
        || directory.ends_with("migrations/versions");
    let is_flyway = name.starts_with('V')
        && name.ends_with(".sql")
        && name[1..]
            .split_once("__")
            .is_some_and(|(version, _)| version.starts_with(|c: char| c.is_ascii_digit()));
    let is_code =
        has_extension(name, &["sql", "py", "js", "ts", "rb", "php", "go", "cs", "xml", "yaml", "yml"]);
    let is_numbered = name.contains(|c: char| c.is_ascii_digit())
        || parts.last().is_some_and(|last| *last != "migrations")
        || has_extension(name, &["sql"]);
    let is_test = parts.iter().any(|part| matches!(*part, "tests" | "test" | "fixtures" | "testdata"));
    is_flyway || (in_directory && is_code && is_numbered && !name.starts_with("__init__.") && !is_test)
}

/// Whether two migrations differ in white space and comments of whole lines alone.
fn says_the_same(before: &[u8], after: Option<&[u8]>) -> bool {
    let said = |bytes: &[u8]| -> Vec<String> {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        lines
            .filter(|line| !["--", "#", "//"].iter().any(|mark| line.starts_with(mark)))
            .map(str::to_owned)
            .collect()
    };
    after.is_some_and(|after| said(before) == said(after))
}

fn first_difference<'a>(change: &FileChange<'a>) -> Spot<'a> {
    let (Some(before), Some(after)) = (change.before, change.after) else {
        return Spot::before(change.path, 0);
    };
    let equal = before
        .split(|byte| *byte == b'\n')
        .zip(after.split(|byte| *byte == b'\n'))
        .take_while(|(old, new)| old == new);
    Spot::after(change.path, super::node::line(equal.count() + 1))
}

/// The names that the manifests of a patch name.
fn dependencies(changes: &[FileChange<'_>]) -> Vec<String> {
    let mut names = Vec::new();
    for change in changes {
        let Some(manifest) = Manifest::of(change.path) else { continue };
        let Ok(text) = text(change.after) else { continue };
        let named = manifest.read(change.path, text).unwrap_or_default();
        names.extend(named.into_iter().map(|dependency| dependency.name));
    }
    names
}
