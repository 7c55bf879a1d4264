//! The files of a hidden check: what lies over the source for it, and for nothing else.

use std::sync::Arc;

use ambit_broker::BrokerError;
use ambit_gates::Objection;
use ambit_ids::{Content, Digest, RepoPath};
use ambit_ports::AbortHandle;
use ambit_revision::{Contents, FileKind, Tree, TreeFile};
use ambit_revisions::{HiddenFilesError, Revisions, admit_hidden, not_in_source};
use ambit_run::{GateRecord, HiddenCheck};
use ambit_simulation::{Execution, Outcome, Setup, simulate};

use crate::bench::Bench;

const SECRET: &str = "SECRET-CASE-5c1f";

type File = (&'static str, FileKind, &'static [u8]);

fn tree(files: &[File]) -> (Tree, Contents) {
    let mut contents = Contents::new();
    contents.extend(files.iter().map(|(_, _, bytes)| Content::of(bytes.to_vec())));
    let entries = files.iter().map(|(path, kind, bytes)| (path.parse().unwrap(), TreeFile::of(*kind, bytes)));
    (Tree::from_files(entries).unwrap(), contents)
}

fn revisions(bench: &Bench) -> Revisions {
    Revisions::new(Arc::new(bench.world.blobs.clone()))
}

async fn keep(bench: &Bench, files: &[File]) -> Result<Digest, HiddenFilesError> {
    let (tree, contents) = tree(files);
    admit_hidden(tree.digest(), &tree)?;
    Ok(revisions(bench).keep(&bench.world.scope, &tree, &contents).await.unwrap())
}

/// The bench, whose gate `unit` has a hidden check with these files.
fn brings(bench: &mut Bench, digest: Digest) {
    let mut blueprint = bench.ground.blueprint.as_ref().clone();
    blueprint.spec.gates[0].hidden_check = Some("hidden".parse().unwrap());
    blueprint.spec.gates[0].hidden_files =
        Some(ambit_blueprint::HiddenFiles { from: "hidden".parse().unwrap(), digest });
    bench.ground.blueprint = Arc::new(blueprint);
}

async fn check(bench: &Bench) -> Result<GateRecord, BrokerError> {
    let check = HiddenCheck { gate: "unit".parse().unwrap(), command: "hidden".parse().unwrap() };
    let abort = AbortHandle::new().1;
    bench.broker.run_hidden_check(&bench.ground, &bench.lease, &check, bench.head, abort).await
}

/// Passes where the hidden case is there; so does nothing that an agent sees.
fn judge(execution: &Execution<'_>) -> Outcome {
    let secret = execution.text("tests/protected/check.txt") + &execution.text("src/word.txt/case.txt");
    if secret.contains(SECRET) { Outcome::passes() } else { Outcome::fails("no case") }
}

fn setup(judge: impl Fn(&Execution<'_>) -> Outcome + Send + Sync + 'static) -> Setup {
    Setup { judge: Box::new(judge), ..Setup::standard() }
}

const PLAIN: FileKind = FileKind::File;

// proves E-F02 E-F04
// break crates/control-plane/broker/src/evaluate.rs: `source = source.under(hidden)?;` -> `let _ = source.under(hidden)?;`
#[test]
fn hidden_files_lie_over_the_source_for_the_hidden_check_alone_and_win() {
    simulate(async {
        let mut bench = Bench::new(setup(judge)).await;
        let case: &[u8] = SECRET.as_bytes();
        // In the place of a protected file, and below what is a file of the source.
        for path in ["tests/protected/check.txt", "src/word.txt/case.txt"] {
            let digest =
                keep(&bench, &[(path, PLAIN, case), ("src/other/new.py", PLAIN, b"x")]).await.unwrap();
            brings(&mut bench, digest);
            let record = check(&bench).await.unwrap();
            assert!(record.passed(), "{path}: {record:?}");
            assert_eq!(record.tree, bench.head, "what it speaks for is the tree of the run");
        }
        let gate = bench.perform(bench.gate(), &ambit_run::Finding::Clear).await;
        assert_eq!(gate.reply["exitCode"], 1, "a gate that the agent asks for has none of them");
        // Nor does anything that looks at the source.
        for call in [bench.list(), bench.search(SECRET, None), bench.read("tests/protected/check.txt")] {
            let told = bench.perform(call, &ambit_run::Finding::Clear).await.reply.to_string();
            assert!(!told.contains(SECRET) && !told.contains("new.py"), "{told}");
        }
    });
}

// proves E-F04
// break crates/control-plane/broker/src/evaluate/protected.rs: `paths.contains(path) || is_hidden(path)` -> `paths.contains(path)`
#[test]
fn hidden_files_are_protected_while_the_check_runs() {
    simulate(async {
        for (outcome, code) in [
            (Outcome::passes(), None),
            (Outcome::passes().leaving("quiet/case.txt", b"nothing"), Some("GATE_PROTECTED_FILE_CHANGED")),
            (Outcome::passes().removing("quiet/case.txt"), Some("GATE_PROTECTED_FILE_CHANGED")),
            (
                Outcome::passes().leaving("quiet/case.txt", SECRET.as_bytes()),
                Some("GATE_PROTECTED_FILE_CHANGED"),
            ),
        ] {
            let mut bench = Bench::new(setup(move |_| outcome.clone())).await;
            let digest = keep(&bench, &[("quiet/case.txt", PLAIN, SECRET.as_bytes())]).await.unwrap();
            brings(&mut bench, digest);
            let record = check(&bench).await.unwrap();
            let codes: Vec<&str> = record.objections.iter().map(Objection::code).collect();
            assert_eq!(codes, code.into_iter().collect::<Vec<_>>());
        }
    });
}

// proves E-F02
// break crates/control-plane/revisions/src/hidden.rs: `self.content(scope, &path, file).await.map_err(missing)?;` -> `let _ = self.content(scope, &path, file).await.map_err(missing);`
#[test]
fn a_hidden_check_without_all_of_its_files_is_not_run() {
    simulate(async {
        let mut bench = Bench::new(setup(|_| Outcome::passes())).await;
        brings(&mut bench, Digest::of(b"never kept"));
        let code = check(&bench).await.unwrap_err().code();
        assert_eq!(code, "HIDDEN_FILES_MISSING");
        let digest = keep(&bench, &[("case.txt", PLAIN, SECRET.as_bytes())]).await.unwrap();
        brings(&mut bench, digest);
        assert!(check(&bench).await.unwrap().passed());
        bench.world.blobs.tamper(&bench.world.scope, Digest::of(SECRET.as_bytes()), "another".into());
        assert_eq!(check(&bench).await.unwrap_err().code(), "HIDDEN_FILES_MISSING");
        assert_eq!(bench.world.sandbox.executed().len(), 1, "only what was whole was run");
    });
}

// proves E-F02
#[test]
fn what_cannot_be_hidden_files_is_not_kept() {
    simulate(async {
        let bench = Bench::new(setup(|_| Outcome::passes())).await;
        let refused = async |files: &[File]| keep(&bench, files).await.unwrap_err().code();
        assert_eq!(refused(&[]).await, "HIDDEN_FILES_SIZE");
        assert_eq!(refused(&[("a", FileKind::Link, b"/etc/passwd")]).await, "HIDDEN_FILES_NOT_PLAIN");
        let names: Vec<RepoPath> = (0..1025).map(|number| format!("f{number}").parse().unwrap()).collect();
        let many = Tree::from_files(names.into_iter().map(|path| (path, TreeFile::of(PLAIN, b"x")))).unwrap();
        let large = vec![0; 17 << 20];
        let (few, _) = tree(&[("a", PLAIN, b"x")]);
        let large = Tree::from_files([("a".parse().unwrap(), TreeFile::of(PLAIN, &large))]).unwrap();
        let unnamed =
            Tree::from_files([(RepoPath::from_bytes(b"\xff").unwrap(), TreeFile::of(PLAIN, b"x"))]).unwrap();
        for (tree, named, code) in [
            (&many, many.digest(), "HIDDEN_FILES_SIZE"),
            (&large, large.digest(), "HIDDEN_FILES_SIZE"),
            (&unnamed, unnamed.digest(), "HIDDEN_FILES_NOT_PLAIN"),
            (&few, Digest::of(b"another"), "HIDDEN_FILES_DIFFER"),
        ] {
            assert_eq!(admit_hidden(named, tree).unwrap_err().code(), code);
        }
        // What lies in the source as well is hidden from nobody; one file that does not is enough.
        let source = &bench.world.base_tree;
        let open: File = ("elsewhere/check.txt", PLAIN, b"the word is right\n");
        assert!(matches!(not_in_source(&tree(&[open]).0, source), Err(HiddenFilesError::InSource)));
        assert!(not_in_source(&tree(&[open, ("case.txt", PLAIN, SECRET.as_bytes())]).0, source).is_ok());
    });
}
