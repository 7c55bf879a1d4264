//! The spawner's side in the control plane.

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use ambit_sandbox_guest::wire::{Failed, Spawn, Spawned};
use tokio::sync::oneshot;

use crate::channel::Channel;
use crate::program;

/// A spawner that runs. When this is dropped its process ends, and every guest with it.
pub(crate) struct Spawner {
    control: Channel,
}

/// A guest that was just started.
pub(crate) struct Started {
    /// Its process id.
    pub(crate) pid: i32,
    /// A descriptor of its process.
    pub(crate) process: OwnedFd,
    /// The connection to it.
    pub(crate) control: Channel,
}

/// Why a guest was not started.
#[derive(Debug)]
pub(crate) enum SpawnError {
    /// The spawner is gone.
    Gone(io::Error),
    /// It was not asked, or its answer not taken: this process has no descriptor left, or the kernel no memory. It goes on.
    Unasked(io::Error),
    /// The kernel refused.
    Refused(Failed),
}

impl SpawnError {
    /// What a failed exchange says. With the spawner every guest ends, so it is given up only where it is gone, or out of
    /// step.
    fn of(error: io::Error) -> Self {
        use io::ErrorKind::{BrokenPipe, ConnectionReset, InvalidData, NotConnected, UnexpectedEof};
        match error.kind() {
            BrokenPipe | ConnectionReset | InvalidData | NotConnected | UnexpectedEof => Self::Gone(error),
            _ => Self::Unasked(error),
        }
    }
}

impl Spawner {
    /// Starts a spawner.
    pub(crate) async fn start() -> io::Result<Self> {
        let (control, far) = Channel::pair()?;
        let (tell, told) = oneshot::channel();
        // The kernel ends the spawner with the thread that started it, so that thread does nothing else.
        std::thread::Builder::new().name("ambit-spawner".into()).spawn(move || match start_process(far) {
            Ok(mut child) => {
                let _ = tell.send(Ok(()));
                let _ = child.wait();
            }
            Err(error) => {
                let _ = tell.send(Err(error));
            }
        })?;
        told.await.map_err(|_| io::ErrorKind::BrokenPipe)??;
        Ok(Self { control })
    }

    /// Starts a guest in these control groups.
    pub(crate) async fn spawn(
        &self,
        request: Spawn,
        groups: &[BorrowedFd<'_>],
    ) -> Result<Started, SpawnError> {
        let (control, far) = Channel::pair().map_err(SpawnError::Unasked)?;
        let far_end = std::os::fd::AsFd::as_fd(&far);
        let beside: Vec<BorrowedFd<'_>> = std::iter::once(far_end).chain(groups.iter().copied()).collect();
        self.control.send(&request, 0, &beside).await.map_err(SpawnError::of)?;
        let mut buffer = [0; 64];
        match self.control.receive(&mut buffer).await.map_err(SpawnError::of)? {
            (Spawned::Started { pid }, [Some(process), ..]) => Ok(Started { pid, process, control }),
            (Spawned::Started { .. }, _) => Err(SpawnError::Gone(io::ErrorKind::InvalidData.into())),
            (Spawned::Failed(failed), _) => Err(SpawnError::Refused(failed)),
        }
    }
}

fn start_process(control: OwnedFd) -> io::Result<std::process::Child> {
    let program = program::sealed()?;
    Command::new(format!("/proc/self/fd/{}", program.as_raw_fd()))
        // Every guest has the same, and every command can read it: nothing of this process is in it.
        .arg0("sandbox")
        .arg("spawner")
        .env_clear()
        .stdin(Stdio::from(control))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}
