//! Where the files of one container come together: mounts in a mount namespace of their own, which nobody but the
//! container's processes holds. When the last of them ends, the mounts end with it; nothing of the host ever shows one.

use std::ffi::{CString, OsString};
use std::fs::{self, Permissions};
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};

use ambit_staging::Owner;
use rustix::fs::{Mode, OFlags, fstatvfs, open};
use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind, mount_change, mount_remount, unmount,
};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space};

/// The first process, as the container sees it.
pub(crate) const FIRST: &str = "/.first";
/// The devices of a container whose runtime has none of its own.
pub(crate) const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];

const DEVICE_LINKS: [(&str, &str); 5] = [
    ("/proc/self/fd", "dev/fd"),
    ("/proc/self/fd/0", "dev/stdin"),
    ("/proc/self/fd/1", "dev/stdout"),
    ("/proc/self/fd/2", "dev/stderr"),
    ("/tmp", "dev/shm"),
];
/// The places at the top of a root that a sandbox itself provides.
const OWN: [&str; 7] = ["proc", "dev", "dev/shm", "sys", "workspace", "tmp", "fixtures"];
/// One file for this many bytes of a volume, and some for the smallest.
const BYTES_PER_FILE: u64 = 4096;
const LEAST_FILES: u64 = 1024;

/// Where everything of one container lies.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    /// The directory over which the rest is mounted.
    pub(crate) stage: PathBuf,
    /// The fixtures of the run.
    pub(crate) fixtures: PathBuf,
    /// The volumes that the command names, by the name of their place.
    pub(crate) volumes: Vec<(String, PathBuf)>,
    /// Whether the run has volumes at all.
    pub(crate) has_volumes: bool,
    /// Whether one of them has the name by which Node looks for packages.
    pub(crate) has_node_modules: bool,
}

impl Places {
    pub(crate) fn root(&self) -> PathBuf {
        self.stage.join("root")
    }

    pub(crate) fn devices(&self) -> PathBuf {
        self.stage.join("dev")
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.stage.join("workspace")
    }

    pub(crate) fn temporary(&self) -> PathBuf {
        self.stage.join("disk/tmp")
    }

    /// The program of the first process, as the host executes it.
    pub(crate) fn program(&self) -> PathBuf {
        self.stage.join("skeleton").join(FIRST.trim_start_matches('/'))
    }
}

/// What a stage is made from.
pub(crate) struct Staging {
    pub(crate) places: Places,
    pub(crate) image: PathBuf,
    pub(crate) tree: PathBuf,
    pub(crate) owner: Owner,
    pub(crate) disk_bytes: u64,
    pub(crate) program: &'static [u8],
    /// Whether the unified hierarchy of control groups is taken out of sight where the legacy one is mounted as well.
    pub(crate) hide_unified: bool,
}

/// What of a stage can be looked at from outside for as long as it is held.
pub(crate) struct Held {
    /// The workspace, as the command sees it.
    pub(crate) workspace: OwnedFd,
    /// The layer of it that holds what the command wrote.
    pub(crate) written: OwnedFd,
    /// The file system that bounds everything a command writes.
    pub(crate) disk: OwnedFd,
}

impl Held {
    /// What is held of the stage of this working directory, or of one elsewhere.
    pub(crate) fn below(stage: &Path) -> io::Result<Self> {
        let directory = OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self {
            workspace: open(stage.join("workspace"), directory | OFlags::PATH, Mode::empty())?,
            written: open(stage.join("disk/upper"), directory | OFlags::PATH, Mode::empty())?,
            disk: open(stage.join("disk"), directory | OFlags::RDONLY, Mode::empty())?,
        })
    }

    /// Whether nothing more can be written.
    pub(crate) fn is_full(&self) -> bool {
        fstatvfs(&self.disk).is_ok_and(|disk| disk.f_bfree == 0 || disk.f_ffree == 0)
    }
}

/// A step that failed, and why.
pub(crate) type Failed = (&'static str, io::Error);

trait At<T> {
    fn at(self, step: &'static str) -> Result<T, Failed>;
}

impl<T, E: Into<io::Error>> At<T> for Result<T, E> {
    fn at(self, step: &'static str) -> Result<T, Failed> {
        self.map_err(|error| (step, error.into()))
    }
}

impl Staging {
    /// Moves this thread into a mount namespace of its own and builds the stage there. The thread is good for nothing else
    /// afterwards, but what it starts is at home there.
    pub(crate) fn enter(&self) -> Result<Held, Failed> {
        // Of all that a thread can leave, the mounts and the working directory concern no other thread and no descriptor.
        #[expect(
            deprecated,
            reason = "deprecated for flags that would make other threads unsound, not for this one"
        )]
        rustix::thread::unshare(UnshareFlags::NEWNS).at("a mount namespace")?;
        mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
            .at("a mount namespace of its own")?;
        if self.hide_unified {
            hide_unified_hierarchy().at("the unified hierarchy out of sight")?;
        }
        let stage = &self.places.stage;
        temporary(stage, "size=2m,nr_inodes=512,mode=0755").at("the stage")?;
        // Below here every path is relative, so that no character of a host's path means anything to a mount option.
        rustix::process::chdir(stage).at("the stage")?;
        self.skeleton().at("the skeleton of the root")?;
        devices().at("the devices")?;
        self.root().at("the root")?;
        self.workspace().at("the workspace")?;
        Held::below(Path::new("")).at("the workspace")
    }

    /// Lays the stage out on the disk, for a keeper that mounts the rest. The working directory of this thread is its own
    /// afterwards.
    pub(crate) fn lay_out(&self) -> Result<(), Failed> {
        // Of all that a thread can leave, its root and working directory concern no other thread and no descriptor.
        #[expect(
            deprecated,
            reason = "deprecated for flags that would make other threads unsound, not for this one"
        )]
        rustix::thread::unshare(UnshareFlags::FS).at("a working directory")?;
        rustix::process::chdir(&self.places.stage).at("the stage")?;
        self.skeleton().at("the skeleton of the root")?;
        devices().at("the devices")
    }

    /// The first words of a keeper that mounts: its role, and all that it needs to know for that, with the memory that may be
    /// held.
    pub(crate) fn keeper(&self, memory: &str) -> Vec<OsString> {
        let (bytes, files) = self.room();
        let groups = if self.hide_unified { "hidden" } else { "shown" };
        let (image, tree) = (self.image.clone().into(), self.tree.clone().into());
        let rest = [&bytes.to_string(), &files.to_string(), groups, memory].map(OsString::from);
        ["rootless".into(), image, tree].into_iter().chain(rest).collect()
    }

    /// How many bytes and files a command may write.
    fn room(&self) -> (u64, u64) {
        // At least one block: the kernel takes a size of zero for no limit at all.
        let bytes = self.disk_bytes.max(BYTES_PER_FILE);
        (bytes, (bytes / BYTES_PER_FILE).max(LEAST_FILES))
    }

    fn skeleton(&self) -> io::Result<()> {
        for name in ["skeleton", "root", "image", "tree", "dev", "disk", "workspace"] {
            directory(name, 0o755)?;
        }
        for name in OWN {
            directory(format!("skeleton/{name}"), 0o755)?;
        }
        if self.places.has_volumes {
            directory("skeleton/volumes", 0o755)?;
        }
        for (name, _) in &self.places.volumes {
            directory(format!("skeleton/volumes/{name}"), 0o755)?;
        }
        if self.places.has_node_modules {
            symlink("/volumes/node_modules", "skeleton/node_modules")?;
        }
        let program = format!("skeleton{FIRST}");
        fs::write(&program, self.program)?;
        fs::set_permissions(&program, Permissions::from_mode(0o555))
    }

    /// The image with the places of a sandbox over it. Without an upper layer, nothing can ever be written to it.
    fn root(&self) -> io::Result<()> {
        mount_bind(&self.image, "image")?;
        overlay("root", "lowerdir=skeleton:image", MountFlags::RDONLY)
    }

    /// The tree under a private copy-on-write layer, on a file system that is as large as a command may write.
    fn workspace(&self) -> io::Result<()> {
        let (bytes, files) = self.room();
        temporary(Path::new("disk"), &format!("size={bytes},nr_inodes={files},mode=0755"))?;
        directory("disk/work", 0o700)?;
        directory("disk/upper", 0o755)?;
        chown("disk/upper", Some(self.owner.uid), Some(self.owner.gid))?;
        directory("disk/tmp", 0o1777)?;
        mount_bind(&self.tree, "tree")?;
        // No directory of the tree can be moved: whatever lies at a place then is what the tree has there, or was written.
        let layers = "lowerdir=tree,upperdir=disk/upper,workdir=disk/work,redirect_dir=nofollow,metacopy=off";
        overlay("workspace", layers, MountFlags::empty())
    }
}

fn devices() -> io::Result<()> {
    for name in DEVICES {
        fs::write(Path::new("dev").join(name), [])?;
    }
    for (target, link) in DEVICE_LINKS {
        symlink(target, link)?;
    }
    Ok(())
}

fn directory(path: impl AsRef<Path>, mode: u32) -> io::Result<()> {
    let path = path.as_ref();
    fs::DirBuilder::new().mode(mode).create(path)?;
    // The process may mask what new directories allow.
    fs::set_permissions(path, Permissions::from_mode(mode))
}

fn temporary(at: &Path, options: &str) -> io::Result<()> {
    let options = CString::new(options)?;
    Ok(mount("tmpfs", at, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, options.as_c_str())?)
}

fn overlay(at: &str, layers: &str, also: MountFlags) -> io::Result<()> {
    let layers = CString::new(layers)?;
    Ok(mount("overlay", at, "overlay", also | MountFlags::NOSUID | MountFlags::NODEV, layers.as_c_str())?)
}

/// Moves this thread into the mount namespace of a process and makes every mount there `nosuid`. The thread stays there.
pub(crate) fn without_privilege(process: i32) -> io::Result<()> {
    let mountinfo = fs::read_to_string(format!("/proc/{process}/mountinfo"))?;
    let namespace = fs::File::open(format!("/proc/{process}/ns/mnt"))?;
    // Of all that a thread can leave, its root and working directory concern no other thread and no descriptor.
    #[expect(
        deprecated,
        reason = "deprecated for flags that would make other threads unsound, not for this one"
    )]
    rustix::thread::unshare(UnshareFlags::FS)?;
    move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Mount))?;
    for (place, flags) in privileged(&mountinfo) {
        mount_remount(place, MountFlags::BIND | MountFlags::NOSUID | flags, c"")?;
    }
    Ok(())
}

/// The mounts that are not `nosuid`, and those below `/proc` that can be written or are a device, each with the rest of its flags. Nothing of ours but devices is a device.
fn privileged(mountinfo: &str) -> impl Iterator<Item = (&str, MountFlags)> {
    mountinfo.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(4);
        let (place, options) = (fields.next()?, fields.next()?);
        let has = |wanted: &str| options.split(',').any(|option| option == wanted);
        let known =
            [("ro", MountFlags::RDONLY), ("nodev", MountFlags::NODEV), ("noexec", MountFlags::NOEXEC)];
        let flags = known.into_iter().filter(|(option, _)| has(option)).map(|(_, flag)| flag);
        let flags = flags.fold(MountFlags::empty(), |all, flag| all | flag);
        // What hides something is a device that can be written to, and what is mounted in a frozen directory stays as it is.
        let hides = place.starts_with("/proc/");
        let ro = if hides { MountFlags::RDONLY } else { MountFlags::empty() };
        let nodev = if place.starts_with("/dev") { MountFlags::empty() } else { MountFlags::NODEV };
        (!has("nosuid") || hides && !(has("ro") && has("nodev"))).then_some((place, flags | ro | nodev))
    })
}

/// Takes the unified hierarchy out of this namespace where the legacy one is mounted beside it.
fn hide_unified_hierarchy() -> io::Result<()> {
    let mountinfo = fs::read_to_string("/proc/self/mountinfo")?;
    let mounted = |kind: &str| -> Vec<PathBuf> {
        let lines = mountinfo.lines().filter_map(|line| line.split_once(" - "));
        let of_kind = lines.filter(|(_, rest)| rest.split(' ').next() == Some(kind));
        of_kind.filter_map(|(place, _)| place.split(' ').nth(4)).map(PathBuf::from).collect()
    };
    if mounted("cgroup").is_empty() {
        return Ok(());
    }
    for place in mounted("cgroup2") {
        unmount(&place, UnmountFlags::DETACH)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_with_privilege_keeps_the_rest_of_what_it_is() {
        let mountinfo = "\
40 32 0:34 / / ro,relatime - overlay overlay ro
41 40 0:35 / /proc rw,nosuid,nodev,noexec - proc proc rw
42 41 0:35 /bus /proc/bus ro,noexec,relatime - proc proc rw
43 40 0:36 /null /dev/null rw,relatime - tmpfs tmpfs rw
44 42 0:36 /null /proc/sys/kernel/random/boot_id rw,nosuid,relatime - tmpfs tmpfs rw
45 41 0:36 /null /proc/keys ro,nosuid,nodev,relatime - tmpfs tmpfs rw";
        let found: Vec<_> = privileged(mountinfo).collect();
        let (ro, nodev) = (MountFlags::RDONLY, MountFlags::NODEV);
        let frozen = ro | nodev | MountFlags::NOEXEC;
        let hidden = ("/proc/sys/kernel/random/boot_id", ro | nodev);
        assert_eq!(
            found,
            [("/", ro | nodev), ("/proc/bus", frozen), ("/dev/null", MountFlags::empty()), hidden]
        );
    }
}
