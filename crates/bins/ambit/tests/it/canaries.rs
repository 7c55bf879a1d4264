//! What lies beside a run, in every form in which it could get out: none of it is in the state, an export, or a view.

use std::fs;
use std::path::Path;

use crate::rig::{FIX, GATE, PLAN, Project, patch, transcript};

const ENVIRONMENT: &str = "CANARY-environment-8e2f61";
const MODEL_KEY: &str = "CANARY-model-key-30d9b7";
const CONFIG: &str = "CANARY-user-config-c5a418";
const OUTSIDE: &str = "CANARY-outside-77f0ee";

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The characters of base64 that these bytes decide wholly, where `before` bytes of something else stand before them.
fn base64_inside(bytes: &[u8], before: usize) -> Vec<u8> {
    let mut padded = vec![0; before];
    padded.extend_from_slice(bytes);
    let bit = |at: usize| padded[at / 8] >> (7 - at % 8) & 1;
    let sextets = (before * 8).div_ceil(6)..padded.len() * 8 / 6;
    sextets.map(|at| BASE64[usize::from((0..6).fold(0, |sum, i| sum << 1 | bit(at * 6 + i)))]).collect()
}

/// Every form in which a canary is looked for.
fn forms(canary: &str) -> Vec<(&'static str, Vec<u8>)> {
    let bytes = canary.as_bytes();
    let each = |form: fn(&u8) -> String| bytes.iter().map(form).collect::<String>().into_bytes();
    vec![
        ("plain", bytes.to_vec()),
        ("base64 at 0", base64_inside(bytes, 0)),
        ("base64 at 1", base64_inside(bytes, 1)),
        ("base64 at 2", base64_inside(bytes, 2)),
        ("URL-encoded", canary.replace('-', "%2D").into_bytes()),
        ("URL-encoded whole", each(|byte| format!("%{byte:02X}"))),
        ("hexadecimal", each(|byte| format!("{byte:02x}"))),
    ]
}

/// What a canary looks like where it is found. Pieces of other things may stand between its halves: a text is searched as it
/// is, and once more without everything that separates.
pub(crate) fn found(text: &[u8], canary: &str) -> Option<&'static str> {
    let holds = |text: &[u8], form: &[u8]| text.windows(form.len()).any(|window| window == form);
    let joined = |text: &[u8]| -> Vec<u8> {
        text.iter().copied().filter(|byte| byte.is_ascii_alphanumeric() || b"+/%".contains(byte)).collect()
    };
    let whole = joined(text);
    forms(canary).into_iter().find_map(|(name, form)| {
        if holds(text, &form) {
            return Some(name);
        }
        holds(&whole, &joined(&form)).then_some("split")
    })
}

/// Every file below, images aside, and all files of each directory one after another, as chunks would lie.
fn texts(dir: &Path, all: &mut Vec<(String, Vec<u8>)>) {
    let mut entries: Vec<_> = fs::read_dir(dir).unwrap().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    let mut together = Vec::new();
    for path in entries {
        if path.is_dir() && !path.is_symlink() && !path.ends_with("images") {
            texts(&path, all);
        } else if path.is_file() {
            let content = fs::read(&path).unwrap_or_default();
            together.extend_from_slice(&content);
        }
    }
    all.push((dir.display().to_string(), together));
}

#[test]
fn a_canary_is_found_in_every_form_in_which_it_could_get_out() {
    let canary = CONFIG;
    for (name, form) in forms(canary) {
        let text = [b"before ".as_slice(), &form, b" after"].concat();
        assert!(found(&text, canary).is_some(), "{name}");
        let (head, tail) = form.split_at(form.len() / 2);
        assert!(found(&[head, b"\",\n\"", tail].concat(), canary).is_some(), "{name} in two chunks");
        let place = tempfile::TempDir::new().unwrap();
        fs::write(place.path().join("part-1"), head).unwrap();
        fs::write(place.path().join("part-2"), tail).unwrap();
        let mut all = Vec::new();
        texts(place.path(), &mut all);
        assert!(all.iter().any(|(_, text)| found(text, canary).is_some()), "{name} in two files");
    }
    // As another program writes it.
    assert_eq!(base64_inside(b"hello", 0), b"aGVsbG");
    assert_eq!(base64_inside(b"ello", 1), b"VsbG");
    assert_eq!(found(OUTSIDE.as_bytes(), canary), None);
}

// proves E-B05
#[test]
fn no_canary_that_lies_beside_a_run_gets_out_in_any_form() {
    let project = Project::empty();
    // The gate says everything that it was started with, and asks for what lies outside.
    let outside = project.path("outside.txt");
    let steal = format!(
        "set\ncat /proc/self/environ /proc/1/environ {} ../outside.txt ../model.key ../approver.key\n\
         sh greet.sh ada | grep -q 'hello ada'\n",
        outside.display()
    );
    project.write("app/check.sh", &steal);
    project.approve_as_ada();
    for (name, canary) in [("outside.txt", OUTSIDE), ("model.key", MODEL_KEY)] {
        project.write(name, canary);
    }
    fs::create_dir_all(project.path("config/ambit")).unwrap();
    project.write("config/ambit/agent.yaml", &format!("# {CONFIG}\n"));
    let credential = fs::read_to_string(project.path("approver.key")).unwrap();
    let command = |words: &[&str]| {
        let mut command = project.command(words);
        command.env("AMBIT_TEST_SECRET", ENVIRONMENT).env("MODEL_KEY", MODEL_KEY);
        command.env("XDG_CONFIG_HOME", project.path("config"));
        command.output().unwrap()
    };
    let read = |path: &str| {
        format!(
            "    - say: {{ tool: read_project_file, input: {{ projectId: {}, revisionId: \"${{revision}}\", path: \"{path}\" }} }}\n",
            project.name
        )
    };
    let turns = [PLAN, &read("../outside.txt"), &read("../model.key"), &patch(FIX, ""), GATE].concat();
    let words = project.start_words("canaries", &transcript(&turns, "finish"));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let started = command(&words);
    assert_eq!(started.status.code(), Some(0), "{}", String::from_utf8_lossy(&started.stderr));
    let bundle = project.path("bundle");
    let views: [&[&str]; 6] = [
        &["run", "export", "canaries", "--out", bundle.to_str().unwrap()],
        &["run", "show", "canaries", "--json"],
        &["gate", "show", "canaries", "unit"],
        &["trace", "show", "canaries", "--json"],
        &["trace", "verify"],
        &["revision", "diff", "rev-0", "rev-1", "--patch"],
    ];
    let mut all = vec![("run start".to_owned(), [started.stdout, started.stderr].concat())];
    for view in views {
        let answered = command(view);
        assert_eq!(answered.status.code(), Some(0), "{view:?}");
        all.push((view.join(" "), [answered.stdout, answered.stderr].concat()));
    }
    texts(project.home(), &mut all);
    texts(&bundle, &mut all);
    for canary in [ENVIRONMENT, MODEL_KEY, CONFIG, OUTSIDE, credential.trim()] {
        for (place, text) in &all {
            assert_eq!(found(text, canary), None, "{canary} is in {place}");
        }
    }
    let kept = all.iter().any(|(_, text)| found(text, "LC_ALL=C.UTF-8").is_some());
    assert!(kept, "the same search finds what the gate was started with");
}
