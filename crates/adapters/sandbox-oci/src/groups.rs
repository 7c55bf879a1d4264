//! The control groups of one container, and everything that is in them.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use ambit_control_groups::{Group, Layout, remove_empty};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

/// How long the kernel may take to end what was killed, before that counts as a failure.
pub(crate) const DYING: Duration = Duration::from_secs(5);

/// The groups of one container.
///
/// The *outer* one holds the keeper and the runtime while it works; the *inner* one has the limits, and only what they are
/// meant for is in it. Every process of a container is in one of them, or in a group that the runtime made below.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Groups {
    pub(crate) outer: Group,
    pub(crate) inner: Group,
    /// Where a runtime may have made groups of its own.
    of_the_runtime: Vec<PathBuf>,
}

impl Groups {
    /// Makes those of a container, which is named as a group of this program is.
    pub(crate) fn make(layout: &Layout, container: &str) -> io::Result<Self> {
        let name = Layout::name_of(container).ok_or(io::ErrorKind::InvalidInput)?;
        let outer = layout.create(&format!("{name}-outer"))?;
        let inner = match layout.create(&format!("{name}-inner")) {
            Ok(inner) => inner,
            Err(error) => {
                let _ = outer.remove();
                return Err(error);
            }
        };
        let mut of_the_runtime: Vec<PathBuf> =
            outer.directories().map(|outer| outer.join(container)).collect();
        of_the_runtime.extend(own_groups().into_iter().map(|own| own.join(container)));
        Ok(Self { outer, inner, of_the_runtime })
    }

    /// Moves a process into a group, on every hierarchy.
    pub(crate) fn place(group: &Group, pid: i32) -> io::Result<()> {
        group
            .directories()
            .try_for_each(|directory| fs::write(directory.join("cgroup.procs"), pid.to_string()))
    }

    /// Where they are, or would be.
    pub(crate) fn all(&self) -> impl Iterator<Item = PathBuf> {
        let own = self.outer.directories().chain(self.inner.directories()).map(PathBuf::from);
        own.chain(self.of_the_runtime.iter().cloned())
    }

    /// Every process in them.
    fn processes(&self) -> BTreeSet<i32> {
        let read =
            |directory: PathBuf| fs::read_to_string(directory.join("cgroup.procs")).unwrap_or_default();
        self.all()
            .flat_map(|directory| read(directory).lines().map(str::to_owned).collect::<Vec<_>>())
            .filter_map(|pid| pid.parse().ok())
            .collect()
    }

    /// How many processes are in them.
    pub(crate) fn population(&self) -> u32 {
        u32::try_from(self.processes().len()).unwrap_or(u32::MAX)
    }

    /// How many processes have the limits.
    pub(crate) fn limited(&self) -> u32 {
        self.inner.population().unwrap_or(0)
    }

    /// Kills every process in them; answers how many there were.
    pub(crate) fn kill(&self) -> u32 {
        let mut killed = 0;
        for number in self.processes() {
            let Some(pid) = Pid::from_raw(number) else { continue };
            let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { continue };
            // The number is fixed by the descriptor now. If it is still in a group, it is the process that was meant.
            if self.processes().contains(&number)
                && matches!(pidfd_send_signal(&process, Signal::KILL), Ok(()) | Err(Errno::SRCH))
            {
                killed += 1;
            }
        }
        killed
    }

    /// Kills until nobody is left, or for as long as the kernel may take; answers how many are left.
    pub(crate) fn empty(&self) -> u32 {
        let mut pause = Duration::from_micros(200);
        loop {
            let left = self.population();
            if left == 0 || pause > DYING {
                return left;
            }
            self.kill();
            std::thread::sleep(pause);
            pause *= 2;
        }
    }

    /// Removes them, which the kernel refuses while a process is in one. What is ending there is waited for.
    pub(crate) fn remove(&self) {
        for directory in self.of_the_runtime.iter() {
            let _ = remove_empty(directory, DYING);
        }
        let _ = self.inner.remove_within(DYING);
        let _ = self.outer.remove_within(DYING);
    }

    /// How many of their directories exist.
    pub(crate) fn remaining(&self) -> u32 {
        u32::try_from(self.all().filter(|directory| directory.exists()).count()).unwrap_or(u32::MAX)
    }
}

/// The directory of this process's own group on every hierarchy.
pub(crate) fn own_groups() -> Vec<PathBuf> {
    let read = |path| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
    own_groups_of(&read("/proc/self/mountinfo"), &read("/proc/self/cgroup"))
}

fn own_groups_of(mountinfo: &str, own: &str) -> Vec<PathBuf> {
    let own_of = |has: &dyn Fn(&str) -> bool| {
        own.lines().find_map(|line| {
            let mut fields = line.splitn(3, ':').skip(1);
            let (controllers, group) = (fields.next()?, fields.next()?);
            has(controllers).then(|| PathBuf::from(group))
        })
    };
    mountinfo
        .lines()
        .filter_map(|line| {
            let (place, kind) = line.split_once(" - ")?;
            let mut place = place.split(' ').skip(3);
            let (root, at) = (PathBuf::from(place.next()?), PathBuf::from(place.next()?));
            let mut kind = kind.split(' ');
            let group = match kind.next()? {
                "cgroup2" => own_of(&str::is_empty)?,
                "cgroup" => {
                    let options = kind.nth(1)?;
                    own_of(&|controllers| {
                        let mut names = controllers.split(',').filter(|name| !name.is_empty());
                        names.any(|name| options.split(',').any(|option| option == name))
                    })?
                }
                _ => return None,
            };
            group.strip_prefix(root).ok().map(|below| at.join(below))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_group_is_found_on_every_hierarchy() {
        let mountinfo = "\
40 32 0:34 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
41 32 0:35 /docker/x /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct
42 32 0:36 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
44 32 0:38 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd
43 32 0:37 / /home rw,relatime - ext4 /dev/vda rw";
        let own = "5:name=systemd:/s\n4:memory:/a/b\n3:cpu,cpuacct:/docker/x/y\n0::/c\n";
        let expected = [
            "/sys/fs/cgroup/memory/a/b",
            "/sys/fs/cgroup/cpu,cpuacct/y",
            "/sys/fs/cgroup/unified/c",
            "/sys/fs/cgroup/systemd/s",
        ];
        assert_eq!(own_groups_of(mountinfo, own), expected.map(PathBuf::from));
    }
}
