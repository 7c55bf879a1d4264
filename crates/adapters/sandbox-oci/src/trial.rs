//! Whether an ordinary user can have containers on this machine: tried once with everything that a keeper does before it
//! starts a runtime.

use std::fs;
use std::io::{self, Read as _};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use ambit_ownership::{ProcessIdentity, maker_of_name};
use ambit_ports::sandbox::{Maker, MissingFeature, SandboxError};

use crate::fresh;
use crate::missing::missing;
use crate::stage::Staging;
use crate::unprivileged::error_of;

/// How long a keeper may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Lets a keeper put the files of an empty container together.
///
/// # Errors
/// [`SandboxError::Unavailable`] with what this machine lacks, or the step that failed.
pub(crate) fn attempt(staging: Staging) -> Result<(), SandboxError> {
    let what = "trying whether a container can be made";
    // A thread of its own, whose working directory is no other's.
    let trying = std::thread::Builder::new().name("ambit-trial".into()).spawn(move || said(&staging));
    let said = trying
        .map_err(SandboxError::during(what))?
        .join()
        .unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
        .map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => SandboxError::Unavailable(vec![not_executable()]),
            _ => SandboxError::during(what)(error),
        })?;
    match said.lines().find(|line| line.starts_with("failed ")) {
        Some(line) => Err(error_of(line)),
        None if said.lines().any(|line| line == "staged") => Ok(()),
        None => Err(error_of(said.trim())),
    }
}

/// Where trials are made. Their names tell who makes them.
pub(crate) fn place(root: &Path, id: &str) -> PathBuf {
    root.join("trials").join(format!("{}-{id}{}", std::process::id(), ProcessIdentity::own_mark()))
}

/// Removes what is left of trials whose makers were killed.
pub(crate) fn sweep(root: &Path) {
    for entry in fs::read_dir(root.join("trials")).into_iter().flatten().flatten() {
        if entry.file_name().to_str().map(maker_of_name) == Some(Maker::Gone) {
            // Nobody waits for it: what cannot be removed now is met again.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn not_executable() -> MissingFeature {
    missing(
        "programs in the state directory",
        "the keeper of a container, which is written there, cannot be started",
        "keep the state directory where this user may execute files (not on a mount with `noexec`)",
    )
}

/// What a keeper says that is not let go.
fn said(staging: &Staging) -> io::Result<String> {
    let stage = &staging.places.stage;
    fs::create_dir_all(stage)?;
    let answer = staging.lay_out().map_err(|(_, error)| error).and_then(|()| hear(staging));
    let _ = rustix::process::chdir("/");
    let _ = fs::remove_dir_all(stage.parent().unwrap_or(stage));
    answer
}

fn hear(staging: &Staging) -> io::Result<String> {
    let (mut near, far) = UnixStream::pair()?;
    near.set_read_timeout(Some(PATIENCE))?;
    near.shutdown(Shutdown::Write)?;
    let mut keeper = Command::new(staging.places.program());
    keeper
        .args(staging.keeper("0"))
        .arg(Path::new("/proc/self/exe"))
        .env_clear()
        .current_dir(&staging.places.stage)
        .stdin(Stdio::from(OwnedFd::from(far)))
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut keeper = fresh::spawn(keeper)?;
    let mut said = String::new();
    let heard = near.read_to_string(&mut said);
    // It ends by itself where it is let go by nobody; one that stands still is ended.
    if heard.is_err() {
        keeper.kill()?;
    }
    keeper.wait()?;
    heard.map(|_| said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_goes_with_its_maker() {
        let root = tempfile::tempdir().unwrap();
        let own = place(root.path(), "1");
        let mut child = Command::new("true").spawn().unwrap();
        let (gone, _) = (format!("{}-1{}", child.id(), ProcessIdentity::own_mark()), child.wait().unwrap());
        let gone = root.path().join("trials").join(gone);
        for trial in [&own, &gone] {
            fs::create_dir_all(trial.join("stage")).unwrap();
        }
        sweep(root.path());
        assert_eq!((own.exists(), gone.exists()), (true, false));
    }
}
