use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use ambit_images::DirectoryImages;
use ambit_ports::images::ImageStore;

use crate::world::{World, has_namespaces, is_installed, request, wait};

const ROOT: &str = "AMBIT_TEST_IMAGES";

fn tools() -> Vec<&'static str> {
    ["sh", "git"].into_iter().filter(|tool| is_installed(tool)).collect()
}

/// Not a test of its own: a process that captures into `$AMBIT_TEST_IMAGES`, for others to interrupt.
#[test]
#[ignore = "other tests run it, to interrupt it"]
fn child_that_captures() {
    let root = std::env::var_os(ROOT).expect("the directory of the store");
    let images = DirectoryImages::open(Path::new(&root)).unwrap();
    let outcome = match wait(images.capture(request("default", &tools()))) {
        Ok(_) => "captured",
        Err(error) => error.code(),
    };
    let left = fs::read_dir(Path::new(&root).join("staging")).unwrap().count();
    println!("{outcome}, {} images, {left} left behind", wait(images.list()).unwrap().len());
}

/// The arguments that make this very program run [`child_that_captures`].
fn this_program() -> Vec<String> {
    let program = std::env::current_exe().unwrap().into_os_string().into_string().unwrap();
    let rest = ["--exact", "crash::child_that_captures", "--ignored", "--nocapture"];
    [program].into_iter().chain(rest.map(str::to_owned)).collect()
}

#[test]
fn a_killed_capture_leaves_an_image_whole_or_absent() {
    let expected = World::new().capture("default", &tools()).unwrap().image;
    let home = format!("sha256-{}", expected.digest.to_hex());
    // The sight of each of these is the moment of a kill. A capture that is faster than the eye just ends.
    let moments = [
        "staging/image",
        "staging/image/rootfs/usr",
        "staging/image/rootfs/workspace",
        "staging/image/image.json",
        &home,
        "names/default",
    ];
    let mut interrupted = 0;
    for moment in moments {
        let world = World::new();
        let [program, arguments @ ..] = this_program().try_into().map(|all: [String; 5]| all).unwrap();
        let mut child = Command::new(program)
            .args(arguments)
            .env(ROOT, world.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        while child.try_wait().unwrap().is_none() && world.path().join(moment).symlink_metadata().is_err() {
            std::hint::spin_loop();
        }
        child.kill().unwrap();
        interrupted += usize::from(!child.wait().unwrap().success());

        let listed = wait(world.images.list()).unwrap();
        assert!(listed.is_empty() || listed == [expected.clone()], "{moment}");
        for image in &listed {
            wait(world.images.verify(image.digest)).unwrap();
        }
        if let Some(named) = wait(world.images.named(&"default".parse().unwrap())).unwrap() {
            assert_eq!(listed.first().map(|image| image.digest), Some(named), "{moment}");
        }

        let again = world.capture("default", &tools()).unwrap();
        assert_eq!((again.image, again.reused), (expected.clone(), !listed.is_empty()), "{moment}");
        assert_eq!(fs::read_dir(world.path().join("staging")).unwrap().count(), 0, "{moment}");
    }
    assert!(interrupted > 0, "no capture was caught in the act");
}

#[test]
fn a_full_disk_leaves_nothing_behind() {
    if !has_namespaces("a_full_disk_leaves_nothing_behind") {
        return;
    }
    let world = World::new();
    let script = r#"mount -t tmpfs -o size=1m tmpfs "$0" && exec "$@""#;
    let output = Command::new("unshare")
        .args(["--map-root-user", "--mount", "sh", "-c", script])
        .arg(world.path())
        .args(this_program())
        .env(ROOT, world.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("IMAGE_STORE_FAILED, 0 images, 0 left behind"), "{said}");
}
