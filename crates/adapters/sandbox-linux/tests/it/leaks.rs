//! What is left on the machine is found by looking at it, and goes only where whoever made it is dead.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use ambit_conformance::sandbox::Bench;
use ambit_ownership::ProcessIdentity;
use ambit_ports::sandbox::{Found, LeakScan, Lives, Maker, SandboxError, Surface};
use ambit_sandbox_linux::LinuxRemains;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

use crate::support::{adapter, bench, image_digest, volumes};

/// Another process's view of the same state.
fn scanner(directory: &Path) -> impl LeakScan {
    adapter(directory.join("state"), directory.join("image"))
}

async fn of_lease(scan: &impl LeakScan, bench: &Bench, run: &str) -> Vec<Found> {
    let lease = ambit_ports::sandbox::SandboxLease::id_of(&Bench::scope(), &bench.spec(run).run);
    let survey = scan.survey().await.unwrap();
    survey.found.into_iter().filter(|found| found.lease.as_ref() == Some(&lease)).collect()
}

/// Something that cannot be removed, for as long as this lives.
struct Held(PathBuf);

impl Held {
    fn below(home: &Path) -> Self {
        let place = home.join("held");
        std::fs::create_dir(&place).unwrap();
        if rustix::process::geteuid().is_root() {
            mount("none", &place, "tmpfs", MountFlags::empty(), None).unwrap();
        } else {
            std::fs::write(place.join("file"), "").unwrap();
            std::fs::set_permissions(&place, std::fs::Permissions::from_mode(0o500)).unwrap();
        }
        Self(place)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let _ = unmount(&self.0, UnmountFlags::DETACH);
        let _ = std::fs::set_permissions(&self.0, std::fs::Permissions::from_mode(0o700));
    }
}

// proves E-T40
// break crates/adapters/sandbox-linux/src/scan.rs: `LeaseId::new(below.split('/').next()?).ok()` -> `LeaseId::new(below).ok().filter(|_| false)`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_live_sandbox_is_found_on_every_surface_and_nothing_of_it_can_be_taken() {
    let (bench, directory) = bench();
    let staged = bench.staged("leaks-live").await;
    let scan = scanner(directory.path());
    let survey = scan.survey().await.unwrap();
    assert!(survey.looked_at.len() >= 4 && !survey.not_looked_at.is_empty());
    // The kernel names the lease of a process, whether or not there is a record of it.
    std::fs::rename(
        directory.path().join("state/leases").join(staged.lease.lease.as_str()).join("record"),
        directory.path().join("record"),
    )
    .unwrap();
    let found = of_lease(&scan, &bench, "leaks-live").await;
    let surfaces: Vec<Surface> = found.iter().map(|found| found.surface).collect();
    assert!(surfaces.contains(&Surface::Processes) && surfaces.contains(&Surface::Leases), "{found:?}");
    for thing in &found {
        assert_eq!(thing.maker, Maker::Lives, "{thing:?}");
        assert!(scan.remove(thing).await.is_err(), "{thing:?}");
    }
    std::fs::rename(
        directory.path().join("record"),
        directory.path().join("state/leases").join(staged.lease.lease.as_str()).join("record"),
    )
    .unwrap();
    bench.allowed(&staged, &["loopback"]).await;
    bench.destroy(&staged).await;
    assert_eq!(of_lease(&scan, &bench, "leaks-live").await, []);
}

/// Something in the way of a removal: the removal is not proven, the run gets no new sandbox, and what is left is found
/// until it is gone.
// proves E-P04 E-T42 E-T45
// break crates/adapters/sandbox-linux/src/retire.rs: `if receipt.is_proof() { Ok(receipt) } else { Err(unproven(&lease.lease, receipt.remaining)) }` -> `Ok(receipt)`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_removed_is_told_until_it_is_gone() {
    let (bench, directory) = bench();
    let staged = bench.staged("leaks-held").await;
    let scan = scanner(directory.path());
    let held = Held::below(&directory.path().join("state/leases").join(staged.lease.lease.as_str()));
    for _ in 0..2 {
        let unproven = bench.port.destroy(&staged.lease, Lives::Named).await.unwrap_err();
        assert_eq!(unproven.code(), "DESTRUCTION_UNPROVEN");
        let SandboxError::DestructionUnproven { remaining, .. } = unproven else { panic!("{unproven}") };
        assert!(remaining.iter().any(|(surface, left)| surface == "files" && *left > 0), "{remaining:?}");
        assert!(remaining.iter().any(|(surface, left)| surface == "processes" && *left == 0));
        let found = of_lease(&scan, &bench, "leaks-held").await;
        assert!(found.iter().any(|found| found.surface == Surface::Leases), "{found:?}");
        assert!(found.iter().all(|found| found.surface != Surface::Processes), "{found:?}");
        let mounted = found.iter().any(|found| found.surface == Surface::Mounts);
        assert_eq!(mounted, rustix::process::geteuid().is_root(), "{found:?}");
    }
    let refused = bench.port.allocate(bench.spec("leaks-held")).await.unwrap_err();
    assert_eq!(refused.code(), "DESTRUCTION_UNPROVEN", "no second sandbox beside one that is not gone");
    drop(held);
    bench.destroy(&staged).await;
    assert_eq!(of_lease(&scan, &bench, "leaks-held").await, []);
    let next = bench.staged("leaks-held").await;
    bench.destroy(&next).await;
}

/// A home below a directory that others can pass and not list.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_directory_that_only_its_owner_can_list_is_no_obstacle() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("image")).unwrap();
    std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o711)).unwrap();
    let port = adapter(directory.path().join("state"), directory.path().join("image"));
    let prober = bytes::Bytes::from_static(ambit_sandbox_linux::PROBER);
    let bench = Bench::new(std::sync::Arc::new(port), image_digest(), volumes(), prober);
    let staged = bench.staged("leaks-parent").await;
    bench.allowed(&staged, &["loopback"]).await;
    bench.destroy(&staged).await;
}

/// The kernel's table of mounts has neither links nor spaces in its names.
// proves E-P04
// break crates/mechanisms/ownership/src/mounts.rs: `bytes.push(code.unwrap_or(*first));` -> `bytes.push(*first);`
// break crates/adapters/sandbox-linux/src/backend.rs: `settings.root = settings.root.canonicalize().map_err(SandboxError::during(what))?;` -> `settings.root.canonicalize().map_err(SandboxError::during(what))?;`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mount_is_found_behind_a_link_and_in_a_name_with_a_space() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: ROOT_ABSENT only root can make a mount");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let [real, link] = ["real place", "link"].map(|name| directory.path().join(name));
    std::fs::create_dir_all(real.join("image")).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let port = std::sync::Arc::new(adapter(link.join("state"), link.join("image")));
    let prober = bytes::Bytes::from_static(ambit_sandbox_linux::PROBER);
    let bench = Bench::new(port.clone(), image_digest(), volumes(), prober);
    let staged = bench.staged("leaks-named").await;
    bench.allowed(&staged, &["loopback"]).await;
    let held = Held::below(&real.join("state/leases").join(staged.lease.lease.as_str()));
    let unproven = bench.port.destroy(&staged.lease, Lives::Named).await.unwrap_err();
    let SandboxError::DestructionUnproven { remaining, .. } = unproven else { panic!("{unproven}") };
    assert!(remaining.contains(&("mounts".to_owned(), 1)), "{remaining:?}");
    let found = of_lease(port.as_ref(), &bench, "leaks-named").await;
    assert!(found.iter().any(|found| found.surface == Surface::Mounts), "{found:?}");
    drop(held);
    bench.destroy(&staged).await;
}

/// Two containers may have one home and the same process numbers: what is not proven to be a dead process's own stays.
#[test]
fn slots_and_trees_of_another_process_namespace_are_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let (pid, mark) = (std::process::id(), ProcessIdentity::own_mark());
    let [namespace, start, boot] = mark[1..].split('+').collect::<Vec<_>>().try_into().unwrap();
    let names = [
        (format!("{pid}-0-1{mark}"), true),
        (format!("{pid}-0-2+{namespace}+{start}1+{boot}"), false),
        (format!("{}-0-3+{namespace}1+{start}+{boot}", i32::MAX), true),
        (format!("{}-0-4", i32::MAX), false),
    ];
    let places: Vec<(PathBuf, bool)> = ["slots", "trees"]
        .iter()
        .flat_map(|kind| {
            names
                .each_ref()
                .map(|(name, stays)| (directory.path().join("state").join(kind).join(name), *stays))
        })
        .collect();
    for (place, _) in &places {
        std::fs::create_dir_all(place.join("tree")).unwrap();
    }
    let _backend = adapter(directory.path().join("state"), directory.path().join("image"));
    for (place, stays) in places {
        assert_eq!(place.exists(), stays, "{}", place.display());
    }
}

/// What is told of a group below another session's is what its name tells.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn groups_below_other_sessions_are_found() {
    let Some(session) = OtherSession::make() else {
        println!("skipped: NO_GROUPS this user can make none beside its own");
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let scan = LinuxRemains::below(directory.path().join("absent")).unwrap();
    let found = async |everywhere: bool| {
        let survey = if everywhere { scan.survey_everywhere().await } else { scan.survey().await };
        let survey = survey.unwrap();
        let told = |name: &str| {
            let place = session.0.join(name).display().to_string();
            survey.found.iter().find(|found| found.reference == place).map(|found| found.maker)
        };
        [told(&session.name("")), told(&session.name("1"))]
    };
    assert_eq!(found(false).await, [None, None]);
    assert_eq!(found(true).await, [Some(Maker::Lives), Some(Maker::Unknown)]);
}

/// A group that is nobody's, with two of this program in it: one of this process, one of another namespace.
struct OtherSession(PathBuf);

impl OtherSession {
    fn make() -> Option<Self> {
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
        let tops = mounts.lines().filter(|line| line.contains(" - cgroup"));
        let mut places = tops.filter_map(|line| Some(Path::new(line.split(' ').nth(4)?).to_owned()));
        let made = places.find_map(|top| {
            let session = top.join(format!("session-of-test-{}", std::process::id()));
            std::fs::create_dir(&session).ok().map(|()| Self(session))
        })?;
        for also in ["", "1"] {
            std::fs::create_dir(made.0.join(made.name(also))).ok()?;
        }
        Some(made)
    }

    fn name(&self, also: &str) -> String {
        let (namespace, rest) = ProcessIdentity::own_mark()[1..].split_once('+').unwrap();
        format!("ambit-{}-77+{namespace}{also}+{rest}", std::process::id())
    }
}

impl Drop for OtherSession {
    fn drop(&mut self) {
        for also in ["", "1"] {
            let _ = std::fs::remove_dir(self.0.join(self.name(also)));
        }
        let _ = std::fs::remove_dir(&self.0);
    }
}
