//! Tests that need the tools of this machine inside: its `/usr` and its Rust are bound into an image, in a mount namespace
//! of a copy of this program.

use std::path::{Path, PathBuf};
use std::process::Command;

use ambit_conformance::sandbox::{Bench, Staged};
use ambit_ids::ByteCount;
use ambit_ports::sandbox::{ExecutionObservation, SandboxSpec};
use ambit_sandbox_linux::PROBER;
use bytes::Bytes;
use tempfile::TempDir;

use crate::support::{adapter, image_digest, volumes};

/// The image, in the copy.
const IMAGE: &str = "AMBIT_TEST_TOOLS";

const BIND: &str = "set -e; cd \"$0\"; mkdir -p usr etc rust; cp -a /etc/alternatives etc/; \
    echo 127.0.0.1 localhost > etc/hosts; mount --bind /usr usr; \
    if [ -n \"$1\" ]; then mount --bind \"$1\" rust; fi; \
    for name in bin lib lib64 sbin; do ln -sf usr/$name $name; done; shift; exec \"$@\"";

/// The limits of a build.
const MEMORY: ByteCount = ByteCount::new(1 << 30);
const DISK: ByteCount = ByteCount::new(256 << 20);

/// Where this machine's Rust lies; `None` where nobody can tell.
fn sysroot() -> Option<String> {
    let said = Command::new("rustc").args(["--print", "sysroot"]).output().ok()?;
    let root = String::from_utf8(said.stdout).ok()?.trim().to_owned();
    Path::new(&root).join("bin/cargo").exists().then_some(root)
}

/// Runs an ignored test of this program where [`Tools::bench`] finds an image.
pub(crate) fn with_tools(test: &str) {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: NO_IMAGE only root can bind the tools of this machine into an image");
        return;
    }
    let image = tempfile::tempdir().unwrap();
    let output = Command::new("unshare")
        .args(["--mount", "--propagation", "private", "sh", "-c", BIND])
        .arg(image.path())
        .arg(sysroot().unwrap_or_default())
        .arg(std::env::current_exe().unwrap())
        .args([test, "--exact", "--ignored", "--nocapture"])
        .env(IMAGE, image.path())
        .output();
    let Ok(output) = output else {
        println!("skipped: NO_UNSHARE unshare(1) is not installed");
        return;
    };
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("1 passed"), "{said}");
    print!("{said}");
}

/// A sandbox with the tools in it.
pub(crate) struct Tools {
    pub(crate) bench: Bench,
    pub(crate) staged: Staged,
    _directory: TempDir,
}

impl Tools {
    /// Only in the copy that [`with_tools`] starts.
    pub(crate) async fn stage(run: &str) -> Self {
        let image = PathBuf::from(std::env::var_os(IMAGE).unwrap());
        let directory = tempfile::tempdir().unwrap();
        let port = adapter(directory.path().join("state"), image);
        let bench =
            Bench::new(std::sync::Arc::new(port), image_digest(), volumes(), Bytes::from_static(PROBER));
        let mut spec: SandboxSpec = bench.spec(run);
        (spec.limits.memory_bytes, spec.limits.disk_bytes) = (MEMORY, DISK);
        spec.limits.processes = 64;
        let staged = bench.staged_from(spec).await;
        Self { bench, staged, _directory: directory }
    }

    /// Runs a line of shell.
    pub(crate) async fn shell(&self, line: &str) -> ExecutionObservation {
        let mut command = self.bench.command(&self.staged, &[]);
        command.argv = ["/bin/sh", "-c", line].map(str::to_owned).to_vec();
        command.environment =
            [("PATH", "/rust/bin:/usr/sbin:/usr/bin"), ("HOME", "/tmp"), ("USER", "sandbox")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .to_vec();
        (command.limits.memory_bytes, command.limits.disk_bytes) = (MEMORY, DISK);
        command.limits.processes = 64;
        self.bench.execute(&self.staged, command).await
    }
}
