//! What is left on this machine of containers of any process: looked for in the tables of the kernel and on the disk.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ambit_control_groups::{Layout, remove_empty};
use ambit_ids::{BackendId, LeaseId};
use ambit_ownership::{ProcessIdentity, ended_within, kill};
use ambit_ports::sandbox::{Found, LeakScan, Maker, SandboxError, Surface, Survey, Unseen};
use async_trait::async_trait;

use crate::backend::{OciSandboxes, backend_id};
use crate::groups::{DYING, own_groups};
use crate::home::Home;
use crate::known::{
    Known, below, containers, kept, lease, maker_of_container, maker_of_member, mounts, of_container,
};
use crate::label::Label;
use crate::retire;
use crate::runtime::RuntimeName;

const SURVEY: &str = "looking for what is left of containers";

/// Where this backend looks.
#[derive(Clone)]
struct View {
    root: PathBuf,
    layout: Layout,
    label: Label,
}

/// What is left of containers of a home, whether or not anything could be made there. It writes nothing but what it is told
/// to remove.
pub struct OciRemains {
    id: BackendId,
    view: View,
}

impl OciRemains {
    /// Those of a runtime below the directory of its backend, which need not be there.
    ///
    /// # Errors
    /// [`SandboxError::Io`] where the backend has no name.
    pub fn below(root: &Path, runtime: &RuntimeName) -> Result<Self, SandboxError> {
        let id = backend_id(runtime)?;
        let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        Ok(Self { id, view: View { root, layout: Layout::detect(), label: Label::of(runtime) } })
    }
}

#[async_trait]
impl LeakScan for OciRemains {
    fn backend_id(&self) -> &BackendId {
        &self.id
    }

    async fn survey(&self) -> Result<Survey, SandboxError> {
        self.view.look(SURVEY, |view| view.survey(Layout::groups)).await
    }

    async fn survey_everywhere(&self) -> Result<Survey, SandboxError> {
        self.view.look(SURVEY, View::survey_everywhere).await
    }

    async fn remove(&self, found: &Found) -> Result<(), SandboxError> {
        self.view.remove(found, None).await
    }
}

#[async_trait]
impl LeakScan for OciSandboxes {
    fn backend_id(&self) -> &BackendId {
        &self.id
    }

    async fn survey(&self) -> Result<Survey, SandboxError> {
        self.view().look(SURVEY, |view| view.survey(Layout::groups)).await
    }

    async fn survey_everywhere(&self) -> Result<Survey, SandboxError> {
        self.view().look(SURVEY, View::survey_everywhere).await
    }

    async fn remove(&self, found: &Found) -> Result<(), SandboxError> {
        self.view().remove(found, Some(self)).await
    }
}

impl OciSandboxes {
    fn view(&self) -> View {
        View { root: self.root().to_owned(), layout: self.layout().clone(), label: self.label() }
    }
}

impl View {
    async fn look<T: Send + 'static>(
        &self,
        what: &'static str,
        look: impl FnOnce(&Self) -> io::Result<T> + Send + 'static,
    ) -> Result<T, SandboxError> {
        let view = self.clone();
        let looking = tokio::task::spawn_blocking(move || look(&view)).await;
        looking
            .map_err(|panic| SandboxError::during(what)(io::Error::other(panic)))?
            .map_err(SandboxError::during(what))
    }

    /// Removes something. A backend of this process that makes sandboxes at the same place makes none of the lease
    /// meanwhile.
    async fn remove(&self, found: &Found, beside: Option<&OciSandboxes>) -> Result<(), SandboxError> {
        let found = found.clone();
        match found.surface {
            Surface::Leases => self.remove_lease(&found, beside).await,
            Surface::ControlGroups => {
                self.look("removing a control group", move |view| view.remove_group(&found)).await
            }
            Surface::Processes => {
                self.look("ending a process", move |view| view.remove_process(&found)).await
            }
            Surface::Containers => {
                self.look("removing a container", move |view| view.remove_container(&found)).await
            }
            // This program makes none in the namespace of the host, so one that is there is somebody else's.
            Surface::Mounts => {
                Err(SandboxError::during("removing a mount")(io::ErrorKind::Unsupported.into()))
            }
        }
    }

    async fn remove_lease(&self, found: &Found, beside: Option<&OciSandboxes>) -> Result<(), SandboxError> {
        let homes = Home::all(&self.root).map_err(SandboxError::during("looking at the leases"))?;
        let known = homes.into_iter().find(|(_, home)| home.path() == Path::new(&found.reference));
        let Some((lease, home)) = known else { return Ok(()) };
        let _change = match beside {
            Some(backend) => Some(backend.change_lock(&lease).lock().await),
            None => None,
        };
        if home.maker() != Maker::Gone {
            return Err(SandboxError::during("removing what is left of a sandbox")(refusal()));
        }
        retire::clear(&home, &lease).await
    }
}

/// What is told of something that is not proven ownerless.
fn refusal() -> io::Error {
    io::ErrorKind::ResourceBusy.into()
}

impl View {
    fn survey_everywhere(&self) -> io::Result<Survey> {
        let search = Layout::search();
        let mut survey = self.survey(|_| Ok(search.groups))?;
        survey.not_looked_at.extend(search.unseen.map(|why| Unseen {
            what: "control groups elsewhere on the machine".to_owned(),
            why: why.to_owned(),
        }));
        Ok(survey)
    }

    /// What is left, with the groups of this program that `groups` finds.
    fn survey(
        &self,
        groups: impl FnOnce(&Layout) -> io::Result<BTreeMap<PathBuf, String>>,
    ) -> io::Result<Survey> {
        let known = self.known()?;
        let mut found: Vec<Found> = known.iter().map(lease).collect();
        found.extend(known.iter().flat_map(containers));
        found.extend(self.groups(groups(&self.layout)?, &known));
        found.extend(self.processes(&known)?);
        found.extend(mounts(&known)?);
        found.sort();
        let looked_at = vec![
            Surface::Processes,
            Surface::ControlGroups,
            Surface::Containers,
            Surface::Mounts,
            Surface::Leases,
        ];
        Ok(Survey { looked_at, not_looked_at: unseen(), found })
    }

    fn known(&self) -> io::Result<Vec<Known>> {
        let known = |(lease, home): (LeaseId, Home)| {
            // A record that cannot be read names nothing; the lease is found all the same.
            let record = home.read_record().ok().flatten();
            let (groups, keeper) = record.map_or((None, None), |record| (record.groups, record.keeper));
            Known {
                lease,
                maker: home.maker(),
                containers: home.containers(),
                groups: groups.iter().flat_map(crate::groups::Groups::all).collect(),
                keeper,
                home,
            }
        };
        Ok(Home::all(&self.root)?.into_iter().map(known).collect())
    }

    /// The control groups of this backend: those with the limits, and those that a runtime made.
    fn groups(&self, groups: BTreeMap<PathBuf, String>, known: &[Known]) -> Vec<Found> {
        let mut directories: BTreeSet<PathBuf> = groups.into_keys().collect();
        for own in own_groups() {
            directories.extend(fs::read_dir(own).into_iter().flatten().flatten().map(|entry| entry.path()));
        }
        directories.extend(known.iter().flat_map(|known| known.groups.clone()));
        let found = directories.into_iter().filter_map(|directory| {
            let container = self.container_of(&directory).filter(|_| directory.is_dir())?;
            Some(Found {
                surface: Surface::ControlGroups,
                reference: directory.display().to_string(),
                lease: of_container(known, &container).map(|known| known.lease.clone()),
                maker: maker_of_container(known, &container),
            })
        });
        found.collect()
    }

    /// The container of a group of this backend.
    fn container_of(&self, directory: &Path) -> Option<String> {
        self.label.container_of(Layout::name_of(directory.file_name()?.to_str()?)?)
    }

    /// Every process in a group of this backend or below a keeper of it: keepers, runtimes, and all that runs inside.
    fn processes(&self, known: &[Known]) -> io::Result<Vec<Found>> {
        let members = self.members(known)?;
        let found = members.iter().filter_map(|(pid, container)| {
            // One that ended meanwhile is not there.
            let identity = ProcessIdentity::read(*pid).ok()?;
            Some(Found {
                surface: Surface::Processes,
                reference: identity.reference(),
                lease: of_container(known, container).map(|known| known.lease.clone()),
                maker: maker_of_member(*pid, &members, known),
            })
        });
        Ok(found.collect())
    }

    /// The processes of this backend, each with its container, as the kernel's table of their groups names it, or as that of
    /// a process that is kept.
    fn members(&self, known: &[Known]) -> io::Result<BTreeMap<i32, String>> {
        let pids = fs::read_dir("/proc")?.flatten();
        let pids: Vec<i32> =
            pids.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok()).collect();
        let member = |pid: &i32| {
            let container = Layout::names_around(*pid).iter().find_map(|name| self.label.container_of(name));
            container.map(|container| (*pid, container))
        };
        let mut members: BTreeMap<i32, String> = pids.iter().filter_map(member).collect();
        for (keeper, container) in kept(known) {
            members.extend(below(keeper, &pids).into_iter().map(|pid| (pid, container.clone())));
        }
        Ok(members)
    }

    /// A group is only ever removed, and nothing in it killed: the kernel keeps one that holds a process. One in which every
    /// process is ending is waited for: a look may have found none of them any more.
    fn remove_group(&self, found: &Found) -> io::Result<()> {
        let directory = Path::new(&found.reference);
        let container = self.container_of(directory).ok_or_else(refusal)?;
        if maker_of_container(&self.known()?, &container) != Maker::Gone {
            return Err(refusal());
        }
        gone(remove_empty(directory, DYING))
    }

    fn remove_process(&self, found: &Found) -> io::Result<()> {
        let Some(identity) = ProcessIdentity::find(&found.reference) else { return Ok(()) };
        let Some(process) = identity.hold()? else { return Ok(()) };
        let known = self.known()?;
        let members = self.members(&known)?;
        if maker_of_member(identity.pid(), &members, &known) != Maker::Gone {
            // One that is ending is in no group any more, by which it was known.
            let has_left = !members.contains_key(&identity.pid());
            return if has_left && ended_within(&process, DYING) { Ok(()) } else { Err(refusal()) };
        }
        kill(&process)?;
        ended_within(&process, DYING);
        Ok(())
    }

    /// What a runtime keeps of a container lies in a directory that no other container has.
    fn remove_container(&self, found: &Found) -> io::Result<()> {
        let place = Path::new(&found.reference);
        for known in self.known()? {
            let mut containers = known.containers.iter().map(|id| known.home.container(id));
            if containers.any(|container| container == place) {
                return if known.maker == Maker::Gone {
                    gone(fs::remove_dir_all(place))
                } else {
                    Err(refusal())
                };
            }
        }
        Ok(())
    }
}

/// What is not there any more is removed.
fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// What holds nothing by construction, or cannot be looked at.
fn unseen() -> Vec<Unseen> {
    let unseen = |what: &str, why: &str| Unseen { what: what.to_owned(), why: why.to_owned() };
    vec![
        unseen(
            "networks and ports",
            "a container has a network namespace of its own, which ends with its processes",
        ),
        unseen("mounts of other namespaces", "they end with the processes of the container"),
        unseen(
            "what runtimes keep of containers in their usual places",
            "every container of this backend is kept in a directory of its own below its lease",
        ),
        unseen(
            "the process that waits for the keeper of an ordinary user's container",
            "it does nothing else, and the kernel ends it where its maker ends",
        ),
        unseen(
            "a keeper that is in no control group yet",
            "it starts nothing before it is in one, and ends where its maker does",
        ),
    ]
}
