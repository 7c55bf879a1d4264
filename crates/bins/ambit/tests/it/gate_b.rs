//! Gate B: the smallest slice with code. A commit of the host is obtained exactly, an agent changes it elsewhere, a check
//! that can fail says what it says, and what comes out is a patch that fits a fresh clone.

use std::fs;
use std::path::{Path, PathBuf};

use ambit_evidence::artifacts::{CheckVerdict, RunArtifacts};
use ambit_git_mirror::{CommitName, Mirrors, Source, Wanted};
use ambit_ids::Digest;
use ambit_revision::Touch;

use crate::host::{Host, commit_all, git, is_git_here};
use crate::rig::{CHECK, FIX, GATE, GREET, PLAN, Project, blueprint, patch, transcript};

/// Moves a file to a name that needs quoting.
const MOVE: &str = "--- a/old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-kept\n--- /dev/null\n+++ \"b/new \\\"name\\\".txt\"\n@@ -0,0 +1 @@\n+kept\n";
/// Greets, and forgets the name still.
const WRONG: &str =
    "--- a/greet.sh\n+++ b/greet.sh\n@@ -1,2 +1,2 @@\n #!/bin/sh\n-echo hello\n+echo hello you\n";

/// A host with a repository whose newest commit is not the one that is worked on, and a remote of it.
struct Slice {
    project: Project,
    host: PathBuf,
    far: PathBuf,
    base: PathBuf,
    commit: String,
}

impl Slice {
    fn new() -> Self {
        let project = Project::new();
        let host = project.path("app");
        project.write("app/old.txt", "kept\n");
        let commit = commit_all(&host, "the one that is worked on");
        project.write("app/greet.sh", "#!/bin/sh\necho later\n");
        commit_all(&host, "a later one");
        git(project.dir.path(), ["clone", "--quiet", "--bare", "--no-hardlinks", "app", "far.git"]);
        let far = project.path("far.git");
        git(&host, ["remote", "add", "origin", "../far.git"]);
        let wide = blueprint("").replace("paths: [greet.sh, requirements.txt]", "paths: [\"**\"]");
        project.write("wide.yaml", &wide.replace("version: 1", "version: 2"));
        project.approve("wide.yaml").well();
        let base = project.path("base");
        Self { project, host, far, base, commit }
    }

    /// Lays out the commit, from a mirror of the host.
    fn lay_out(&self) {
        let search_path = std::env::var_os("PATH").unwrap();
        let mirrors = Mirrors::new(&self.project.path("mirrors"), &search_path).unwrap();
        let source = Source::directory(&self.host).unwrap();
        let wanted = Wanted::new(CommitName::parse(&self.commit).unwrap());
        let obtained = mirrors.obtain(&source, &wanted).unwrap();
        assert_eq!(obtained.commit.as_str(), self.commit);
        assert!(mirrors.holds(&source, &obtained.commit, wanted.deadline).unwrap());
        fs::create_dir(&self.base).unwrap();
        let mirror = format!("--git-dir={}", obtained.repository.display());
        let tree = format!("--work-tree={}", self.base.display());
        git(self.project.dir.path(), [&mirror, &tree, "checkout", "--quiet", &self.commit, "--", "."]);
        assert_eq!(fs::read_to_string(self.base.join("greet.sh")).unwrap(), GREET);
    }

    fn run(&self, name: &str, proposed: &str) -> i32 {
        let agent = format!("{name}.agent.yaml");
        let turns = format!("{PLAN}{}{GATE}", patch(proposed, ""));
        self.project.write(&agent, &transcript(&turns, "finish"));
        self.project.ambit(self.project.start_on("base", name, agent)).code
    }

    fn exported(&self, name: &str) -> (RunArtifacts, PathBuf) {
        let out = self.project.path(&format!("{name}-out"));
        self.project.ambit(["run", "export", name, "--out", out.to_str().unwrap()]).well();
        (RunArtifacts::read(&fs::read(out.join("artifacts.json")).unwrap()).unwrap(), out)
    }

    /// A fresh clone of the remote at the commit that is worked on.
    fn fresh_clone(&self, name: &str) -> PathBuf {
        git(
            self.project.dir.path(),
            ["clone", "--quiet", "--no-checkout", "--no-hardlinks", "far.git", name],
        );
        let clone = self.project.path(name);
        git(&clone, ["checkout", "--quiet", "--detach", &self.commit]);
        clone
    }
}

/// The files of a directory with their contents, by name.
fn files(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
    let mut files: Vec<(String, Vec<u8>)> = entries
        .filter(|entry| entry.file_name() != ".git")
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect();
    files.sort();
    files
}

// proves E-S23 E-S07 E-S08 E-S11 D3 D4
// break crates/control-plane/verify/src/readable.rs: `Readable::Made(changes.text)` -> `Readable::Made(Vec::new())`
// break crates/control-plane/verify/src/artifacts.rs: `touched: changes.comparison.touched(),` -> `touched: Vec::new(),`
#[test]
fn gate_b_a_slice_with_code_yields_a_patch_that_fits_a_fresh_clone() {
    if !is_git_here("gate_b_a_slice_with_code") {
        return;
    }
    let slice = Slice::new();
    let (before, remote) = (Host::of(&slice.host), Host::of(&slice.far));
    slice.lay_out();
    let proposed = format!("{FIX}{MOVE}");
    assert_eq!(slice.run("first", &proposed), 0);
    let (made, out) = slice.exported("first");
    before.assert_untouched(&slice.host);
    remote.assert_untouched(&slice.far);
    let [check] = &made.verification[..] else { panic!("{made:?}") };
    assert_eq!((check.verdict, check.exit, check.tree), (CheckVerdict::Passed, Some(0), made.head.tree));
    let touched: Vec<(String, Touch, Option<String>)> = made
        .touched
        .iter()
        .map(|file| (file.path.to_string(), file.touch, file.from.as_ref().map(ToString::to_string)))
        .collect();
    let moved = ("new \"name\".txt".to_owned(), Touch::Renamed, Some("old.txt".to_owned()));
    assert_eq!(touched, [("greet.sh".to_owned(), Touch::Modified, None), moved]);

    // What came out fits where it came from, and gives the very tree.
    let exported = fs::read(out.join("changes.patch")).unwrap();
    assert_eq!(
        (Digest::of(&exported), exported.len() as u64),
        (made.patch.digest, made.patch.size_bytes.get())
    );
    let clone = slice.fresh_clone("clone");
    let patch = out.join("changes.patch");
    git(&clone, ["apply".as_ref(), "--check".as_ref(), patch.as_os_str()]);
    git(&clone, ["apply".as_ref(), "--index".as_ref(), patch.as_os_str()]);
    assert_eq!(files(&clone), files(&out.join("revision")));
    commit_all(&clone, "what the agent did");
    let named = git(&clone, ["diff", "--name-status", "--find-renames=100%", "-z", "HEAD~1", "HEAD"]);
    assert_eq!(
        named, "M\0greet.sh\0R100\0old.txt\0new \"name\".txt\0",
        "git tells the same of committed work"
    );

    // Again, it is the same.
    assert_eq!(slice.run("again", &proposed), 0);
    let (again, _) = slice.exported("again");
    assert_eq!((again.head.tree, again.patch.digest), (made.head.tree, made.patch.digest));
    assert_eq!((again.base, again.touched), (made.base, made.touched));
    before.assert_untouched(&slice.host);
    remote.assert_untouched(&slice.far);
}

// proves E-S23 D3
// break crates/control-plane/verify/src/artifacts.rs: `verdict: CheckVerdict::of(record.ending, &record.objections),` -> `verdict: CheckVerdict::Passed,`
#[test]
fn gate_b_a_change_that_breaks_the_test_fails_the_gate_and_is_told_so() {
    if !is_git_here("gate_b_a_change_that_breaks_the_test") {
        return;
    }
    let slice = Slice::new();
    let (before, remote) = (Host::of(&slice.host), Host::of(&slice.far));
    slice.lay_out();
    assert_eq!(fs::read_to_string(slice.base.join("check.sh")).unwrap(), CHECK);
    assert_eq!(slice.run("wrong", WRONG), 3);
    let (made, out) = slice.exported("wrong");
    before.assert_untouched(&slice.host);
    remote.assert_untouched(&slice.far);
    assert_eq!((made.phase.as_str(), made.preview_ready), ("failed", false));
    let [check] = &made.verification[..] else { panic!("{made:?}") };
    assert_eq!((check.verdict, check.exit, check.attempt), (CheckVerdict::Failed, Some(1), 1));
    let said = fs::read(out.join("gates/unit-1/stdout")).unwrap();
    assert_eq!(String::from_utf8_lossy(&said), "FAIL: greet: got hello you\n");
    assert_eq!(check.stdout.digest, Digest::of(&said));
    // The patch that failed is kept all the same, and fits.
    let clone = slice.fresh_clone("clone");
    git(&clone, ["apply".as_ref(), out.join("changes.patch").as_os_str()]);
    assert_eq!(files(&clone), files(&out.join("revision")));
    assert_eq!(made.touched.len(), 1);
}
