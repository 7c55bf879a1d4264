//! What every measurement on this machine depends on, whichever backend it is of.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use ambit_ids::Digest;
use rustix::system::uname;

/// As much of a file as is looked at.
const FACT_BYTES: u64 = 64 << 10;

/// Switches of the kernel that say what a sandbox can be made of, and what holds inside. The first is another one at
/// every boot: what else was set by then is not looked at.
const SWITCHES: [&str; 18] = [
    "kernel/random/boot_id",
    "kernel/unprivileged_userns_clone",
    "kernel/apparmor_restrict_unprivileged_userns",
    "kernel/apparmor_restrict_unprivileged_unconfined",
    "kernel/unprivileged_bpf_disabled",
    "kernel/io_uring_disabled",
    "kernel/yama/ptrace_scope",
    "kernel/seccomp/actions_avail",
    "kernel/core_pattern",
    "user/max_user_namespaces",
    "user/max_mnt_namespaces",
    "user/max_pid_namespaces",
    "user/max_net_namespaces",
    "user/max_ipc_namespaces",
    "user/max_uts_namespaces",
    "user/max_cgroup_namespaces",
    "vm/overcommit_memory",
    "vm/unprivileged_userfaultfd",
];

/// What confines this process itself, and with it every sandbox that it makes.
const OWN: [&str; 6] =
    ["uid_map", "gid_map", "limits", "attr/current", "attr/apparmor/current", "oom_score_adj"];

const NAMESPACES: [&str; 7] = ["user", "mnt", "pid", "net", "ipc", "uts", "cgroup"];

/// Lines of `/proc/self/status` that are the same for as long as nothing changes.
const STATUS: [&str; 11] = [
    "Uid",
    "Gid",
    "Groups",
    "CapInh",
    "CapPrm",
    "CapEff",
    "CapBnd",
    "CapAmb",
    "NoNewPrivs",
    "Seccomp",
    "Seccomp_filters",
];

/// Everything that a measurement depends on, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts(Vec<(String, String)>);

impl Facts {
    /// What is so on this machine and for this process, whichever backend is measured: the kernel and its switches, the
    /// boot, its security modules, the mounts of control groups, what confines this process, and this very program.
    #[must_use]
    pub fn here() -> Self {
        let name = uname();
        let mut facts = Self::default()
            .and("release", &name.release().to_string_lossy())
            .and("version", &name.version().to_string_lossy())
            .and("machine", &name.machine().to_string_lossy())
            .and("modules", &text("/sys/kernel/security/lsm"))
            .and("cgroups", &control_group_mounts(&text("/proc/self/mountinfo")))
            .and("program", &file("/proc/self/exe"));
        for switch in SWITCHES {
            facts = facts.and(switch, &text(Path::new("/proc/sys").join(switch)));
        }
        for own in OWN {
            facts = facts.and(own, &text(Path::new("/proc/self").join(own)));
        }
        for namespace in NAMESPACES {
            let link = fs::read_link(Path::new("/proc/self/ns").join(namespace)).unwrap_or_default();
            facts = facts.and(namespace, &link.to_string_lossy());
        }
        let status = text("/proc/self/status");
        let lines =
            status.lines().filter(|line| STATUS.iter().any(|name| line.split(':').next() == Some(name)));
        facts.and("status", &lines.collect::<Vec<_>>().join("\n"))
    }

    /// The same, and one more.
    #[must_use]
    pub fn and(mut self, name: &str, value: &str) -> Self {
        self.0.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same, and which file lies at a path: another one, or one that was written to, is another fact.
    #[must_use]
    pub fn and_file(self, path: &Path) -> Self {
        let told = file(path);
        self.and(&path.to_string_lossy(), &told)
    }

    /// The digest of all of them, in their order.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let mut bytes = Vec::new();
        for part in self.0.iter().flat_map(|(name, value)| [name, value]) {
            bytes.extend((part.len() as u64).to_le_bytes());
            bytes.extend(part.as_bytes());
        }
        Digest::of(&bytes)
    }
}

/// Whether a system-call filter confines this process.
pub(crate) fn is_filtered() -> bool {
    text("/proc/self/status")
        .lines()
        .any(|line| line.strip_prefix("Seccomp:").is_some_and(|mode| mode.trim() != "0"))
}

/// The start of a file, as text; nothing where it cannot be read.
fn text(path: impl AsRef<Path>) -> String {
    let mut bytes = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(FACT_BYTES).read_to_end(&mut bytes));
    if read.is_ok() { String::from_utf8_lossy(&bytes).into_owned() } else { String::new() }
}

/// Which file it is: its place and size, and when it was last written to or replaced.
fn file(path: impl AsRef<Path>) -> String {
    let Ok(it) = fs::metadata(path) else { return String::new() };
    format!(
        "{} {} {} {}.{} {}.{}",
        it.dev(),
        it.ino(),
        it.size(),
        it.mtime(),
        it.mtime_nsec(),
        it.ctime(),
        it.ctime_nsec()
    )
}

/// Where hierarchies of control groups are mounted, and with which controllers.
fn control_group_mounts(mounts: &str) -> String {
    let of_groups = mounts.lines().filter(|line| line.contains(" - cgroup"));
    of_groups.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_the_same_twice_and_another_one_makes_another_digest() {
        assert_eq!(Facts::here(), Facts::here());
        let digest = Facts::here().digest();
        assert_ne!(Facts::here().and("runtime", "1.2").digest(), digest);
        assert_ne!(
            Facts::default().and("a", "bc").and("d", "").digest(),
            Facts::default().and("ab", "c").and("d", "").digest()
        );
        let file = tempfile::NamedTempFile::new().unwrap();
        let before = Facts::default().and_file(file.path());
        std::fs::write(file.path(), "other").unwrap();
        assert_ne!(Facts::default().and_file(file.path()), before);
        let known = Facts::here();
        let is_known = |name: &str| known.0.iter().any(|(known, value)| known == name && !value.is_empty());
        assert!(
            ["release", "kernel/random/boot_id", "user", "status", "program", "limits"]
                .iter()
                .all(|it| is_known(it))
        );
    }
}
