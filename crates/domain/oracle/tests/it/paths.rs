//! Facts about paths, and about files that a runner reads besides others.

use ambit_oracle::Guard;
use ambit_policy::{Fact, FactKind};

use crate::{facts, guard, path, set, told};

fn touched(name: &str) -> Fact {
    Fact::ProtectedPathTouched { path: path(name) }
}

// proves E-F04
// break crates/domain/oracle/src/facts.rs: `if guard.opened.contains(path) {` -> `if true {`
#[test]
fn a_protected_path_is_touched_by_whatever_happens_to_it_unless_it_is_opened() {
    let closed = Guard { protected: set(&["tests/**", "frozen/**"]), ..guard() };
    for (before, after) in
        [(None, Some("a")), (Some("a"), Some("b")), (Some("a"), None), (Some("a"), Some("a"))]
    {
        let change = [("frozen/001.txt", before, after)];
        assert_eq!(facts(&closed, &change), [touched("frozen/001.txt")], "{before:?} {after:?}");
        let opened = Guard { opened: set(&["frozen/*"]), ..closed.clone() };
        assert_eq!(facts(&opened, &change), []);
        assert_eq!(facts(&guard(), &change), []);
    }
    assert_eq!(facts(&closed, &[("src/a.sql", Some("a"), Some("b"))]), []);
}

#[test]
fn a_path_out_of_scope_is_told_unless_it_is_opened() {
    let scoped = Guard { scope: set(&["src/**"]), ..guard() };
    let change = [("deploy/production.yaml", None, Some("a")), ("src/a.txt", None, Some("a"))];
    assert_eq!(facts(&scoped, &change), [Fact::ScopeLeft { path: path("deploy/production.yaml") }]);
    assert_eq!(facts(&Guard { opened: set(&["deploy/**"]), ..scoped }, &change), []);
    assert_eq!(facts(&Guard::default(), &change).len(), 2, "an empty scope holds nothing");
}

#[test]
fn what_opens_a_path_does_not_excuse_a_lost_assertion() {
    let opened = Guard { opened: set(&["tests/**"]), protected: set(&["tests/**"]), ..guard() };
    let lost = facts(&opened, &[("tests/test_a.py", Some("assert f()\nassert g()\n"), Some("assert f()\n"))]);
    assert_eq!(lost.iter().map(Fact::kind).collect::<Vec<_>>(), [FactKind::AssertionRemoved]);
}

// proves E-F04
// break crates/domain/oracle/src/protected.rs: `|| name.ends_with(b".pth")` -> ``
#[test]
fn runner_configuration_is_protected_without_being_named() {
    for name in
        ["conftest.py", "sub/pytest.ini", "sitecustomize.py", "x.pth", ".cargo/config.toml", "unittest.py"]
    {
        assert!(facts(&guard(), &[(name, None, Some(""))]).contains(&touched(name)), "{name}");
        let opened = Guard { opened: set(&["**"]), ..guard() };
        assert_eq!(facts(&opened, &[(name, None, Some(""))]), [], "{name}");
    }
}

#[test]
fn of_a_shared_file_only_the_part_that_a_runner_reads_is_protected() {
    for (name, before, harmless, harmful) in [
        (
            "package.json",
            r#"{"version":"1","scripts":{"test":"jest","dev":"vite"}}"#,
            r#"{"version":"2","scripts":{"test":"jest","dev":"vite --host"}}"#,
            r#"{"version":"1","scripts":{"test":"jest || true","dev":"vite"}}"#,
        ),
        (
            "pyproject.toml",
            "[project]\nname='a'\n[tool.pytest.ini_options]\naddopts='-ra'\n",
            "[project]\nname='b'\n\n[tool.pytest.ini_options]\naddopts = \"-ra\"\n",
            "[project]\nname='a'\n[tool.pytest.ini_options]\naddopts='-k easy'\n",
        ),
        (
            "setup.cfg",
            "[metadata]\nname = a\n[tool:pytest]\naddopts = -ra\n",
            "[metadata]\nname = b\n# why\n[tool:pytest]\naddopts = -ra\n",
            "[metadata]\nname = a\n[tool:pytest]\naddopts = -ra -k easy\n",
        ),
        (
            "Cargo.toml",
            "[package]\nname='a'\nversion='1.0.0'\n",
            "[package]\nname='a'\nversion='1.0.1'\n",
            "[package]\nname='a'\nversion='1.0.0'\nautotests=false\n",
        ),
        (
            "Makefile",
            "PY = python3\n\ntest:\n\t$(PY) -m pytest\n\nclean:\n\trm -rf build\n",
            "PY = python3\ntest:\n\t$(PY) -m pytest\n# why\nclean:\n\trm -rf build dist\n",
            "PY = true\ntest:\n\t$(PY) -m pytest\nclean:\n\trm -rf build\n",
        ),
    ] {
        assert_eq!(told(name, before, harmless), Vec::<String>::new(), "{name}");
        assert!(facts(&guard(), &[(name, Some(before), Some(harmful))]).contains(&touched(name)), "{name}");
        assert!(facts(&guard(), &[(name, Some(harmful), None)]).contains(&touched(name)), "{name} deleted");
    }
}

#[test]
fn a_plugin_of_the_runner_comes_in_by_the_manifest_too() {
    let plugin = "[project]\nname='a'\n[project.entry-points.pytest11]\nmine='app.plugin'\n";
    let told = told("pyproject.toml", "[project]\nname='a'\n", plugin);
    assert_eq!(told[0], "touches the protected path pyproject.toml");
}

#[test]
fn what_cannot_be_read_where_it_matters_is_unclassified() {
    let large = "x = 1\n".repeat(400_000);
    for (name, after) in [
        ("tests/test_a.py", "assert f()\nx = '''\nassert g()\n"),
        ("tests/test_a.py", large.as_str()),
        ("app/a.py", large.as_str()),
        ("pyproject.toml", "[project\n"),
        ("package.json", "{,}"),
    ] {
        let found = facts(&guard(), &[(name, Some(""), Some(after))]);
        assert!(found.iter().any(|fact| fact.kind() == FactKind::Unclassified), "{name} {found:?}");
    }
    for (name, before, after) in [
        ("tests/test_a.py", &b"x = 1\n"[..], &b"x = '\xff'\n"[..]),
        ("tests/test_a.rb", b"assert 1", b"assert 2"),
        ("app/a.py", b"x = 1\n", b"x = '\xff'\n"),
    ] {
        let path = path(name);
        let change = ambit_oracle::FileChange { path: &path, before: Some(before), after: Some(after) };
        let found = ambit_oracle::facts(&[change], &guard());
        assert_eq!(found.iter().map(Fact::kind).collect::<Vec<_>>(), [FactKind::Unclassified], "{name}");
    }
    let mended = path("app/a.py");
    let change =
        ambit_oracle::FileChange { path: &mended, before: Some(b"x = '\xff'\n"), after: Some(b"x = 1\n") };
    assert_eq!(ambit_oracle::facts(&[change], &guard()), [], "source that can be read again");
    let picture = path("tests/picture.png");
    let change =
        ambit_oracle::FileChange { path: &picture, before: Some(b"\x89PNG"), after: Some(b"\x89PNG\xff") };
    assert_eq!(ambit_oracle::facts(&[change], &guard()), [], "nothing is read from a picture");
}
