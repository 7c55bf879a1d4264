use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::rig::{Answered, Project, diligent};

/// A tar of what the image of these tests holds, and one file more.
fn packed(project: &Project) -> String {
    let listed = project.ambit(["image", "list", "--json"]).well().json();
    let tools = listed["images"].as_array().unwrap().iter().find(|image| image["name"] == "tools").unwrap();
    let digest = tools["digest"].as_str().unwrap().replace(':', "-");
    let rootfs = project.home().join("images").join(digest).join("rootfs");
    project.write("marked", "an image of somebody else\n");
    let tar = project.path("rootfs.tar");
    let made = Command::new("tar")
        .args(["--create", "--file"])
        .arg(&tar)
        .arg("--directory")
        .arg(&rootfs)
        .arg(".")
        .arg("--directory")
        .arg(project.path(""))
        .arg("./marked")
        .status();
    assert!(made.unwrap().success());
    tar.into_os_string().into_string().unwrap()
}

#[test]
fn a_run_has_its_gates_in_an_image_that_was_imported() {
    let project = Project::new();
    let source = packed(&project);
    let name = format!("imported-{}", project.name);
    let imported = project.ambit(["image", "import", "--json", "--name", &name, &source]).well().json();
    let digest = imported["image"]["digest"].as_str().unwrap().to_owned();
    assert_eq!(imported["origin"]["format"], "rootfs-tar");
    let again = project.ambit(["image", "import", "--json", "--name", &name, &source]).well().json();
    assert_eq!(
        (&again["reused"], &again["image"]["digest"]),
        (&Value::Bool(true), &imported["image"]["digest"])
    );

    project.write("catalog.yaml", &pinned(&project, &digest));
    project.start("first", &diligent("finish")).well();
    let shown = project.ambit(["image", "show", "--json", &name]).well().json();
    assert_eq!(shown["catalogs"][0]["name"], "named-commands");
    assert_eq!(shown["origin"]["imported"]["source"], "rootfs.tar");

    let narrow = |words: &[&str]| {
        let output = project.command(words).env("COLUMNS", "80").output().unwrap();
        Answered::of(output).well().out
    };
    let page = narrow(&["image", "show", &digest]);
    for part in
        [&digest, &name, "came from    rootfs.tar, tar of a root file system", "named-commands v3", "grep"]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
    let verified = narrow(&["image", "verify", &name]);
    assert!(verified.starts_with("ok       sha256:"), "{verified}");
    for page in [page, verified, narrow(&["image", "import", "--name", &name, &source])] {
        assert!(page.lines().all(|line| line.chars().count() <= 80), "{page}");
    }
}

#[test]
fn what_is_wrong_with_a_source_or_a_name_is_told_by_its_code() {
    let project = Project::empty();
    project.write("text", "no archive");
    for (words, code, exit) in [
        (vec!["import", "--name", "a", "text"], "IMAGE_ARCHIVE_DAMAGED", 2),
        (vec!["import", "--name", "a", "app"], "IMAGE_SOURCE_UNFIT", 2),
        (vec!["import", "--name", "a", "absent"], "IMAGE_SOURCE_UNREADABLE", 1),
        (vec!["show", "no-such-image"], "IMAGE_NOT_FOUND", 11),
        (vec!["verify", "a b"], "IMAGE_NOT_FOUND", 11),
    ] {
        let answered = project.ambit(["image", "--json"].into_iter().chain(words.clone()));
        assert_eq!(answered.code, exit, "{words:?}: {answered:?}");
        assert!(answered.err.contains(&format!("\"code\": \"{code}\"")), "{words:?}: {answered:?}");
    }
    let wrong = project.ambit(["image", "import", "--name", "a", "--platform", "linux", "text"]);
    assert_eq!(wrong.code, 2, "{wrong:?}");
}

#[test]
fn an_altered_image_is_refuted_and_only_what_no_project_needs_is_pruned() {
    let (project, home) = (Project::empty(), TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap());
    let ambit = |words: &[&str]| {
        Answered::of(project.command(words).env("AMBIT_HOME", home.path()).output().unwrap())
    };
    let capture = |name: &str, tools: &[&str]| {
        let words = [&["image", "capture", "--json", "--name", name][..], tools].concat();
        ambit(&words).well().json()["image"]["digest"].as_str().unwrap().to_owned()
    };
    let needed = capture("tools", &["sh"]);
    project.write("needed.yaml", &pinned(&project, &needed));
    ambit(&["--project", "another", "catalog", "register", "needed.yaml"]).well();
    let unnamed = capture("tools", &["sh", "cat"]);
    let named = capture("tools", &["sh", "head"]);
    let rows = |answered: Answered| -> Vec<String> {
        let removed = answered.well().json()["removed"].as_array().unwrap().clone();
        removed.iter().map(|image| image["digest"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(rows(ambit(&["image", "prune", "--dry-run", "--json"])), std::slice::from_ref(&unnamed));
    let asked = ambit(&["image", "prune"]);
    assert_eq!(asked.code, 2, "{asked:?}");
    assert!(asked.err.contains("USAGE_NOT_CONFIRMED") && asked.err.contains("--yes"), "{asked:?}");
    assert_eq!(rows(ambit(&["image", "prune", "--yes", "--json"])), [unnamed]);
    assert_eq!(rows(ambit(&["image", "prune", "--yes", "--json"])), Vec::<String>::new());

    ambit(&["image", "verify", "--all"]).well();
    let rootfs = home.path().join("images").join(named.replace(':', "-")).join("rootfs");
    alter(&rootfs.join("etc/hosts"));
    let verified = ambit(&["image", "verify"]);
    assert_eq!(verified.code, 10, "{verified:?}");
    assert!(verified.out.contains(&format!("ALTERED  {named}")), "{verified:?}");
    assert!(verified.out.contains(&format!("ok       {needed}")), "{verified:?}");

    assert_eq!(rows(ambit(&["image", "prune", "--unused", "--yes", "--json"])), [named]);
    assert_eq!(ambit(&["image", "verify", &needed]).code, 0, "another project's catalog names it");
    let _ = Command::new("chmod").args(["-R", "u+w"]).arg(home.path()).status();
}

fn pinned(project: &Project, image: &str) -> String {
    let catalog = fs::read_to_string(project.path("catalog.yaml")).unwrap();
    let line = catalog.lines().find(|line| line.contains("image: sha256:")).unwrap();
    catalog.replace(line, &format!("      image: {image}"))
}

fn alter(file: &Path) {
    use std::os::unix::fs::PermissionsExt as _;

    fs::set_permissions(file, fs::Permissions::from_mode(0o644)).unwrap();
    fs::write(file, "127.0.0.1 elsewhere\n").unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(0o444)).unwrap();
}
