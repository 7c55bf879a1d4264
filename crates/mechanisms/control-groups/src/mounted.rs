//! Where the hierarchies of control groups are mounted, and where this process is in them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::controller::Hierarchy;

/// A mounted hierarchy, and where it is mounted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mounted {
    pub(crate) hierarchy: Hierarchy,
    pub(crate) controllers: Vec<String>,
    /// The group that the mount point shows.
    root: PathBuf,
    mount_point: PathBuf,
}

impl Mounted {
    /// Where a group lies in the file system.
    pub(crate) fn place_of(&self, group: &Path) -> Option<PathBuf> {
        group.strip_prefix(&self.root).ok().map(|below| self.mount_point.join(below))
    }

    pub(crate) fn parent_of(&self, directory: &Path) -> Option<PathBuf> {
        directory.parent().filter(|parent| parent.starts_with(&self.mount_point)).map(Path::to_path_buf)
    }
}

/// The group of this process in the hierarchy of a controller; the unified one has the empty name.
pub(crate) fn own_group(own: &str, controller: &str) -> Option<PathBuf> {
    own.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':');
        let (_, controllers, group) = (fields.next()?, fields.next()?, fields.next()?);
        controllers.split(',').any(|name| name == controller).then(|| PathBuf::from(group))
    })
}

/// Where hierarchies are mounted.
pub(crate) fn mounted_here() -> Vec<PathBuf> {
    let mountinfo = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    mounts(&mountinfo).into_iter().map(|mounted| mounted.mount_point).collect()
}

/// The hierarchies among the mounts of `/proc/self/mountinfo`.
pub(crate) fn mounts(mountinfo: &str) -> Vec<Mounted> {
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
