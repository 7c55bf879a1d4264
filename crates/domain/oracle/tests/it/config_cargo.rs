//! Runners and checks of Rust, Go and Java.

use ambit_policy::FactKind::{CheckSilenced, RunnerChanged};

use crate::config::{assert_free, assert_told};

#[test]
fn tests_of_rust_that_are_not_run_as_before_are_told() {
    assert_told(&[
        (
            "Cargo.toml",
            "[package]\nname='a'\n",
            "[package]\nname='a'\n[[test]]\nname='cart'\nharness=false\n",
            RunnerChanged,
            5,
        ),
        (
            "Cargo.toml",
            "[package]\nname='a'\n",
            "[package]\nname='a'\n[[test]]\nname='cart'\ntest=false\n",
            RunnerChanged,
            5,
        ),
        ("Cargo.toml", "[lib]\n", "[lib]\ndoctest=false\n", RunnerChanged, 2),
        ("Cargo.toml", "", "[profile.test]\noverflow-checks=false\n", RunnerChanged, 2),
        ("Cargo.toml", "", "[profile.dev]\ndebug-assertions=false\n", RunnerChanged, 2),
        ("Cargo.toml", "[package]\nname='a'\n", "[package]\nname='a'\nautotests=false\n", RunnerChanged, 3),
        (
            "Cargo.toml",
            "[workspace]\nmembers=['*']\n",
            "[workspace]\nmembers=['*']\nexclude=['cart']\n",
            RunnerChanged,
            3,
        ),
        (".cargo/config.toml", "", "[build]\nrustflags = ['--cap-lints', 'allow']\n", RunnerChanged, 2),
        (".cargo/config.toml", "", "[target.x86_64-unknown-linux-gnu]\nrunner='true'\n", RunnerChanged, 2),
        (".config/nextest.toml", "[profile.default]\n", "[profile.default]\nretries=3\n", RunnerChanged, 2),
        ("build.rs", "", "fn main() {}\n", RunnerChanged, 0),
        ("Cargo.toml", "[lints.clippy]\n", "[lints.clippy]\nall='allow'\n", CheckSilenced, 2),
        ("Cargo.toml", "[lints.rust]\nwarnings='deny'\n", "[lints.rust]\n", CheckSilenced, 2),
        (
            "clippy.toml",
            "too-many-lines-threshold = 70\n",
            "too-many-lines-threshold = 700\n",
            CheckSilenced,
            1,
        ),
    ]);
    assert_free(&[
        (
            "Cargo.toml",
            "[package]\nname='a'\nversion='1'\n",
            "[package]\nname='a'\nversion='2'\nkeywords=['x']\nautotests=false\n[[test]]\nname='b'\npath='tests/b.rs'\n",
        ),
        ("Cargo.toml", "[features]\n", "[features]\ndefault=['std']\nstd=[]\n"),
        ("Cargo.toml", "[lints.clippy]\nall='warn'\n", "[lints.clippy]\nall='deny'\npedantic='warn'\n"),
        ("Cargo.toml", "", "[lints.clippy]\npedantic='warn'\nmust_use_candidate='allow'\n"),
        ("Cargo.toml", "[lints.clippy]\nall='warn'\n", "[lints.clippy]\nall={level='warn',priority=-1}\n"),
        ("Cargo.toml", "", "[profile.release]\nlto=true\n[profile.dev]\nopt-level=1\n"),
        (".cargo/config.toml", "", "[build]\nrustflags = ['-C', 'target-cpu=native']\n"),
        ("clippy.toml", "msrv = '1.70'\n", "msrv = '1.80'\n"),
    ]);
}

#[test]
fn tests_of_go_and_java_that_are_not_run_as_before_are_told() {
    assert_told(&[
        ("a_test.go", "package a\n", "//go:build never\n\npackage a\n", RunnerChanged, 1),
        (
            ".golangci.yml",
            "linters:\n  enable:\n    - errcheck\n",
            "linters:\n  disable:\n    - errcheck\n  enable:\n    - errcheck\n",
            CheckSilenced,
            3,
        ),
        (".golangci.yml", "issues: {}\n", "issues:\n  exclude-dirs:\n    - app\n", CheckSilenced, 3),
        (
            "pom.xml",
            "<project>\n</project>\n",
            "<project>\n<testFailureIgnore>true</testFailureIgnore>\n</project>\n",
            RunnerChanged,
            2,
        ),
        ("build.gradle", "test {\n}\n", "test {\n  ignoreFailures = true\n}\n", RunnerChanged, 2),
    ]);
    assert_free(&[
        ("a_test.go", "package a\n", "package a\n\nimport \"x\"\n"),
        (".golangci.yml", "linters:\n  enable: [a]\n", "linters:\n  enable:\n    - b\n    - a\n"),
        ("pom.xml", "<project>\n<version>1</version>\n", "<project>\n<version>2</version>\n"),
        ("build.gradle", "dependencies {\n}\n", "dependencies {\n  implementation 'a:b:1'\n}\n"),
    ]);
}

#[test]
fn recipes_of_checks_are_told_and_those_of_others_are_not() {
    assert_told(&[
        ("Makefile", "test:\n\tpytest tests\n", "test:\n\t-pytest tests\n", RunnerChanged, 2),
        ("Makefile", "test:\n\tpytest tests\n", "test:\n\tpytest tests || true\n", RunnerChanged, 2),
        ("Makefile", "test:\n\tpytest tests\n", "test:\n\t@echo ok\n", RunnerChanged, 2),
        (
            "Makefile",
            "ARGS =\ntest:\n\tpytest $(ARGS) tests\n",
            "ARGS = -k x\ntest:\n\tpytest $(ARGS) tests\n",
            RunnerChanged,
            3,
        ),
        (
            "Makefile",
            "check: unit lint\nunit:\n\tpytest\nlint:\n\truff .\n",
            "check: unit\nunit:\n\tpytest\nlint:\n\truff .\n",
            RunnerChanged,
            1,
        ),
        ("Makefile", "test:\n\tpytest\n", ".IGNORE:\ntest:\n\tpytest\n", RunnerChanged, 0),
        ("Makefile", "test:\n\tpytest\n", "SHELL = /bin/true\ntest:\n\tpytest\n", RunnerChanged, 1),
        ("justfile", "test:\n    cargo test --workspace\n", "test:\n    cargo test\n", RunnerChanged, 2),
    ]);
    assert_free(&[
        (
            "Makefile",
            "test:\n\tpytest tests\nrun:\n\t./a\n",
            "run:\n\t./b || true\ntest:\n\tpytest tests\n\tmypy app\n",
        ),
        ("Makefile", "V = 1\ntest:\n\tpytest\n", "V = 2\ntest: build\n\tpytest\nbuild:\n\tmake -C x\n"),
        ("Makefile", "", "test:\n\tpytest || true\n"),
    ]);
}
