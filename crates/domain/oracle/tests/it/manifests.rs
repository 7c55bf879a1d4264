//! Dependencies that a patch adds.

use std::collections::BTreeSet;

use ambit_oracle::{Ecosystem, FileChange, Guard, added_dependencies};
use ambit_policy::{Fact, FactKind};

use crate::{facts, guard, path, set};

fn added(name: &str, before: &str, after: &str) -> Vec<String> {
    let before = Some(before).filter(|text| !text.is_empty());
    facts(&guard(), &[(name, before, Some(after))])
        .into_iter()
        .filter_map(|fact| match fact {
            Fact::DependencyAdded { name, .. } => Some(name),
            Fact::DependencyMoved(_) | Fact::DependencyUnpinned(_) => None,
            other => Some(other.to_string()),
        })
        .collect()
}

/// Each of these names one dependency after that it did not name before, and none where nothing changes.
fn assert_added(rows: &[(&str, &str, &str, &str)]) {
    for (name, before, after, expected) in rows {
        assert_eq!(added(name, before, after), [*expected], "{name}: {after}");
        assert_eq!(added(name, after, after), Vec::<String>::new(), "{name}: {after}");
    }
}

#[test]
fn manifests_of_python_tell_the_names_that_are_new() {
    assert_added(&[
        (
            "requirements.txt",
            "Attrs==1 # why\n",
            "# new\nattrs>=2\nZope.Interface[test]>=1 ; python_version>'3'\n",
            "zope-interface",
        ),
        (
            "requirements/dev.txt",
            "a\n",
            "a\nb @ https://evil.example/b.whl\n",
            "b from https://evil.example/b.whl",
        ),
        (
            "requirements.txt",
            "a\n",
            "--extra-index-url https://evil.example\na\n",
            "--extra-index-url https://evil.example",
        ),
        (
            "pyproject.toml",
            "[project]\nname='a'\n",
            "[project]\nname='a'\ndependencies=['attrs>=1']\n",
            "attrs",
        ),
        (
            "pyproject.toml",
            "[project]\nname='a'\n",
            "[project]\nname='a'\n[project.optional-dependencies]\nx=['y']\n",
            "y",
        ),
        ("pyproject.toml", "[build-system]\nrequires=['a']\n", "[build-system]\nrequires=['a','b']\n", "b"),
        ("pyproject.toml", "", "[dependency-groups]\ndev=['x']\n", "x"),
        (
            "pyproject.toml",
            "",
            "[tool.poetry.dependencies]\npython='^3'\nx={git='https://e'}\n",
            "x from https://e",
        ),
        (
            "setup.cfg",
            "[options]\ninstall_requires =\n    a\n",
            "[options]\ninstall_requires =\n    a\n    b>1\n",
            "b",
        ),
        ("setup.py", "setup(install_requires=['a'])", "setup(install_requires=['a', \"b>=1\"],)", "b"),
        (
            "setup.py",
            "setup(extras_require={'d': ['a']})",
            "setup(extras_require={'d': ['a'], 'e': ['c']})",
            "c",
        ),
        ("Pipfile", "[packages]\na='*'\n", "[packages]\na='*'\nb='*'\n", "b"),
    ]);
}

#[test]
fn manifests_of_the_other_ecosystems_tell_the_names_that_are_new() {
    assert_added(&[
        (
            "package.json",
            r#"{"dependencies":{"a":"1"}}"#,
            r#"{"dependencies":{"a":"2"},"devDependencies":{"@s/b":"^1"}}"#,
            "@s/b",
        ),
        (
            "package.json",
            r#"{"dependencies":{"a":"1"}}"#,
            r#"{"dependencies":{"a":"npm:evil@1"}}"#,
            "a from npm:evil@1",
        ),
        (
            "Cargo.toml",
            "[dependencies]\na='1'\n",
            "[dependencies]\na='2'\nb={version='1',package='real_b'}\n",
            "real-b",
        ),
        ("Cargo.toml", "", "[target.'cfg(unix)'.dev-dependencies]\nc='1'\n", "c"),
        (
            "Cargo.toml",
            "[dependencies]\na='1'\n",
            "[dependencies]\na='1'\n[patch.crates-io]\na={git='https://e'}\n",
            "a from https://e",
        ),
        ("Cargo.toml", "", "[dependencies]\nx={path='../x'}\n", "x from ../x"),
        (
            "go.mod",
            "module m\nrequire a v1\n",
            "module m\nrequire (\n\ta v1.2 // why\n\tb.c/d v1 // indirect\n)\n",
            "b.c/d",
        ),
        (
            "go.mod",
            "module m\nrequire a v1\n",
            "module m\nrequire a v1\nreplace a => evil v1\n",
            "a from evil",
        ),
    ]);
}

#[test]
fn what_lies_within_the_project_is_no_dependency() {
    for (name, after) in [
        ("crates/a/Cargo.toml", "[dependencies]\nb={path='../b'}\n"),
        ("web/package.json", r#"{"dependencies":{"b":"file:../b","c":"workspace:*"}}"#),
        ("tool/go.mod", "module m\nreplace a => ../a\n"),
    ] {
        assert_eq!(added(name, "", after), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn an_approved_dependency_is_no_fact_and_counts_all_the_same() {
    let approving = Guard { approved_dependencies: BTreeSet::from(["Flask_Login".to_owned()]), ..guard() };
    let after = "flask-login==1\nevil\n";
    let change = [("requirements.txt", Some(""), Some(after))];
    let found = facts(&approving, &change);
    assert_eq!(
        found,
        [Fact::DependencyAdded { manifest: path("requirements.txt"), name: "evil".to_owned() }]
    );
    let manifest = path("requirements.txt");
    let change = FileChange { path: &manifest, before: None, after: Some(after.as_bytes()) };
    let counted = added_dependencies(&[change], &approving.manifests).unwrap();
    assert_eq!(counted.iter().map(|new| new.name.as_str()).collect::<Vec<_>>(), ["evil", "flask-login"]);
}

// proves E-D05
// break crates/domain/oracle/src/dependencies.rs: `gained.extend(news);` -> `drop(news);`
#[test]
fn each_added_dependency_counts_once_and_one_that_moved_does_not() {
    let names = ["requirements.txt", "requirements-dev.txt", "web/package.json"].map(path);
    let sides: [(&[u8], &[u8]); 3] =
        [(b"a\nb\n", b"a\n"), (b"c\n", b"b\nc\nd\ne\n"), (b"{}", br#"{"dependencies":{"b":"1"}}"#)];
    let changes: Vec<FileChange<'_>> = names
        .iter()
        .zip(sides)
        .map(|(path, (before, after))| FileChange { path, before: Some(before), after: Some(after) })
        .collect();
    let counted = added_dependencies(&changes, &set(&[])).unwrap();
    let named: Vec<_> = counted.iter().map(|new| (new.ecosystem, new.name.as_str())).collect();
    assert_eq!(named, [(Ecosystem::Python, "d"), (Ecosystem::Python, "e"), (Ecosystem::Npm, "b")]);
}

#[test]
fn a_manifest_that_cannot_be_read_adds_nobody_knows_what() {
    let guard = Guard { manifests: set(&["deps.lock"]), ..guard() };
    for (name, after) in [
        ("pyproject.toml", "[project"),
        ("package.json", "[]"),
        ("Cargo.toml", "a = "),
        ("setup.py", "setup(install_requires=read('x'))"),
        ("deps.lock", "anything"),
    ] {
        let found = facts(&guard, &[(name, Some(""), Some(after))]);
        assert!(
            found.iter().all(|fact| fact.kind() == FactKind::Unclassified) && !found.is_empty(),
            "{name} {found:?}"
        );
        let path = path(name);
        let change = FileChange { path: &path, before: None, after: Some(after.as_bytes()) };
        assert_eq!(added_dependencies(&[change], &guard.manifests), None, "{name}");
    }
    let mended = facts(
        &guard,
        &[("pyproject.toml", Some("[project"), Some("[project]\nname='a'\ndependencies=['x']\n"))],
    );
    assert_eq!(mended.len(), 1, "where nothing was readable before, everything is new");
}

// proves E-H02
// break crates/domain/oracle/src/manifest/mod.rs: `if self.is_read_by_line() && text.contains(LINE_ENDS) {` -> `if false {`
// break crates/domain/oracle/src/change.rs: `lone_return || (text.as_bytes()` -> `lone_return && (text.as_bytes()`
#[test]
fn what_stands_behind_an_end_of_a_line_that_only_some_see_is_nobody_knows_what() {
    for end in ["\r", "\u{b}", "\u{c}", "\u{1c}", "\u{1d}", "\u{1e}", "\u{85}", "\u{2028}", "\u{2029}"] {
        for name in ["requirements.txt", "setup.cfg", "setup.py", "go.mod"] {
            let after = format!("# really{end}evil==1\n");
            let found = facts(&guard(), &[(name, Some(""), Some(&after))]);
            assert!(
                found.iter().any(|fact| fact.kind() == FactKind::Unclassified),
                "{name} {end:?} {found:?}"
            );
        }
    }
    assert_eq!(added("requirements.txt", "a\r\n", "a\r\n# really\r\nevil==1\r\n"), ["evil"]);
}
