//! What the names of groups tell.

use std::fs;

use crate::layout::{Layout, PREFIX};

impl Layout {
    /// The name under which a group was made, of its directory's name; `None` where it is no group of this program.
    #[must_use]
    pub fn name_of(directory: &str) -> Option<&str> {
        directory.strip_prefix(PREFIX)
    }

    /// The backend that a group was made for, of its name `PID-BACKEND.REST`; `None` where it names none. A backend counts
    /// only those groups as its own that name it, or that name none.
    #[must_use]
    pub fn backend_of(name: &str) -> Option<&str> {
        name.split_once('-')?.1.rsplit_once('.').map(|(backend, _)| backend)
    }

    /// The names of the groups of this program that a process is in; none where it has ended.
    #[must_use]
    pub fn names_around(pid: i32) -> Vec<String> {
        let groups = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
        let names = groups.lines().flat_map(|line| line.split('/')).filter_map(Self::name_of);
        names.map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_may_name_its_backend() {
        let of = |directory| Layout::name_of(directory).and_then(Layout::backend_of);
        assert_eq!(of("ambit-12-oci.crun.01j-7-outer"), Some("oci.crun"));
        for none in ["ambit-12-3", "ambit-12", "ambit-control-plane", "other-12-oci.crun.1"] {
            assert_eq!(of(none), None, "{none}");
        }
    }
}
