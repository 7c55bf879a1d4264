use ambit_blueprint::{Blueprint, DocumentKind, NamedCommandCatalog, ProbeCase, ProblemCode};
use ambit_ids::RepoPath;
use ambit_policy::{Capability, LifecycleStage, Plane};

use crate::page::{codes, edited, problems, sample};

fn text() -> &'static str {
    sample(DocumentKind::Blueprint)
}

fn read(text: &str) -> Blueprint {
    Blueprint::parse("bp.yaml", text.as_bytes()).unwrap_or_else(|error| panic!("{}", error.render()))
}

fn path(text: &str) -> RepoPath {
    text.parse().unwrap()
}

// proves E-A03
// break crates/domain/blueprint/src/blueprint/read.rs: `let boundary_map = fields.required("boundaryMap").and_then(|c| read_boundary_map(&c));` -> `let boundary_map = fields.optional("boundaryMap").map_or(Ok(Vec::new()), |c| read_boundary_map(&c));`
#[test]
fn a_blueprint_carries_everything_that_a_run_is_bounded_by() {
    let blueprint = read(text());
    assert_eq!(blueprint.metadata.name.as_str(), "bp-1");
    assert_eq!(blueprint.spec.acceptance_cases.len(), 2);
    assert_eq!(blueprint.spec.archetype_probes.len(), 3);
    assert_eq!(blueprint.spec.boundary_map.len(), 4);
    assert_eq!(blueprint.spec.stage, LifecycleStage::Generate);
    assert_eq!(
        blueprint.spec.goal,
        "A member of a tenant creates a todo and completes it. Completing twice is one completion."
    );
    for (section, next) in [
        ("  goal: >", "  stage:"),
        ("  stage: ", "  accountability:"),
        ("  accountability:", "  acceptanceCases:"),
        ("  scope:", "  protectedOracles:"),
        ("  protectedOracles:", "  gates:"),
        ("  gates:", "  dependencies:"),
        ("  dependencies:", "  runBudget:"),
        ("  runBudget:", "  archetypeProbes:"),
        ("  archetypeProbes:", "  boundaryMap:"),
        ("  acceptanceCases:", "  scope:"),
    ] {
        let (start, end) = (text().find(section).unwrap(), text().find(next).unwrap());
        let without = format!("{}{}", &text()[..start], &text()[end..]);
        assert_eq!(codes(&without), [ProblemCode::MissingField], "{section}");
    }
    let start = text().find("  boundaryMap:").unwrap();
    assert_eq!(codes(&text()[..start]), [ProblemCode::MissingField]);
}

// proves E-A11
// break crates/domain/blueprint/src/blueprint/read.rs: `let later_owner = fields.required("laterOwner").and_then(|c| c.prose(1..=NAME_BYTES));` -> `let later_owner = fields.optional("laterOwner").map_or(Ok(String::new()), |c| c.prose(0..=NAME_BYTES));`
#[test]
fn nobody_is_accountable_by_silence() {
    for (line, empty) in [
        ("    owner: Todo team\n", "    owner: ' '\n"),
        ("    laterOwner: Preview team\n", "    laterOwner: ''\n"),
        (
            "      obligation: Remove the workspace, the sandbox and the partial revisions of the run.\n",
            "      obligation: \"\\n\"\n",
        ),
        ("      afterDays: 0\n", "      afterDays: -1\n"),
    ] {
        assert_eq!(codes(&edited(text(), line, "")), [ProblemCode::MissingField], "{line}");
        assert_eq!(codes(&edited(text(), line, empty)), [ProblemCode::OutOfRange], "{empty}");
    }
    assert_eq!(codes(&edited(text(), "  stage: generate\n", "")), [ProblemCode::MissingField]);
}

#[test]
fn every_stage_of_the_lifecycle_can_be_written() {
    for stage in LifecycleStage::ALL {
        let blueprint = read(&edited(text(), "stage: generate", &format!("stage: {stage}")));
        assert_eq!(blueprint.spec.stage, *stage);
    }
}

#[test]
fn gates_and_cases_name_each_other() {
    let at = |line, column, code| vec![(code, line, column)];
    let stands_once = |from, to| problems(&edited(text(), from, to));
    assert_eq!(
        stands_once("cases: [AC-2]", "cases: [AC-3, AC-2]"),
        at(33, 15, ProblemCode::UnknownReference)
    );
    assert_eq!(stands_once("cases: [AC-2]", "cases: []"), at(20, 11, ProblemCode::NotCovered));
    assert_eq!(stands_once("cases: [AC-2]", "cases: [AC-2, AC-2]"), at(33, 21, ProblemCode::DuplicateId));
    assert_eq!(stands_once("- id: AC-2", "- id: AC-1"), [(ProblemCode::DuplicateId, 20, 11),]);
    assert_eq!(
        stands_once("- id: clean-build", "- id: tenant-integration"),
        at(35, 11, ProblemCode::DuplicateId)
    );
    assert_eq!(stands_once("- id: clean-build", "- id: clean build"), at(35, 11, ProblemCode::Malformed));
    let start = text().find("    - id: unit.todo").unwrap();
    let end = text().find("  dependencies:").unwrap();
    let none = format!("{}    []\n{}", &text()[..start], &text()[end..]);
    assert_eq!(problems(&none), at(29, 3, ProblemCode::OutOfRange));
}

// proves E-N01
// break crates/domain/blueprint/src/blueprint/read.rs: `let absent = |plane: &&Plane| !map.iter().any(|boundary| boundary.plane == **plane);` -> `let absent = |plane: &&Plane| map.is_empty() && **plane == Plane::ControlPlane;`
#[test]
fn every_plane_of_authority_stands_in_the_boundary_map_exactly_once() {
    let planes: Vec<Plane> = read(text()).spec.boundary_map.iter().map(|boundary| boundary.plane).collect();
    assert_eq!(planes, Plane::ALL);
    let start = text().find("    - plane: connector-source").unwrap();
    assert_eq!(codes(&text()[..start]), [ProblemCode::NotCovered]);
    for other in ["control-plane", "hosted-runtime", "generated-application"] {
        let twice = edited(text(), "plane: connector-source", &format!("plane: {other}"));
        assert_eq!(codes(&twice), [ProblemCode::DuplicateId]);
    }
    let unknown = edited(text(), "plane: connector-source", "plane: everything");
    assert_eq!(codes(&unknown), [ProblemCode::UnknownWord]);
    let nobody = edited(text(), "      grantedBy: The orchestrator, for one run.\n", "");
    assert_eq!(codes(&nobody), [ProblemCode::MissingField]);
}

#[test]
fn work_that_is_not_named_is_out_of_scope() {
    let scope = read(text()).spec.scope;
    for work in ["domain", "repository", "api", "interface", "tests"] {
        assert!(scope.admits(&work.parse().unwrap()), "{work}");
    }
    for work in ["notification", "analytics", "identity", "connector", "deployment", "payment"] {
        assert!(!scope.admits(&work.parse().unwrap()), "{work}");
    }
    let both = edited(text(), "outOfScope: [notification,", "outOfScope: [tests,");
    assert_eq!(problems(&both), [(ProblemCode::Contradiction, 25, 18)]);
}

// proves E-A13
// break crates/domain/blueprint/src/blueprint/mod.rs: `self.protected_oracles.paths.contains(path) && !opened()` -> `self.protected_oracles.paths.contains(path) && self.authorizes.is_empty()`
#[test]
fn a_version_opens_the_protected_paths_that_it_names_and_no_others() {
    let first = read(text());
    let opening = "  authorizes:\n    - path: tests/protected/test_api.py\n      why: The API returns another status.\n";
    let second = read(&edited(&format!("{}{opening}", text()), "version: 1\n", "version: 2\n"));
    let (api, other) = (path("tests/protected/test_api.py"), path("tests/protected/test_idempotency.py"));
    assert!(first.spec.protects(&api) && first.spec.protects(&other));
    assert!(!second.spec.protects(&api) && second.spec.protects(&other));
    assert!(!first.spec.protects(&path("src/todo.py")));
    assert_ne!(first.digest().unwrap(), second.digest().unwrap());
    let silent = format!("{}  authorizes:\n    - path: tests/**\n", text());
    assert_eq!(codes(&silent), [ProblemCode::MissingField]);
}

// proves E-Q01
// break crates/domain/blueprint/src/blueprint/probe.rs: `("toolCall", &read_tool_call),` -> `("toolCall", &read_tool_call), ("command", &|_| Ok(ProbeCase::Capability(Capability::Deploy))),`
#[test]
fn an_archetype_probe_proposes_exactly_one_thing_and_executes_nothing() {
    let probes = read(text()).spec.archetype_probes;
    assert!(matches!(&probes[0].case, ProbeCase::PlanStep { cases, .. } if cases.len() == 1));
    assert!(matches!(&probes[1].case, ProbeCase::ToolCall { facts, .. } if facts.is_empty()));
    assert_eq!(probes[2].case, ProbeCase::Capability(Capability::Deploy));

    let step = "planStep: {work: connector, cases: [AC-1]}";
    let unknown_case = edited(text(), step, "planStep: {work: connector, cases: [SUP-7]}");
    assert_eq!(codes(&unknown_case), []);
    for (other, code) in [
        ("command: {argv: [sh, -c, ls]}", ProblemCode::UnknownField),
        ("capability: shell", ProblemCode::UnknownWord),
        ("toolCall: {tool: run_shell, facts: []}", ProblemCode::UnknownWord),
        ("toolCall: {tool: run_named_gate, facts: [], argv: [ls]}", ProblemCode::UnknownField),
        ("toolCall: {tool: run_named_gate, facts: [{kind: scope-left}]}", ProblemCode::MissingField),
        ("toolCall: {tool: run_named_gate, facts: [{kind: scope-left, path: ../x}]}", ProblemCode::Malformed),
        ("capability: deploy\n        planStep: {work: x, cases: []}", ProblemCode::Contradiction),
    ] {
        assert_eq!(codes(&edited(text(), step, other)), [code], "{other}");
    }
}

#[test]
fn patterns_and_names_are_checked_where_they_stand() {
    for (from, to, code, line, column) in [
        ("[\"src/**\", ", "[\"/src/**\", ", ProblemCode::Malformed, 23, 13),
        ("[\"src/**\", ", "[\"src/../**\", ", ProblemCode::Malformed, 23, 13),
        ("[\"src/**\", ", "[\"src/[\", ", ProblemCode::Malformed, 23, 13),
        ("[\"src/**\", \"pyproject.toml\"]", "[]", ProblemCode::OutOfRange, 23, 5),
        ("[\"src/**\", \"pyproject.toml\"]", "src/**", ProblemCode::WrongType, 23, 12),
        ("name: bp-1", "name: bp/1", ProblemCode::Malformed, 4, 9),
        ("name: bp-1", "name: 1", ProblemCode::WrongType, 4, 9),
        ("version: 1\n", "version: 0\n", ProblemCode::OutOfRange, 5, 12),
        ("work: [domain,", "work: [Domain,", ProblemCode::Malformed, 24, 12),
        ("work: [domain,", "work: [tests,", ProblemCode::DuplicateId, 24, 47),
        ("approved: [attrs]", "approved: [attrs, attrs]", ProblemCode::DuplicateId, 39, 23),
        ("approved: [attrs]", "approved: [a b]", ProblemCode::Malformed, 39, 16),
        ("approved: [attrs]", "approved: [on]", ProblemCode::Ambiguous, 39, 16),
    ] {
        let found = problems(&edited(text(), from, to));
        assert_eq!(found, [(code, line, column)], "{to}");
    }
    let long = edited(text(), "[\"src/**\", ", &format!("[\"{}\", ", "a*".repeat(200)));
    assert_eq!(codes(&long), [ProblemCode::OutOfRange]);
    let goal = |bytes| edited(text(), "goal: >\n    A member", &format!("goal: {}", "a".repeat(bytes)));
    let rest = " of a tenant creates a todo and completes it. Completing twice is one completion.".len();
    assert_eq!(codes(&goal(4000 - rest)), []);
    assert_eq!(codes(&goal(4001 - rest)), [ProblemCode::OutOfRange]);
}

#[test]
fn a_run_needs_every_command_that_its_blueprint_names() {
    let catalog = sample(DocumentKind::NamedCommandCatalog);
    let catalog = NamedCommandCatalog::parse("catalog.yaml", catalog.as_bytes()).unwrap();
    let blueprint = read(text());
    let missing: Vec<&str> = blueprint.commands_missing_in(&catalog).iter().map(|id| id.as_str()).collect();
    assert_eq!(missing, ["tenant-integration", "tenant-integration-hidden", "clean-build"]);
}

// proves E-F02
// break crates/domain/blueprint/src/blueprint/read.rs: `if let (None, Some(at)) = (&hidden_check, files) {` -> `if let (None, Some(at), false) = (&hidden_check, files, true) {`
#[test]
fn hidden_files_are_a_folder_by_its_digest_and_belong_to_a_hidden_check() {
    let digest = ambit_ids::Digest::of(b"a folder");
    let check = "hiddenCheck: tenant-integration-hidden";
    let with = |from: &str, digest: &str| {
        edited(text(), check, &format!("{check}\n      hiddenFiles: {{from: {from}, digest: {digest}}}"))
    };
    let named = digest.to_string();
    let whole = with("covert/tenants", &named);
    let blueprint = read(&whole);
    let found: Vec<_> = blueprint
        .hidden_files()
        .map(|(gate, files)| (gate.as_str(), files.from.to_string(), files.digest))
        .collect();
    assert_eq!(found, [("tenant-integration", "covert/tenants".to_owned(), digest)]);
    assert_ne!(blueprint.digest().unwrap(), read(text()).digest().unwrap(), "they are approved with it");
    let canonical = blueprint.to_canonical().unwrap();
    assert_eq!(Blueprint::parse("canonical", canonical.as_bytes()).unwrap(), blueprint);
    assert!(
        !String::from_utf8(read(text()).to_canonical().unwrap().into_bytes())
            .unwrap()
            .contains("hiddenFiles")
    );
    for (from, digest) in
        [("../covert", named.as_str()), ("/covert", &named), ("a/.git", &named), ("covert", "sha256:1")]
    {
        assert_eq!(codes(&with(from, digest)), [ProblemCode::Malformed], "{from} {digest}");
    }
    let idle = edited(&whole, &format!("      {check}\n"), "");
    assert_eq!(codes(&idle), [ProblemCode::Contradiction]);
    let open = edited(&whole, &format!(", digest: {named}"), "");
    assert_eq!(codes(&open), [ProblemCode::MissingField]);
}
