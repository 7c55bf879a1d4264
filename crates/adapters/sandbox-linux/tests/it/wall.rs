//! The second wall: what Landlock refuses where nothing else would, and what is told of a kernel without it.

use std::collections::BTreeSet;

use ambit_ports::sandbox::CapabilityManifest;
use ambit_sandbox_guest::raw;

use crate::support::bench;

const EPERM: i32 = 1;
const EACCES: i32 = 13;

fn walls(manifest: &CapabilityManifest) -> BTreeSet<&str> {
    let probes = manifest.evidence_probes.iter().filter(|probe| probe.id.starts_with("denied.wall."));
    probes.filter(|probe| probe.passed).map(|probe| probe.id.as_str()).collect()
}

fn lacks_landlock(manifest: &CapabilityManifest) -> bool {
    manifest.lacks.iter().any(|lack| lack.feature.starts_with("Landlock"))
}

// proves E-J13 E-I04
// break crates/adapters/sandbox-linux/guest/src/roles/landlock.rs: `raw::landlock_restrict(self.ruleset.as_fd())` -> `Ok(())`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_second_wall_holds_is_measured() {
    let (bench, _directory) = bench();
    let manifest = bench.port.inspect_capabilities().await.unwrap();
    let version = raw::landlock_version().unwrap_or(0);
    let expected: BTreeSet<&str> =
        [(3, "denied.wall.truncation"), (5, "denied.wall.device-control"), (6, "denied.wall.signal")]
            .into_iter()
            .filter(|(since, _)| *since <= version)
            .map(|(_, id)| id)
            .collect();
    assert_eq!(walls(&manifest), expected, "{:?}", manifest.evidence_probes);
    assert_eq!(lacks_landlock(&manifest), version < 6, "{:?}", manifest.lacks);
    let staged = bench.staged("wall-there").await;
    for at in ["/dev/null", "/dev/zero", "/dev/urandom"] {
        if version >= 5 {
            bench.refused(&staged, &["control", at, "0x5401"], &[EACCES]).await;
        }
        bench.allowed(&staged, &["control", at, "0x5450"]).await;
    }
    if version >= 6 {
        for signal in ["0", "9", "19"] {
            bench.refused(&staged, &["call", "62", "1", signal], &[EPERM]).await;
        }
        bench.allowed(&staged, &["call", "62", "0", "0"]).await;
    }
    bench.allowed(&staged, &["rename", "/workspace/sub/file", "/workspace/file"]).await;
    bench.allowed(&staged, &["write", "/tmp/file", "x"]).await;
    bench.destroy(&staged).await;
}

// proves E-I05
// break crates/adapters/sandbox-linux/src/probes/lacks.rs: `lacks.extend(wall::lack());` -> `lacks.extend(None::<MissingFeature>);`
#[test]
fn a_kernel_without_landlock_is_told_and_serves() {
    /// `landlock_create_ruleset` is answered as by a kernel that does not have it; everything else is allowed.
    const WITHOUT: [[u8; 8]; 4] = [
        [0x20, 0, 0, 0, 0, 0, 0, 0],
        [0x15, 0, 0, 1, 0xbc, 1, 0, 0],
        [0x06, 0, 0, 0, 38, 0, 5, 0],
        [0x06, 0, 0, 0, 0, 0, 0xff, 0x7f],
    ];
    let confined = std::thread::spawn(|| {
        rustix::thread::set_no_new_privs(true).unwrap();
        drop(raw::set_filter(WITHOUT.as_flattened()).unwrap());
        assert_eq!(raw::landlock_version(), None);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (bench, _directory) = bench();
            let manifest = bench.port.inspect_capabilities().await.unwrap();
            assert!(lacks_landlock(&manifest), "{:?}", manifest.lacks);
            assert_eq!(walls(&manifest), BTreeSet::new());
            assert!(manifest.evidence_probes.iter().all(|probe| probe.passed), "{manifest:?}");
            let staged = bench.staged("wall-absent").await;
            bench.allowed(&staged, &["control", "/dev/null", "0x5450"]).await;
            bench.allowed(&staged, &["call", "62", "1", "0"]).await;
            bench.destroy(&staged).await;
        });
    });
    confined.join().unwrap();
}
