//! A commit of a repository as a revision, in words.

use std::path::Path;
use std::process::Command;

use crate::rig::Project;

fn git(dir: &Path, words: &[&str]) -> String {
    let output = Command::new("git")
        .current_dir(dir)
        .args(["-c", "user.name=a", "-c", "user.email=a@example.com"])
        .args(words)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

#[test]
fn a_commit_is_imported_by_name_and_shown_again() {
    let project = Project::empty();
    let repository = project.path("repository");
    std::fs::create_dir(&repository).unwrap();
    git(&repository, &["init", "--quiet", "--initial-branch=main"]);
    std::fs::write(repository.join("file"), "committed\n").unwrap();
    git(&repository, &["add", "file"]);
    git(&repository, &["commit", "--quiet", "--message", "x"]);
    let directory = project.ambit(["revision", "import", "repository", "--json"]).well().json();
    std::fs::write(repository.join("file"), "not committed\n").unwrap();
    let commit = git(&repository, &["rev-parse", "main"]);

    for at in ["HEAD", "main", &commit[..7]] {
        let answer =
            project.ambit(["revision", "import", "--git", "repository", "--at", at, "--json"]).well().json();
        assert_eq!(answer["commit"], commit, "{at}");
        assert_eq!(answer["tree"], directory["tree"], "{at}");
        assert_eq!(answer["findings"], serde_json::json!([]));
        let revision = answer["revision"].as_str().unwrap();
        assert_eq!(project.ambit(["revision", "show", revision, "--json"]).well().json()["commit"], commit);
    }
    let first = directory["revision"].as_str().unwrap();
    assert_eq!(
        project.ambit(["revision", "show", first, "--json"]).well().json()["commit"],
        serde_json::Value::Null
    );

    git(&repository, &["update-index", "--add", "--cacheinfo", &format!("160000,{commit},lib")]);
    git(&repository, &["commit", "--quiet", "--message", "x"]);
    let refused = project.ambit(["revision", "import", "--git", "repository"]);
    assert_eq!((refused.code, refused.out.as_str()), (2, ""));
    assert!(refused.err.contains("IMPORT_SUBMODULE") && refused.err.contains("--without-submodules"));
    let left_out =
        project.ambit(["revision", "import", "--git", "repository", "--without-submodules", "--json"]).well();
    assert_eq!(left_out.json()["findings"][0]["path"], "lib");
    let wrong = project.ambit(["revision", "import", "--git", "repository", "--at", "HEAD~1"]);
    assert_eq!(wrong.code, 2, "{}", wrong.err);
    let absent = project.ambit(["revision", "import", "--git", "repository", "--at", "absent", "--json"]);
    assert_eq!((absent.code, absent.code_of_failure().as_str()), (11, "IMPORT_REVISION_NOT_FOUND"));
    let elsewhere = project.ambit(["revision", "import", "--git", "git@example.com:shop.git"]);
    assert!(elsewhere.code == 2 && elsewhere.err.contains("ssh://git@example.com/"), "{}", elsewhere.err);
    let lonely = project.ambit(["revision", "import", "--at", "main"]);
    assert!(lonely.code == 2 && lonely.err.contains("--git"), "{}", lonely.err);
    assert_eq!(project.ambit(["revision", "import", "repository", "--at", "main"]).code, 2);
    assert_eq!(project.ambit(["revision", "import"]).code, 2);
}

#[test]
fn a_commit_of_a_url_is_imported_through_a_mirror() {
    let project = Project::empty();
    let repository = project.path("repository");
    std::fs::create_dir(&repository).unwrap();
    git(&repository, &["init", "--quiet", "--initial-branch=main"]);
    let commits = ["one", "two", "three"].map(|content| {
        std::fs::write(repository.join("file"), content).unwrap();
        git(&repository, &["add", "file"]);
        git(&repository, &["commit", "--quiet", "--message", content]);
        git(&repository, &["rev-parse", "HEAD"])
    });
    git(&repository, &["checkout", "--quiet", "-b", "aside", &commits[0]]);
    git(&repository, &["commit", "--quiet", "--allow-empty", "--message", "aside"]);
    let aside = git(&repository, &["rev-parse", "HEAD"]);
    let url = format!("file://{}", repository.display());
    let import = |words: &[&str]| project.ambit(["revision", "import", "--git", &url].iter().chain(words));

    let abbreviated = import(&["--at", &commits[0][..9], "--json"]).well().json();
    assert_eq!(abbreviated["commit"], commits[0]);
    let local = project.ambit(["revision", "import", "--git", "repository", "--at", &commits[0], "--json"]);
    assert_eq!(abbreviated["tree"], local.well().json()["tree"]);
    let full = import(&["--at", &commits[1], "--json"]).well().json();
    assert_eq!(full["commit"], commits[1]);
    assert_ne!(full["tree"], abbreviated["tree"]);
    let branch = import(&["--at", &aside[..9], "--branch", "aside", "--json"]).well().json();
    assert_eq!((&branch["commit"], &branch["tree"]), (&aside.as_str().into(), &abbreviated["tree"]));
    // What was fetched once is there without the source.
    std::fs::rename(&repository, project.path("away")).unwrap();
    assert_eq!(import(&["--at", &commits[1], "--json"]).well().json()["tree"], full["tree"]);
    let unknown = "0123456789".repeat(4);
    let away = import(&["--at", &unknown]);
    assert!(away.code == 2 && away.err.contains("MIRROR_SOURCE_MISSING"), "{away:?}");
    std::fs::rename(project.path("away"), &repository).unwrap();

    for (words, code, told) in [
        (&["--at", "main"][..], 2, "MIRROR_COMMIT_MALFORMED"),
        (&[], 2, "MIRROR_COMMIT_MALFORMED"),
        (&["--at", &commits[2][..6]], 2, "MIRROR_COMMIT_MALFORMED"),
        (&["--at", &unknown], 11, "MIRROR_COMMIT_NOT_FOUND"),
        (&["--at", &unknown[..12]], 11, "MIRROR_COMMIT_NOT_FOUND"),
        (&["--at", &commits[2], "--branch", "a..b"], 2, "MIRROR_BRANCH_MALFORMED"),
    ] {
        let refused = import(words);
        assert_eq!((refused.code, refused.out.as_str()), (code, ""), "{words:?} {}", refused.err);
        assert!(refused.err.contains(told), "{words:?} {}", refused.err);
    }
    let words = ["revision", "import", "--git", "repository", "--at", "main", "--branch", "main"];
    let refused = project.ambit(words);
    assert_eq!((refused.code, refused.out.as_str()), (2, ""), "{}", refused.err);
}

/// A repository with one commit on `master`, and that commit.
fn committed(repository: &Path) -> String {
    std::fs::create_dir_all(repository).unwrap();
    git(repository, &["init", "--quiet", "--initial-branch=master"]);
    std::fs::write(repository.join("file"), "committed\n").unwrap();
    git(repository, &["add", "file"]);
    git(repository, &["commit", "--quiet", "--message", "x"]);
    git(repository, &["rev-parse", "HEAD"])
}

#[test]
fn what_cannot_be_imported_has_a_code_of_its_own_and_never_that_of_a_sandbox() {
    let project = Project::empty();
    let commit = committed(&project.path("a repository"));
    for dir in ["empty", "unborn", "forged"] {
        std::fs::create_dir(project.path(dir)).unwrap();
    }
    git(&project.path("unborn"), &["init", "--quiet"]);
    project.write("file", "x");
    project.write("forged/.git", "gitdir: ../a repository/.git\n");
    git(&project.path(""), &["clone", "--quiet", "--bare", "a repository", "bare"]);
    git(&project.path("a repository"), &["worktree", "add", "--quiet", "../linked"]);
    let url = |name: &str| format!("file://{}", project.path(name).display()).replace(' ', "%20");
    let import = |source: &str, at: &[&str]| {
        project.ambit([&["revision", "import", "--json", "--git", source][..], at].concat())
    };
    let at = ["--at", &commit[..8]];
    for (source, at, exit, code) in [
        ("none", &[][..], 2, "IMPORT_NOT_A_REPOSITORY"),
        ("empty", &[], 2, "IMPORT_NOT_A_REPOSITORY"),
        ("file", &[], 2, "IMPORT_NOT_A_REPOSITORY"),
        ("unborn", &[], 2, "IMPORT_NO_COMMIT"),
        ("forged", &[], 2, "IMPORT_REPOSITORY_ELSEWHERE"),
        ("bare", &["--at", "none"], 11, "IMPORT_REVISION_NOT_FOUND"),
        ("file:///none", &at, 2, "MIRROR_SOURCE_MISSING"),
        (&url("none"), &at, 2, "MIRROR_SOURCE_MISSING"),
        (&url("file"), &at, 2, "MIRROR_SOURCE_MISSING"),
        (&url("empty"), &at, 2, "MIRROR_SOURCE_NOT_A_REPOSITORY"),
        (&url("unborn"), &at, 11, "MIRROR_COMMIT_NOT_FOUND"),
        (&url("bare"), &["--at", "0123456"], 11, "MIRROR_COMMIT_NOT_FOUND"),
    ] {
        let refused = import(source, at);
        assert_eq!((refused.code, refused.code_of_failure().as_str()), (exit, code), "{source}: {refused:?}");
        assert_eq!(refused.out, "", "{source}");
    }
    // No branch of theirs is `main`.
    for source in ["a repository", "bare", "linked"] {
        assert_eq!(import(source, &[]).well().json()["commit"], commit, "{source}");
        assert_eq!(import(&url(source), &at).well().json()["commit"], commit, "{source}");
    }
}

#[test]
fn the_log_says_what_each_revision_came_from() {
    let project = Project::new();
    let commit = committed(&project.path("repository"));
    project.ambit(["revision", "import", "app"]).well();
    project.ambit(["revision", "import", "--git", "repository"]).well();
    project.start("named", &crate::rig::diligent("finish")).well();
    let log = project.ambit(["revision", "log"]).well().out;
    let told: Vec<String> = log.lines().rev().map(crate::stable::stable).collect();
    let short = commit.get(..12).unwrap();
    assert_eq!(
        told,
        [
            "rev-0              DIGEST  directory            imported".to_owned(),
            format!("rev-1              DIGEST  commit {}  imported", crate::stable::stable(short)),
            "rev-2    on rev-0  DIGEST  run named            preview-ready".to_owned(),
        ],
        "{log}"
    );
    assert!(log.contains(&format!("  commit {short}  ")), "{log}");
    let json = project.ambit(["revision", "log", "--json"]).well().json();
    let came: Vec<_> =
        json["revisions"].as_array().unwrap().iter().map(|it| it["cameFrom"].as_str().unwrap()).collect();
    assert_eq!(came, ["directory", "commit", "run"]);
    assert_eq!(json["revisions"][2]["name"], "named");
    let show = project.ambit(["revision", "show", "rev-1"]).well().out;
    assert!(show.contains(&format!("\ncommit {commit}\n")) && !show.contains("run "), "{show}");
}

#[test]
fn a_bundle_goes_on_from_the_commit_that_its_base_came_from() {
    let project = Project::empty();
    let repository = project.path("repository");
    std::fs::create_dir(&repository).unwrap();
    git(&repository, &["init", "--quiet", "--initial-branch=main"]);
    std::fs::write(repository.join("file"), "one\n").unwrap();
    git(&repository, &["add", "file"]);
    git(&repository, &["commit", "--quiet", "--message", "one"]);
    let commit = git(&repository, &["rev-parse", "HEAD"]);
    let base = project.ambit(["revision", "import", "--git", "repository", "--json"]).well().json();
    std::fs::create_dir(project.path("changed")).unwrap();
    project.write("changed/file", "two\n");
    let changed = project.ambit(["revision", "import", "changed", "--json"]).well().json();
    let [base, changed] = [&base, &changed].map(|answer| answer["revision"].as_str().unwrap());

    let export = |revision: &str, base: &str, out: &str| {
        let words =
            ["revision", "export", revision, "--base", base, "--as", "bundle", "--out", out, "--json"];
        project.ambit(words).well().json()
    };
    assert_eq!(export(changed, base, "on.bundle")["onto"], commit);
    git(&repository, &["fetch", "--quiet", "../on.bundle", &format!("ambit/{changed}")]);
    assert_eq!(git(&repository, &["rev-parse", "FETCH_HEAD~1"]), commit);
    assert_eq!(git(&repository, &["show", "FETCH_HEAD:file"]), "two");
    // A base that came from a directory is no commit.
    assert_eq!(export(base, changed, "apart.bundle")["onto"], serde_json::Value::Null);

    // Nor is one that lacks what the commit has.
    git(&repository, &["update-index", "--add", "--cacheinfo", &format!("160000,{commit},lib")]);
    git(&repository, &["commit", "--quiet", "--message", "with a submodule"]);
    let part = project.ambit(["revision", "import", "--git", "repository", "--without-submodules", "--json"]);
    let part = part.well().json();
    assert_eq!(
        export(changed, part["revision"].as_str().unwrap(), "part.bundle")["onto"],
        serde_json::Value::Null
    );
    let shown =
        project.ambit(["revision", "show", part["revision"].as_str().unwrap(), "--json"]).well().json();
    assert_eq!(shown["commit"], part["commit"]);
}

// proves E-H04
// break crates/bins/ambit/src/verbs/import_git.rs: `check_holds_no_credential(services.blobs.as_ref(), &context.scope, &imported.tree, kept).await?;` -> `let _ = (kept, check_holds_no_credential);`
#[test]
fn a_commit_that_holds_a_credential_makes_no_revision() {
    let project = Project::new();
    let key = std::fs::read_to_string(project.path("approver.key")).unwrap();
    let repository = project.path("repository");
    std::fs::create_dir(&repository).unwrap();
    git(&repository, &["init", "--quiet", "--initial-branch=main"]);
    let commit = |text: &str| {
        std::fs::write(repository.join("notes.txt"), text).unwrap();
        git(&repository, &["add", "notes.txt"]);
        git(&repository, &["commit", "--quiet", "--message", "x"]);
    };
    commit(&key);
    let refused = project.ambit(["revision", "import", "--git", "repository"]);
    assert!(refused.code == 2 && refused.err.contains("error[IMPORT_HOLDS_CREDENTIAL]"), "{refused:?}");
    assert!(refused.err.contains("notes.txt") && !refused.err.contains(key.trim()), "{refused:?}");
    // A text of the same length that is none makes one.
    commit(&key.replace("ambit-approver", "ambit_approver"));
    project.ambit(["revision", "import", "--git", "repository"]).well();
}
