//! Every path of the collection, read and patched in a directory that was made for real: nothing from outside of the
//! project is ever answered or written to.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use ambit_revision::{Contents, Judged, Tree, View, parse, touched};
use ambit_run::{Denial, DenialCode, Finding, Move, ToolCall, read_answer};
use ambit_simulation::{Setup, simulate};
use ambit_source_directory::{ImportOptions, SourceFiles, look, measure};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::bench::Bench;

/// What lies outside and may never be seen.
const SECRETS: [&str; 3] = ["TOP SECRET", "sibling whose name starts", "root:"];

fn cases(name: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap();
    let cases = std::env::var_os("AMBIT_CASES").map_or_else(|| root.join("../shared/cases"), PathBuf::from);
    let found = cases.join(name);
    if found.exists() {
        return Some(found);
    }
    assert_ne!(std::env::var("AMBIT_REQUIRE_CASES").as_deref(), Ok("1"), "{} is absent", found.display());
    println!("skipped: CASES_ABSENT {name}");
    None
}

fn lines(name: &str) -> Option<Vec<Value>> {
    let text = fs::read_to_string(cases(name)?).unwrap();
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// The directory that the collection describes, with what lies around it.
struct Ground {
    home: TempDir,
    files: BTreeMap<String, String>,
    /// What no tree can hold.
    other: Vec<String>,
}

impl Ground {
    fn new() -> Option<Self> {
        let told: Value = serde_json::from_slice(&fs::read(cases("paths/tree.json")?).unwrap()).unwrap();
        let home = TempDir::new().unwrap();
        let project = home.path().join("project");
        fs::create_dir(&project).unwrap();
        let text = |part: &str| {
            let part = told[part].as_object().unwrap().iter();
            part.map(|(name, text)| (name.clone(), text.as_str().unwrap().to_owned())).collect::<Vec<_>>()
        };
        for (name, content) in [text("files"), text("outside")].concat() {
            let path = project.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        for (name, target) in text("links") {
            symlink(target, project.join(name)).unwrap();
        }
        let other: Vec<String> = text("other").into_iter().map(|(name, _)| name).collect();
        for name in &other {
            make(&project, name);
        }
        Some(Self { home, files: text("files").into_iter().collect(), other })
    }

    fn project(&self) -> PathBuf {
        self.home.path().join("project")
    }

    /// What an import takes of it, without what it refuses.
    fn source(&self) -> (Tree, Contents) {
        for name in &self.other {
            // What could not be made is not there.
            let _ = fs::remove_file(self.project().join(name));
        }
        let tree = measure(&self.project(), ImportOptions::default()).unwrap().tree;
        let mut files = SourceFiles::open(&self.project()).unwrap();
        let mut contents = Contents::new();
        for (path, file) in tree.files() {
            contents.insert(files.read(&path, file).unwrap());
        }
        (tree, contents)
    }
}

/// Makes what no tree can hold, and gives the code by which an import refuses it; `None` where it cannot be made here, or
/// where this user may read everything.
fn make(project: &Path, name: &str) -> Option<&'static str> {
    let path = project.join(name);
    let ran = |words: &[&str]| Command::new(words[0]).args(&words[1..]).status().is_ok_and(|s| s.success());
    let shown = path.to_str().unwrap();
    match name {
        "fifo" => ran(&["mkfifo", shown]).then_some("IMPORT_SPECIAL_FILE"),
        "sock" => UnixListener::bind(&path).ok().map(|_| "IMPORT_SPECIAL_FILE"),
        "dev" => ran(&["mknod", shown, "c", "1", "3"]).then_some("IMPORT_SPECIAL_FILE"),
        "big.bin" => {
            fs::File::create(&path).unwrap().set_len(8 << 30).unwrap();
            Some("IMPORT_FILE_TOO_LARGE")
        }
        "denied.txt" => {
            fs::write(&path, "denied\n").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
            fs::read(&path).is_err().then_some("IMPORT_UNREADABLE")
        }
        other => panic!("{other} is not known here"),
    }
}

/// What became of a path.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Read(String),
    Refused(DenialCode),
}

/// A bench whose head is this tree.
async fn bench((tree, contents): (Tree, Contents)) -> Bench {
    let mut bench = Bench::new(Setup::standard()).await;
    bench.broker.revisions().keep(&bench.world.scope, &tree, &contents).await.unwrap();
    bench.head = tree.digest();
    bench
}

/// What an agent gets that asks for this path in so many words.
async fn read(bench: &Bench, path: &str) -> Outcome {
    let refused = |denial: &Denial| Outcome::Refused(denial.code);
    let ToolCall::ReadProjectFile { project_id, revision_id, .. } = bench.read("x") else { unreachable!() };
    let input = json!({"projectId": project_id, "revisionId": revision_id, "path": path});
    let answer = json!({"tool": "read_project_file", "input": input}).to_string();
    let call = match read_answer(answer.as_bytes()).map(|mut moves| moves.remove(0)) {
        Ok(Ok(Move::Call(proposed))) => proposed.call,
        Ok(Ok(Move::Plan(_))) => panic!("a plan"),
        Ok(Err(denial)) | Err(denial) => return refused(&denial),
    };
    let assessed = bench.assess(call.clone(), None).await;
    if let Finding::Refused(denial) = &assessed.finding {
        return refused(denial);
    }
    let performed = bench.perform(call, &assessed.finding).await;
    Outcome::Read(performed.reply["content"].as_str().unwrap().to_owned())
}

/// Whether what became of a path is what the collection expects.
fn is_expected(ground: &Ground, path: &str, expect: &str, outcome: &Outcome) -> bool {
    let is_whole = matches!(outcome, Outcome::Read(content) if ground.files.get(path) == Some(content));
    let is_missing = *outcome == Outcome::Refused(DenialCode::PathNotFound);
    let is_denied = matches!(outcome, Outcome::Refused(DenialCode::PathRefused | DenialCode::InputInvalid));
    match expect {
        "ok" => is_whole,
        "deny" => is_denied,
        "deny-or-ok" => is_denied || is_missing || is_whole,
        "deny-or-not_found" => is_denied || is_missing,
        // Whether a file of secrets is read is for the policy to say, which is asked after this.
        "policy" => is_whole,
        "error" => is_denied || is_missing,
        "error not_found" => is_missing,
        expect if expect.starts_with("error not_a_file") || expect == "error too_large" => is_missing,
        other => panic!("{other} is not known here"),
    }
}

// proves E-E08
// break crates/control-plane/broker/src/assess.rs: `Place::File(file) | Place::Beyond(file) if file.kind == FileKind::Link => refused(` -> `Place::Beyond(file) if file.kind == FileKind::Link => refused(`
#[test]
fn every_path_of_the_collection_is_answered_as_it_says_and_none_tells_of_what_lies_outside() {
    let (Some(ground), Some(lines)) = (Ground::new(), lines("paths/read.jsonl")) else { return };
    assert!(lines.len() > 50);
    // What no tree can hold is refused by its name.
    for name in &ground.other {
        let alone = TempDir::new().unwrap();
        let made = make(alone.path(), name);
        match measure(alone.path(), ImportOptions::default()) {
            Err(error) => {
                assert_eq!(Some(error.code()), made, "{name}");
                assert!(error.to_string().starts_with(name), "{error}");
            }
            Ok(_) => assert_eq!(made, None, "{name} was taken"),
        }
    }
    let source = ground.source();
    simulate(async {
        let bench = bench(source).await;
        let mut wrong = Vec::new();
        for line in &lines {
            let (path, expect) = (line["path"].as_str().unwrap(), line["expect"].as_str().unwrap());
            let outcome = read(&bench, path).await;
            let tells = matches!(&outcome, Outcome::Read(content) if SECRETS.iter().any(|secret| content.contains(secret)));
            if tells || !is_expected(&ground, path, expect, &outcome) {
                wrong.push(format!("{path:?} is to be {expect}: {outcome:?}"));
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    });
}

#[test]
fn no_line_that_leads_out_is_answered_or_patched() {
    let (Some(ground), Some(file)) = (Ground::new(), cases("paths/traversal.txt")) else { return };
    let source = ground.source();
    let text = String::from_utf8_lossy(&fs::read(file).unwrap()).replace("{FILE}", "etc/passwd");
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    assert!(lines.len() > 900);
    simulate(async {
        let bench = bench(source).await;
        for line in &lines {
            let outcome = read(&bench, line).await;
            assert!(matches!(outcome, Outcome::Refused(_)), "{line:?}: {outcome:?}");
        }
        // A path that stays inside is answered, so that the refusals are not for another reason.
        assert_eq!(read(&bench, "dir/b.txt").await, Outcome::Read("b\n".to_owned()));
    });
    for line in lines {
        assert_eq!(patched(&ground, line), None, "{line:?}");
    }
    assert!(patched(&ground, "a.txt").is_some());
}

/// What comes of the first line of the file at a path, where it is patched; `None` where that is refused.
fn patched(ground: &Ground, path: &str) -> Option<Vec<u8>> {
    let patch = format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-inside\n+patched\n");
    let patch = parse(patch.as_bytes()).ok()?;
    let looked = look(&ground.project(), &touched(&patch), ImportOptions::default()).ok()?;
    let secret = |bytes: &[u8]| SECRETS.iter().any(|secret| String::from_utf8_lossy(bytes).contains(secret));
    assert!(!looked.contents.iter().any(|(_, bytes)| secret(bytes)), "{path:?}");
    let judged = View::new(&patch, looked.listings).unwrap().apply(&looked.contents).ok()?;
    let Judged::Applied(effect) = judged else { return None };
    assert!(effect.changes.iter().all(|change| change.path.as_bytes() == path.as_bytes()), "{path:?}");
    effect.blobs.iter().next().map(|(_, bytes)| bytes.to_vec())
}

#[test]
fn every_path_of_the_collection_is_a_target_of_a_patch_only_where_it_may_be_read() {
    let (Some(ground), Some(lines)) = (Ground::new(), lines("paths/read.jsonl")) else { return };
    let plain: Vec<&str> = lines
        .iter()
        .filter_map(|line| line["path"].as_str())
        .filter(|path| patched(&ground, path).is_some())
        .collect();
    assert_eq!(plain, ["a.txt"], "the others hold another line, or are no files of the project");
}
