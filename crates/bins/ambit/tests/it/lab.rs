//! The stories that the program tells of itself, as root and as nobody.

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::rig::Answered;

/// Somebody with no power over this machine.
const NOBODY: u32 = 65_534;

/// A place of its own for the program.
struct Place {
    dir: TempDir,
    user: Option<u32>,
}

impl Place {
    fn of(user: Option<u32>) -> Self {
        let dir = TempDir::new().unwrap();
        let program = dir.path().join("ambit");
        // By another process: what a thread beside this one has open for writing in its new child cannot be executed.
        assert!(
            Command::new("cp").arg(env!("CARGO_BIN_EXE_ambit")).arg(&program).status().unwrap().success()
        );
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let tmp = dir.path().join("tmp");
        std::fs::create_dir(&tmp).unwrap();
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        std::os::unix::fs::chown(&tmp, user, user).unwrap();
        Self { dir, user }
    }

    fn tmp(&self) -> std::path::PathBuf {
        self.dir.path().join("tmp")
    }

    fn ambit(&self, words: &[&str]) -> Answered {
        let mut command = Command::new(self.dir.path().join("ambit"));
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("TMPDIR", self.tmp()).env("AMBIT_HOME", self.tmp().join("state")).current_dir(self.tmp());
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        Answered::of(command.args(words).output().unwrap())
    }

    fn left(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.tmp()).unwrap().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }
}

fn story(answered: &Answered) -> (u64, u64) {
    let json = answered.json();
    (json["facts"].as_u64().unwrap(), json["wrong"].as_u64().unwrap())
}

/// The facts that do not hold, as they are told.
fn wrong(json: &Value) -> Vec<String> {
    let chapters = json["chapters"].as_array().unwrap().iter();
    let facts = chapters.flat_map(|chapter| chapter["facts"].as_array().unwrap());
    facts
        .filter(|fact| fact["holds"] == false)
        .map(|fact| fact["what"].as_str().unwrap().to_owned())
        .collect()
}

// proves E-F01 E-B07
// break examples/workboard/ambit/named-commands.yaml: `    - id: tenant-integration` -> `    - id: tenant-isolation`
#[test]
fn the_whole_story_holds_and_is_kept_where_that_is_wanted() {
    let place = Place::of(None);
    let played = place.ambit(&["lab", "--json", "--out", "kept"]).well();
    let (facts, none) = story(&played);
    assert!(facts >= 30 && none == 0, "{facts}");
    assert!(played.err.contains("5. A foreign read is denied"), "it is told while it is played");
    assert_eq!(place.left(), ["kept"]);
    let kept = place.tmp().join("kept");
    for part in ["home", "workboard", "rev-1-bundle/trace.jsonl", "rev-2-bundle/cleanup/destruction.json"] {
        assert!(kept.join(part).exists(), "{part}");
    }
    assert_eq!(std::fs::metadata(&kept).unwrap().permissions().mode() & 0o077, 0, "for nobody else");
    let look = |words: &[&str]| {
        let home = ["--home", "kept/home", "--org", "northstar", "--project", "workboard"];
        place.ambit(&[&home[..], words].concat()).well().out
    };
    let runs = look(&["run", "list"]);
    assert!(
        runs.contains("run-wb-017") && runs.contains("run-wb-019") && runs.contains("cancelled"),
        "{runs}"
    );
    let catalog = look(&["catalog", "list"]);
    for gate in ["unit.todo-idempotency", "tenant-integration", "clean-build"] {
        assert!(catalog.contains(gate), "{catalog}");
    }
    assert!(look(&["trace", "verify"]).starts_with("northstar/workboard: proved"));
    let again = place.ambit(&["lab", "--out", "kept"]);
    assert!(again.code == 2 && again.err.contains("USAGE_DIRECTORY"), "nothing is written over: {again:?}");
}

#[test]
fn a_story_that_does_not_hold_says_which_facts_do_not() {
    let place = Place::of(None);
    let played = place.ambit(&["lab", "--without-bug", "--json"]);
    assert_eq!(played.code, 1, "{}", played.err);
    let facts = wrong(&played.json());
    assert!(!facts.is_empty());
    for fact in &facts {
        assert!(played.err.contains(&format!("  WRONG {fact}")), "{fact} is not told");
    }
    assert!(
        facts.iter().any(|fact| fact.contains("unit.todo-idempotency fails on the first patch")),
        "{facts:?}"
    );
    assert!(place.left().is_empty(), "{:?}", place.left());
}

#[test]
fn no_attack_works() {
    let place = Place::of(None);
    let played = place.ambit(&["smoke"]).well();
    assert!(played.out.contains("facts hold") && played.err.contains("another tenant"), "{played:?}");
    assert!(place.left().is_empty(), "{:?}", place.left());
}

/// Whether an ordinary user has what a sandbox needs here.
fn nobody() -> Option<Place> {
    if !is_root() {
        println!("skipped: NOT_ROOT the other tests run as an ordinary user already");
        return None;
    }
    let place = Place::of(Some(NOBODY));
    let doctor = place.ambit(&["doctor"]);
    if doctor.code == 9 {
        println!("skipped: SANDBOX_UNAVAILABLE {}", doctor.out);
        return None;
    }
    assert!(
        doctor.out.lines().any(|line| line.starts_with("ok") && line.contains("laptop-v1")),
        "{}",
        doctor.out
    );
    Some(place)
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata(Path::new("/proc/self")).is_ok_and(|of| of.uid() == 0)
}

#[test]
fn the_whole_story_holds_for_an_ordinary_user_too() {
    let Some(place) = nobody() else { return };
    let played = place.ambit(&["lab", "--profile", "laptop-v1", "--json"]).well();
    let (facts, none) = story(&played);
    assert!(facts >= 30 && none == 0, "{facts}");
    place.ambit(&["smoke"]).well();
    assert_eq!(place.left(), ["state"], "but for the home of the doctor");
}
