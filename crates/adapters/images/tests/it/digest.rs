use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Barrier;

use ambit_ids::Digest;
use ambit_images::DirectoryImages;
use ambit_ports::images::{ImageError, ImageStore};

use crate::world::{World, is_installed, request, wait};

/// The documented encoding, by somebody who has only its description.
const RECOMPUTE: &str = r#"
import hashlib, os, stat, sys
root = os.fsencode(sys.argv[1])
paths = [b'']
for place, directories, files in os.walk(root):
    paths += [os.path.relpath(os.path.join(place, name), root) for name in directories + files]
manifest = b'ambit image 1\n'
for path in sorted(paths):
    full = os.path.join(root, path)
    entry = os.lstat(full)
    name = b'%d:%s' % (len(path), path)
    mode = b'%04o' % (entry.st_mode & 0o7777)
    if stat.S_ISLNK(entry.st_mode):
        target = os.readlink(full)
        manifest += b'l %s %d:%s\n' % (name, len(target), target)
    elif stat.S_ISDIR(entry.st_mode):
        manifest += b'd %s %s\n' % (mode, name)
    else:
        content = open(full, 'rb').read()
        digest = hashlib.sha256(content).hexdigest().encode()
        manifest += b'f %s %d %s %s\n' % (mode, len(content), digest, name)
print('sha256:' + hashlib.sha256(manifest).hexdigest())
"#;

#[test]
fn the_same_tools_have_the_same_digest_in_another_store() {
    let tools: Vec<&str> = ["sh", "python3", "git"].into_iter().filter(|tool| is_installed(tool)).collect();
    let (one, other) = (World::new(), World::new());
    let first = one.capture("first", &tools).unwrap();
    let second = other.capture("second", &tools).unwrap();
    assert_eq!(first.image.digest, second.image.digest);
    assert_eq!(first.tools, second.tools);
    assert!(!second.reused);
}

#[test]
fn an_image_that_is_here_already_only_gets_another_name() {
    let world = World::new();
    let first = world.capture("first", &["sh"]).unwrap();
    let second = world.capture("second", &["sh"]).unwrap();
    assert!(!first.reused && second.reused);
    assert_eq!(second.image, first.image);
    assert_eq!(wait(world.images.list()).unwrap(), std::slice::from_ref(&first.image));
    for name in ["first", "second"] {
        let named = wait(world.images.named(&name.parse().unwrap())).unwrap();
        assert_eq!(named, Some(first.image.digest), "{name}");
    }
    assert_eq!(wait(world.images.named(&"third".parse().unwrap())).unwrap(), None);
}

#[test]
fn a_name_moves_to_the_newest_capture_and_the_image_before_stays() {
    let world = World::new();
    let shell = world.capture("default", &["sh"]).unwrap().image;
    let pair = world.capture("default", &["sh", "env"]).unwrap().image;
    assert_ne!(shell.digest, pair.digest);
    assert_eq!(wait(world.images.named(&"default".parse().unwrap())).unwrap(), Some(pair.digest));
    wait(world.images.verify(shell.digest)).unwrap();
    let mut both = vec![shell.digest, pair.digest];
    both.sort();
    let listed: Vec<Digest> = wait(world.images.list()).unwrap().iter().map(|image| image.digest).collect();
    assert_eq!(listed, both, "one name, so sorted by digest");
}

#[test]
fn a_script_recomputes_the_digest_from_its_description() {
    if !is_installed("python3") {
        println!("skipped: PYTHON_ABSENT");
        return;
    }
    let world = World::new();
    let image = world.capture("default", &["sh", "env"]).unwrap().image;
    let output = Command::new("python3")
        .args(["-c", RECOMPUTE])
        .arg(world.rootfs(image.digest))
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), image.digest.to_string());
}

#[test]
fn two_captures_at_once_make_one_image() {
    let world = World::new();
    let start = Barrier::new(2);
    let capture = || {
        let images = DirectoryImages::open(world.path()).unwrap();
        start.wait();
        wait(images.capture(request("default", &["sh"]))).unwrap()
    };
    let (one, other) = std::thread::scope(|scope| {
        let one = scope.spawn(capture);
        let other = scope.spawn(capture);
        (one.join().unwrap(), other.join().unwrap())
    });
    assert_eq!(one.image, other.image);
    assert!(one.reused != other.reused, "exactly one of them wrote it");
    wait(world.images.verify(one.image.digest)).unwrap();
}

#[test]
fn nothing_in_an_image_is_writable_special_or_recent() {
    let world = World::new();
    let image = world.capture("default", &["sh"]).unwrap().image;
    let mut pending = vec![world.rootfs(image.digest)];
    let mut seen = 0;
    while let Some(directory) = pending.pop() {
        let children = fs::read_dir(&directory).unwrap().map(|child| child.unwrap().path());
        for path in children.chain([directory.clone()]) {
            let metadata = fs::symlink_metadata(&path).unwrap();
            assert_eq!((metadata.mtime(), metadata.mtime_nsec()), (315_619_200, 0), "{}", path.display());
            let mode = metadata.mode() & 0o7777;
            if metadata.is_dir() {
                assert_eq!(mode, 0o555, "{}", path.display());
                pending.extend((path != directory).then_some(path));
            } else if metadata.is_file() {
                assert!(matches!(mode, 0o444 | 0o555), "{} has {mode:o}", path.display());
                seen += 1;
            } else {
                assert!(metadata.is_symlink(), "{}", path.display());
                seen += 1;
            }
        }
    }
    assert_eq!(seen, image.entries);
}

#[test]
fn a_name_that_was_altered_names_nothing() {
    let world = World::new();
    let digest = world.capture("default", &["sh"]).unwrap().image.digest;
    let file = world.path().join("names/default");
    assert_eq!(fs::read_to_string(&file).unwrap(), format!("{digest}\n"));
    for altered in ["", "latest\n", &digest.to_string(), &format!("{digest}\n\n"), &"a".repeat(1 << 20)] {
        fs::remove_file(&file).unwrap();
        fs::write(&file, altered).unwrap();
        let error = wait(world.images.named(&"default".parse().unwrap())).unwrap_err();
        assert_eq!(error.code(), "IMAGE_STORE_FAILED");
    }
    world.capture("default", &["sh"]).unwrap();
    assert_eq!(wait(world.images.named(&"default".parse().unwrap())).unwrap(), Some(digest));
}

type Alteration = (&'static str, fn(&Path));

/// What can be done to an image by whoever may write to it. Each gets the root of a fresh one.
const ALTERATIONS: [Alteration; 12] = [
    ("one byte", |root| {
        let file = root.join("etc/passwd");
        let mut bytes = fs::read(&file).unwrap();
        bytes[0] ^= 1;
        write(&file, &bytes);
    }),
    ("a file cut to nothing", |root| write(&root.join("etc/hosts"), b"")),
    ("an executable bit", |root| set_mode(&root.join("etc/hosts"), 0o555)),
    ("a set-user-id bit", |root| set_mode(&root.join("etc/hosts"), 0o4444)),
    ("the mode of a directory", |root| set_mode(&root.join("tmp"), 0o1777)),
    ("the mode of the root", |root| set_mode(root, 0o755)),
    ("a file more", |root| write(&root.join("tmp/file"), b"")),
    ("a directory more", |root| within(&root.join("tmp"), || fs::create_dir(root.join("tmp/sub")).unwrap())),
    ("a file less", |root| within(&root.join("etc"), || fs::remove_file(root.join("etc/hosts")).unwrap())),
    ("another name", |root| {
        within(&root.join("etc"), || fs::rename(root.join("etc/hosts"), root.join("etc/hostt")).unwrap());
    }),
    ("a link in the place of a file", |root| {
        within(&root.join("etc"), || {
            fs::copy(root.join("etc/hosts"), root.parent().unwrap().join("hosts")).unwrap();
            fs::remove_file(root.join("etc/hosts")).unwrap();
            symlink("../../hosts", root.join("etc/hosts")).unwrap();
        });
    }),
    ("the target of a link", |root| {
        let link = find_link(root).expect("an image has a link");
        let target = fs::read_link(&link).unwrap();
        within(link.parent().unwrap(), || {
            fs::remove_file(&link).unwrap();
            symlink(Path::new(".").join(target), &link).unwrap();
        });
    }),
];

fn find_link(directory: &Path) -> Option<PathBuf> {
    let paths: Vec<PathBuf> = fs::read_dir(directory).unwrap().map(|child| child.unwrap().path()).collect();
    let link = paths.iter().find(|path| path.is_symlink()).cloned();
    link.or_else(|| paths.iter().filter(|path| path.is_dir()).find_map(|path| find_link(path)))
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Does something in a sealed directory, and seals it again.
fn within(directory: &Path, work: impl FnOnce()) {
    set_mode(directory, 0o755);
    work();
    set_mode(directory, 0o555);
}

fn write(file: &Path, bytes: &[u8]) {
    within(file.parent().unwrap(), || {
        if file.exists() {
            set_mode(file, 0o644);
        }
        fs::write(file, bytes).unwrap();
        set_mode(file, 0o444);
    });
}

#[test]
fn any_alteration_is_found_and_both_digests_are_told() {
    for (what, alter) in ALTERATIONS {
        let world = World::new();
        let image = world.capture("default", &["sh"]).unwrap().image;
        wait(world.images.verify(image.digest)).unwrap();
        alter(&world.rootfs(image.digest));
        let error = wait(world.images.verify(image.digest)).expect_err(what);
        assert_eq!(error.code(), "IMAGE_CORRUPT", "{what}");
        let ImageError::Corrupt { expected, found } = &error else { panic!("{what}: {error}") };
        assert!(*expected == image.digest && found != expected, "{what}");
        assert!(error.to_string().contains(&found.to_string()), "{what}: {error}");
        assert!(error.to_string().contains(&expected.to_string()), "{what}: {error}");

        let another_process = DirectoryImages::open(world.path()).unwrap();
        let used = wait(another_process.root(image.digest)).expect_err(what);
        assert_eq!(used.code(), "IMAGE_CORRUPT", "{what}: nothing runs from an altered image");
        let again = world.capture("default", &["sh"]).expect_err(what);
        assert_eq!(again.code(), "IMAGE_CORRUPT", "{what}: an altered image is not used again");
    }
}

#[test]
fn the_record_beside_an_image_must_fit_it() {
    let world = World::new();
    let image = world.capture("default", &["sh"]).unwrap().image;
    let record = world.home(image.digest).join("image.json");
    let text = fs::read_to_string(&record).unwrap();
    let entries = format!("\"entries\":{}", image.entries);
    for (from, to) in [(entries.as_str(), "\"entries\":1"), ("{", "{ "), ("\"tools\"", "\"toolz\"")] {
        assert!(text.contains(from), "{from}");
        fs::remove_file(&record).unwrap();
        fs::write(&record, text.replacen(from, to, 1)).unwrap();
        let error = wait(world.images.verify(image.digest)).expect_err(to);
        assert_eq!(error.code(), "IMAGE_STORE_FAILED", "{to}");
    }
}
