//! Command-line options that configuration hands to a runner or a compiler.

use super::shell::words;

/// Options of pytest that change only how much is said, or that make it stricter.
const HARMLESS: [&str; 44] = [
    "-v",
    "-vv",
    "-vvv",
    "-q",
    "-qq",
    "-s",
    "-l",
    "-x",
    "-ra",
    "-rA",
    "-rf",
    "-rs",
    "-rsx",
    "-rfE",
    "-rxXs",
    "-rsxX",
    "--verbose",
    "--quiet",
    "--tb",
    "--durations",
    "--durations-min",
    "--color",
    "--showlocals",
    "--show-capture",
    "--strict",
    "--strict-markers",
    "--strict-config",
    "--exitfirst",
    "--cov",
    "--cov-report",
    "--cov-branch",
    "--cov-context",
    "--cov-append",
    "--no-header",
    "--dist",
    "-n",
    "--numprocesses",
    "--junitxml",
    "--junit-xml",
    "--doctest-modules",
    "--doctest-glob",
    "--capture",
    "--runxfail",
    "--import-mode",
];
/// Options of pytest that keep tests from being run or failures from being told.
const HARMFUL: [&str; 32] = [
    "-k",
    "-m",
    "-c",
    "-o",
    "-W",
    "-p",
    "--deselect",
    "--ignore",
    "--ignore-glob",
    "--collect-only",
    "--co",
    "--lf",
    "--last-failed",
    "--sw",
    "--stepwise",
    "--nf",
    "--noconftest",
    "--confcutdir",
    "--rootdir",
    "--override-ini",
    "--continue-on-collection-errors",
    "--no-cov",
    "--no-cov-on-fail",
    "--reruns",
    "--only-rerun",
    "--suppress-no-test-exit-code",
    "--suppress-tests-failed-exit-code",
    "--disable-warnings",
    "--setup-plan",
    "--snapshot-update",
    "--force-regen",
    "--testmon",
];
/// Options without which a run says less.
const STRICT: [&str; 7] = [
    "--strict",
    "--strict-markers",
    "--strict-config",
    "--doctest-modules",
    "--doctest-glob",
    "--cov-fail-under",
    "--runxfail",
];

/// Whether options of pytest let more through than before.
pub(super) fn loosened(before: &str, after: &str) -> bool {
    let (before, after) = (options(before), options(after));
    let news = after.iter().filter(|new| !before.contains(new));
    let lost = before.iter().filter(|old| !after.contains(old));
    let harmful = |(name, value): &(String, String)| {
        let is_error = name == "-W" && value.starts_with("error");
        let enables = name == "-p" && !value.starts_with("no:");
        let quiet = HARMLESS.contains(&name.as_str()) || name.starts_with("-r");
        !is_error && !quiet && (HARMFUL.contains(&name.as_str()) && !enables || !name.starts_with('-'))
    };
    let number = |side: &[(String, String)]| {
        side.iter()
            .find(|(name, _)| name == "--cov-fail-under")
            .and_then(|(_, value)| value.parse::<f64>().ok())
    };
    let falls = number(&before) > number(&after);
    let gone = |(name, value): &(String, String)| {
        let still = after.iter().any(|(kept, _)| kept == name)
            || (name.starts_with("--strict") && has(&after, "--strict"));
        (STRICT.contains(&name.as_str()) && !still) || (name == "-W" && value.starts_with("error"))
    };
    falls || news.into_iter().any(harmful) || lost.into_iter().any(gone)
}

fn has(side: &[(String, String)], name: &str) -> bool {
    side.iter().any(|(there, _)| there == name)
}

/// Each option with its value; what is no option stands for itself.
fn options(text: &str) -> Vec<(String, String)> {
    const VALUED: [&str; 8] = ["-k", "-m", "-c", "-o", "-W", "-p", "-n", "--deselect"];
    const LONG_VALUED: [&str; 9] = [
        "--ignore",
        "--ignore-glob",
        "--tb",
        "--cov-fail-under",
        "--durations",
        "--rootdir",
        "--cov-report",
        "--cov-config",
        "--dist",
    ];
    let mut found: Vec<(String, String)> = Vec::new();
    let mut words = words(text).into_iter();
    while let Some(word) = words.next() {
        if let Some((name, value)) = word.split_once('=').filter(|(name, _)| name.starts_with("--")) {
            found.push((name.to_owned(), value.to_owned()));
        } else if VALUED.contains(&word.as_str()) || LONG_VALUED.contains(&word.as_str()) {
            let value = words.next().unwrap_or_default();
            found.push((word, value));
        } else if let Some(short) = VALUED.iter().find(|short| short.len() == 2 && word.starts_with(**short))
        {
            found.push(((*short).to_owned(), word[2..].to_owned()));
        } else {
            found.push((word, String::new()));
        }
    }
    found
}

/// Whether a filter of warnings ignores all of them.
pub(super) fn ignores_everything(filter: &str) -> bool {
    let mut parts = filter.split(':').map(str::trim);
    let action = parts.next().unwrap_or_default();
    let rest: Vec<&str> = parts.collect();
    let broad = |part: &&str| part.is_empty() || matches!(*part, "Warning" | "Exception" | ".*");
    matches!(action, "ignore" | "default" | "once" | "always") && rest.iter().all(broad)
}

/// Whether options of a compiler are new that are not known to concern only where and for what it compiles.
pub(super) fn flags_loosened(before: &str, after: &str) -> bool {
    const HARMLESS: [&str; 9] = [
        "target-cpu",
        "target-feature",
        "link-arg",
        "link-args",
        "linker",
        "opt-level",
        "codegen-units",
        "debuginfo",
        "split-debuginfo",
    ];
    let known = |word: &str| {
        let option = word.trim_start_matches("-C").trim();
        word == "-C"
            || HARMLESS.iter().any(|name| option.split('=').next() == Some(name))
            || word.starts_with("-D")
    };
    let strict = |word: &str| word.starts_with("-D") || word.starts_with("-F") || word == "warnings";
    let (before, after) = (words(before), words(after));
    after.iter().any(|word| !before.contains(word) && !known(word) && word != "warnings")
        || before.iter().any(|word| !after.contains(word) && strict(word))
}
