//! What is protected without anybody saying so: files that exist only to say how tests and checks run.

use ambit_ids::RepoPath;

/// Files by their whole name, in any directory.
const NAMES: [&str; 45] = [
    // Python: collection, start-up and checks.
    "conftest.py",
    "pytest.ini",
    ".pytest.ini",
    "pytest.toml",
    ".pytest.toml",
    "tox.ini",
    "tox.toml",
    "noxfile.py",
    ".coveragerc",
    ".flake8",
    "mypy.ini",
    ".mypy.ini",
    "ruff.toml",
    ".ruff.toml",
    ".pylintrc",
    "pylintrc",
    "pyrightconfig.json",
    "pip.conf",
    // JavaScript: checks, and where packages come from.
    ".eslintignore",
    ".nycrc",
    ".nycrc.json",
    ".taprc",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pnpmfile.cjs",
    "biome.json",
    "biome.jsonc",
    // Rust, Go.
    "rust-toolchain",
    "rust-toolchain.toml",
    "clippy.toml",
    ".clippy.toml",
    "nextest.toml",
    ".golangci.yml",
    ".golangci.yaml",
    ".golangci.toml",
    ".golangci.json",
    // What runs when others build.
    ".gitlab-ci.yml",
    ".travis.yml",
    ".drone.yml",
    "Jenkinsfile",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "buildspec.yml",
    ".pre-commit-config.yaml",
];

/// Files by how their name starts, in any directory.
const STARTS: [&str; 15] = [
    "jest.config.",
    "jest.setup.",
    "vitest.config.",
    "vitest.workspace.",
    "vitest.setup.",
    "karma.conf.",
    "playwright.config.",
    "cypress.config.",
    "ava.config.",
    ".mocharc.",
    "wdio.conf.",
    ".eslintrc",
    "eslint.config.",
    ".golangci.",
    "babel-jest.config.",
];

/// Directories, at any depth, of which everything is protected: configuration of tools, and what was installed.
const DIRECTORIES: [&str; 7] =
    [".cargo", ".circleci", "node_modules", "site-packages", "dist-packages", ".venv", "venv"];

/// Modules that Python loads before anything else, wherever they are found on its path.
const START_UP_MODULES: [&str; 2] = ["sitecustomize", "usercustomize"];

/// Modules of test runners. One at the top of the project is found before the real one.
const RUNNER_MODULES: [&str; 6] = ["pytest", "_pytest", "pluggy", "unittest", "coverage", "nose"];

/// Whether a path is protected although no blueprint says so, and changes only where a blueprint opens it.
///
/// That is:
/// - configuration of test runners and of checks: `conftest.py`, `pytest.ini`, `tox.ini`, `jest.config.*`,
///   `.eslintrc*`, `clippy.toml`, `rust-toolchain*`, `.cargo/**`, and their like;
/// - what an interpreter loads by itself: `sitecustomize` and `usercustomize` in any form, `*.pth`;
/// - what would be found in place of the runner: `pytest`, `unittest` and their like at the top of the project;
/// - installed packages: `node_modules`, `site-packages`, `venv`;
/// - pipelines: `.github/workflows/**`, `.gitlab-ci.yml`, `Jenkinsfile`, and their like.
///
/// A file that configures a runner among other things (`pyproject.toml`, `package.json`, `Cargo.toml`, `setup.cfg`,
/// a makefile) is not among them: of those, the part counts that the runner reads.
#[must_use]
pub fn is_protected_by_default(path: &RepoPath) -> bool {
    let name = path.file_name();
    NAMES.iter().any(|known| name == known.as_bytes())
        || STARTS.iter().any(|start| name.starts_with(start.as_bytes()))
        || name.ends_with(b".pth")
        || path.components().any(|part| DIRECTORIES.iter().any(|known| part == known.as_bytes()))
        || path.components().any(|part| START_UP_MODULES.iter().any(|known| stem(part) == known.as_bytes()))
        || path.components().next().is_some_and(shadows_runner)
        || path.as_bytes().starts_with(b".github/workflows/")
        || path.as_bytes().starts_with(b".github/actions/")
}

/// A component without what follows its first dot.
fn stem(part: &[u8]) -> &[u8] {
    part.split(|byte| *byte == b'.').next().unwrap_or(part)
}

fn shadows_runner(top: &[u8]) -> bool {
    let is_module =
        !top.contains(&b'.') || top.ends_with(b".py") || top.ends_with(b".so") || top.ends_with(b".pyc");
    is_module && RUNNER_MODULES.iter().any(|known| stem(top) == known.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_how_tests_run_is_protected_and_its_neighbours_are_not() {
        for protected in [
            "conftest.py",
            "tests/unit/conftest.py",
            "sitecustomize.py",
            "lib/sitecustomize/__init__.py",
            "usercustomize.cpython-311-x86_64-linux-gnu.so",
            "x.pth",
            "pytest.py",
            "unittest/__init__.py",
            "web/jest.config.ts",
            ".cargo/config.toml",
            ".github/workflows/ci.yml",
            "node_modules/.bin/jest",
            "eslint.config.mjs",
        ] {
            assert!(is_protected_by_default(&protected.parse().unwrap()), "{protected}");
        }
        for free in [
            "src/conftest_like.py",
            "app/pytest.py",
            "docs/pytest.md",
            "pytest.md",
            "package.json",
            "pyproject.toml",
            "src/sitecustomized.py",
            ".github/CODEOWNERS",
            "path.py",
        ] {
            assert!(!is_protected_by_default(&free.parse().unwrap()), "{free}");
        }
    }
}
