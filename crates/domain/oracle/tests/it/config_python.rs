//! Runners and checks of Python.

use ambit_policy::FactKind::{CheckSilenced, RunnerChanged};

use crate::config::{about, assert_free, assert_told};

const INI: &str = "[tool.pytest.ini_options]\n";

// proves E-F05
// break crates/domain/oracle/src/config/mod.rs: `compare::settings(rules::of(*family), documents, &mut told);` -> `let _ = rules::of(*family);`
#[test]
fn what_pytest_no_longer_collects_or_counts_is_told_at_its_line() {
    let table = |said: &str| format!("{INI}{said}\n");
    for (before, after) in [
        ("addopts = '-ra'", "addopts = \"-ra -k 'not quantity'\""),
        ("addopts = '-ra'", "addopts = '-ra --ignore=tests/test_a.py'"),
        ("addopts = '-ra'", "addopts = ['-ra', '--deselect', 'tests/test_a.py::test_b']"),
        ("addopts = '-ra --strict-markers'", "addopts = '-ra'"),
        ("addopts = '-W error'", "addopts = ''"),
        ("addopts = '--cov-fail-under=90'", "addopts = '--cov-fail-under=9'"),
        ("addopts = '-ra'", "addopts = '-ra -p no:assertion'"),
        ("testpaths = ['tests']", "testpaths = ['easy']"),
        ("", "testpaths = ['easy']"),
        ("testpaths = ['tests', 'more']", "testpaths = ['tests']"),
        ("python_files = ['test_*.py', '*_test.py']", "python_files = ['test_*.py']"),
        ("", "python_functions = ['check_*']"),
        ("filterwarnings = ['error']", "filterwarnings = []"),
        ("filterwarnings = ['error']", "filterwarnings = ['error', 'ignore']"),
        ("xfail_strict = true", "xfail_strict = false"),
        ("xfail_strict = true", ""),
        ("timeout = 10", "timeout = 0"),
        ("norecursedirs = ['a']", "norecursedirs = ['a', 'tests']"),
        ("", "reruns = 3"),
    ] {
        assert_told(&[("pyproject.toml", &table(before), &table(after), RunnerChanged, 2)]);
    }
    for (before, after) in [
        ("addopts = '-ra'", "addopts = '-ra -q --strict-markers --tb=short --durations=5'"),
        ("addopts = '-ra -q'", "addopts = ['-ra', '-q']"),
        ("addopts = '-ra --ignore=x'", "addopts = '-ra'"),
        ("testpaths = ['tests']", "testpaths = ['tests', 'more']"),
        ("", "testpaths = ['tests']"),
        (
            "filterwarnings = ['error']",
            "filterwarnings = ['error', 'ignore:what it says:DeprecationWarning:package']",
        ),
        ("", "xfail_strict = true"),
        ("timeout = 10", "timeout = 20"),
        ("minversion = '6'", "minversion = '7'"),
        ("markers = ['slow']", "markers = ['slow', 'fast']"),
    ] {
        assert_free(&[("pyproject.toml", &table(before), &table(after))]);
    }
}

#[test]
fn every_file_that_pytest_reads_is_read_alike() {
    assert_told(&[
        (
            "setup.cfg",
            "[tool:pytest]\naddopts = -ra\n",
            "[tool:pytest]\naddopts = -ra -k x\n",
            RunnerChanged,
            2,
        ),
        (
            "tox.ini",
            "[pytest]\naddopts =\n    -ra\n",
            "[pytest]\naddopts =\n    -ra\n    --lf\n",
            RunnerChanged,
            2,
        ),
        ("pytest.ini", "[pytest]\ntestpaths = tests\n", "[pytest]\ntestpaths = easy\n", RunnerChanged, 2),
        (".coveragerc", "[report]\nfail_under = 90\n", "[report]\nfail_under = 10\n", RunnerChanged, 2),
        (".coveragerc", "[report]\nfail_under = 90\n", "", RunnerChanged, 2),
        (".coveragerc", "[run]\nomit = a\n", "[run]\nomit =\n    a\n    app/*\n", CheckSilenced, 4),
        ("setup.cfg", "[coverage:report]\nfail_under = 90\n", "[coverage:report]\nx = 1\n", RunnerChanged, 2),
        (
            "tox.ini",
            "[testenv]\ncommands = pytest tests\n",
            "[testenv]\ncommands = - pytest tests\n",
            RunnerChanged,
            2,
        ),
        (
            "tox.ini",
            "[testenv]\ncommands = pytest tests\n",
            "[testenv]\ncommands = echo fine\n",
            RunnerChanged,
            2,
        ),
        (
            "tox.ini",
            "[testenv]\ncommands = pytest\n",
            "[testenv]\ncommands = pytest\nignore_outcome = true\n",
            RunnerChanged,
            3,
        ),
    ]);
    assert_free(&[
        ("setup.cfg", "[metadata]\nversion = 1\n", "[metadata]\nversion = 2\nclassifiers =\n    A\n    B\n"),
        ("tox.ini", "[tox]\nenvlist = a\n", "[tox]\nenvlist = a, b\n[testenv:b]\ncommands = pytest\n"),
        ("tox.ini", "[testenv]\ncommands = pytest\n", "[testenv]\ncommands =\n    pytest\n    mypy app\n"),
        (".coveragerc", "[report]\nfail_under = 90\n", "[report]\nfail_under = 95\nshow_missing = true\n"),
        (
            "pyproject.toml",
            "[project]\nname='a'\nversion='1'\n",
            "[project]\nname='a'\nversion='2'\ndescription='x'\n",
        ),
    ]);
    let moved = [
        (
            "setup.cfg",
            Some("[tool:pytest]\ntestpaths = special\naddopts = -ra -m fast\n"),
            Some("[metadata]\nname = a\n"),
        ),
        (
            "pyproject.toml",
            Some("[project]\nname='a'\n"),
            Some(
                "[project]\nname='a'\n[tool.pytest.ini_options]\ntestpaths=['special']\naddopts='-ra -m fast'\n",
            ),
        ),
    ];
    assert_eq!(about(&moved), [], "what moves to another file of the same directory is as it was");
}

#[test]
fn a_lint_or_type_check_that_says_less_is_told_and_one_that_says_more_is_not() {
    assert_told(&[
        (
            "pyproject.toml",
            "[tool.ruff]\nselect=['E']\n",
            "[tool.ruff]\nselect=['E']\nignore=['E501']\n",
            CheckSilenced,
            3,
        ),
        (
            "pyproject.toml",
            "[tool.ruff.lint]\nselect=['E','F']\n",
            "[tool.ruff.lint]\nselect=['E']\n",
            CheckSilenced,
            2,
        ),
        (
            "ruff.toml",
            "[lint]\nselect=['E']\n",
            "[lint]\nselect=['E']\n[lint.per-file-ignores]\n'app/*'=['E']\n",
            CheckSilenced,
            4,
        ),
        ("setup.cfg", "[flake8]\nignore = E1\n", "[flake8]\nignore = E1,F401\n", CheckSilenced, 2),
        ("mypy.ini", "[mypy]\nstrict = True\n", "[mypy]\nstrict = False\n", CheckSilenced, 2),
        (
            "mypy.ini",
            "[mypy]\nstrict = True\n",
            "[mypy]\nstrict = True\n[mypy-app.*]\nignore_errors = True\n",
            CheckSilenced,
            4,
        ),
        ("pyproject.toml", "[tool.mypy]\nstrict=true\n", "[tool.mypy]\n", CheckSilenced, 2),
        ("pyrightconfig.json", "{}", "{\"reportMissingImports\": \"none\"}", CheckSilenced, 1),
    ]);
    assert_free(&[
        ("pyproject.toml", "[tool.ruff]\nignore=['A','B']\n", "[tool.ruff.lint]\nignore=['B','A']\n"),
        (
            "pyproject.toml",
            "[tool.ruff]\nselect=['E']\n",
            "[tool.ruff]\nselect=['E','PL']\nignore=['PLR2004']\n",
        ),
        ("pyproject.toml", "[tool.ruff]\nselect=['E','F']\n", "[tool.ruff]\nselect=['ALL']\nignore=['D']\n"),
        (
            "pyproject.toml",
            "[tool.ruff]\nline-length=80\n",
            "[tool.ruff]\nline-length=100\ntarget-version='py310'\n",
        ),
        ("mypy.ini", "[mypy]\n", "[mypy]\nstrict = True\n[mypy-yaml]\nignore_missing_imports = True\n"),
        ("setup.cfg", "[flake8]\nignore = E1, W2\n", "[flake8]\nignore =\n    W2\n    E1\n"),
    ]);
}
