//! Repositories that would have something executed.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use ambit_git_import::{Finding, ImportOptions, Submodules};

use crate::world::{World, is_git_here, listed};

#[test]
fn nothing_in_a_repository_gets_itself_executed() {
    if !is_git_here("nothing_in_a_repository_gets_itself_executed") {
        return;
    }
    let world = World::new();
    world.file("a.txt", "one\r\ntwo\r\n");
    world.file("b.txt", "$Id$\n");
    world.commit();
    let commit = world.commit();
    let (trap, marker) = (world.home().join("trap"), world.home().join("marker"));
    fs::write(&trap, format!("#!/bin/sh\necho caught >> '{}'\ncat\n", marker.display())).unwrap();
    fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).unwrap();
    let (command, home) = (trap.display(), world.home().display());
    fs::write(
        world.path(".git/config"),
        format!(
            "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tfsmonitor = {command}\n\tsshCommand = {command}\n\
             \tpager = {command}\n\thooksPath = {home}/hooks\n\tworktree = {home}/away\n\tautocrlf = true\n\
             \talternateRefsCommand = {command}\n\tgitProxy = {command}\n\teditor = {command}\n\
             [filter \"x\"]\n\tclean = {command}\n\tsmudge = {command}\n\trequired = true\n\
             [include]\n\tpath = {home}/included\n[diff]\n\texternal = {command}\n[uploadpack]\n\
             \tpackObjectsHook = {command}\n[remote \"origin\"]\n\turl = ext::{command}\n\tpromisor = true\n\
             [extensions]\n\tpartialClone = origin\n[alias]\n\tlog = !{command}\n[credential]\n\thelper = {command}\n"
        ),
    )
    .unwrap();
    fs::write(world.path(".git/info/attributes"), "* filter=x ident text eol=crlf\n").unwrap();
    for hooks in [world.home().join("hooks"), world.path(".git/hooks")] {
        fs::create_dir_all(&hooks).unwrap();
        for hook in ["post-checkout", "post-index-change", "reference-transaction", "pre-auto-gc"] {
            fs::copy(&trap, hooks.join(hook)).unwrap();
        }
    }
    fs::create_dir_all(world.home().join("away")).unwrap();

    // Whoever runs git in it is caught.
    let _ =
        crate::world::git(&world.dir()).args(["checkout", "--force", "HEAD", "--", "."]).output().unwrap();
    assert!(fs::read_to_string(&marker).unwrap().contains("caught"));
    fs::remove_file(&marker).unwrap();

    let imported = world.import("HEAD").unwrap();
    assert_eq!(imported.commit.to_string(), commit);
    assert_eq!(world.content(&imported.tree, b"a.txt"), b"one\r\ntwo\r\n");
    assert_eq!(world.content(&imported.tree, b"b.txt"), b"$Id$\n");
    assert!(!marker.exists());
}

#[test]
fn a_configuration_that_git_cannot_read_is_not_read() {
    if !is_git_here("a_configuration_that_git_cannot_read_is_not_read") {
        return;
    }
    let world = World::new();
    world.file("a", "x");
    world.commit();
    let whole = world.import("HEAD").unwrap();
    fs::write(world.path(".git/config"), "[core\nbroken").unwrap();
    assert!(!crate::world::git(&world.dir()).args(["rev-parse", "HEAD"]).output().unwrap().status.success());
    assert_eq!(world.import("HEAD").unwrap(), whole);
}

#[test]
fn a_submodule_is_refused_or_left_out_and_told() {
    if !is_git_here("a_submodule_is_refused_or_left_out_and_told") {
        return;
    }
    let world = World::new();
    world.file("a", "x");
    let commit = world.commit();
    world.file(
        ".gitmodules",
        "[submodule \"x\"]\n\tpath = lib/x\n\turl = ext::sh -c true\n\tupdate = !true\n",
    );
    world.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{commit},lib/x")]);
    world.git(&["add", ".gitmodules"]);
    world.git(&["commit", "--quiet", "--message", "x"]);
    let (code, text) = world.refusal("HEAD");
    assert_eq!(code, "IMPORT_SUBMODULE");
    assert!(text.contains("lib/x") && text.contains(&commit), "{text}");
    let options = ImportOptions { submodules: Submodules::LeftOut, ..ImportOptions::default() };
    let imported = world.import_with("HEAD", options).unwrap();
    assert_eq!(listed(&imported.tree), ["file .gitmodules", "file a"]);
    let [Finding::Submodule { path, commit: named }] = imported.findings.as_slice() else {
        panic!("{:?}", imported.findings)
    };
    assert_eq!((path.to_string(), named.to_string()), ("lib/x".to_owned(), commit));
}

#[test]
fn importing_leaves_a_repository_as_it_was() {
    if !is_git_here("importing_leaves_a_repository_as_it_was") {
        return;
    }
    let world = World::new();
    world.file("dir/a", "x");
    world.commit();
    world.git(&["repack", "-adq"]);
    world.file("b", "y");
    world.commit();
    let before = stamps(&world.dir());
    assert!(before.len() > 20, "{}", before.len());
    for at in ["HEAD", "main", "none"] {
        let _ = world.import(at);
    }
    assert_eq!(stamps(&world.dir()), before);
    world.git(&["update-index", "--force-write-index"]);
    assert_ne!(stamps(&world.dir()), before, "a write shows");
}

/// Every entry below a directory, with everything that a write would change.
fn stamps(dir: &Path) -> Vec<(PathBuf, u64, u64, i64, i64)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let about = fs::symlink_metadata(&path).unwrap();
        if about.is_dir() {
            found.extend(stamps(&path));
        }
        found.push((path, about.ino(), about.len(), about.ctime(), about.ctime_nsec()));
    }
    found.sort();
    found
}
