//! What is left on this machine of sandboxes of any process: looked for in the tables of the kernel and on the disk.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ambit_control_groups::{Layout, Search};
use ambit_ids::{BackendId, LeaseId};
use ambit_ownership::{ProcessIdentity, maker_of_name, maker_of_process};
use ambit_ports::sandbox::{Found, LeakScan, Maker, SandboxError, Surface, Survey, Unseen};
use async_trait::async_trait;

use crate::backend::LinuxSandboxes;
use crate::home::Home;
use crate::process::{DYING, Process};
use crate::{machine, program, retire};

/// A lease that has something on the disk.
struct Known {
    lease: LeaseId,
    home: Home,
    maker: Maker,
    process: Option<ProcessIdentity>,
}

/// Where is looked.
#[derive(Clone)]
struct View {
    root: PathBuf,
    layout: Layout,
}

/// What is left of sandboxes of a home, whether or not anything could be made there. It writes nothing but what it is told
/// to remove.
pub struct LinuxRemains {
    id: BackendId,
    view: View,
}

impl LinuxRemains {
    /// Those below the directory of a backend, which need not be there.
    ///
    /// # Errors
    /// [`SandboxError::Io`] where the backend has no name.
    pub fn below(root: PathBuf) -> Result<Self, SandboxError> {
        let id = BackendId::new(LinuxSandboxes::ID)
            .map_err(|error| SandboxError::during("naming the backend")(io::Error::other(error)))?;
        Ok(Self { id, view: View { root, layout: Layout::detect() } })
    }
}

#[async_trait]
impl LeakScan for LinuxRemains {
    fn backend_id(&self) -> &BackendId {
        &self.id
    }

    async fn survey(&self) -> Result<Survey, SandboxError> {
        self.view.survey(Reach::Own).await
    }

    async fn survey_everywhere(&self) -> Result<Survey, SandboxError> {
        self.view.survey(Reach::Machine).await
    }

    async fn remove(&self, found: &Found) -> Result<(), SandboxError> {
        self.view.remove(found, None).await
    }
}

#[async_trait]
impl LeakScan for LinuxSandboxes {
    fn backend_id(&self) -> &BackendId {
        &self.id
    }

    async fn survey(&self) -> Result<Survey, SandboxError> {
        self.view().survey(Reach::Own).await
    }

    async fn survey_everywhere(&self) -> Result<Survey, SandboxError> {
        self.view().survey(Reach::Machine).await
    }

    async fn remove(&self, found: &Found) -> Result<(), SandboxError> {
        self.view().remove(found, Some(self)).await
    }
}

impl LinuxSandboxes {
    fn view(&self) -> View {
        View { root: self.root().to_owned(), layout: self.layout().clone() }
    }
}

impl View {
    async fn survey(&self, reach: Reach) -> Result<Survey, SandboxError> {
        machine::check_proc()?;
        let view = self.clone();
        let what = "looking for what is left of sandboxes";
        tokio::task::spawn_blocking(move || survey(&view.root, &view.layout, reach))
            .await
            .map_err(|panic| SandboxError::during(what)(io::Error::other(panic)))?
            .map_err(SandboxError::during(what))
    }

    /// Removes something. A backend of this process that makes sandboxes at the same place makes none of the lease
    /// meanwhile.
    async fn remove(&self, found: &Found, beside: Option<&LinuxSandboxes>) -> Result<(), SandboxError> {
        match found.surface {
            Surface::Leases => self.remove_lease(found, beside).await,
            Surface::ControlGroups => {
                let (group, what) = (found.clone(), "removing a control group");
                tokio::task::spawn_blocking(move || remove_group(&group))
                    .await
                    .map_err(|panic| SandboxError::during(what)(io::Error::other(panic)))?
            }
            Surface::Processes => remove_process(found).await,
            // This program makes none in the namespace of the host, so one that is there is somebody else's.
            Surface::Mounts | Surface::Containers => Err(refusal(io::ErrorKind::Unsupported)),
        }
    }

    async fn remove_lease(&self, found: &Found, beside: Option<&LinuxSandboxes>) -> Result<(), SandboxError> {
        let homes = Home::all(&self.root).map_err(SandboxError::during("looking at the leases"))?;
        let known = homes.into_iter().find(|(_, home)| home.path() == Path::new(&found.reference));
        let Some((lease, home)) = known else { return Ok(()) };
        let _change = match beside {
            Some(backend) => Some(backend.change_lock(&lease).lock().await),
            None => None,
        };
        if home.maker() != Maker::Gone {
            return Err(refusal(io::ErrorKind::ResourceBusy));
        }
        retire::clear(&home, &lease).await
    }
}

/// What is told of something that is not this program's to remove.
fn refusal(kind: io::ErrorKind) -> SandboxError {
    SandboxError::during("removing what is left of a sandbox")(kind.into())
}

/// Among which control groups is looked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Those below the places where this process can make some.
    Own,
    /// All that this process sees.
    Machine,
}

fn survey(root: &Path, layout: &Layout, reach: Reach) -> io::Result<Survey> {
    let (mut known, mut owners) = (Vec::new(), BTreeMap::new());
    for (lease, home) in Home::all(root)? {
        // A record that cannot be read names nothing; the lease is found all the same.
        let record = home.read_record().ok().flatten();
        for directory in record.iter().flat_map(|record| record.group.directories()) {
            owners.insert(directory.to_owned(), lease.clone());
        }
        let process = record.map(|record| record.process);
        known.push(Known { lease, maker: home.maker(), home, process });
    }
    let mut found: Vec<Found> = known.iter().map(lease).collect();
    let search = match reach {
        Reach::Own => {
            Search { groups: layout.groups()?, unseen: Some("only those of this session are asked for") }
        }
        Reach::Machine => Layout::search(),
    };
    let mut not_looked_at = unseen(layout);
    not_looked_at.extend(search.unseen.map(|why| Unseen {
        what: "control groups elsewhere on the machine".to_owned(),
        why: why.to_owned(),
    }));
    found.extend(groups(search, &owners));
    found.extend(processes(&known)?);
    found.extend(mounts(&known)?);
    found.sort();
    let mut looked_at = vec![Surface::Processes, Surface::Mounts, Surface::Leases];
    if reach == Reach::Machine || !layout.is_empty() {
        looked_at.push(Surface::ControlGroups);
    }
    looked_at.sort_unstable();
    Ok(Survey { looked_at, not_looked_at, found })
}

fn lease(known: &Known) -> Found {
    Found {
        surface: Surface::Leases,
        reference: known.home.path().display().to_string(),
        lease: Some(known.lease.clone()),
        maker: known.maker,
    }
}

/// What holds nothing by construction, or cannot be looked at.
fn unseen(layout: &Layout) -> Vec<Unseen> {
    let unseen = |what: &str, why: &str| Unseen { what: what.to_owned(), why: why.to_owned() };
    let mut all = vec![
        unseen(
            "networks and ports",
            "a sandbox has a network namespace of its own, which ends with its processes",
        ),
        unseen(
            "sockets",
            "every socket of the spawner and of a guest is without a name, and ends with its process",
        ),
        unseen("mounts of other namespaces", "they end with the processes of the sandbox"),
    ];
    if layout.is_empty() {
        all.push(unseen("control groups of this process", "none can be made here"));
    }
    if rustix::process::geteuid().as_raw() != 0 {
        all.push(unseen("processes of other users", "this user cannot tell which program they run"));
    }
    all
}

/// The control groups of this program. Whose they are stands in their name.
fn groups(search: Search, owners: &BTreeMap<PathBuf, LeaseId>) -> Vec<Found> {
    let group = |(directory, name): (PathBuf, String)| Found {
        surface: Surface::ControlGroups,
        lease: owners.get(&directory).cloned(),
        maker: maker_of_name(&name),
        reference: directory.display().to_string(),
    };
    let is_own = |(_, name): &(PathBuf, String)| Layout::backend_of(name).is_none();
    search.groups.into_iter().filter(is_own).map(group).collect()
}

/// A group is only ever removed, and nothing in it killed: the kernel keeps one that holds a process. One in which every
/// process is ending is waited for: a look may have found none of them any more.
fn remove_group(found: &Found) -> Result<(), SandboxError> {
    let directory = Path::new(&found.reference);
    let name = directory.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let name = Layout::name_of(name).filter(|name| Layout::backend_of(name).is_none());
    if name.map(maker_of_name) != Some(Maker::Gone) {
        return Err(refusal(io::ErrorKind::ResourceBusy));
    }
    match ambit_control_groups::remove_empty(directory, DYING) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(SandboxError::during("removing a control group")(error))
        }
        _ => Ok(()),
    }
}

/// Every process that runs the embedded program, and every other one inside a sandbox.
fn processes(known: &[Known]) -> io::Result<Vec<Found>> {
    let members = members()?;
    let mut found = Vec::new();
    for (pid, label) in &members {
        // One that ended meanwhile is not there.
        let Ok(identity) = ProcessIdentity::read(*pid) else { continue };
        let recorded = known.iter().find(|known| known.process.as_ref() == Some(&identity));
        found.push(Found {
            surface: Surface::Processes,
            reference: identity.reference(),
            lease: label.clone().or_else(|| recorded.map(|known| known.lease.clone())),
            // A command is a descendant of its guest, that a child of its spawner, and that of the control plane.
            maker: maker_of_process(*pid, |pid| members.contains_key(&pid)),
        });
    }
    Ok(found)
}

/// The processes of sandboxes, each with the lease that the kernel's table of its mounts names.
fn members() -> io::Result<BTreeMap<i32, Option<LeaseId>>> {
    let own_mounts = fs::read_link("/proc/self/ns/mnt")?;
    let mut members = BTreeMap::new();
    for entry in fs::read_dir("/proc")?.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        let is_elsewhere =
            fs::read_link(entry.path().join("ns/mnt")).is_ok_and(|mounts| mounts != own_mounts);
        let label = if is_elsewhere { label_of(&entry.path()) } else { None };
        let is_one = label.is_some() || program::is_run_by(pid);
        if is_one && Layout::names_around(pid).iter().all(|name| Layout::backend_of(name).is_none()) {
            members.insert(pid, label);
        }
    }
    Ok(members)
}

/// The lease whose directory is mounted where a process is. No record of this program is asked.
fn label_of(process: &Path) -> Option<LeaseId> {
    let table = fs::read(process.join("mountinfo")).ok()?;
    String::from_utf8_lossy(&table).lines().find_map(|line| lease_of(line.split(' ').nth(3)?))
}

/// The lease in whose directory a place lies. The home of sandboxes may itself lie below a directory of that name.
fn lease_of(place: &str) -> Option<LeaseId> {
    let (_, below) = place.rsplit_once("/leases/")?;
    LeaseId::new(below.split('/').next()?).ok()
}

async fn remove_process(found: &Found) -> Result<(), SandboxError> {
    let what = "ending a process";
    let Some(identity) = ProcessIdentity::find(&found.reference) else { return Ok(()) };
    let held = identity.hold().and_then(|held| held.map(Process::new).transpose());
    let Some(process) = held.map_err(SandboxError::during(what))? else { return Ok(()) };
    let members = members().map_err(SandboxError::during(what))?;
    let is_member = members.contains_key(&identity.pid());
    if !is_member || maker_of_process(identity.pid(), |pid| members.contains_key(&pid)) != Maker::Gone {
        // One that is ending has lost all by which it was known.
        let has_ended = !is_member && process.ended().await;
        return if has_ended { Ok(()) } else { Err(refusal(io::ErrorKind::ResourceBusy)) };
    }
    process.kill().map_err(SandboxError::during(what))?;
    process.ended().await;
    Ok(())
}

/// Mounts of the host that lie in the directory of a lease.
fn mounts(known: &[Known]) -> io::Result<Vec<Found>> {
    let leases: Vec<_> = known.iter().map(|known| (known.home.path(), &known.lease, known.maker)).collect();
    ambit_ownership::mounts_below(&leases)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_is_known_below_a_directory_of_any_name() {
        for place in ["/home/me/state/leases/lease_1/trees/2", "/srv/leases/old/state/leases/lease_1"] {
            assert_eq!(lease_of(place), LeaseId::new("lease_1").ok(), "{place}");
        }
        assert_eq!(lease_of("/srv/lease_1"), None);
    }
}
