//! What the containers of a backend are called, and its control groups after them: whose they are stands in the name.

use ambit_control_groups::Layout;
use ambit_ownership::ProcessIdentity;

use crate::runtime::RuntimeName;

/// The part of every name that says which backend made it: no two runtimes have the same, and none is the start of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Label(String);

impl Label {
    pub(crate) fn of(runtime: &RuntimeName) -> Self {
        Self(format!("oci.{runtime}"))
    }

    /// The name of a new container of this process. It is that of a group of this program as well.
    pub(crate) fn container(&self, unique: &str) -> String {
        format!("ambit-{}-{}.{unique}{}", std::process::id(), self.0, ProcessIdentity::own_mark())
    }

    /// The container that a group was made for, where it is one of this backend's, of the group's name.
    pub(crate) fn container_of(&self, group: &str) -> Option<String> {
        let is_own = Layout::backend_of(group) == Some(&self.0);
        let container = ["-outer", "-inner"].iter().find_map(|part| group.strip_suffix(part));
        is_own.then(|| format!("ambit-{}", container.unwrap_or(group)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_of_one_backend() {
        let [crun, kata, kata_fc] = ["crun", "kata", "kata-fc"].map(|name| Label::of(&name.parse().unwrap()));
        let container = crun.container("01j-7");
        let name = Layout::name_of(&container).unwrap();
        for group in [name.to_owned(), format!("{name}-outer"), format!("{name}-inner")] {
            assert_eq!(crun.container_of(&group), Some(container.clone()), "{group}");
            assert_eq!(kata.container_of(&group), None, "{group}");
        }
        let other = kata_fc.container("1");
        assert_eq!(kata.container_of(Layout::name_of(&other).unwrap()), None);
        for group in ["12-3", "12-trial-0", "control-plane", "12"] {
            assert_eq!(crun.container_of(group), None, "{group}");
        }
    }
}
