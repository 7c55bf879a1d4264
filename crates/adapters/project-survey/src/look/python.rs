//! Python: pytest, unittest and tox.

use std::collections::BTreeSet;

use super::python_tests::TEST_DIRECTORIES;
use super::tests_by_name::TestFiles;
use super::{Look, python_tests, tests_by_name};
use crate::gate::{Ecosystem, GateKind, ImageTool, ProposedGate, VolumeNeed};
use crate::limits;
use crate::listing::Listing;
use crate::name;
use crate::question::Choice;

const SIGNS: [&str; 7] =
    ["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile", "tox.ini", "pytest.ini"];
/// Manifests that are read for added dependencies.
const MANIFESTS: [&str; 4] = ["pyproject.toml", "setup.py", "setup.cfg", "Pipfile"];
const LOCKS: [&str; 4] = ["poetry.lock", "uv.lock", "Pipfile.lock", "pdm.lock"];
const TEST_FILES: [TestFiles; 2] = [
    ("**/test_*.py", |name| name.starts_with("test_") && name.ends_with(".py")),
    ("**/*_test.py", |name| name.ends_with("_test.py")),
];

pub(super) fn look(listing: &Listing) -> Option<Look> {
    let top_modules = || listing.ending(".py").filter(|path| !path.contains('/'));
    let packages = packages(listing);
    let sign = match listing.first_of(&SIGNS) {
        Some(sign) if listing.ending(".py").next().is_some() => sign.to_owned(),
        Some(_) => return None,
        None if !packages.is_empty() => format!("{}/__init__.py", packages[0]),
        None => top_modules().next()?.to_owned(),
    };
    let mut look = Look::new(Ecosystem::Python, sign);
    look.parts.tools.insert(ImageTool::Python3);
    tests_by_name::collect(listing, &TEST_DIRECTORIES, &TEST_FILES, &mut look.parts.tests);
    look.parts.manifests.extend(manifests(listing));
    look.parts.protected.extend(LOCKS.into_iter().filter(|lock| listing.has(lock)).map(str::to_owned));
    let mut sources = packages;
    let is_source = |path: &&str| {
        !matches!(*path, "setup.py" | "conftest.py" | "noxfile.py")
            && !TEST_FILES.iter().any(|(_, is_test)| is_test(path))
    };
    let modules: Vec<&str> = top_modules().filter(is_source).collect();
    if !modules.is_empty() {
        look.parts.scope.insert("*.py".to_owned());
    }
    sources.extend(modules.into_iter().filter(|name| name::is_argument(name)).map(str::to_owned));
    look.parts.gates.extend(syntax(&sources));
    let needs_packages = declares_dependencies(listing);
    choose_tests(&mut look, listing, needs_packages);
    for file in SIGNS {
        look.tell_unread(listing, file);
    }
    Some(look)
}

/// The directories of source: `src`, or the packages at the top.
fn packages(listing: &Listing) -> Vec<String> {
    if listing.ending(".py").any(|path| path.starts_with("src/")) {
        return vec!["src".to_owned()];
    }
    let inits = listing.ending("/__init__.py").filter_map(|path| path.strip_suffix("/__init__.py"));
    inits
        .filter(|package| !package.contains('/') && !TEST_DIRECTORIES.contains(package))
        .filter(|package| name::is_argument(package))
        .map(str::to_owned)
        .collect()
}

fn manifests(listing: &Listing) -> BTreeSet<String> {
    let named = MANIFESTS.into_iter().filter(|name| listing.has(name)).map(str::to_owned);
    let lists = listing.ending(".txt").filter(|path| path.starts_with("requirements"));
    named.chain(lists.filter_map(name::pattern)).collect()
}

/// A check that starts nothing of the project. Tests are left out: some hold what is wrong on purpose.
fn syntax(sources: &[String]) -> Option<ProposedGate> {
    if sources.is_empty() {
        return None;
    }
    let mut argv = vec!["python3", "-I", "-m", "compileall", "-q", "-f"];
    match sources.len() <= limits::ARGUMENTS {
        true => argv.extend(sources.iter().map(String::as_str)),
        false => argv.extend(["-x", r"(^|[/\\])tests?[/\\]", "."]),
    }
    let gate = ProposedGate::new(
        Ecosystem::Python,
        GateKind::Syntax,
        "python.syntax",
        "The source is well-formed Python.",
        &argv,
    );
    Some(gate.with("PYTHONPYCACHEPREFIX", "/tmp/pycache"))
}

/// Whether packages are needed to import the project at all.
fn declares_dependencies(listing: &Listing) -> bool {
    let is_list = |path: &str| path.starts_with("requirements") && path.ends_with(".txt");
    let in_lists = listing.texts.iter().any(|(path, text)| {
        is_list(path)
            && !path.contains("dev")
            && !path.contains("test")
            && text.lines().map(str::trim).any(|line| !line.is_empty() && !line.starts_with('#'))
    });
    let project = listing.text("pyproject.toml").and_then(|text| text.parse::<toml::Table>().ok());
    let declared = project.as_ref().is_some_and(|table| {
        let listed = table.get("project").and_then(|project| project.get("dependencies"));
        let poetry = table
            .get("tool")
            .and_then(|tool| tool.get("poetry"))
            .and_then(|poetry| poetry.get("dependencies"))
            .and_then(toml::Value::as_table);
        listed.and_then(toml::Value::as_array).is_some_and(|list| !list.is_empty())
            || poetry.is_some_and(|table| table.keys().any(|name| name != "python"))
    });
    let asks = |file: &str| listing.text(file).is_some_and(|text| text.contains("install_requires"));
    in_lists || declared || asks("setup.py") || asks("setup.cfg") || listing.has("Pipfile")
}

fn choose_tests(look: &mut Look, listing: &Listing, needs_packages: bool) {
    let verdict = python_tests::runner(listing);
    if look.parts.tests.is_empty() && !verdict.is_configured {
        look.remarks
            .push("no Python test was found: the gate only checks that the source is well-formed".to_owned());
        return;
    }
    let in_src = listing.ending(".py").any(|path| path.starts_with("src/"));
    let finish = |gate: ProposedGate, needs: bool| {
        let mut places = Vec::new();
        if in_src {
            places.push("/workspace/src".to_owned());
        }
        if needs {
            places.push("/volumes/python".to_owned());
        }
        let gate = gate.with("PYTHONDONTWRITEBYTECODE", "1").with("PYTHONHASHSEED", "0");
        if let Some(own) = gate.environment.get("PYTHONPATH") {
            places.insert(0, own.clone());
        }
        let gate = if places.is_empty() { gate } else { gate.with("PYTHONPATH", places.join(":")) };
        if needs { gate.needing(VolumeNeed::Python) } else { gate }
    };
    let unittest = || -> Vec<ProposedGate> {
        python_tests::unittest(listing).into_iter().map(|gate| finish(gate, needs_packages)).collect()
    };
    let pytest = || finish(python_tests::pytest(), true);
    look.signs.extend(verdict.why.iter().cloned());
    match verdict.runner {
        Some(python_tests::Runner::Unittest) => look.parts.gates.extend(unittest()),
        Some(python_tests::Runner::Pytest) => look.parts.gates.push(pytest()),
        None => look.questions.push(crate::question::Question {
            asks: "Which runner do the Python tests need?".to_owned(),
            choices: vec![
                Choice::of_gates("unittest, which comes with Python", unittest()),
                Choice::of_gate("pytest, which is taken from the installed packages", pytest()),
            ],
        }),
    }
}
