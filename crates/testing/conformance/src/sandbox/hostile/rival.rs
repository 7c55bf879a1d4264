//! Another tenant's runs, in their own sandboxes of the same backend, all the while.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ambit_gates::Ending;
use ambit_ids::{ByteCount, Digest, DurationMs, ExecutionLimits, OrganizationId, ProjectId, Scope};
use ambit_ports::AbortHandle;
use ambit_ports::blobs::BlobStore as _;
use ambit_ports::sandbox::{
    BatchFile, BatchFileKind, ExecutionObservation, FileBatch, Lives, NamedCommand, SandboxError, SandboxSpec,
};
use bytes::Bytes;
use tokio::task::JoinHandle;

use super::{Plants, outside};
use crate::sandbox::bench::{ROOMY, never, path};
use crate::sandbox::{Bench, PROMPT, Staged};

/// Longer than the suite takes.
const LONG: DurationMs = DurationMs::new(3_600_000);
/// What stands in the other project, by name.
const FILE: &str = "PLANTED_OTHER_PROJECT.txt";

/// The other tenant.
pub(super) struct Rival {
    busy: Staged,
    idle: Staged,
    /// What stands in the environment of its process.
    mark: String,
    /// Its process, where the host sees it.
    pid: Option<u32>,
    abort: AbortHandle,
    running: JoinHandle<Result<ExecutionObservation, SandboxError>>,
}

fn scope() -> Scope {
    Scope { organization: OrganizationId::new("rival").unwrap(), project: ProjectId::new("other").unwrap() }
}

async fn staged(bench: &Bench, run: &str, secret: &str) -> Staged {
    let spec =
        SandboxSpec { scope: scope(), limits: ExecutionLimits { wall_ms: LONG, ..ROOMY }, ..bench.spec(run) };
    let lease = bench.port.allocate(spec).await.expect("another tenant gets a sandbox");
    let tree = Digest::of(b"the tree of another project");
    let content = Bytes::copy_from_slice(secret.as_bytes());
    let size = ByteCount::new(content.len() as u64);
    let content = bench.blobs.put(&scope(), content).await.unwrap();
    let file = BatchFile { path: path(FILE), kind: BatchFileKind::File, content, size };
    bench.port.write_files(&lease, FileBatch { tree, files: vec![file] }).await.unwrap();
    Staged { lease, tree }
}

impl Rival {
    /// Starts a command of the other tenant that runs until it is aborted.
    pub(super) async fn start(bench: &Bench, plants: &Plants, is_seen: bool) -> Self {
        let busy = staged(bench, "rival-busy", &plants.canary).await;
        let idle = staged(bench, "rival-idle", &plants.canary).await;
        let mark = format!("rival-{}", &plants.canary[plants.canary.len() - 16..]);
        let (abort, signal) = AbortHandle::new();
        let (port, lease) = (Arc::clone(&bench.port), busy.lease.clone());
        let command = command(bench, &busy, &mark, "while :; do sleep 300; done");
        let running = tokio::spawn(async move { port.execute_named(&lease, command, signal).await });
        let pid = if is_seen { Some(first_process(&mark).await) } else { None };
        let rival = Self { busy, idle, mark, pid, abort, running };
        assert!(rival.lives() && rival.is_answered(bench).await);
        rival
    }

    /// Whether its process goes on, as seen from outside.
    pub(super) fn lives(&self) -> bool {
        let lives = |pid| outside::marked(pid, &self.mark).is_some_and(|process| process.is_alive());
        self.pid.is_none_or(lives) && !self.running.is_finished()
    }

    /// Whether a command of its other run finds what the other project has, and is answered.
    pub(super) async fn is_answered(&self, bench: &Bench) -> bool {
        let command = command(bench, &self.idle, "idle", &format!("find / -name '{FILE}' 2>/dev/null; true"));
        let seen = bench.port.execute_named(&self.idle.lease, command, never()).await.unwrap();
        seen.ending.is_success() && seen.stdout.head == format!("/workspace/{FILE}\n")
    }

    /// Ends it, which shows that it was there to be ended.
    pub(super) async fn end(self, bench: &Bench) {
        assert!(self.lives(), "the run of another tenant did not survive");
        assert!(self.is_answered(bench).await, "another run is not answered");
        self.abort.abort();
        let seen = self.running.await.unwrap().unwrap();
        assert_eq!(seen.ending, Ending::Aborted);
        for staged in [self.busy, self.idle] {
            assert!(bench.port.destroy(&staged.lease, Lives::Named).await.unwrap().is_proof());
        }
    }
}

async fn first_process(mark: &str) -> u32 {
    let began = Instant::now();
    while began.elapsed() < PROMPT {
        if let Some(process) = outside::processes(mark).into_iter().find(outside::Process::is_alive) {
            return process.pid;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("the watcher sees no process of a run that goes on");
}

fn command(bench: &Bench, staged: &Staged, mark: &str, script: &str) -> NamedCommand {
    let mut command = bench.command(staged, &[]);
    command.argv = ["/bin/sh", "-c", script].map(str::to_owned).to_vec();
    command.environment =
        vec![("PATH".into(), "/usr/sbin:/usr/bin".into()), ("RIVAL".into(), mark.to_owned())];
    command.limits.wall_ms = LONG;
    command
}
