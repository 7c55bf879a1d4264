//! Directives that a patch adds to silence a check.

use ambit_ids::PathSet;
use ambit_oracle::Guard;
use ambit_policy::{Fact, FactKind};

use crate::{facts, guard, set};

/// What is told of one changed file: the kind in short, the line and the directive.
fn told(name: &str, before: &str, after: &str) -> Vec<String> {
    short(facts(&guard(), &[(name, Some(before), Some(after))]))
}

fn short(facts: Vec<Fact>) -> Vec<String> {
    let short = |fact: Fact| match fact {
        Fact::SkipMarkerAdded { line, marker, .. } => format!("ends {line} {marker}"),
        Fact::DirectiveAdded(place) => format!("asks {} {}", place.line, place.is),
        Fact::BlanketDirectiveAdded(place) => format!("denied {} {}", place.line, place.is),
        other => other.to_string(),
    };
    facts.into_iter().map(short).collect()
}

const NOTHING: [&str; 0] = [];

// proves E-F07
// break crates/domain/oracle/src/facts.rs: `facts.extend(directives.told());` -> ``
// break crates/domain/oracle/src/directive/mod.rs: `found.extend(comment::find(language, source));` -> ``
#[test]
fn a_directive_that_names_its_check_is_told_with_its_line() {
    for (name, text, expected) in [
        ("app/a.py", "x = 1  # why not # noqa: E501", "1 noqa: E501"),
        ("app/a.py", "x = 1  # NOQA:E501,W2 and a reason", "1 NOQA:E501,W2 and a reason"),
        ("app/a.py", "x = f()  # type:ignore[arg-type]", "1 type:ignore[arg-type]"),
        ("app/a.py", "x = f()  # pyright: ignore[reportCallIssue]", "1 pyright: ignore[reportCallIssue]"),
        ("app/a.py", "def f():\n    # pylint: disable=no-member\n    g()", "2 pylint: disable=no-member"),
        ("app/a.py", "x = f()  # see pylint: disable=no-member", "1 pylint: disable=no-member"),
        ("app/a.py", "x = f()  # nosec B101", "1 nosec B101"),
        ("app/a.py", "if x:  # pragma: no cover\n    pass", "1 pragma: no cover"),
        ("src/a.ts", "// @ts-ignore\nf()", "1 @ts-ignore"),
        ("src/a.js", "f() // eslint-disable-line no-undef -- why", "1 eslint-disable-line no-undef -- why"),
        (
            "src/a.js",
            "g()\n/* eslint-disable no-undef */\nf()\n/* eslint-enable no-undef */",
            "2 eslint-disable no-undef",
        ),
        ("src/a.ts", "// biome-ignore lint/style/noVar: old\nf()", "1 biome-ignore lint/style/noVar: old"),
        ("src/a.rs", "#[allow(dead_code)]\nfn a() {}", "1 #[allow(dead_code)]"),
        (
            "src/a.rs",
            "#[expect(clippy::panic, reason = \"x\")]\nfn a() {}",
            "1 #[expect(clippy::panic, reason = \"x\")]",
        ),
        (
            "src/a.rs",
            "#[cfg_attr(all(), allow(dead_code))]\nfn a() {}",
            "1 #[cfg_attr(all(), allow(dead_code))]",
        ),
        ("pkg/a.go", "package a\n\nvar x = f() //nolint:errcheck // why", "3 nolint:errcheck // why"),
        ("pkg/a.go", "package a\n\n//lint:ignore SA1019 why\nvar x = f()", "3 lint:ignore SA1019 why"),
        (
            "src/A.java",
            "@SuppressWarnings({\"unchecked\", \"rawtypes\"}) class A {}",
            "1 @SuppressWarnings({\"unchecked\", \"rawtypes\"})",
        ),
    ] {
        assert_eq!(told(name, "", text), [format!("asks {expected}")], "{text}");
        let vendored = format!("vendor/x/{}", name.replace("src/", ""));
        assert_eq!(told(&vendored, "", text), NOTHING, "{vendored}");
    }
}

// proves E-F07
// break crates/domain/oracle/src/directive/mod.rs: `self.rules.is_empty() || self.reach == Reach::File` -> `false`
#[test]
fn one_that_names_no_check_or_holds_for_a_file_is_another_fact() {
    for (name, text, expected) in [
        ("app/a.py", "x = 1  # noqa", "1 noqa"),
        ("app/a.py", "x = 1  # noqa : E501", "1 noqa : E501"),
        ("app/a.py", "x = 1  # noqa: because", "1 noqa: because"),
        ("app/a.py", "x = 1  # type: ignore", "1 type: ignore"),
        ("app/a.py", "# type: ignore[attr-defined]\nx = 1", "1 type: ignore[attr-defined]"),
        ("app/a.py", "x = 1\n# flake8: noqa: E501", "2 flake8: noqa: E501"),
        ("app/a.py", "# ruff: noqa\nx = 1", "1 ruff: noqa"),
        ("app/a.py", "# pylint: skip-file\nx = 1", "1 pylint: skip-file"),
        ("app/a.py", "x = 1\n# pylint: disable=no-member\ny = 1", "2 pylint: disable=no-member"),
        ("app/a.py", "x = 1  # pylint: disable=all", "1 pylint: disable=all"),
        ("app/a.py", "x = 1  # pylint: disable=E", "1 pylint: disable=E"),
        ("app/a.py", "# mypy: ignore-errors\nx = 1", "1 mypy: ignore-errors"),
        ("app/a.py", "x = 1  # nosec", "1 nosec"),
        ("app/a.py", "@typing.no_type_check\ndef f(): pass", "1 @typing.no_type_check"),
        ("src/a.ts", "// @ts-nocheck\nf()", "1 @ts-nocheck"),
        ("src/a.js", "\n/* eslint-disable */", "2 eslint-disable"),
        ("src/a.js", "/* eslint-disable no-console */\nf()", "1 eslint-disable no-console"),
        ("src/a.js", "/* eslint-disable */\nf()\n/* eslint-enable */", "1 eslint-disable"),
        ("src/a.js", "f() // eslint-disable-line", "1 eslint-disable-line"),
        ("src/a.js", "/* eslint no-undef: 0 */\nf()", "1 eslint no-undef: 0"),
        ("src/a.js", "/* istanbul ignore file */\nf()", "1 istanbul ignore file"),
        ("src/a.ts", "// biome-ignore lint: old\nf()", "1 biome-ignore lint: old"),
        ("src/a.rs", "#![allow(dead_code)]", "1 #![allow(dead_code)]"),
        ("src/a.rs", "#[allow(warnings)]\nfn a() {}", "1 #[allow(warnings)]"),
        ("src/a.rs", "#[allow(clippy::all)]\nfn a() {}", "1 #[allow(clippy::all)]"),
        ("pkg/a.go", "package a\n\nvar x = f() //nolint", "3 nolint"),
        ("pkg/a.go", "//nolint:errcheck\npackage a", "1 nolint:errcheck"),
        ("pkg/a.go", "package a\n\n//lint:file-ignore SA1019 why", "3 lint:file-ignore SA1019 why"),
        ("src/A.java", "@SuppressWarnings(\"all\") class A {}", "1 @SuppressWarnings(\"all\")"),
        ("src/A.java", "class A { void a() { f(); // NOSONAR\n} }", "1 NOSONAR"),
    ] {
        assert_eq!(told(name, "", text), [format!("denied {expected}")], "{text}");
    }
}

// proves E-F07
// break crates/domain/oracle/src/directive/compared.rs: `if directive.in_tests {` -> `if false {`
// break crates/domain/oracle/src/facts.rs: `|| guard.protected.contains(change.path)` -> ``
#[test]
fn where_tests_lie_and_in_what_is_protected_each_ends_the_run() {
    for (name, text, expected) in [
        ("tests/test_a.py", "x = f()  # noqa: E501", "ends 1 noqa"),
        ("tests/test_a.py", "x = f()  # type: ignore", "ends 1 type: ignore"),
        ("src/a.test.ts", "// @ts-expect-error\nf()", "ends 1 @ts-ignore"),
        (
            "src/a.rs",
            "#[cfg(test)]\nmod tests {\n    #[allow(unused_must_use)]\n    fn a() {}\n}",
            "ends 3 #[allow(",
        ),
        ("pkg/a_test.go", "package a\n\nvar x = f() //nolint:errcheck", "ends 3 nolint"),
    ] {
        assert_eq!(told(name, "", text), [expected], "{text}");
    }
    let beside = "#[cfg(test)]\nmod tests {\n    fn a() {}\n}\n\n#[allow(dead_code)]\nfn b() {}\n";
    assert_eq!(told("src/a.rs", "", beside), ["asks 6 #[allow(dead_code)]"]);
    // What a blueprint protects decides, opened or not.
    let silenced = [("app/rules.py", Some("x = f()\n"), Some("x = f()  # noqa: E501\n"))];
    let protected = Guard { protected: set(&["app/rules.py"]), opened: set(&["app/rules.py"]), ..guard() };
    assert_eq!(short(facts(&protected, &silenced)), ["ends 1 noqa"]);
    let open = Guard { protected: PathSet::default(), ..protected };
    assert_eq!(short(facts(&open, &silenced)), ["asks 1 noqa: E501"]);
}

// proves E-F07
// break crates/domain/oracle/src/directive/compared.rs: `&& !from.lines.1.contains(&was.code)` -> ``
// break crates/domain/oracle/src/directive/compared.rs: `self.keep(edited, Within::File);` -> ``
#[test]
fn one_that_stays_with_its_code_is_not_added_and_one_that_moves_to_other_code_is() {
    let silenced = "x = f()  # noqa\ny = g()\n";
    for after in [
        "z = 0\n\n\nx = f()  # noqa\ny = g()\n",
        "y = g()\nif z:\n    x = f()  # noqa\n",
        "x = f(1)  # noqa\ny = g()\n",
        "x = f()  # noqa: E501\ny = g()\n",
        "x = f()\ny = g()\n",
    ] {
        assert_eq!(told("app/a.py", silenced, after), NOTHING, "{after}");
    }
    assert_eq!(told("app/a.py", silenced, "x = f()\ny = g()  # noqa\n"), ["denied 2 noqa"]);
    assert_eq!(told("app/a.py", silenced, "x = f()  # noqa\ny = g()  # noqa\n"), ["denied 2 noqa"]);
    assert_eq!(told("app/a.py", silenced, "y = g()  # noqa\n"), ["denied 1 noqa"]);
    // In an element a comment stands between braces, and acts on what follows.
    let element = "<a>\n{/* @ts-ignore */}\n<B c={1} />\n<D e={2} />\n</a>\n";
    let moved = "<a>\n<B c={1} />\n{/* @ts-ignore */}\n<D e={2} />\n</a>\n";
    assert_eq!(told("src/a.tsx", element, element), NOTHING);
    assert_eq!(told("src/a.tsx", element, moved), ["asks 3 @ts-ignore"]);
    // A line that is much like another one is not it, as long as that one is there.
    let alike = "run(first, now)  # noqa: S608\nrun(second, now)\n";
    let moved = "run(first, now)\nrun(second, now)  # noqa: S608\n";
    assert_eq!(told("app/a.py", alike, moved), ["asks 2 noqa: S608"]);
    assert_eq!(told("app/a.py", alike, "run(second, now)  # noqa: S608\n"), ["asks 1 noqa: S608"]);
    assert_eq!(told("app/a.py", alike, "run(third, now)  # noqa: S608\nrun(second, now)\n"), NOTHING);
    let left_bare = "run(first, now)\nrun(third, now)  # noqa: S608\nrun(second, now)\n";
    assert_eq!(told("app/a.py", alike, left_bare), ["asks 2 noqa: S608"]);
}

// proves E-F07
// break crates/domain/oracle/src/directive/mod.rs: `|| (!other.rules.is_empty() && other.rules.iter().all(|rule| self.rules.contains(rule))))` -> `|| !other.rules.is_empty())`
#[test]
fn one_that_silences_less_than_before_is_not_added_and_one_that_silences_more_or_else_is() {
    let line = |directive: &str| format!("x = f()  # {directive}\n");
    for (was, is) in [
        ("noqa", "noqa: E501"),
        ("noqa: E501, F401", "noqa: E501"),
        ("noqa: E501,F401", "noqa: F401, E501"),
        ("type: ignore", "type: ignore[arg-type]"),
    ] {
        assert_eq!(told("app/a.py", &line(was), &line(is)), NOTHING, "{was} -> {is}");
    }
    for (was, is) in [
        ("noqa: E501", "noqa: S608"),
        ("noqa: E501", "noqa: E501, S608"),
        ("type: ignore[arg-type]", "type: ignore[attr-defined]"),
        ("type: ignore[arg-type]", "noqa: E501"),
    ] {
        assert_eq!(told("app/a.py", &line(was), &line(is)), [format!("asks 1 {is}")], "{was} -> {is}");
        let found = facts(&guard(), &[("app/a.py", Some(&line(was)), Some(&line(is)))]);
        let shown = if was.starts_with("noqa") { was } else { "" };
        let shown = if is.starts_with("type") { was } else { shown };
        assert_eq!(found[0].weakening().unwrap().was.as_str(), shown);
    }
    for is in ["noqa", "type: ignore"] {
        let named = if is == "noqa" { "noqa: E501" } else { "type: ignore[arg-type]" };
        assert_eq!(told("app/a.py", &line(named), &line(is)), [format!("denied 1 {is}")]);
    }
    let (off, line_off) = ("/* eslint-disable */\nf()\ng()\n", "f() // eslint-disable-line no-undef\ng()\n");
    assert_eq!(told("src/a.js", off, line_off), NOTHING);
    assert_eq!(told("src/a.js", line_off, off), ["denied 1 eslint-disable"]);
    assert_eq!(told("src/a.ts", "// @ts-ignore\nf()\n", "// @ts-expect-error\nf()\n"), NOTHING);
    let same = ("f() // eslint-disable-line no-undef\n", "// eslint-disable-next-line no-undef\nf()\n");
    assert_eq!(told("src/a.js", same.0, same.1), NOTHING);
    let (allow, expect) = ("#[allow(dead_code)]\nfn a() {}\n", "#[expect(dead_code)]\nfn a() {}\n");
    assert_eq!(told("src/a.rs", allow, expect), NOTHING);
    // What ended it is gone, and it holds for the rest of the file.
    let between = "/* eslint-disable no-undef */\nf()\n/* eslint-enable no-undef */\ng()\n";
    let open = "/* eslint-disable no-undef */\nf()\ng()\n";
    assert_eq!(told("src/a.js", between, open), ["denied 1 eslint-disable no-undef"]);
    assert_eq!(told("src/a.js", open, between), NOTHING);
    assert_eq!(told("app/a.py", "", "# mypy: disallow-untyped-defs\n# pyright: strict\nx = 1\n"), NOTHING);
}

// proves E-F07
// break crates/domain/oracle/src/directive/compared.rs: `let others = (0..self.files.len()).filter(|of| *of != at);` -> `let others = (0..0).filter(|of| *of != at);`
// break crates/domain/oracle/src/directive/compared.rs: `Reach::File => of == at || self.is_renamed(of, at),` -> `Reach::File => true,`
#[test]
fn what_moves_to_another_file_takes_its_directives_along_and_a_copy_does_not() {
    let silenced = "x = f()  # noqa: E501\ny = g()\n";
    let changes = |changes: &[(&str, Option<&str>, Option<&str>)]| short(facts(&guard(), changes));
    assert_eq!(changes(&[("app/a.py", Some(silenced), None), ("app/b.py", None, Some(silenced))]), NOTHING);
    let copied = [("app/a.py", Some(silenced), Some(silenced)), ("app/b.py", None, Some(silenced))];
    assert_eq!(changes(&copied), ["asks 1 noqa: E501"]);
    let (rest, part) = ("y = g()\n", "import f\n\nx = f()  # noqa: E501\n");
    assert_eq!(changes(&[("app/a.py", Some(silenced), Some(rest)), ("app/b.py", None, Some(part))]), NOTHING);
    // What holds for a file moves with the file alone.
    let whole = "# flake8: noqa\nx = f()\ny = g()\n";
    assert_eq!(changes(&[("app/a.py", Some(whole), None), ("app/b.py", None, Some(whole))]), NOTHING);
    let other = "# flake8: noqa\nprint(1)\nprint(2)\nprint(3)\n";
    assert_eq!(
        changes(&[("app/a.py", Some(whole), None), ("app/b.py", None, Some(other))]),
        ["denied 1 flake8: noqa"]
    );
    let there = [("app/a.py", Some(whole), Some("x = f()\n")), ("app/b.py", Some("x = f()\n"), Some(whole))];
    assert_eq!(changes(&there), ["denied 1 flake8: noqa"]);
}

// proves E-F07
// break crates/domain/oracle/src/directive/compared.rs: `_ if room == 0 => None,` -> `_ if room == 0 => continue,`
#[test]
fn of_many_directives_in_one_file_some_are_told_and_none_hides_behind_them() {
    let many = |of: usize, call: &str| -> String {
        (0..of).map(|at| format!("x{at} = {call}({at}, more, and, more)  # noqa\n")).collect()
    };
    let found = facts(&guard(), &[("app/a.py", Some(""), Some(&many(500, "f")))]);
    assert_eq!(found.len(), 32);
    assert!(found.iter().all(|fact| fact.kind() == FactKind::BlanketDirectiveAdded));
    let (was, is) = (many(400, "f"), many(400, "g"));
    let last = format!("{is}y = z()  # noqa\n");
    let edited = [("app/a.py", &was, &is), ("app/b.py", &was, &is), ("app/c.py", &was, &last)];
    let edited = edited.map(|(path, was, is)| (path, Some(was.as_str()), Some(is.as_str())));
    assert!(!facts(&guard(), &edited).is_empty(), "the last of 1,201 is told");
    assert_eq!(facts(&guard(), &edited[..2]), []);
    let one_more = format!("{}y = z()  # noqa\n", many(1_200, "f"));
    assert_eq!(told("app/a.py", &many(1_200, "f"), &one_more), ["denied 1201 noqa"]);
}
