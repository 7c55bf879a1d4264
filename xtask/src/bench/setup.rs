//! Installs the peers that are programs of others, each at one version, below the folder of the benchmarks. What cannot be
//! had is left out, and its arm is printed as absent.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::ground::Ground;
use super::peers::Scratch;
use crate::cargo;
use crate::failure::Failure;

/// Debian's packages, as of its twelfth release, each with the program or the library that it is taken for.
const DEBIAN: [(&str, &str, &str); 9] = [
    ("bubblewrap", "0.8.0-2+deb12u1", "bwrap"),
    ("crun", "1.8.1-1+deb12u1", "crun"),
    ("libyajl2", "2.1.0-3+deb12u2", "libyajl.so.2"),
    ("runc", "1.1.5+ds1-1+deb12u1", "runc"),
    ("docker.io", "20.10.24+dfsg1-1+deb12u1+b6", "dockerd"),
    ("containerd", "1.6.20~ds1-1+deb12u3", "containerd"),
    ("socat", "1.7.4.4-2", "socat"),
    ("libwrap0", "7.6.q-32", "libwrap.so.0"),
    ("ripgrep", "13.0.0-4+b2", "rg"),
];
/// Where Debian puts libraries, below a root.
const LIBRARIES: [&str; 2] = ["lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu"];
const NPM: &str = "@anthropic-ai/sandbox-runtime@0.0.78";
const PYPI: [&str; 2] = ["swe-rex==1.4.0", "aiohttp==3.13.2"];

/// Where they are put.
pub(super) fn peers(folder: &Path) -> PathBuf {
    folder.join("peers")
}

/// Where arms look for programs: what this machine has goes before what was put below the folder.
pub(super) fn search_path(folder: &Path) -> OsString {
    let own = std::env::var_os("PATH").unwrap_or_default();
    let peers = peers(folder);
    let more = ["usr/sbin", "usr/bin", "node_modules/.bin"].map(|place| peers.join(place));
    std::env::join_paths(std::env::split_paths(&own).chain(more)).unwrap_or(own)
}

/// Where the programs of peers look for libraries that this machine does not have.
pub(super) fn library_path(folder: &Path) -> OsString {
    std::env::join_paths(LIBRARIES.map(|place| peers(folder).join(place))).unwrap_or_default()
}

/// Puts there what is not on this machine, and says what could not be had.
pub(super) fn install(ground: &Ground) -> Result<(), Failure> {
    let folder = peers(&ground.folder);
    fs::create_dir_all(&folder).map_err(Failure::at("make", &folder))?;
    let path = search_path(&ground.folder);
    let libraries = LIBRARIES.into_iter().flat_map(|place| [Path::new("/").join(place), folder.join(place)]);
    let places: Vec<PathBuf> = std::env::split_paths(&path).chain(libraries).collect();
    let has = |name: &str| places.iter().any(|place| place.join(name).is_file());
    let mut steps: Vec<(String, Result<(), Failure>)> = Vec::new();
    for (package, version, program) in DEBIAN {
        if !has(program) {
            steps.push((package.to_owned(), debian(&folder, package, version)));
        }
    }
    if !has("srt") {
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--silent", "--fetch-timeout", "30000"]);
        npm.args(["--fetch-retries", "1", "--prefix"]).arg(&folder).arg(NPM);
        steps.push((NPM.to_owned(), cargo::text(&mut npm).map(drop)));
    }
    let python = folder.join("python");
    if !python.join("swerex").is_dir() {
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target"]);
        pip.arg(&python).args(PYPI);
        steps.push((PYPI[0].to_owned(), cargo::text(&mut pip).map(drop)));
    }
    for (name, outcome) in steps {
        if let Err(failure) = outcome {
            println!("{name} cannot be had: {}", failure.with_causes().replace('\n', " "));
        }
    }
    Ok(())
}

/// Unpacks a package without installing it: it runs nothing of its own, and changes nothing of this machine.
fn debian(folder: &Path, package: &str, version: &str) -> Result<(), Failure> {
    let scratch = Scratch::in_folder(folder)?;
    let mut download = Command::new("apt-get");
    download.current_dir(&scratch.0).args(["download", "--quiet"]).arg(format!("{package}={version}"));
    cargo::text(&mut download)?;
    for entry in fs::read_dir(&scratch.0).map_err(Failure::at("list", &scratch.0))? {
        let file = entry.map_err(Failure::at("list", &scratch.0))?.path();
        cargo::text(Command::new("dpkg-deb").arg("--extract").arg(file).arg(folder))?;
    }
    Ok(())
}
