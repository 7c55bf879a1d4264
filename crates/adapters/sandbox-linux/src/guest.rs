//! A guest: an init in its own namespaces, with or without a run.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ambit_control_groups::{Group, Layout};
use ambit_ownership::ProcessIdentity;
use ambit_ports::sandbox::{Enforcer, SandboxError};
use ambit_sandbox_guest::socket::Descriptors;
use ambit_sandbox_guest::wire::{Failed, Message, Response, Spawn};
use ambit_staging::Owner;
use tokio::sync::Mutex;

use crate::channel::Channel;
use crate::host_directory::detached;
use crate::identity::outer;
use crate::process::Process;
use crate::spawner::{SpawnError, Spawner};
use crate::{filter, missing};

/// How long a guest that is given up is waited for.
const DROP_PATIENCE: Duration = Duration::from_millis(200);

/// A guest that runs. When it is dropped it is killed, and its groups are removed.
pub(crate) struct Guest {
    pub(crate) identity: ProcessIdentity,
    pub(crate) outer: Owner,
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
    /// The system-call filter of every command.
    filter: Vec<u8>,
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

impl Nursery {
    pub(crate) fn new(layout: Layout) -> Self {
        let filter = filter::program(layout.enforcement().memory);
        let by_path = detached(Path::new("/proc/self")).is_err();
        Self { layout, by_path, filter, spawner: Mutex::new(None) }
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The system-call filter of every command.
    pub(crate) fn filter(&self) -> &[u8] {
        &self.filter
    }

    /// Starts a guest, which is [`born`](Guest::born) a while later, and does `meanwhile` for its user what else it takes.
    /// `name` is unique among the groups of this machine; `pick` chooses the user, where there is a choice.
    pub(crate) async fn make<T>(
        &self,
        name: &str,
        pick: u32,
        meanwhile: impl FnOnce(Owner) -> Result<T, SandboxError>,
    ) -> Result<(Guest, T), SandboxError> {
        let group = self.layout.create(name).map_err(SandboxError::during("making a control group"))?;
        let unused = Unused(Some(group.clone()));
        let outer = outer(pick);
        // The question is sent before the first of these waits, and the kernel takes long to answer it.
        let (guest, done) = tokio::join!(self.start(&group, outer), async { meanwhile(outer) });
        let guest = guest?;
        unused.keep();
        Ok((guest, done?))
    }

    /// Whether directories of the host are named by their paths.
    pub(crate) const fn by_path(&self) -> bool {
        self.by_path
    }

    async fn start(&self, group: &Group, outer: Owner) -> Result<Guest, SandboxError> {
        let opening = "opening a control group";
        let birthplace = group.unified_directory().map_err(SandboxError::during(opening))?;
        let entrances = group.entrances().map_err(SandboxError::during(opening))?;
        let Owner { uid, gid, foreign } = outer;
        let counted = self.layout.enforcement().memory == Enforcer::RlimitPerProcess;
        let request = Spawn {
            outer_uid: uid,
            outer_gid: gid,
            foreign,
            by_path: self.by_path,
            counted,
            placed: birthplace.is_some(),
        };
        let groups: Vec<BorrowedFd<'_>> = birthplace.iter().chain(&entrances).map(File::as_fd).collect();
        let started = self.spawn(request, &groups).await?;
        let process =
            Arc::new(Process::new(started.process).map_err(SandboxError::during("holding the guest"))?);
        let identity = match ProcessIdentity::read(started.pid) {
            Ok(identity) => identity,
            // It has ended already, and told why.
            Err(error) => {
                return Err(match born(&started.control).await {
                    Err(why @ (SandboxError::Unavailable(_) | SandboxError::ControlFailed { .. })) => why,
                    _ => SandboxError::during("looking at the guest")(error),
                });
            }
        };
        Ok(Guest {
            identity,
            outer,
            by_path: self.by_path,
            group: group.clone(),
            process,
            control: started.control,
        })
    }

    /// Asks the spawner, and where it is gone a new one.
    async fn spawn(
        &self,
        request: Spawn,
        groups: &[BorrowedFd<'_>],
    ) -> Result<crate::spawner::Started, SandboxError> {
        let mut place = self.spawner.lock().await;
        if let Some(spawner) = place.as_ref() {
            match spawner.spawn(request, groups).await {
                Err(SpawnError::Gone(_)) => *place = None,
                told => return told.map_err(spawn_error),
            }
        }
        let spawner =
            place.insert(Spawner::start().await.map_err(SandboxError::starting("starting the spawner"))?);
        spawner.spawn(request, groups).await.map_err(spawn_error)
    }

    /// Ends the spawner, and with it every guest that it started.
    pub(crate) async fn lose_spawner(&self) {
        *self.spawner.lock().await = None;
    }
}

impl Guest {
    /// Whether its trees can be those of other leases as well. An ordinary user can show files only as they are.
    pub(crate) const fn can_share(&self) -> bool {
        self.outer.foreign && !self.by_path
    }

    /// Waits until it has its namespaces.
    pub(crate) async fn born(&self) -> Result<(), SandboxError> {
        born(&self.control).await
    }

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

    /// Receives the next response where there is one.
    pub(crate) fn receive_now(&self) -> Option<(Response, Descriptors)> {
        self.control.receive_now(&mut [0; 256])
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

fn spawn_error(error: SpawnError) -> SandboxError {
    match error {
        SpawnError::Refused(failed) => missing::error_of(failed),
        SpawnError::Gone(error) | SpawnError::Unasked(error) => {
            SandboxError::during("talking to the spawner")(error)
        }
    }
}

/// What a guest says before it does anything that it is asked.
async fn born(control: &Channel) -> Result<(), SandboxError> {
    let what = "waiting for the guest";
    let mut buffer = [0; 64];
    match control.receive(&mut buffer).await.map_err(SandboxError::during(what))?.0 {
        Response::Born => Ok(()),
        Response::Failed(failed) => Err(missing::error_of(failed)),
        _ => Err(SandboxError::during(what)(io::ErrorKind::InvalidData.into())),
    }
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
