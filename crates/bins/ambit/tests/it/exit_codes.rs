//! What each verb answers to each kind of mistake: an exit code of the README's table, a stable code, and nothing else.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

use crate::left_alone::kill;
use crate::rig::{Answered, FIX, PLAN, Project, blueprint, diligent, transcript};

const DIGEST: &str = "sha256:0000000000000000000000000000000000000000000000000000000000000000";
const KEY: &str = "approver.key";

/// A command line that is wrong, with its exit code and its stable code.
type Wrong = (&'static [&'static str], i32, &'static str);

/// What is named and is not there.
const ABSENT: &[Wrong] = &[
    (&["schema", "show", "none"], 2, "DOCUMENT_UNKNOWN_WORD"),
    (&["profile", "show", "none"], 11, "PROFILE_UNKNOWN"),
    (&["run", "show", "none"], 11, "RUN_NOT_FOUND"),
    (&["model", "use", "nobodys-model"], 2, "USAGE_MISSING_ARGUMENT"),
    (&["model", "use", "claude-none-0"], 2, "MODEL_PRICE_UNKNOWN"),
    (&["model", "show"], 2, "AGENT_MISSING"),
    (&["init", "none"], 2, "SURVEY_NOT_A_DIRECTORY"),
    (&["run", "watch", "none"], 11, "RUN_NOT_FOUND"),
    (&["run", "cancel", "none"], 11, "RUN_NOT_FOUND"),
    (&["run", "resume", "none", "--agent", "first.agent.yaml"], 11, "RUN_NOT_FOUND"),
    (&["run", "revise", "none", "wish", "--case", "AC-1"], 11, "RUN_NOT_FOUND"),
    (&["run", "checklist", "none"], 11, "RUN_NOT_FOUND"),
    (&["run", "export", "none", "--out", "out"], 11, "RUN_NOT_FOUND"),
    (&["trace", "show", "none"], 11, "RUN_NOT_FOUND"),
    (&["trace", "verify", "none"], 11, "RUN_NOT_FOUND"),
    (&["gate", "show", "none", "unit"], 11, "RUN_NOT_FOUND"),
    (&["gate", "show", "first", "none"], 11, "GATE_NOT_FOUND"),
    (&["gate", "show", "first", "unit", "--attempt", "9"], 11, "GATE_NOT_FOUND"),
    (&["revision", "show", "rev-99"], 11, "REVISION_NOT_FOUND"),
    (&["revision", "diff", "rev-0", "rev-99"], 11, "REVISION_NOT_FOUND"),
    (&["revision", "diff", "rev-99", "rev-0"], 11, "REVISION_NOT_FOUND"),
    (&["revision", "diff", "rev-0", "rev-99", "--patch"], 11, "REVISION_NOT_FOUND"),
    (&["revision", "eligible", "rev-99"], 11, "REVISION_NOT_FOUND"),
    (&["revision", "export", "rev-99", "--as", "mail", "--out", "out"], 11, "REVISION_NOT_FOUND"),
    (
        &["revision", "export", "rev-0", "--as", "mail", "--out", "out", "--base", "rev-99"],
        11,
        "REVISION_NOT_FOUND",
    ),
    (&["sandbox", "run", "--image", "none", "--", "cat"], 11, "IMAGE_NOT_FOUND"),
    (&["sandbox", "run", "--image", "tools", "--profile", "none", "--", "cat"], 11, "PROFILE_UNKNOWN"),
    (&["backend", "admit", "--profile", "none"], 11, "PROFILE_UNKNOWN"),
    (&["approve", "prop_0123456789abcdef", "--digest", DIGEST], 11, "PROPOSAL_NOT_FOUND"),
    (&["deny", "prop_0123456789abcdef", "--digest", DIGEST], 11, "PROPOSAL_NOT_FOUND"),
    (&["blueprint", "show", "none"], 11, "BLUEPRINT_NOT_FOUND"),
    (
        &["blueprint", "withdraw", "none", "--digest", DIGEST, "--credential-file", KEY],
        4,
        "BLUEPRINT_NOT_APPROVED",
    ),
    (&["approver", "revoke", "nobody", "--credential-file", KEY], 11, "APPROVER_UNKNOWN"),
    (&["approver", "seal", "none.key"], 2, "USAGE_FILE_UNREADABLE"),
    (&["catalog", "show", "none"], 11, "GATE_NOT_FOUND"),
    (&["catalog", "pin", "catalog.yaml", "--image", "none"], 11, "IMAGE_NOT_FOUND"),
    (&["image", "capture", "--name", "more", "no-such-tool"], 9, "IMAGE_TOOL_MISSING"),
    (&["catalog", "pin", "catalog.yaml", "--image", "tools", "--volume", "none"], 11, "VOLUME_NOT_FOUND"),
    (&["volume", "show", "none"], 11, "VOLUME_NOT_FOUND"),
    (&["volume", "verify", DIGEST], 11, "VOLUME_NOT_FOUND"),
    (&["image", "import", "--name", "more", "app"], 2, "IMAGE_SOURCE_UNFIT"),
    (&["image", "show", "none"], 11, "IMAGE_NOT_FOUND"),
    (&["image", "verify", "none"], 11, "IMAGE_NOT_FOUND"),
    (
        &["run", "start", "--blueprint", "none", "--base", "rev-0", "--agent", "first.agent.yaml"],
        11,
        "BLUEPRINT_NOT_FOUND",
    ),
    (
        &["run", "start", "--blueprint", "greeter", "--base", "rev-99", "--agent", "first.agent.yaml"],
        11,
        "BASE_REVISION_GONE",
    ),
    (
        &[
            "run",
            "start",
            "--blueprint",
            "greeter",
            "--base",
            "rev-0",
            "--agent",
            "first.agent.yaml",
            "--profile",
            "none",
        ],
        11,
        "PROFILE_UNKNOWN",
    ),
    (
        &[
            "run",
            "start",
            "--blueprint",
            "greeter",
            "--base",
            "rev-0",
            "--agent",
            "first.agent.yaml",
            "--request",
            DIGEST,
        ],
        11,
        "REQUEST_UNKNOWN",
    ),
];

/// Files that cannot be read or written, and documents that are none.
const FILES: &[Wrong] = &[
    (&["schema", "write", "--out", KEY], 2, "USAGE_FILE_UNWRITABLE"),
    (&["man", "--out", KEY], 2, "USAGE_FILE_UNWRITABLE"),
    (&["blueprint", "new", "--out", KEY], 2, "USAGE_FILE_UNWRITABLE"),
    (&["catalog", "pin", "catalog.yaml", "--image", "tools", "--out", KEY], 2, "USAGE_FILE_UNWRITABLE"),
    (&["profile", "show", "wrong.yaml"], 2, "DOCUMENT_WRONG_KIND"),
    (&["blueprint", "validate", "none.yaml"], 2, "USAGE_FILE_UNREADABLE"),
    (&["blueprint", "validate", "wrong.yaml"], 2, "DOCUMENT_MISSING_FIELD"),
    (&["blueprint", "approve", "none.yaml", "--credential-file", KEY], 2, "USAGE_FILE_UNREADABLE"),
    (&["blueprint", "approve", "wrong.yaml", "--credential-file", KEY], 2, "DOCUMENT_MISSING_FIELD"),
    (&["blueprint", "show", "wrong.yaml"], 2, "DOCUMENT_MISSING_FIELD"),
    (&["profile", "validate", "none.yaml"], 2, "USAGE_FILE_UNREADABLE"),
    (&["profile", "validate", "wrong.yaml"], 2, "DOCUMENT_WRONG_KIND"),
    (&["catalog", "list", "--file", "none.yaml"], 2, "USAGE_FILE_UNREADABLE"),
    (&["catalog", "show", "unit", "--file", "wrong.yaml"], 2, "DOCUMENT_WRONG_KIND"),
    (&["catalog", "register", "none.yaml"], 2, "USAGE_FILE_UNREADABLE"),
    (&["catalog", "register", "wrong.yaml"], 2, "DOCUMENT_WRONG_KIND"),
    (&["catalog", "pin", "wrong.yaml", "--image", "tools"], 2, "DOCUMENT_WRONG_KIND"),
    (&["volume", "capture", "--name", "more", "directory", "none"], 2, "VOLUME_SOURCE_UNREADABLE"),
    (
        &["sandbox", "run", "--image", "tools", "--workspace", "none", "--", "cat"],
        2,
        "IMPORT_NOT_A_DIRECTORY",
    ),
    (&["backend", "admit", "--profile", "wrong.yaml"], 2, "DOCUMENT_WRONG_KIND"),
    (&["probe", "run", "none.yaml"], 2, "USAGE_FILE_UNREADABLE"),
    (&["policy", "check", "none.yaml"], 2, "USAGE_FILE_UNREADABLE"),
    (&["policy", "check", "wrong.yaml"], 2, "DOCUMENT_WRONG_KIND"),
    (&["policy", "check", "policy://generation-egress/v5"], 2, "POLICY_WITHOUT_TOOL_RULES"),
    (&["policy", "test", "policy://generation-tools/v2", "none.yaml"], 2, "USAGE_FILE_UNREADABLE"),
    (&["policy", "explain", "policy://generation-tools/v99", "run_named_gate"], 2, "POLICY_UNRESOLVED"),
    (&["policy", "diff", "policy://generation-tools/v1", "wrong.yaml"], 2, "DOCUMENT_WRONG_KIND"),
    (&["revision", "import", "none"], 2, "IMPORT_NOT_A_DIRECTORY"),
    (&["tree", "digest", "none"], 2, "IMPORT_NOT_A_DIRECTORY"),
    (&["patch", "check", "--base", "app", "none.patch"], 2, "USAGE_FILE_UNREADABLE"),
    (&["patch", "check", "--base", "none", "fix.patch"], 2, "IMPORT_NOT_A_DIRECTORY"),
    (&["oracle", "check", "--base", "app", "none.patch"], 2, "USAGE_FILE_UNREADABLE"),
    (&["oracle", "check", "--base", "none", "fix.patch"], 2, "IMPORT_NOT_A_DIRECTORY"),
    (&["patch", "apply", "--base", "app", "--out", "app", "fix.patch"], 2, "EXPORT_EXISTS"),
    (&["patch", "apply", "--base", "app", "--out", "app/out", "fix.patch"], 2, "EXPORT_WITHIN_SOURCE"),
    (&["patch", "apply", "--base", "app", "--out", "none/out", "fix.patch"], 2, "EXPORT_NOT_A_DIRECTORY"),
    (&["revision", "import", "--git", "none"], 2, "IMPORT_NOT_A_REPOSITORY"),
    (&["revision", "import", "--git", "app", "--branch", "main"], 2, "USAGE"),
    (&["revision", "import", "--git", "file:///none"], 2, "MIRROR_COMMIT_MALFORMED"),
    (&["revision", "import", "--git", "file:///none", "--at", "0123456"], 2, "MIRROR_SOURCE_MISSING"),
    (&["revision", "import", "--git", "ext::sh", "--at", "0123456"], 2, "MIRROR_SOURCE_TRANSPORT"),
    (&["revision", "import", "--git", "https://a:b@c/d", "--at", "0123456"], 2, "MIRROR_SOURCE_CREDENTIAL"),
    (&["run", "resume", "open", "--agent", "none.yaml"], 2, "USAGE_FILE_UNREADABLE"),
    (
        &["run", "start", "--blueprint", "greeter", "--base", "rev-0", "--agent", "wrong.yaml"],
        2,
        "DOCUMENT_UNKNOWN_WORD",
    ),
    (&["run", "export", "first", "--out", "app"], 2, "USAGE_DIRECTORY"),
    (&["revision", "export", "rev-0", "--as", "directory", "--out", "app"], 2, "EXPORT_EXISTS"),
    (&["revision", "export", "rev-0", "--as", "bundle", "--out", KEY], 2, "EXPORT_EXISTS"),
    (&["revision", "export", "rev-0", "--as", "mail", "--out", "none/out"], 2, "EXPORT_NO_PLACE"),
    (
        &["revision", "export", "rev-0", "--as", "mail", "--out", "out", "--message", "./none"],
        2,
        "USAGE_FILE_UNREADABLE",
    ),
    (&["approver", "init", "--name", "bob", "--out", KEY], 2, "USAGE_FILE_UNWRITABLE"),
];

/// What does not fit how things stand, and who may not.
const UNFIT: &[Wrong] = &[
    (&["run", "cancel", "first"], 2, "RUN_ENDED"),
    (
        &["revision", "export", "rev-0", "--as", "mail", "--out", "out", "--base", "rev-0"],
        2,
        "EXPORT_NOTHING_CHANGED",
    ),
    (&["revision", "export", "rev-0", "--as", "bundle", "--out", "-"], 2, "USAGE_VALUE"),
    (&["revision", "export", "rev-0", "--as", "mail", "--out", "out", "--branch", "x"], 2, "USAGE_VALUE"),
    (&["approver", "init", "--name", "ada"], 2, "APPROVER_EXISTS"),
    (
        &["approver", "add", "--name", "ada", "--out", "ada.key", "--credential-file", KEY],
        2,
        "APPROVER_EXISTS",
    ),
    (&["approver", "add", "--name", "bob", "--out", "bob.key"], 11, "CREDENTIAL_REFUSED"),
    (&["approver", "seal", KEY], 11, "CREDENTIAL_REFUSED"),
    (&["run", "revise", "first", "wish", "--case", "AC-9"], 2, "REQUEST_REFUSED"),
    (&["blueprint", "approve", "blueprint.yaml"], 11, "CREDENTIAL_REFUSED"),
    (
        &["blueprint", "approve", "blueprint.yaml", "--credential-file", "forged.key"],
        11,
        "CREDENTIAL_REFUSED",
    ),
    (&["run", "resume", "open", "--agent", "other.yaml"], 2, "AGENT_MISMATCH"),
    (
        &[
            "run",
            "start",
            "first",
            "--blueprint",
            "greeter",
            "--base",
            "rev-0",
            "--agent",
            "stopped.agent.yaml",
        ],
        2,
        "RUN_NAME_TAKEN",
    ),
    (
        &[
            "run",
            "start",
            "--blueprint",
            "greeter",
            "--digest",
            DIGEST,
            "--base",
            "rev-0",
            "--agent",
            "first.agent.yaml",
        ],
        4,
        "BLUEPRINT_NOT_APPROVED",
    ),
];

/// Every verb of the program, as its own help tells them.
fn verbs(project: &Project, above: &[String]) -> Vec<Vec<String>> {
    let help = project.ambit(above.iter().map(String::as_str).chain(["--help"])).well().out;
    let Some((_, commands)) = help.split_once("\nCommands:\n") else { return vec![above.to_vec()] };
    let names = commands.lines().take_while(|line| !line.is_empty());
    let names =
        names.filter_map(|line| line.strip_prefix("  ")?.split(' ').next().filter(|name| !name.is_empty()));
    names
        .filter(|name| *name != "help")
        .flat_map(|name| verbs(project, &[above, &[name.to_owned()]].concat()))
        .collect()
}

#[track_caller]
fn assert_wrong(answered: &Answered, exit: i32, code: &str, what: &str) {
    assert!(answered.out.is_empty(), "{what}: {answered:?}");
    assert_eq!((answered.code_of_failure().as_str(), answered.code), (code, exit), "{what}");
}

// proves E-A10
// break crates/bins/ambit/src/verbs/revision.rs: `if verdict.run.is_none() && is_absent(context, services, revision).await {` -> `if false {`
// break crates/bins/ambit/src/failure.rs: `| "RUN_ENDED"` -> `| "RUN_OVER"`
#[test]
fn each_verb_answers_each_kind_of_mistake_with_the_code_of_the_table() {
    let project = Project::new();
    project.start("first", &diligent("finish")).well();
    let stopped = project.start("stopped", &transcript(PLAN, "finish"));
    assert_eq!(stopped.code, 3);
    kill(project.silent("open"));
    project.write("other.yaml", &diligent("finish").replace("name: tested", "name: other"));
    project.write("wrong.yaml", &blueprint("").replace("  goal: The greeter greets by name.\n", ""));
    project.write("forged.key", &project.forged_credential());
    project.write("fix.patch", FIX);
    let rows = ABSENT.iter().chain(FILES).chain(UNFIT);
    let mut tried: BTreeSet<Vec<String>> = BTreeSet::new();
    for (words, exit, code) in rows {
        // What stands behind `--` belongs to a command inside.
        let (own, inside) =
            words.split_at(words.iter().position(|word| *word == "--").unwrap_or(words.len()));
        let answered = project.ambit(own.iter().chain(&["--json"]).chain(inside));
        assert_wrong(&answered, *exit, code, &words.join(" "));
        let text = project.ambit(*words);
        assert_eq!((text.code, text.out.as_str()), (*exit, ""), "{words:?}: {text:?}");
        assert!(text.err.contains(&format!("error[{code}]: ")), "{words:?}: {text:?}");
        let verb = words.iter().take(2).map(|word| (*word).to_owned());
        tried.insert(if matches!(words[0], "approve" | "deny" | "man" | "init") {
            verb.take(1).collect()
        } else {
            verb.collect()
        });
    }
    let all = verbs(&project, &[]);
    assert!(all.len() > 30, "{all:?}");
    // What takes no name and no file cannot be mistaken in one.
    let plain = [
        "run list",
        "image list",
        "volume list",
        "image prune",
        "revision log",
        "trace list",
        "backend inspect",
        "backend probe",
        "sandbox scan",
        "tools list",
        "profile list",
        "schema list",
        "completion",
        "doctor",
        "grants",
        "approver list",
        "lab",
        "smoke",
    ];
    let untried: Vec<String> =
        all.iter().filter(|verb| !tried.contains(*verb)).map(|verb| verb.join(" ")).collect();
    assert!(untried.iter().all(|verb| plain.contains(&verb.as_str())), "no row tries {untried:?}");
}

#[test]
fn a_command_line_that_is_none_is_told_like_every_other_failure_and_obeyed_by_no_terminal() {
    let project = Project::empty();
    let escape = "\u{1b}[31mx\u{9b}2J\u{202e}";
    for verb in verbs(&project, &[]) {
        let ask = |more: &[&str]| project.ambit(verb.iter().map(String::as_str).chain(more.iter().copied()));
        for more in [&["--fly", "--json"][..], &["--json", "--fly"]] {
            assert_wrong(&ask(more), 2, "USAGE_UNKNOWN_ARGUMENT", &verb.join(" "));
        }
        let said = ask(&["--fly"]);
        assert!(
            said.code == 2
                && said.err.starts_with("error[USAGE_UNKNOWN_ARGUMENT]: unexpected argument '--fly'"),
            "{said:?}"
        );
        for json in [&["--json"][..], &[]] {
            let refused = ask(&[&["--org", escape], json].concat());
            assert_eq!((refused.code, refused.out.as_str()), (2, ""), "{refused:?}");
            let obeyed = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
            assert!(!refused.err.contains(obeyed), "{refused:?}");
            assert!(refused.err.contains("[31mx"), "{refused:?}");
        }
        assert_wrong(&ask(&["--org", escape, "--json"]), 2, "USAGE_VALUE", &verb.join(" "));
    }
    for (words, code) in [
        (&["run", "fly"][..], "USAGE_UNKNOWN_COMMAND"),
        (&["run"], "USAGE_MISSING_COMMAND"),
        (&["run", "show"], "USAGE_MISSING_ARGUMENT"),
        (&["run", "start", "--max-steps", "many"], "USAGE_VALUE"),
        (&["run", "start", "goal", "--backend", "oci:/bin/crun"], "USAGE_VALUE"),
        (&["backend", "inspect", "docker"], "USAGE_VALUE"),
        (&["oracle", "check", "--base", "app", "--protect", "../x", "fix.patch"], "USAGE_VALUE"),
        (&["sandbox", "run", "--image", "tools"], "USAGE_MISSING_ARGUMENT"),
        (&["sandbox", "run", "--image", "tools", "--pids", "0"], "USAGE_VALUE"),
        (&["sandbox", "run", "--image", "tools", "--env", "A"], "USAGE_VALUE"),
        (&["run", "start", "goal", "--base", "rev-0"], "USAGE_MISSING_ARGUMENT"),
        (&["run", "start", "goal", "--base", "rev-0", "--name", "named"], "USAGE_CONFLICT"),
        (&["revision", "export", "rev-0", "--branch", "a..b"], "USAGE_VALUE"),
        (&["revision", "export", "rev-0", "--onto", "main"], "USAGE_VALUE"),
        (&["revision", "export", "rev-0", "--author", "ada"], "USAGE_VALUE"),
    ] {
        let answered = project.ambit(words.iter().chain(&["--json"]));
        assert_wrong(&answered, 2, code, &words.join(" "));
        assert!(!answered.failure()["message"].as_str().unwrap().is_empty());
        let text = project.ambit(words).err;
        assert!(text.starts_with(&format!("error[{code}]: ")), "{words:?}: {text}");
    }
    let raw = OsString::from_vec(b"\xff\x1b".to_vec());
    let mut words: Vec<OsString> = ["run", "show", "--json"].map(OsString::from).to_vec();
    words.insert(2, raw);
    assert_wrong(&project.ambit(words), 2, "USAGE_ENCODING", "a name that is no text");
}

/// What people read where a document is wrong, and what programs do.
#[test]
fn every_problem_of_a_document_is_told_once_with_its_place() {
    let project = Project::empty();
    let wrong = blueprint("")
        .replace("maxModelSteps: 12", "maxModelStep: 12")
        .replace("stage: generate", "stage: deploy");
    project.write("wrong.yaml", &wrong);
    let text = project.ambit(["blueprint", "validate", "wrong.yaml"]);
    insta::assert_snapshot!("blueprint_problems", text.err);
    let told = project.ambit(["blueprint", "validate", "wrong.yaml", "--json"]).failure();
    insta::assert_snapshot!("blueprint_problems_json", format!("{told:#}"));
    project.write(
        "bare.yaml",
        &std::fs::read_to_string(project.path("catalog.yaml"))
            .unwrap()
            .replace("      resources:\n", "      resource:\n"),
    );
    let pinned = project.ambit(["catalog", "pin", "bare.yaml", "--image", "tools"]);
    insta::assert_snapshot!("catalog_pin_refused", pinned.err);
}
