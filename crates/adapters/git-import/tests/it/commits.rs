//! What git has in a commit is what is imported, however the objects lie.

use ambit_git_import::Finding;

use crate::world::{World, is_git_here, listed, noise};

/// A project with everything that a tree can hold, in two commits.
fn project() -> World {
    let world = World::new();
    world.file("empty", "");
    world.file("src/lib.rs", "fn one() {}\n".repeat(400));
    world.file("src/deep/er/still", "no newline at the end");
    world.file("binary", [0, 255, 13, 10, 0]);
    world.file("large", noise(700_000, 1));
    world.file("back\\slash", "x");
    world.file("Case", "upper");
    world.file("case", "lower");
    world.file(b"caf\xe9\n\x1b", "bytes");
    world.file(".gitignore", "ignored\n");
    world.file("ignored", "tracked in spite of the rule");
    world.executable("run", "#!/bin/sh\n");
    world.link("link", "src/lib.rs");
    world.link("outside", "/etc/passwd");
    world.commit();
    world.file("src/lib.rs", "fn one() {}\n".repeat(401) + "fn two() {}\n");
    world.commit();
    world
}

fn same_as_git(world: &World, at: &str) {
    let imported = world.import(at).unwrap();
    let listing = world.git(&["ls-tree", "-r", "-z", "--full-tree", at]);
    let mut count = 0;
    for line in listing.split('\0').filter(|line| !line.is_empty()) {
        let (about, _) = line.split_once('\t').unwrap();
        let id = about.rsplit(' ').next().unwrap();
        assert_eq!(id.len(), 40);
        count += 1;
    }
    assert_eq!(imported.entries, count);
    for (path, file) in imported.tree.files() {
        if !path.is_printable() || path.as_bytes().contains(&b'\\') || path.as_bytes().contains(&0xe9) {
            continue;
        }
        let of_git = crate::world::said(crate::world::git(&world.dir()).args([
            "cat-file",
            "blob",
            &format!("{at}:{path}"),
        ]));
        assert_eq!(world.content(&imported.tree, path.as_bytes()), of_git, "{path}");
        assert_eq!(file.size.get(), of_git.len() as u64);
    }
}

#[test]
fn a_commit_is_imported_as_git_has_it() {
    if !is_git_here("a_commit_is_imported_as_git_has_it") {
        return;
    }
    let world = project();
    let imported = world.import("HEAD").unwrap();
    assert_eq!(imported.commit.to_string(), world.git(&["rev-parse", "HEAD"]));
    assert_eq!(imported.findings, Vec::new());
    assert_eq!(
        listed(&imported.tree),
        [
            "file .gitignore",
            "file Case",
            "file back\\\\slash",
            "file binary",
            "file caf\\xe9\\x0a\\x1b",
            "file case",
            "file empty",
            "file ignored",
            "file large",
            "link link",
            "link outside",
            "exec run",
            "file src/deep/er/still",
            "file src/lib.rs",
        ]
    );
    assert_eq!(world.content(&imported.tree, b"outside"), b"/etc/passwd");
    assert_eq!(world.content(&imported.tree, b"caf\xe9\n\x1b"), b"bytes");
    same_as_git(&world, "HEAD");
}

#[test]
fn loose_and_packed_objects_and_deltas_make_the_same_tree() {
    if !is_git_here("loose_and_packed_objects_and_deltas_make_the_same_tree") {
        return;
    }
    let world = World::new();
    // Large enough to be streamed, and alike enough that git makes chains of deltas.
    let base = noise(300_000, 3);
    for number in 0..8_u8 {
        let mut content = base.clone();
        content.splice(1_000..1_010, [number; 20]);
        content.truncate(content.len() - usize::from(number) * 1_000);
        world.file(format!("dir/{number}"), content);
        world.file("changing", "line\n".repeat(2_000) + &number.to_string());
        world.commit();
    }
    let loose = world.import("HEAD").unwrap();
    let first = world.git(&["rev-list", "--max-parents=0", "HEAD"]);
    let loose_first = world.import(&first).unwrap();
    world.git(&["repack", "-adfq", "--depth=50", "--window=50"]);
    let chains = world.git(&["verify-pack", "-v", &pack(&world, ".idx")]);
    assert!(chains.contains("chain length = 5"), "{chains}");
    assert!(!world.object_file(&first).exists());
    assert_eq!(world.import("HEAD").unwrap(), loose);
    assert_eq!(world.import(&first).unwrap(), loose_first);
    same_as_git(&world, &first);
    // Bases by name instead of by offset, and a second pack beside the first.
    world.git(&["-c", "repack.useDeltaBaseOffset=false", "repack", "-adfq"]);
    assert_eq!(world.import("HEAD").unwrap(), loose);
    world.file("more", "x");
    world.commit();
    world.git(&["repack", "-dq"]);
    same_as_git(&world, "HEAD");
    // Offsets of eight bytes, as packs beyond 2 GiB have them.
    let indexed = pack(&world, ".pack");
    std::fs::remove_file(world.path(".git").join(indexed.replace(".pack", ".idx"))).ok();
    world.git(&["index-pack", "--index-version=2,0x40", &indexed]);
    same_as_git(&world, "HEAD");
}

/// A file of the first pack, from the top of the work tree.
fn pack(world: &World, end: &str) -> String {
    let mut names: Vec<String> = std::fs::read_dir(world.path(".git/objects/pack"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(end))
        .collect();
    names.sort();
    format!(".git/objects/pack/{}", names[0])
}

#[test]
fn a_shallow_clone_a_bare_one_and_a_linked_work_tree_are_repositories() {
    if !is_git_here("a_shallow_clone_a_bare_one_and_a_linked_work_tree_are_repositories") {
        return;
    }
    let world = project();
    let whole = world.import("HEAD").unwrap();
    let url = format!("file://{}", world.dir().display());
    world.git(&["clone", "--quiet", "--depth=1", &url, "../shallow"]);
    world.git(&["clone", "--quiet", "--bare", "--no-hardlinks", ".", "../bare"]);
    world.git(&["worktree", "add", "--quiet", "-b", "side", "../linked"]);
    for name in ["shallow", "bare", "linked"] {
        let imported = world.import_from(&world.home().join(name), "HEAD", Default::default());
        assert_eq!(imported.unwrap(), whole, "{name}");
    }
    let first = world.git(&["rev-list", "--max-parents=0", "HEAD"]);
    let (code, text) = world.refusal_from(&world.home().join("shallow"), &first);
    assert_eq!(code, "IMPORT_SHALLOW", "{text}");
    assert!(text.contains(&first) && text.contains("--unshallow"), "{text}");
}

#[test]
fn a_pointer_of_lfs_stays_one_and_is_told() {
    if !is_git_here("a_pointer_of_lfs_stays_one_and_is_told") {
        return;
    }
    let world = World::new();
    let pointer = format!(
        "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 12345\n",
        "4d7a214614ab2935c943f9e0ff69d22e".repeat(2)
    );
    world.file("data/model.bin", &pointer);
    world.file("prose", "version https://git-lfs.github.com/spec/v1 is what a pointer begins with\n");
    world.commit();
    let imported = world.import("HEAD").unwrap();
    assert_eq!(imported.findings, [Finding::LfsPointer { path: "data/model.bin".parse().unwrap() }]);
    assert_eq!(world.content(&imported.tree, b"data/model.bin"), pointer.as_bytes());
}
