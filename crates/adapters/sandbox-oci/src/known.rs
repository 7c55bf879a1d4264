//! What is known of a lease that has something on the disk, and what of it is found elsewhere on the machine.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use ambit_control_groups::Layout;
use ambit_ids::LeaseId;
use ambit_ownership::{ProcessIdentity, ended_within, maker_of_name, maker_of_process};
use ambit_ports::sandbox::{Found, Maker, Surface};

use crate::home::Home;

/// A lease that has something on the disk.
pub(crate) struct Known {
    pub(crate) lease: LeaseId,
    pub(crate) home: Home,
    pub(crate) maker: Maker,
    pub(crate) containers: Vec<String>,
    /// Where its last container had control groups.
    pub(crate) groups: Vec<PathBuf>,
    /// The keeper of its last container, where that is in no group.
    pub(crate) keeper: Option<ProcessIdentity>,
}

/// The lease that a container is of. Names of containers never come back, so it is that of the same life.
pub(crate) fn of_container<'a>(known: &'a [Known], container: &str) -> Option<&'a Known> {
    known.iter().find(|known| known.containers.iter().any(|id| id == container))
}

pub(crate) fn maker_of_container(known: &[Known], container: &str) -> Maker {
    let by_name = || Layout::name_of(container).map_or(Maker::Unknown, maker_of_name);
    of_container(known, container).map_or_else(by_name, |known| known.maker)
}

/// What runs inside is a descendant of the keeper, and that a child of the control plane.
pub(crate) fn maker_of_member(pid: i32, members: &BTreeMap<i32, String>, known: &[Known]) -> Maker {
    let Some(container) = members.get(&pid) else { return Maker::Unknown };
    match of_container(known, container) {
        Some(Known { maker: Maker::Gone, .. }) => Maker::Gone,
        _ => maker_of_process(pid, |pid| members.contains_key(&pid)),
    }
}

pub(crate) fn lease(known: &Known) -> Found {
    Found {
        surface: Surface::Leases,
        reference: known.home.path().display().to_string(),
        lease: Some(known.lease.clone()),
        maker: known.maker,
    }
}

pub(crate) fn containers(known: &Known) -> impl Iterator<Item = Found> {
    known.containers.iter().map(|container| Found {
        surface: Surface::Containers,
        reference: known.home.container(container).display().to_string(),
        lease: Some(known.lease.clone()),
        maker: known.maker,
    })
}

/// Mounts of the host that lie in the directory of a lease.
pub(crate) fn mounts(known: &[Known]) -> io::Result<Vec<Found>> {
    let leases: Vec<_> = known.iter().map(|known| (known.home.path(), &known.lease, known.maker)).collect();
    ambit_ownership::mounts_below(&leases)
}

/// The keepers that live, each with its container.
pub(crate) fn kept(known: &[Known]) -> Vec<(i32, String)> {
    let kept = known.iter().filter_map(|known| {
        let keeper = known.keeper.as_ref()?;
        let lives =
            keeper.hold().is_ok_and(|held| held.is_some_and(|held| !ended_within(held, Duration::ZERO)));
        Some((keeper.pid(), known.containers.last()?.clone())).filter(|_| lives)
    });
    kept.collect()
}

/// A keeper and everything that it keeps: nobody below it can leave it.
pub(crate) fn below(keeper: i32, pids: &[i32]) -> BTreeSet<i32> {
    let parents: BTreeMap<i32, i32> =
        pids.iter().filter_map(|pid| Some((*pid, ProcessIdentity::parent_of(*pid)?))).collect();
    let is_below = |pid: &&i32| {
        let ancestors = std::iter::successors(Some(**pid), |pid| parents.get(pid).copied());
        ancestors.take(pids.len()).any(|ancestor| ancestor == keeper)
    };
    pids.iter().filter(is_below).copied().collect()
}
