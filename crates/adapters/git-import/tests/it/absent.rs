//! Objects that are missing, altered or cut off.

use std::fs;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::world::{World, git, is_git_here, noise};

fn project() -> World {
    let world = World::new();
    world.file("dir/file", "content\n");
    world.file("other", noise(300_000, 5));
    world.commit();
    world
}

fn writable(path: &Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap();
}

#[test]
fn a_missing_object_is_named_with_its_place() {
    if !is_git_here("a_missing_object_is_named_with_its_place") {
        return;
    }
    for (name, place) in [
        ("HEAD:dir/file", "at dir/file"),
        ("HEAD:dir", "at dir"),
        ("HEAD^{tree}", "missing;"),
        ("HEAD", "missing;"),
    ] {
        let world = project();
        assert!(world.import("HEAD").is_ok());
        let id = world.git(&["rev-parse", name]);
        fs::remove_file(world.object_file(&id)).unwrap();
        let (code, text) = world.refusal("HEAD");
        assert_eq!(code, "IMPORT_OBJECT_MISSING", "{text}");
        assert!(text.contains(&id) && text.contains(place), "{text}");
    }
}

#[test]
fn an_object_under_the_name_of_another_is_refused() {
    if !is_git_here("an_object_under_the_name_of_another_is_refused") {
        return;
    }
    let world = project();
    let id = world.git(&["rev-parse", "HEAD:dir/file"]);
    let tampered = world.git_fed(&["hash-object", "-w", "--stdin"], b"tampered with\n");
    let file = world.object_file(&id);
    writable(&file);
    fs::copy(world.object_file(&tampered), &file).unwrap();
    let (code, text) = world.refusal("HEAD");
    assert_eq!(code, "IMPORT_OBJECT_CORRUPT", "{text}");
    assert!(text.contains(&id) && text.contains("at dir/file"), "{text}");
    // A tree where a content should be.
    let tree = world.git(&["rev-parse", "HEAD:dir"]);
    fs::copy(world.object_file(&tree), &file).unwrap();
    assert_eq!(world.refusal("HEAD").0, "IMPORT_OBJECT_CORRUPT");
}

#[test]
fn bytes_that_are_no_object_are_refused() {
    if !is_git_here("bytes_that_are_no_object_are_refused") {
        return;
    }
    let world = project();
    let id = world.git(&["rev-parse", "HEAD:other"]);
    let file = world.object_file(&id);
    writable(&file);
    let whole = fs::read(&file).unwrap();
    let half = whole[..whole.len() / 2].to_vec();
    let mut flipped = whole.clone();
    flipped[100_000] ^= 1;
    for altered in [Vec::new(), b"no zlib".to_vec(), half, flipped, [&whole[..10], &[0; 100][..]].concat()] {
        fs::write(&file, altered).unwrap();
        assert_eq!(world.refusal("HEAD").0, "IMPORT_OBJECT_CORRUPT");
    }
    fs::write(&file, whole).unwrap();
    assert!(world.import("HEAD").is_ok());
}

/// Nothing that is wrong with a pack is more than an error: every byte of a small one is flipped, and it is cut anywhere.
#[test]
fn a_damaged_pack_is_an_error_and_never_another_tree() {
    if !is_git_here("a_damaged_pack_is_an_error_and_never_another_tree") {
        return;
    }
    let world = World::new();
    for number in 0..6 {
        world.file("file", format!("{}{number}", "line\n".repeat(60)));
        world.file("dir/same", "x");
        world.commit();
    }
    world.git(&["repack", "-adfq", "--depth=50"]);
    let whole = world.import("HEAD").unwrap();
    let packs = fs::read_dir(world.path(".git/objects/pack")).unwrap();
    let mut refused = 0;
    for path in packs.map(|entry| entry.unwrap().path()) {
        if path.extension().is_none_or(|end| end != "pack" && end != "idx") {
            continue;
        }
        writable(&path);
        let bytes = fs::read(&path).unwrap();
        let mut outcome = || match world.import("HEAD") {
            Ok(imported) => assert_eq!(imported, whole),
            Err(error) => {
                assert!(error.code().starts_with("IMPORT_"), "{error}");
                refused += 1;
            }
        };
        for place in (0..bytes.len()).step_by(13) {
            let mut file = fs::File::options().write(true).open(&path).unwrap();
            file.seek(SeekFrom::Start(place as u64)).unwrap();
            file.write_all(&[bytes[place] ^ 0x55]).unwrap();
            outcome();
            file.seek(SeekFrom::Start(place as u64)).unwrap();
            file.write_all(&bytes[place..=place]).unwrap();
        }
        for length in (0..bytes.len()).step_by(97) {
            fs::write(&path, &bytes[..length]).unwrap();
            outcome();
        }
        fs::write(&path, &bytes).unwrap();
    }
    assert!(refused > 50, "{refused}");
    assert_eq!(world.import("HEAD").unwrap(), whole);
}

#[test]
fn a_partial_clone_is_told_and_nothing_is_fetched() {
    if !is_git_here("a_partial_clone_is_told_and_nothing_is_fetched") {
        return;
    }
    let world = project();
    world.git(&["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", world.dir().display());
    world.git(&["clone", "--quiet", "--filter=blob:none", "--no-checkout", &url, "../partial"]);
    let partial = world.home().join("partial");
    let (code, text) = world.refusal_from(&partial, "HEAD");
    assert_eq!(code, "IMPORT_PARTIAL_CLONE", "{text}");
    let id = world.git(&["rev-parse", "HEAD:dir/file"]);
    assert!(text.contains(&id), "{text}");
    assert_eq!(world.refusal_from(&partial, "HEAD").0, "IMPORT_PARTIAL_CLONE", "it is still not there");
    // Git itself fetches what it needs.
    assert!(git(&partial).args(["checkout", "--quiet", "main"]).status().unwrap().success());
    let completed = world.import_from(&partial, "HEAD", Default::default()).unwrap();
    assert_eq!(completed, world.import("HEAD").unwrap());
}

#[test]
fn objects_of_another_repository_are_not_borrowed() {
    if !is_git_here("objects_of_another_repository_are_not_borrowed") {
        return;
    }
    let world = project();
    world.git(&["clone", "--quiet", "--shared", ".", "../borrower"]);
    let borrower = world.home().join("borrower");
    assert!(git(&borrower).args(["cat-file", "-e", "HEAD:dir/file"]).status().unwrap().success());
    let (code, text) = world.refusal_from(&borrower, "HEAD");
    assert_eq!(code, "IMPORT_ALTERNATES", "{text}");
    assert!(git(&borrower).args(["repack", "-adq"]).status().unwrap().success());
    assert!(world.import_from(&borrower, "HEAD", Default::default()).is_ok());
}

#[test]
fn a_replaced_object_is_the_original() {
    if !is_git_here("a_replaced_object_is_the_original") {
        return;
    }
    let world = project();
    let before = world.import("HEAD").unwrap();
    let other = world.git_fed(&["hash-object", "-w", "--stdin"], b"another\n");
    world.git(&["replace", "HEAD:dir/file", &other]);
    let shown =
        Command::new("git").arg("-C").arg(world.dir()).args(["cat-file", "blob", "HEAD:dir/file"]).output();
    assert_eq!(shown.unwrap().stdout, b"another\n", "git shows the other one");
    assert_eq!(world.import("HEAD").unwrap(), before);
}
