//! Whether a backend is admitted, on machines that lack one thing at a time that a sandbox rests on. Each is switched off
//! for one process of the program, beside a control for which something is switched off that nobody needs.

#![cfg(target_arch = "x86_64")]

use std::process::Command;

use ambit_sandbox_guest::raw::set_mute_filter;
use serde_json::Value;

use crate::by_hand::assert_fits;
use crate::rig::{Answered, Project, meets_secure_generation};

/// A call that fails with an error number, or nothing.
pub(crate) type Refused = (u32, u16);

pub(crate) const EPERM: u16 = 1;
const ENOSYS: u16 = 38;
const EOPNOTSUPP: u16 = 95;

/// Switches process accounting on. The program has no use for it.
pub(crate) const ACCT: u32 = 163;
const SOCKET: u32 = 41;
const MOUNT: u32 = 165;
const FSETXATTR: u32 = 190;
const UNSHARE: u32 = 272;
const SECCOMP: u32 = 317;
const FSOPEN: u32 = 430;
const PIDFD_OPEN: u32 = 434;
pub(crate) const CLONE3: u32 = 435;
const OPENAT2: u32 = 437;
const LANDLOCK_CREATE_RULESET: u32 = 444;

/// A filter that refuses one call and lets all others through.
fn filter((call, errno): Refused) -> Vec<u8> {
    let instruction = |code: u16, jump_true: u8, jump_false: u8, value: u32| {
        [&code.to_le_bytes()[..], &[jump_true, jump_false], &value.to_le_bytes()].concat()
    };
    [
        instruction(0x20, 0, 0, 0),
        instruction(0x15, 0, 1, call),
        instruction(0x06, 0, 0, 0x0005_0000 | u32::from(errno)),
        instruction(0x06, 0, 0, 0x7fff_0000),
    ]
    .concat()
}

/// Runs the program where a call is refused: by a filter that a thread of this process puts on itself first.
pub(crate) fn without(refused: Refused, mut command: Command) -> Answered {
    let run = move || {
        rustix::thread::set_no_new_privs(true).unwrap();
        set_mute_filter(&filter(refused)).unwrap();
        Answered::of(command.output().unwrap())
    };
    std::thread::spawn(run).join().unwrap()
}

/// The same command as the last of a script, which finds it in its arguments.
pub(crate) fn after(words: &[&str], script: &str, command: &Command) -> Command {
    let mut outer = Command::new(words[0]);
    outer.args(&words[1..]).args(["sh", "-c", script]).arg(command.get_program()).args(command.get_args());
    outer.env_clear().current_dir(command.get_current_dir().unwrap());
    for (name, value) in command.get_envs() {
        outer.env(name, value.unwrap_or_default());
    }
    outer
}

fn admit(project: &Project) -> Command {
    let profile = if meets_secure_generation() { "secure-generation-v1" } else { "laptop-v1" };
    project.command(["backend", "admit", "--profile", profile, "--json"])
}

fn lacks(told: &Value) -> Vec<&str> {
    told["lacks"].as_array().unwrap().iter().map(|lack| lack["feature"].as_str().unwrap()).collect()
}

#[track_caller]
fn assert_closed(answered: &Answered, feature: &str, mend: &str) {
    assert_eq!(answered.code, 9, "{answered:?}");
    assert_eq!(answered.code_of_failure(), "SANDBOX_UNAVAILABLE", "{answered:?}");
    let message = answered.failure()["message"].as_str().unwrap().to_owned();
    assert!(message.contains(&format!(": {feature} is missing")), "{feature}: {message}");
    assert!(message.contains(mend), "{mend}: {message}");
}

// proves E-I05
// break crates/adapters/sandbox-linux/src/machine.rs: `if refused.is_empty() { Ok(()) } else { Err(SandboxError::Unavailable(refused)) }` -> `drop(refused); Ok(())`
// break crates/adapters/sandbox-linux/src/missing.rs: `Step::Namespaces if failed.errno == Errno::NOSYS.raw_os_error() => {` -> `Step::Namespaces if failed.errno == 0 => {`
// break crates/adapters/sandbox-linux/src/missing.rs: `step if is_mounting(step) => Some(missing(` -> `step if is_mounting(step) && failed.errno == 0 => Some(missing(`
// break crates/adapters/sandbox-linux/src/missing.rs: `Step::Network => Some(missing(` -> `Step::Network if failed.errno == 0 => Some(missing(`
#[test]
fn a_call_that_is_refused_closes_allocation_and_is_named() {
    let project = Project::empty();
    let control = without((ACCT, EPERM), admit(&project)).well().json();
    assert_eq!(
        (&control["admitted"], &control["unmet"]),
        (&Value::from(true), &Value::from(Vec::<Value>::new()))
    );
    for (refused, feature, mend) in [
        ((CLONE3, ENOSYS), "the system call clone3", "let clone3 through"),
        ((SECCOMP, ENOSYS), "seccomp filters", "CONFIG_SECCOMP_FILTER"),
        ((SECCOMP, EPERM), "seccomp filters", "CONFIG_SECCOMP_FILTER"),
        ((FSOPEN, ENOSYS), "the mount API of Linux 5.12", "let fsopen"),
        ((PIDFD_OPEN, ENOSYS), "the system call pidfd_open", "let pidfd_open through"),
        ((OPENAT2, ENOSYS), "the system call openat2", "let openat2 through"),
        ((UNSHARE, EPERM), "control group namespaces", "let unshare make them"),
        ((MOUNT, EPERM), "mounts in a mount namespace of its own", "let mount, umount2, pivot_root"),
        ((SOCKET, EPERM), "a network namespace of its own", "let unshare, socket and ioctl through"),
    ] {
        assert_closed(&without(refused, admit(&project)), feature, mend);
    }
    let run = project.command(["sandbox", "run", "--image", "tools", "--json", "--", "cat"]);
    assert_closed(&without((CLONE3, ENOSYS), run), "the system call clone3", "let clone3 through");
}

// proves E-I04
// break crates/adapters/sandbox-linux/src/probes/lacks.rs: `lacks.extend(wall::lack());` -> `lacks.extend(wall::lack().filter(|_| false));`
// break crates/mechanisms/measurements/src/lib.rs: `let trust = if facts::is_filtered() { Trust::Anew } else { trust };` -> `let trust = if false { Trust::Anew } else { trust };`
#[test]
fn a_wall_that_is_not_the_only_one_is_told_as_a_lack() {
    let project = Project::empty();
    let control = without((ACCT, EPERM), admit(&project)).well().json();
    for (refused, feature) in [
        ((LANDLOCK_CREATE_RULESET, ENOSYS), "Landlock 2"),
        ((FSETXATTR, EOPNOTSUPP), "an overlay in a user namespace, with extended attributes on tmpfs"),
    ] {
        if lacks(&control).contains(&feature) {
            println!("skipped: LACKED_ANYWAY {feature}");
            continue;
        }
        let told = without(refused, admit(&project)).well().json();
        assert!(lacks(&told).contains(&feature), "{told}");
    }
}

const FORBID: &str = "echo 0 > /proc/sys/user/$SWITCH && exec \"$0\" \"$@\"";

// proves E-I05
// break crates/adapters/sandbox-linux/src/namespaces.rs: `(most.trim() == "0").then(` -> `(most.trim() == "-").then(`
#[test]
fn a_kind_of_namespace_that_is_forbidden_closes_allocation_and_is_named() {
    let project = Project::empty();
    let unshare = ["unshare", "--user", "--map-root-user"];
    let inside = |switch: &str| {
        let mut command = after(&unshare, FORBID, &admit(&project));
        command.env("SWITCH", switch);
        Answered::of(command.output().unwrap())
    };
    if Command::new("unshare").arg("--version").output().is_err() {
        println!("skipped: NO_UNSHARE unshare(1) is not installed");
        return;
    }
    // A switch of the same kind that nothing here needs.
    assert_eq!(inside("max_inotify_instances").well().json()["admitted"], true);
    for (switch, feature) in [
        ("max_user_namespaces", "user namespaces"),
        ("max_mnt_namespaces", "mount namespaces"),
        ("max_pid_namespaces", "PID namespaces"),
        ("max_net_namespaces", "network namespaces"),
        ("max_ipc_namespaces", "IPC namespaces"),
        ("max_uts_namespaces", "UTS namespaces"),
        ("max_cgroup_namespaces", "control group namespaces"),
    ] {
        assert_closed(&inside(switch), feature, &format!("set user.{switch} to at least 1000"));
    }
}

// proves E-I05 E-I10
// break crates/control-plane/sandboxes/src/admission.rs: `.filter(|(_, enforcer)| *enforcer == Enforcer::RlimitPerProcess)` -> `.filter(|_| false)`
#[test]
fn without_control_groups_the_strict_profile_is_closed_and_the_other_says_what_it_lacks() {
    let project = Project::empty();
    if !rustix::process::geteuid().is_root() || !meets_secure_generation() {
        println!("skipped: NO_GROUPS there are no control groups to take away here");
        return;
    }
    // The manifest with them is kept, and must not serve without them.
    let admit = |profile: &str| project.command(["backend", "admit", "--profile", profile, "--json"]);
    Answered::of(admit("secure-generation-v1").output().unwrap()).well();
    let unmount = "umount -R /sys/fs/cgroup && exec \"$0\" \"$@\"";
    let without =
        |command: &Command| Answered::of(after(&["unshare", "--mount"], unmount, command).output().unwrap());
    let refused = without(&admit("secure-generation-v1"));
    assert_eq!(refused.code, 9, "{refused:?}");
    let told = refused.json();
    assert_eq!(told["admitted"], false);
    assert_fits(&project, "BackendAdmission", &told);
    assert_eq!(told["unmet"][0]["requirement"], "aggregateLimits: enforced");
    assert!(told["unmet"][0]["mend"].as_str().unwrap().contains("control group that is delegated"), "{told}");
    let laptop = without(&admit("laptop-v1")).well().json();
    let groups =
        ["a control group for memory", "a control group for processes", "a control group for processor time"];
    assert!(groups.iter().all(|feature| lacks(&laptop).contains(feature)), "{laptop}");
    let run = project.command(["sandbox", "run", "--image", "tools", "--json", "--", "cat"]);
    let run = without(&run);
    assert_eq!((run.code, run.code_of_failure().as_str()), (9, "BACKEND_NOT_ADMITTED"), "{run:?}");
    assert!(run.out.is_empty() && run.err.contains("control group that is delegated"), "{run:?}");
}

/// A mount of the machine whose name is no text.
const NO_TEXT: &str =
    "at=$TMPDIR/$(printf 'm\\351dia') && mkdir \"$at\" && mount -t tmpfs tmpfs \"$at\" && exec \"$0\" \"$@\"";

// proves E-I04
// break crates/mechanisms/control-groups/src/layout.rs: `let read = |path| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();` -> `let read = |path| fs::read_to_string(path).unwrap_or_default();`
#[test]
fn a_mount_that_is_no_text_takes_nothing_away() {
    let project = Project::empty();
    if !rustix::process::geteuid().is_root() {
        println!("skipped: ROOT_ABSENT only root can make a mount");
        return;
    }
    let beside = |command: Command| {
        let mut command = after(&["unshare", "--mount"], NO_TEXT, &command);
        command.env("TMPDIR", tempfile::tempdir_in(project.dir.path()).unwrap().keep());
        Answered::of(command.output().unwrap())
    };
    assert_eq!(beside(admit(&project)).well().json()["admitted"], true);
    let run = project.command(["sandbox", "run", "--image", "tools", "--json", "--", "cat"]);
    assert_eq!(beside(run).well().json()["destruction"]["proven"], true);
}

// proves E-I03 E-I10 E-I11
// break crates/mechanisms/measurements/src/lib.rs: `format!("manifest-{}", environment.to_hex())` -> `format!("manifest-{}", environment.to_hex().len())`
// break crates/bins/ambit/src/backends.rs: `Trust::Anew => linux.measured_anew(),` -> `Trust::Anew => linux,`
#[test]
fn what_is_known_of_a_backend_is_measured_once_and_anew_when_asked() {
    let project = Project::empty();
    let at = |words: &[&str]| project.ambit(words).well().json();
    let first = at(&["backend", "inspect", "--json"]);
    for field in [
        "manifestVersion",
        "backendId",
        "adapterVersion",
        "isolation",
        "egress",
        "secretDelivery",
        "preview",
        "cancellation",
        "providerAudit",
        "environment",
        "measuredAt",
    ] {
        assert!(!first[field].is_null(), "{field}: {first}");
    }
    let again = at(&["backend", "inspect", "linux", "--json"]);
    let told = at(&["backend", "admit", "--profile", "laptop-v1", "--json"]);
    // Whoever is in another environment, as under somebody else's filter, measures for itself.
    without((ACCT, EPERM), admit(&project)).well();
    let once_more = at(&["backend", "inspect", "--json"]);
    for (later, when) in [(&again, "again"), (&told, "admitted"), (&once_more, "after another environment")] {
        let both = [&first, later].map(|it| (&it["environment"], &it["measuredAt"]));
        assert_eq!(both[0], both[1], "{when}");
    }
    assert_fits(&project, "CapabilityManifest", &first);
    let probed = at(&["backend", "probe", "--json"]);
    assert_ne!(probed["measuredAt"], first["measuredAt"]);
    let known = at(&["backend", "inspect", "--json"]);
    assert_eq!(known["measuredAt"], probed["measuredAt"], "it is what is known from then on");
    assert_fits(&project, "BackendProbes", &probed);
    let families: Vec<&str> = probed["families"]
        .as_array()
        .unwrap()
        .iter()
        .map(|family| family["family"].as_str().unwrap())
        .collect();
    assert_eq!(families, ["positive", "denied", "failure", "cancellation", "cleanup", "recovery"]);
    assert_eq!((&probed["failed"], &probed["familiesAbsent"]), (&Value::from(0), &Value::from(0)));
    let page = project.ambit(["backend", "probe"]).well();
    assert!(page.out.contains("\nrecovery: 2 passed\n") && page.out.contains("control: ok"), "{page:?}");
}
