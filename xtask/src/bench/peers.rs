//! The arms that are not ours: the least that the machine allows, and what one would take instead.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::arm::{self, Arm, Closure, Start};
use super::containers;
use super::ground::files;
use crate::cargo;
use crate::failure::Failure;

/// As long as a record of a run is on the average.
const RECORD_BYTES: usize = 450;
/// What is waited for before output counts as there.
const OUTPUT: &[u8] = b"ready\n";

/// Makes an arm ready, in a child of the harness.
pub(super) fn start(name: &str, image: Option<&Path>) -> Result<Start, Failure> {
    let in_image = || image.ok_or_else(|| Failure::new(format!("the arm {name} needs --image")));
    Ok(match name {
        "spawn" => always(|| succeed(&mut Command::new("/bin/true"))),
        "spawn-shell" => always(|| succeed(Command::new("/bin/sh").args(["-c", "/bin/true; exit $?"]))),
        "bare" => bare(in_image()?)?,
        "bwrap" => Runs::start(bwrap(in_image()?)),
        "unshare-chroot" => Runs::start(unshare(in_image()?)),
        "nsenter" => nsenter(in_image()?)?,
        "crun" | "runc" => containers::oci(name, in_image()?)?,
        "docker" => containers::docker(in_image()?)?,
        "srt" => Runs::start(installed("srt")),
        "append" => append(1)?,
        "append-64" => append(64)?,
        "write-append" => write_append()?,
        "git-commit" => git_commit()?,
        other => return Err(Failure::new(format!("there is no arm {other:?}"))),
    })
}

/// Records into SQLite, by Python, whose module for it is the library itself with little around it.
pub(super) fn raw_sqlite(commits: u32) -> Command {
    let mut command = Command::new("python3");
    command.args(["-c", include_str!("raw_sqlite.py"), &commits.to_string()]);
    command
}

pub(super) fn always(operation: impl FnMut() -> Result<(), Failure> + 'static) -> Start {
    Start::Ready(Box::new(Closure(operation)))
}

/// What says the word.
pub(super) const SAYING: [&str; 2] = ["/usr/bin/echo", "ready"];

/// A program of this machine that runs another one, whose words follow its own.
struct Runs(Command);

impl Runs {
    /// Absent where it cannot let the word be said.
    fn start(command: Command) -> Start {
        let mut runs = Self(command);
        match runs.operate() {
            Ok(_) => Start::Ready(Box::new(runs)),
            Err(failure) => Start::Absent(failure.with_causes().replace('\n', " ")),
        }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(self.0.get_program());
        command.args(self.0.get_args()).args(words);
        command
    }
}

impl Arm for Runs {
    fn operate(&mut self) -> Result<arm::Sample, Failure> {
        let mut command = self.command(&SAYING);
        Closure(|| say(&mut command)).operate()
    }

    fn run(&mut self, script: &str) -> Result<Option<String>, Failure> {
        said(&mut self.command(&["/usr/bin/sh", "-c", script])).map(Some)
    }
}

/// What a program printed, however it ended.
pub(super) fn said(command: &mut Command) -> Result<String, Failure> {
    let output = cargo::output(command.stdin(Stdio::null()))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().replace('\n', " "))
}

/// A program of this machine that is to say the word; absent where it cannot.
fn outside(mut command: Command) -> Start {
    match say(&mut command) {
        Ok(()) => always(move || say(&mut command)),
        Err(failure) => Start::Absent(failure.with_causes().replace('\n', " ")),
    }
}

fn succeed(command: &mut Command) -> Result<(), Failure> {
    cargo::text(command).map(drop)
}

/// Runs a program to its end, which says the word.
pub(super) fn say(command: &mut Command) -> Result<(), Failure> {
    let said = cargo::text(command.stdin(Stdio::null()))?;
    if said.as_bytes() == OUTPUT { Ok(()) } else { Err(Failure::new(format!("it said {said:?}"))) }
}

/// The program of the image with the image's own loader and libraries, without anything around it.
fn bare(image: &Path) -> Result<Start, Failure> {
    let loader = files(image)?.into_iter().find(|file| {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.starts_with("ld-linux") || name.starts_with("ld-musl") || name.starts_with("ld64")
    });
    let Some(loader) = loader else { return Ok(Start::Absent("the image has no loader".to_owned())) };
    let mut command = Command::new(&loader);
    command.arg("--library-path").arg(loader.parent().unwrap_or(image));
    command.arg(image.join("usr/bin/echo")).arg("ready");
    Ok(outside(command))
}

/// A program of this machine by its whole path: looking for it is no part of what is measured. One that is nowhere keeps
/// its name, and cannot be started.
pub(super) fn installed(name: &str) -> Command {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found =
        std::env::split_paths(&path).map(|directory| directory.join(name)).find(|path| path.is_file());
    Command::new(found.unwrap_or_else(|| name.into()))
}

fn bwrap(image: &Path) -> Command {
    let mut command = installed("bwrap");
    command.args(["--unshare-all", "--die-with-parent", "--new-session", "--clearenv", "--ro-bind"]);
    command.arg(image).arg("/");
    command.args(["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/workspace"]);
    command.args(["--chdir", "/workspace"]);
    command
}

fn unshare(image: &Path) -> Command {
    let mut command = installed("unshare");
    command.args(["--user", "--map-root-user", "--mount", "--pid", "--fork", "--kill-child"]);
    command.args(["--net", "--ipc", "--uts", "--cgroup", "--root"]).arg(image);
    command
}

/// A sandbox of `unshare` that waits, and the command that enters it.
struct Entered {
    kept: Child,
    enter: Command,
}

impl Arm for Entered {
    fn operate(&mut self) -> Result<arm::Sample, Failure> {
        Closure(|| say(&mut self.enter)).operate()
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        // Its program ends with its input; `--kill-child` sees to one that does not.
        self.kept.stdin = None;
        let _ = self.kept.kill();
        let _ = self.kept.wait();
    }
}

/// How long a sandbox of `unshare` may take until its program runs.
const APPEARS: Duration = Duration::from_secs(5);

fn nsenter(image: &Path) -> Result<Start, Failure> {
    let kept = unshare(image).arg("/usr/bin/cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
    let Ok(mut kept) = kept else { return Ok(Start::Absent("unshare is not installed".to_owned())) };
    let Some(inside) = child_that_runs(kept.id(), "cat") else {
        let _ = kept.kill();
        let _ = kept.wait();
        return Ok(Start::Absent("unshare could not make a sandbox".to_owned()));
    };
    let mut enter = installed("nsenter");
    enter.args(["--target", &inside.to_string(), "--user", "--mount", "--pid", "--net", "--ipc", "--uts"]);
    enter.args(["--cgroup", "--root", "--", "/usr/bin/echo", "ready"]);
    let mut entered = Entered { kept, enter };
    Ok(match entered.operate() {
        Ok(_) => Start::Ready(Box::new(entered)),
        Err(failure) => Start::Absent(failure.with_causes().replace('\n', " ")),
    })
}

/// The child of `parent` once it runs the program of this name.
fn child_that_runs(parent: u32, name: &str) -> Option<u32> {
    let until = Instant::now() + APPEARS;
    while Instant::now() < until {
        let children = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).ok()?;
        let child = children.split_whitespace().next().and_then(|word| word.parse().ok());
        let runs = |child: &u32| {
            fs::read_to_string(format!("/proc/{child}/comm")).is_ok_and(|comm| comm.trim_end() == name)
        };
        if let Some(child) = child.filter(runs) {
            return Some(child);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    None
}

/// A new directory in the working directory, removed with this value.
pub(super) struct Scratch(pub(super) PathBuf);

impl Scratch {
    pub(super) fn make() -> Result<Self, Failure> {
        Self::in_folder(Path::new("."))
    }

    pub(super) fn in_folder(folder: &Path) -> Result<Self, Failure> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!("arm-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).map_err(Failure::at("make", &path))?;
        fs::canonicalize(&path).map(Self).map_err(Failure::at("find", &path))
    }

    fn append_to(&self, name: &str) -> Result<File, Failure> {
        let path = self.0.join(name);
        OpenOptions::new().create(true).append(true).open(&path).map_err(Failure::at("open", &path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What stays lies below the target folder, and is found again by its name.
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(super) fn unwritten(cause: std::io::Error) -> Failure {
    Failure::caused("an arm could not write", cause)
}

/// So many records to the end of a file, and one sync for all.
fn append(records: usize) -> Result<Start, Failure> {
    let scratch = Scratch::make()?;
    let mut log = scratch.append_to("log")?;
    let bytes = vec![b'x'; RECORD_BYTES * records];
    Ok(always(move || {
        let _kept = &scratch;
        log.write_all(&bytes).and_then(|()| log.sync_data()).map_err(unwritten)
    }))
}

/// A source file replaced, and a record of it, both durable.
fn write_append() -> Result<Start, Failure> {
    let scratch = Scratch::make()?;
    let mut log = scratch.append_to("log")?;
    let (path, beside) = (scratch.0.join("source"), scratch.0.join("source.new"));
    let content = vec![b's'; 4096];
    Ok(always(move || {
        let _kept = &scratch;
        let mut file = File::create(&beside).map_err(unwritten)?;
        file.write_all(&content).and_then(|()| file.sync_all()).map_err(unwritten)?;
        fs::rename(&beside, &path).map_err(unwritten)?;
        log.write_all(&content[..RECORD_BYTES]).and_then(|()| log.sync_data()).map_err(unwritten)
    }))
}

/// A repository in which each step applies a patch of one line and commits it, all of it synced.
fn git_commit() -> Result<Start, Failure> {
    if !cargo::answers("git", &["--version"]) {
        return Ok(Start::Absent("git is not installed".to_owned()));
    }
    let scratch = Scratch::make()?;
    let git = |directory: &Path| {
        let mut command = installed("git");
        command.current_dir(directory).env("GIT_CONFIG_NOSYSTEM", "1").stdin(Stdio::null());
        command.args(["-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "core.fsync=all"]);
        command.args(["-c", "core.fsyncMethod=fsync", "-c", "gc.auto=0"]);
        command
    };
    let source = scratch.0.join("source");
    let body = "a line that stays\n".repeat(200);
    fs::write(&source, format!("step 0\n{body}")).map_err(Failure::at("write", &source))?;
    fs::set_permissions(&source, fs::Permissions::from_mode(0o644)).map_err(unwritten)?;
    for words in [&["init", "--quiet"][..], &["add", "source"], &["commit", "--quiet", "-m", "0"]] {
        cargo::text(git(&scratch.0).args(words))?;
    }
    let mut step = 0;
    Ok(always(move || {
        let patch = format!(
            "--- a/source\n+++ b/source\n@@ -1,2 +1,2 @@\n-step {step}\n+step {}\n a line that stays\n",
            step + 1
        );
        step += 1;
        let path = scratch.0.join(".git/next.patch");
        fs::write(&path, patch).map_err(unwritten)?;
        cargo::text(git(&scratch.0).args(["apply", "--index"]).arg(&path))?;
        cargo::text(git(&scratch.0).args(["commit", "--quiet", "-m", "step"])).map(drop)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ready(start: Start) -> Box<dyn Arm> {
        match start {
            Start::Ready(arm) => arm,
            Start::Absent(why) => panic!("absent: {why}"),
        }
    }

    #[test]
    fn what_does_not_say_the_word_is_absent_with_the_reason() {
        let said = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            outside(command)
        };
        assert!(ready(said("echo ready")).operate().is_ok());
        assert!(matches!(said("echo steady"), Start::Absent(why) if why.contains("steady")));
        assert!(matches!(said("echo no >&2; exit 3"), Start::Absent(why) if why.contains("no")));
        let missing = outside(Command::new("no-such-program-anywhere"));
        assert!(matches!(missing, Start::Absent(why) if why.contains("no-such-program-anywhere")));
    }

    #[test]
    fn an_arm_that_nobody_knows_or_that_lacks_its_image_is_refused() {
        assert!(start("no-such-arm", None).is_err());
        assert!(start("bwrap", None).is_err());
    }

    #[test]
    fn records_are_there_once_they_were_appended() {
        let scratch = Scratch::make().unwrap();
        let path = scratch.0.clone();
        let mut log = scratch.append_to("log").unwrap();
        log.write_all(&[b'x'; RECORD_BYTES]).unwrap();
        assert_eq!(fs::metadata(path.join("log")).unwrap().len(), RECORD_BYTES as u64);
        drop(scratch);
        assert!(!path.exists());
    }
}
