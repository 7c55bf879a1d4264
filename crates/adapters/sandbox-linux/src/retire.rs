//! Stopping and removing sandboxes from what is on disk, in whatever process, and proving it.

use std::time::Duration;

use ambit_control_groups::Group;
use ambit_ids::LeaseId;
use ambit_ownership::mounts;
use ambit_ports::sandbox::{CancellationReceipt, DestructionReceipt, Lives, SandboxError, SandboxLease};

use crate::guest::remove_when_empty;
use crate::home::{Home, Record};
use crate::process::{DYING, Process};

/// Stops every process of the life that `lease` names.
pub(crate) async fn cancel(home: &Home, lease: &SandboxLease) -> Result<CancellationReceipt, SandboxError> {
    let stopped = match record_of(home, lease)? {
        Some(record) => {
            // The last process of a namespace takes its mounts away before it is gone, and the kernel waits for every
            // processor meanwhile. Nobody has to wait for that who only wants all of them to be gone.
            let mounts = record.process.mounts();
            let stopped = stop(&record).await;
            tokio::task::spawn_blocking(move || drop(mounts));
            stopped?
        }
        None => Stopped::default(),
    };
    if stopped.remaining > 0 {
        return Err(unproven(&lease.lease, vec![("processes".into(), stopped.remaining)]));
    }
    Ok(CancellationReceipt {
        incarnation: lease.incarnation.clone(),
        lease: lease.lease.clone(),
        killed_processes: stopped.killed,
        remaining_processes: stopped.remaining,
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
    let remaining = if record.as_ref().is_some_and(is_later) {
        nothing_remains()
    } else {
        remove(home, record.as_ref()).await?
    };
    let receipt =
        DestructionReceipt { incarnation: lease.incarnation.clone(), lease: lease.lease.clone(), remaining };
    if receipt.is_proof() { Ok(receipt) } else { Err(unproven(&lease.lease, receipt.remaining)) }
}

/// Removes whatever an earlier life left under this home.
pub(crate) async fn clear(home: &Home, lease: &LeaseId) -> Result<(), SandboxError> {
    if !home.exists() {
        return Ok(());
    }
    let record = home.read_record().map_err(SandboxError::during("reading the record of an earlier life"))?;
    let remaining = remove(home, record.as_ref()).await?;
    if remaining.iter().all(|(_, left)| *left == 0) { Ok(()) } else { Err(unproven(lease, remaining)) }
}

/// The record, where it is of the life that the lease names. A later life is nobody's to end by an earlier lease.
fn record_of(home: &Home, lease: &SandboxLease) -> Result<Option<Record>, SandboxError> {
    let record = home.read_record().map_err(SandboxError::during("reading the record of the sandbox"))?;
    Ok(record.filter(|record| record.incarnation == lease.incarnation))
}

fn unproven(lease: &LeaseId, remaining: Vec<(String, u32)>) -> SandboxError {
    SandboxError::DestructionUnproven { lease: lease.clone(), remaining }
}

fn nothing_remains() -> Vec<(String, u32)> {
    ["processes", "cgroups", "mounts", "files"].map(|surface| (surface.to_owned(), 0)).to_vec()
}

#[derive(Clone, Copy, Default)]
struct Stopped {
    killed: u32,
    remaining: u32,
}

/// Kills the guest, and with it everything in its process namespace.
async fn stop(record: &Record) -> Result<Stopped, SandboxError> {
    let held = record.process.hold().and_then(|held| held.map(Process::new).transpose());
    let guest = held.map_err(SandboxError::during("looking for the guest"))?;
    let Some(guest) = guest else {
        // Its process namespace has ended with it, so nothing can be left; where it is, it has no other owner.
        let killed = if record.group.kill() { record.group.population().unwrap_or(0) } else { 0 };
        return Ok(Stopped { killed, remaining: emptied(&record.group).await });
    };
    // The guest itself is not one of the command's processes.
    let killed = record
        .group
        .population()
        .map_or_else(|| record.process.companions(), |count| count.saturating_sub(1));
    guest.kill().map_err(SandboxError::during("killing the guest"))?;
    let _ = record.group.kill();
    let has_ended = guest.ended().await;
    let left = emptied(&record.group).await;
    Ok(Stopped { killed, remaining: if has_ended { left } else { left.max(1) } })
}

/// How many processes are in a group whose guest has ended. The kernel may let go of the last a moment later.
async fn emptied(group: &Group) -> u32 {
    /// So often it is looked again at once: no timer here is finer than a millisecond.
    const AT_ONCE: u32 = 50;
    let mut pause = Duration::from_micros(200);
    for look in 0.. {
        match group.population() {
            Some(left) if left > 0 && look < AT_ONCE => tokio::task::yield_now().await,
            Some(left) if left > 0 && pause < DYING => {
                tokio::time::sleep(pause).await;
                pause *= 2;
            }
            population => return population.unwrap_or(0),
        }
    }
    0
}

async fn remove(home: &Home, record: Option<&Record>) -> Result<Vec<(String, u32)>, SandboxError> {
    // Most of the time goes into files and into the end of the namespaces, and neither waits for the other.
    let staged = home.clone();
    let staged = tokio::task::spawn_blocking(move || staged.remove_staged());
    let (mut processes, mut groups) = (0, 0);
    if let Some(record) = record {
        processes = stop(record).await?.remaining;
        if processes == 0 {
            let _ = remove_when_empty(&record.group).await;
        }
        groups = record.group.remaining();
    }
    let what = "removing the files";
    let staged = staged.await.map_err(|panic| SandboxError::during(what)(std::io::Error::other(panic)))?;
    // The record is the last thing that could still be needed. What cannot be removed remains, and is told as that.
    if processes == 0 && groups == 0 && staged.is_ok() {
        let _ = home.remove();
    }
    let mounts = mounts_below(home).map_err(SandboxError::during("looking at the mounts"))?;
    let remaining = [processes, groups, mounts, u32::from(home.exists())];
    Ok(nothing_remains().into_iter().zip(remaining).map(|((surface, _), left)| (surface, left)).collect())
}

/// Mounts of the host that lie in this home. None is ever made by this program; this is the proof.
fn mounts_below(home: &Home) -> std::io::Result<u32> {
    let below = mounts()?.into_iter().filter(|place| place.starts_with(home.path()));
    Ok(u32::try_from(below.count()).unwrap_or(u32::MAX))
}
