//! Two revisions side by side, as people and programs get to see them.

use std::fs::File;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::rig::{Answered, FIX, GATE, PLAN, Project, patch, transcript};
use crate::stable::stable;

/// A patch that does not make the gate pass.
const WRONG: &str =
    "--- a/greet.sh\n+++ b/greet.sh\n@@ -1,2 +1,2 @@\n #!/bin/sh\n-echo hello\n+echo \"hello, $1\"\n";

/// rev-1 from a run whose gate failed, and rev-2 from one whose gate passed, both on rev-0.
fn failed_and_passed() -> Project {
    let project = Project::new();
    let agent = |patched: &str| transcript(&[PLAN, &patch(patched, ""), GATE].concat(), "finish");
    let failed = project.start("failed", &agent(WRONG));
    assert_eq!(failed.code, 3, "{failed:?}");
    project.start("passed", &agent(FIX)).well();
    project
}

// proves E-G03
// break crates/bins/ambit/src/verbs/revision/diff/page.rs: `cases.sort_by_key(|case| case.change);` -> `cases.clear();`
#[test]
fn a_gate_that_passes_again_and_what_that_speaks_for_are_told_and_so_is_the_loss() {
    let project = failed_and_passed();
    let at = |columns: &str, words: &[&str]| {
        let mut command = project.command(words);
        Answered::of(command.env("COLUMNS", columns).output().unwrap()).well().out
    };
    insta::assert_snapshot!("compared_gained", stable(&at("140", &["revision", "diff", "rev-1", "rev-2"])));
    insta::assert_snapshot!("compared_lost_80", stable(&at("80", &["revision", "diff", "rev-2", "rev-1"])));
    let mut lost = project.ambit(["revision", "diff", "rev-2", "rev-1", "--json"]).well().json();
    for side in ["before", "after"] {
        let took = lost["gates"][0][side]["newest"]["durationMs"].take();
        assert!(took.is_u64(), "{took}");
    }
    insta::assert_snapshot!("compared_lost_json", stable(&format!("{lost:#}\n")));

    let gained = project.ambit(["revision", "diff", "rev-1", "rev-2", "--json"]).well().json();
    assert_eq!(
        (&gained["gates"][0]["change"], &gained["acceptance"][0]["change"]),
        (&"gained".into(), &"gained".into())
    );
    assert_eq!(
        gained["relation"],
        serde_json::json!({"beforeIs": "sibling", "between": null, "common": "rev-0"})
    );
    let command = at("140", &["revision", "diff", "rev-1", "rev-2"]);
    let command =
        command.lines().find_map(|line| line.split_once("ambit ")).map(|(_, command)| command).unwrap();
    let shown = project.ambit(command.split_whitespace().skip_while(|word| *word != "gate"));
    assert!(shown.well().out.contains("FAIL: greet"), "the command that is told shows what the gate said");
}

/// Two directories that differ in all that files can differ in.
fn two_imports(project: &Project) {
    let write = |path: &str, bytes: &[u8]| {
        let path = project.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    };
    for dir in ["one", "two"] {
        let is_new = dir == "two";
        write(&format!("{dir}/{}", if is_new { "docs/moved.md" } else { "moved.md" }), b"# Title\n");
        write(&format!("{dir}/latin.txt"), if is_new { b"gr\xfc\xdfe\n" } else { b"gru\xdfe\n" });
        write(&format!("{dir}/run me.sh"), b"#!/bin/sh\n");
        let mode = if is_new { 0o755 } else { 0o644 };
        let script = project.path(&format!("{dir}/run me.sh"));
        std::fs::set_permissions(script, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    write("one/gone", b"no line feed");
    write("two/new", b"a\nb\n");
    project.ambit(["revision", "import", "one"]).well();
    project.ambit(["revision", "import", "two"]).well();
}

#[test]
fn the_patch_is_exact_and_leads_from_the_one_to_the_other() {
    let project = Project::empty();
    two_imports(&project);
    let raw = |words: &[&str]| project.command(words).output().unwrap();
    let patch = raw(&["revision", "diff", "rev-0", "rev-1", "--patch"]).stdout;
    assert!(patch.windows(5).any(|bytes| bytes == b"gr\xfc\xdfe"), "not one byte is another");
    std::fs::write(project.path("exact.patch"), &patch).unwrap();
    let applied =
        Command::new("git").args(["apply", "../exact.patch"]).current_dir(project.path("one")).output();
    let applied = applied.unwrap();
    assert!(applied.status.success(), "{}", String::from_utf8_lossy(&applied.stderr));
    project.ambit(["revision", "import", "one"]).well();
    let none = project.ambit(["revision", "diff", "rev-1", "rev-2", "--json"]).well().json();
    assert_eq!((&none["files"], &none["patch"]), (&serde_json::json!([]), &"".into()), "{none}");
    assert_eq!(raw(&["revision", "diff", "rev-1", "rev-2", "--patch"]).stdout, b"");

    // A page leaves out what a terminal has no room for, so nothing may take it for the patch.
    let page = raw(&["revision", "diff", "rev-0", "rev-1"]).stdout;
    std::fs::write(project.path("page"), page).unwrap();
    let refused = Command::new("git").args(["apply", "../page"]).current_dir(project.path("two")).output();
    assert!(!refused.unwrap().status.success());
}

#[test]
fn revisions_that_were_imported_have_no_gates_and_are_told_so() {
    let project = Project::empty();
    two_imports(&project);
    let page = project.ambit(["revision", "diff", "rev-0", "rev-1"]).well().out;
    insta::assert_snapshot!("compared_imports", stable(&page));
    let stat = project.ambit(["revision", "diff", "rev-0", "rev-1", "--stat"]).well().out;
    assert!(page.starts_with(&stat) && !stat.contains("  | "), "{stat}");
    let json: Value = project.ambit(["revision", "diff", "rev-0", "rev-1", "--stat", "--json"]).well().json();
    assert_eq!((&json["gates"], &json["acceptance"]), (&serde_json::json!([]), &serde_json::json!([])));
    assert!(json["patch"].is_null() && json["totals"]["filesRenamed"] == 1, "{json}");
    let both = project.ambit(["revision", "diff", "rev-0", "rev-1", "--stat", "--patch"]);
    assert_eq!((both.code, both.out.as_str()), (2, ""), "{both:?}");
}

/// What cannot be written whole is no answer, unless whoever reads it went away.
#[test]
fn an_answer_that_cannot_be_written_is_told_as_none() {
    let project = Project::empty();
    two_imports(&project);
    let compare = ["revision", "diff", "rev-0", "rev-1"];
    for words in
        [&compare[..], &["revision", "diff", "rev-0", "rev-1", "--patch"], &["profile", "list", "--json"]]
    {
        let ask = |stdout: Stdio| {
            let mut command = project.command(words);
            Answered::of(command.stdout(stdout).stderr(Stdio::piped()).output().unwrap())
        };
        let lost = ask(File::options().write(true).open("/dev/full").unwrap().into());
        assert_eq!((lost.code, lost.out.as_str()), (1, ""), "{words:?} {lost:?}");
        assert!(
            lost.err.contains("OUTPUT_UNWRITABLE") && lost.err.contains("ask again"),
            "{words:?} {lost:?}"
        );
        if words.contains(&"--json") {
            let told: Value = serde_json::from_str(&lost.err).unwrap();
            assert_eq!(told["error"]["code"], "OUTPUT_UNWRITABLE", "{told}");
        }
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let unread = ask(writer.into());
        assert_eq!((unread.code, unread.err.as_str()), (0, ""), "{words:?} {unread:?}");
    }
}
