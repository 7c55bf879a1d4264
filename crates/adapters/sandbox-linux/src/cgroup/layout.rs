use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use ambit_ports::sandbox::{Enforcer, LimitEnforcement};

use super::controller::{Controller, Hierarchy};
use super::group::Group;

/// Every group that this program makes starts so.
const PREFIX: &str = "ambit-";

/// The group of the control plane itself, where it had to make room for groups beside it.
const CONTROL_PLANE: &str = "control-plane";

/// A directory below which groups of a controller can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Base {
    pub(super) controller: Controller,
    pub(super) hierarchy: Hierarchy,
    pub(super) directory: PathBuf,
}

/// Where this process can make groups, as tried out, not as declared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    bases: Vec<Base>,
}

/// A mounted hierarchy, and where it is mounted.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mounted {
    hierarchy: Hierarchy,
    controllers: Vec<String>,
    /// The group that the mount point shows.
    root: PathBuf,
    mount_point: PathBuf,
}

impl Layout {
    /// Tries every controller.
    pub(crate) fn detect() -> Self {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        let mounts = mounts(&read("/proc/self/mountinfo"));
        let own = read("/proc/self/cgroup");
        let found = Self::try_all(&mounts, &own);
        if found.bases.len() == Controller::ALL.len() {
            return found;
        }
        // Where the own group is this process's alone, and was delegated, it can be divided.
        let unified = mounts.iter().find(|mounted| mounted.hierarchy == Hierarchy::Unified);
        let place = unified.and_then(|mounted| mounted.place_of(&own_group(&own, "")?));
        match place.filter(|place| divide(place, std::process::id()).is_ok()) {
            Some(place) => {
                // From inside the new group the place is the parent.
                let divided = Self::try_all(&mounts, &read("/proc/self/cgroup"));
                if divided.bases.iter().any(|base| base.directory == place) { divided } else { found }
            }
            None => found,
        }
    }

    fn try_all(mounts: &[Mounted], own: &str) -> Self {
        let usable = |controller| candidates(controller, mounts, own).into_iter().find(Base::is_usable);
        Self { bases: Controller::ALL.into_iter().filter_map(usable).collect() }
    }

    /// What enforces each limit.
    pub(crate) fn enforcement(&self) -> LimitEnforcement {
        let by = |controller| match self.base(controller).map(|base| base.hierarchy) {
            Some(Hierarchy::Unified) => Enforcer::CgroupV2,
            Some(Hierarchy::Legacy) => Enforcer::CgroupV1,
            None => Enforcer::RlimitPerProcess,
        };
        LimitEnforcement {
            memory: by(Controller::Memory),
            processes: by(Controller::Pids),
            cpu: if self.base(Controller::CpuAccounting).is_some() {
                by(Controller::Cpu)
            } else {
                Enforcer::RlimitPerProcess
            },
        }
    }

    fn base(&self, controller: Controller) -> Option<&Base> {
        self.bases.iter().find(|base| base.controller == controller)
    }

    /// Makes a group of this name under every base.
    pub(crate) fn create(&self, name: &str) -> io::Result<Group> {
        let mut group = Group::default();
        for base in &self.bases {
            group.add(base.controller, base.hierarchy, base.directory.join(format!("{PREFIX}{name}")))?;
        }
        Ok(group)
    }

    /// Removes the groups of this program that nobody is in and that `is_in_use` does not claim by their name.
    pub(crate) fn sweep(&self, is_in_use: impl Fn(&str) -> bool) {
        for base in &self.bases {
            for entry in fs::read_dir(&base.directory).into_iter().flatten().flatten() {
                let name = entry.file_name();
                if let Some(name) = name.to_str().and_then(|name| name.strip_prefix(PREFIX))
                    && !is_in_use(name)
                {
                    // A group with processes in it cannot be removed, which is as it should be.
                    let _ = fs::remove_dir(entry.path());
                }
            }
        }
    }
}

impl Base {
    /// Whether a group can really be made here and has the controller's files.
    fn is_usable(&self) -> bool {
        static TRIALS: AtomicU64 = AtomicU64::new(0);
        let number = TRIALS.fetch_add(1, Ordering::Relaxed);
        let trial = self.directory.join(format!("{PREFIX}{}-trial-{number}", std::process::id()));
        if fs::create_dir(&trial).is_err() {
            return false;
        }
        let usable = fs::OpenOptions::new().write(true).open(trial.join(self.limit_file())).is_ok();
        fs::remove_dir(&trial).is_ok() && usable
    }

    const fn limit_file(&self) -> &'static str {
        match (self.hierarchy, self.controller) {
            (Hierarchy::Legacy, Controller::Memory) => "memory.limit_in_bytes",
            (Hierarchy::Legacy, Controller::Cpu) => "cpu.cfs_quota_us",
            (Hierarchy::Legacy, Controller::CpuAccounting) => "cpuacct.usage",
            (Hierarchy::Unified, Controller::Memory) => "memory.max",
            (_, Controller::Pids) => "pids.max",
            (Hierarchy::Unified, Controller::Cpu | Controller::CpuAccounting) => "cpu.max",
        }
    }
}

/// The places for a controller, best first. A process may only count on its own group being its to divide; on the
/// unified hierarchy a group with processes in it cannot be divided, so its siblings are tried as well.
fn candidates(controller: Controller, mounts: &[Mounted], own: &str) -> Vec<Base> {
    let mut candidates = Vec::new();
    for mounted in mounts {
        let name = match mounted.hierarchy {
            Hierarchy::Legacy => controller.legacy_name(),
            Hierarchy::Unified => "",
        };
        if mounted.hierarchy == Hierarchy::Legacy
            && !mounted.controllers.iter().any(|mounted| mounted == name)
        {
            continue;
        }
        let Some(directory) = own_group(own, name).and_then(|group| mounted.place_of(&group)) else {
            continue;
        };
        let base = |directory| Base { controller, hierarchy: mounted.hierarchy, directory };
        match mounted.hierarchy {
            Hierarchy::Legacy => candidates.push(base(directory)),
            Hierarchy::Unified => {
                let places = [Some(directory.clone()), mounted.parent_of(&directory)];
                let handed_down = places.into_iter().flatten().filter(|place| hands_down(place, controller));
                candidates.extend(handed_down.map(base));
            }
        }
    }
    candidates
}

/// Moves this process into a group below its own, if nobody else is in that, and hands the controllers down.
fn divide(own: &Path, pid: u32) -> io::Result<()> {
    let members = fs::read_to_string(own.join("cgroup.procs"))?;
    let available = fs::read_to_string(own.join("cgroup.controllers"))?;
    let has_all = Controller::ALL
        .iter()
        .all(|needed| available.split_whitespace().any(|name| name == needed.unified_name()));
    if members.trim() != pid.to_string() || !has_all {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let inner = own.join(CONTROL_PLANE);
    fs::create_dir(&inner)?;
    fs::write(inner.join("cgroup.procs"), pid.to_string())?;
    fs::write(own.join("cgroup.subtree_control"), "+memory +pids +cpu")
}

fn hands_down(directory: &Path, controller: Controller) -> bool {
    fs::read_to_string(directory.join("cgroup.subtree_control"))
        .is_ok_and(|handed| handed.split_whitespace().any(|name| name == controller.unified_name()))
}

impl Mounted {
    /// Where a group lies in the file system.
    fn place_of(&self, group: &Path) -> Option<PathBuf> {
        group.strip_prefix(&self.root).ok().map(|below| self.mount_point.join(below))
    }

    fn parent_of(&self, directory: &Path) -> Option<PathBuf> {
        directory.parent().filter(|parent| parent.starts_with(&self.mount_point)).map(Path::to_path_buf)
    }
}

/// The group of this process in the hierarchy of a controller; the unified one has the empty name.
fn own_group(own: &str, controller: &str) -> Option<PathBuf> {
    own.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':');
        let (_, controllers, group) = (fields.next()?, fields.next()?, fields.next()?);
        controllers.split(',').any(|name| name == controller).then(|| PathBuf::from(group))
    })
}

/// The hierarchies among the mounts of `/proc/self/mountinfo`.
fn mounts(mountinfo: &str) -> Vec<Mounted> {
    mountinfo
        .lines()
        .filter_map(|line| {
            let (place, kind) = line.split_once(" - ")?;
            let mut place = place.split(' ').skip(3);
            let (root, mount_point) = (PathBuf::from(place.next()?), PathBuf::from(place.next()?));
            let mut kind = kind.split(' ');
            let hierarchy = match kind.next()? {
                "cgroup" => Hierarchy::Legacy,
                "cgroup2" => Hierarchy::Unified,
                _ => return None,
            };
            let controllers = kind.nth(1)?.split(',').map(str::to_owned).collect();
            Some(Mounted { hierarchy, controllers, root, mount_point })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYBRID: &str = "\
40 32 0:34 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
41 32 0:35 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct
42 32 0:36 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
43 32 0:37 / /home rw,relatime - ext4 /dev/vda rw";

    #[test]
    fn legacy_groups_lie_below_the_own_group_of_their_hierarchy() {
        let own = "4:memory:/a/b\n3:cpu,cpuacct:/\n0::/c\n";
        let at = |controller| -> Vec<PathBuf> {
            candidates(controller, &mounts(HYBRID), own).into_iter().map(|base| base.directory).collect()
        };
        assert_eq!(at(Controller::Memory), [PathBuf::from("/sys/fs/cgroup/memory/a/b")]);
        assert_eq!(at(Controller::Cpu), [PathBuf::from("/sys/fs/cgroup/cpu,cpuacct/")]);
        assert_eq!(at(Controller::CpuAccounting), [PathBuf::from("/sys/fs/cgroup/cpu,cpuacct/")]);
        assert_eq!(at(Controller::Pids), Vec::<PathBuf>::new());
    }

    #[test]
    fn unified_groups_need_a_place_that_hands_the_controller_down() {
        let directory = tempfile::tempdir().unwrap();
        let slice = directory.path().join("app.slice");
        fs::create_dir_all(slice.join("term.scope")).unwrap();
        fs::write(slice.join("cgroup.subtree_control"), "memory pids\n").unwrap();
        fs::write(slice.join("term.scope/cgroup.subtree_control"), "\n").unwrap();
        let mountinfo = format!("30 1 0:26 / {} rw - cgroup2 cgroup2 rw", directory.path().display());
        let own = "0::/app.slice/term.scope\n";
        let found = candidates(Controller::Memory, &mounts(&mountinfo), own);
        assert_eq!(
            found,
            [Base { controller: Controller::Memory, hierarchy: Hierarchy::Unified, directory: slice }]
        );
        assert_eq!(candidates(Controller::Cpu, &mounts(&mountinfo), own), []);
    }

    #[test]
    fn a_mount_that_shows_part_of_a_hierarchy_is_followed_from_there() {
        let mountinfo = "30 1 0:26 /docker/x /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory";
        let at = |own| candidates(Controller::Memory, &mounts(mountinfo), own);
        assert_eq!(at("4:memory:/docker/x/y\n")[0].directory, Path::new("/sys/fs/cgroup/memory/y"));
        assert_eq!(at("4:memory:/elsewhere\n"), []);
    }
}
