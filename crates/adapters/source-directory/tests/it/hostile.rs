//! Directories that are made to hurt whoever reads them.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use ambit_ids::{ByteCount, RepoPath, limits};
use ambit_revision::FileKind;
use ambit_source_directory::{ImportError, ImportOptions, SpecialFile, import};
use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};

use crate::memory::MemoryBlobs;
use crate::world::{World, listed, scope, wait};

const SECRET: &[u8] = b"what lies outside of the project";

fn make(world: &World, name: &str, kind: FileType) -> Result<(), rustix::io::Errno> {
    mknodat(CWD, world.path(name), kind, Mode::RUSR | Mode::WUSR, makedev(1, 3))
}

// proves E-G01
// break crates/adapters/source-directory/src/walk.rs: `self.give(place, FileKind::Link,` -> `self.give(place, FileKind::File,`
#[test]
fn a_link_is_a_link_wherever_it_leads() {
    let world = World::new();
    fs::write(world.home().join("secret"), SECRET).unwrap();
    fs::create_dir(world.home().join("project-evil")).unwrap();
    fs::write(world.home().join("project-evil/secret"), SECRET).unwrap();
    let targets: [&[u8]; 12] = [
        b"../secret",
        b"..",
        b"/",
        b"/etc",
        b"/etc/passwd",
        b"/proc/self/environ",
        b"/proc/self/fd",
        b"/dev/zero",
        b"../project-evil",
        b"nowhere",
        b"\xff\x1b[2J\n",
        &[b'a'; 4095],
    ];
    for (at, target) in targets.into_iter().enumerate() {
        world.link(format!("link-{at:02}"), target);
    }
    world.link("loop-a", "loop-b");
    world.link("loop-b", "loop-a");
    world.link("self", "self");
    world.link("dir/up", "..");
    let tree = world.import().unwrap().tree;
    assert_eq!(tree.file_count(), targets.len() + 4);
    for (at, target) in targets.into_iter().enumerate() {
        let file = tree.get(&format!("link-{at:02}").parse().unwrap()).unwrap();
        assert_eq!(file.kind, FileKind::Link);
        assert_eq!(world.blobs.content(&scope(), file.content).unwrap(), target);
    }
    assert!(!world.blobs.hold(SECRET));
    assert!(!world.blobs.hold(b"root:"));
    world.file("copy", SECRET);
    world.import().unwrap();
    assert!(world.blobs.hold(SECRET));
}

#[test]
fn what_is_no_file_is_refused_by_its_name() {
    let kinds = [
        ("pipe", SpecialFile::Pipe, "deep/d\\x0aown is a named pipe"),
        ("socket", SpecialFile::Socket, "deep/d\\x0aown is a socket"),
        ("device", SpecialFile::CharacterDevice, "deep/d\\x0aown is a character device"),
        ("disk", SpecialFile::BlockDevice, "deep/d\\x0aown is a block device"),
    ];
    for (name, kind, told) in kinds {
        let world = World::new();
        world.file("before", "x");
        fs::create_dir(world.path("deep")).unwrap();
        let made = match kind {
            SpecialFile::Pipe => make(&world, "deep/d\nown", FileType::Fifo),
            SpecialFile::CharacterDevice => make(&world, "deep/d\nown", FileType::CharacterDevice),
            SpecialFile::BlockDevice => make(&world, "deep/d\nown", FileType::BlockDevice),
            _ => {
                drop(UnixListener::bind(world.path("deep/d\nown")).unwrap());
                Ok(())
            }
        };
        if made.is_err() && matches!(kind, SpecialFile::CharacterDevice | SpecialFile::BlockDevice) {
            println!("skipped: DEVICES_REFUSED what_is_no_file_is_refused_by_its_name {name}");
            continue;
        }
        made.unwrap();
        let (code, message) = world.refusal();
        assert_eq!(code, "IMPORT_SPECIAL_FILE");
        assert!(message.starts_with(told), "{message}");
        assert!(message.contains("cannot hold one. Remove it"), "{message}");
        // A rule says that it is no part of the source.
        world.file(".gitignore", "d*own\n");
        assert_eq!(world.import().unwrap().ignored, 1);
    }
}

#[test]
fn names_are_bytes() {
    let world = World::new();
    let names: [&[u8]; 11] = [
        b"caf\xe9",
        b"\xff\xfe",
        b"line\nfeed",
        b"escape\x1b[2J",
        b" ",
        b"...",
        b"..x",
        b"-rf",
        b"back\\slash",
        "e\u{301} and \u{e9} and \u{202e}".as_bytes(),
        &[b'n'; 255],
    ];
    for name in names {
        world.file(name, name);
        world.file([b"d/".as_slice(), name].concat(), b"below");
    }
    world.file("Case", "1");
    world.file("case", "2");
    let tree = world.import().unwrap().tree;
    assert_eq!(tree.file_count(), 2 * names.len() + 2);
    for name in names {
        let file = tree.get(&RepoPath::from_bytes(name).unwrap()).unwrap();
        assert_eq!(world.blobs.content(&scope(), file.content).unwrap(), name);
    }
}

#[test]
fn the_directory_of_git_is_skipped_in_every_spelling() {
    let world = World::new();
    let spellings =
        [".git", ".GIT", ".gIt", "git~1", "GIT~1", ".git.", ".git ", ".git::$DATA", ".g\u{200c}it"];
    for spelling in spellings {
        world.file(format!("{spelling}/config"), SECRET);
        world.file(format!("sub/{spelling}"), SECRET);
    }
    for kept in [".gitignore", ".github/workflow", "git", ".gitmodules", "a.git/config"] {
        world.file(kept, "x");
    }
    let imported = world.import().unwrap();
    assert_eq!(imported.skipped_git, 2 * spellings.len() as u64);
    assert_eq!(imported.entries, 5);
    assert!(!world.blobs.hold(SECRET));
}

#[test]
fn a_file_that_is_too_large_is_refused_before_it_is_read() {
    let world = World::new();
    world.file("a", "x");
    let file = fs::File::create(world.path("movie.bin")).unwrap();
    file.set_len(2 << 30).unwrap();
    let (code, message) = world.refusal();
    assert_eq!(code, "IMPORT_FILE_TOO_LARGE");
    assert_eq!(
        message,
        "movie.bin has 2048 MiB, and a file may have 64 MiB. Take it out of the directory, or name it in a .gitignore"
    );
    assert_eq!(world.blobs.writers(), 0);
    file.set_len(limits::FILE_BYTES + 1).unwrap();
    assert_eq!(world.refusal().0, "IMPORT_FILE_TOO_LARGE");
    file.set_len(limits::FILE_BYTES).unwrap();
    assert_eq!(world.import().unwrap().bytes, ByteCount::new(limits::FILE_BYTES + 1));
}

#[test]
fn all_entries_and_all_bytes_together_are_bounded() {
    let world = World::new();
    for at in 0..10 {
        world.file(format!("d{at}/f"), [0; 10]);
    }
    let with = |entry_limit, content_limit| {
        let content_limit = ByteCount::new(content_limit);
        let options = ImportOptions { entry_limit, content_limit, ..ImportOptions::default() };
        world.import_with(options).map_err(|error| error.code())
    };
    assert!(with(20, 100).is_ok());
    assert_eq!(with(19, 100), Err("IMPORT_TOO_MANY_ENTRIES"));
    assert_eq!(with(20, 99), Err("IMPORT_TOO_LARGE"));
    // What is left out was met all the same, and what is in it was not.
    world.file(".gitignore", "d*\n");
    assert!(with(11, 4).is_ok());
    assert_eq!(with(10, 4), Err("IMPORT_TOO_MANY_ENTRIES"));
    let options = ImportOptions::default();
    assert_eq!(options.entry_limit, limits::TREE_ENTRIES);
}

#[test]
fn a_path_that_no_tree_can_hold_is_refused_by_its_name() {
    let deep = |directories: usize| {
        let world = World::new();
        world.file("d/".repeat(directories) + "f", "x");
        world
    };
    assert!(deep(limits::PATH_COMPONENTS - 1).import().is_ok());
    let (code, message) = deep(limits::PATH_COMPONENTS).refusal();
    assert_eq!(code, "IMPORT_PATH_REFUSED");
    assert!(message.starts_with(&("d/".repeat(limits::PATH_COMPONENTS) + "f cannot be")), "{message}");

    let long = |last: usize| {
        let world = World::new();
        world.file(format!("{}{}", ("n".repeat(255) + "/").repeat(3), "\u{7}".repeat(last)), "x");
        world
    };
    assert!(long(255).import().is_ok());
    let longer = long(255);
    longer.file(format!("{}{}", ("n".repeat(255) + "/").repeat(4), "\u{7}"), "x");
    let (code, message) = longer.refusal();
    assert_eq!(code, "IMPORT_PATH_REFUSED");
    assert!(message.contains("\\x07"), "{message}");
    longer.file(".gitignore", "*\u{7}\n");
    assert!(longer.import().is_ok());
}

#[test]
fn a_directory_without_end_is_refused() {
    // A loop of links is none, so only real directories can nest; these nest deeper than any tree.
    let world = World::new();
    fs::create_dir_all(world.path("d/".repeat(300))).unwrap();
    let (code, message) = world.refusal();
    assert_eq!(code, "IMPORT_PATH_REFUSED");
    assert!(message.starts_with(&("d/".repeat(limits::PATH_COMPONENTS) + "d cannot be")), "{message}");
}

/// Runs one test of this binary as a user who owns nothing, from a copy that this user can reach.
fn as_nobody(test: &str, world: &World) -> bool {
    let dir = world.dir();
    let program = world.home().join("program");
    // By another process: what a thread beside this one has open for writing in its new child cannot be executed.
    assert!(
        Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&program).status().unwrap().success()
    );
    let mut command = Command::new(&program);
    command.args(["--exact", test, "--ignored", "--nocapture"]).env("UNREADABLE", &dir);
    // Whoever made the directory runs this test.
    if fs::metadata(&dir).unwrap().uid() == 0 {
        command.uid(65_534).gid(65_534).current_dir("/");
    }
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("1 passed"), "{text}{}", String::from_utf8_lossy(&output.stderr));
    output.status.success()
}

#[test]
fn what_cannot_be_read_is_refused_by_its_name() {
    let open = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    for unreadable in ["file", "dir"] {
        let world = World::new();
        world.file("dir/inner", "x");
        world.file("file", "x");
        open(world.home(), 0o755);
        open(&world.path(unreadable), 0o000);
        assert!(as_nobody("hostile::reads_as_nobody", &world), "{unreadable}");
        open(&world.path(unreadable), 0o755);
    }
}

#[test]
#[ignore = "runs as another user, for the test above"]
fn reads_as_nobody() {
    let dir = std::env::var_os("UNREADABLE").unwrap();
    let blobs = MemoryBlobs::default();
    let error = wait(import(Path::new(&dir), &scope(), &blobs, ImportOptions::default())).unwrap_err();
    assert_eq!(error.code(), "IMPORT_UNREADABLE");
    let ImportError::Unreadable { path, source } = &error else { panic!("{error:?}") };
    assert!(["file", "dir"].contains(&path.to_string().as_str()), "{path}");
    assert_eq!(source.kind(), std::io::ErrorKind::PermissionDenied);
    assert!(error.to_string().contains("Let this user read it"), "{error}");
}

#[test]
fn a_tree_of_hostile_names_is_listed_without_one_that_moves_the_cursor() {
    let world = World::new();
    world.file("a\u{1b}]0;title\u{7}", "x");
    world.file("b\r\n", "x");
    for line in listed(&world.import().unwrap().tree) {
        assert!(!line.chars().any(char::is_control), "{line:?}");
    }
}
