use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use ambit_ids::{Digest, ImageName};
use ambit_images::{CaptureError, CaptureRequest, Tool};
use ambit_ports::images::{ImageError, ImageStore};
use tempfile::TempDir;

use crate::world::{World, is_installed, request, scratch, search_path, wait};

/// A directory with tools that were made for a test.
struct Tools(TempDir);

impl Tools {
    fn new() -> Self {
        Self(scratch("tools-"))
    }

    fn add(&self, name: &str, content: &[u8], mode: u32) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        path
    }

    fn capture(&self, world: &World, tool: &str) -> CaptureError {
        let mut request = request("default", &[tool]);
        request.search_path.insert(0, self.0.path().to_path_buf());
        let error = wait(world.images.capture(request)).expect_err(tool);
        assert_untouched(world);
        error
    }
}

fn assert_untouched(world: &World) {
    assert_eq!(wait(world.images.list()).unwrap(), []);
    assert_eq!(wait(world.images.named(&"default".parse().unwrap())).unwrap(), None);
    assert_eq!(fs::read_dir(world.path().join("staging")).unwrap().count(), 0);
}

#[test]
fn hostile_names_are_no_names() {
    for good in ["sh", "python3.11", "g++", "x86_64-linux-gnu-gcc", "/bin/sh", "/opt/a b/sh"] {
        assert!(good.parse::<Tool>().is_ok(), "{good}");
    }
    let long = "a".repeat(65);
    let deep = format!("{}/sh", "/a".repeat(2048));
    for bad in [
        "",
        ".",
        "..",
        "-rf",
        ".hidden",
        "a b",
        "a\nb",
        "a\0b",
        "ä",
        "a;b",
        "$(id)",
        "bin/sh",
        "./sh",
        "../sh",
        "/",
        "//bin/sh",
        "/bin//sh",
        "/bin/./sh",
        "/bin/../bin/sh",
        "/bin/sh/",
        "/bin/-rf",
        "/bin/a b",
        "/b\nn/sh",
        &long,
        &deep,
    ] {
        assert!(bad.parse::<Tool>().is_err(), "{bad:?}");
    }
    assert!("default".parse::<ImageName>().is_ok());
    for bad in ["", ".", "..", "../../etc/passwd", "a/b", ".hidden", "a b", "a\0", &long] {
        assert!(bad.parse::<ImageName>().is_err(), "{bad:?}");
    }
}

// proves E-J01
// break crates/adapters/images/src/directory.rs: `if image.digest != digest {` -> `if false {`
#[test]
fn an_image_is_had_by_its_digest_and_by_nothing_else() {
    let world = World::new();
    let image = world.capture("default", &["sh"]).unwrap().image;
    assert_eq!(wait(world.images.find(image.digest)).unwrap(), image);
    assert_eq!(wait(world.images.root(image.digest)).unwrap(), world.rootfs(image.digest));

    for floating in ["default", "default:latest", "latest", "sha256:default", &image.digest.to_hex()] {
        assert!(floating.parse::<Digest>().is_err(), "{floating}");
    }
    let absent = Digest::of(b"another image");
    assert!(matches!(wait(world.images.find(absent)), Err(ImageError::NotFound(digest)) if digest == absent));
    assert!(matches!(wait(world.images.root(absent)), Err(ImageError::NotFound(_))));
    assert!(matches!(wait(world.images.verify(absent)), Err(ImageError::NotFound(_))));

    // Under a digest that is not its own, an image is not to be had either.
    symlink(world.home(image.digest), world.home(absent)).unwrap();
    for error in [wait(world.images.find(absent)).map(drop), wait(world.images.root(absent)).map(drop)] {
        assert_eq!(error.unwrap_err().code(), "IMAGE_CORRUPT");
    }
}

#[test]
fn every_missing_tool_is_told_with_where_it_was_looked_for() {
    let world = World::new();
    let error = world.capture("default", &["sh", "no-such-tool", "/no/such/path"]).unwrap_err();
    assert_eq!(error.code(), "IMAGE_TOOL_MISSING");
    let CaptureError::ToolsMissing(missing) = &error else { panic!("{error}") };
    assert_eq!(
        missing.iter().map(|one| one.tool.as_str()).collect::<Vec<_>>(),
        ["no-such-tool", "/no/such/path"]
    );
    for part in ["no-such-tool", "/no/such/path", "/usr/bin", "Install"] {
        assert!(error.to_string().contains(part), "{part}: {error}");
    }
    assert_untouched(&world);
}

#[test]
fn a_capture_names_between_one_and_sixty_four_tools() {
    let world = World::new();
    for count in [0, 65] {
        let tools = vec!["sh".parse().unwrap(); count];
        let request = CaptureRequest { name: "default".parse().unwrap(), tools, search_path: search_path() };
        let error = wait(world.images.capture(request)).unwrap_err();
        assert!(matches!(error, CaptureError::ToolCount { found } if found == count), "{error}");
    }
    let most = ["sh"; 64];
    assert_eq!(world.capture("default", &most).unwrap().image.tools, ["sh"]);
}

#[test]
fn two_tools_of_one_name_are_refused() {
    let (world, tools) = (World::new(), Tools::new());
    let other = tools.add("sh", b"#!/bin/sh\n", 0o755);
    let error = world.capture("default", &["sh", other.to_str().unwrap()]).unwrap_err();
    assert_eq!(error.code(), "IMAGE_TOOL_AMBIGUOUS", "{error}");
    assert_untouched(&world);
}

#[test]
fn a_tool_that_a_sandbox_would_hide_is_refused() {
    let hidden = tempfile::tempdir_in("/tmp").unwrap();
    let tool = hidden.path().join("tool");
    fs::write(&tool, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&tool, Permissions::from_mode(0o755)).unwrap();
    let world = World::new();
    let error = world.capture("default", &[tool.to_str().unwrap()]).unwrap_err();
    assert!(matches!(&error, CaptureError::Hidden { mount: "/tmp", .. }), "{error}");
    assert_untouched(&world);
}

#[test]
fn what_is_no_program_is_refused_and_named() {
    let (world, tools) = (World::new(), Tools::new());
    let shell = fs::read("/bin/sh").unwrap();
    for (name, content) in [
        ("empty", &b""[..]),
        ("text", b"echo hello\n"),
        ("no-interpreter", b"#!\n"),
        ("relative-interpreter", b"#!sh\n"),
        ("no-env-program", b"#!/usr/bin/env\n"),
        ("hostile-env-program", b"#!/usr/bin/env ../sh\n"),
        ("unreadable-interpreter", b"#!/bin/\xff\n"),
        ("cut-elf", &shell[..200]),
    ] {
        let path = tools.add(name, content, 0o755);
        let error = tools.capture(&world, name);
        assert_eq!(error.code(), "IMAGE_TOOL_UNFIT", "{name}: {error}");
        assert!(error.to_string().contains(path.to_str().unwrap()), "{name}: {error}");
    }
}

#[test]
fn what_cannot_be_read_is_refused_and_named() {
    let (world, tools) = (World::new(), Tools::new());
    tools.add("orphan", b"#!/no/such/interpreter\n", 0o755);
    let error = tools.capture(&world, "orphan");
    assert_eq!(error.code(), "IMAGE_SOURCE_UNREADABLE", "{error}");
    assert!(error.to_string().contains("/no"), "{error}");

    let path = tools.add("secret", b"#!/bin/sh\n", 0o111);
    if fs::read(&path).is_ok() {
        println!("skipped: MAY_READ_EVERYTHING what_cannot_be_read_is_refused_and_named");
        return;
    }
    let error = tools.capture(&world, "secret");
    assert_eq!(error.code(), "IMAGE_SOURCE_UNREADABLE", "{error}");
    assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
}

#[test]
fn a_missing_library_is_told_with_who_needs_it() {
    let (world, tools) = (World::new(), Tools::new());
    let mut shell = fs::read("/bin/sh").unwrap();
    let Some(at) = shell.windows(10).position(|window| window == b"libc.so.6\0") else {
        println!("skipped: SHELL_STATIC a_missing_library_is_told_with_who_needs_it");
        return;
    };
    shell[at + 3] = b'Q';
    let path = tools.add("shell", &shell, 0o755);
    let error = tools.capture(&world, "shell");
    assert_eq!(error.code(), "IMAGE_LIBRARY_MISSING", "{error}");
    assert!(error.to_string().contains("libQ.so.6"), "{error}");
    assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
}

#[test]
fn a_script_brings_its_interpreter_and_a_shim_the_program_behind_it() {
    let (world, tools) = (World::new(), Tools::new());
    let script = tools.add("script", b"#! /usr/bin/env -S sh -e\n", 0o755);
    let target = tools.add("target", b"#!/bin/sh\n", 0o755);
    let manager = tools.add("manager", format!("#!/bin/sh\necho {}\n", target.display()).as_bytes(), 0o755);
    let shim = format!("#!/bin/sh\nset -e\nexec \"{}\" exec \"$0\" \"$@\"\n", manager.display());
    tools.add("shim", shim.as_bytes(), 0o755);

    let mut request = request("default", &["script", "shim"]);
    request.search_path.insert(0, tools.0.path().to_path_buf());
    let report = wait(world.images.capture(request)).unwrap();
    let programs: Vec<&Path> = report.tools.iter().map(|tool| tool.program.as_path()).collect();
    assert_eq!(programs, [script.canonicalize().unwrap(), target.canonicalize().unwrap()]);
    let rootfs = world.rootfs(report.image.digest);
    for inside in ["usr/bin/env", "usr/local/bin/script", "usr/local/bin/shim"] {
        assert!(rootfs.join(inside).symlink_metadata().is_ok(), "{inside}");
    }
    assert_eq!(fs::read_link(rootfs.join("usr/local/bin/shim")).unwrap(), target);
    let manager = rootfs.join(manager.strip_prefix("/").unwrap());
    assert!(!manager.exists(), "a version manager has no place in an image");
}

#[test]
fn a_script_whose_packages_no_image_holds_is_refused() {
    const TEST: &str = "a_script_whose_packages_no_image_holds_is_refused";
    if !is_installed("python3") {
        println!("skipped: TOOL_ABSENT {TEST} (python3)");
        return;
    }
    let (world, tools) = (World::new(), Tools::new());
    let path = tools.add(
        "py.test",
        b"#!/usr/bin/env python3\nimport sys\nfrom no_such_package import main\n",
        0o755,
    );
    let error = tools.capture(&world, "py.test");
    assert_eq!(error.code(), "IMAGE_PACKAGES_MISSING", "{error}");
    for part in [path.to_str().unwrap(), "no_such_package", "volume", "python3 -m"] {
        assert!(error.to_string().contains(part), "{part}: {error}");
    }
}

#[test]
fn a_program_in_javascript_brings_its_packages_and_npm_settings_of_its_own() {
    const TEST: &str = "a_program_in_javascript_brings_its_packages_and_npm_settings_of_its_own";
    if !is_installed("node") {
        println!("skipped: TOOL_ABSENT {TEST} (node)");
        return;
    }
    let (world, tools) = (World::new(), Tools::new());
    let at = |path: &str| tools.0.path().join(path);
    for (path, content) in [
        (
            "lib/npm/package.json",
            r#"{"name": "npm", "bin": "bin/cli.js", "dependencies": {"near": "1", "absent": "1"}}"#,
        ),
        ("lib/npm/npmrc", "//registry/:_authToken=secret\n"),
        ("lib/npm/docs/page.md", "# A page\n"),
        ("lib/npm/.npmrc", "//registry/:_authToken=secret\n"),
        ("lib/npm/lib/docs/main.js", ""),
        ("lib/npm/bin/cli.js", "#!/usr/bin/env node\nrequire('near')\n"),
        ("lib/node_modules/far/package.json", r#"{"name": "far", "dependencies": {"npm": "1"}}"#),
        ("lib/node_modules/unnamed/package.json", r#"{"name": "unnamed"}"#),
        ("store/near/package.json", r#"{"name": "near", "optionalDependencies": {"gone": "1"}}"#),
        ("store/near/node_modules/inner/package.json", r#"{"name": "inner", "dependencies": {"far": "1"}}"#),
    ] {
        fs::create_dir_all(at(path).parent().unwrap()).unwrap();
        fs::write(at(path), content).unwrap();
    }
    fs::create_dir(at("store/node_modules")).unwrap();
    symlink("../../lib/node_modules/far", at("store/node_modules/far")).unwrap();
    fs::create_dir(at("lib/npm/node_modules")).unwrap();
    symlink("../../../store/near", at("lib/npm/node_modules/near")).unwrap();
    symlink("../../../store", at("lib/npm/node_modules/no-package")).unwrap();
    fs::set_permissions(at("lib/npm/bin/cli.js"), Permissions::from_mode(0o755)).unwrap();
    symlink("lib/npm/bin/cli.js", at("tool")).unwrap();

    let mut request = request("default", &["tool"]);
    request.search_path.insert(0, tools.0.path().to_path_buf());
    let report = wait(world.images.capture(request)).unwrap();
    let inside = |path: &str| {
        world.rootfs(report.image.digest).join(at(path).canonicalize().unwrap().strip_prefix("/").unwrap())
    };
    for taken in ["lib/npm/lib/docs/main.js", "store/near/package.json", "lib/node_modules/far/package.json"]
    {
        assert!(inside(taken).is_file(), "{taken}");
    }
    for left in ["lib/npm/docs/page.md", "lib/npm/.npmrc", "lib/node_modules/unnamed/package.json"] {
        assert!(!inside(left).exists(), "{left}");
    }
    let settings = fs::read_to_string(inside("lib/npm/npmrc")).unwrap();
    assert!(settings.contains("update-notifier=false") && !settings.contains("secret"), "{settings}");
    let left_out: Vec<&str> = report.left_out.iter().map(|left| left.what.to_str().unwrap()).collect();
    assert!(left_out.contains(&"absent") && !left_out.contains(&"gone"), "{left_out:?}");
    assert!(left_out.iter().any(|left| left.ends_with("no-package")), "{left_out:?}");
}

#[test]
fn a_project_has_no_say_in_what_is_captured() {
    let (world, tools) = (World::new(), Tools::new());
    let manager = tools.add("manager", b"#!/bin/sh\n[ \"$(pwd)\" = / ] && echo /bin/sh\n", 0o755);
    let shim = format!("#!/bin/sh\nexec {} exec \"$0\" \"$@\"\n", manager.display());
    tools.add("shim", shim.as_bytes(), 0o755);
    let mut request = request("default", &["shim"]);
    request.search_path.insert(0, tools.0.path().to_path_buf());
    let report = wait(world.images.capture(request)).unwrap();
    assert_eq!(report.tools[0].program, Path::new("/bin/sh").canonicalize().unwrap());
}
