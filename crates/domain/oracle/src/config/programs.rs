//! Configuration that is a program: it is not run, and what is told of it are the lines that differ and name a setting.

use ambit_ids::RepoPath;
use ambit_policy::FactKind;

use super::compare::is_judged_line;
use super::kind::has_extension;
use super::node::line;
use super::told::{Spot, Told};

/// Words of a line, one of which has to be there, and the fact that it is then.
struct Words {
    /// Told where such a line is new.
    added: &'static [&'static str],
    /// Told where such a line is gone.
    removed: &'static [&'static str],
    kind: FactKind,
}

const JAVASCRIPT_RUNNER: Words = Words {
    added: &[
        "passwithnotests",
        "testpathignorepatterns",
        "testnamepattern",
        "testmatch",
        "testregex",
        "testignore",
        "retries",
        "retry:",
        "grep",
        "bail: 0",
        "exclude:",
        "include:",
        "dangerouslyignoreunhandlederrors",
        "allowonly: true",
        "onlychanged",
        "testrunner",
        "resolver:",
        "reporters: []",
        "coveragethreshold",
        "modulenamemapper",
    ],
    removed: &[
        "testmatch",
        "testregex",
        "coveragethreshold",
        "thresholds",
        "forbidonly",
        "allowonly: false",
        "include:",
        "roots:",
        "projects:",
    ],
    kind: FactKind::RunnerChanged,
};
const JAVASCRIPT_LINT: Words = Words {
    added: &["\"off\"", "'off'", "ignores:", ": 0,", "ignorepatterns", "[0]"],
    removed: &["\"error\"", "'error'", "extends:", "recommended"],
    kind: FactKind::CheckSilenced,
};
const GRADLE: Words = Words {
    added: &[
        "ignorefailures = true",
        "ignorefailures true",
        "ignorefailures=true",
        "enabled = false",
        "enabled=false",
        "excludetestsmatching",
        "includetestsmatching",
        "exclude(\"**/",
        "exclude '**/",
        "excludetags",
        "onlyif { false }",
        "onlyif { !project.hasproperty",
        "scanfortestclasses",
        "maxretries",
    ],
    removed: &["usejunitplatform", "-werror", "failonnomatchingtests = true"],
    kind: FactKind::RunnerChanged,
};
const MAVEN: Words = Words {
    added: &[
        "<testfailureignore>true",
        "<skiptests>true",
        "<maven.test.skip>true",
        "<maven.test.failure.ignore>true",
        "<skip>true",
        "<excludedgroups>",
        "<failifnotests>false",
        "<rerunfailingtestscount>",
        "<haltonfailure>false",
    ],
    removed: &["<failifnotests>true", "maven-surefire-plugin", "maven-failsafe-plugin"],
    kind: FactKind::RunnerChanged,
};
const CHECKS_OF_JAVA: Words = Words {
    added: &[
        "<failsonerror>false",
        "<failonviolation>false",
        "<suppression",
        "<suppress ",
        "failonerror = false",
    ],
    removed: &["checkstyle-plugin", "spotbugs-maven-plugin"],
    kind: FactKind::CheckSilenced,
};

/// The words that tell something in a file of this name.
fn words_of(name: &str) -> &'static [Words] {
    const JS: [&str; 8] = [
        "jest.config.",
        "vitest.config.",
        "vitest.workspace.",
        "vite.config.",
        "karma.conf.",
        "playwright.config.",
        ".mocharc.",
        "cypress.config.",
    ];
    let is_script = has_extension(name, &["js", "cjs", "mjs", "ts", "cts", "mts"]);
    if is_script && JS.iter().any(|start| name.starts_with(start)) {
        const { &[JAVASCRIPT_RUNNER] }
    } else if is_script && (name.starts_with("eslint.config.") || name.starts_with(".eslintrc.")) {
        const { &[JAVASCRIPT_LINT] }
    } else if matches!(name, "build.gradle" | "build.gradle.kts" | "settings.gradle") {
        const { &[GRADLE, CHECKS_OF_JAVA] }
    } else if name == "pom.xml" {
        const { &[MAVEN, CHECKS_OF_JAVA] }
    } else {
        &[]
    }
}

/// Compares a program by its lines, if it configures something.
pub(super) fn compare<'a>(path: &RepoPath, before: Option<&'a str>, after: Option<&'a str>, told: &mut Told) {
    let Ok(name) = std::str::from_utf8(path.file_name()) else { return };
    let (words_of_it, is_script) = (words_of(name), has_extension(name, &["sh", "bash"]));
    let is_go_test = name.ends_with("_test.go");
    // Most files are no such program, and their lines are not looked at.
    let is_read = !words_of_it.is_empty() || is_script || is_go_test;
    let lines = |side: Option<&'a str>| side.filter(|_| is_read).map(lines).unwrap_or_default();
    let (was, is) = (lines(before), lines(after));
    for words in words_of_it {
        for (text, whole, at) in is.iter().filter(|(text, ..)| !was.iter().any(|(there, ..)| there == text)) {
            if words.added.iter().any(|word| text.contains(word)) {
                let twin = twin(text, &was);
                if twin.is_some_and(|twin| is_stricter(&twin.0, text)) {
                    continue;
                }
                let old = twin.map(|twin| twin.1).unwrap_or_default();
                told.tell(words.kind, Spot::after(path, *at), old, whole);
            }
        }
        for (text, whole, at) in was.iter().filter(|(text, ..)| !is.iter().any(|(there, ..)| there == text)) {
            if words.removed.iter().any(|word| text.contains(word)) && twin(text, &is).is_none() {
                told.tell(words.kind, Spot::before(path, *at), whole, "");
            }
        }
    }
    if is_build_script(path) && before.is_none() && after.is_some() {
        told.tell(FactKind::RunnerChanged, Spot::after(path, 0), "", "a build script");
    }
    if is_go_test {
        build_tag(path, &was, &is, told);
    }
    let judged = is.iter().find(|(text, ..)| is_script && is_judged_line(text));
    if let Some((_, whole, at)) = judged.filter(|_| !was.iter().any(|(text, ..)| is_judged_line(text))) {
        told.tell(FactKind::GateJudgedByModel, Spot::after(path, *at), "", whole);
    }
}

/// Lines without their comments, in small letters and with single spaces, and as they stand.
fn lines(text: &str) -> Vec<(String, &str, u32)> {
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_ascii_lowercase();
    let lines =
        text.lines().enumerate().map(|(number, whole)| (plain(whole), whole.trim(), line(number + 1)));
    lines
        .filter(|(text, ..)| !text.is_empty() && (!text.starts_with("//") || text.starts_with("//go:build")))
        .collect()
}

/// The line of the other side that sets the same name.
fn twin<'a, 'b>(text: &str, others: &'b [(String, &'a str, u32)]) -> Option<&'b (String, &'a str, u32)> {
    let name = |text: &str| text.split([':', '=', '(', '>']).next().unwrap_or_default().trim().to_owned();
    let named = name(text);
    others.iter().find(|(other, ..)| !named.is_empty() && name(other) == named)
}

/// Whether the only thing that differs are numbers that rise or a list that lost something from it.
fn is_stricter(was: &str, is: &str) -> bool {
    let number =
        |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>().parse::<u64>().ok();
    let falls = (is.contains("retries") || is.contains("retry")) && number(is) < number(was);
    falls || (is.contains("threshold") && number(is) >= number(was))
}

fn is_build_script(path: &RepoPath) -> bool {
    let tests = path
        .components()
        .any(|part| matches!(part, b"tests" | b"testdata" | b"fixtures" | b"examples" | b"src"));
    path.file_name() == b"build.rs" && !tests
}

/// A condition on the build above the package of a test file, which takes it out of the plain run.
fn build_tag(path: &RepoPath, was: &[(String, &str, u32)], is: &[(String, &str, u32)], told: &mut Told) {
    let tag = |side: &[(String, &str, u32)]| -> Option<(String, u32)> {
        let head = side.iter().take_while(|(text, ..)| !text.starts_with("package "));
        head.filter(|(text, ..)| text.starts_with("//go:build"))
            .map(|(_, whole, at)| ((*whole).to_owned(), *at))
            .next()
    };
    let (old, new) = (tag(was), tag(is));
    if let Some((text, at)) =
        new.filter(|(text, _)| !was.is_empty() && old.as_ref().is_none_or(|(old, _)| old != text))
    {
        let old = old.map(|(text, _)| text).unwrap_or_default();
        told.tell(FactKind::RunnerChanged, Spot::after(path, at), &old, &text);
    }
}
