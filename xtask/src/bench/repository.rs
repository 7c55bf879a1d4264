//! What one would take for a large tree: git, in a repository with that tree, and the least that a file system allows.
//! And our own program as a process, held against theirs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::arm::{Arm, Closure, Sample, Start};
use super::ground::files;
use super::peers::{Scratch, always, installed, unwritten};
use crate::cargo;
use crate::failure::Failure;

/// How many files are edited before their tree is asked for.
const EDITS: usize = 10;

/// Performs an arm on the tree that lies at `tree`.
pub(super) fn answer(name: &str, tree: &Path, program: Option<&Path>) -> Result<Start, Failure> {
    let words: Vec<&str> = name.split('/').collect();
    if words[0] == "git" && !cargo::answers("git", &["--version"]) {
        return Ok(Start::Absent("git is not installed".to_owned()));
    }
    match words[..] {
        ["files", "rewrite", count] => rewrite(tree, count),
        ["files", "copy"] => copy(tree),
        ["git", "apply", way, count] => apply(tree, name, way, count),
        ["git", "status"] => edited(tree, name, &["status --porcelain"]),
        ["git", "write-tree"] => edited(tree, name, &["add --all", "write-tree"]),
        ["git", "worktree"] => worktree(tree),
        ["ambit", "patch", verb] => process(tree, program, verb),
        _ => Err(Failure::new(format!("there is no arm {name:?}"))),
    }
}

/// The patch of so many files that leads there, or back.
fn patch(tree: &Path, count: &str, way: &str) -> PathBuf {
    tree.with_extension(format!("{count}-{way}.patch"))
}

/// The files that a patch names.
fn named(patch: &Path) -> Result<Vec<String>, Failure> {
    let text = fs::read_to_string(patch).map_err(Failure::at("read", patch))?;
    Ok(text.lines().filter_map(|line| line.strip_prefix("+++ b/")).map(str::to_owned).collect())
}

/// Each file of a patch read, written anew beside itself and renamed.
fn rewrite(tree: &Path, count: &str) -> Result<Start, Failure> {
    let scratch = Scratch::make()?;
    let mut paths = Vec::new();
    for (number, name) in named(&patch(tree, count, "there"))?.iter().enumerate() {
        let path = scratch.0.join(number.to_string());
        fs::copy(tree.join(name), &path).map_err(unwritten)?;
        paths.push(path);
    }
    Ok(always(move || {
        let _kept = &scratch;
        for path in &paths {
            let beside = path.with_extension("new");
            let content = fs::read(path).map_err(unwritten)?;
            fs::write(&beside, content).and_then(|()| fs::rename(&beside, path)).map_err(unwritten)?;
        }
        Ok(())
    }))
}

/// Something that is brought about before each performance, outside the time.
struct After<B, O> {
    before: B,
    operation: O,
}

impl<B, O> Arm for After<B, O>
where
    B: FnMut() -> Result<(), Failure>,
    O: FnMut() -> Result<(), Failure>,
{
    fn operate(&mut self) -> Result<Sample, Failure> {
        (self.before)()?;
        Closure(&mut self.operation).operate()
    }
}

/// git in a directory. Where it is no repository, none above is taken instead.
fn git(directory: &Path) -> Command {
    let mut command = installed("git");
    command.env("GIT_CEILING_DIRECTORIES", directory.parent().unwrap_or(directory));
    command.current_dir(directory).env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    command.args(["-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "gc.auto=0"]);
    command.args(["-c", "maintenance.auto=false", "-c", "advice.detachedHead=false"]);
    command.stdin(Stdio::null());
    command
}

fn run(directory: &Path, words: &str) -> Result<String, Failure> {
    cargo::text(git(directory).args(words.split(' ')))
}

/// The tree whose objects stay loose, as `git add` leaves them. Those of all others are packed, as a clone has them.
const LOOSE: &str = "1000";

/// Makes a repository in the tree, of one commit, where there is none.
pub(super) fn repository(tree: &Path) -> Result<(), Failure> {
    if run(tree, "rev-parse --quiet --verify HEAD").is_err() {
        for words in ["init --quiet", "add --all", "commit --quiet -m base"] {
            run(tree, words)?;
        }
    }
    if !tree.ends_with(LOOSE) && !run(tree, "count-objects")?.starts_with("0 objects") {
        run(tree, "gc --quiet")?;
    }
    Ok(())
}

/// A clone for one arm alone, which stays for the next time, as it was at first.
fn clone(tree: &Path, arm: &str) -> Result<PathBuf, Failure> {
    repository(tree)?;
    let place = tree.with_extension(arm.replace('/', "-"));
    if run(&place, "reset --quiet --hard").is_err() {
        let _ = fs::remove_dir_all(&place);
        let above = tree.parent().unwrap_or(tree);
        cargo::text(git(above).args(["clone", "--quiet", "--local"]).arg(tree).arg(&place))?;
    }
    Ok(place)
}

/// `git apply` of a patch there and, the next time, back.
fn apply(tree: &Path, arm: &str, way: &str, count: &str) -> Result<Start, Failure> {
    let option = match way {
        "files" => None,
        "index" => Some("--index"),
        "cached" => Some("--cached"),
        other => return Err(Failure::new(format!("git applies nothing {other:?}"))),
    };
    let place = clone(tree, arm)?;
    let mut patches = [patch(tree, count, "there"), patch(tree, count, "back")];
    Ok(always(move || {
        cargo::text(git(&place).arg("apply").args(option).arg(&patches[0]))?;
        patches.swap(0, 1);
        Ok(())
    }))
}

/// What git says once ten files were written anew.
fn edited(tree: &Path, arm: &str, commands: &'static [&str]) -> Result<Start, Failure> {
    let place = clone(tree, arm)?;
    let mut edits = Vec::with_capacity(EDITS);
    for name in named(&patch(tree, "20", "there"))?.into_iter().take(EDITS) {
        let path = place.join(name);
        let content = fs::read(&path).map_err(Failure::at("read", &path))?;
        edits.push((path, content));
    }
    let mut step = 0;
    let before = move || {
        step += 1;
        for (path, content) in &edits {
            let edited = [content.as_slice(), format!("step {step}\n").as_bytes()].concat();
            fs::write(path, edited).map_err(unwritten)?;
        }
        Ok(())
    };
    let operation = move || {
        for words in commands {
            let said = run(&place, words)?;
            if words.starts_with("status") && said.lines().count() != EDITS {
                return Err(Failure::new(format!("git status said {said:?}")));
            }
        }
        Ok(())
    };
    Ok(Start::Ready(Box::new(After { before, operation })))
}

/// New places in a directory, one a performance. All stay until the end: for minutes after many files were removed, ext4
/// searches long for a place for each new one.
fn places() -> Result<impl FnMut() -> PathBuf, Failure> {
    let scratch = Scratch::make()?;
    let mut number = 0;
    Ok(move || {
        let scratch = &scratch;
        number += 1;
        scratch.0.join(number.to_string())
    })
}

/// A work tree of the commit.
fn worktree(tree: &Path) -> Result<Start, Failure> {
    repository(tree)?;
    run(tree, "worktree prune")?;
    let (tree, mut place) = (tree.to_owned(), places()?);
    Ok(always(move || {
        cargo::text(git(&tree).args(["worktree", "add", "--quiet", "--detach"]).arg(place())).map(drop)
    }))
}

/// Every file of the tree copied.
fn copy(tree: &Path) -> Result<Start, Failure> {
    let mut pairs = Vec::new();
    for path in files(tree)? {
        let inner = path.strip_prefix(tree).unwrap_or(&path).to_owned();
        if !inner.starts_with(".git") {
            pairs.push((path, inner));
        }
    }
    let mut place = places()?;
    Ok(always(move || {
        let place = place();
        for (from, inner) in &pairs {
            let to = place.join(inner);
            fs::create_dir_all(to.parent().unwrap_or(&to)).map_err(unwritten)?;
            fs::copy(from, to).map_err(unwritten)?;
        }
        Ok(())
    }))
}

/// Our program, started anew each time; absent where it has no such verb.
fn process(tree: &Path, program: Option<&Path>, verb: &str) -> Result<Start, Failure> {
    let program = program.ok_or_else(|| Failure::new("the arm needs --program"))?.to_owned();
    let mut help = Command::new(&program);
    if cargo::text(help.args(["patch", verb, "--help"]).stdin(Stdio::null())).is_err() {
        return Ok(Start::Absent(format!("ambit has no verb `patch {verb}`")));
    }
    let scratch = Scratch::make()?;
    let place = scratch.0.join("out");
    let mut command = Command::new(&program);
    command.args(["patch", verb]).arg(patch(tree, "1", "there")).arg("--base").arg(tree);
    if verb == "apply" {
        command.arg("--changed-only").arg("--out").arg(&place);
    }
    command.stdin(Stdio::null());
    let before = move || {
        let _ = fs::remove_dir_all(&place);
        Ok(())
    };
    let operation = move || {
        let _kept = &scratch;
        cargo::text(&mut command).map(drop)
    };
    Ok(Start::Ready(Box::new(After { before, operation })))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree of a few files with its patches, as the arms find one.
    fn tree() -> (Scratch, PathBuf) {
        let scratch = Scratch::make().unwrap();
        let tree = scratch.0.join("3");
        let hunk = |number: usize, from: &str, to: &str| {
            format!("--- a/d/{number}\n+++ b/d/{number}\n@@ -1,2 +1,2 @@\n-{from}\n+{to}\n below\n")
        };
        fs::create_dir_all(tree.join("d")).unwrap();
        for number in 0..20 {
            fs::write(tree.join(format!("d/{number}")), "before\nbelow\n").unwrap();
        }
        for (count, files) in [("1", 1), ("20", 20)] {
            let way = |from, to| (0..files).map(|number| hunk(number, from, to)).collect::<String>();
            fs::write(patch(&tree, count, "there"), way("before", "after")).unwrap();
            fs::write(patch(&tree, count, "back"), way("after", "before")).unwrap();
        }
        (scratch, tree)
    }

    #[test]
    fn every_arm_does_its_operation_again_and_again() {
        let (_kept, tree) = tree();
        for name in [
            "files/rewrite/1",
            "files/copy",
            "git/apply/files/1",
            "git/apply/index/20",
            "git/apply/cached/1",
            "git/status",
            "git/write-tree",
            "git/worktree",
        ] {
            match answer(name, &tree, None).unwrap() {
                Start::Ready(mut arm) => {
                    for _ in 0..3 {
                        arm.operate().unwrap_or_else(|failure| panic!("{name}: {}", failure.with_causes()));
                    }
                }
                Start::Absent(why) => println!("skipped: ARM_ABSENT {name}: {why}"),
            }
        }
        assert!(answer("git/none", &tree, None).is_err());
    }

    #[test]
    fn objects_are_packed_but_those_of_one_tree() {
        let (scratch, tree) = tree();
        let loose = scratch.0.join(LOOSE);
        fs::create_dir(&loose).and_then(|()| fs::write(loose.join("file"), "content")).unwrap();
        let objects = |tree: &Path| {
            repository(tree).unwrap();
            run(tree, "count-objects").unwrap().split(' ').next().map(str::to_owned)
        };
        if !cargo::answers("git", &["--version"]) {
            println!("skipped: GIT_ABSENT objects_are_packed_but_those_of_one_tree");
            return;
        }
        assert_eq!((objects(&tree).as_deref(), objects(&loose).as_deref()), (Some("0"), Some("3")));
    }

    #[test]
    fn a_verb_that_our_program_does_not_have_is_an_absent_arm() {
        let (_kept, tree) = tree();
        let without = answer("ambit/patch/apply", &tree, Some(Path::new("/bin/false"))).unwrap();
        assert!(matches!(without, Start::Absent(why) if why.contains("patch apply")));
        assert!(answer("ambit/patch/apply", &tree, None).is_err());
        let Start::Ready(mut with) =
            answer("ambit/patch/apply", &tree, Some(Path::new("/bin/true"))).unwrap()
        else {
            panic!("absent")
        };
        assert!(with.operate().is_ok());
    }
}
