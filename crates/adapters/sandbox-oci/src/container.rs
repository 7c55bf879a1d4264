//! A container: from its bundle to the proof that nothing of it is left.
//!
//! A thread of its own builds the stage, starts the keeper there, waits for its end and clears away. Everybody else speaks
//! to the first process inside, over a socket that the command never has.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use ambit_control_groups::GroupLimits;
use ambit_ports::sandbox::SandboxError;
use rustix::pipe::{PipeFlags, pipe_with};
use tokio::sync::{mpsc as signals, oneshot};

use crate::bundle::Config;
use crate::cell::Cell;
use crate::control::Control;
use crate::ending::Ending;
use crate::fresh;
use crate::groups::Groups;
use crate::hold::Hold;
use crate::runtime::{Kind, Place, Runtime};
use crate::stage::{Failed, Held, Staging};

/// How long a runtime may take to make a container.
const MAKING: Duration = Duration::from_secs(30);
/// By how much a runtime's own kernel may grow while a command runs.
const OWN_GROWTH: u64 = 16 << 20;
/// The step in which the first process of a container is started.
const KEEPER: &str = "the keeper of the container";
/// What the keeper says where a command holds more memory than it may.
pub(crate) const EXCEEDED: &str = "exceeded";
/// The most of what a runtime says about its failure that is kept.
const REASON_BYTES: usize = 1000;

/// What the thread of a container tells, in this order.
struct News {
    /// The keeper, and the stage where it was built by this side.
    started: oneshot::Sender<Result<(i32, Option<Held>), Failed>>,
    ended: oneshot::Sender<io::Result<ExitStatus>>,
    /// Ends when nobody needs the container any more.
    needed: mpsc::Receiver<()>,
    gone: oneshot::Sender<u32>,
}

/// A container that runs. Dropping it kills it.
pub(crate) struct Container {
    pub(crate) held: Held,
    pub(crate) hold: Hold,
    kind: Kind,
    limits: GroupLimits,
    /// The process that this side started.
    keeper: i32,
    /// Whether it was told that the command holds more memory than it may.
    pub(crate) exceeded: bool,
    /// The streams of the command, until somebody reads them.
    pub(crate) stdout: Option<OwnedFd>,
    pub(crate) stderr: Option<OwnedFd>,
    control: Control,
    ended: Ending,
    needed: Option<mpsc::Sender<()>>,
    gone: oneshot::Receiver<u32>,
    pid_file: PathBuf,
}

/// What a container is made from.
pub(crate) struct Plan {
    pub(crate) runtime: Runtime,
    pub(crate) id: String,
    /// Where its files lie; nothing is there yet.
    pub(crate) directory: PathBuf,
    pub(crate) staging: Staging,
    pub(crate) config: Config,
    /// What holds its processes; `None` where an ordinary user makes it.
    pub(crate) groups: Option<Groups>,
    pub(crate) limits: GroupLimits,
}

impl Plan {
    /// The first words of the keeper.
    fn keeper(&self) -> Vec<OsString> {
        if self.groups.is_some() {
            return vec!["keeper".into()];
        }
        // What the runtime's kernel holds of its own is not the command's.
        let memory = match self.runtime.kind.has_own_kernel() {
            true => format!("+{}", self.limits.memory_bytes.saturating_add(OWN_GROWTH)),
            false => self.limits.memory_bytes.to_string(),
        };
        self.staging.keeper(&memory)
    }
}

fn failed((step, source): Failed) -> SandboxError {
    match source.kind() {
        io::ErrorKind::StorageFull => SandboxError::NoSpace(source),
        _ if step == KEEPER => SandboxError::starting("starting the keeper of the container")(source),
        _ => SandboxError::ControlFailed { control: step.into(), source },
    }
}

fn control(step: &'static str) -> impl FnOnce(io::Error) -> SandboxError {
    move |source| failed((step, source))
}

fn limit(groups: &Groups, limits: GroupLimits) -> Result<(), SandboxError> {
    groups.inner.limit(limits).map_err(control("the control group"))
}

impl Container {
    /// Puts the files of a container together. Nothing of it runs before [`start`](Self::start).
    /// `present` goes once everything is cleared away, whether or not anybody waits for that.
    pub(crate) async fn stage(plan: Plan, present: signals::Sender<()>) -> Result<Self, SandboxError> {
        let (mut control, far) = Control::pair().map_err(control("the socket of the container"))?;
        let pipe = || {
            pipe_with(PipeFlags::CLOEXEC)
                .map_err(|errno| failed(("the streams of the container", errno.into())))
        };
        let ((stdout, stdout_far), (stderr, stderr_far)) = (pipe()?, pipe()?);
        let (started, has_started) = oneshot::channel();
        let (ended, has_ended) = oneshot::channel();
        let (needed, is_needed) = mpsc::channel();
        let (gone, is_gone) = oneshot::channel();
        let news = News { started, ended, needed: is_needed, gone };
        let (kind, groups, limits) = (plan.runtime.kind, plan.groups.clone(), plan.limits);
        let (pid_file, stage) = (plan.directory.join("pid"), plan.staging.places.stage.clone());
        let streams = [far.into(), stdout_far, stderr_far];
        let thread = "the thread of the container";
        std::thread::Builder::new()
            .name("ambit-container".into())
            .spawn(move || {
                attend(&plan, streams, news);
                drop(present);
            })
            .map_err(SandboxError::starting("starting the thread of the container"))?;
        let started = has_started.await.map_err(|_| failed((thread, io::ErrorKind::BrokenPipe.into())))?;
        let (keeper, held) = started.map_err(failed)?;
        let (held, hold) = match (held, groups) {
            (Some(held), Some(groups)) => (held, Hold::Groups(groups)),
            _ => {
                let cell = Cell::staged(&mut control).await?;
                (cell.look(&stage).map_err(|error| failed(("the stage", error)))?, Hold::Cell(cell))
            }
        };
        Ok(Self {
            held,
            hold,
            kind,
            limits,
            keeper,
            exceeded: false,
            stdout: Some(stdout),
            stderr: Some(stderr),
            control,
            ended: Ending::new(has_ended),
            needed: Some(needed),
            gone: is_gone,
            pid_file,
        })
    }

    /// Makes the container and waits until its first process says that it is ready. The limits are in place then, and the
    /// command waits for [`begin`](Self::begin).
    pub(crate) async fn start(&mut self) -> Result<(), SandboxError> {
        if let Hold::Groups(groups) = &self.hold {
            let home = if self.kind.has_own_kernel() { &groups.inner } else { &groups.outer };
            Groups::place(home, self.keeper).map_err(control("the control group"))?;
        }
        self.control.say_go().await.map_err(control("starting the runtime"))?;
        self.become_ready().await?;
        let Hold::Groups(groups) = &self.hold else { return Ok(()) };
        if self.kind.has_own_kernel() {
            // What the runtime's kernel holds of its own is not the command's.
            let own = groups.inner.usage().peak_memory_bytes.unwrap_or(0).saturating_add(OWN_GROWTH);
            let memory_bytes = self.limits.memory_bytes.saturating_add(own);
            return limit(groups, GroupLimits { memory_bytes, ..self.limits });
        }
        let first = self.first().await?;
        Groups::place(&groups.inner, first).map_err(control("the control group"))?;
        if self.kind.forgets_privilege() {
            without_privilege(first).await.map_err(control("the mounts of the container"))?;
        }
        limit(groups, self.limits)
    }

    /// The first process, as the runtime names it: some write the file only after the process was started.
    async fn first(&self) -> Result<i32, SandboxError> {
        let told = async {
            loop {
                let text = fs::read_to_string(&self.pid_file).unwrap_or_default();
                match text.trim().parse() {
                    Ok(pid) => return pid,
                    Err(_) => tokio::time::sleep(Duration::from_millis(1)).await,
                }
            }
        };
        let late = |_| control("the first process")(io::ErrorKind::TimedOut.into());
        tokio::time::timeout(MAKING, told).await.map_err(late)
    }

    /// Waits for the first process, and for the end of the runtime where the keeper tells that; where the runtime fails
    /// instead, the answer is what it said.
    async fn become_ready(&mut self) -> Result<(), SandboxError> {
        let (mut is_ready, mut is_kept) = (false, matches!(self.hold, Hold::Groups(_)));
        while !is_ready || !is_kept {
            match tokio::time::timeout(MAKING, self.control.next_line()).await {
                Ok(Ok(line)) if line == "ready" => is_ready = true,
                Ok(Ok(line)) if line == "kept" => is_kept = true,
                Ok(_) => return Err(control("the container")(self.reason().await)),
                Err(_) => return Err(control("the container")(io::ErrorKind::TimedOut.into())),
            }
        }
        Ok(())
    }

    /// What the runtime said about its failure. It has ended, or is killed for it.
    async fn reason(&mut self) -> io::Error {
        self.hold.kill();
        let code = match self.ended().await {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        let mut said = vec![0; REASON_BYTES];
        let len = self.stderr.as_ref().map_or(0, |stderr| {
            let quiet = rustix::io::ioctl_fionbio(stderr, true);
            quiet.and_then(|()| rustix::io::read(stderr, &mut said)).unwrap_or(0)
        });
        let said = String::from_utf8_lossy(&said[..len]).replace(char::is_control, " ");
        io::Error::other(format!("the runtime ended with {code}: {}", said.trim()))
    }

    /// Starts the command.
    pub(crate) async fn begin(&mut self) -> Result<(), SandboxError> {
        self.control.say_go().await.map_err(control("starting the command"))
    }

    /// The processor time that was used before the command.
    pub(crate) fn cpu_before_us(&mut self) -> Option<u64> {
        let before_us = self.hold.cpu_us();
        if let Hold::Cell(cell) = &mut self.hold {
            cell.before_us = before_us.unwrap_or(0);
        }
        before_us
    }

    /// Asks the first process to end the command. It gives its account all the same.
    pub(crate) async fn ask_to_stop(&mut self) {
        let _ = self.control.say_go().await;
    }

    /// What is told of the command next. The end of the socket is an error of its kind. Nothing is lost where the answer is
    /// not waited for.
    pub(crate) async fn next_line(&mut self) -> io::Result<String> {
        self.control.next_line().await
    }

    /// Waits until the keeper and everything that it keeps have ended.
    pub(crate) async fn ended(&mut self) -> io::Result<ExitStatus> {
        let status = self.ended.told().await;
        if let Hold::Cell(cell) = &mut self.hold {
            // Whoever could say anything has ended, so nothing is waited for.
            while let Ok(line) = self.control.next_line().await {
                self.exceeded |= line == EXCEEDED;
                cell.spent_us = line.strip_prefix("spent ").and_then(|us| us.parse().ok()).or(cell.spent_us);
            }
        }
        status
    }

    /// Kills whatever is left and clears everything away; answers how many processes and groups remain.
    pub(crate) async fn clear(mut self) -> u32 {
        self.needed = None;
        (&mut self.gone).await.unwrap_or(u32::MAX)
    }
}

/// Takes privilege by a file from every mount of a container, from inside its mount namespace. Nothing but the first
/// process is there yet.
async fn without_privilege(first: i32) -> io::Result<()> {
    let (done, is_done) = oneshot::channel();
    // A thread of its own, which is good for nothing else afterwards.
    std::thread::Builder::new().name("ambit-mounts".into()).spawn(move || {
        let _ = done.send(crate::stage::without_privilege(first));
    })?;
    is_done.await.unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into()))
}

impl Drop for Container {
    fn drop(&mut self) {
        // Nobody would hear how it ended. The thread clears the rest away.
        if self.needed.is_some() {
            self.hold.kill();
        }
    }
}

/// The life of a container, in its own thread.
fn attend(plan: &Plan, streams: [OwnedFd; 3], news: News) {
    let News { started, ended, needed, gone } = news;
    match start(plan, streams) {
        Ok((mut keeper, held)) => {
            let pid = i32::try_from(keeper.id()).unwrap_or(0);
            // Where nobody hears it, the socket has ended, and with it a keeper that was not let go.
            if started.send(Ok((pid, held))).is_err() {
                plan.groups.as_ref().map(Groups::kill);
            }
            let _ = ended.send(keeper.wait());
            // An error says that nobody needs it any more, which is all that is waited for.
            let _ = needed.recv();
        }
        Err(failed) => {
            let _ = started.send(Err(failed));
        }
    }
    // Without groups, the end of the keeper was that of everything.
    let left = plan.groups.as_ref().map_or(0, |groups| {
        let left = groups.empty();
        groups.remove();
        left + groups.remaining()
    });
    // The mounts of the stage hide nothing of these: they belong to the mount namespace of this thread, which ends now.
    leave(&plan.staging.places.stage);
    let _ = fs::remove_dir_all(&plan.directory);
    let _ = gone.send(left);
}

fn start(plan: &Plan, streams: [OwnedFd; 3]) -> Result<(std::process::Child, Option<Held>), Failed> {
    let [_, state, bundle] =
        lay_out(&plan.directory).map_err(|error| ("the directory of the container", error))?;
    let config = serde_json::to_vec(&plan.config).map_err(|error| ("the bundle", error.into()))?;
    fs::write(bundle.join("config.json"), config).map_err(|error| ("the bundle", error))?;
    let held = match plan.groups {
        Some(_) => Some(plan.staging.enter()?),
        None => plan.staging.lay_out().map(|()| None)?,
    };
    let pid_file = plan.directory.join("pid");
    let place = Place { state: &state, bundle: &bundle, pid_file: &pid_file, id: &plan.id };
    let [control, stdout, stderr] = streams;
    let mut keeper = Command::new(plan.staging.places.program());
    keeper
        .args(plan.keeper())
        .arg(&plan.runtime.program)
        .args(plan.runtime.words(&place))
        .env_clear()
        .current_dir(if held.is_some() { Path::new("/") } else { &plan.staging.places.stage })
        .stdin(Stdio::from(control))
        .stdout(Stdio::from(stdout))
        .stderr(Stdio::from(stderr));
    let keeper = fresh::spawn(keeper).map_err(|error| (KEEPER, error))?;
    Ok((keeper, held))
}

/// Makes the directory of a container, and its stage, state and bundle in it. What it lies in is there, or the sandbox is
/// gone and stays so: a container that was given up must not bring back what was removed since.
fn lay_out(directory: &Path) -> io::Result<[PathBuf; 3]> {
    fs::create_dir(directory)?;
    let places = ["stage", "state", "bundle"].map(|name| directory.join(name));
    places.iter().try_for_each(fs::create_dir)?;
    Ok(places)
}

/// Takes the stage out of this thread's mount namespace, so that the directory below can be removed.
fn leave(stage: &Path) {
    let _ = rustix::process::chdir("/");
    let _ = rustix::mount::unmount(stage, rustix::mount::UnmountFlags::DETACH);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_brings_no_sandbox_back() {
        let root = tempfile::tempdir().unwrap();
        let containers = root.path().join("lease/containers");
        fs::create_dir_all(&containers).unwrap();
        assert!(lay_out(&containers.join("one")).unwrap().iter().all(|place| place.is_dir()));
        assert!(lay_out(&containers.join("one")).is_err(), "names of containers never come back");
        fs::remove_dir_all(root.path().join("lease")).unwrap();
        assert_eq!(lay_out(&containers.join("two")).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(!root.path().join("lease").exists());
    }
}
