//! Work trees of git: what git shows is what is imported, and git is never run.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use ambit_ids::RepoPath;
use ambit_revision::Tree;

use crate::world::World;

/// Git without any configuration but that of the repository itself; `None` where git is not on this machine.
fn git(dir: &Path, arguments: &[&str]) -> Option<Vec<u8>> {
    let output = Command::new("git")
        .current_dir(dir)
        .args(arguments)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", dir.join("nobody"))
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_AUTHOR_NAME", "a")
        .env("GIT_AUTHOR_EMAIL", "a@example.com")
        .env("GIT_COMMITTER_NAME", "a")
        .env("GIT_COMMITTER_EMAIL", "a@example.com")
        .output()
        .ok()?;
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    Some(output.stdout)
}

fn is_git_here(test: &str) -> bool {
    let here = Command::new("git").arg("--version").output().is_ok();
    if !here {
        println!("skipped: GIT_ABSENT {test}");
    }
    here
}

fn repository(world: &World) {
    git(&world.dir(), &["init", "--quiet", "--initial-branch=main"]).unwrap();
}

/// What git shows of a work tree: what it tracks, and what it does not and no rule leaves out.
fn shown(dir: &Path) -> Vec<RepoPath> {
    let paths = git(dir, &["ls-files", "-z", "--cached", "--others", "--exclude-per-directory=.gitignore"]);
    let paths = paths.unwrap();
    let mut paths: Vec<RepoPath> = paths
        .split(|byte| *byte == 0)
        .filter(|path| !path.is_empty())
        .map(|path| RepoPath::from_bytes(path).unwrap())
        .collect();
    paths.sort();
    paths
}

fn paths(tree: &Tree) -> Vec<RepoPath> {
    tree.files().map(|(path, _)| path).collect()
}

// proves E-S12
// break crates/adapters/source-directory/src/open.rs: `const FILE: OFlags = OFlags::RDONLY` -> `const FILE: OFlags = OFlags::RDWR.union(OFlags::TRUNC)`
#[test]
fn importing_and_exporting_leave_the_work_tree_as_git_knows_it() {
    if !is_git_here("importing_and_exporting_leave_the_work_tree_as_git_knows_it") {
        return;
    }
    let world = World::new();
    repository(&world);
    world.file("tracked", "one");
    world.file("dir/changed", "one");
    world.executable("run", 0o755);
    world.file(".gitignore", "made/\n");
    git(&world.dir(), &["add", "--all"]).unwrap();
    git(&world.dir(), &["commit", "--quiet", "--message", "first"]).unwrap();
    world.file("dir/changed", "two");
    world.file("new", "three");
    world.file("made/out", "four");
    let status = || git(&world.dir(), &["status", "--porcelain", "--ignored"]).unwrap();
    let (before, snapshot) = (status(), world.snapshot());
    assert_eq!(String::from_utf8_lossy(&before), " M dir/changed\n?? new\n!! made/\n");
    let imported = world.import().unwrap();
    assert_eq!(paths(&imported.tree), shown(&world.dir()));
    assert_eq!((imported.skipped_git, imported.ignored), (1, 1));
    assert_eq!(world.snapshot(), snapshot);
    world.export(&imported.tree, "exported").unwrap();
    assert_eq!(status(), before);
}

// proves E-S12
// break crates/adapters/source-directory/src/walk.rs: `== Err(PathError::GitDirectory)` -> `== Err(PathError::Empty)`
#[test]
fn nothing_in_a_repository_gets_itself_executed() {
    if !is_git_here("nothing_in_a_repository_gets_itself_executed") {
        return;
    }
    let world = World::new();
    repository(&world);
    let (trap, marker) = (world.home().join("trap"), world.home().join("marker"));
    fs::write(&trap, format!("#!/bin/sh\necho caught >> '{}'\n", marker.display())).unwrap();
    fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).unwrap();
    world.file("a", "x");
    world.file("sub/a", "x");
    let command = trap.display();
    let config = format!(
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tfsmonitor = {command}\n\tsshCommand = {command}\n\
         \tpager = {command}\n\thooksPath = {home}/hooks\n\texcludesFile = {home}/excludes\n\
         [filter \"x\"]\n\tclean = {command}\n\tsmudge = {command}\n\tprocess = {command}\n\
         [include]\n\tpath = {home}/included\n[diff]\n\texternal = {command}\n",
        home = world.home().display()
    );
    fs::write(world.path(".git/config"), config).unwrap();
    fs::write(world.home().join("excludes"), "*\n").unwrap();
    fs::create_dir_all(world.path(".git/info")).unwrap();
    fs::write(world.path(".git/info/exclude"), "*\n").unwrap();
    world.file(".gitattributes", "* filter=x\n");
    // A submodule whose directory lies elsewhere, and a link to a repository.
    world.file("sub/.git", format!("gitdir: {}\n", world.home().display()));
    fs::create_dir(world.home().join("hooks")).unwrap();
    fs::copy(&trap, world.home().join("hooks/post-index-change")).unwrap();

    git(&world.dir(), &["status", "--porcelain"]).unwrap();
    assert!(fs::read_to_string(&marker).unwrap().contains("caught"), "the trap catches whoever runs git");
    fs::remove_file(&marker).unwrap();

    let imported = world.import().unwrap();
    let names: Vec<String> = paths(&imported.tree).iter().map(ToString::to_string).collect();
    assert_eq!(names, [".gitattributes", "a", "sub/a"]);
    assert_eq!(imported.skipped_git, 2);
    assert!(!marker.exists());
}

#[test]
fn git_s_own_directory_is_not_opened_whatever_it_is() {
    // Opened for reading, a pipe waits for its other end; asked what it is, it is refused.
    let world = World::new();
    world.file("a", "x");
    let pipe = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, world.path(".git"), pipe, rustix::fs::Mode::RWXU, 0).unwrap();
    let imported = world.import().unwrap();
    assert_eq!((imported.entries, imported.skipped_git), (1, 1));
}

/// Numbers that are the same in every run (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % limit as u64).unwrap()
    }

    fn one_of<'a>(&mut self, words: &[&'a [u8]]) -> &'a [u8] {
        words[self.below(words.len())]
    }
}

const NAMES: &[&[u8]] = &[
    b"a",
    b"b",
    b"ab",
    b"abc",
    b"a.o",
    b"b.o",
    b"A",
    b"a b",
    b"a ",
    b"#a",
    b"!a",
    b"a-b",
    b"[a]",
    b"a\\b",
    b"*",
    b"{a,b}",
    b"caf\xe9",
    b"\xc3\xa9",
    b"x\ty",
    b"]",
    b"^",
    b"0",
    b"z.txt",
];

const ATOMS: &[&[u8]] = &[
    b"a",
    b"b",
    b"c",
    b".o",
    b"*",
    b"*",
    b"?",
    b"[ab]",
    b"[!a]",
    b"[^b]",
    b"[a-c]",
    b"[[:alpha:]]",
    b"[[:punct:][:digit:]]",
    b"[]]",
    b"[",
    b"\\a",
    b"\\*",
    b"\\ ",
    b" ",
    b"A",
    b".",
    b"-",
    b"\xe9",
    b"[\xe9]",
    b"\xc3",
    b"{a,b}",
    b"\t",
    b"[a\\]]",
    b"[z-a]",
    b"[--0]",
    b"[[:nope:]]",
    b"]",
    b"^",
    b"!",
    b"#",
];

/// A rule of a few atoms, directories and marks. Two stars stand for directories alone: right behind other bytes, releases
/// of git differ about them.
fn rule(numbers: &mut Numbers) -> Vec<u8> {
    let mut line = Vec::new();
    if numbers.below(5) == 0 {
        line.push(b'!');
    }
    if numbers.below(5) == 0 {
        line.push(b'/');
    }
    for component in 0..=numbers.below(4).saturating_sub(1) {
        if component > 0 {
            line.push(b'/');
        }
        if numbers.below(5) == 0 {
            line.extend_from_slice(b"**");
            continue;
        }
        for _ in 0..=numbers.below(3) {
            let atom = numbers.one_of(ATOMS);
            if !(atom == b"*" && line.last() == Some(&b'*')) {
                line.extend_from_slice(atom);
            }
        }
    }
    let ends: [&[u8]; 6] = [b"", b"", b"", b"/", b" ", b"\r"];
    line.extend_from_slice(numbers.one_of(&ends));
    line
}

fn fill(world: &World, numbers: &mut Numbers, directory: &[u8], depth: usize) {
    for _ in 0..2 + numbers.below(4) {
        let path = [directory, b"/", numbers.one_of(NAMES)].concat();
        if world.path(&path).symlink_metadata().is_ok() {
            continue;
        }
        match numbers.below(5) {
            0 | 1 if depth < 3 => {
                fs::create_dir_all(world.path(&path)).unwrap();
                fill(world, numbers, &path, depth + 1);
            }
            2 => world.link(&path, "a"),
            _ => world.file(&path, "x"),
        }
    }
    if depth == 0 || numbers.below(3) == 0 {
        let rules: Vec<Vec<u8>> = (0..1 + numbers.below(5)).map(|_| rule(numbers)).collect();
        world.file([directory, b"/.gitignore"].concat(), rules.join(&b"\n"[..]));
    }
}

#[test]
fn rules_leave_out_what_git_leaves_out() {
    if !is_git_here("rules_leave_out_what_git_leaves_out") {
        return;
    }
    let world = World::in_memory();
    let cases = 1_000;
    let mut numbers = Numbers(7);
    for case in 0..cases {
        fill(&world, &mut numbers, format!("case-{case}").as_bytes(), 0);
    }
    repository(&world);
    let (imported, shown) = (world.import().unwrap(), shown(&world.dir()));
    let found = paths(&imported.tree);
    let only = |some: &[RepoPath], others: &[RepoPath]| {
        some.iter().filter(|path| others.binary_search(path).is_err()).cloned().collect::<Vec<_>>()
    };
    let (ours, theirs) = (only(&found, &shown), only(&shown, &found));
    let about = ours.first().or(theirs.first()).map(|path| rules_above(&world, path));
    assert!(about.is_none(), "only here {ours:?}\nonly by git {theirs:?}\n{}", about.unwrap());
    assert!(
        shown.len() > 2 * cases && imported.ignored > cases as u64,
        "{} {}",
        shown.len(),
        imported.ignored
    );
}

/// The rules about a path, for whoever looks into a difference.
fn rules_above(world: &World, path: &RepoPath) -> String {
    let mut text = String::new();
    let mut above = path.parent();
    while let Some(directory) = above {
        let file = world.dir().join(OsStr::from_bytes(directory.as_bytes())).join(".gitignore");
        if let Ok(rules) = fs::read(file) {
            text += &format!("{directory}: {}\n", rules.escape_ascii());
        }
        above = directory.parent();
    }
    text
}
