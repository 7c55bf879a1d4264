//! Repositories of a few files each.

use std::path::Path;

use tempfile::TempDir;

/// A repository: its name, and its files with their text.
pub(crate) type Repository = (&'static str, &'static [(&'static str, &'static str)]);

pub(crate) const UNITTEST: &str =
    "import unittest\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(1, 1)\n";
pub(crate) const PYTEST: &str = "import pytest\n\ndef test_a():\n    assert 1 == 1\n";

/// One of each kind that is recognised.
pub(crate) const ALL: &[Repository] = &[
    (
        "unittest",
        &[
            ("calc/__init__.py", ""),
            ("calc/add.py", "def add(a, b): return a + b\n"),
            ("tests/__init__.py", ""),
            ("tests/test_add.py", UNITTEST),
        ],
    ),
    ("unittest-flat", &[("calc.py", "x = 1\n"), ("test_calc.py", UNITTEST)]),
    (
        "pytest",
        &[
            (
                "pyproject.toml",
                "[project]\nname = \"a\"\ndependencies = [\"attrs\"]\n[tool.pytest.ini_options]\n",
            ),
            ("src/a/__init__.py", ""),
            ("tests/test_a.py", "def test_a(): pass\n"),
        ],
    ),
    (
        "tox",
        &[
            ("setup.py", "from setuptools import setup\nsetup()\n"),
            ("tox.ini", "[testenv]\ncommands =\n    pytest {posargs}\n"),
            ("a.py", ""),
            ("tests/test_a.py", UNITTEST),
        ],
    ),
    ("either", &[("a.py", ""), ("requirements-dev.txt", "pytest\n"), ("tests/test_a.py", UNITTEST)]),
    ("no-tests", &[("a/__init__.py", ""), ("setup.cfg", "[metadata]\nname = a\n")]),
    (
        "cargo",
        &[
            ("Cargo.toml", "[package]\nname = \"a\"\n"),
            ("Cargo.lock", "version = 4\n"),
            ("src/lib.rs", "#[cfg(test)]\nmod tests {}\n"),
            ("tests/all.rs", ""),
        ],
    ),
    (
        "workspace",
        &[
            ("Cargo.toml", "[workspace]\nmembers = [\"a\"]\n[workspace.dependencies]\nserde = \"1\"\n"),
            ("Cargo.lock", "[[package]]\nname = \"serde\"\nsource = \"registry+https://example.org\"\n"),
            ("a/Cargo.toml", "[package]\nname = \"a\"\n"),
            ("a/src/lib.rs", ""),
        ],
    ),
    (
        "npm",
        &[
            (
                "package.json",
                r#"{"scripts": {"test": "mocha --exit 'test/**/*.js'"}, "devDependencies": {"mocha": "1"}}"#,
            ),
            ("package-lock.json", "{}"),
            ("index.js", ""),
            ("test/a.js", ""),
        ],
    ),
    (
        "node-test",
        &[
            ("package.json", r#"{"scripts": {"test": "node --test test/"}}"#),
            ("lib/a.js", ""),
            ("test/a.test.js", "import 'node:test'"),
        ],
    ),
    (
        "pnpm",
        &[
            (
                "package.json",
                r#"{"scripts": {"pretest": "pnpm build", "test": "vitest run", "build": "tsc"}, "devDependencies": {"vitest": "1"}}"#,
            ),
            ("pnpm-lock.yaml", ""),
            ("src/a.ts", ""),
        ],
    ),
    (
        "yarn",
        &[
            ("package.json", r#"{"devDependencies": {"jest": "1", "tape": "1"}}"#),
            ("yarn.lock", ""),
            ("a.js", ""),
        ],
    ),
    (
        "npm-default",
        &[
            ("package.json", r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#),
            ("a.js", ""),
        ],
    ),
    ("go", &[("go.mod", "module example.org/a\n"), ("a.go", "package a\n"), ("a_test.go", "package a\n")]),
    ("make", &[("Makefile", "CC := cc\n.PHONY: test\ntest: build\n\t./run\nbuild:\n\tcc\n"), ("a.c", "")]),
    (
        "just",
        &[
            ("justfile", "default:\n    just -l\n@test arg='x': build\n    ./run\ncheck:\n    ./check\n"),
            ("a.zig", ""),
        ],
    ),
    (
        "two",
        &[
            ("backend/pyproject.toml", "[project]\nname = \"a\"\n"),
            ("backend/a.py", ""),
            ("backend/tests/test_a.py", UNITTEST),
            ("frontend/package.json", r#"{"scripts": {"test": "node --test"}}"#),
            ("frontend/a.js", ""),
        ],
    ),
];

/// Writes a repository.
pub(crate) fn written(files: &[(&str, &str)]) -> TempDir {
    let dir = TempDir::new().unwrap();
    for (name, text) in files {
        write(dir.path(), name, text);
    }
    dir
}

pub(crate) fn write(dir: &Path, name: &str, text: &str) {
    let path = dir.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

pub(crate) fn named(name: &str) -> TempDir {
    written(ALL.iter().find(|(found, _)| *found == name).unwrap().1)
}
