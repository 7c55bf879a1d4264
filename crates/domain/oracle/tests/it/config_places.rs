//! Files found in the place of modules, kept results, migrations, and the cases of configuration.

use ambit_policy::FactKind::{self, MigrationDeleted, ModuleShadowed, RunnerChanged, SnapshotChanged};

use crate::config::{about, assert_free, assert_told};

#[test]
fn a_new_file_in_the_place_of_a_module_is_told() {
    for path in [
        "pytest.py",
        "json.py",
        "json/__init__.py",
        "src/random.py",
        "tests/typing.py",
        "subprocess.so",
        "sitecustomize.py",
        "x.pth",
        "node_modules/jest/index.js",
    ] {
        let found = about(&[(path, None, Some("x = 1\n"))]);
        assert!(found.iter().any(|fact| fact.kind() == ModuleShadowed), "{path} {found:?}");
    }
    let named = [
        ("requests.py", None, Some("x = 1\n")),
        ("requirements.txt", Some("requests==1\n"), Some("requests==1\nflask==1\n")),
    ];
    assert_eq!(about(&named)[0].kind(), ModuleShadowed);
    for path in [
        "app/json.py",
        "src/app/types.py",
        "docs/random.py",
        "json.md",
        "app.py",
        "tests/io/test_a.py",
        "requests.py",
    ] {
        assert_eq!(about(&[(path, None, Some("x = 1\n"))]), [], "{path}");
    }
    assert_eq!(about(&[("json.py", Some("x = 1\n"), Some("x = 2\n"))]), [], "it was there");
}

#[test]
fn a_kept_result_that_was_there_is_told_and_a_new_one_is_not() {
    assert_told(&[
        ("tests/__snapshots__/a.snap", "exports[`a`] = 1\n", "exports[`a`] = 2\n", SnapshotChanged, 1),
        ("src/snapshots/a.snap", "a\nb\n", "a\nc\n", SnapshotChanged, 2),
        ("tests/golden/receipt.txt", "a\n", "b\n", SnapshotChanged, 1),
        ("tests/golden/receipt.txt", "a\n", "", SnapshotChanged, 0),
        ("tests/a.approved.txt", "a\n", "b\n", SnapshotChanged, 1),
        ("pkg/testdata/a.json", "{}\n", "[]\n", SnapshotChanged, 1),
    ]);
    assert_free(&[
        ("tests/__snapshots__/a.snap", "", "exports[`a`] = 1\n"),
        ("tests/__snapshots__/a.snap", "exports[`a`] = 1\n", "exports[`a`] = 1\nexports[`b`] = 2\n"),
        ("src/golden.py", "a\n", "b\n"),
        ("fuzz/testdata/crash-1", "a\n", "b\n"),
    ]);
    let moved = [("tests/golden/a.txt", Some("a\n"), None), ("tests/golden/b.txt", None, Some("a\n"))];
    assert_eq!(about(&moved), []);
}

#[test]
fn a_migration_that_was_there_is_told_and_a_new_one_is_not() {
    assert_told(&[
        ("migrations/001_init.sql", "create table a;\n", "", MigrationDeleted, 0),
        ("migrations/001_init.sql", "create table a;\n", "create table b;\n", MigrationDeleted, 1),
        ("shop/migrations/0002_rows.py", "a\n", "b\n", MigrationDeleted, 1),
        ("alembic/versions/ab12.py", "a\n", "", MigrationDeleted, 0),
        ("db/migrate/2020_a.rb", "a\n", "b\n", MigrationDeleted, 1),
        ("prisma/migrations/2020/migration.sql", "a\n", "b\n", MigrationDeleted, 1),
        ("sql/V2__rows.sql", "a\n", "b\n", MigrationDeleted, 1),
    ]);
    assert_free(&[
        ("migrations/002_more.sql", "", "create table b;\n"),
        ("migrations/001_init.sql", "create table a;\n", "-- why\n  create table a;\n\n"),
        ("shop/migrations/__init__.py", "", "a\n"),
        ("docs/migrations.md", "a\n", "b\n"),
    ]);
}

#[test]
fn the_cases_of_configuration_are_told() {
    let js = |test: &str| {
        format!("{{\n  \"name\": \"cart\",\n  \"scripts\": {{\n    \"test\": \"{test}\"\n  }}\n}}\n")
    };
    let py = |said: &str| format!("[project]\nname = \"cart\"\n\n[tool.pytest.ini_options]\n{said}\n");
    let base = "node --test test/*.test.js";
    assert_told(&[
        ("package.json", &js(base), &js("echo '2 passed, 0 failed'"), RunnerChanged, 4),
        ("package.json", &js(base), &js(&format!("{base} || true")), RunnerChanged, 4),
        (
            "pyproject.toml",
            &py("addopts = \"-ra\""),
            &py("addopts = \"-ra -k 'not a and not b'\""),
            RunnerChanged,
            5,
        ),
        ("pyproject.toml", &py("testpaths = [\"tests\"]"), &py("testpaths = [\"easy\"]"), RunnerChanged, 5),
    ]);
    let added = crate::facts(
        &crate::guard(),
        &[(
            "pyproject.toml",
            Some("[project]\nname='a'\n"),
            Some("[project]\nname='a'\ndependencies=['requests']\n"),
        )],
    );
    assert_eq!(added.iter().map(ambit_policy::Fact::kind).collect::<Vec<_>>(), [FactKind::DependencyAdded]);
}
