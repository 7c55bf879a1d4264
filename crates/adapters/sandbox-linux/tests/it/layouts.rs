//! A machine without any control group: what is then enforced, by what, and what the manifest says of it.

use std::process::Command;

use ambit_gates::{Ending, ResourceLimit};
use ambit_ids::{ByteCount, DurationMs};
use ambit_ports::sandbox::Enforcer;

use crate::support::bench;

const NONE: &str = "umount -R -l /sys/fs/cgroup 2> /dev/null; ! grep -q ' - cgroup' /proc/self/mountinfo && exec \"$0\" \"$@\"";

// proves E-I05 E-I09
// break crates/mechanisms/control-groups/src/layout.rs: `None => Enforcer::RlimitPerProcess,` -> `None => Enforcer::CgroupV2,`
#[test]
fn without_control_groups_the_manifest_says_so() {
    let mut unshare = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        unshare.args(["--user", "--map-root-user"]);
    }
    unshare
        .args(["--mount", "--propagation", "private", "sh", "-c", NONE])
        .arg(std::env::current_exe().unwrap());
    unshare.args(["layouts::limits_of_single_processes_are_all_there_is", "--exact", "--ignored"]);
    let Ok(output) = unshare.output() else {
        println!("skipped: NO_UNSHARE unshare(1) is not installed");
        return;
    };
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("1 passed"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "only without control groups: without_control_groups_the_manifest_says_so starts it so"]
async fn limits_of_single_processes_are_all_there_is() {
    let (bench, _directory) = bench();
    let manifest = bench.port.inspect_capabilities().await.unwrap();
    let limits = manifest.limits;
    assert_eq!([limits.memory, limits.processes, limits.cpu], [Enforcer::RlimitPerProcess; 3]);
    let lacks: Vec<&str> = manifest.lacks.iter().map(|lack| lack.feature.as_str()).collect();
    for of in ["memory", "processes", "processor time"] {
        let feature = format!("a control group for {of}");
        assert!(lacks.contains(&feature.as_str()), "{lacks:?}");
    }
    let failed: Vec<_> = manifest.evidence_probes.iter().filter(|probe| !probe.passed).collect();
    assert!(failed.is_empty(), "{failed:?}");

    let staged = bench.staged("layouts-none").await;
    let mut command = bench.command(&staged, &["hold", "private", "96"]);
    (command.limits.memory_bytes, command.limits.wall_ms) =
        (ByteCount::new(32 << 20), DurationMs::new(10_000));
    let seen = bench.execute(&staged, command).await;
    // The kernel refuses the process more of the kind that it counts, or the guest ends it.
    let refused = seen.stdout.head.starts_with("errno 12");
    let ended = seen.ending == Ending::LimitReached { limit: ResourceLimit::Memory };
    assert!(refused || ended, "{seen:?}");
    let mut command = bench.command(&staged, &["fork", "40"]);
    command.limits.processes = 6;
    let seen = bench.execute(&staged, command).await;
    let made: u32 = seen.stdout.head.trim().strip_prefix("ok ").unwrap().parse().unwrap();
    assert!(made < 8, "{seen:?}");
    bench.destroy(&staged).await;
}
