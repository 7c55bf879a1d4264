use std::os::unix::fs::symlink;
use std::path::Path;

use ambit_ports::sandbox::{
    Cancellation, Egress, Enforcer, Isolation, LimitEnforcement, ManifestVersion, Preview, Probe,
    ProbeFamily, ProviderAudit, SecretDelivery,
};
use tempfile::TempDir;

use super::*;

const NOW: UnixMs = UnixMs::new(1_800_000_000_000);

fn here() -> Digest {
    Digest::of(b"as it is")
}

fn manifest() -> CapabilityManifest {
    let by = Enforcer::CgroupV2;
    CapabilityManifest {
        manifest_version: ManifestVersion::V1,
        backend_id: BackendId::embedded(),
        adapter_version: "1".to_owned(),
        isolation: Isolation::DedicatedSandboxPerRun,
        egress: Egress::DenyAll,
        secret_delivery: SecretDelivery::NoneBound,
        preview: Preview::Disabled,
        cancellation: Cancellation::ProcessStopThenDestroy,
        provider_audit: ProviderAudit::NotReliedUpon,
        limits: LimitEnforcement { memory: by, processes: by, cpu: by },
        evidence_probes: vec![Probe {
            id: "positive.execute".to_owned(),
            family: ProbeFamily::Positive,
            passed: true,
            observed: "ok".to_owned(),
        }],
        lacks: Vec::new(),
        advisories: Vec::new(),
        environment: here(),
        measured_at: NOW,
    }
}

struct Shelf(TempDir);

impl Shelf {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn with(&self, trust: Trust) -> Measurements {
        self.of(BackendId::embedded(), trust)
    }

    fn of(&self, backend: BackendId, trust: Trust) -> Measurements {
        // Tests may run under a filter.
        Measurements { directory: self.0.path().join("measured"), backend, trust }
    }

    fn found(&self) -> Option<CapabilityManifest> {
        self.with(Trust::Kept).find(here(), NOW)
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("measured").join(file_of(here()))
    }
}

// proves E-I04
// break crates/mechanisms/measurements/src/lib.rs: `manifest.backend_id == self.backend && manifest.environment == environment` -> `manifest.backend_id == self.backend`
#[test]
fn what_was_kept_holds_only_where_and_while_everything_is_as_it_was() {
    let shelf = Shelf::new();
    assert_eq!(shelf.found(), None);
    shelf.with(Trust::Kept).keep(&manifest()).unwrap();
    assert_eq!(shelf.found(), Some(manifest()));
    let kept = shelf.with(Trust::Kept);
    assert_eq!(kept.find(Digest::of(b"another machine"), NOW), None);
    assert!(kept.find(here(), NOW.saturating_add(AGE_MS)).is_some());
    assert_eq!(kept.find(here(), NOW.saturating_add(AGE_MS).saturating_add(DurationMs::new(1))), None);
    assert_eq!(kept.find(here(), UnixMs::new(NOW.get() - 1)), None, "it was measured in the future");
    assert_eq!(shelf.with(Trust::Anew).find(here(), NOW), None);
    let other = BackendId::new("oci:crun").unwrap();
    assert_eq!(shelf.of(other, Trust::Kept).find(here(), NOW), None);
    std::fs::copy(shelf.file(), shelf.file().with_file_name(file_of(Digest::of(b"another machine"))))
        .unwrap();
    assert_eq!(kept.find(Digest::of(b"another machine"), NOW), None, "it says itself where it was measured");
    kept.forget(here()).unwrap();
    assert_eq!(shelf.found(), None);
}

// proves E-I04
// break crates/mechanisms/measurements/src/lib.rs: `format!("manifest-{}", environment.to_hex())` -> `format!("manifest-{}", environment.to_hex().len())`
#[test]
fn what_is_measured_or_fails_in_one_environment_says_nothing_about_another() {
    let shelf = Shelf::new();
    let kept = shelf.with(Trust::Kept);
    kept.keep(&manifest()).unwrap();
    let elsewhere = Digest::of(b"without control groups");
    let other = CapabilityManifest { environment: elsewhere, ..manifest() };
    kept.keep(&other).unwrap();
    assert_eq!((shelf.found(), kept.find(elsewhere, NOW)), (Some(manifest()), Some(other.clone())));
    let mut failed = other;
    failed.evidence_probes[0].passed = false;
    kept.keep(&failed).unwrap();
    assert_eq!((shelf.found(), kept.find(elsewhere, NOW)), (Some(manifest()), None));
}

#[test]
fn the_newest_measurements_are_kept_and_the_turn_stays() {
    let shelf = Shelf::new();
    let kept = shelf.with(Trust::Kept);
    let turn = kept.turn().unwrap();
    let ages = (0..2 * KEPT as u64).rev();
    for age in ages.clone() {
        let environment = Digest::of(&age.to_le_bytes());
        kept.keep(&CapabilityManifest { environment, ..manifest() }).unwrap();
        let made = SystemTime::now() - Duration::from_secs(age);
        let file = File::open(shelf.file().with_file_name(file_of(environment))).unwrap();
        file.set_modified(made).unwrap();
    }
    let found = ages.filter(|age| kept.find(Digest::of(&age.to_le_bytes()), NOW).is_some());
    assert_eq!(found.collect::<Vec<_>>(), (0..KEPT as u64).rev().collect::<Vec<_>>());
    drop(turn);
    assert_eq!(std::fs::read_dir(shelf.0.path().join("measured")).unwrap().count(), KEPT + 1);
}

// proves E-I05
// break crates/mechanisms/measurements/src/lib.rs: `if !is_sound(manifest) {` -> `if false {`
#[test]
fn a_measurement_that_failed_is_kept_nowhere_and_ends_the_one_before_it() {
    let shelf = Shelf::new();
    let kept = shelf.with(Trust::Kept);
    kept.keep(&manifest()).unwrap();
    let mut failed = manifest();
    failed.evidence_probes[0].passed = false;
    kept.keep(&failed).unwrap();
    assert!(!shelf.file().exists());
    kept.keep(&manifest()).unwrap();
    assert!(shelf.found().is_some());
}

// proves E-I04
// break crates/mechanisms/measurements/src/lib.rs: `metadata.mode() & 0o077 == 0` -> `metadata.mode() != 0`
#[test]
fn what_somebody_else_could_have_written_is_not_believed() {
    let alter = |change: &dyn Fn(&Shelf)| {
        let shelf = Shelf::new();
        shelf.with(Trust::Kept).keep(&manifest()).unwrap();
        assert!(shelf.found().is_some());
        change(&shelf);
        assert_eq!(shelf.found(), None);
    };
    let mode = |path: &Path, mode| std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    alter(&|shelf| mode(&shelf.file(), 0o620));
    alter(&|shelf| mode(&shelf.file(), 0o604));
    alter(&|shelf| mode(shelf.file().parent().unwrap(), 0o770));
    alter(&|shelf| std::fs::hard_link(shelf.file(), shelf.0.path().join("second")).unwrap());
    alter(&|shelf| {
        let moved = shelf.0.path().join("moved");
        std::fs::rename(shelf.file(), &moved).unwrap();
        symlink(moved, shelf.file()).unwrap();
    });
    alter(&|shelf| std::fs::write(shelf.file(), vec![b' '; MANIFEST_BYTES + 1]).unwrap());
    alter(&|shelf| {
        // The same manifest in another spelling, and one with a word that nobody knows.
        let text = String::from_utf8(std::fs::read(shelf.file()).unwrap()).unwrap();
        std::fs::write(shelf.file(), text.replacen(':', ": ", 1)).unwrap();
        assert_eq!(shelf.found(), None);
        std::fs::write(shelf.file(), text.replacen('{', "{\"a\":1,", 1)).unwrap();
    });
    if rustix::process::geteuid().is_root() {
        alter(&|shelf| std::os::unix::fs::chown(shelf.file(), Some(65534), None).unwrap());
    }
}

#[test]
fn a_link_in_the_place_of_a_new_file_is_not_followed() {
    let shelf = Shelf::new();
    let kept = shelf.with(Trust::Kept);
    kept.keep(&manifest()).unwrap();
    let outside = shelf.0.path().join("outside");
    std::fs::write(&outside, "mine").unwrap();
    symlink(&outside, shelf.file().with_file_name(format!("fresh-{}", std::process::id()))).unwrap();
    assert!(kept.keep(&manifest()).is_err());
    assert_eq!(std::fs::read(&outside).unwrap(), b"mine");
}

#[test]
fn one_process_measures_at_a_time() {
    let shelf = Shelf::new();
    let turn = shelf.with(Trust::Kept).turn().unwrap().unwrap();
    assert!(shelf.with(Trust::Kept).turn().unwrap().is_none());
    let again = File::open(shelf.0.path().join("measured/turn")).unwrap();
    assert!(flock(&again, FlockOperation::NonBlockingLockExclusive).is_err());
    drop(turn);
    assert!(flock(&again, FlockOperation::NonBlockingLockExclusive).is_ok());
}

#[tokio::test]
async fn another_process_that_measures_is_waited_for_and_not_for_ever() {
    let shelf = Shelf::new();
    let other = shelf.with(Trust::Kept).turn().unwrap();
    let began = Instant::now();
    let patience = 3 * LOOK_AGAIN;
    assert!(shelf.with(Trust::Kept).turn_within(patience).await.is_none());
    assert!(began.elapsed() >= patience);
    let waiting = tokio::spawn(async move { shelf.with(Trust::Kept).turn_in_time().await.is_some() });
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished(), "it is the other's turn");
    drop(other);
    assert!(waiting.await.unwrap());
}
