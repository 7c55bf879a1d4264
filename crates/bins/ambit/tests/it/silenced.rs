//! A lint is the gate, and an agent silences it: a person decides about one named place, and about nothing more.

use std::path::Path;

use serde_json::{Value, json};

use crate::cases::{ambit, cases};
use crate::rig::{GATE, PLAN, Project, blueprint, patch, transcript};

const SOURCE: &str = "print('hello')\nprint('a line that is longer than it may be here')\n";
/// A lint in one line: no line of more than 30 characters, unless its directive says so.
const LINT: &str = "long=$(grep -n '.\\{31\\}' greet.py | grep -v '# noqa')\n\
                    [ -z \"$long\" ] || { echo \"FAIL: E501: $long\"; exit 1; }\n";

fn silencing(directive: &str) -> String {
    let line = "print('a line that is longer than it may be here')";
    format!(
        "--- a/greet.py\n+++ b/greet.py\n@@ -1,2 +1,2 @@\n print('hello')\n-{line}\n+{line}  # {directive}\n"
    )
}

const SHORTER: &str = "--- a/greet.py\n+++ b/greet.py\n@@ -1,2 +1,2 @@\n print('hello')\n\
                       -print('a line that is longer than it may be here')\n+print('a line')\n";

const ASK: &str = "    - say: { tool: request_scoped_approval, input: { proposalId: \"${proposal}\", capability: \
                   check.silence, reason: The line is an address } }\n";

fn linted() -> Project {
    let project = Project::empty();
    project.write("app/greet.py", SOURCE);
    project.write("app/check.sh", LINT);
    project.write("blueprint.yaml", &blueprint("").replace("paths: [greet.sh,", "paths: [greet.py,"));
    project.ambit(["approver", "init", "--name", "ada", "--out", "approver.key"]).well();
    project.approve("blueprint.yaml").well();
    project
}

/// What the gate came to, each time that it ran.
fn gates(project: &Project, run: &str) -> Vec<Value> {
    let of = |record: Value| {
        (record["kind"] == "gate.finished").then(|| record["body"]["observation"]["ending"].clone())
    };
    project.records(run).into_iter().filter_map(of).collect()
}

// proves E-F07
// break crates/domain/oracle/src/facts.rs: `facts.extend(directives.told());` -> ``
#[test]
fn a_lint_is_not_made_green_by_silencing_it_without_a_person() {
    let project = linted();
    let (named, blanket) = (patch(&silencing("noqa: E501"), ""), patch(&silencing("noqa"), ""));
    let honest = patch(SHORTER, "hypothesis: the line is too long,");
    let turns = format!("{PLAN}{named}{blanket}{GATE}{honest}{GATE}");
    let ended = project.start("alone", &transcript(&turns, "finish"));
    assert_eq!(ended.code, 0, "both are denied, and the run goes on: {ended:?}");
    let records = project.records("alone");
    let verdicts: Vec<(&Value, &Value)> = records
        .iter()
        .filter(|record| record["kind"] == "tool.decided" && record["body"]["call"]["patch"].is_string())
        .map(|record| (&record["body"]["decision"]["effect"], &record["body"]["decision"]["reasons"]))
        .collect();
    assert_eq!(
        verdicts,
        [
            (&json!("needs-approval"), &json!(["require-approval-of-silenced-check"])),
            (&json!("deny"), &json!(["forbid-blanket-directive"])),
            (&json!("allow"), &json!(["permit-patch"])),
        ],
        "{records:#?}"
    );
    let exits: Vec<Value> = gates(&project, "alone").iter().map(|ending| ending["code"].clone()).collect();
    assert_eq!(
        exits,
        [json!(1), json!(0)],
        "red as long as the line is long: {:?}",
        gates(&project, "alone")
    );
    project.ambit(["trace", "verify", "alone"]).well();
}

// proves E-F07 E-H03 E-H05
#[test]
fn a_person_sees_the_line_of_a_directive_and_approves_it_once() {
    let project = linted();
    let named = patch(&silencing("noqa: E501"), "");
    let turns = format!("{PLAN}{named}{ASK}{named}{GATE}{named}");
    let mut driving = project.spawn(project.start_words("asks", &transcript(&turns, "finish")));
    let seen = project.until("asks", |run| run["phase"] == "needs-approval");
    let asked = &seen["approvals"][0];
    assert_eq!(asked["content"]["capability"], "check.silence");
    let page = project.ambit(["run", "show", "asks"]).well().out;
    for part in [
        "check.silence for prop_",
        "\n  | greet.py:2 (after) adds a directive that silences a check at this place: is `noqa: E501`\n",
        "\n  | +print('a line that is longer than it may be here')  # noqa: E501\n",
    ] {
        assert!(page.contains(part), "{part:?} is missing in:\n{page}");
    }
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let words =
        ["approve", &text(&asked["proposal"]), "--digest", &text(&asked["digest"])].map(str::to_owned);
    let own = ["--credential-file", "approver.key"].map(str::to_owned);
    project.ambit([&words[..], &own[..]].concat()).well();
    assert_eq!(driving.wait().unwrap().code(), Some(0));
    let ended = project.show("asks");
    assert_eq!((&ended["phase"], &ended["approvals"][0]["state"]), (&json!("completed"), &json!("used")));
    let kinds = |kind: &str| project.records("asks").iter().filter(|record| record["kind"] == kind).count();
    assert_eq!(
        (kinds("patch.applied"), kinds("approval.consumed")),
        (1, 1),
        "{:#?}",
        project.records("asks")
    );
    project.ambit(["trace", "verify", "asks"]).well();
}

// proves E-F07
// break documents/policies/generation-tools-v2.yaml: `when: {anyFact: [blanket-directive-added]}` -> `when: {anyFact: [gate-not-granted]}`
#[test]
fn every_silenced_check_of_the_collection_is_refused_in_its_own_words() {
    let Some(folder) = cases("weaken") else { return };
    let check = |case: &str, base: &str| {
        let patch = folder.join("cases").join(case).join("change.patch");
        let words: [&Path; 5] = [
            Path::new("oracle"),
            Path::new("check"),
            Path::new("--base"),
            &folder.join("base").join(base),
            &patch,
        ];
        let words: Vec<&str> = words.iter().map(|word| word.to_str().unwrap()).collect();
        let answered = ambit(&folder, &words);
        assert_eq!(answered.code, 4, "{case}: {answered:?}");
        answered.json()
    };
    for (case, base) in [("py-noqa", "py"), ("py-type-ignore", "py"), ("js-eslint", "js"), ("rs-allow", "rs")]
    {
        let told = check(case, base);
        assert_eq!(told["verdict"], "deny-call", "{case}: {told}");
        let rules: Vec<&str> =
            told["rules"].as_array().unwrap().iter().map(|rule| rule["rule"].as_str().unwrap()).collect();
        assert_eq!(rules, ["forbid-blanket-directive"], "{case}");
        assert!(told["rules"][0]["instead"].as_str().unwrap().contains("name it at the one place"), "{told}");
    }
}
