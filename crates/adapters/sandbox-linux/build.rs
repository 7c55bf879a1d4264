//! Builds the freestanding program of the guest and hands it to the crate as bytes.
//!
//! It is a nested build with a target directory of its own, because the program must not be linked with anything that the
//! workspace's profile or flags would bring. It needs nothing that the outer build does not have already, so it never
//! reaches for the network. Processor families other than x86-64 get an empty program, and every verb of the adapter then
//! answers that sandboxes are unavailable.

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const PACKAGE: &str = "ambit-sandbox-guest";
const PROGRAM: &str = "sandbox-guest";
const TARGET: &str = "x86_64-unknown-linux-gnu";

fn main() -> Result<(), Box<dyn Error>> {
    let directory = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let program = out.join(PROGRAM);
    println!("cargo::rerun-if-changed=guest");
    println!("cargo::rerun-if-changed=../../mechanisms/system-calls/src");
    // The versions that the guest is built from stand there as well.
    println!("cargo::rerun-if-changed=../../../Cargo.lock");
    println!("cargo::rustc-env=SANDBOX_GUEST={}", program.display());
    if env::var("TARGET")? == TARGET {
        build(&directory.join("guest"), &out.join("guest"))?;
        fs::copy(out.join("guest").join(TARGET).join("release").join(PROGRAM), program)?;
    } else {
        fs::write(program, [])?;
    }
    Ok(())
}

fn build(package: &Path, target_dir: &Path) -> Result<(), Box<dyn Error>> {
    let mut cargo = Command::new(env::var("CARGO")?);
    cargo.current_dir(package).args(["rustc", "--release", "--locked", "--offline", "--package", PACKAGE]);
    cargo
        .args(["--bin", PROGRAM, "--features", "freestanding", "--target", TARGET, "--target-dir"])
        .arg(target_dir);
    for setting in
        ["panic='abort'", "lto=true", "codegen-units=1", "opt-level='s'", "debug=false", "strip='symbols'"]
    {
        cargo.args(["--config", &format!("profile.release.{setting}")]);
    }
    cargo.args(["--", "-C", "relocation-model=static"]);
    for argument in ["-nostartfiles", "-nostdlib", "-static", "-no-pie"] {
        cargo.args(["-C", &format!("link-arg={argument}")]);
    }
    // What the outer build was told about itself is not meant for this one.
    for inherited in [
        "RUSTFLAGS",
        "CARGO_ENCODED_RUSTFLAGS",
        "CARGO_TARGET_DIR",
        "CARGO_BUILD_TARGET_DIR",
        "CARGO_BUILD_BUILD_DIR",
        "CARGO_BUILD_TARGET",
        "RUSTC_WRAPPER",
        "RUSTC_WORKSPACE_WRAPPER",
        "CARGO_MAKEFLAGS",
        "MAKEFLAGS",
    ] {
        cargo.env_remove(inherited);
    }
    let status = cargo.status()?;
    if status.success() { Ok(()) } else { Err(format!("the guest does not build: {status}").into()) }
}
