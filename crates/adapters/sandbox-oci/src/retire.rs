//! Stopping and removing sandboxes from what is on disk, in whatever process, and proving it.

use std::io;

use ambit_ids::LeaseId;
use ambit_ownership::mounts;
use ambit_ports::sandbox::{CancellationReceipt, DestructionReceipt, Lives, SandboxError, SandboxLease};

use crate::cell;
use crate::groups::Groups;
use crate::home::{Home, Record};

/// Stops every process of the life that `lease` names. Nothing starts in it afterwards.
pub(crate) async fn cancel(home: &Home, lease: &SandboxLease) -> Result<CancellationReceipt, SandboxError> {
    let ended = end(home, |record| record.incarnation == lease.incarnation)?;
    let Stopped { killed, processes, .. } = stop(ended).await?;
    if processes > 0 {
        return Err(unproven(&lease.lease, vec![("processes".into(), processes)]));
    }
    Ok(CancellationReceipt {
        incarnation: lease.incarnation.clone(),
        lease: lease.lease.clone(),
        killed_processes: killed,
        remaining_processes: processes,
    })
}

/// Removes the lives of a lease that are meant, and proves it surface by surface.
pub(crate) async fn destroy(
    home: &Home,
    lease: &SandboxLease,
    lives: Lives,
) -> Result<DestructionReceipt, SandboxError> {
    let record = home.read_record().map_err(SandboxError::during("reading the record of the sandbox"))?;
    let is_later = |record: &Record| lives == Lives::Named && record.incarnation != lease.incarnation;
    let remaining =
        if record.as_ref().is_some_and(is_later) { nothing_remains() } else { remove(home).await? };
    let receipt =
        DestructionReceipt { incarnation: lease.incarnation.clone(), lease: lease.lease.clone(), remaining };
    if receipt.is_proof() { Ok(receipt) } else { Err(unproven(&lease.lease, receipt.remaining)) }
}

/// Removes whatever an earlier life left under this home.
pub(crate) async fn clear(home: &Home, lease: &LeaseId) -> Result<(), SandboxError> {
    if !home.exists() {
        return Ok(());
    }
    let remaining = remove(home).await?;
    if remaining.iter().all(|(_, left)| *left == 0) { Ok(()) } else { Err(unproven(lease, remaining)) }
}

fn unproven(lease: &LeaseId, remaining: Vec<(String, u32)>) -> SandboxError {
    SandboxError::DestructionUnproven { lease: lease.clone(), remaining }
}

fn nothing_remains() -> Vec<(String, u32)> {
    ["processes", "cgroups", "mounts", "files"].map(|surface| (surface.to_owned(), 0)).to_vec()
}

/// Marks a life as ended, where it is one that is meant; answers its record, by which its container can be ended.
fn end(home: &Home, is_meant: impl Fn(&Record) -> bool) -> Result<Option<Record>, SandboxError> {
    let ended = home.change(|record| {
        if !is_meant(record) {
            return None;
        }
        record.ended = true;
        Some(record.clone())
    });
    Ok(ended.map_err(SandboxError::during("ending the sandbox"))?.flatten())
}

#[derive(Clone, Copy, Default)]
struct Stopped {
    killed: u32,
    processes: u32,
    groups: u32,
}

/// Kills everything of the container that a record names, and removes its groups.
async fn stop(record: Option<Record>) -> Result<Stopped, SandboxError> {
    let Some(record) = record else { return Ok(Stopped::default()) };
    let what = "stopping the sandbox";
    let stopping = tokio::task::spawn_blocking(move || match (&record.groups, &record.keeper) {
        (Some(groups), _) => Ok(empty(groups)),
        (None, Some(keeper)) => {
            let (killed, processes) = cell::end(keeper)?;
            Ok(Stopped { killed, processes, groups: 0 })
        }
        (None, None) => Ok(Stopped::default()),
    });
    let stopped: io::Result<Stopped> =
        stopping.await.map_err(|panic| SandboxError::during(what)(io::Error::other(panic)))?;
    stopped.map_err(SandboxError::during(what))
}

fn empty(groups: &Groups) -> Stopped {
    // The first process is not one of the command's.
    let killed = groups.limited().saturating_sub(1);
    let processes = groups.empty();
    groups.remove();
    Stopped { killed, processes, groups: groups.remaining() }
}

async fn remove(home: &Home) -> Result<Vec<(String, u32)>, SandboxError> {
    let stopped = stop(end(home, |_| true)?).await?;
    // The record is the last thing that could still be needed.
    if stopped.processes == 0 && stopped.groups == 0 {
        let what = "removing the files";
        let gone = home.clone();
        tokio::task::spawn_blocking(move || gone.remove())
            .await
            .map_err(|panic| SandboxError::during(what)(io::Error::other(panic)))?
            .map_err(SandboxError::during(what))?;
    }
    let mounts = mounts_below(home).map_err(SandboxError::during("looking at the mounts"))?;
    let remaining = [stopped.processes, stopped.groups, mounts, u32::from(home.exists())];
    Ok(nothing_remains().into_iter().zip(remaining).map(|((surface, _), left)| (surface, left)).collect())
}

/// Mounts of the host that lie in this home. None is ever made there; this is the proof.
fn mounts_below(home: &Home) -> io::Result<u32> {
    let below = mounts()?.into_iter().filter(|place| place.starts_with(home.path()));
    Ok(u32::try_from(below.count()).unwrap_or(u32::MAX))
}
