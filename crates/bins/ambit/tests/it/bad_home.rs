//! Homes that are full, read-only, damaged, of another version, or in the hands of two processes.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rusqlite::Connection;

use crate::elsewhere::Elsewhere;
use crate::observed::{assert_stopped, count};
use crate::rig::{Answered, diligent};

/// A memory file system of a fixed size over a directory, for as long as this lives.
struct Volume(PathBuf);

impl Volume {
    /// Only root can mount one.
    fn over(directory: &Path, size: &str) -> Option<Self> {
        fs::create_dir(directory).unwrap();
        let options = format!("size={size},mode=0700");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "tmpfs"])
            .arg(directory)
            .stderr(Stdio::null())
            .status();
        mounted.is_ok_and(|status| status.success()).then(|| Self(directory.to_owned()))
    }

    fn remount(&self, mode: &str) {
        let options = format!("remount,{mode}");
        assert!(Command::new("mount").args(["-o", &options]).arg(&self.0).status().unwrap().success());
    }

    /// Leaves so many KiB free.
    fn fill(&self, leave_kib: u64) -> PathBuf {
        let filler = self.0.join("filler");
        let mut file = File::create(&filler).unwrap();
        let block = [7; 4096];
        while file.write_all(&block).is_ok() {}
        let length = file.metadata().unwrap().len();
        file.set_len(length.saturating_sub(leave_kib * 1024)).unwrap();
        filler
    }
}

impl Drop for Volume {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

impl Elsewhere {
    /// The run ends as it should, and everything in the home is proved.
    #[track_caller]
    fn assert_works(&self, run: &str) {
        let ended = self.start(run, &diligent("finish")).well();
        assert!(ended.out.contains("is preview-ready"), "{}", ended.out);
        self.ambit(["trace", "verify"]).well();
    }

    /// Goes on with a run, once the lease of whoever drove it before has run out.
    fn resumed(&self, run: &str) -> Answered {
        let file = format!("{run}.agent.yaml");
        loop {
            let answered = self.ambit(["run", "resume", run, "--agent", &file, "--json"]);
            if !answered.out.is_empty() || answered.code_of_failure() != "RUN_HELD" {
                return answered;
            }
        }
    }

    /// A full disk is told as one: by the command, by the backend's probes, or as the reason of a run that began.
    #[track_caller]
    fn assert_told_as_full(&self, answered: &Answered) {
        // The last line is the run only where the run ended.
        if answered.out.lines().last().is_some_and(|line| !is_event(line)) {
            let view = answered.json();
            assert!(view["phase"] == "failed" && view["stopReason"].is_string(), "{answered:?}");
        } else if answered.code == 9 {
            assert_eq!(answered.code_of_failure(), "BACKEND_NOT_ADMITTED");
            assert!(answered.err.contains("STORAGE_FULL"), "{answered:?}");
        } else {
            assert_failure(answered, &["STORAGE_FULL"]);
        }
    }

    fn start_json(&self, run: &str) -> Answered {
        let mut words = self.project.start_words(run, &diligent("finish"));
        words.push("--json".to_owned());
        self.ambit(words)
    }
}

/// Whether a line of a run's output tells of an event, and not of the run itself.
fn is_event(line: &str) -> bool {
    serde_json::from_str(line).is_ok_and(|told: serde_json::Value| told["event"].is_string())
}

/// A failure of the home: exit code 1, the code, what is kept, and what to do.
#[track_caller]
fn assert_failure(answered: &Answered, codes: &[&str]) {
    assert_eq!(answered.code, 1, "{answered:?}");
    // A run that had begun told its events line by line, and nothing that looks like its end.
    assert!(answered.out.lines().all(is_event), "{answered:?}");
    let code = answered.code_of_failure();
    assert!(codes.contains(&code.as_str()), "{code}: {answered:?}");
    let told = answered.failure();
    let help = told["help"].as_str().unwrap();
    assert!(!help.is_empty(), "nothing is said about what to do next: {answered:?}");
    let all = format!("{} {help}", told["message"]);
    assert!(
        ["nothing", "kept", "committed", "stays"].iter().any(|word| all.contains(word)),
        "what was kept: {all}"
    );
}

#[test]
fn a_full_disk_loses_nothing_and_the_run_goes_on_once_there_is_space() {
    let elsewhere = Elsewhere::empty();
    let Some(volume) = Volume::over(&elsewhere.home, "96m") else {
        println!("skipped: ROOT_ABSENT a_full_disk_loses_nothing_and_the_run_goes_on_once_there_is_space");
        return;
    };
    elsewhere.prepare();
    let mut failures = 0;
    for leave_kib in [0, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384] {
        let run = format!("left-{leave_kib}");
        let filler = volume.fill(leave_kib);
        let full = elsewhere.start_json(&run);
        fs::remove_file(&filler).unwrap();
        if full.code != 0 {
            failures += 1;
            elsewhere.assert_told_as_full(&full);
        }
        if elsewhere.ambit(["run", "show", &run]).code == 0 {
            let ended = elsewhere.resumed(&run);
            assert!(
                [0, 1, 3, 9].contains(&ended.code) && !ended.out.is_empty(),
                "{leave_kib} KiB: {ended:?}"
            );
            elsewhere.ambit(["trace", "verify", &run]).well();
        }
        assert_eq!(elsewhere.entries("sandboxes/leases"), Vec::<PathBuf>::new(), "left with {leave_kib} KiB");
    }
    assert!(failures >= 4, "the disk was never full");
    elsewhere.assert_works("space");
}

#[test]
fn a_home_that_cannot_be_written_to_is_left_as_it_is() {
    let elsewhere = Elsewhere::empty();
    let Some(volume) = Volume::over(&elsewhere.home, "96m") else {
        println!("skipped: ROOT_ABSENT a_home_that_cannot_be_written_to_is_left_as_it_is");
        return;
    };
    elsewhere.prepare();
    volume.remount("ro");
    assert_failure(&elsewhere.start_json("refused"), &["STORE_READ_ONLY"]);
    assert_failure(&elsewhere.ambit(["run", "list", "--json"]), &["STORE_READ_ONLY"]);
    volume.remount("rw");
    elsewhere.assert_works("writable");
}

/// What is wrong with the home hides nothing else: the doctor and the scan tell what they can, and what they could not keep.
#[test]
fn a_home_that_holds_nothing_more_is_no_reason_to_find_nothing() {
    let elsewhere = Elsewhere::empty();
    let Some(volume) = Volume::over(&elsewhere.home, "96m") else {
        println!("skipped: ROOT_ABSENT a_home_that_holds_nothing_more_is_no_reason_to_find_nothing");
        return;
    };
    elsewhere.prepare();
    let finding = |told: &serde_json::Value, what: &str| -> serde_json::Value {
        let findings = told["findings"].as_array().unwrap();
        findings.iter().find(|finding| finding["what"] == what).unwrap_or_else(|| panic!("{told}")).clone()
    };
    let assert_told = |why: &str| {
        let doctor = elsewhere.ambit(["doctor", "--json"]);
        let told = doctor.json();
        assert_eq!((doctor.code, &told["usable"]), (9, &false.into()), "{doctor:?}");
        assert!(finding(&told, "home")["found"].as_str().unwrap().contains(why), "{told}");
        assert_eq!(finding(&told, "home")["ok"], false);
        assert_eq!(
            (&finding(&told, "sandbox")["ok"], &finding(&told, "images")["ok"]),
            (&true.into(), &true.into())
        );
        for what in ["disk", "not stored", "profile laptop-v1", "left of sandboxes"] {
            finding(&told, what);
        }
        let scan = elsewhere.ambit(["sandbox", "scan", "--json"]);
        let told = scan.json();
        let unseen = told["notLookedAt"].as_array().unwrap();
        assert!([12, 13].contains(&scan.code), "{scan:?}");
        assert!(
            unseen.iter().any(|unseen| unseen["what"].as_str().unwrap().contains("the runs of this home")),
            "{told}"
        );
        for surface in ["processes", "mounts", "leases"] {
            assert!(told["lookedAt"].as_array().unwrap().contains(&surface.into()), "{told}");
        }
    };
    volume.remount("ro");
    assert_told("may not be written to");
    volume.remount("rw");
    let filler = volume.fill(0);
    assert_told("space");
    fs::remove_file(filler).unwrap();
    // What others of this machine leave meanwhile is told as well.
    assert!([0, 13].contains(&elsewhere.ambit(["sandbox", "scan", "--json"]).code));
}

#[test]
fn a_home_that_is_a_file_or_below_one_is_told_as_such() {
    let elsewhere = Elsewhere::empty();
    fs::write(&elsewhere.home, "a file").unwrap();
    for home in [elsewhere.home.clone(), elsewhere.home.join("below")] {
        let refused = elsewhere.command(["run", "list", "--json"]).env("AMBIT_HOME", home).output().unwrap();
        assert_failure(&Answered::of(refused), &["HOME_UNUSABLE"]);
    }
    assert_eq!(fs::read(&elsewhere.home).unwrap(), b"a file");
    fs::remove_file(&elsewhere.home).unwrap();
    elsewhere.prepare();
    elsewhere.assert_works("usable");
}

#[test]
fn a_store_that_is_damaged_foreign_or_newer_is_refused_and_not_touched() {
    let elsewhere = Elsewhere::finished();
    let good = elsewhere.store_bytes();
    let mut torn = good.clone();
    for byte in &mut torn[100..4096] {
        *byte = 0xa5;
    }
    let altered = |sql: &str| {
        elsewhere.restore(&good);
        Connection::open(elsewhere.store()).unwrap().execute_batch(sql).unwrap();
        elsewhere.store_bytes()
    };
    let newer = altered("PRAGMA user_version = 99");
    let unguarded = altered("DROP TRIGGER record_guards_update");
    let cases: [(&str, Vec<u8>, &str); 6] = [
        ("garbage", b"this is not a database, it is a letter to a friend".repeat(100), "STORE_DAMAGED"),
        ("a torn first page", torn, "STORE_DAMAGED"),
        ("cut in half", good[..good.len() / 2].to_vec(), "STORE_DAMAGED"),
        ("a newer schema", newer, "STORE_NEWER_SCHEMA"),
        ("without a guard", unguarded, "STORE_DAMAGED"),
        ("another program's", foreign(), "STORE_FOREIGN"),
    ];
    for (what, bytes, code) in cases {
        elsewhere.restore(&bytes);
        for words in [["run", "list", "--json"], ["revision", "log", "--json"]] {
            let refused = elsewhere.ambit(words);
            assert_failure(&refused, &[code]);
        }
        // Whoever asked for a proof learns that there is none: what is damaged proves nothing and refutes nothing.
        for words in [&["trace", "verify", "--json"][..], &["revision", "eligible", "rev-1", "--json"]] {
            let refused = elsewhere.ambit(words);
            let exit = if code == "STORE_DAMAGED" { 12 } else { 1 };
            assert_eq!((refused.code, refused.failure()["code"].as_str()), (exit, Some(code)), "{what}");
        }
        assert_failure(&elsewhere.start_json("refused"), &[code]);
        assert_eq!(fs::read(elsewhere.store()).unwrap(), bytes, "{what} was written to");
    }
    elsewhere.restore(&good);
    elsewhere.assert_works("restored");
}

fn foreign() -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("foreign");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE bookmark (url TEXT)").unwrap();
    fs::read(path).unwrap()
}

#[test]
fn two_processes_that_start_one_run_make_one_run() {
    let elsewhere = Elsewhere::prepared();
    elsewhere.ambit(["revision", "import", "app"]).well();
    let mut words = elsewhere.project.start_words("shared", &diligent("finish"));
    let base = words.iter().position(|word| word == "--base").unwrap() + 1;
    words[base] = "rev-0".to_owned();
    words.push("--json".to_owned());
    let children: Vec<_> = (0..4)
        .map(|_| elsewhere.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
        .collect();
    let answers: Vec<Answered> =
        children.into_iter().map(|child| Answered::of(child.wait_with_output().unwrap())).collect();
    assert!(answers.iter().any(|answered| answered.code == 0), "{answers:?}");
    for answered in answers.iter().filter(|answered| answered.code != 0) {
        let told = answered.failure();
        assert_eq!((answered.code, told["code"].as_str()), (1, Some("RUN_HELD")), "{answered:?}");
        assert!(told["help"].as_str().unwrap().contains("ambit run watch"), "{answered:?}");
    }
    let runs = elsewhere.ambit(["run", "list", "--json"]).well().json();
    assert_eq!(runs["runs"].as_array().unwrap().len(), 1, "{runs}");
    elsewhere.ambit(["trace", "verify"]).well();
    elsewhere.assert_works("alone");
}

#[test]
fn two_processes_with_runs_of_their_own_share_a_store() {
    let elsewhere = Elsewhere::prepared();
    let names = ["one", "two", "three"];
    let children: Vec<_> = names
        .iter()
        .map(|name| {
            let words = elsewhere.project.start_words(name, &diligent("finish"));
            elsewhere.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for child in children {
        Answered::of(child.wait_with_output().unwrap()).well();
    }
    elsewhere.ambit(["trace", "verify"]).well();
    let shown = elsewhere.ambit(["trace", "show", "two", "--json"]).well().json();
    let records: Vec<serde_json::Value> =
        shown["records"].as_array().unwrap().iter().map(|link| link["record"].clone()).collect();
    assert_stopped(&records, "gates-passed");
    assert_eq!(count(&records, "patch.applied"), 1);
}
