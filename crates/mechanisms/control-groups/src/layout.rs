use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use ambit_ports::sandbox::{Enforcer, LimitEnforcement};

use crate::controller::{Controller, Hierarchy};
use crate::group::Group;
use crate::mounted::{Mounted, mounts, own_group};

/// Every group that this program makes starts so.
pub(crate) const PREFIX: &str = "ambit-";

/// The group of the control plane itself, where it had to make room for groups beside it.
const CONTROL_PLANE: &str = "control-plane";

/// A directory below which groups of a controller can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Base {
    pub(crate) controller: Controller,
    pub(crate) hierarchy: Hierarchy,
    pub(crate) directory: PathBuf,
}

/// Where this process can make groups, as tried out, not as declared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    pub(crate) bases: Vec<Base>,
}

impl Layout {
    /// Tries every controller.
    pub fn detect() -> Self {
        // A machine may have places that are no text; those of groups always are.
        let read = |path| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
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

    /// Whether this process can make no group at all.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.bases.is_empty()
    }

    /// What enforces each limit.
    pub fn enforcement(&self) -> LimitEnforcement {
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

    /// Makes a group of this name under every base, or under none.
    pub fn create(&self, name: &str) -> io::Result<Group> {
        let mut group = Group::default();
        for base in &self.bases {
            let directory = base.directory.join(format!("{PREFIX}{name}"));
            if let Err(error) = group.add(base.controller, base.hierarchy, directory) {
                let _ = group.remove();
                return Err(error);
            }
        }
        Ok(group)
    }

    /// Every group of this program that exists, whoever made it: its directory, and its name without the prefix.
    ///
    /// # Errors
    /// Where a place of groups cannot be read.
    pub fn groups(&self) -> io::Result<BTreeMap<PathBuf, String>> {
        let mut groups = BTreeMap::new();
        for base in &self.bases {
            for entry in fs::read_dir(&base.directory)? {
                let entry = entry?;
                if let Some(name) = entry.file_name().to_str().and_then(Self::name_of) {
                    groups.insert(entry.path(), name.to_owned());
                }
            }
        }
        Ok(groups)
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

    const LEGACY: &str = "\
30 25 0:26 / /sys/fs/cgroup ro,nosuid,nodev,noexec shared:4 - tmpfs tmpfs ro,mode=755
31 30 0:27 / /sys/fs/cgroup/systemd rw,nosuid shared:5 - cgroup cgroup rw,xattr,name=systemd
32 30 0:28 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:6 - cgroup cgroup rw,cpu,cpuacct
33 30 0:29 / /sys/fs/cgroup/memory rw,nosuid shared:7 - cgroup cgroup rw,memory
34 30 0:30 / /sys/fs/cgroup/pids rw,nosuid shared:8 - cgroup cgroup rw,pids";

    fn places(mountinfo: &str, own: &str) -> Vec<(Controller, Hierarchy, PathBuf)> {
        let mounts = mounts(mountinfo);
        let all = Controller::ALL.into_iter().flat_map(|controller| candidates(controller, &mounts, own));
        all.map(|base| (base.controller, base.hierarchy, base.directory)).collect()
    }

    #[test]
    fn every_controller_is_found_on_the_legacy_hierarchies() {
        let own = "4:pids:/user.slice\n3:memory:/user.slice\n2:cpu,cpuacct:/user.slice\n1:name=systemd:/s\n";
        let at = |controller, place: &str| {
            (controller, Hierarchy::Legacy, Path::new("/sys/fs/cgroup").join(place))
        };
        assert_eq!(
            places(LEGACY, own),
            [
                at(Controller::Memory, "memory/user.slice"),
                at(Controller::Pids, "pids/user.slice"),
                at(Controller::Cpu, "cpu,cpuacct/user.slice"),
                at(Controller::CpuAccounting, "cpu,cpuacct/user.slice"),
            ]
        );
    }

    #[test]
    fn every_controller_is_found_on_the_unified_hierarchy() {
        let directory = tempfile::tempdir().unwrap();
        let scope = directory.path().join("run.scope");
        fs::create_dir(&scope).unwrap();
        fs::write(scope.join("cgroup.subtree_control"), "cpu memory pids\n").unwrap();
        let mountinfo =
            format!("30 25 0:26 / {} rw,nosuid - cgroup2 cgroup2 rw,nsdelegate", directory.path().display());
        let found = places(&mountinfo, "0::/run.scope\n");
        assert_eq!(
            found,
            Controller::ALL.map(|controller| (controller, Hierarchy::Unified, scope.clone())).to_vec()
        );
        // In a namespace of its own, as in a container, the top is the own group.
        fs::write(directory.path().join("cgroup.subtree_control"), "memory\n").unwrap();
        let found = places(&mountinfo, "0::/\n");
        assert_eq!(found, [(Controller::Memory, Hierarchy::Unified, directory.path().to_owned())]);
    }

    #[test]
    fn each_controller_is_taken_from_where_it_is() {
        let directory = tempfile::tempdir().unwrap();
        let unified = directory.path().join("unified");
        fs::create_dir(&unified).unwrap();
        let mountinfo =
            format!("{LEGACY}\n35 30 0:31 / {} rw shared:9 - cgroup2 cgroup2 rw", unified.display());
        let own = "4:pids:/a\n3:memory:/a\n2:cpu,cpuacct:/a\n1:name=systemd:/a\n0::/\n";
        let legacy = |found: &[(Controller, Hierarchy, PathBuf)]| {
            found.iter().filter(|(_, hierarchy, _)| *hierarchy == Hierarchy::Legacy).count()
        };
        // Usually the unified hierarchy of such a machine has no controller at all.
        fs::write(unified.join("cgroup.subtree_control"), "hugetlb\n").unwrap();
        let found = places(&mountinfo, own);
        assert_eq!((legacy(&found), found.len()), (4, 4));
        fs::write(unified.join("cgroup.subtree_control"), "hugetlb pids\n").unwrap();
        let found = places(&mountinfo, own);
        assert!(found.contains(&(Controller::Pids, Hierarchy::Unified, unified)), "{found:?}");
        assert_eq!((legacy(&found), found.len()), (4, 5));
    }

    #[test]
    fn a_group_is_made_everywhere_or_nowhere() {
        let directory = tempfile::tempdir().unwrap();
        let [memory, pids] = ["memory", "pids"].map(|name| directory.path().join(name));
        let base = |controller, directory: &Path| Base {
            controller,
            hierarchy: Hierarchy::Legacy,
            directory: directory.to_owned(),
        };
        let bases = vec![base(Controller::Memory, &memory), base(Controller::Pids, &pids)];
        let layout = Layout { bases };
        fs::create_dir(&memory).unwrap();
        assert!(layout.create("1-half").is_err());
        assert_eq!(fs::read_dir(&memory).unwrap().count(), 0);
        // What another one has under that name is not this one's to remove.
        fs::create_dir_all(pids.join("ambit-1-half")).unwrap();
        assert!(layout.create("1-half").is_err());
        assert!(pids.join("ambit-1-half").exists() && !memory.join("ambit-1-half").exists());
        assert_eq!(layout.create("1-whole").unwrap().remaining(), 2);
    }

    #[test]
    fn without_a_mounted_hierarchy_there_is_none() {
        let own = "3:memory:/a\n0::/\n";
        assert_eq!(places("43 32 0:37 / /home rw,relatime - ext4 /dev/vda rw", own), []);
        assert_eq!(places("", own), []);
        // Mounted, and of no use: the process is in no group of it, or in one that the mount does not show.
        assert_eq!(places(LEGACY, ""), []);
        let elsewhere = LEGACY.replace(" / /sys", " /elsewhere /sys");
        assert_eq!(places(&elsewhere, own), []);
        let enforced = Layout::default().enforcement();
        assert_eq!([enforced.memory, enforced.processes, enforced.cpu], [Enforcer::RlimitPerProcess; 3]);
        assert_eq!(Layout::default().create("none").unwrap().remaining(), 0);
    }
}
