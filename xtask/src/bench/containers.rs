//! The peers that run containers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::arm::{Arm, Closure, Sample, Start};
use super::peers::{SAYING, Scratch, installed, said, say};
use crate::cargo;
use crate::failure::Failure;

/// What ours is limited to as well.
const MEMORY_BYTES: u64 = 256 << 20;
const PROCESSES: u64 = 32;
/// How long an engine may take to answer.
const ANSWERS: Duration = Duration::from_secs(20);

/// A runtime that takes a bundle. Debian's crun refuses a machine on which a controller lies on the unified hierarchy beside
/// legacy ones, so the arm is started where that hierarchy cannot be seen (see [`apart`]).
pub(super) fn oci(runtime: &str, image: &Path) -> Result<Start, Failure> {
    let scratch = Scratch::make()?;
    let root = image.canonicalize().map_err(Failure::at("find", image))?;
    let program = installed(runtime).get_program().into();
    let mut runtime = Oci { program, root, scratch, number: 0 };
    runtime.describe("say", &SAYING)?;
    Ok(match runtime.operate() {
        Ok(_) => Start::Ready(Box::new(runtime)),
        Err(failure) => Start::Absent(failure.with_causes().replace('\n', " ")),
    })
}

struct Oci {
    program: PathBuf,
    root: PathBuf,
    scratch: Scratch,
    number: u64,
}

impl Oci {
    /// Writes the bundle of this name, whose program has these words.
    fn describe(&self, bundle: &str, words: &[&str]) -> Result<(), Failure> {
        let folder = self.scratch.0.join(bundle);
        fs::create_dir_all(&folder).map_err(Failure::at("make", &folder))?;
        let config = folder.join("config.json");
        fs::write(&config, description(&self.root, words).to_string()).map_err(Failure::at("write", &config))
    }

    fn command(&mut self, bundle: &str) -> Command {
        self.number += 1;
        let mut command = Command::new(&self.program);
        command.arg("--root").arg(self.scratch.0.join("state")).args(["run", "--bundle"]);
        command.arg(self.scratch.0.join(bundle)).arg(format!("arm-{}-{}", std::process::id(), self.number));
        command
    }
}

impl Arm for Oci {
    fn operate(&mut self) -> Result<Sample, Failure> {
        let mut command = self.command("say");
        Closure(|| say(&mut command)).operate()
    }

    fn run(&mut self, script: &str) -> Result<Option<String>, Failure> {
        self.describe("run", &["/usr/bin/sh", "-c", script])?;
        said(&mut self.command("run")).map(Some)
    }
}

/// The command in mounts of its own, without the unified hierarchy of control groups where there are legacy ones.
pub(super) fn apart(command: &Command) -> Command {
    const SCRIPT: &str = "umount /sys/fs/cgroup/unified 2>/dev/null; exec \"$@\"";
    let mut apart = Command::new("unshare");
    apart.args(["--mount", "--propagation", "private", "sh", "-c", SCRIPT, "sh"]);
    apart.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            apart.env(name, value);
        }
    }
    if let Some(directory) = command.get_current_dir() {
        apart.current_dir(directory);
    }
    apart
}

fn description(root: &Path, words: &[&str]) -> Value {
    let tmpfs = |place: &str| {
        json!({ "destination": place, "type": "tmpfs", "source": "tmpfs",
            "options": ["nosuid", "nodev", "size=33554432", "mode=1777"] })
    };
    let namespaces = ["pid", "mount", "ipc", "uts", "network"].map(|kind| json!({ "type": kind }));
    json!({
        "ociVersion": "1.0.2",
        "process": {
            "user": { "uid": 0, "gid": 0 }, "args": words, "cwd": "/workspace",
            "env": ["PATH=/usr/bin"], "noNewPrivileges": true,
            "capabilities": { "bounding": [], "effective": [], "permitted": [] },
        },
        "root": { "path": root, "readonly": true },
        "hostname": "sandbox",
        "mounts": [
            { "destination": "/proc", "type": "proc", "source": "proc" },
            { "destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755"] },
            tmpfs("/tmp"), tmpfs("/workspace"),
        ],
        "linux": {
            "namespaces": namespaces,
            "resources": { "memory": { "limit": MEMORY_BYTES }, "pids": { "limit": PROCESSES } },
        },
    })
}

/// An engine that is started by hand, with everything of it below a folder.
struct Engine {
    engine: Child,
    socket: String,
    _scratch: Scratch,
}

impl Engine {
    fn command(&self, words: &[&str]) -> Command {
        let mut command = installed("docker");
        command.args(["-H", &self.socket, "run", "--rm", "--network", "none", "--read-only"]);
        command.args([
            "--memory",
            "256m",
            "--memory-swap",
            "256m",
            "--pids-limit",
            "32",
            "--cap-drop",
            "ALL",
        ]);
        command
            .args(["--tmpfs", "/workspace:mode=1777", "--security-opt", "no-new-privileges", "bench:1"])
            .args(words);
        command
    }
}

impl Arm for Engine {
    fn operate(&mut self) -> Result<Sample, Failure> {
        let mut command = self.command(&SAYING);
        Closure(|| say(&mut command)).operate()
    }

    fn run(&mut self, script: &str) -> Result<Option<String>, Failure> {
        said(&mut self.command(&["/usr/bin/sh", "-c", script])).map(Some)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        end(&mut self.engine);
    }
}

/// Asks the engine to end, so that it ends what it started.
fn end(engine: &mut Child) {
    let _ = Command::new("kill").args(["-TERM", &engine.id().to_string()]).status();
    let until = Instant::now() + ANSWERS;
    while Instant::now() < until && matches!(engine.try_wait(), Ok(None)) {
        std::thread::sleep(Duration::from_millis(10));
    }
    let _ = engine.kill();
    let _ = engine.wait();
}

pub(super) fn docker(image: &Path) -> Result<Start, Failure> {
    let engine = installed("dockerd");
    if !Path::new(engine.get_program()).is_absolute() {
        return Ok(Start::Absent("dockerd is not installed".to_owned()));
    }
    let scratch = Scratch::make()?;
    let socket = format!("unix://{}", scratch.0.join("socket").display());
    let mut engine = Command::new(engine.get_program());
    engine.arg("--data-root").arg(scratch.0.join("data")).arg("--exec-root").arg(scratch.0.join("exec"));
    engine.args(["-H", &socket, "-p"]).arg(scratch.0.join("pid"));
    engine.args(["--iptables=false", "--ip6tables=false", "--ip-forward=false", "--ip-masq=false"]);
    engine.args(["--bridge=none", "--exec-opt", "native.cgroupdriver=cgroupfs"]);
    engine.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut engine = engine.spawn().map_err(|cause| Failure::caused("could not start dockerd", cause))?;
    match imported(&socket, image, &scratch.0) {
        Ok(()) => Ok(Start::Ready(Box::new(Engine { engine, socket, _scratch: scratch }))),
        Err(failure) => {
            end(&mut engine);
            Ok(Start::Absent(failure.with_causes().replace('\n', " ")))
        }
    }
}

fn imported(socket: &str, image: &Path, folder: &Path) -> Result<(), Failure> {
    let until = Instant::now() + ANSWERS;
    while !cargo::answers("docker", &["-H", socket, "version"]) {
        if Instant::now() > until {
            return Err(Failure::new("dockerd does not answer"));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let archive: PathBuf = folder.join("image.tar");
    cargo::text(Command::new("tar").arg("-cf").arg(&archive).arg("-C").arg(image).arg("."))?;
    cargo::text(installed("docker").args(["-H", socket, "import"]).arg(&archive).arg("bench:1")).map(drop)
}
