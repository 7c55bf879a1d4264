//! Volumes from the capture to the gate and the evidence.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::rig::{Project, diligent};

/// What the gate runs: who is to be greeted stands in a volume, in which nothing can be changed.
const CHECK: &str = "name=$(cat /volumes/names/first) || exit 1\n! echo x 2>/dev/null >/volumes/names/first || exit 1\n\
said=$(sh greet.sh \"$name\") || exit 1\n[ \"$said\" = 'hello ada' ] || { echo \"FAIL: greet: got $said\"; exit 1; }\n";

impl Project {
    /// Captures a directory with this file `first`; answers the digest of the volume.
    fn capture_names(&self, first: &str) -> String {
        let _ = fs::create_dir(self.path("names"));
        self.write("names/first", first);
        let words = ["volume", "capture", "--json", "--name", &self.name, "directory", "names"];
        let report = self.ambit(words).well().json();
        report["volume"]["digest"].as_str().unwrap().to_owned()
    }

    /// Lets the gate find a volume.
    fn name_volume(&self, digest: &str) {
        let catalog = fs::read_to_string(self.path("catalog.yaml")).unwrap();
        let volumes = format!("fixtures: []\n      volumes: [{{name: names, digest: \"{digest}\"}}]");
        self.write("catalog.yaml", &catalog.replace("fixtures: []", &volumes));
        self.write("app/check.sh", CHECK);
    }
}

#[test]
fn a_gate_finds_what_its_volume_holds_and_the_evidence_says_which_it_was() {
    let project = Project::new();
    let digest = project.capture_names("ada\n");
    project.name_volume(&format!("${{volume.{}}}", project.name));
    let words = ["catalog", "pin", "catalog.yaml", "--image", "tools", "--volume", &project.name];
    let pinned = project.ambit(words).well().out;
    assert!(pinned.contains(&format!("digest: \"{digest}\"")), "{pinned}");
    project.write("catalog.yaml", &pinned);
    let shown = project.ambit(["catalog", "show", "unit", "--file", "catalog.yaml"]).well().out;
    assert!(shown.contains(&format!("{digest} at /volumes/names")), "{shown}");

    let ended = project.start("first", &diligent("finish")).well();
    assert!(ended.out.contains("is preview-ready"), "{}", ended.out);
    project.ambit(["trace", "verify", "first"]).well();
    let records = project.ambit(["trace", "show", "first", "--json"]).well().json();
    let records = records["records"].as_array().unwrap();
    let record = |at: usize| &records[at]["record"];
    let (first, last) = (record(0), record(records.len() - 1));
    assert_eq!(first["body"]["pins"]["volumes"], json!([{"name": "names", "digest": digest}]), "{first}");
    for record in [first, last] {
        assert_eq!(record["environment"]["volumes"], json!([digest]), "{record}");
    }
}

#[test]
fn a_volume_that_is_not_there_refuses_a_start_and_an_altered_one_its_sandbox() {
    let project = Project::new();
    let absent = format!("sha256:{}", "0".repeat(64));
    project.name_volume(&absent);
    let before = project.ambit(["revision", "log", "--json"]).well().json();
    for refused in
        [project.start("first", &diligent("finish")), project.ambit(["catalog", "register", "catalog.yaml"])]
    {
        assert_eq!(refused.code, 11, "{refused:?}");
        for part in ["VOLUME_NOT_FOUND", absent.as_str(), "`ambit volume capture`", "nothing was registered"]
        {
            assert!(refused.err.contains(part), "{part}: {refused:?}");
        }
    }
    assert_eq!(project.ambit(["revision", "log", "--json"]).well().json(), before);

    let digest = project.capture_names("ada, and nobody else\n");
    let named = project.ambit(["volume", "show", &project.name, "--json"]).well().json();
    assert_eq!(named["volume"]["digest"], json!(digest));
    project.ambit(["volume", "verify", &digest]).well();
    let listed = project.ambit(["volume", "list", "--json"]).well().json();
    let is_it = |volume: &Value| volume["digest"] == json!(digest) && volume["kind"] == "directory";
    assert!(listed["volumes"].as_array().unwrap().iter().any(is_it), "{listed}");
    assert_eq!(project.ambit(["volume", "show", "no-such-volume"]).code, 11);
    assert_eq!(project.ambit(["volume", "show", "No volume"]).code, 2);

    let home = project.home().join("images/volumes").join(digest.replace(':', "-"));
    let file = home.join("tree/first");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    fs::write(&file, "bob\n").unwrap();
    let verified = project.ambit(["volume", "verify", &project.name]);
    assert!(verified.code != 0 && verified.err.contains("VOLUME_CORRUPT"), "{verified:?}");
    let catalog = fs::read_to_string(project.path("catalog.yaml")).unwrap();
    project.write("catalog.yaml", &catalog.replace(&absent, &digest));
    let refused = project.start("altered", &diligent("finish"));
    assert!(refused.code != 0, "{refused:?}");
    let shown = project.ambit(["run", "show", "altered"]).out;
    assert!(shown.contains("VOLUME_CORRUPT"), "{shown}");
}

#[test]
fn what_a_person_did_wrong_is_told_with_what_to_do() {
    let project = Project::empty();
    fs::create_dir(project.path("data")).unwrap();
    std::os::unix::fs::symlink("/etc", project.path("data/out")).unwrap();
    project.write("Cargo.lock", "version = 99\n");
    for (words, code, said) in [
        (["directory", "none"], 2, "VOLUME_SOURCE_UNREADABLE"),
        (["directory", "data"], 2, "VOLUME_LINK_LEAVES"),
        (["cargo", "Cargo.lock"], 2, "VOLUME_LOCK_MALFORMED"),
        (["cargo", "none"], 2, "VOLUME_SOURCE_UNREADABLE"),
    ] {
        let more = ["--cargo-home", "cargo-home"];
        let words = ["volume", "capture", "--name", "x"].into_iter().chain(words).chain(more);
        let refused = project.ambit(words);
        assert!(refused.code == code && refused.err.contains(said), "{refused:?}");
        assert!(refused.err.contains("nothing was captured"), "{refused:?}");
    }
    let lock = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../Cargo.lock");
    fs::copy(lock, project.path("Cargo.lock")).unwrap();
    let words = ["volume", "capture", "--name", "x", "cargo", ".", "--cargo-home", "cargo-home"];
    let refused = project.ambit(words);
    assert_eq!(refused.code, 9, "{refused:?}");
    assert!(
        refused.err.contains(" more; nothing") && refused.err.contains("cargo fetch --locked"),
        "{refused:?}"
    );
}
