//! Catalogs and profiles of a project's own: how they are changed, and what is refused before anything is kept of it.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::rig::{Answered, Project, blueprint, diligent, meets_secure_generation};

/// A profile that this machine meets, under another name and naming another version of the catalog.
fn profile(name: &str, version: u32) -> String {
    let met = if meets_secure_generation() { "secure-generation-v1" } else { "laptop-v1" };
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../documents/profiles")
        .join(met)
        .with_extension("yaml");
    let text = fs::read_to_string(file).unwrap();
    assert!(text.contains(&format!("name: {met}")) && text.contains("named-commands/v3"), "{text}");
    text.replace(&format!("name: {met}"), &format!("name: {name}"))
        .replace("named-commands/v3", &format!("named-commands/v{version}"))
}

impl Project {
    fn catalog_text(&self) -> String {
        fs::read_to_string(self.path("catalog.yaml")).unwrap()
    }

    /// Starts a run under this profile, or the file of one.
    fn start_under(&self, run: &str, profile: &str, more: &[&str]) -> Answered {
        let mut words = self.start_words(run, &diligent("finish"));
        *words.last_mut().unwrap() = profile.to_owned();
        words.extend(more.iter().map(|word| (*word).to_owned()));
        self.ambit(words)
    }

    /// The kinds of what is recorded of the project, refusals aside.
    fn kept(&self) -> Vec<String> {
        let listed = self.ambit(["trace", "list", "--json"]).well().json();
        let kinds = listed["records"].as_array().unwrap().iter().map(|link| &link["record"]["kind"]);
        kinds.filter_map(Value::as_str).filter(|kind| *kind != "run.rejected").map(str::to_owned).collect()
    }

    /// Starts a run that is refused, and that nothing is kept of. Answers what to do about it.
    #[track_caller]
    fn refused(&self, profile: &str, exit: i32, code: &str) -> String {
        let before = (self.kept(), self.revisions());
        let refused = self.start_under("refused", profile, &["--json"]);
        assert_eq!((refused.code, refused.out.as_str()), (exit, ""), "{refused:?}");
        assert_eq!(refused.code_of_failure(), code, "{refused:?}");
        assert_eq!((self.kept(), self.revisions()), before);
        let failure = refused.failure();
        format!("{}\n{}", failure["message"].as_str().unwrap(), failure["help"].as_str().unwrap())
    }
}

#[test]
fn a_registered_catalog_is_changed_by_a_new_version_and_a_profile_that_names_it() {
    let project = Project::new();
    let catalog = project.catalog_text();
    let known = project.start_words("known", "").last().unwrap().clone();
    project.write("catalog.yaml", &catalog.replace("[sh, check.sh]", "[sh, no-such-file.sh]"));
    assert_eq!(project.start("wrong", &diligent("finish")).code, 3);

    project.write("catalog.yaml", &catalog);
    let told = project.refused(&known, 2, "DOCUMENT_CHANGED");
    assert!(told.contains("new version") && told.contains("--catalog FILE --profile FILE"), "{told}");
    let registered = project.ambit(["catalog", "register", "catalog.yaml"]);
    assert!(
        registered.code == 2 && registered.err.contains("--catalog FILE --profile FILE"),
        "{registered:?}"
    );

    let newer = catalog.replace("version: 3", "version: 4");
    project.write("catalog.yaml", &newer);
    let told = project.refused(&known, 2, "CATALOG_NOT_NAMED");
    assert!(told.contains("version 3") && told.contains("--profile FILE"), "{told}");

    project.write("profile.yaml", &profile("greeter-v4", 4));
    let ended = project.start_under("mended", "profile.yaml", &[]).well();
    assert!(ended.out.contains("is preview-ready"), "{}", ended.out);
    project.start_under("again", "greeter-v4", &[]).well();
    project.start_under("mended", "./profile.yaml", &[]).well();
    project.ambit(["trace", "verify"]).well();

    project.write("profile.yaml", &profile("greeter-v4", 5));
    project.write("catalog.yaml", &newer.replace("version: 4", "version: 5"));
    let told = project.refused("profile.yaml", 2, "DOCUMENT_CHANGED");
    assert!(
        told.contains("ExecutionCapabilityProfile greeter-v4") && told.contains("another name"),
        "{told}"
    );
}

#[test]
fn a_profile_cannot_take_the_name_of_one_that_comes_along() {
    let project = Project::new();
    project.write("profile.yaml", &profile("laptop-v1", 4));
    project.write("catalog.yaml", &project.catalog_text().replace("version: 3", "version: 4"));
    let told = project.refused("profile.yaml", 2, "DOCUMENT_CHANGED");
    assert!(told.contains("laptop-v1") && told.contains("another name"), "{told}");
}

#[test]
fn nothing_is_registered_or_imported_for_a_start_that_cannot_be() {
    let project = Project::new();
    let known = project.start_words("known", "").last().unwrap().clone();
    let catalog = project.catalog_text();

    let told = project.refused("nope", 11, "PROFILE_UNKNOWN");
    for name in ["laptop-v1", "secure-generation-v1", "`ambit profile list`", "--profile FILE"] {
        assert!(told.contains(name), "{told}");
    }
    project.refused("nope.yaml", 2, "USAGE_FILE_UNREADABLE");

    project.write("catalog.yaml", &catalog.replace("id: unit", "id: lint"));
    let told = project.refused(&known, 2, "GATE_UNKNOWN");
    assert!(told.contains("nothing was registered"), "{told}");

    let digest = catalog.lines().find_map(|line| line.trim().strip_prefix("image: ")).unwrap();
    let absent = format!("sha256:{}", "0".repeat(64));
    project.write("catalog.yaml", &catalog.replace(digest, &absent));
    let told = project.refused(&known, 11, "IMAGE_NOT_FOUND");
    for name in [absent.as_str(), "`ambit image capture`", "`ambit catalog pin`"] {
        assert!(told.contains(name), "{told}");
    }
    assert_eq!(project.ambit(["catalog", "register", "catalog.yaml"]).code, 11);

    project.write("catalog.yaml", &catalog.replace(digest, "${image}"));
    let refused = project.start_under("refused", &known, &[]);
    assert!(refused.code == 2 && refused.err.contains("ambit catalog pin"), "{refused:?}");

    project.write("catalog.yaml", &catalog);
    let mut words = project.start_words("absent", &diligent("finish"));
    let place = words.iter().position(|word| word == "--blueprint").unwrap() + 1;
    words[place] = "absent".to_owned();
    assert_eq!(project.ambit(words).code, 11);
    assert_eq!(project.revisions()["revisions"], Value::Array(vec![]));
    project.start("after", &diligent("finish")).well();
}

#[test]
fn a_request_says_how_to_start_on_it_and_which_part_of_a_start_does_not_fit() {
    let project = Project::new();
    project.start("first", &diligent("finish")).well();
    let asked = project.ambit(["run", "revise", "first", "Say it louder.", "--case", "AC-1"]).well().out;
    project.write("blueprint.yaml", &blueprint("").replace("version: 1", "version: 2"));
    project.approve("blueprint.yaml").well();

    let words: Vec<&str> = asked.lines().last().unwrap().split(' ').collect();
    assert_eq!(words[..3], ["ambit", "run", "start"]);
    let value = |option: &str| words[words.iter().position(|word| *word == option).unwrap() + 1];
    let start = |options: &[&str]| {
        let mut words = project.start_words("second", &diligent("finish"));
        let place = words.iter().position(|word| word == "--base").unwrap() + 1;
        words[place] = value("--base").to_owned();
        words.extend(options.iter().map(|word| (*word).to_owned()));
        words.extend(["--request", value("--request"), "--json"].map(str::to_owned));
        project.ambit(words)
    };
    let newer = start(&[]);
    assert_eq!((newer.code, newer.code_of_failure().as_str()), (2, "REQUEST_MISMATCH"));
    let told = newer.failure();
    let meant = format!("--digest {}", value("--digest"));
    assert!(told["help"].as_str().unwrap().contains(&meant), "{told}");
    assert!(!told.to_string().contains("revision rev-"), "{told}");

    let other = project.start_under(
        "third",
        project.start_words("third", "").last().unwrap(),
        &["--digest", value("--digest"), "--request", value("--request"), "--json"],
    );
    let told = other.failure();
    assert!(
        told["help"].as_str().unwrap().contains("--base rev-1") && !told.to_string().contains("--digest")
    );
    let fits = start(&["--digest", value("--digest")]);
    assert_ne!(fits.code, 2, "{fits:?}");
}
