//! A large tree costs what changed.

use std::sync::Arc;

use ambit_ids::{Digest, RepoPath, Scope};
use ambit_revision::{Applied, Contents, FileKind, Tree, TreeFile, apply, parse};
use ambit_revisions::Revisions;

use crate::counting::{Asked, CountingBlobs};

/// The file that is patched. It is the only one whose content exists, so nothing can have read another.
const TARGET: &str = "package-0/module-0/file-0.txt";
/// A name that is as long as every other of its directory.
const NEW_FILE: &str = "package-0/module-0/file-x.txt";
/// How many files a directory has that has files, and how many directories one that has directories.
const FILES: usize = 100;
const MODULES: usize = 10;

struct World {
    blobs: Arc<CountingBlobs>,
    revisions: Revisions,
    scope: Scope,
    tree: Tree,
}

impl World {
    /// A tree of these files is kept.
    async fn of(paths: impl Iterator<Item = String>) -> Self {
        let content = lines(0).into_bytes();
        let target = TreeFile::of(FileKind::File, &content);
        let other = |path: &str| TreeFile::of(FileKind::File, path.as_bytes());
        let files = paths.map(|path| (path.parse::<RepoPath>().unwrap(), other(&path)));
        let files: Vec<_> = files.chain([(TARGET.parse().unwrap(), target)]).collect();
        let tree = Tree::from_files(files).unwrap();
        let blobs = Arc::new(CountingBlobs::new());
        let revisions = Revisions::new(blobs.clone());
        let scope = Scope { organization: "scale".parse().unwrap(), project: "large".parse().unwrap() };
        let mut contents = Contents::new();
        contents.insert(content);
        revisions.keep(&scope, &tree, &contents).await.unwrap();
        blobs.take();
        Self { blobs, revisions, scope, tree }
    }

    async fn nested(file_count: usize) -> Self {
        let paths = (1..file_count).map(|number| {
            let (module, file) = (number / FILES, number % FILES);
            let (package, module) = (module / MODULES, module % MODULES);
            format!("package-{package}/module-{module}/file-{file}.txt")
        });
        let world = Self::of(paths).await;
        assert_eq!(world.tree.file_count(), file_count);
        world
    }

    /// Applies a patch to the kept tree and keeps what comes out; told is what that asked of the blobs.
    async fn patched(&self, patch: &str) -> (Applied, Asked) {
        let (base, set) = (self.tree.digest(), parse(patch.as_bytes()).unwrap());
        let tree = self.revisions.load(&self.scope, base).await.unwrap();
        let contents = self.revisions.contents_for(&self.scope, &tree, &set).await.unwrap();
        let applied = apply(&tree, &base, &set, &contents).unwrap();
        self.revisions.keep_beyond(&self.scope, base, &applied.tree, &applied.blobs).await.unwrap();
        (applied, self.blobs.take())
    }

    /// Another process: nothing was loaded yet.
    fn anew(&self) -> Revisions {
        Revisions::new(self.blobs.clone())
    }
}

/// Twenty lines, of which ten are told apart by their step.
fn lines(step: usize) -> String {
    (0..20)
        .map(|line| if line % 2 == 0 { format!("line {line}\n") } else { format!("step {step} {line}\n") })
        .collect()
}

fn ten_lines() -> String {
    let signed =
        |sign: char, step| -> String { lines(step).lines().map(|line| format!("{sign}{line}\n")).collect() };
    let changes = format!("--- a/{TARGET}\n+++ b/{TARGET}\n@@ -1,20 +1,20 @@\n");
    let body: String = signed('-', 0)
        .lines()
        .zip(signed('+', 1).lines())
        .map(
            |(old, new)| {
                if old[1..] == new[1..] { format!(" {}\n", &old[1..]) } else { format!("{old}\n{new}\n") }
            },
        )
        .collect();
    format!("{changes}{body}--- /dev/null\n+++ b/{NEW_FILE}\n@@ -0,0 +1 @@\n+new\n")
}

/// The bytes of the directories from the root down to the target, and how many those are.
fn path_bytes(tree: &Tree) -> (usize, usize) {
    let changed = tree.with(&[(TARGET.parse().unwrap(), None)].into()).unwrap();
    let objects = tree.objects_beyond(&changed);
    (objects.len(), objects.iter().map(|object| object.bytes.len()).sum())
}

#[tokio::test]
async fn a_patch_on_a_large_tree_reads_and_writes_what_it_touches() {
    let mut asked = Vec::new();
    for file_count in [1_000, 20_000] {
        let world = World::nested(file_count).await;
        let (applied, seen) = world.patched(&ten_lines()).await;
        let (directories, directory_bytes) = path_bytes(&applied.tree);
        let content_bytes: usize = applied.blobs.iter().map(|(_, bytes)| bytes.len()).sum();
        let expected = Asked {
            gets: 1,
            read_bytes: lines(0).len(),
            puts: 2 + directories,
            put_bytes: content_bytes + directory_bytes,
        };
        assert_eq!((directories, seen), (3, expected), "{file_count} files");
        let loaded = world.anew().load(&world.scope, applied.tree.digest()).await.unwrap();
        assert_eq!(loaded.diff(&applied.tree), Vec::new());
        assert_eq!(loaded.file_count(), file_count + 1);
        asked.push(seen);
    }
    let [small, large] = asked[..] else { panic!("two sizes") };
    assert_eq!((small.gets, small.read_bytes, small.puts), (large.gets, large.read_bytes, large.puts));
    // A package, by which the root differs, is 88 bytes.
    let packages = |file_count: usize| file_count / FILES / MODULES;
    assert!(large.put_bytes - small.put_bytes <= (packages(20_000) - packages(1_000)) * 90);
}

#[tokio::test]
async fn a_revision_is_loaded_beside_another_by_what_is_different() {
    let world = World::nested(5_000).await;
    let (applied, _) = world.patched(&ten_lines()).await;
    let revisions = world.anew();
    revisions.load(&world.scope, world.tree.digest()).await.unwrap();
    let first = world.blobs.take();
    let modules = 5_000 / FILES;
    assert_eq!((first.puts, first.gets), (0, 1 + modules / MODULES + modules), "each directory once");
    let second = revisions.load(&world.scope, applied.tree.digest()).await.unwrap();
    assert_eq!(second.diff(&applied.tree), Vec::new());
    assert_eq!(world.blobs.take().gets, 3);
    // The same trees once more are at hand.
    revisions.load(&world.scope, world.tree.digest()).await.unwrap();
    assert_eq!(world.blobs.take(), Asked::default());
}

#[tokio::test]
async fn a_directory_of_many_files_costs_its_own_object_and_no_other() {
    let world = World::of((1..10_000).map(|file| format!("package-0/module-0/file-{file}.txt"))).await;
    let (applied, seen) = world.patched(&ten_lines()).await;
    let object_bytes = path_bytes(&applied.tree).1;
    assert_eq!((seen.gets, seen.puts), (1, 5));
    // `file DIGEST SIZE LENGTH NAME`, about a hundred bytes a file.
    assert!(object_bytes < 10_000 * 100, "{object_bytes}");
    assert!(seen.put_bytes < object_bytes + 1_000, "{seen:?}");
}

#[tokio::test]
async fn a_tree_is_kept_only_beyond_one_that_is_kept() {
    let world = World::nested(1_000).await;
    let elsewhere =
        Tree::from_files([(TARGET.parse().unwrap(), TreeFile::of(FileKind::File, b"x"))]).unwrap();
    let refused =
        world.revisions.keep_beyond(&world.scope, elsewhere.digest(), &elsewhere, &Contents::new()).await;
    assert_eq!(refused.unwrap_err().code(), "BLOB_NOT_FOUND");
    let foreign = Scope { project: "other".parse().unwrap(), ..world.scope.clone() };
    let tree = world.tree.digest();
    let refused = world.revisions.keep_beyond(&foreign, tree, &world.tree, &Contents::new()).await;
    assert_eq!(refused.unwrap_err().code(), "BLOB_NOT_FOUND");
    let _: Digest =
        world.revisions.keep_beyond(&world.scope, tree, &world.tree, &Contents::new()).await.unwrap();
    assert_eq!(world.blobs.take().puts, 0);
}
