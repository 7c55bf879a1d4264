//! A revision on its way into a repository of git.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::rig::{PLAN, Project, diligent, transcript};

fn git_in(dir: &Path, words: &[&str]) -> Output {
    Command::new("git")
        .current_dir(dir)
        .args(words)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", dir)
        .env("GIT_CEILING_DIRECTORIES", dir.parent().unwrap())
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_NAME"), "C")))
        .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_EMAIL"), "c@example.com")))
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

#[track_caller]
fn git(dir: &Path, words: &[&str]) -> String {
    let output = git_in(dir, words);
    assert!(output.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

// proves E-S11
// break crates/bins/ambit/src/verbs/revision/export.rs: `Mail { before: base, after: &self.tree, envelope: &self.envelope }` -> `Mail { before: &nothing, after: &self.tree, envelope: &self.envelope }`
#[test]
fn a_revision_is_taken_into_a_repository_by_whoever_wants_it() {
    if Command::new("git").arg("--version").output().is_err() {
        println!("skipped: GIT_ABSENT a_revision_is_taken_into_a_repository_by_whoever_wants_it");
        return;
    }
    let project = Project::new();
    let app = project.path("app");
    git(&app, &["init", "--quiet", "--initial-branch=main"]);
    git(&app, &["add", "--all"]);
    git(&app, &["commit", "--quiet", "--message", "base"]);
    let base = git(&app, &["rev-parse", "HEAD"]);
    let before = git(&app, &["for-each-ref"]);
    project.start("first", &diligent("finish")).well();
    let export = |words: &[&str]| {
        project.ambit(["revision", "export", "rev-1"].iter().chain(words).chain(&["--json"])).well().json()
    };
    let author = "Ada <ada@example.com>";
    let mail =
        export(&["--as", "mail", "--out", "fix.patch", "--author", author, "--message", "Greet by name"]);
    let bundle = export(&["--as", "bundle", "--out", "fix.bundle", "--onto", &base]);
    export(&["--as", "directory", "--out", "fix"]);
    assert_eq!((&mail["changedFiles"], &bundle["objects"]), (&1.into(), &3.into()), "{mail} {bundle}");
    let plain = project.ambit(["revision", "export", "rev-1", "--as", "mail", "--out", "-"]).well();
    assert!(plain.out.starts_with("From ") && plain.err.is_empty(), "{plain:?}");
    assert_eq!(git(&app, &["for-each-ref"]), before);
    assert_eq!(git(&app, &["status", "--porcelain"]), "");

    let clone = project.path("clone");
    git(project.dir.path(), &["clone", "--quiet", "app", "clone"]);
    git(&clone, &["am", "--quiet", "../fix.patch"]);
    git(&clone, &["fetch", "--quiet", "../fix.bundle", "ambit/rev-1:ambit/rev-1"]);
    assert_eq!(git(&clone, &["rev-parse", "HEAD^{tree}"]), git(&clone, &["rev-parse", "ambit/rev-1^{tree}"]));
    assert_eq!(git(&clone, &["rev-parse", "ambit/rev-1"]), bundle["commit"].as_str().unwrap());
    let exported = std::fs::read(project.path("fix/greet.sh")).unwrap();
    assert_eq!(std::fs::read(clone.join("greet.sh")).unwrap(), exported);
    let told = git(&clone, &["log", "-1", "--format=%an %s%n%(trailers:only)"]);
    let diff = project.ambit(["revision", "diff", "rev-0", "rev-1", "--json"]).well().json();
    let expected = format!(
        "Ada Greet by name\nAmbit-Revision: rev-1\nAmbit-Run: {}\nAmbit-Tree: {}\nAmbit-Patch: {}\nAmbit-Standing: preview-ready",
        project.show("first")["run"].as_str().unwrap(),
        mail["tree"].as_str().unwrap(),
        diff["digest"].as_str().unwrap(),
    );
    assert_eq!(told, expected);
    assert_eq!(git(&clone, &["log", "-1", "--format=%s", "ambit/rev-1"]), "The greeter greets by name.");
}

#[test]
fn what_did_not_pass_leaves_with_a_word_about_it() {
    let project = Project::new();
    assert_eq!(project.start("stopped", &transcript(PLAN, "finish")).code, 3);
    let words = ["revision", "export", "rev-1", "--as", "mail", "--base", "rev-0", "--out", "out"];
    let same = project.ambit(words.iter().chain(&["--json"]));
    assert_eq!(same.code_of_failure(), "EXPORT_NOTHING_CHANGED");
    assert!(!project.path("out").exists());
    let told = project.ambit(["revision", "export", "rev-1", "--as", "bundle", "--out", "out"]).well();
    assert!(told.err.starts_with("rev-1 is not preview-ready (ineligible: "), "{told:?}");
    let bundle = std::fs::read(project.path("out")).unwrap();
    assert!(bundle.starts_with(b"# v2 git bundle\n"), "{told:?}");
}

#[test]
fn a_mail_that_cannot_be_whole_does_not_begin() {
    let project = Project::empty();
    for dir in ["nothing", "full"] {
        std::fs::create_dir(project.path(dir)).unwrap();
        project.ambit(["revision", "import", dir]).well();
    }
    // Sorted behind a file that a mail takes stands a link that it does not.
    std::fs::create_dir(project.path("full/b")).unwrap();
    std::fs::write(project.path("full/a"), "text\n").unwrap();
    project.ambit(["revision", "import", "full"]).well();
    let mail = ["--base", "rev-0", "--as", "mail", "--out", "-"];
    let taken = project.ambit(["revision", "export", "rev-2"].iter().chain(&mail)).well();
    assert!(taken.out.ends_with("+text\n"), "{taken:?}");
    std::os::unix::fs::symlink("a", project.path("full/b/.gitmodules")).unwrap();
    project.ambit(["revision", "import", "full"]).well();
    let refused = project.ambit(["revision", "export", "rev-3"].iter().chain(&mail));
    assert_eq!((refused.code, refused.out.as_str()), (2, ""));
    assert!(refused.err.contains("EXPORT_PATH_REFUSED"), "{refused:?}");
}
