use std::path::Path;
use std::process::{Command, Output};
use std::time::Instant;

use ambit_images::CaptureReport;
use ambit_ports::images::ImageStore;

use crate::world::{World, has_namespaces, is_installed, wait};

/// Runs a script in an image that is mounted read-only as `/`, with a scratch `/tmp`, in namespaces of its own.
fn run(rootfs: &Path, script: &str) -> Output {
    let enter = r#"
        mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && mount -t tmpfs tmpfs "$0/tmp" && mount --rbind /dev "$0/dev" &&
        cd "$0/tmp" && exec env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=/tmp LC_ALL=C.UTF-8 \
        "$(command -v chroot || echo /usr/sbin/chroot)" "$0" /bin/sh -c "cd /tmp; $1""#;
    Command::new("unshare")
        .args(["--map-root-user", "--mount", "sh", "-c", enter])
        .arg(rootfs)
        .arg(script)
        .output()
        .unwrap()
}

/// What a script says that has to go well.
pub(crate) fn succeed(rootfs: &Path, script: &str) -> String {
    let output = run(rootfs, script);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{script}\n{text}\n{}", String::from_utf8_lossy(&output.stderr));
    text.trim().to_owned()
}

pub(crate) fn tell(report: &CaptureReport, started: Instant) {
    println!(
        "captured {} entries, {} bytes in {} ms",
        report.image.entries,
        report.image.size_bytes.get(),
        started.elapsed().as_millis()
    );
    for tool in &report.tools {
        println!(
            "  {} at {}: {} entries, {} bytes",
            tool.name,
            tool.program.display(),
            tool.entries,
            tool.size_bytes.get()
        );
    }
    for left in &report.left_out {
        println!("  without {}: {}", left.what.display(), left.why);
    }
}

#[test]
fn python_and_git_run_from_an_image_of_their_own() {
    let tools: Vec<&str> = ["sh", "python3", "git"].into_iter().filter(|tool| is_installed(tool)).collect();
    if !has_namespaces("python_and_git_run_from_an_image_of_their_own") {
        return;
    }
    let world = World::new();
    let started = Instant::now();
    let report = world.capture("default", &tools).unwrap();
    tell(&report, started);
    let rootfs = wait(world.images.root(report.image.digest)).unwrap();

    assert_eq!(succeed(&rootfs, "echo $((6 * 7))"), "42");
    if tools.contains(&"python3") {
        let imports = "import json, sqlite3, http.server, unittest, hashlib, ctypes, zlib, lzma, bz2, decimal, subprocess, \
             asyncio, multiprocessing, curses, readline, xml.etree.ElementTree, zoneinfo, venv, uuid, select";
        succeed(&rootfs, &format!("python3 -c '{imports}'"));
        assert_eq!(
            succeed(
                &rootfs,
                "python3 -c 'import sqlite3; print(sqlite3.connect(\":memory:\").execute(\"select 6*7\").fetchone()[0])'"
            ),
            "42"
        );
    }
    if tools.contains(&"git") {
        let story = "git init -q r && cd r && echo a > a && git add a && \
             git -c user.name=a -c user.email=a@b commit -q -m one && git log --format=%s && git status --short";
        assert_eq!(succeed(&rootfs, story), "one");
        succeed(&rootfs, "git init -q s && test -f s/.git/description");
    }
    assert!(
        !rootfs.join("etc/localtime").exists(),
        "the time zone of this machine is none of a sandbox's business"
    );
    wait(world.images.verify(report.image.digest)).unwrap();
}
