//! Documents, directories and names that are wrong: each is refused with a place and a code, and nothing is kept of it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::json;

use crate::observed::count;
use crate::rig::{Answered, FIX, GATE, PLAN, Project, blueprint, diligent, patch, transcript};

impl Project {
    /// The project does what it always does: whatever was refused before left nothing in its way.
    #[track_caller]
    fn assert_works(&self, run: &str) {
        let ended = self.start(run, &diligent("finish")).well();
        assert!(ended.out.contains("is preview-ready"), "{}", ended.out);
        self.ambit(["trace", "verify"]).well();
    }

    fn records_of_project(&self) -> usize {
        self.ambit(["trace", "list", "--json"]).well().json()["records"].as_array().unwrap().len()
    }
}

fn nested(depth: usize) -> Vec<u8> {
    format!("spec: {}1{}\n", "[".repeat(depth), "]".repeat(depth)).into_bytes()
}

/// Documents that are none, each with the code that it is refused by and the line where it is wrong, if it has one.
fn hostile_documents() -> Vec<(&'static str, Vec<u8>, &'static str, Option<usize>)> {
    let good = blueprint("");
    let line_of = |text: &str| good.lines().position(|line| line.contains(text)).unwrap() + 1;
    let with = |from: &str, to: &str| {
        assert!(good.contains(from));
        good.replacen(from, to, 1).into_bytes()
    };
    let goal = line_of("goal:");
    let bomb =
        "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n";
    let mut not_text = good.clone().into_bytes();
    let place = good.find("The greeter").unwrap();
    not_text[place] = 0xff;
    vec![
        ("empty", Vec::new(), "DOCUMENT_SYNTAX", Some(1)),
        (
            "truncated",
            good.as_bytes()[..good.find("work: [domain").unwrap() + 9].to_vec(),
            "DOCUMENT_SYNTAX",
            Some(line_of("work: [domain")),
        ),
        ("alias", bomb.as_bytes().to_vec(), "DOCUMENT_FEATURE_REFUSED", Some(1)),
        (
            "tag",
            with("goal: The", "goal: !!python/object:os.system The"),
            "DOCUMENT_FEATURE_REFUSED",
            Some(goal),
        ),
        ("merge-key", with("goal: The", "<<: {a: 1}\n  goal: The"), "DOCUMENT_FEATURE_REFUSED", Some(goal)),
        (
            "two documents",
            [good.as_bytes(), b"---\n", good.as_bytes()].concat(),
            "DOCUMENT_FEATURE_REFUSED",
            Some(good.lines().count() + 1),
        ),
        ("deep", nested(100_000), "DOCUMENT_TOO_DEEP", Some(1)),
        (
            "duplicate key",
            with("  goal: The", "  goal: Another.\n  goal: The"),
            "DOCUMENT_DUPLICATE_KEY",
            Some(goal + 1),
        ),
        ("not UTF-8", not_text, "DOCUMENT_ENCODING", Some(goal)),
        ("invisible", with("The greeter", "The \u{202e}greeter"), "DOCUMENT_ENCODING", Some(goal)),
        ("NUL", with("The greeter", "The \0greeter"), "DOCUMENT_ENCODING", Some(goal)),
        (
            "too many keys",
            format!("a: [{}]\n", "1,".repeat(60_000)).into_bytes(),
            "DOCUMENT_TOO_LARGE",
            Some(1),
        ),
        ("huge", vec![b'#'; 3 << 20], "DOCUMENT_TOO_LARGE", None),
        ("binary", (0..=255).collect(), "DOCUMENT_ENCODING", None),
    ]
}

/// Documents that say something that no blueprint says.
fn wrong_values() -> Vec<(&'static str, Vec<u8>, &'static str, Option<usize>)> {
    let good = blueprint("");
    let line = good.lines().position(|line| line.contains("maxModelSteps")).unwrap() + 1;
    let with = |to: &str| {
        assert!(good.contains("maxModelSteps: 12"));
        good.replacen("maxModelSteps: 12", to, 1).into_bytes()
    };
    vec![
        ("unknown field", with("maxModelStep: 12"), "DOCUMENT_UNKNOWN_FIELD", Some(line)),
        ("negative", with("maxModelSteps: -12"), "DOCUMENT_", Some(line)),
        ("overflow", with("maxModelSteps: 99999999999999999999999"), "DOCUMENT_", Some(line)),
    ]
}

#[test]
fn a_hostile_document_is_refused_with_its_place_and_a_snippet_and_nothing_is_kept_of_it() {
    let project = Project::new();
    let before = project.records_of_project();
    for (what, bytes, code, line) in hostile_documents().into_iter().chain(wrong_values()) {
        fs::write(project.path("hostile.yaml"), &bytes).unwrap();
        for verb in ["validate", "approve"] {
            let words = ["blueprint", verb, "hostile.yaml", "--json"].to_vec();
            let words = if verb == "approve" {
                [words, vec!["--credential-file", "approver.key"]].concat()
            } else {
                words
            };
            let refused = project.ambit(&words);
            assert_eq!((refused.code, refused.out.as_str()), (2, ""), "{what}: {refused:?}");
            let found = refused.code_of_failure();
            assert!(found == code || code.ends_with('_') && found.starts_with(code), "{what}: {found}");
            let told = refused.failure();
            assert!(told["message"].as_str().unwrap().starts_with("hostile.yaml cannot be used: "), "{told}");
            let first = &told["problems"][0];
            assert_eq!((&first["code"], &first["path"]), (&json!(found), &json!("hostile.yaml")), "{told}");
            assert!(refused.err.len() < 40_000 && first["column"].as_u64() >= Some(1), "{what}: {told}");
            let text = project.ambit(words.iter().filter(|word| **word != "--json")).err;
            if let Some(line) = line {
                assert_eq!(first["line"], json!(line), "{what}: {told}");
                let snippet = first["snippet"].as_str().unwrap();
                assert!(text.contains(&format!("--> hostile.yaml:{line}:")), "{what}: {text}");
                assert!(text.contains(format!("\n{line} | {snippet}").trim_end()), "{what}: {text}");
                assert!(text.contains('^'), "{what} points nowhere: {text}");
            }
        }
    }
    assert_eq!(project.records_of_project(), before);
    project.ambit(["blueprint", "validate", "blueprint.yaml"]).well();
    project.assert_works("after");
}

// proves E-H04
// break crates/bins/ambit/src/verbs/unread.rs: `(Ok(base), Ok(home)) if home.starts_with(&base) => {` -> `(Ok(base), Ok(home)) if home.starts_with(&base) && false => {`
#[test]
fn the_state_with_its_keys_is_never_imported() {
    let project = Project::new();
    let inner = project.dir.path().join("app/state");
    let home = project.home().to_str().unwrap();
    for (home, base) in [(home, home), (inner.to_str().unwrap(), "app")] {
        let refused = project.ambit(["revision", "import", base, "--home", home, "--json"]);
        assert_eq!(
            (refused.code, refused.code_of_failure().as_str()),
            (2, "IMPORT_HOLDS_HOME"),
            "{refused:?}"
        );
    }
    project.ambit(["revision", "import", "app"]).well();
}

// proves C21
// break crates/domain/blueprint/src/catalog/read.rs: `text.parse().map_err(|_| {` -> `text.parse().or_else(|_| Ok::<Digest, ()>(Digest::of(text.as_bytes()))).map_err(|_| {`
#[test]
fn a_catalog_whose_image_is_a_tag_starts_nothing_and_is_not_kept() {
    let project = Project::new();
    let catalog = fs::read_to_string(project.path("catalog.yaml")).unwrap();
    let digest = catalog.lines().find_map(|line| line.trim().strip_prefix("image: ")).unwrap();
    let before = project.records_of_project();
    for tag in ["tools:latest", "tools", "registry.example/tools:1.2", "\"sha256:0123\"", "tools:nightly"] {
        project.write("catalog.yaml", &catalog.replace(digest, tag));
        let mut words = project.start_words("tagged", &diligent("finish"));
        words.push("--json".to_owned());
        let refused = project.ambit(words);
        assert_eq!((refused.code, refused.code_of_failure().as_str()), (2, "IMAGE_NOT_PINNED"), "{tag}");
        let registered = project.ambit(["catalog", "register", "catalog.yaml", "--json"]);
        assert_eq!(registered.code_of_failure(), "IMAGE_NOT_PINNED", "{tag}");
    }
    assert_eq!(project.records_of_project(), before);
    project.write("catalog.yaml", &catalog);
    project.assert_works("pinned");
}

#[test]
fn a_gate_without_a_command_and_a_base_that_is_gone_are_refused_and_recorded() {
    let project = Project::empty();
    let unknown = blueprint("").replace("- { id: unit, cases", "- { id: absent, cases");
    project.write("blueprint.yaml", &unknown);
    project.ambit(["approver", "init", "--name", "ada", "--out", "approver.key"]).well();
    project.approve("blueprint.yaml").well();
    let start = |base: &str| {
        let mut words = project.start_words("refused", &diligent("finish"));
        let place = words.iter().position(|word| word == "--base").unwrap() + 1;
        words[place] = base.to_owned();
        words.push("--json".to_owned());
        project.ambit(words)
    };
    let refused = |answered: Answered, exit: i32, code: &str| {
        assert_eq!((answered.code, answered.out.as_str()), (exit, ""), "{answered:?}");
        assert_eq!(answered.code_of_failure(), code);
    };
    refused(start("app"), 2, "GATE_UNKNOWN");
    project.write("blueprint.yaml", &blueprint("").replace("version: 1", "version: 2"));
    project.approve("blueprint.yaml").well();
    refused(start("rev-99"), 11, "BASE_REVISION_GONE");
    let listed = project.ambit(["trace", "list", "--denials", "--json"]).well().json();
    let listed: Vec<&serde_json::Value> =
        listed["records"].as_array().unwrap().iter().map(|link| &link["record"]).collect();
    let codes: Vec<&str> = listed.iter().map(|record| record["body"]["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["GATE_UNKNOWN", "BASE_REVISION_GONE"]);
    let none = project.ambit(["run", "list", "--json"]).well().json();
    assert_eq!(none["runs"].as_array().unwrap().len(), 0);
    project.assert_works("accepted");
}

#[test]
fn a_base_whose_content_is_gone_starts_nothing_and_is_named_by_its_digest() {
    let project = Project::new();
    let tree = project.ambit(["revision", "import", "app", "--json"]).well().json();
    let hex = tree["tree"].as_str().unwrap().strip_prefix("sha256:").unwrap().to_owned();
    let (shard, file) = hex.split_at(2);
    let blob = project.home().join("blobs/acme").join(&project.name).join(shard).join(file);
    let bytes = fs::read(&blob).unwrap();
    fs::remove_file(&blob).unwrap();
    let mut words = project.start_words("gone", &diligent("finish"));
    let place = words.iter().position(|word| word == "--base").unwrap() + 1;
    words[place] = "rev-0".to_owned();
    words.push("--json".to_owned());
    let refused = project.ambit(words);
    assert_eq!((refused.code, refused.code_of_failure().as_str()), (11, "BASE_REVISION_GONE"), "{refused:?}");
    assert!(refused.err.contains(tree["tree"].as_str().unwrap()), "{refused:?}");
    fs::write(&blob, bytes).unwrap();
    project.assert_works("back");
}

#[test]
fn a_tree_with_what_no_source_is_is_refused_whole_and_names_the_file() {
    let project = Project::new();
    let refused = |code: &str, name: &str| {
        let before = project.revisions();
        let mut words = project.start_words("bad-tree", &diligent("finish"));
        words.push("--json".to_owned());
        for answered in [project.ambit(["revision", "import", "app", "--json"]), project.ambit(words)] {
            assert_eq!((answered.code, answered.out.as_str()), (2, ""), "{answered:?}");
            assert_eq!(answered.code_of_failure(), code);
            assert!(
                answered.err.contains(name) && answered.err.contains("nothing was imported"),
                "{answered:?}"
            );
        }
        assert_eq!(project.revisions(), before);
    };
    let sparse = project.path("app/huge.bin");
    File::create(&sparse).unwrap().set_len(2 << 30).unwrap();
    refused("IMPORT_FILE_TOO_LARGE", "huge.bin");
    fs::remove_file(&sparse).unwrap();

    let socket = project.path("app/socket");
    let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    refused("IMPORT_SPECIAL_FILE", "socket");
    drop(listener);
    fs::remove_file(&socket).unwrap();

    project.assert_works("clean");
    assert_eq!(count(&project.records("clean"), "patch.applied"), 1);
}

#[test]
fn a_name_that_is_no_text_and_a_link_that_leads_out_stay_what_they_are() {
    let project = Project::new();
    let name = OsString::from_vec(b"caf\xe9 \n.txt".to_vec());
    fs::write(project.path("app").join(&name), "latin-1\n").unwrap();
    symlink("/etc/passwd", project.path("app/outward")).unwrap();
    let read = |path: &str| {
        let call = json!({"tool": "read_project_file",
            "input": {"projectId": "${project}", "revisionId": "${revision}", "path": path}});
        format!("    - say: {call}\n")
    };
    let turns = format!("{}{PLAN}{}{GATE}", read("outward"), patch(FIX, ""));
    project.start("links", &transcript(&turns, "finish")).well();
    let records = project.records("links");
    let text = serde_json::to_string(&records).unwrap();
    assert!(!text.contains("root:"), "the file of the machine was read: {text}");
    project.ambit(["revision", "export", "rev-1", "--as", "directory", "--out", "kept"]).well();
    let kept = project.path("kept");
    assert_eq!(fs::read(kept.join(&name)).unwrap(), b"latin-1\n");
    assert_eq!(fs::read_link(kept.join("outward")).unwrap(), Path::new("/etc/passwd"));
    // A bundle is plain files with names that mean the same everywhere; what has none is named, and its content lies in a blob.
    project.ambit(["run", "export", "links", "--out", "bundle"]).well();
    let outward = project.path("bundle/revision/outward");
    assert!(fs::symlink_metadata(&outward).unwrap().is_file());
    assert_eq!(fs::read(outward).unwrap(), b"/etc/passwd");
    let left_out = fs::read_to_string(project.path("bundle/left-out.json")).unwrap();
    assert!(left_out.contains("revision/caf") && !left_out.contains("outward"), "{left_out}");
    project.ambit(["trace", "verify", "links"]).well();
}

#[test]
fn a_transcript_a_name_and_an_amount_that_are_none_are_refused_before_anything_exists() {
    let project = Project::new();
    let before = project.records_of_project();
    let start = |change: &dyn Fn(&mut Vec<String>)| {
        let mut words = project.start_words("fine", &diligent("finish"));
        change(&mut words);
        let refused = project.ambit(words);
        assert_eq!((refused.code, refused.out.as_str()), (2, ""), "{refused:?}");
        assert!(!refused.err.is_empty());
    };
    start(&|words| words[2] = "../escape".to_owned());
    start(&|words| words[2] = "a\nb".to_owned());
    start(&|words| words.extend(["--max-steps", "0"].map(str::to_owned)));
    start(&|words| words.extend(["--max-steps", "101"].map(str::to_owned)));
    start(&|words| words.extend(["--max-cost-usd", "-1"].map(str::to_owned)));
    start(&|words| words.extend(["--max-cost-usd", "NaN"].map(str::to_owned)));
    start(&|words| words.extend(["--digest", "sha256:1"].map(str::to_owned)));
    start(&|_| project.write("fine.agent.yaml", "then: [improvise\n"));
    start(&|_| fs::write(project.path("fine.agent.yaml"), vec![0xff; 64]).unwrap());
    start(&|_| fs::write(project.path("fine.agent.yaml"), vec![b' '; 3 << 20]).unwrap());
    start(&|_| fs::remove_file(project.path("fine.agent.yaml")).unwrap());
    assert_eq!(project.records_of_project(), before);
    project.assert_works("fine");
}
