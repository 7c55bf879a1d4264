//! What is seen, kind by kind.

use ambit_project_survey::{ImageTool, Plan, Survey, VolumeNeed, survey};

use crate::repositories::{ALL, PYTEST, UNITTEST, named, written};

fn look(name: &str) -> Survey {
    survey(named(name).path()).unwrap()
}

fn plan(name: &str) -> Plan {
    look(name).settle(&[]).unwrap()
}

fn commands(plan: &Plan) -> Vec<String> {
    plan.gates.iter().map(|gate| format!("{}: {}", gate.id, gate.command_line())).collect()
}

/// The gates of each repository, but for the long check of JavaScript.
const EXPECTED: &[(&str, &[&str])] = &[
    (
        "unittest",
        &[
            "python.syntax: python3 -I -m compileall -q -f calc",
            "python.tests: python3 -m unittest discover -s tests -t .",
        ],
    ),
    (
        "unittest-flat",
        &[
            "python.syntax: python3 -I -m compileall -q -f calc.py",
            "python.tests: python3 -m unittest discover",
        ],
    ),
    (
        "pytest",
        &[
            "python.syntax: python3 -I -m compileall -q -f src",
            "python.tests: python3 -m pytest -q -p no:cacheprovider",
        ],
    ),
    (
        "tox",
        &[
            "python.syntax: python3 -I -m compileall -q -f a.py",
            "python.tests: python3 -m pytest -q -p no:cacheprovider",
        ],
    ),
    (
        "either",
        &[
            "python.syntax: python3 -I -m compileall -q -f a.py",
            "python.tests: python3 -m unittest discover -s tests",
        ],
    ),
    ("no-tests", &["python.syntax: python3 -I -m compileall -q -f a"]),
    (
        "cargo",
        &["rust.check: cargo check --offline --locked", "rust.tests: cargo test --tests --offline --locked"],
    ),
    (
        "workspace",
        &[
            "rust.check: cargo check --offline --locked --workspace",
            "rust.tests: cargo test --tests --offline --locked --workspace",
        ],
    ),
    ("node-test", &["node.tests: node --test test/"]),
    ("npm", &["node.tests: sh -c 'mocha --exit '\\''test/**/*.js'\\'''"]),
    ("pnpm", &["node.tests: sh -c '(pnpm build) && (vitest run)'"]),
    ("yarn", &["node.tests: sh -c jest"]),
    ("npm-default", &[]),
    ("go", &["go.vet: go vet ./...", "go.tests: go test ./..."]),
    ("make", &["make.test: make test"]),
    ("just", &["just.check: just check", "just.test: just test"]),
    (
        "two",
        &[
            "backend.python.syntax: python3 -I -m compileall -q -f a.py",
            "backend.python.tests: python3 -m unittest discover -s tests",
            "frontend.node.tests: node --test",
        ],
    ),
];

#[test]
fn each_kind_of_project_has_its_gates_from_cheap_to_dear() {
    assert_eq!(EXPECTED.len(), ALL.len());
    for (name, gates) in EXPECTED {
        let found = commands(&plan(name));
        let without_scripts: Vec<&str> =
            found.iter().map(String::as_str).filter(|gate| !gate.contains("node.syntax")).collect();
        assert_eq!(&without_scripts, gates, "{name}");
    }
    assert!(commands(&plan("npm-default"))[0].starts_with("node.syntax: node -e "));
}

#[test]
fn what_could_be_either_is_asked_and_what_was_answered_holds() {
    let seen = look("either");
    let labels: Vec<&str> = seen.questions[0].choices.iter().map(|choice| choice.label.as_str()).collect();
    assert_eq!((seen.questions.len(), labels.len()), (1, 2), "{labels:?}");
    let asked = seen.clone().settle(&[1]).unwrap();
    assert!(commands(&asked)[1].contains("pytest") && asked.volumes.contains(&VolumeNeed::Python));
    for defaulted in [&[][..], &[0], &[7]] {
        assert_eq!(seen.clone().settle(defaulted).unwrap(), seen.clone().settle(&[0]).unwrap());
    }
    assert_eq!(look("yarn").questions[0].choices.len(), 2);
    for certain in ["unittest", "pytest", "cargo", "npm", "go"] {
        assert!(look(certain).questions.is_empty(), "{certain}");
    }
}

#[test]
fn what_decides_is_protected_and_what_is_worked_on_is_not() {
    for (name, protected, scope) in [
        ("unittest", "tests/**", "calc/**"),
        ("unittest-flat", "**/test_*.py", "*.py"),
        ("cargo", "tests/**", "src/**"),
        ("cargo", "Cargo.lock", "Cargo.toml"),
        ("npm", "test/**", "index.js"),
        ("npm", "package-lock.json", "*.js"),
        ("go", "**/*_test.go", "a.go"),
        ("make", "Makefile", "a.c"),
        ("two", "backend/tests/**", "backend/**"),
    ] {
        let plan = plan(name);
        let has = |list: &[String], pattern: &str| list.iter().any(|found| found == pattern);
        assert!(has(&plan.protected, protected) && has(&plan.scope, scope), "{name}: {plan:?}");
        assert!(!has(&plan.scope, protected) && !has(&plan.protected, scope), "{name}: {plan:?}");
        assert!(has(&plan.protected, ".ambit/**") && has(&plan.protected, "ambit.toml"), "{name}");
    }
    assert!(plan("cargo").test_paths.contains(&"src/lib.rs".to_owned()), "tests beside the code");
    assert!(!plan("cargo").protected.contains(&"src/lib.rs".to_owned()));
}

#[test]
fn an_image_holds_what_the_gates_call_and_packages_come_from_volumes() {
    let tools = |name: &str| plan(name).tools.into_iter().map(ImageTool::as_str).collect::<Vec<_>>();
    assert_eq!(tools("unittest"), ["python3"]);
    assert_eq!(tools("node-test"), ["node"]);
    assert_eq!(tools("npm"), ["node", "env", "sh"]);
    assert_eq!(tools("pnpm"), ["node", "pnpm", "env", "sh"]);
    assert_eq!(tools("cargo"), ["cargo", "rustc", "cc", "sh"]);
    assert_eq!(tools("two"), ["python3", "node"]);
    for (name, needs) in [
        ("unittest", &[][..]),
        ("pytest", &[VolumeNeed::Python]),
        ("cargo", &[]),
        ("workspace", &[VolumeNeed::Cargo]),
        ("npm", &[VolumeNeed::NodeModules]),
        ("node-test", &[]),
        ("go", &[]),
    ] {
        assert_eq!(plan(name).volumes.into_iter().collect::<Vec<_>>(), needs, "{name}");
    }
    let home = |name: &str| plan(name).gates[0].environment["CARGO_HOME"].clone();
    assert_eq!((home("workspace").as_str(), home("cargo").as_str()), ("/volumes/cargo", "/tmp/cargo"));
    assert_eq!(plan("pytest").gates[1].environment["PYTHONPATH"], "/workspace/src:/volumes/python");
}

#[test]
fn what_no_test_stands_behind_is_said() {
    for (name, has_tests) in [("no-tests", false), ("npm-default", false), ("unittest", true), ("go", true)] {
        let plan = plan(name);
        assert_eq!(plan.has_tests(), has_tests, "{name}");
        assert_eq!(plan.remarks.iter().any(|remark| remark.contains("test was found")), !has_tests, "{name}");
    }
    let nothing = written(&[("README.md", "words\n")]);
    let error = survey(nothing.path()).unwrap().settle(&[]).unwrap_err();
    assert_eq!(error.code(), "SURVEY_NOTHING_TO_CHECK");
}

#[test]
fn a_recipe_stands_in_only_where_no_test_was_recognised() {
    let files = [("Makefile", "test:\n\tpip install x\n"), ("a.py", ""), ("test_a.py", UNITTEST)];
    let with_tests = survey(written(&files).path()).unwrap().settle(&[]).unwrap();
    assert!(commands(&with_tests).iter().all(|gate| !gate.starts_with("make")), "{with_tests:?}");
    let without = survey(written(&files[..2]).path()).unwrap().settle(&[]).unwrap();
    assert!(commands(&without).contains(&"make.test: make test".to_owned()), "{without:?}");
    for none in ["testing:\n", "test := x\n", "\ttest:\n", "test ::= x\n", "contest: x\n", "# test:\n"] {
        let files = [("Makefile", none), ("a.c", "")];
        assert!(survey(written(&files).path()).unwrap().settle(&[]).is_err(), "{none:?}");
    }
}

#[test]
fn the_words_of_a_script_stand_in_the_command_as_they_are() {
    let script = "node --test && echo \"$HOME\" > /dev/null";
    let manifest = serde_json::json!({"scripts": {"test": script}}).to_string();
    let plan = survey(written(&[("package.json", &manifest)]).path()).unwrap().settle(&[]).unwrap();
    assert_eq!(plan.gates[0].argv, ["sh", "-c", script]);
    for hidden in ["node --test\u{202e}", "node\u{200b} --test", "node \u{1b}[2K --test", &"a".repeat(3000)] {
        let manifest = serde_json::json!({"scripts": {"test": hidden}}).to_string();
        let seen = survey(written(&[("package.json", &manifest), ("a.js", "")]).path()).unwrap();
        let plan = seen.settle(&[]).unwrap();
        assert!(!plan.has_tests() && plan.remarks.iter().any(|remark| remark.contains("no gate runs it")));
    }
}

#[test]
fn a_test_that_pytest_alone_understands_is_for_pytest() {
    let plan =
        survey(written(&[("a.py", ""), ("tests/test_a.py", PYTEST)]).path()).unwrap().settle(&[]).unwrap();
    assert!(commands(&plan)[1].contains("pytest"), "{plan:?}");
}

#[test]
fn each_command_of_a_test_script_is_a_gate_without_those_that_were_never_installed() {
    let manifest = serde_json::json!({
        "scripts": {"test": "npm run test:unit && npm run test:types && npm run lint", "test:unit": "tape 'test/*.js'",
            "test:types": "tstyche", "lint": "eslint"},
        "devDependencies": {"tape": "5", "tstyche": "7", "eslint": "9"},
    });
    let dir = written(&[("package.json", &manifest.to_string())]);
    let gates = || {
        let plan = survey(dir.path()).unwrap().settle(&[]).unwrap();
        (commands(&plan), plan)
    };
    let (all, plan) = gates();
    let expected = ["node.lint: sh -c eslint", "node.test-types: sh -c tstyche"];
    assert!(expected.iter().all(|gate| all.iter().any(|found| found == gate)), "{all:?}");
    assert!(all.last().unwrap().starts_with("node.test-unit: sh -c 'tape "), "{all:?}");
    assert!(!plan.tools.contains(&ImageTool::Npm), "nothing calls npm any more");

    std::fs::create_dir_all(dir.path().join("node_modules/.bin")).unwrap();
    std::fs::write(dir.path().join("node_modules/.bin/tape"), "").unwrap();
    let (some, plan) = gates();
    assert!(some.len() == 1 && some[0].starts_with("node.tests: sh -c 'tape "), "{some:?}");
    for lacking in ["tstyche", "eslint"] {
        assert!(plan.remarks.iter().any(|remark| remark.contains(lacking) && remark.contains("--replace")));
    }
}

#[test]
fn a_test_that_runs_itself_is_a_program_and_the_others_are_found() {
    let own = format!("{UNITTEST}\nunittest.main()\n");
    let files = [("a.py", ""), ("test/__init__.py", ""), ("test/test_own.py", own.as_str())];
    let alone = survey(written(&files).path()).unwrap().settle(&[]).unwrap();
    assert_eq!(commands(&alone)[1], "python.tests: python3 -m test.test_own");
    let files = [("a.py", ""), ("tests/test_own.py", own.as_str()), ("tests/test_b.py", UNITTEST)];
    let both = survey(written(&files).path()).unwrap().settle(&[]).unwrap();
    assert_eq!(
        commands(&both)[1..],
        [
            "python.tests: python3 tests/test_own.py",
            "python.other-tests: python3 -m unittest tests/test_b.py"
        ]
    );
    assert_eq!(both.gates[1].environment["PYTHONPATH"], "/workspace");
}

#[test]
fn what_no_run_gets_to_see_is_not_proposed_and_a_lock_still_tells_of_packages() {
    let lock = "version = 4\n[[package]]\nsource = \"registry+https://x\"\n";
    let dir = written(&[
        ("Cargo.toml", "[package]\nname = \"a\"\n[dependencies]\nb = \"1\"\n"),
        ("Cargo.lock", lock),
        ("src/lib.rs", ""),
        ("made/a.py", ""),
    ]);
    let whole = survey(dir.path()).unwrap().settle(&[]).unwrap();
    assert!(commands(&whole)[0].contains("--locked") && whole.scope.contains(&"made/**".to_owned()));
    let source = ["Cargo.toml", "src/lib.rs"].map(str::to_owned).into();
    let plan = ambit_project_survey::survey_of_source(dir.path(), &source).unwrap().settle(&[]).unwrap();
    assert_eq!(commands(&plan)[0], "rust.check: cargo check --offline");
    assert_eq!(plan.volumes, [VolumeNeed::Cargo].into());
    assert!(!plan.scope.iter().any(|pattern| pattern.contains("made")), "{plan:?}");
    assert!(plan.remarks.iter().any(|remark| remark.contains(".gitignore leaves Cargo.lock out")));
}

#[test]
fn no_protected_file_is_told_as_one_that_a_patch_may_touch() {
    for files in [
        &[("a.py", ""), ("test_a.py", UNITTEST), ("a.egg-info/PKG-INFO", "")][..],
        &[("package.json", "{\"scripts\": {\"test\": \"node test.js\"}}"), ("a.js", ""), ("test.js", "")],
    ] {
        let plan = survey(written(files).path()).unwrap().settle(&[]).unwrap();
        assert!(!plan.scope.iter().any(|path| path.contains("test") || path.contains("egg")), "{plan:?}");
    }
}
