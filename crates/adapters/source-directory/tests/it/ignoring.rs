//! What `.gitignore` files leave out.

use std::fs;

use ambit_source_directory::IgnoreFiles;

use crate::world::{World, everything, listed};

fn project(files: &[(&str, &str)]) -> World {
    let world = World::new();
    for (name, content) in files {
        world.file(name, content);
    }
    world
}

// proves E-G01
// break crates/adapters/source-directory/src/walk.rs: `self.left_out.ignored += 1;` -> `self.left_out.ignored += 2;`
#[test]
fn what_a_build_makes_is_left_out_and_counted_once() {
    let world = project(&[
        (".gitignore", "target/\n__pycache__\n/packages\n*.log\n!keep.log\n"),
        ("src/main.rs", "fn main() {}"),
        ("src/__pycache__/a.pyc", "x"),
        ("target/debug/deps/a", "x"),
        ("target/debug/deps/b", "x"),
        ("packages/left-pad/index.js", "x"),
        ("web/packages/kept.js", "x"),
        ("build.log", "x"),
        ("keep.log", "x"),
        ("src/target", "a file, and the rule is about directories"),
    ]);
    let imported = world.import().unwrap();
    assert_eq!(
        listed(&imported.tree),
        [
            "file .gitignore",
            "file keep.log",
            "file src/main.rs",
            "file src/target",
            "file web/packages/kept.js"
        ]
    );
    assert_eq!(imported.ignored, 4);
    let all = world.import_with(everything()).unwrap();
    assert_eq!((all.entries, all.ignored), (10, 0));
    assert_eq!(everything().ignore_files, IgnoreFiles::Disregarded);
}

#[test]
fn what_was_installed_and_says_so_is_left_out_without_a_rule() {
    let tag = "Signature: 8a477f597d28d172789f06886806bc55\n# made by a build\n";
    let world = project(&[
        ("a.py", "x"),
        ("node_modules/left-pad/index.js", "x"),
        ("web/node_modules/left-pad/index.js", "x"),
        (".venv/pyvenv.cfg", "home = /usr/bin\n"),
        (".venv/lib/site-packages/a.py", "x"),
        ("out/CACHEDIR.TAG", tag),
        ("out/debug/a", "x"),
        ("untagged/CACHEDIR.TAG", "no signature"),
        ("kept/pyvenv.cfg/a", "a directory, and no mark"),
        ("kept/node_modules", "a file"),
    ]);
    let imported = world.import().unwrap();
    assert_eq!(
        listed(&imported.tree),
        ["file a.py", "file kept/node_modules", "file kept/pyvenv.cfg/a", "file untagged/CACHEDIR.TAG"]
    );
    assert_eq!(imported.ignored, 4);
    let all = world.import_with(everything()).unwrap();
    assert_eq!((all.entries, all.ignored), (10, 0));
}

#[test]
fn a_file_nearer_to_a_place_has_the_last_word() {
    let world = project(&[
        (".gitignore", "*.txt\nsecret\n"),
        ("a.txt", "x"),
        ("docs/.gitignore", "!*.txt\n/only-here\n"),
        ("docs/a.txt", "x"),
        ("docs/only-here", "x"),
        ("docs/sub/only-here", "x"),
        ("docs/sub/.gitignore", "a.txt\n"),
        ("docs/sub/a.txt", "x"),
        ("docs/sub/b.txt", "x"),
        ("secret/.gitignore", "!*\n"),
        ("secret/key", "x"),
        ("sibling/only-here", "x"),
    ]);
    assert_eq!(
        listed(&world.import().unwrap().tree),
        [
            "file .gitignore",
            "file docs/.gitignore",
            "file docs/a.txt",
            "file docs/sub/.gitignore",
            "file docs/sub/b.txt",
            "file docs/sub/only-here",
            "file sibling/only-here"
        ]
    );
}

#[test]
fn what_is_above_the_directory_has_no_say() {
    let world = project(&[("a", "x")]);
    fs::write(world.home().join(".gitignore"), "*\n").unwrap();
    fs::create_dir(world.home().join(".git")).unwrap();
    assert_eq!(listed(&world.import().unwrap().tree), ["file a"]);
}

#[test]
fn a_gitignore_that_is_no_file_holds_no_rules() {
    let world = project(&[("a", "x"), ("dir/.gitignore/a", "x"), ("dir/b", "x")]);
    fs::write(world.home().join("rules"), "*\n").unwrap();
    world.link(".gitignore", "../rules");
    assert_eq!(
        listed(&world.import().unwrap().tree),
        ["link .gitignore", "file a", "file dir/.gitignore/a", "file dir/b"]
    );
}

#[test]
fn rules_without_measure_are_refused() {
    let world = project(&[("dir/a", "x")]);
    world.file("dir/.gitignore", "#".repeat(256 << 10));
    assert!(world.import().is_ok());
    world.file("dir/.gitignore", "#".repeat((256 << 10) + 1));
    let (code, message) = world.refusal();
    assert_eq!(code, "IMPORT_IGNORE_FILE_TOO_LARGE");
    assert!(message.starts_with("dir/.gitignore has more than 256 KiB"), "{message}");
    world.file("dir/.gitignore", "a\n".repeat(8_193));
    let (code, message) = world.refusal();
    assert_eq!(code, "IMPORT_TOO_MANY_IGNORE_RULES");
    assert!(message.starts_with("dir/.gitignore and those above it have more than 8192 rules"), "{message}");
}

#[test]
fn rules_that_are_made_to_take_long_do_not() {
    let hard = "*a".repeat(100) + "b";
    let world = project(&[(".gitignore", &format!("{hard}\n").repeat(50))]);
    for at in 0..200 {
        world.file(format!("{}{at}", "a".repeat(200)), "x");
    }
    let started = std::time::Instant::now();
    assert_eq!(world.import().unwrap().entries, 201);
    // 10,000 matches of 200 bytes and 200 stars. One of them would outlast any test where each star is tried in turn.
    assert!(started.elapsed().as_secs() < 60);
}
