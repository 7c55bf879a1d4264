use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ambit_ids::Digest;
use ambit_images::{ImportError, ImportReport, ImportRequest, Origin, SourceFormat};
use ambit_ports::images::ImageStore;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::layout::{GZIP, INDEX, Layout, MANIFEST, Put, TAR, architecture, gzipped, tarred};
use crate::running::succeed;
use crate::world::{World, has_namespaces, is_installed, scratch, wait};

fn request(source: &Path) -> ImportRequest {
    let name = "imported".parse().unwrap();
    ImportRequest { name, source: source.to_path_buf(), platform: None, reference: None }
}

fn import(world: &World, source: &Path) -> Result<ImportReport, ImportError> {
    wait(world.images.import(request(source)))
}

/// Nothing but an empty store is left.
fn assert_untouched(world: &World) {
    assert!(wait(world.images.digests()).unwrap().is_empty());
    assert_eq!(fs::read_dir(world.path().join("staging")).unwrap().count(), 0);
    assert_eq!(fs::read_dir(world.path().join("names")).unwrap().count(), 0);
}

fn put(directory: &TempDir, name: &str, bytes: &[u8]) -> PathBuf {
    let path = directory.path().join(name);
    fs::write(&path, bytes).unwrap();
    path
}

fn layers() -> Vec<Vec<u8>> {
    let long = format!("usr/share/{}/{}", "n".repeat(120), "m".repeat(120));
    vec![
        tarred(&[
            ("usr/bin/tool", Put::Program("#!/bin/sh\n")),
            ("usr/bin/other", Put::HardLink("usr/bin/tool")),
            ("usr/bin/data", Put::File("no program")),
            ("bin", Put::Link("usr/bin")),
            ("etc/passwd", Put::File("root:x:0:0::/:/bin/sh\n")),
            ("opt/a/kept", Put::File("1")),
            ("opt/a/gone", Put::File("1")),
            ("opt/b/all", Put::File("1")),
            ("opt/c", Put::File("a file")),
            ("tmp/left", Put::File("1")),
            (&long, Put::File("far away")),
        ]),
        tarred(&[
            ("opt/a/.wh.gone", Put::File("")),
            ("opt/b/.wh..wh..opq", Put::File("")),
            ("opt/b/new", Put::File("2")),
            ("opt/c", Put::Directory),
            ("opt/c/inside", Put::File("2")),
            ("usr/bin/called", Put::Link("../../usr/bin/tool")),
            ("usr/bin/broken", Put::Link("nowhere")),
        ]),
        tarred(&[("opt/.wh.c", Put::File("")), ("opt/b/new", Put::Link("/etc/passwd"))]),
    ]
}

fn layout(directory: &TempDir) -> Layout {
    let layout = Layout::new(directory.path().join("layout"));
    layout.index(&[layout.image(architecture(), &layers())]);
    layout
}

#[test]
fn a_layout_a_tar_of_it_and_the_same_again_are_one_image() {
    let (world, directory) = (World::new(), TempDir::new().unwrap());
    let layout = layout(&directory);
    let first = import(&world, &layout.0).unwrap();
    assert!(!first.reused);
    assert_eq!(first.image.tools, ["called", "other", "tool"]);
    assert_eq!(first.origin.format, SourceFormat::OciLayout);
    assert_eq!(first.origin.layers, layers().iter().map(|layer| Digest::of(layer)).collect::<Vec<_>>());
    assert!(first.origin.added.contains(&"/workspace".to_owned()));
    assert!(!first.origin.added.contains(&"/etc/passwd".to_owned()), "{:?}", first.origin.added);
    let left: Vec<_> = first.left_out.iter().map(|left| left.what.to_str().unwrap()).collect();
    assert_eq!(left, ["/tmp", "/usr/bin/other", "/usr/bin/tool"]);

    let root = world.rootfs(first.image.digest);
    for (path, content) in [("opt/a/kept", "1"), ("etc/passwd", "root:x:0:0::/:/bin/sh\n")] {
        assert_eq!(fs::read_to_string(root.join(path)).unwrap(), content);
    }
    assert_eq!(fs::read_link(root.join("opt/b/new")).unwrap(), Path::new("/etc/passwd"));
    for gone in ["opt/a/gone", "opt/b/all", "opt/c", "tmp/left", "opt/a/.wh.gone"] {
        assert!(root.join(gone).symlink_metadata().is_err(), "{gone}");
    }

    let tar = directory.path().join("layout.tar");
    layout.tar(&tar);
    let packed = put(&directory, "layout.tar.gz", &gzipped(&fs::read(&tar).unwrap()));
    for (source, format) in [
        (&layout.0, SourceFormat::OciLayout),
        (&tar, SourceFormat::OciArchive),
        (&packed, SourceFormat::OciArchive),
    ] {
        let again = import(&World::new(), source).unwrap();
        assert_eq!((again.image, again.origin.format), (first.image.clone(), format));
        assert!(import(&world, source).unwrap().reused);
    }
    let origin = wait(world.images.origin(first.image.digest)).unwrap();
    assert_eq!(origin, Some(Origin::Imported(first.origin)), "the first origin is the one that is kept");
    wait(world.images.verify(first.image.digest)).unwrap();
}

#[test]
fn a_tar_of_a_captured_image_is_that_image() {
    let (world, other, directory) = (World::new(), World::new(), TempDir::new().unwrap());
    let tools = ["sh", "env"];
    let captured = world.capture("captured", &tools).unwrap().image;
    let tar = directory.path().join("rootfs.tar");
    let mut builder = tar::Builder::new(fs::File::create(&tar).unwrap());
    builder.follow_symlinks(false);
    builder.append_dir_all(".", world.rootfs(captured.digest)).unwrap();
    builder.finish().unwrap();
    let imported = import(&other, &tar).unwrap();
    assert_eq!(
        (imported.image.digest, imported.image.entries),
        (captured.digest, captured.entries),
        "{:?}",
        imported.left_out
    );
    assert_eq!(imported.origin.format, SourceFormat::RootfsTar);
    assert!(imported.origin.added.is_empty() && imported.left_out.is_empty());
    for tool in tools {
        assert!(imported.image.tools.iter().any(|known| known == tool), "{tool}");
    }
    if has_namespaces("a_tar_of_a_captured_image_is_that_image") {
        let rootfs = wait(other.images.root(imported.image.digest)).unwrap();
        assert_eq!(succeed(&rootfs, "echo $((6 * 7))"), "42");
    }
}

#[test]
fn a_root_file_system_of_one_program_runs() {
    const TEST: &str = "a_root_file_system_of_one_program_runs";
    let busybox = ["/bin/busybox", "/usr/bin/busybox"].map(Path::new).into_iter().find(|path| path.is_file());
    let Some(busybox) = busybox else {
        println!("skipped: BUSYBOX_ABSENT {TEST}");
        return;
    };
    if fs::read(busybox).unwrap().windows(11).any(|window| window == b"/ld-linux-x") {
        println!("skipped: BUSYBOX_DYNAMIC {TEST}");
        return;
    }
    if !has_namespaces(TEST) {
        return;
    }
    let (world, directory) = (World::new(), TempDir::new().unwrap());
    let mut builder = tar::Builder::new(Vec::new());
    builder.append_path_with_name(busybox, "bin/busybox").unwrap();
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::Symlink);
    header.set_mode(0o777);
    header.set_size(0);
    for name in ["sh", "cat"] {
        builder.append_link(&mut header, format!("bin/{name}"), "busybox").unwrap();
    }
    let tar = put(&directory, "rootfs.tar.gz", &gzipped(&builder.into_inner().unwrap()));
    let image = import(&world, &tar).unwrap().image;
    assert_eq!(image.tools, ["busybox", "cat", "sh"]);
    let rootfs = wait(world.images.root(image.digest)).unwrap();
    assert_eq!(succeed(&rootfs, "cat /etc/hosts | cat"), "127.0.0.1 localhost\n::1 localhost");
}

/// Puts layers together and prints the digest of the image, by somebody who has only the descriptions.
const ORACLE: &str = r#"
import hashlib, sys, tarfile
tree = {}
def drop(path, itself):
    for known in list(tree):
        if known.startswith(path + '/' if path else '') and known != path or itself and known == path:
            del tree[known]
for layer in sys.argv[1:]:
    with tarfile.open(layer) as archive:
        members = [(m.name.strip('/'), m, archive.extractfile(m).read() if m.isreg() else b'') for m in archive]
    for name, m, content in members:
        parent, _, base = name.rpartition('/')
        if base == '.wh..wh..opq':
            drop(parent, False)
        elif base.startswith('.wh.'):
            drop((parent + '/' if parent else '') + base[4:], True)
    for name, m, content in members:
        if '/.wh.' in '/' + name:
            continue
        for at in range(len(name)):
            if name[at] == '/':
                tree.setdefault(name[:at], ('d',))
        if m.isdir():
            if tree.get(name, ('',))[0] != 'd':
                tree[name] = ('d',)
            continue
        drop(name, False)
        if m.issym():
            tree[name] = ('l', m.linkname)
        elif m.islnk():
            tree[name] = tree[m.linkname]
        else:
            tree[name] = ('f', 0o555 if m.mode & 0o111 else 0o444, content)
mounts = 'dev fixtures home/sandbox proc run sys tmp var/tmp workspace'.split()
for mount in mounts:
    drop(mount, False)
    for path in [mount[:at] for at in range(len(mount)) if mount[at] == '/'] + [mount]:
        tree.setdefault(path, ('d',))
tree.setdefault('etc', ('d',))
for name, text in {
    'etc/passwd': 'sandbox:x:1000:1000:sandbox:/home/sandbox:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n',
    'etc/group': 'sandbox:x:1000:\nnogroup:x:65534:\n',
    'etc/nsswitch.conf': 'passwd: files\ngroup: files\nshadow: files\nhosts: files\n',
    'etc/hosts': '127.0.0.1 localhost\n::1 localhost\n',
}.items():
    tree.setdefault(name, ('f', 0o444, text.encode()))
tree[''] = ('d',)
manifest = b'ambit image 1\n'
for path in sorted(tree, key=lambda path: path.encode()):
    kind, *rest = tree[path]
    raw = path.encode()
    name = b'%d:%s' % (len(raw), raw)
    if kind == 'd':
        manifest += b'd 0555 %s\n' % name
    elif kind == 'l':
        target = rest[0].encode()
        manifest += b'l %s %d:%s\n' % (name, len(target), target)
    else:
        mode, content = rest
        digest = hashlib.sha256(content).hexdigest().encode()
        manifest += b'f %04o %d %s %s\n' % (mode, len(content), digest, name)
print('sha256:' + hashlib.sha256(manifest).hexdigest())
"#;

#[test]
fn another_program_puts_the_layers_together_alike() {
    if !is_installed("python3") {
        println!("skipped: PYTHON_ABSENT another_program_puts_the_layers_together_alike");
        return;
    }
    let (world, directory) = (World::new(), TempDir::new().unwrap());
    let digest = import(&world, &layout(&directory).0).unwrap().image.digest;
    let files = layers()
        .iter()
        .enumerate()
        .map(|(at, layer)| put(&directory, &format!("{at}.tar"), layer))
        .collect::<Vec<_>>();
    let output =
        Command::new("python3").args(["-c", ORACLE]).args(files).stderr(Stdio::inherit()).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), digest.to_string());
}

#[test]
fn every_blob_is_held_against_what_is_said_of_it() {
    let (world, directory) = (World::new(), TempDir::new().unwrap());
    let mut number = 0;
    let mut refused = |damage: &dyn Fn(&Layout, &Value, &Value), code: &str| {
        number += 1;
        let layout = Layout::new(directory.path().join(number.to_string()));
        let plain = tarred(&[("a", Put::File("content"))]);
        let layer = layout.add(GZIP, &gzipped(&plain));
        let manifest =
            layout.image_of(architecture(), std::slice::from_ref(&layer), &[Digest::of(&plain).to_string()]);
        layout.index(std::slice::from_ref(&manifest));
        damage(&layout, &manifest, &layer);
        let tar = directory.path().join(format!("{number}.tar"));
        layout.tar(&tar);
        for source in [&layout.0, &tar] {
            let error = import(&world, source).unwrap_err();
            assert_eq!(error.code(), code, "{error}");
            assert_untouched(&world);
        }
    };
    refused(
        &|layout, _, layer| {
            let mut bytes = fs::read(layout.blob(layer)).unwrap();
            let last = bytes.len() - 1;
            bytes[last] ^= 1;
            fs::write(layout.blob(layer), bytes).unwrap();
        },
        "IMAGE_BLOB_CORRUPT",
    );
    refused(&|layout, _, layer| fs::remove_file(layout.blob(layer)).unwrap(), "IMAGE_BLOB_MISSING");
    refused(&|layout, manifest, _| fs::write(layout.blob(manifest), "{}").unwrap(), "IMAGE_BLOB_CORRUPT");
    let with = |media_type: &'static str, diff_ids: Vec<String>, size: Option<u64>| {
        move |layout: &Layout, _: &Value, layer: &Value| {
            let mut layer = layer.clone();
            layer["mediaType"] = json!(media_type);
            if let Some(size) = size {
                layer["size"] = json!(size);
            }
            layout.index(&[layout.image_of(architecture(), &[layer], &diff_ids)]);
        }
    };
    let other = vec![Digest::of(b"another layer").to_string()];
    refused(&with(GZIP, other.clone(), None), "IMAGE_LAYER_CORRUPT");
    refused(&with(GZIP, other.clone(), Some(7)), "IMAGE_BLOB_CORRUPT");
    refused(&with(TAR, other.clone(), None), "IMAGE_ARCHIVE_DAMAGED");
    refused(
        &with("application/vnd.oci.image.layer.v1.tar+zstd", other.clone(), None),
        "IMAGE_LAYER_UNSUPPORTED",
    );
    refused(&with(GZIP, vec![], None), "IMAGE_DOCUMENT_UNFIT");
    refused(&with(GZIP, vec!["sha512:00".to_owned()], None), "IMAGE_DOCUMENT_UNFIT");
    for index in ["", "[]", "{\"schemaVersion\":1,\"manifests\":[]}", &"[".repeat(9000)] {
        refused(
            &|layout, _, _| fs::write(layout.0.join("index.json"), index).unwrap(),
            "IMAGE_DOCUMENT_UNFIT",
        );
    }
    refused(&|layout, _, _| layout.index(&[]), "IMAGE_CHOICE_EMPTY");
    refused(
        &|layout, _, _| fs::write(layout.0.join("oci-layout"), r#"{"imageLayoutVersion":"2.0.0"}"#).unwrap(),
        "IMAGE_DOCUMENT_UNFIT",
    );
    refused(
        &|layout, _, _| {
            let evil = json!({"mediaType": MANIFEST, "digest": "sha256:../../../../etc/passwd", "size": 1});
            layout.index(&[evil]);
        },
        "IMAGE_DOCUMENT_UNFIT",
    );
}

#[test]
fn one_image_of_several_is_chosen_or_all_are_named() {
    let (world, directory) = (World::new(), TempDir::new().unwrap());
    let layout = Layout::new(directory.path().join("layout"));
    let image = |content: &str, architecture: &str, reference: &str| {
        let mut manifest = layout.image(architecture, &[tarred(&[("content", Put::File(content))])]);
        manifest["annotations"] = json!({"org.opencontainers.image.ref.name": reference});
        manifest
    };
    let (one, two) = (image("one", architecture(), "v1"), image("two", architecture(), "v2"));
    let mut foreign = image("three", "riscv64", "v1");
    foreign["platform"] = json!({"os": "linux", "architecture": "riscv64"});
    let attestation = json!({"mediaType": MANIFEST, "digest": Digest::of(b"").to_string(), "size": 0,
        "platform": {"os": "unknown", "architecture": "unknown"}});
    let nested = json!({"schemaVersion": 2, "manifests": [two, foreign, attestation]});
    let mut nested = layout.add_json(INDEX, &nested);
    nested["annotations"] = json!({"org.opencontainers.image.ref.name": "several"});
    layout.index(&[one, nested]);

    let choose = |platform: Option<&str>, reference: Option<&str>| {
        let platform = platform.map(|platform| platform.parse().unwrap());
        let reference = reference.map(str::to_owned);
        wait(world.images.import(ImportRequest { platform, reference, ..request(&layout.0) }))
    };
    let error = choose(None, None).unwrap_err();
    assert_eq!(error.code(), "IMAGE_CHOICE_NEEDED");
    for part in ["v1", "v2", "--ref"] {
        assert!(error.to_string().contains(part), "{part}: {error}");
    }
    let error = choose(Some("linux/s390x"), None).unwrap_err();
    assert_eq!(error.code(), "IMAGE_CHOICE_EMPTY");
    assert!(error.to_string().contains("linux/riscv64"), "{error}");
    assert_eq!(choose(None, Some("v9")).unwrap_err().code(), "IMAGE_CHOICE_EMPTY");
    for (platform, reference, content) in
        [(None, Some("v1"), "one"), (None, Some("several"), "two"), (Some("linux/riscv64"), None, "three")]
    {
        let report = choose(platform, reference).unwrap();
        let root = world.rootfs(report.image.digest);
        assert_eq!(fs::read_to_string(root.join("content")).unwrap(), content);
        assert!(report.origin.reference.is_some());
    }
}

#[test]
fn what_is_no_source_is_refused_and_nothing_is_followed() {
    let (world, directory) = (World::new(), scratch("import-"));
    let code = |source: &Path| import(&world, source).unwrap_err().code();
    assert_eq!(code(&directory.path().join("absent")), "IMAGE_SOURCE_UNREADABLE");
    assert_eq!(code(directory.path()), "IMAGE_SOURCE_UNFIT");
    assert_eq!(code(&put(&directory, "text", &b"no archive\n".repeat(99))), "IMAGE_ARCHIVE_DAMAGED");
    let old = tarred(&[("manifest.json", Put::File("[]")), ("abc/layer.tar", Put::File(""))]);
    assert_eq!(code(&put(&directory, "old.tar", &old)), "IMAGE_SOURCE_UNFIT");
    assert_eq!(code(Path::new("/dev/zero")), "IMAGE_SOURCE_UNREADABLE");

    let layout = Layout::new(directory.path().join("layout"));
    let manifest = layout.image(architecture(), &layers());
    layout.index(std::slice::from_ref(&manifest));
    let blob = layout.blob(&manifest);
    let moved = directory.path().join("moved");
    fs::rename(&blob, &moved).unwrap();
    std::os::unix::fs::symlink(&moved, &blob).unwrap();
    assert_eq!(code(&layout.0), "IMAGE_SOURCE_UNREADABLE", "a blob that is a link is not followed");
    fs::remove_file(&blob).unwrap();
    fs::rename(&moved, &blob).unwrap();
    fs::rename(layout.0.join("blobs"), &moved).unwrap();
    std::os::unix::fs::symlink(&moved, layout.0.join("blobs")).unwrap();
    assert_eq!(code(&layout.0), "IMAGE_SOURCE_UNREADABLE");
    assert_untouched(&world);
}
