//! JavaScript, by Node: npm, pnpm and yarn.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::node_script::{self, Step};
use super::tests_by_name::TestFiles;
use super::{Look, tests_by_name};
use crate::gate::{Ecosystem, GateKind, ImageTool, ProposedGate, VolumeNeed};
use crate::limits;
use crate::listing::Listing;
use crate::name;
use crate::question::{Choice, Question};

const LOCKS: [(&str, ImageTool); 5] = [
    ("package-lock.json", ImageTool::Npm),
    ("npm-shrinkwrap.json", ImageTool::Npm),
    ("pnpm-lock.yaml", ImageTool::Pnpm),
    ("yarn.lock", ImageTool::Yarn),
    ("bun.lock", ImageTool::Npm),
];
const TEST_DIRECTORIES: [&str; 4] = ["test", "tests", "__tests__", "spec"];
/// Runners that a project without a test script may have meant, with how they are called to run once.
const RUNNERS: [(&str, &[&str]); 8] = [
    ("vitest", &["vitest", "run"]),
    ("jest", &["jest"]),
    ("mocha", &["mocha"]),
    ("ava", &["ava"]),
    ("tap", &["tap"]),
    ("tape", &["tape", "test/*.js"]),
    ("jasmine", &["jasmine"]),
    ("uvu", &["uvu"]),
];
const TEST_FILES: [TestFiles; 3] = [
    ("**/*.{test,spec}.{js,mjs,cjs,jsx,ts,mts,tsx}", |name| {
        name.contains(".test.") || name.contains(".spec.")
    }),
    ("**/test.{js,mjs,cjs,ts}", |name| matches!(name, "test.js" | "test.mjs" | "test.cjs" | "test.ts")),
    ("**/test-*.{js,mjs,cjs}", |name| name.starts_with("test-") && is_script(name)),
];

/// Checks every script below the places that it is given, one after the other, in a process of its own each.
const CHECK_EACH: &str = r#"const fs = require("fs"), { join } = require("path"), { execFileSync } = require("child_process");
const see = f => fs.statSync(f).isDirectory()
  ? fs.readdirSync(f).filter(n => n !== "node_modules").forEach(n => see(join(f, n)))
  : /\.[cm]?js$/.test(f) && execFileSync(process.execPath, ["--check", f], { stdio: "inherit" });
process.argv.slice(1).forEach(see);"#;

pub(super) fn look(listing: &Listing) -> Option<Look> {
    if !listing.has("package.json") {
        return None;
    }
    let mut look = Look::new(Ecosystem::Node, "package.json");
    look.tell_unread(listing, "package.json");
    let manifest: Map<String, Value> =
        listing.text("package.json").and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    look.parts.tools.insert(ImageTool::Node);
    look.parts.manifests.insert("package.json".to_owned());
    look.parts.scope.extend(["*.js", "*.mjs", "*.cjs", "*.ts"].map(str::to_owned));
    let locks: Vec<&str> = LOCKS.into_iter().map(|(lock, _)| lock).filter(|lock| listing.has(lock)).collect();
    look.signs.extend(locks.first().map(|lock| (*lock).to_owned()));
    look.parts.protected.extend(locks.into_iter().map(str::to_owned));
    tests_by_name::collect(listing, &TEST_DIRECTORIES, &TEST_FILES, &mut look.parts.tests);
    look.parts.gates.extend(syntax(listing));
    let packages = packages(&manifest);
    match test_script(&manifest) {
        Some(script) if is_tellable(&script) => {
            look.signs.push("its test script".to_owned());
            for gate in of_script(&mut look.remarks, listing, &manifest, &script, &packages) {
                look.parts.tools.extend(tools_of(&gate));
                look.parts.gates.push(gate);
            }
        }
        Some(_) => look.remarks.push(
            "the test script of package.json is too long, or holds characters that nobody would see: no gate runs it"
                .to_owned(),
        ),
        None => without_script(&mut look, listing, &packages),
    }
    Some(look)
}

/// The names of the packages that it declares.
fn packages(manifest: &Map<String, Value>) -> BTreeSet<String> {
    ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"]
        .iter()
        .filter_map(|key| manifest.get(*key).and_then(Value::as_object))
        .flat_map(|table| table.keys().cloned())
        .collect()
}

/// What `npm test` runs, its steps before and after included. `None` where there is nothing, or what npm writes there
/// itself.
fn test_script(manifest: &Map<String, Value>) -> Option<String> {
    let scripts = manifest.get("scripts")?.as_object()?;
    let script = |name: &str| scripts.get(name).and_then(Value::as_str).map(str::trim);
    let test = script("test").filter(|text| !text.is_empty() && !text.contains("no test specified"))?;
    let around = [script("pretest"), Some(test), script("posttest")];
    let steps: Vec<&str> = around.into_iter().flatten().filter(|step| !step.is_empty()).collect();
    match steps.as_slice() {
        [only] => Some((*only).to_owned()),
        steps => Some(steps.iter().map(|step| format!("({step})")).collect::<Vec<_>>().join(" && ")),
    }
}

fn is_tellable(script: &str) -> bool {
    script.len() <= limits::SCRIPT_BYTES && !script.chars().any(ambit_ids::is_unprintable)
}

/// The gates of the test script: one for each command in it that can be run alone, without those whose program was never
/// installed.
fn of_script(
    remarks: &mut Vec<String>,
    listing: &Listing,
    manifest: &Map<String, Value>,
    script: &str,
    packages: &BTreeSet<String>,
) -> Vec<ProposedGate> {
    let scripts = manifest.get("scripts").and_then(Value::as_object);
    let steps = scripts.and_then(node_script::steps).unwrap_or_default();
    let steps: Vec<Step> = steps.into_iter().filter(|step| is_tellable(&step.command)).collect();
    let lacks = |step: &Step| listing.node_programs.as_ref().is_some_and(|installed| step.lacks(installed));
    let (lacking, mut there): (Vec<Step>, Vec<Step>) = steps.into_iter().partition(lacks);
    for step in &lacking {
        remarks.push(match there.is_empty() {
            true => format!("`{}` is not installed in node_modules: the tests cannot run without it", step.program()),
            false => format!(
                "`{}` is not installed in node_modules, so `{}` is no gate: install it, and `ambit init --replace`",
                step.program(),
                step.command
            ),
        });
    }
    // Where nothing can be run, the whole says so by failing.
    if there.is_empty() {
        return vec![by_script(script, packages)];
    }
    there.sort_by_key(|step| !step.is_check());
    let is_only = there.len() == 1;
    let mut taken = BTreeSet::new();
    let mut gate_of = |step: &Step| {
        let mut gate = by_script(&step.command, packages);
        if !is_only {
            gate.id = free_id(&step.name, &mut taken);
            gate.summary = format!("`{}` of package.json passes.", step.name);
        }
        if step.is_check() && !is_only {
            gate.kind = GateKind::Build;
        }
        gate
    };
    there.iter().map(&mut gate_of).collect()
}

/// An id after the name of a script, which no other gate has.
fn free_id(script: &str, taken: &mut BTreeSet<String>) -> String {
    let word: String = script
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .take(30)
        .collect();
    let word = format!("node.{}", word.trim_matches('-'));
    let others = (2..).map(|number| format!("{word}-{number}"));
    let id = std::iter::once(word.clone()).chain(others).find(|id| !taken.contains(id)).unwrap_or(word);
    taken.insert(id.clone());
    id
}

/// The command of a script. Without anything that a shell would take apart there is no shell.
fn by_script(script: &str, packages: &BTreeSet<String>) -> ProposedGate {
    let is_plain = |word: &str| {
        word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=:,@+%".contains(c)) && !word.contains('=')
    };
    let words: Vec<&str> = script.split_whitespace().collect();
    let needs_no_shell =
        words.first() == Some(&"node") && words.iter().all(|word| is_plain(word)) && words.len() <= 60;
    let argv = if needs_no_shell { words } else { vec!["sh", "-c", script] };
    tests(&argv, !packages.is_empty())
}

fn tests(argv: &[&str], needs_packages: bool) -> ProposedGate {
    let gate = ProposedGate::new(
        Ecosystem::Node,
        GateKind::Test,
        "node.tests",
        "The tests of the project pass.",
        argv,
    )
    .with("CI", "true")
    .with("NO_COLOR", "1");
    if !needs_packages {
        return gate;
    }
    let gate = gate
        .with("PATH", "/volumes/node_modules/.bin:/usr/local/bin:/usr/bin:/bin")
        .with("NPM_CONFIG_CACHE", "/tmp/npm")
        .with("NPM_CONFIG_OFFLINE", "true")
        .with("NPM_CONFIG_UPDATE_NOTIFIER", "false");
    gate.needing(VolumeNeed::NodeModules)
}

/// The programs that a script calls beside those of its packages.
fn tools_of(gate: &ProposedGate) -> BTreeSet<ImageTool> {
    let mut tools = BTreeSet::new();
    if gate.argv[0] == "sh" {
        // The programs of packages begin with a line that names `env`.
        tools.extend([ImageTool::Sh, ImageTool::Env]);
        let words = || {
            gate.argv[2].split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/' | '.')))
        };
        for (word, tool) in [
            ("npm", ImageTool::Npm),
            ("npx", ImageTool::Npm),
            ("pnpm", ImageTool::Pnpm),
            ("yarn", ImageTool::Yarn),
            ("make", ImageTool::Make),
        ] {
            if words().any(|found| found == word) {
                tools.insert(tool);
            }
        }
    }
    tools
}

fn without_script(look: &mut Look, listing: &Listing, packages: &BTreeSet<String>) {
    let uses_own_runner = listing.texts.values().any(|text| text.contains("node:test"));
    let own = || tests(&["node", "--test"], !packages.is_empty());
    if uses_own_runner {
        look.signs.push("tests that import node:test".to_owned());
        look.parts.gates.push(own());
        return;
    }
    let meant: Vec<_> = RUNNERS.into_iter().filter(|(name, _)| packages.contains(*name)).collect();
    let call = |words: &[&str]| tests(&["sh", "-c", &words.join(" ")], true);
    match meant.as_slice() {
        [] if look.parts.tests.is_empty() => look.remarks.push(
            "no test was found in package.json or by name: the gate only checks that the scripts are well-formed"
                .to_owned(),
        ),
        [] => look.parts.gates.push(own()),
        [(name, words)] => {
            look.signs.push(format!("the package {name}"));
            let gate = call(words);
            look.parts.tools.extend(tools_of(&gate));
            look.parts.gates.push(gate);
        }
        several => {
            look.parts.tools.extend([ImageTool::Sh, ImageTool::Env]);
            look.questions.push(Question {
                asks: "Which runner do the tests of package.json need?".to_owned(),
                choices: several.iter().map(|(name, words)| Choice::of_gate(name, call(words))).collect(),
            });
        }
    }
}

fn is_script(name: &str) -> bool {
    [".js", ".mjs", ".cjs"].iter().any(|end| name.ends_with(end))
}

/// A check that starts nothing of the project. Tests are left out: some hold what is wrong on purpose.
fn syntax(listing: &Listing) -> Option<ProposedGate> {
    let is_test =
        |top: &str| TEST_DIRECTORIES.contains(&top) || TEST_FILES.iter().any(|(_, is_test)| is_test(top));
    let scripts = || listing.files.keys().filter(|path| is_script(path));
    let places: BTreeSet<&str> = scripts()
        .map(|path| name::top(path).0)
        .filter(|top| !top.starts_with('.') && name::is_argument(top))
        .filter(|top| !is_test(top) && !matches!(*top, "dist" | "build" | "docs" | "examples"))
        .collect();
    if places.is_empty() || places.len() > limits::ARGUMENTS {
        return None;
    }
    let mut argv = vec!["node", "-e", CHECK_EACH, "--"];
    argv.extend(places);
    Some(ProposedGate::new(
        Ecosystem::Node,
        GateKind::Syntax,
        "node.syntax",
        "The scripts are well-formed JavaScript.",
        &argv,
    ))
}
