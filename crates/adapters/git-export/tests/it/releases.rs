//! Every release of three packages, one after the other: as a patch, as mail that git takes, and imported again.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use ambit_blobs::DirectoryBlobs;
use ambit_git_import::{ImportOptions, import};
use ambit_ids::Scope;
use ambit_revision::{FileKind, Tree, apply, diff, parse};
use tempfile::TempDir;

use crate::repository::{Repository, is_git_here};
use crate::world::{Entry, World, contents, envelope, mail};

const PACKAGES: [&str; 3] = ["debug", "minimist", "shell-quote"];
/// Steps from one release to the next, of all packages together.
const STEPS: usize = 130;

/// What `cargo xtask test --install` puts there, if it is what the lock pins.
fn installed() -> Option<PathBuf> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let place = target.join("test-packages/releases");
    let stamp = fs::read_to_string(place.join(".installed")).ok();
    if stamp.as_deref() == Some(include_str!("../releases/package-lock.json")) {
        return Some(place.join("node_modules"));
    }
    println!("skipped: PACKAGES_ABSENT releases");
    None
}

/// The releases of a package in their order: each lies in a folder with its number.
fn releases(place: &Path, package: &str) -> Vec<World> {
    let folder = |number: usize| place.join(format!("{package}-{number:03}"));
    (0..).map(folder).take_while(|folder| folder.is_dir()).map(|folder| release(&folder)).collect()
}

fn release(folder: &Path) -> World {
    let mut entries = Vec::new();
    collect(folder, folder, &mut entries);
    World::of(&entries)
}

fn collect(top: &Path, folder: &Path, entries: &mut Vec<Entry>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        // What was installed for the release is no part of it.
        if entry.file_name() == "node_modules" {
            continue;
        }
        if kind.is_dir() {
            collect(top, &path, entries);
            continue;
        }
        assert!(kind.is_file(), "{} is no file", path.display());
        let executable = entry.metadata().unwrap().permissions().mode() & 0o100 != 0;
        let name = path.strip_prefix(top).unwrap().as_os_str().as_bytes().to_vec();
        let kind = if executable { FileKind::Executable } else { FileKind::File };
        entries.push((name, kind, fs::read(&path).unwrap()));
    }
}

/// The canonical patch of a step gives the later release, and is its own canonical form.
fn assert_patch_leads(before: &World, after: &World) {
    let contents = contents(&[before, after]);
    let found = diff(&before.tree, &after.tree, &|digest| contents.get(digest)).unwrap();
    let patch = parse(&found.text).unwrap();
    let applied = apply(&before.tree, &before.tree.digest(), &patch, &contents).unwrap();
    assert_eq!(applied.tree, after.tree);
    assert_eq!(applied.canonical.digest, found.digest);
}

/// The tree of a commit, read from the repository itself.
fn imported(clone: &Repository, commit: &str) -> Tree {
    let place = TempDir::new().unwrap();
    let blobs = DirectoryBlobs::open(&place.path().join("blobs")).unwrap();
    let scope = Scope { organization: "local".parse().unwrap(), project: "releases".parse().unwrap() };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let rev = commit.parse().unwrap();
    let dir = clone.path("");
    let import = import(&dir, &rev, &scope, &blobs, ImportOptions::default());
    runtime.block_on(import).unwrap().tree
}

#[test]
fn every_release_goes_through_a_patch_and_through_the_mail() {
    let Some(place) = installed() else { return };
    if !is_git_here("releases") {
        return;
    }
    let mut steps = 0;
    for package in PACKAGES {
        let releases = releases(&place, package);
        let (origin, _) = Repository::holding(&releases[0]);
        let clone = origin.cloned();
        let (mut mailbox, mut arrived) = (Vec::new(), Vec::new());
        for (number, pair) in releases.windows(2).enumerate() {
            let [before, after] = pair else { panic!("a window of two") };
            // Some releases were published again as they were.
            if before.tree != after.tree {
                assert_patch_leads(before, after);
                let said = envelope(&format!("{package}: release {}", number + 1));
                mailbox.extend(mail(before, after, &said).unwrap());
                arrived.push(after);
            }
            steps += 1;
        }
        clone.git(["am", "--quiet"], &mailbox);
        let commits = clone.says(["rev-list", "HEAD"]);
        for (commit, after) in commits.lines().zip(arrived.iter().rev()) {
            assert_eq!(clone.world(commit).tree, after.tree, "{package}, {commit} as git tells it");
            assert_eq!(imported(&clone, commit), after.tree, "{package}, {commit} as it is imported");
        }
        clone.assert_is("HEAD", &releases.last().unwrap().tree, package);
    }
    println!("{steps} steps");
    assert!(steps >= STEPS, "{steps}");
}
