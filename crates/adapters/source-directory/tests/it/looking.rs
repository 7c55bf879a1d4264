//! What is told of a directory without keeping it, and what is read of it.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::sync::atomic::AtomicBool;

use ambit_ids::RepoPath;
use ambit_revision::tree::EntryName;
use ambit_revision::{FileKind, Listing, Sight};
use ambit_source_directory::{
    ExportError, ImportError, ImportOptions, Looked, SourceFiles, look, measure, write_new,
};

use crate::world::{World, everything, listed};

/// What was seen, each listing as `DIRECTORY/NAME SIGHT` and sorted.
fn told(looked: &Looked) -> Vec<String> {
    let line = |directory: &Option<RepoPath>, (name, sight): &(EntryName, Sight)| {
        let above = directory.as_ref().map(|directory| format!("{directory}/")).unwrap_or_default();
        let sight = match sight {
            Sight::Read(file) if file.kind == FileKind::Link => "link",
            Sight::Read(_) => "read",
            Sight::Unread => "unread",
            Sight::Directory => "directory",
        };
        format!("{above}{} {sight}", name.as_bytes().escape_ascii())
    };
    let lines = |Listing { directory, entries }: &Listing| {
        entries.iter().map(|entry| line(directory, entry)).collect::<Vec<_>>()
    };
    let mut told: Vec<String> = looked.listings.iter().flat_map(lines).collect();
    told.sort();
    told
}

fn paths(paths: &[&str]) -> BTreeSet<RepoPath> {
    paths.iter().map(|path| path.parse().unwrap()).collect()
}

#[test]
fn only_the_directories_on_the_way_are_listed_and_only_the_files_at_the_paths_are_read() {
    let world = World::new();
    for name in ["a.txt", "src/one.rs", "src/two.rs", "src/deep/three.rs", "doc/page.md", ".git/config"] {
        world.file(name, name);
    }
    world.link("src/link", "/etc");
    world.file("src/closed/x", "x");
    let closed = |mode: u32| {
        for name in ["src/two.rs", "src/closed", "doc"] {
            fs::set_permissions(world.path(name), fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    closed(0o000);
    let looked = look(
        &world.dir(),
        &paths(&["src/one.rs", "src/link/passwd", "new/file", "src/deep"]),
        ImportOptions::default(),
    );
    closed(0o755);
    assert_eq!(
        told(&looked.unwrap()),
        [
            "a.txt unread",
            "doc directory",
            "src directory",
            "src/closed directory",
            "src/deep directory",
            "src/link link",
            "src/one.rs read",
            "src/two.rs unread",
        ]
    );
}

#[test]
fn what_an_import_leaves_out_is_not_there() {
    let world = World::new();
    world.file(".gitignore", "made\n*.log\n");
    world.file("src/.gitignore", "!kept.log\n");
    for name in ["made/x", "a.log", "src/kept.log", "src/b.log", "node_modules/m/index.js"] {
        world.file(name, "x");
    }
    let wanted = paths(&["made/x", "a.log", "src/kept.log", "src/b.log", "node_modules/m/index.js"]);
    let looked = look(&world.dir(), &wanted, ImportOptions::default()).unwrap();
    assert_eq!(
        told(&looked),
        [".gitignore unread", "src directory", "src/.gitignore unread", "src/kept.log read"]
    );
    let all = look(&world.dir(), &wanted, everything()).unwrap();
    assert_eq!(told(&all).iter().filter(|line| line.ends_with(" read")).count(), 5);
}

#[test]
fn what_cannot_be_a_file_is_refused_where_it_is_asked_for() {
    let world = World::new();
    world.file("plain", "x");
    fs::File::create(world.path("large")).unwrap().set_len(1 << 30).unwrap();
    let socket = std::os::unix::net::UnixListener::bind(world.path("socket")).unwrap();
    let ask = |path: &str| look(&world.dir(), &paths(&[path]), everything());
    assert!(ask("plain").is_ok());
    assert!(matches!(ask("socket"), Err(ImportError::SpecialFile { .. })));
    assert!(matches!(ask("large"), Err(ImportError::FileTooLarge { .. })));
    drop(socket);
    symlink(world.dir(), world.home().join("link")).unwrap();
    let linked = look(&world.home().join("link"), &paths(&["plain"]), everything());
    assert!(matches!(linked, Err(ImportError::NotADirectory { .. })));
}

#[test]
fn a_directory_measures_as_it_imports_and_is_written_as_it_is() {
    let world = World::new();
    world.file(".gitignore", "out\n");
    world.file("out/x", "x");
    world.file("large", vec![b'x'; 3 << 20]);
    world.file("empty", "");
    world.executable("run.sh", 0o755);
    world.link("link", "nowhere");
    let before = world.snapshot();
    let (measured, imported) =
        (measure(&world.dir(), ImportOptions::default()).unwrap(), world.import().unwrap());
    assert_eq!(measured.tree, imported.tree);
    assert_eq!((measured.skipped_git, measured.ignored), (imported.skipped_git, imported.ignored));
    let mut files = SourceFiles::open(&world.dir()).unwrap();
    let mut content = |path: &RepoPath, file: &_| files.read(path, file).map_err(ExportError::Source);
    let mut write = |name: &str, stopped: bool| {
        let out = world.home().join(name);
        write_new(&measured.tree, &out, &world.dir(), &mut content, &AtomicBool::new(stopped))
    };
    write("copy", false).unwrap();
    assert!(matches!(write("stopped", true), Err(ExportError::Interrupted)));
    assert!(matches!(write("copy", false), Err(ExportError::Exists { .. })));
    assert!(matches!(write("project/copy", false), Err(ExportError::WithinSource { .. })));
    let copy = measure(&world.home().join("copy"), everything()).unwrap();
    assert_eq!(listed(&copy.tree), listed(&measured.tree));
    assert_eq!(copy.tree, measured.tree);
    fs::remove_dir_all(world.home().join("copy")).unwrap();
    assert_eq!(world.snapshot(), before, "nothing else was touched");
}

#[test]
fn a_file_that_is_not_any_more_what_was_measured_is_not_read() {
    let world = World::new();
    world.file("d/file", "one\n");
    let tree = measure(&world.dir(), everything()).unwrap().tree;
    let (path, file) = tree.files().next().unwrap();
    let read = || SourceFiles::open(&world.dir()).unwrap().read(&path, file);
    assert_eq!(read().unwrap(), b"one\n");
    world.file("d/file", "two\n");
    assert!(matches!(read(), Err(ImportError::Changed { .. })));
    fs::rename(world.path("d"), world.home().join("elsewhere")).unwrap();
    fs::write(world.home().join("elsewhere/file"), "one\n").unwrap();
    assert!(matches!(read(), Err(ImportError::Changed { .. })));
    symlink(world.home().join("elsewhere"), world.path("d")).unwrap();
    assert!(matches!(read(), Err(ImportError::Changed { .. })), "it was read through a link");
}
