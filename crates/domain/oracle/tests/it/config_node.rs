//! Runners and checks of JavaScript and TypeScript.

use ambit_policy::FactKind::{CheckSilenced, GateJudgedByModel, RunnerChanged};

use crate::config::{assert_free, assert_told};

fn script(name: &str, text: &str) -> String {
    format!("{{\n \"scripts\": {{\n  \"{name}\": \"{text}\"\n }}\n}}\n")
}

// proves E-F05
// break crates/domain/oracle/src/config/scripts.rs: `if commands != now {` -> `if commands.is_empty() {`
#[test]
fn a_script_that_checks_less_or_fails_no_more_is_told() {
    for (before, after) in [
        ("node --test test/*.test.js", "echo '2 passed, 0 failed'"),
        ("node --test test/*.test.js", "node --test test/*.test.js || true"),
        ("node --test test/*.test.js", "node --test test/ok.test.js"),
        ("jest", "jest --passWithNoTests"),
        ("jest", "jest; exit 0"),
        ("jest", "jest || echo failed"),
        ("jest && eslint .", "jest"),
        ("jest", "jest | cat"),
        ("jest", "true"),
        ("mocha test", "mocha test -g fast"),
        ("mocha", "mocha test/ok.js"),
        ("nyc --check-coverage mocha", "nyc mocha"),
        ("jest", "jest -u"),
        ("jest &", "jest --testPathIgnorePatterns cart"),
        ("./check.sh", "./other.sh"),
        ("echo no && exit 1 && jest", "jest --listTests"),
        ("tsc --noEmit && vitest run", "vitest run"),
    ] {
        assert_told(&[("package.json", &script("test", before), &script("test", after), RunnerChanged, 3)]);
    }
    for (before, after) in [
        ("jest", "jest --coverage"),
        ("jest", "jest --verbose && eslint ."),
        ("jest", "npm run lint && jest"),
        ("mocha test", "mocha --reporter dot test"),
        ("mocha test/unit", "mocha test"),
        ("mocha", "nyc mocha"),
        ("jest || true", "jest"),
        ("eslint src && jest", "jest && eslint src"),
        ("jest", "cross-env CI=1 jest"),
        ("jest", "npx jest"),
        ("echo \\\"Error: no test specified\\\" && exit 1", "jest"),
    ] {
        assert_free(&[("package.json", &script("test", before), &script("test", after))]);
    }
}

#[test]
fn scripts_that_no_check_calls_are_free_and_those_that_one_calls_are_not() {
    let both = |test: &str, other: &str| {
        format!("{{\"scripts\": {{\"test\": \"{test}\",\n\"unit\": \"{other}\"}}}}")
    };
    assert_told(&[(
        "package.json",
        &both("npm run unit", "mocha test"),
        &both("npm run unit", "mocha test || true"),
        RunnerChanged,
        2,
    )]);
    assert_free(&[
        ("package.json", &both("jest", "node a.js"), &both("jest", "node a.js || true")),
        ("package.json", &script("start", "node a"), &script("start", "node b")),
        (
            "package.json",
            "{\"version\":\"1\"}",
            "{\"version\":\"2\",\"keywords\":[\"a\"],\"scripts\":{\"dev\":\"x\"}}",
        ),
        (
            "package.json",
            "{\"scripts\":{\"test\":\"npm run a && npm run b\",\"a\":\"jest\",\"b\":\"xo\"}}",
            "{\"scripts\":{\"test\":\"npm run b && npm run a\",\"a\":\"jest\",\"b\":\"xo\"}}",
        ),
    ]);
    assert_told(&[
        ("package.json", &script("test", "jest"), &script("start", "node a"), RunnerChanged, 3),
        (
            "package.json",
            &script("test", "jest"),
            &script("test", "jest && promptfoo eval -c judge.yaml"),
            GateJudgedByModel,
            3,
        ),
    ]);
}

#[test]
fn settings_of_runners_that_collect_less_are_told() {
    assert_told(&[
        (
            "package.json",
            "{\"jest\":{}}",
            "{\"jest\":{\n\"testPathIgnorePatterns\":[\"cart\"]}}",
            RunnerChanged,
            2,
        ),
        ("package.json", "{\"jest\":{}}", "{\"jest\":{\n\"passWithNoTests\":true}}", RunnerChanged, 2),
        (
            "package.json",
            "{\"jest\":{\"coverageThreshold\":{\"global\":{\"lines\":90}}}}",
            "{\"jest\":{\"coverageThreshold\":{\"global\":{\n\"lines\":9}}}}",
            RunnerChanged,
            2,
        ),
        (
            "jest.config.json",
            "{\"testMatch\":[\"**/*.test.js\"]}",
            "{\"testMatch\":[\"**/ok.test.js\"]}",
            RunnerChanged,
            1,
        ),
        (".mocharc.yml", "spec: test\n", "spec: test\ngrep: fast\n", RunnerChanged, 2),
        (".mocharc.json", "{\"forbidOnly\": true}", "{}", RunnerChanged, 1),
        (".nycrc", "{\"check-coverage\": true}", "{\"check-coverage\": false}", RunnerChanged, 1),
        (
            "jest.config.js",
            "module.exports = {\n};\n",
            "module.exports = {\n  passWithNoTests: true,\n};\n",
            RunnerChanged,
            2,
        ),
        (
            "vitest.config.ts",
            "export default {\n};\n",
            "export default {\n  exclude: ['test/cart'],\n};\n",
            RunnerChanged,
            2,
        ),
    ]);
    assert_free(&[
        ("package.json", "{\"jest\":{}}", "{\"jest\":{\"verbose\":true,\"collectCoverage\":true}}"),
        (
            "package.json",
            "{\"jest\":{\"coverageThreshold\":{\"global\":{\"lines\":90}}}}",
            "{\"jest\":{\"coverageThreshold\":{\"global\":{\"lines\":95}}}}",
        ),
        ("jest.config.json", "{\"testMatch\":[\"a\"]}", "{\n  // why\n  \"testMatch\": [\"a\", \"b\"],\n}"),
        ("jest.config.js", "module.exports = { }\n", "module.exports = {\n  verbose: true,\n}\n"),
    ]);
}

#[test]
fn lints_and_types_that_say_less_are_told() {
    assert_told(&[
        (
            ".eslintrc.json",
            "{\"rules\":{\"eqeqeq\":\"error\"}}",
            "{\"rules\":{\"eqeqeq\":\"off\"}}",
            CheckSilenced,
            1,
        ),
        (".eslintrc.yml", "rules:\n  eqeqeq: error\n", "rules:\n  eqeqeq: warn\n", CheckSilenced, 2),
        (".eslintrc", "{\"rules\":{\"a\":[2, \"x\"]}}", "{\"rules\":{\"a\":[0, \"x\"]}}", CheckSilenced, 1),
        (".eslintrc.json", "{}", "{\"ignorePatterns\":[\"src\"]}", CheckSilenced, 1),
        (".eslintignore", "dist\n", "dist\nsrc\n", CheckSilenced, 2),
        (
            "tsconfig.json",
            "{\"compilerOptions\":{\"strict\":true}}",
            "{\"compilerOptions\":{\"strict\":false}}",
            CheckSilenced,
            1,
        ),
        (
            "tsconfig.json",
            "{\"compilerOptions\":{}}",
            "{\"compilerOptions\":{\"skipLibCheck\":true}}",
            CheckSilenced,
            1,
        ),
        ("biome.json", "{}", "{\"linter\":{\"rules\":{\"style\":{\"noVar\":\"off\"}}}}", CheckSilenced, 1),
    ]);
    assert_free(&[
        (".eslintrc.json", "{\"rules\":{\"a\":\"warn\"}}", "{\"rules\":{\"a\":\"error\",\"b\":[2,\"x\"]}}"),
        (".eslintrc.json", "{\"rules\":{\"a\":\"error\"}}", "{\"rules\":{\"a\":2}}"),
        (
            "tsconfig.json",
            "{\"compilerOptions\":{\"target\":\"es5\"}}",
            "{\"compilerOptions\":{\"target\":\"es2020\",\"strict\":true}}",
        ),
    ]);
}
