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
    /// A tree of the target and these files is kept.
    async fn of(paths: impl Iterator<Item = String>) -> Self {
        Self::with([(TARGET.to_owned(), lines(0).into_bytes())], paths).await
    }

    /// A tree of files with their contents, and of others whose contents do not exist, is kept.
    async fn with(
        targets: impl IntoIterator<Item = (String, Vec<u8>)>,
        others: impl Iterator<Item = String>,
    ) -> Self {
        let mut contents = Contents::new();
        let mut files: Vec<(RepoPath, TreeFile)> = Vec::new();
        for (path, content) in targets {
            files.push((path.parse().unwrap(), TreeFile::of(FileKind::File, &content)));
            contents.insert(content);
        }
        let other = |path: &str| TreeFile::of(FileKind::File, path.as_bytes());
        files.extend(others.map(|path| (path.parse::<RepoPath>().unwrap(), other(&path))));
        let tree = Tree::from_files(files).unwrap();
        let blobs = Arc::new(CountingBlobs::new());
        let revisions = Revisions::new(blobs.clone());
        let scope = Scope { organization: "scale".parse().unwrap(), project: "large".parse().unwrap() };
        revisions.keep(&scope, &tree, &contents).await.unwrap();
        blobs.take();
        Self { blobs, revisions, scope, tree }
    }

    async fn nested(file_count: usize) -> Self {
        let paths = (1..file_count).map(|number| format!("{}/file-{}.txt", module(number), number % FILES));
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

/// The directory of a file.
fn module(number: usize) -> String {
    let module = number / FILES;
    format!("package-{}/module-{}", module / MODULES, module % MODULES)
}

fn ten_lines() -> String {
    let changes = format!("--- a/{TARGET}\n+++ b/{TARGET}\n{}", hunk());
    format!("{changes}--- /dev/null\n+++ b/{NEW_FILE}\n@@ -0,0 +1 @@\n+new\n")
}

/// From the lines of one step to those of the next.
fn hunk() -> String {
    let signed =
        |sign: char, step| -> String { lines(step).lines().map(|line| format!("{sign}{line}\n")).collect() };
    let body: String = signed('-', 0)
        .lines()
        .zip(signed('+', 1).lines())
        .map(
            |(old, new)| {
                if old[1..] == new[1..] { format!(" {}\n", &old[1..]) } else { format!("{old}\n{new}\n") }
            },
        )
        .collect();
    format!("@@ -1,20 +1,20 @@\n{body}")
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
            waits: 1,
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

/// A file in a module of its own.
fn spread(number: usize) -> String {
    format!("package-{}/module-{}/spread.txt", number / MODULES, number % MODULES)
}

#[tokio::test]
async fn a_patch_of_many_files_waits_once_for_all_of_them() {
    const PATCHED: usize = 20;
    let (before, after) =
        (|number| format!("{}{number}\n", lines(0)), |number| format!("{}{number}\n", lines(1)));
    let world = World::with(
        (0..PATCHED).map(|number| (spread(number), before(number).into_bytes())),
        (0..PATCHED * FILES).map(|number| format!("{}/file-{}.txt", module(number), number % FILES)),
    )
    .await;
    let one = |number: usize| {
        let path = spread(number);
        format!("--- a/{path}\n+++ b/{path}\n{}", hunk())
    };
    let (applied, seen) = world.patched(&(0..PATCHED).map(one).collect::<String>()).await;
    for number in 0..PATCHED {
        assert_eq!(applied.blobs.get(&Digest::of(after(number).as_bytes())), Some(after(number).as_bytes()));
    }
    let directory_bytes: usize =
        applied.tree.objects_beyond(&world.tree).iter().map(|object| object.bytes.len()).sum();
    let content_bytes =
        |content: &dyn Fn(usize) -> String| (0..PATCHED).map(|n| content(n).len()).sum::<usize>();
    let expected = Asked {
        waits: 1,
        gets: PATCHED,
        read_bytes: content_bytes(&before),
        // Each module, the packages above them, and the root.
        puts: PATCHED + PATCHED + PATCHED / MODULES + 1,
        put_bytes: content_bytes(&after) + directory_bytes,
    };
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn what_was_read_or_made_a_moment_ago_is_not_read_again() {
    let world = World::nested(1_000).await;
    let set = parse(ten_lines().as_bytes()).unwrap();
    let contents = async |tree: &Tree| world.revisions.contents_for(&world.scope, tree, &set).await.unwrap();
    let first = contents(&world.tree).await;
    assert_eq!(world.blobs.take().gets, 1, "nothing was read or made yet");
    let (applied, seen) = world.patched(&ten_lines()).await;
    assert_eq!((seen.waits, seen.gets), (0, 0));
    let target = TARGET.parse::<RepoPath>().unwrap();
    let digest = |tree: &Tree| tree.get(&target).unwrap().content;
    let second = contents(&applied.tree).await;
    assert_eq!(world.blobs.take(), Asked::default(), "what the patch made");
    assert_eq!(first.get(&digest(&world.tree)), Some(lines(0).as_bytes()));
    assert_eq!(second.get(&digest(&applied.tree)), Some(lines(1).as_bytes()));
    world.anew().contents_for(&world.scope, &applied.tree, &set).await.unwrap();
    assert_eq!(world.blobs.take().gets, 2, "another process holds nothing");
    let foreign = Scope { project: "other".parse().unwrap(), ..world.scope.clone() };
    let refused = world.revisions.contents_for(&foreign, &applied.tree, &set).await;
    assert_eq!(refused.unwrap_err().code(), "BLOB_NOT_FOUND", "another project holds nothing either");
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
    assert_eq!(first.waits, 3, "all directories of one depth together");
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
