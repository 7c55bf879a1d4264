//! Pipelines, and who may be let in.

use ambit_policy::FactKind::{AuthenticationChanged, CheckSilenced, GateJudgedByModel, RunnerChanged};

use crate::config::{about, assert_free, assert_told};

const WORKFLOW: &str = ".github/workflows/ci.yml";

fn workflow(job: &str) -> String {
    format!("on: [push, pull_request]\njobs:\n  test:\n    runs-on: x\n{job}")
}

#[test]
fn a_pipeline_that_checks_less_or_fails_no_more_is_told() {
    let steps = "    steps:\n      - run: pytest tests\n";
    let before = workflow(steps);
    for after in [
        workflow("    steps:\n      - run: pytest tests || true\n"),
        workflow("    steps:\n      - run: pytest tests -k fast\n"),
        workflow("    steps:\n      - run: echo fine\n"),
        workflow("    continue-on-error: true\n    steps:\n      - run: pytest tests\n"),
        workflow("    if: false\n    steps:\n      - run: pytest tests\n"),
        workflow("    if: ${{ false }}\n    steps:\n      - run: pytest tests\n"),
        workflow("    steps:\n      - run: pytest tests\n        continue-on-error: true\n"),
        workflow("    steps:\n      - run: |\n          set +e\n          pytest tests\n"),
        before.replace("[push, pull_request]", "[workflow_dispatch]"),
    ] {
        let found = about(&[(WORKFLOW, Some(&before), Some(&after))]);
        assert!(
            !found.is_empty() && found.iter().all(|fact| fact.kind() == RunnerChanged),
            "{after}\n{found:?}"
        );
    }
    let judged = workflow("    steps:\n      - run: pytest tests\n      - run: promptfoo eval\n");
    assert_eq!(about(&[(WORKFLOW, Some(&before), Some(&judged))])[0].kind(), GateJudgedByModel);
    assert_free(&[
        (WORKFLOW, &before, &before.replace("pytest tests", "pytest -v tests")),
        (WORKFLOW, &before, &before.replace("    steps:\n", "    steps:\n      - uses: a/checkout@v4\n")),
        (WORKFLOW, &before, &before.replace("  test:", "  unit:")),
        (WORKFLOW, &before, &before.replace("runs-on: x", "runs-on: y\n    timeout-minutes: 5")),
        (WORKFLOW, "", &workflow("    continue-on-error: true\n")),
    ]);
}

#[test]
fn other_pipelines_are_read_too_with_what_their_anchors_name() {
    let anchored = "x: &all\n  script:\n    - pytest tests\nunit:\n  <<: *all\n";
    assert_told(&[
        (
            ".gitlab-ci.yml",
            "t:\n  script: [pytest]\n",
            "t:\n  script: [pytest]\n  allow_failure: true\n",
            RunnerChanged,
            3,
        ),
        (
            ".gitlab-ci.yml",
            anchored,
            &anchored.replace("pytest tests", "pytest tests || true"),
            RunnerChanged,
            3,
        ),
        (
            ".gitlab-ci.yml",
            "t:\n  script: [pytest]\n",
            "t:\n  script: [pytest]\n  when: manual\n",
            RunnerChanged,
            3,
        ),
        (
            WORKFLOW,
            "jobs:\n  lint:\n    a: b\n  ship:\n    needs: [lint]\n",
            "jobs:\n  lint:\n    a: b\n  ship:\n    needs: []\n",
            RunnerChanged,
            5,
        ),
        (
            ".pre-commit-config.yaml",
            "repos:\n- repo: a\n  hooks:\n  - id: mypy\n  - id: ruff\n",
            "repos:\n- repo: a\n  hooks:\n  - id: ruff\n",
            CheckSilenced,
            4,
        ),
    ]);
    assert_free(&[
        (".gitlab-ci.yml", anchored, &format!("{anchored}lint:\n  script: ruff .\n")),
        (
            ".pre-commit-config.yaml",
            "repos:\n- repo: a\n  rev: v1\n  hooks:\n  - id: ruff\n",
            "repos:\n- repo: a\n  rev: v2\n  hooks:\n  - id: ruff\n",
        ),
    ]);
}

#[test]
fn who_is_let_in_and_whom_is_trusted_is_told() {
    let role = "kind: Role\napiVersion: v1\nrules:\n- verbs: [get]\n";
    assert_told(&[
        ("config/auth.yaml", "issuer: a\n", "issuer: b\n", AuthenticationChanged, 1),
        (
            "config/app.yaml",
            "tls:\n  verify_ssl: true\n",
            "tls:\n  verify_ssl: false\n",
            AuthenticationChanged,
            2,
        ),
        (
            "config/app.json",
            "{\"allowedOrigins\":[\"a\"]}",
            "{\"allowedOrigins\":[\"*\"]}",
            AuthenticationChanged,
            1,
        ),
        ("config/app.toml", "a=1\n", "a=1\nallow_anonymous=true\n", AuthenticationChanged, 2),
        (".npmrc", "strict-ssl=true\n", "strict-ssl=false\n", AuthenticationChanged, 1),
        ("k8s/role.yaml", role, &role.replace("[get]", "['*']"), AuthenticationChanged, 4),
        (".github/CODEOWNERS", "* @a\n/auth @b\n", "* @a\n", AuthenticationChanged, 2),
        (
            "nginx.conf",
            "location / {\n auth_basic \"x\";\n}\n",
            "location / {\n auth_basic off;\n}\n",
            AuthenticationChanged,
            2,
        ),
    ]);
    assert_free(&[
        ("config/auth.yaml", "issuer: a\nscopes: [b, c]\n", "# why\nscopes:\n  - c\n  - b\nissuer: a\n"),
        ("config/app.yaml", "verify_ssl: false\n", "verify_ssl: true\nport: 80\n"),
        ("docs/author.yaml", "a: 1\n", "a: 2\n"),
        (".github/CODEOWNERS", "* @a\n", "# owners\n*   @a\n/x @b\n"),
        ("nginx.conf", "listen 80;\n", "listen 81;\n"),
    ]);
}
