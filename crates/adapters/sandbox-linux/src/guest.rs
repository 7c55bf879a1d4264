//! A guest: an init in its own namespaces, with or without a run.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ambit_ports::sandbox::{Enforcer, SandboxError};
use ambit_sandbox_guest::socket::Descriptors;
use ambit_sandbox_guest::wire::{Failed, Message, Response, Spawn};
use tokio::sync::Mutex;

use crate::cgroup::{Group, Layout};
use crate::channel::Channel;
use crate::host_directory::detached;
use crate::identity::{Outer, outer};
use crate::missing;
use crate::process::{Process, ProcessIdentity};
use crate::spawner::{SpawnError, Spawner};

/// How long a guest that is given up is waited for.
const DROP_PATIENCE: Duration = Duration::from_millis(200);

/// A guest that runs. When it is dropped it is killed, and its groups are removed.
pub(crate) struct Guest {
    pub(crate) identity: ProcessIdentity,
    pub(crate) outer: Outer,
    /// Whether it takes the directories of the host by their paths.
    pub(crate) by_path: bool,
    pub(crate) group: Group,
    pub(crate) process: Arc<Process>,
    control: Channel,
}

/// Makes guests.
pub(crate) struct Nursery {
    layout: Layout,
    by_path: bool,
    spawner: Mutex<Option<Spawner>>,
}

/// A group that no guest has yet. It goes with an attempt that fails or is given up.
struct Unused(Option<Group>);

impl Unused {
    fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for Unused {
    fn drop(&mut self) {
        if let Some(group) = &self.0 {
            let _ = group.remove();
        }
    }
}

/// An input or output error while something was being done.
pub(crate) fn io_error(what: &str) -> impl FnOnce(io::Error) -> SandboxError + '_ {
    move |source| match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => SandboxError::NoSpace(source),
        _ => SandboxError::Io { what: what.into(), source },
    }
}

impl Nursery {
    pub(crate) fn new(layout: Layout) -> Self {
        Self { layout, by_path: detached(Path::new("/proc/self")).is_err(), spawner: Mutex::new(None) }
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Makes a guest. `name` is unique among the groups of this machine; `pick` chooses its user, where there is a choice.
    pub(crate) async fn make(&self, name: &str, pick: u32) -> Result<Guest, SandboxError> {
        let group = self.layout.create(name).map_err(io_error("making a control group"))?;
        let unused = Unused(Some(group.clone()));
        let guest = self.start(&group, pick).await?;
        unused.keep();
        Ok(guest)
    }

    async fn start(&self, group: &Group, pick: u32) -> Result<Guest, SandboxError> {
        let birthplace = group.unified_directory().map_err(io_error("opening a control group"))?;
        let outer = outer(pick);
        let Outer { uid, gid, foreign } = outer;
        let counted = self.layout.enforcement().memory == Enforcer::RlimitPerProcess;
        let request = Spawn { outer_uid: uid, outer_gid: gid, foreign, by_path: self.by_path, counted };
        let started = self.spawn(request, birthplace.as_ref().map(|file| file.as_fd())).await?;
        let process = Arc::new(Process::new(started.process).map_err(io_error("holding the guest"))?);
        match first_word(&started.control).await.map_err(io_error("waiting for the guest"))? {
            Response::Born => {}
            Response::Failed(failed) => return Err(missing::error_of(failed)),
            _ => return Err(io_error("waiting for the guest")(io::ErrorKind::InvalidData.into())),
        }
        let guest = Guest {
            identity: ProcessIdentity::read(started.pid).map_err(io_error("looking at the guest"))?,
            outer,
            by_path: self.by_path,
            group: group.clone(),
            process,
            control: started.control,
        };
        let (joining, pid) = (group.clone(), started.pid);
        tokio::task::spawn_blocking(move || joining.adopt(pid))
            .await
            .map_err(|panic| io_error("joining a control group")(io::Error::other(panic)))?
            .map_err(io_error("joining a control group"))?;
        Ok(guest)
    }

    /// Asks the spawner, and where it is gone a new one.
    async fn spawn(
        &self,
        request: Spawn,
        birthplace: Option<BorrowedFd<'_>>,
    ) -> Result<crate::spawner::Started, SandboxError> {
        let mut place = self.spawner.lock().await;
        if let Some(spawner) = place.as_ref() {
            match spawner.spawn(request, birthplace).await {
                Ok(started) => return Ok(started),
                Err(SpawnError::Refused(failed)) => return Err(missing::error_of(failed)),
                Err(SpawnError::Gone(_)) => *place = None,
            }
        }
        let spawner = place.insert(Spawner::start().await.map_err(io_error("starting the spawner"))?);
        spawner.spawn(request, birthplace).await.map_err(|error| match error {
            SpawnError::Refused(failed) => missing::error_of(failed),
            SpawnError::Gone(error) => io_error("talking to the spawner")(error),
        })
    }

    /// Ends the spawner, and with it every guest that it started.
    pub(crate) async fn lose_spawner(&self) {
        *self.spawner.lock().await = None;
    }
}

impl Guest {
    /// Sends a request.
    pub(crate) async fn send<'a>(
        &self,
        message: &impl Message<'a>,
        variable_bytes: usize,
        beside: &[BorrowedFd<'_>],
    ) -> io::Result<()> {
        self.control.send(message, variable_bytes, beside).await
    }

    /// Receives the next response.
    pub(crate) async fn receive(&self) -> io::Result<(Response, Descriptors)> {
        let mut buffer = [0; 256];
        self.control.receive(&mut buffer).await
    }

    /// Receives responses up to one that `wanted` recognises. What is passed over are answers to hints.
    pub(crate) async fn receive_until<T>(
        &self,
        mut wanted: impl FnMut(Response, Descriptors) -> Option<T>,
    ) -> io::Result<T> {
        loop {
            let (response, descriptors) = self.receive().await?;
            if let Some(found) = wanted(response, descriptors) {
                return Ok(found);
            }
        }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let _ = self.process.kill();
        if self.group.remaining() > 0 {
            // Usually well under a millisecond. What is not gone by then is swept when the next backend starts.
            let _ = self.process.ended_within(DROP_PATIENCE);
            let _ = self.group.remove();
        }
    }
}

/// What a guest says before it is asked anything.
async fn first_word(control: &Channel) -> io::Result<Response> {
    let mut buffer = [0; 64];
    Ok(control.receive(&mut buffer).await?.0)
}

/// Removes a group whose last process has ended. The kernel may let go of that process a moment later.
pub(crate) async fn remove_when_empty(group: &Group) -> io::Result<()> {
    let mut pause = Duration::from_micros(200);
    loop {
        match group.remove() {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy && pause < crate::process::DYING => {
                tokio::time::sleep(pause).await;
                pause *= 2;
            }
            other => return other,
        }
    }
}

/// A failure of the guest as an error of the port.
pub(crate) fn refused(failed: Failed) -> SandboxError {
    missing::error_of(failed)
}
