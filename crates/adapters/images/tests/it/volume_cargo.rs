//! Volumes for Cargo: from a lock and from archives that nobody vouches for but their checksums.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use ambit_ids::Digest;
use ambit_images::{VolumeCaptureError, VolumeReport, VolumeSource};
use ambit_ports::volumes::{VolumeKind, VolumeStore as _};
use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};
use tempfile::TempDir;

use crate::volume::directory;
use crate::world::{World, has_namespaces, wait};

/// Something in an archive: its name as it is written there, its kind, its mode and its content or target.
type Piece<'a> = (&'a str, EntryType, u32, &'a str);

const FILE: EntryType = EntryType::Regular;

/// An archive whose names are written as they are, also those that no honest archive has.
fn archive(pieces: &[Piece<'_>]) -> Vec<u8> {
    let mut builder = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (name, kind, mode, content) in pieces {
        let mut header = Header::new_gnu();
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(*kind);
        header.set_mode(*mode);
        let is_link = matches!(kind, EntryType::Symlink | EntryType::Link);
        header.set_size(if is_link { 0 } else { content.len() as u64 });
        if is_link {
            header.set_link_name_literal(content).unwrap();
        }
        header.set_cksum();
        builder.append(&header, if is_link { &b""[..] } else { content.as_bytes() }).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap()
}

fn honest() -> Vec<u8> {
    archive(&[
        ("tiny-1.0.0/Cargo.toml", FILE, 0o644, "[package]\nname = \"tiny\"\n"),
        ("tiny-1.0.0/src/lib.rs", FILE, 0o644, ""),
        ("tiny-1.0.0/build.sh", FILE, 0o4755, "#!/bin/sh\n"),
        ("tiny-1.0.0/.cargo-ok", FILE, 0o644, "no say"),
        ("tiny-1.0.0/.cargo-checksum.json", FILE, 0o644, "no say"),
    ])
}

/// A machine on which crates were fetched.
struct Machine(TempDir);

impl Machine {
    fn with(crates: &[(&str, &[u8])]) -> Self {
        let machine = Self(directory(&[("home/config.toml", ""), ("Cargo.lock", "version = 4\n")]));
        let cache = machine.0.path().join("home/registry/cache/index.crates.io-1");
        fs::create_dir_all(&cache).unwrap();
        fs::create_dir(cache.with_file_name("an-empty-one")).unwrap();
        let mut lock = "version = 4\n\n[[package]]\nname = \"app\"\nversion = \"0.1.0\"\n".to_owned();
        for (name, bytes) in crates {
            fs::write(cache.join(format!("{name}.crate")), bytes).unwrap();
            lock.push_str(&locked(name, &Digest::of(bytes).to_hex()));
        }
        fs::write(machine.lock(), lock).unwrap();
        machine
    }

    fn lock(&self) -> PathBuf {
        self.0.path().join("Cargo.lock")
    }

    fn cached(&self, name: &str) -> PathBuf {
        self.0.path().join(format!("home/registry/cache/index.crates.io-1/{name}.crate"))
    }

    fn capture(&self, world: &World) -> Result<VolumeReport, VolumeCaptureError> {
        let cargo_home = self.0.path().join("home");
        world.capture_volume("cargo", VolumeSource::Cargo { lockfile: self.lock(), cargo_home })
    }

    fn refused(&self, code: &str) -> VolumeCaptureError {
        let world = World::new();
        let error = self.capture(&world).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert!(wait(world.images.list_volumes()).unwrap().is_empty());
        assert_eq!(fs::read_dir(world.path().join("volumes/staging")).unwrap().count(), 0);
        error
    }
}

fn locked(name: &str, checksum: &str) -> String {
    let (name, version) = name.rsplit_once('-').unwrap();
    format!(
        "\n[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n\
         source = \"registry+https://github.com/rust-lang/crates.io-index\"\nchecksum = \"{checksum}\"\n"
    )
}

#[test]
fn a_home_of_cargo_holds_the_crates_of_the_lock_and_nothing_else() {
    let machine = Machine::with(&[("tiny-1.0.0", &honest())]);
    fs::write(machine.cached("other-2.0.0"), "not in the lock").unwrap();
    let world = World::new();
    let report = machine.capture(&world).unwrap();
    assert_eq!((report.volume.kind, report.volume.entries), (VolumeKind::Cargo, 5));
    let root = wait(world.images.volume_root(report.volume.digest)).unwrap();
    let config = fs::read_to_string(root.join("config.toml")).unwrap();
    assert!(config.contains("directory = \"cargo/vendor\""), "{config}");
    let mark = fs::read_to_string(root.join("vendor/tiny-1.0.0/.cargo-checksum.json")).unwrap();
    let checksum = Digest::of(&honest()).to_hex();
    assert_eq!(mark, format!("{{\"files\":{{}},\"package\":\"{checksum}\"}}"));
    assert!(!root.join("vendor/tiny-1.0.0/.cargo-ok").exists());
    assert!(!root.join("vendor/other-2.0.0").exists());
    let elsewhere = Machine::with(&[("tiny-1.0.0", &honest())]);
    assert_eq!(elsewhere.capture(&World::new()).unwrap().volume, report.volume);
}

#[test]
fn what_is_missing_altered_or_from_elsewhere_is_named() {
    let machine = Machine::with(&[("tiny-1.0.0", &honest()), ("more-2.0.0", b"x"), ("most-3.0.0", b"y")]);
    for name in ["more-2.0.0", "most-3.0.0"] {
        fs::remove_file(machine.cached(name)).unwrap();
    }
    let told = machine.refused("VOLUME_CRATES_MISSING").to_string();
    assert!(told.contains("more-2.0.0, most-3.0.0") && told.contains("cargo fetch --locked"), "{told}");

    let machine = Machine::with(&[("tiny-1.0.0", &honest())]);
    let other = archive(&[("tiny-1.0.0/Cargo.toml", FILE, 0o644, "[package]\n")]);
    fs::write(machine.cached("tiny-1.0.0"), other).unwrap();
    let told = machine.refused("VOLUME_CRATE_ALTERED").to_string();
    assert!(told.contains("tiny-1.0.0.crate"), "{told}");

    let machine = Machine::with(&[("tiny-1.0.0", &honest())]);
    let lock = fs::read_to_string(machine.lock()).unwrap();
    let git = lock.replace("registry+https://github.com/rust-lang/crates.io-index", "git+https://x.test/t#1");
    fs::write(machine.lock(), git).unwrap();
    let told = machine.refused("VOLUME_SOURCE_UNSUPPORTED").to_string();
    assert!(told.contains("tiny-1.0.0") && told.contains("git+https://x.test/t#1"), "{told}");

    fs::write(machine.lock(), lock.replace("tiny", "../tiny")).unwrap();
    machine.refused("VOLUME_LOCK_MALFORMED");
    fs::write(machine.lock(), vec![b'#'; (8 << 20) + 1]).unwrap();
    machine.refused("VOLUME_SOURCE_UNREADABLE");
    fs::remove_file(machine.lock()).unwrap();
    machine.refused("VOLUME_SOURCE_UNREADABLE");
}

#[test]
fn an_archive_that_holds_more_than_files_below_its_name_is_refused() {
    let file = ("tiny-1.0.0/Cargo.toml", FILE, 0o644, "[package]\n");
    let long = "x".repeat(60);
    let pieces: [Piece<'_>; 14] = [
        ("tiny-1.0.0/../../escape", FILE, 0o644, "x"),
        ("tiny-1.0.0/../tiny-1.0.0/x", FILE, 0o644, "x"),
        ("/etc/escape", FILE, 0o644, "x"),
        ("../escape", FILE, 0o644, "x"),
        ("other-1.0.0/x", FILE, 0o644, "x"),
        ("tiny-1.0.0/link", EntryType::Symlink, 0o777, "/etc/passwd"),
        ("tiny-1.0.0/link", EntryType::Symlink, 0o777, "Cargo.toml"),
        ("tiny-1.0.0/link", EntryType::Link, 0o644, "tiny-1.0.0/Cargo.toml"),
        ("tiny-1.0.0/device", EntryType::Char, 0o666, ""),
        ("tiny-1.0.0/disk", EntryType::Block, 0o666, ""),
        ("tiny-1.0.0/pipe", EntryType::Fifo, 0o666, ""),
        ("tiny-1.0.0/Cargo.toml", FILE, 0o644, "again"),
        ("tiny-1.0.0/Cargo.toml/below", FILE, 0o644, "x"),
        (&long, FILE, 0o644, "x"),
    ];
    for piece in pieces {
        let machine = Machine::with(&[("tiny-1.0.0", &archive(&[file, piece]))]);
        let told = machine.refused("VOLUME_ARCHIVE_REFUSED").to_string();
        assert!(told.contains("tiny-1.0.0"), "{piece:?}: {told}");
    }
    let mut cut = honest();
    cut.truncate(cut.len() / 2);
    for bytes in [&b"no archive"[..], b"", &cut] {
        let machine = Machine::with(&[("tiny-1.0.0", bytes)]);
        machine.refused("VOLUME_ARCHIVE_REFUSED");
    }
    Machine::with(&[("tiny-1.0.0", &archive(&[file]))]).capture(&World::new()).unwrap();
}

/// A crate that this very workspace depends on, by what its lock says of it.
fn known_crate() -> Option<(String, String)> {
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../Cargo.lock");
    let text = fs::read_to_string(lock).ok()?;
    let entry = text.split("[[package]]").find(|entry| entry.contains("name = \"itoa\"\n"))?;
    let value = |key: &str| {
        let rest = entry.split(&format!("\n{key} = \"")).nth(1)?;
        Some(rest.split('"').next()?.to_owned())
    };
    Some((value("version")?, value("checksum")?))
}

/// Cargo with a home that cannot be written, no network and no home of a user.
const OFFLINE: &str = r#"
    mount -t tmpfs tmpfs "$0" && mkdir "$0/cargo" && mount --bind "$1" "$0/cargo" && mount -o remount,ro,bind "$0/cargo" &&
    ! touch "$0/cargo/x" 2>/dev/null && cd "$2" &&
    exec env -i PATH="$PATH" HOME=/nonexistent CARGO_HOME="$0/cargo" CARGO_TARGET_DIR="$0/target" RUSTC="$4" \
        "$3" test --offline --locked --lib"#;

#[test]
fn a_crate_with_a_dependency_is_built_and_tested_offline() {
    let test = "a_crate_with_a_dependency_is_built_and_tested_offline";
    let cargo = std::env::var_os("CARGO").map(PathBuf::from);
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo")));
    let (Some(cargo), Some(cargo_home), Some((version, checksum))) = (cargo, home, known_crate()) else {
        println!("skipped: CARGO_ABSENT {test}");
        return;
    };
    let rustc = cargo.with_file_name("rustc");
    if !rustc.is_file() || !has_namespaces(test) {
        println!("skipped: RUSTC_ABSENT {test}");
        return;
    }
    let project = directory(&[
        (
            "Cargo.toml",
            &format!(
                "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\nitoa = \"={version}\"\n"
            ),
        ),
        (
            "src/lib.rs",
            "#[test]\nfn a_number_is_written() {\n    assert_eq!(itoa::Buffer::new().format(42), \"42\");\n}\n",
        ),
        (
            "Cargo.lock",
            &format!(
                "version = 4\n\n[[package]]\nname = \"app\"\nversion = \"0.1.0\"\ndependencies = [\n \"itoa\",\n]\n{}",
                locked(&format!("itoa-{version}"), &checksum)
            ),
        ),
    ]);
    let world = World::new();
    let lockfile = project.path().join("Cargo.lock");
    let report = match world.capture_volume("cargo", VolumeSource::Cargo { lockfile, cargo_home }) {
        Err(VolumeCaptureError::CratesMissing(_)) => {
            println!("skipped: CRATES_ABSENT {test}");
            return;
        }
        other => other.unwrap(),
    };
    let place = tempfile::tempdir().unwrap();
    let output = Command::new("unshare")
        .args(["--map-root-user", "--mount", "--net", "sh", "-c", OFFLINE])
        .arg(place.path())
        .arg(wait(world.images.volume_root(report.volume.digest)).unwrap())
        .args([project.path(), &cargo, &rustc])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("1 passed"), "{said}");
    wait(world.images.verify_volume(report.volume.digest)).unwrap();
}
