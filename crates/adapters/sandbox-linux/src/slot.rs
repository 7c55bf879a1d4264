//! A slot: a guest with the root of its image around it, the directory that its lease takes over, and empty volumes.
//!
//! Nothing in it is of any tenant but what its lease brings to exactly this kind of slot. A slot serves one lease.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ambit_control_groups::{Gauges, GroupLimits, Usage};
use ambit_ids::{Digest, ExecutionLimits, Incarnation, Scope, VolumeMount};
use ambit_ports::sandbox::SandboxError;
use ambit_sandbox_guest::wire::{Request, Response, Volumes};
use ambit_staging::Owner;

use crate::guest::{Guest, refused};
use crate::home::{Record, Share};
use crate::host_directory::HostDirectory;
use crate::limits::{group_limits, limit};
use crate::sandbox::{sizes, tree_name};
use crate::trees::Held;

/// What a slot is made for. Slots of one kind are alike.
#[derive(Clone, Debug)]
pub(crate) struct Fittings {
    /// The directory of the image.
    pub(crate) image: PathBuf,
    /// The declared volumes, each with its directory.
    pub(crate) volumes: Vec<(VolumeMount, PathBuf)>,
    /// What its commands will be limited to. Others cost a lease some time, and make no other kind.
    pub(crate) limits: ExecutionLimits,
    /// The tree that its lease will most likely bring first.
    pub(crate) tree: Option<Foreseen>,
    kind: Digest,
}

/// A tree that is put into a slot before a lease brings it.
#[derive(Clone, Debug)]
pub(crate) struct Foreseen {
    pub(crate) scope: Scope,
    pub(crate) tree: Digest,
    pub(crate) held: Arc<Held>,
}

impl Fittings {
    /// Volumes are a tenant's, so a slot with any is for that tenant only.
    pub(crate) fn new(
        image: PathBuf,
        volumes: Vec<(VolumeMount, PathBuf)>,
        limits: ExecutionLimits,
        scope: &Scope,
    ) -> Self {
        let tenant = (!volumes.is_empty()).then_some(scope);
        let kind = Digest::of(format!("{image:?}\n{volumes:?}\n{tenant:?}").as_bytes());
        Self { image, volumes, limits, tree: None, kind }
    }

    /// The same with a tree in it, so that it is for the tenant of that only.
    pub(crate) fn with_tree(&self, tree: Foreseen) -> Self {
        let kind = Digest::of(format!("{}\n{}\n{}", self.kind, tree.scope, tree.tree).as_bytes());
        Self { tree: Some(tree), kind, ..self.clone() }
    }

    /// What tells one kind from another.
    pub(crate) const fn kind(&self) -> Digest {
        self.kind
    }
}

/// A slot that no lease has yet. When it is dropped its guest is killed, and its directory removed.
pub(crate) struct Slot {
    pub(crate) guest: Guest,
    /// Which life of a sandbox it will be.
    pub(crate) incarnation: Incarnation,
    /// Signed for that life.
    pub(crate) share: Share,
    /// The declared volumes, in the order in which the guest knows them.
    pub(crate) volumes: Vec<VolumeMount>,
    pub(crate) kind: Digest,
    /// The limits that its control group has.
    pub(crate) applied: GroupLimits,
    /// The tree in it, mounted in its workspace.
    pub(crate) tree: Option<Prepared>,
    /// What its control group counted by then, where it has one.
    pub(crate) counted: Option<Usage>,
}

/// A tree in the workspace of a slot.
pub(crate) struct Prepared {
    pub(crate) tree: Digest,
    pub(crate) held: Arc<Held>,
    /// What the guest made ready.
    pub(crate) volumes: Volumes,
}

/// The directories around which a guest builds its root.
pub(crate) struct Site {
    share: Share,
    image_on_host: HostDirectory,
    share_on_host: HostDirectory,
}

impl Site {
    /// Makes the directory of a lease below `place`, and opens it and the image for the guest.
    pub(crate) fn lay_out(
        place: &Path,
        name: &str,
        owner: Owner,
        image: &Path,
        by_path: bool,
    ) -> Result<Self, SandboxError> {
        let share = Share::make(place, name, owner)
            .map_err(SandboxError::during("making the directory of the sandbox"))?;
        let image_on_host =
            HostDirectory::of(image, by_path).map_err(SandboxError::during("opening the image"))?;
        let share_on_host = HostDirectory::of(share.path(), by_path)
            .map_err(SandboxError::during("opening the staged files"))?;
        Ok(Self { share, image_on_host, share_on_host })
    }
}

impl Slot {
    /// Makes one around a guest that is being born.
    pub(crate) async fn furnish(
        guest: Guest,
        site: Site,
        fittings: &Fittings,
        filter: &[u8],
        incarnation: Incarnation,
    ) -> Result<Self, SandboxError> {
        // All is asked at once, and is done in its order. What cannot be asked is known to the guest, which ended.
        let asked = ask(&guest, &site, fittings, filter).await;
        let applied = group_limits(&fittings.limits);
        limit(&guest.group, applied)?;
        // Files are made while the guest builds its root, and none when a lease comes.
        let (process, group) = (guest.identity.clone(), guest.group.clone());
        let signed = site.share.sign(&Record { incarnation: incarnation.clone(), process, group });
        signed.map_err(SandboxError::during("writing the record of the sandbox"))?;
        guest.born().await?;
        assembled(&guest).await?;
        asked.map_err(SandboxError::during("asking for the root"))?;
        let tree = match &fittings.tree {
            Some(foreseen) => prepared(&guest, &site.share, foreseen, &fittings.limits).await?,
            None => None,
        };
        let counted = tree.is_some().then(|| {
            let gauges = Gauges::open(&guest.group);
            let _ = gauges.forget_peak();
            gauges.usage()
        });
        let volumes = fittings.volumes.iter().map(|(mount, _)| mount.clone()).collect();
        Ok(Self {
            guest,
            incarnation,
            share: site.share,
            volumes,
            kind: fittings.kind,
            applied,
            tree,
            counted,
        })
    }
}

/// Lets the guest make everything ready for a command on this tree; `None` where this machine cannot show one tree to
/// several sandboxes.
async fn prepared(
    guest: &Guest,
    share: &Share,
    foreseen: &Foreseen,
    limits: &ExecutionLimits,
) -> Result<Option<Prepared>, SandboxError> {
    let Foreseen { tree, held, .. } = foreseen;
    if !guest.can_share() || !held.hand_to(guest, &share.tree(held.batch)).await? {
        return Ok(None);
    }
    let what = "preparing the workspace";
    let volumes = Volumes { tree: tree_name(held.batch), sizes: sizes(limits.disk_bytes), declared: 0 };
    guest.send(&Request::Prepare(volumes), 0, &[]).await.map_err(SandboxError::during(what))?;
    match guest.receive().await.map_err(SandboxError::during(what))?.0 {
        Response::Prepared { .. } => Ok(Some(Prepared { tree: *tree, held: Arc::clone(held), volumes })),
        Response::Failed(failed) => Err(refused(failed)),
        _ => Err(SandboxError::during(what)(io::ErrorKind::InvalidData.into())),
    }
}

async fn ask(guest: &Guest, site: &Site, fittings: &Fittings, filter: &[u8]) -> io::Result<()> {
    for (mount, root) in &fittings.volumes {
        bring(guest, mount, root).await?;
    }
    let (image, share) = (&site.image_on_host, &site.share_on_host);
    let request = Request::Assemble { image: &image.path, share: &share.path, filter };
    let mounts: Vec<BorrowedFd<'_>> =
        [&image.mount, &share.mount].into_iter().flatten().map(OwnedFd::as_fd).collect();
    let variable = image.path.count_bytes() + share.path.count_bytes() + filter.len();
    guest.send(&request, variable, &mounts).await?;
    guest.send(&Request::Lay(sizes(fittings.limits.disk_bytes)), 0, &[]).await
}

/// Waits until the root is built.
async fn assembled(guest: &Guest) -> Result<(), SandboxError> {
    let what = "assembling the root";
    match guest.receive().await.map_err(SandboxError::during(what))?.0 {
        Response::Assembled => Ok(()),
        Response::Failed(failed) => Err(refused(failed)),
        _ => Err(SandboxError::during(what)(io::ErrorKind::InvalidData.into())),
    }
}

/// Hands a declared volume to the guest. What comes of it shows when the root is assembled.
async fn bring(guest: &Guest, mount: &VolumeMount, root: &Path) -> io::Result<()> {
    let name = CString::new(mount.name.as_str())?;
    let root = HostDirectory::of(root, guest.by_path)?;
    let request = Request::Bring { name: &name, path: &root.path };
    let variable = name.count_bytes() + root.path.count_bytes();
    let beside: Vec<BorrowedFd<'_>> = root.mount.iter().map(OwnedFd::as_fd).collect();
    guest.send(&request, variable, &beside).await
}
