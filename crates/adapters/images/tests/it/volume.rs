//! Volumes: the same sources are the same digest, nothing hostile comes along, and what was altered is refused.

use std::fs::{self, File, FileTimes, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use ambit_ids::Digest;
use ambit_images::{VolumeCaptureError, VolumeReport, VolumeRequest, VolumeSource};
use ambit_ports::images::ImageStore as _;
use ambit_ports::volumes::{VolumeKind, VolumeStore as _};
use tempfile::TempDir;

use crate::world::{World, has_namespaces, is_installed, search_path, wait};

impl World {
    pub(crate) fn capture_volume(
        &self,
        name: &str,
        source: VolumeSource,
    ) -> Result<VolumeReport, VolumeCaptureError> {
        wait(self.images.capture_volume(VolumeRequest { name: name.parse().unwrap(), source }))
    }

    fn capture_directory(&self, directory: &Path) -> Result<VolumeReport, VolumeCaptureError> {
        self.capture_volume("data", VolumeSource::Directory(directory.to_path_buf()))
    }

    pub(crate) fn volume_home(&self, digest: Digest) -> PathBuf {
        self.path().join(format!("volumes/sha256-{}", digest.to_hex()))
    }
}

/// A directory with these files.
pub(crate) fn directory(files: &[(&str, &str)]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = directory.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    directory
}

fn source() -> TempDir {
    let directory = directory(&[("bin/tool", "#!/bin/sh\n"), ("lib/a.txt", "a"), ("lib/odd\nname", "odd")]);
    symlink("../lib/a.txt", directory.path().join("bin/link")).unwrap();
    symlink("no-such-file", directory.path().join("dangling")).unwrap();
    fs::set_permissions(directory.path().join("bin/tool"), Permissions::from_mode(0o4755)).unwrap();
    fs::create_dir(directory.path().join("empty")).unwrap();
    directory
}

#[test]
fn the_same_files_are_the_same_volume_whatever_their_times_owners_and_masks() {
    let (one, other) = (source(), source());
    let later = FileTimes::new().set_modified(SystemTime::now() + Duration::from_secs(1000));
    File::open(other.path().join("lib/a.txt")).unwrap().set_times(later).unwrap();
    fs::set_permissions(other.path().join("lib/a.txt"), Permissions::from_mode(0o600)).unwrap();
    fs::set_permissions(other.path().join("bin/tool"), Permissions::from_mode(0o700)).unwrap();
    let (here, there) = (World::new(), World::new());

    let report = here.capture_directory(one.path()).unwrap();
    let volume = &report.volume;
    assert_eq!((volume.kind, volume.name.as_str()), (VolumeKind::Directory, "data"));
    assert_eq!((volume.entries, volume.size_bytes.get()), (5, 14));
    assert_eq!((report.reused, report.left_out.len()), (false, 0));
    assert_eq!(there.capture_directory(other.path()).unwrap().volume, *volume);
    let again = here.capture_volume("again", VolumeSource::Directory(other.path().to_path_buf())).unwrap();
    assert_eq!((again.volume, again.reused), (volume.clone(), true));

    let root = wait(here.images.volume_root(volume.digest)).unwrap();
    assert_eq!(root, here.volume_home(volume.digest).join("tree"));
    for (path, mode) in [("bin/tool", 0o555), ("lib/a.txt", 0o444), ("empty", 0o555), ("", 0o555)] {
        let metadata = fs::symlink_metadata(root.join(path)).unwrap();
        assert_eq!((metadata.mode() & 0o7777, metadata.mtime()), (mode, 315_619_200), "{path}");
    }
    assert_eq!(fs::read_link(root.join("bin/link")).unwrap(), Path::new("../lib/a.txt"));

    let named = |name: &str| wait(here.images.volume_named(&name.parse().unwrap())).unwrap();
    assert_eq!((named("data"), named("again")), (Some(volume.digest), Some(volume.digest)));
    assert_eq!(named("other"), None);
    assert_eq!(wait(here.images.list_volumes()).unwrap(), std::slice::from_ref(volume));
    wait(here.images.verify_volume(volume.digest)).unwrap();
}

#[test]
fn the_digest_of_a_volume_is_the_published_one() {
    let world = World::new();
    let source = directory(&[("a", "one")]);
    let content = Digest::of(b"one").to_hex();
    let manifest = format!("ambit volume 1\nd 0555 0:\nf 0444 3 {content} 1:a\n");
    let digest = world.capture_directory(source.path()).unwrap().volume.digest;
    assert_eq!(digest, Digest::of(manifest.as_bytes()));
}

#[test]
fn an_altered_volume_is_refused_before_it_is_used() {
    let world = World::new();
    let digest = world.capture_directory(source().path()).unwrap().volume.digest;
    let file = world.volume_home(digest).join("tree/lib/a.txt");
    fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    fs::write(&file, "b").unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o444)).unwrap();
    assert_eq!(wait(world.images.volume_root(digest)).unwrap_err().code(), "VOLUME_CORRUPT");
    assert_eq!(wait(world.images.verify_volume(digest)).unwrap_err().code(), "VOLUME_CORRUPT");
    assert_eq!(world.capture_directory(source().path()).unwrap_err().code(), "VOLUME_CORRUPT");
    let absent = Digest::of(b"no volume");
    assert_eq!(wait(world.images.volume_root(absent)).unwrap_err().code(), "VOLUME_NOT_FOUND");
    symlink(world.volume_home(digest), world.volume_home(absent)).unwrap();
    assert_eq!(wait(world.images.volume_root(absent)).unwrap_err().code(), "VOLUME_CORRUPT");
}

#[test]
fn no_volume_is_an_image_and_no_image_a_volume() {
    let world = World::new();
    let image = world.capture("default", &["sh"]).unwrap().image.digest;
    let volume = world.capture_directory(source().path()).unwrap().volume.digest;
    assert_eq!(wait(world.images.volume_root(image)).unwrap_err().code(), "VOLUME_NOT_FOUND");
    assert_eq!(wait(world.images.root(volume)).unwrap_err().code(), "IMAGE_NOT_FOUND");
    assert_eq!(wait(world.images.list()).unwrap().len(), 1);
    assert_eq!(wait(world.images.list_volumes()).unwrap().len(), 1);
    wait(world.images.root(image)).unwrap();
    wait(world.images.volume_root(volume)).unwrap();
}

/// Asserts that a source is refused by this code and that nothing is left of the attempt.
fn refused(world: &World, source: VolumeSource, code: &str) -> VolumeCaptureError {
    let error = world.capture_volume("data", source).unwrap_err();
    assert_eq!(error.code(), code, "{error}");
    assert!(wait(world.images.list_volumes()).unwrap().is_empty(), "{code}");
    assert_eq!(fs::read_dir(world.path().join("volumes/staging")).unwrap().count(), 0, "{code}");
    assert_eq!(wait(world.images.volume_named(&"data".parse().unwrap())).unwrap(), None, "{code}");
    error
}

#[test]
fn what_leads_out_or_is_no_file_is_refused_and_named() {
    let world = World::new();
    let taken = |directory: &TempDir| VolumeSource::Directory(directory.path().to_path_buf());
    for target in ["/etc/passwd", "../outside", "..", "a/../../outside", "/"] {
        let source = directory(&[("lib/a", "a")]);
        symlink(target, source.path().join("link")).unwrap();
        let error = refused(&world, taken(&source), "VOLUME_LINK_LEAVES");
        assert!(error.to_string().contains("link\" is a link to"), "{error}");
    }
    let source = directory(&[("a", "a")]);
    assert!(Command::new("mkfifo").arg(source.path().join("pipe")).status().unwrap().success());
    let error = refused(&world, taken(&source), "VOLUME_SPECIAL_FILE");
    assert!(error.to_string().contains("pipe"), "{error}");

    let source = directory(&[("a", "a")]);
    let _socket = UnixListener::bind(source.path().join("socket\u{1b}[31m")).unwrap();
    let error = refused(&world, taken(&source), "VOLUME_SPECIAL_FILE");
    assert!(!error.to_string().contains('\u{1b}'), "{error:?}");

    let deep = directory(&[]);
    fs::create_dir_all(deep.path().join("d/".repeat(102))).unwrap();
    refused(&world, taken(&deep), "VOLUME_TOO_LARGE");
    refused(&world, VolumeSource::Directory("/no/such/directory".into()), "VOLUME_SOURCE_UNREADABLE");
    refused(&world, VolumeSource::Directory(source.path().join("a")), "VOLUME_SOURCE_UNREADABLE");
    for overlapping in [world.path().to_path_buf(), world.path().join("volumes"), world.path().join("..")] {
        refused(&world, VolumeSource::Directory(overlapping), "VOLUME_SOURCE_OVERLAPS");
    }
    fs::remove_file(source.path().join("socket\u{1b}[31m")).unwrap();
    world.capture_directory(source.path()).unwrap();
}

#[test]
fn what_cannot_be_read_is_refused_and_named() {
    let world = World::new();
    let source = directory(&[("secret", "s")]);
    fs::set_permissions(source.path().join("secret"), Permissions::from_mode(0o000)).unwrap();
    if fs::read(source.path().join("secret")).is_ok() {
        println!("skipped: MAY_READ_EVERYTHING what_cannot_be_read_is_refused_and_named");
        return;
    }
    let taken = VolumeSource::Directory(source.path().to_path_buf());
    let error = refused(&world, taken, "VOLUME_SOURCE_UNREADABLE");
    assert!(error.to_string().contains("secret"), "{error}");
}

#[test]
fn a_python_environment_is_its_packages_without_byte_code() {
    let world = World::new();
    let packages = "lib/python3.11/site-packages";
    let venv = directory(&[
        ("pyvenv.cfg", "home = /usr/bin\n"),
        ("bin/activate", "x"),
        (&format!("{packages}/pkg/__init__.py"), "x = 1\n"),
        (&format!("{packages}/pkg/__pycache__/__init__.cpython-311.pyc"), "code"),
    ]);
    let taken = |path: &Path| VolumeSource::Python(path.to_path_buf());
    let report = world.capture_volume("python", taken(venv.path())).unwrap();
    let root = wait(world.images.volume_root(report.volume.digest)).unwrap();
    assert_eq!(fs::read_to_string(root.join("pkg/__init__.py")).unwrap(), "x = 1\n");
    assert_eq!(report.volume.entries, 1);
    assert!(report.left_out[0].what.ends_with("pkg/__pycache__"), "{:?}", report.left_out);
    let itself = world.capture_volume("python", taken(&venv.path().join(packages))).unwrap();
    assert_eq!(itself.volume.digest, report.volume.digest);

    let led = directory(&[("pyvenv.cfg", "home = /usr/bin\n"), ("lib/python3.11/.keep", "")]);
    let outside = source();
    std::os::unix::fs::symlink(outside.path(), led.path().join(packages)).unwrap();
    let error = world.capture_volume("python", taken(led.path())).unwrap_err();
    assert_eq!(error.code(), "VOLUME_LINK_LEAVES", "{error}");
    fs::create_dir_all(venv.path().join("lib/python3.12/site-packages")).unwrap();
    let error = world.capture_volume("python", taken(venv.path())).unwrap_err();
    assert_eq!(error.code(), "VOLUME_SITE_PACKAGES", "{error}");
}

fn node_modules() -> TempDir {
    let modules = directory(&[
        ("greet/package.json", "{\"name\":\"greet\",\"version\":\"1.0.0\",\"main\":\"main.js\"}"),
        ("greet/main.js", "module.exports = require('word') + '!';"),
        ("greet/cli.js", "#!/usr/bin/env node\nconsole.log(require('./main.js'));"),
        ("greet/node_modules/word/index.js", "module.exports = 'hello';"),
        (".cache/babel/x.json", "{}"),
    ]);
    fs::create_dir(modules.path().join(".bin")).unwrap();
    symlink("../greet/cli.js", modules.path().join(".bin/greet")).unwrap();
    fs::set_permissions(modules.path().join("greet/cli.js"), Permissions::from_mode(0o755)).unwrap();
    modules
}

#[test]
fn node_modules_keep_their_links_and_lose_their_caches() {
    let world = World::new();
    let modules = node_modules();
    let report =
        world.capture_volume("modules", VolumeSource::NodeModules(modules.path().to_path_buf())).unwrap();
    assert_eq!(report.volume.kind, VolumeKind::NodeModules);
    assert!(report.left_out[0].what.ends_with(".cache"), "{:?}", report.left_out);
    let root = wait(world.images.volume_root(report.volume.digest)).unwrap();
    assert_eq!(fs::read_link(root.join(".bin/greet")).unwrap(), Path::new("../greet/cli.js"));
    symlink("../../packages/own", modules.path().join("greet/own")).unwrap();
    let source = VolumeSource::NodeModules(modules.path().to_path_buf());
    assert_eq!(world.capture_volume("modules", source).unwrap_err().code(), "VOLUME_LINK_LEAVES");
}

/// A root with the tools of this machine, in which a volume lies where a sandbox has it.
const NODE_ROOT: &str = r#"
    mount -t tmpfs tmpfs "$0" && cd "$0" && mkdir -p volumes/node_modules workspace/src/deep dev &&
    for top in /usr /bin /lib /lib64 /etc /proc; do
        if [ -L "$top" ]; then cp -P "$top" .; elif [ -d "$top" ]; then mkdir ".$top" && mount --rbind "$top" ".$top"; fi
    done &&
    mount --rbind /dev dev && mount --bind "$1" volumes/node_modules && mount -o remount,ro,bind volumes/node_modules &&
    ln -s /volumes/node_modules node_modules && echo "console.log(require('greet'))" > workspace/src/deep/app.js &&
    exec "$(command -v chroot || echo /usr/sbin/chroot)" "$0" /bin/sh -c \
        'cd /workspace/src/deep && node app.js && /node_modules/.bin/greet && ! touch /node_modules/x 2>/dev/null'"#;

#[test]
fn node_finds_its_modules_from_the_workspace() {
    let test = "node_finds_its_modules_from_the_workspace";
    let is_system = search_path().iter().any(|path| path.starts_with("/usr") && path.join("node").is_file());
    if !is_installed("node") || !is_system || !has_namespaces(test) {
        println!("skipped: NODE_ABSENT {test}");
        return;
    }
    let world = World::new();
    let modules = node_modules();
    let source = VolumeSource::NodeModules(modules.path().to_path_buf());
    let digest = world.capture_volume("modules", source).unwrap().volume.digest;
    let root = tempfile::tempdir().unwrap();
    let output = Command::new("unshare")
        .args(["--map-root-user", "--mount", "--net", "sh", "-c", NODE_ROOT])
        .arg(root.path())
        .arg(wait(world.images.volume_root(digest)).unwrap())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(said, "hello!\nhello!\n", "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success());
}
