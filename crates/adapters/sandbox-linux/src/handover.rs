//! What a command becomes before it is handed to the guest.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};

use ambit_ids::ExecutionLimits;
use ambit_ids::limits::{COMMAND_WORD_BYTES, COMMAND_WORDS, PATH_BYTES};
use ambit_ports::sandbox::{Enforcer, LimitEnforcement, NamedCommand, SandboxError};
use ambit_sandbox_guest::wire::{Execute, MESSAGE_BYTES, ProcessLimits, Request, STRINGS, Volumes};
use rustix::pipe::{PipeFlags, pipe_with};

use crate::channel::{FIXED_BYTES, send_now};
use crate::sandbox::Sandbox;
use crate::turn::Turn;

/// Processes beside those of the command: the guest.
pub(crate) const OWN_PROCESSES: u64 = 1;
const OPEN_FILES: u64 = 4096;
/// Where no control group bounds what the kernel holds for them: a socket's buffers alone are a fifth of a mebibyte.
const FEW_OPEN_FILES: u64 = 1024;

const _: () = assert!(COMMAND_WORDS <= STRINGS, "every command that is allowed must be handed over");
const _: () = assert!(
    COMMAND_WORD_BYTES + PATH_BYTES + FIXED_BYTES <= MESSAGE_BYTES,
    "every command that is allowed must fit a message"
);

/// Texts with a NUL after each. A NUL inside one would make it two.
fn block<'a>(texts: impl Iterator<Item = &'a [u8]>) -> io::Result<Vec<u8>> {
    let mut block = Vec::new();
    for text in texts {
        if text.contains(&0) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        block.extend_from_slice(text);
        block.push(0);
    }
    Ok(block)
}

/// The variable parts of a command, as the guest takes them.
pub(crate) struct Handover {
    arguments: Vec<u8>,
    environment: Vec<u8>,
    workdir: CString,
}

impl Handover {
    /// Refuses what would not arrive whole.
    pub(crate) fn of(command: &NamedCommand) -> io::Result<Self> {
        let variables: Vec<String> =
            command.environment.iter().map(|(name, value)| format!("{name}={value}")).collect();
        Ok(Self {
            arguments: block(command.argv.iter().map(String::as_bytes))?,
            environment: block(variables.iter().map(String::as_bytes))?,
            workdir: CString::new(command.workdir.as_ref().map_or(&b""[..], |path| path.as_bytes()))?,
        })
    }

    fn variable_bytes(&self) -> usize {
        self.arguments.len() + self.environment.len() + self.workdir.count_bytes()
    }

    /// Hands the command to the guest; answers where its output comes from.
    pub(crate) async fn start(
        &self,
        sandbox: &Sandbox,
        turn: &mut Turn,
        volumes: Volumes,
        limits: &ExecutionLimits,
    ) -> Result<(OwnedFd, OwnedFd), SandboxError> {
        let what = "handing the command over";
        let pipe =
            || pipe_with(PipeFlags::CLOEXEC).map_err(io::Error::from).map_err(SandboxError::during(what));
        let ((stdout, stdout_far), (stderr, stderr_far)) = (pipe()?, pipe()?);
        let command = Execute {
            volumes,
            wall_ms: limits.wall_ms.get(),
            limits: process_limits(limits, sandbox.enforced),
            workdir: &self.workdir,
            arguments: &self.arguments,
            environment: &self.environment,
        };
        let request = Request::Execute(command);
        let beside = [stdout_far.as_fd(), stderr_far.as_fd()];
        // To the launcher itself where it stands ready: the guest hears of it while that becomes the command.
        let door = turn.door(&volumes, || sandbox.guest.receive_now());
        let hand = |door: OwnedFd| send_now(door.as_fd(), &request, self.variable_bytes(), &beside);
        let sent = if door.is_some_and(|door| hand(door).is_ok()) {
            let known =
                Request::Execute(Execute { workdir: c"", arguments: &[], environment: &[], ..command });
            sandbox.guest.send(&known, 0, &[]).await
        } else {
            sandbox.guest.send(&request, self.variable_bytes(), &beside).await
        };
        sent.map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => {
                SandboxError::Gone(sandbox.lease.lease.clone())
            }
            _ => SandboxError::during(what)(error),
        })?;
        Ok((stdout, stderr))
    }
}

/// The limits of single processes. Where a control group limits the whole they are the wall behind it, far enough back
/// that the group's own limit, which is told, is met first.
fn process_limits(limits: &ExecutionLimits, enforced: LimitEnforcement) -> ProcessLimits {
    const PROCESSES_BEHIND: u64 = 16;
    let is_grouped = |enforcer| enforcer != Enforcer::RlimitPerProcess;
    let processes = u64::from(limits.processes) + OWN_PROCESSES;
    ProcessLimits {
        // The whole is watched from outside; this is one second further back.
        cpu_seconds: limits.cpu_time_ms.get().div_ceil(1000) + 1,
        processes: if is_grouped(enforced.processes) { processes + PROCESSES_BEHIND } else { processes },
        data_bytes: if is_grouped(enforced.memory) { u64::MAX } else { limits.memory_bytes.get() },
        open_files: if is_grouped(enforced.memory) { OPEN_FILES } else { FEW_OPEN_FILES },
    }
}
