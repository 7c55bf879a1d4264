//! Every case of the collections of patches, through the process: exactly the result, or a refusal and nothing written.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;

use ambit_revision::{Contents, FileKind, Tree, apply, parse};
use ambit_source_directory::{IgnoreFiles, ImportOptions, SourceFiles, measure};
use serde_json::Value;
use tempfile::TempDir;

use crate::cases::{ambit, cases, copy, link, seen, untouched};

/// How many processes run at a time.
const THREADS: usize = 4;

struct Case {
    id: String,
    folder: PathBuf,
    /// What must become of it, where there is no choice.
    applies: Option<bool>,
    links: BTreeMap<String, String>,
    /// Files of `out` that the patch removes.
    stale: &'static [&'static str],
}

/// A directory with the base, and other things around it that nobody may touch.
struct Place {
    dir: TempDir,
}

impl Place {
    fn of(case: &Case) -> Self {
        let dir = tempfile::Builder::new().prefix("patch-").tempdir().unwrap();
        let place = Self { dir };
        copy(&case.folder.join("in"), &place.path("work/base"));
        for (name, target) in &case.links {
            link(&place.path("work/base"), name, target);
        }
        for outside in ["x.txt", "escape.txt", "a.txt", "work/x.txt", "work/a.txt"] {
            fs::write(place.path(outside), "outside\n").unwrap();
        }
        let patch = fs::read(case.folder.join("change.patch")).unwrap_or_else(|_| big_line(&case.folder));
        fs::write(place.path("change.patch"), patch).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
}

/// The one patch that is too large to lie among the cases: it adds a line of 3,000,000 bytes below the first.
fn big_line(folder: &Path) -> Vec<u8> {
    let text = fs::read(folder.join("in/a.txt")).unwrap();
    let first = text.split_inclusive(|byte| *byte == b'\n').next().unwrap();
    let long = vec![b'x'; 3_000_000];
    [b"--- a/a.txt\n+++ b/a.txt\n@@ -1 +1,2 @@\n ", first, b"+", &long, b"\n"].concat()
}

fn options() -> ImportOptions {
    ImportOptions { ignore_files: IgnoreFiles::Disregarded, ..ImportOptions::default() }
}

/// What the engine makes of the same patch in memory, which its own tests hold against the cases.
fn in_memory(base: &Path, patch: &[u8]) -> Result<Tree, String> {
    let tree = measure(base, options()).unwrap().tree;
    let mut files = SourceFiles::open(base).unwrap();
    let mut contents = Contents::new();
    for (path, file) in tree.files().filter(|(_, file)| file.kind != FileKind::Link) {
        contents.insert(files.read(&path, file).unwrap());
    }
    let patch = parse(patch).map_err(|error| error.code().to_owned())?;
    let applied = apply(&tree, &tree.digest(), &patch, &contents);
    applied.map(|applied| applied.tree).map_err(|refusal| refusal.code().to_owned())
}

/// What is wrong with how a case went.
fn judge(case: &Case) -> Result<&'static str, String> {
    let place = Place::of(case);
    let expected = in_memory(&place.path("work/base"), &fs::read(place.path("change.patch")).unwrap());
    let before = untouched(place.dir.path());
    let words = ["--base", "work/base", "--all", "change.patch"];
    let check = ambit(place.dir.path(), &[&["patch", "check"], &words[..]].concat());
    if untouched(place.dir.path()) != before {
        return Err("a check wrote something".to_owned());
    }
    let outs = TempDir::new().unwrap();
    let out = outs.path().join("out");
    let out_words = ["--out", out.to_str().unwrap()];
    let applied = ambit(place.dir.path(), &[&["patch", "apply"], &words[..], &out_words].concat());
    if untouched(place.dir.path()) != before {
        return Err("something but the new directory was touched".to_owned());
    }
    let told: Value = serde_json::from_str(&applied.out).map_err(|error| format!("{error}: {applied:?}"))?;
    let checked: Value = serde_json::from_str(&check.out).map_err(|error| format!("{error}: {check:?}"))?;
    let said = match checked["verdict"].as_str() {
        Some("applies") => "applied",
        Some(other) => other,
        None => "nothing",
    };
    if told["verdict"] != said {
        return Err(format!("check and apply do not agree: {checked} {told}"));
    }
    for member in ["code", "message", "canonical", "files", "hunks"] {
        if told[member] != checked[member] {
            return Err(format!("check and apply do not agree on {member}: {checked} {told}"));
        }
    }
    let entries = fs::read_dir(outs.path()).unwrap().count();
    match (&expected, told["verdict"].as_str(), applied.code, check.code) {
        (Ok(_), Some("applied"), 0, 0) if case.applies != Some(false) => {}
        (Err(code), Some("refused"), 4, 4) if case.applies != Some(true) && told["code"] == **code => {
            return if entries == 0 { Ok("refused") } else { Err("a refused patch wrote".to_owned()) };
        }
        _ => return Err(format!("{expected:?}, and the process says {told}")),
    }
    let tree = measure(&out, options()).map_err(|error| error.to_string())?.tree;
    if expected.as_ref().ok() != Some(&tree) || told["tree"] != tree.digest().to_string() {
        return Err(format!("{tree:?} came out: {told}"));
    }
    if entries != 1 {
        return Err("something stands beside the new directory".to_owned());
    }
    same_files(case, &out)
}

/// Holds what was written against what the case says, byte for byte.
fn same_files(case: &Case, out: &Path) -> Result<&'static str, String> {
    let written = seen(out);
    let stated = seen(&case.folder);
    for (path, (mode, content)) in &stated {
        let Ok(path) = path.strip_prefix("out") else { continue };
        if case.stale.contains(&path.to_str().unwrap_or_default()) {
            continue;
        }
        match written.get(path) {
            Some((found, bytes)) if bytes == content && found & 0o600 == 0o600 => {}
            found => return Err(format!("{}: {:?} {mode:o}", path.display(), found.map(|(mode, _)| mode))),
        }
    }
    Ok("applied")
}

fn judge_all(cases: Vec<Case>) {
    let (queue, outcomes) = (Mutex::new(cases), Mutex::new(Vec::new()));
    thread::scope(|threads| {
        for _ in 0..THREADS {
            threads.spawn(|| {
                loop {
                    let Some(case) = queue.lock().unwrap().pop() else { return };
                    let outcome = judge(&case);
                    outcomes.lock().unwrap().push((case.id, outcome));
                }
            });
        }
    });
    let outcomes = outcomes.into_inner().unwrap();
    let wrong: Vec<_> = outcomes.iter().filter(|(_, outcome)| outcome.is_err()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let applied = outcomes.iter().filter(|(_, outcome)| *outcome == Ok("applied")).count();
    assert!(applied > 15 && outcomes.len() - applied > 15, "{applied} of {} applied", outcomes.len());
    println!("{applied} of {} applied, the others were refused", outcomes.len());
}

fn index(directory: &Path) -> Vec<Value> {
    serde_json::from_slice(&fs::read(directory.join("index.json")).unwrap()).unwrap()
}

fn case(directory: &Path, entry: &Value, applies: Option<bool>) -> Case {
    let id = entry["id"].as_str().unwrap().to_owned();
    let links = entry["links"].as_object().into_iter().flatten();
    let links = links.map(|(name, target)| (name.clone(), target.as_str().unwrap().to_owned())).collect();
    // These stand there as empty or stale files, though the patch removes them.
    let stale: &[&str] = if id.ends_with("nested_diff_signature") || id == "gnu_patch-delete_file" {
        &["mir-test.diff", "file.txt"]
    } else {
        &[]
    };
    Case { folder: directory.join(&id), id, applies, links, stale }
}

#[test]
fn every_case_of_our_own_comes_out_exactly_or_is_refused() {
    let Some(directory) = cases("diffs") else { return };
    let all = index(&directory);
    let cases = all.iter().map(|entry| {
        let applies = match entry["expect"].as_str().unwrap() {
            "apply" => Some(true),
            // How many files a patch may change is for the budget of a run to say.
            "reject" if !entry["needs_policy"]["maxChangedFiles"].is_null() => None,
            "reject" => Some(false),
            "reject-or-exact" => None,
            other => panic!("{other}"),
        };
        case(&directory, entry, applies)
    });
    judge_all(cases.collect());
}

#[test]
fn every_case_of_diffy_comes_out_exactly_or_is_refused() {
    let Some(directory) = cases("diffs-diffy") else { return };
    let all = index(&directory);
    let cases = all.iter().map(|entry| {
        let both = ["diffy_success", "reference_tool_success"].iter().all(|key| entry[key] == true);
        // diffy refuses an empty file that git makes.
        let made = entry["id"] == "gnu_patch-create_empty_file_gitdiff";
        case(&directory, entry, (!both && !made).then_some(false))
    });
    judge_all(cases.collect());
}
