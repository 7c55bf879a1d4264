//! Declared volumes: a command finds those that it names, whole and unchangeable, and no others.

use ambit_gates::Ending;
use ambit_ids::{Digest, VolumeMount};
use ambit_ports::sandbox::{ExecutionObservation, SandboxError, SandboxSpec};

use super::bench::never;
use super::{Bench, BenchVolumes, Staged};

const EPERM: i32 = 1;
const ENOENT: i32 = 2;
const EACCES: i32 = 13;
const EROFS: i32 = 30;
const ENOSYS: i32 = 38;

fn one(bench: &Bench) -> VolumeMount {
    BenchVolumes::mount("cargo", bench.volumes.one)
}

fn other(bench: &Bench) -> VolumeMount {
    BenchVolumes::mount("data", bench.volumes.other)
}

async fn staged(bench: &Bench, run: &str, volumes: &[VolumeMount]) -> Staged {
    bench.staged_from(SandboxSpec { volumes: volumes.to_vec(), ..bench.spec(run) }).await
}

async fn with(
    bench: &Bench,
    staged: &Staged,
    volumes: &[VolumeMount],
    words: &[&str],
) -> ExecutionObservation {
    let mut command = bench.command(staged, words);
    command.volumes = volumes.to_vec();
    bench.execute(staged, command).await
}

/// Asserts that a command which names these volumes says so.
async fn says(bench: &Bench, staged: &Staged, volumes: &[VolumeMount], words: &[&str], text: &str) {
    let seen = with(bench, staged, volumes, words).await;
    assert_eq!(seen.stdout.head, text, "{words:?} with {volumes:?}");
}

/// Each command sees the volumes that it names under the names that it gives them, one command after another.
pub async fn a_command_sees_the_volumes_that_it_names(bench: &Bench) {
    let (one, other) = (one(bench), other(bench));
    let renamed = BenchVolumes::mount("data", bench.volumes.one);
    let staged = staged(bench, "volumes-named", &[one.clone(), other.clone(), renamed.clone()]).await;
    let absent = format!("errno {ENOENT}\n");
    for _ in 0..2 {
        says(bench, &staged, std::slice::from_ref(&one), &["read", "/volumes/cargo/name"], "oneok 3\n").await;
        says(bench, &staged, std::slice::from_ref(&one), &["read", "/volumes/data/name"], &absent).await;
        says(bench, &staged, std::slice::from_ref(&one), &["list", "/volumes"], "cargo\nok 1\n").await;
        says(bench, &staged, std::slice::from_ref(&other), &["read", "/volumes/data/name"], "otherok 5\n")
            .await;
        says(bench, &staged, std::slice::from_ref(&other), &["list", "/volumes"], "data\nok 1\n").await;
        says(bench, &staged, std::slice::from_ref(&renamed), &["read", "/volumes/data/name"], "oneok 3\n")
            .await;
        for none in ["/volumes/cargo/name", "/volumes/data/name", "/volumes/0/name"] {
            says(bench, &staged, &[], &["read", none], &absent).await;
        }
    }
    let both = [one, other];
    says(bench, &staged, &both, &["read", "/volumes/cargo/name"], "oneok 3\n").await;
    says(bench, &staged, &both, &["read", "/volumes/data/name"], "otherok 5\n").await;
    bench.destroy(&staged).await;
}

/// A sandbox without volumes has no place for them.
pub async fn a_sandbox_without_volumes_has_none(bench: &Bench) {
    let staged = bench.staged("volumes-none").await;
    bench.refused(&staged, &["list", "/volumes"], &[ENOENT]).await;
    bench.refused(&staged, &["list", "/node_modules"], &[ENOENT]).await;
    bench.allowed(&staged, &["list", "/workspace"]).await;
    bench.destroy(&staged).await;
}

/// Programs of a volume can be executed; nothing in it can be changed, and its mount cannot either.
pub async fn a_volume_is_executable_and_never_written(bench: &Bench) {
    let volume = one(bench);
    let staged = staged(bench, "volumes-still", std::slice::from_ref(&volume)).await;
    let volumes = std::slice::from_ref(&volume);
    let mut command = bench.command(&staged, &["exit", "7"]);
    command.volumes = volumes.to_vec();
    command.argv[0] = "/volumes/cargo/bin/probe".to_owned();
    assert_eq!(bench.execute(&staged, command).await.ending, Ending::Exited { code: 7 });

    let kept = [EROFS, EACCES, EPERM];
    for words in [
        &["write", "/volumes/cargo/name", "x"][..],
        &["write", "/volumes/cargo/fresh", "x"],
        &["write", "/volumes/fresh", "x"],
        &["remove", "/volumes/cargo/name"],
        &["link", "/etc", "/volumes/cargo/link"],
        &["fifo", "/volumes/cargo/pipe"],
    ] {
        let said = with(bench, &staged, volumes, words).await.stdout.head;
        let errno = said.trim().strip_prefix("errno ").and_then(|number| number.parse().ok());
        assert!(errno.is_some_and(|errno| kept.contains(&errno)), "{words:?} said {said:?}");
    }
    for words in [&["write", "/workspace/name", "x"][..], &["fifo", "/workspace/pipe"]] {
        let seen = with(bench, &staged, volumes, words).await;
        assert_eq!(seen.ending, Ending::Exited { code: 0 }, "{words:?}");
    }
    if cfg!(target_arch = "x86_64") {
        // mount(source, target, ...) and umount2(target, MNT_DETACH)
        for words in
            [["path-call", "165", "/volumes/cargo", "0x20"], ["path-call", "166", "/volumes/cargo", "2"]]
        {
            let said = with(bench, &staged, volumes, &words).await.stdout.head;
            assert!([EPERM, ENOSYS].iter().any(|no| said == format!("errno {no}\n")), "{words:?}: {said}");
        }
    }
    says(bench, &staged, volumes, &["read", "/volumes/cargo/name"], "oneok 3\n").await;
    let mounts = with(bench, &staged, volumes, &["read", "/proc/self/mountinfo"]).await.stdout.artifact;
    let mounts = String::from_utf8(bench.blob(mounts).await.to_vec()).unwrap();
    let line = mounts.lines().find(|line| line.contains(" /volumes/cargo ")).expect("the mount is listed");
    for option in ["ro", "nosuid", "nodev"] {
        assert!(line.split([' ', ',']).any(|word| word == option), "{option}: {line}");
    }
    assert!(!line.contains("noexec"), "{line}");
    bench.destroy(&staged).await;
}

/// Packages of Node are looked for in `/node_modules` from anywhere, and found where the command names them.
pub async fn node_modules_are_found_from_anywhere(bench: &Bench) {
    let modules = BenchVolumes::mount("node_modules", bench.volumes.one);
    let other = other(bench);
    let staged = staged(bench, "volumes-node", &[modules.clone(), other.clone()]).await;
    let modules = std::slice::from_ref(&modules);
    says(bench, &staged, modules, &["read", "/node_modules/name"], "oneok 3\n").await;
    let absent = format!("errno {ENOENT}\n");
    says(bench, &staged, std::slice::from_ref(&other), &["read", "/node_modules/name"], &absent).await;
    bench.destroy(&staged).await;
}

/// What is not there, was altered, is an image, or was not asked for, is refused by its code, and nothing runs.
pub async fn a_volume_is_what_its_digest_says_or_nothing(bench: &Bench) {
    let absent = Digest::of(b"no such volume");
    for (run, digest, code) in [
        ("volumes-absent", absent, "VOLUME_NOT_FOUND"),
        ("volumes-altered", bench.volumes.altered, "VOLUME_CORRUPT"),
        ("volumes-image", bench.image, "VOLUME_NOT_FOUND"),
    ] {
        let volumes = vec![BenchVolumes::mount("cargo", digest)];
        let refused = bench.port.allocate(SandboxSpec { volumes, ..bench.spec(run) }).await;
        assert_eq!(refused.expect_err(run).code(), code, "{run}");
    }
    let image = SandboxSpec { image: bench.volumes.one, ..bench.spec("volumes-as-image") };
    assert_eq!(bench.port.allocate(image).await.expect_err("a volume is no image").code(), "IMAGE_NOT_FOUND");

    let known = one(bench);
    let staged = staged(bench, "volumes-unasked", std::slice::from_ref(&known)).await;
    for unasked in [other(bench), BenchVolumes::mount("renamed", bench.volumes.one)] {
        let mut command = bench.command(&staged, &["exit", "0"]);
        command.volumes = vec![unasked.clone()];
        let refused = bench.port.execute_named(&staged.lease, command, never()).await;
        assert!(
            matches!(&refused, Err(SandboxError::VolumeMissing { name, digest })
                if (name, *digest) == (&unasked.name, unasked.digest)),
            "{refused:?}"
        );
    }
    let again = SandboxSpec { volumes: vec![other(bench)], ..bench.spec("volumes-unasked") };
    let refused = bench.port.allocate(again).await;
    assert!(matches!(refused, Err(SandboxError::Conflict(_))), "{refused:?}");
    says(bench, &staged, std::slice::from_ref(&known), &["read", "/volumes/cargo/name"], "oneok 3\n").await;
    bench.destroy(&staged).await;
}
