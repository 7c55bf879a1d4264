use std::fs;
use std::fs::File;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use ambit_git_mirror::{CommitName, Mirrors, Source, Wanted};
use rustix::fs::{FlockOperation, flock};

use crate::world::{World, sha};

const LONG: Duration = Duration::from_secs(60);

// proves E-S09
// break crates/adapters/git-mirror/src/obtain.rs: `Ok(Some(sha)) => Ok(repository.is_whole(&sha)?.is_ok()),` -> `Ok(Some(_)) => Ok(true),`
#[test]
fn a_mirror_tells_whether_it_holds_a_commit_with_its_whole_tree() {
    let Some(world) = World::new("a_mirror_tells_whether_it_holds_a_commit") else { return };
    let [first, second, _] = world.with_history();
    let source = Source::directory(&world.source()).unwrap();
    let holds = |commit: &str| world.mirrors().holds(&source, &sha(commit), LONG).unwrap();
    assert!(!holds(&second), "there is no mirror yet");
    let obtained = world.obtain(&second).unwrap();
    assert!(holds(&second) && !holds(&first));
    let tree = world.git_of(&obtained, ["rev-parse", &format!("{second}^{{tree}}")]);
    assert!(!holds(&tree), "a tree is no commit");

    // Its objects one by one, and then one fewer.
    let blob = world.git_of(&obtained, ["rev-parse", &format!("{second}:file")]);
    let packs = obtained.repository.join("objects/pack");
    let pack = fs::read_dir(&packs).unwrap().map(|entry| entry.unwrap().path());
    let pack = pack.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "pack")).unwrap();
    let bytes = fs::read(&pack).unwrap();
    fs::remove_dir_all(&packs).unwrap();
    world.git_in(&obtained.repository, ["unpack-objects", "-q"], &bytes);
    assert!(holds(&second));
    let loose = obtained.repository.join("objects").join(&blob[..2]).join(&blob[2..]);
    fs::remove_file(&loose).unwrap();
    assert!(!holds(&second), "its file is gone");

    let whole = world.obtain(&second).unwrap();
    assert!(whole.is_fresh, "what is not whole is made anew");
    assert!(holds(&second));
}

#[test]
fn a_mirror_in_which_git_was_killed_is_made_anew() {
    let Some(world) = World::new("a_mirror_in_which_git_was_killed") else { return };
    let [first, second, _] = world.with_history();
    let obtained = world.obtain(&second).unwrap();
    // What git leaves when it is killed: it would refuse to go on beside it.
    fs::write(obtained.repository.join("shallow.lock"), "").unwrap();
    assert_eq!(world.obtain(&first).unwrap_err().code(), "MIRROR_GIT_FAILED");
    fs::write(obtained.repository.with_extension("unfinished"), "").unwrap();
    assert!(world.obtain(&first).unwrap().is_fresh);
    assert!(!obtained.repository.with_extension("unfinished").exists());
}

#[test]
fn two_never_work_on_one_mirror() {
    let Some(world) = World::new("two_never_work_on_one_mirror") else { return };
    let [first, ..] = world.with_history();
    let obtained = world.obtain(&first).unwrap();
    let other = File::open(obtained.repository.with_extension("lock")).unwrap();
    flock(&other, FlockOperation::LockExclusive).unwrap();
    let source = Source::directory(&world.source()).unwrap();
    let mut wanted = Wanted::new(CommitName::parse(&first).unwrap());
    wanted.deadline = Duration::from_millis(100);
    assert_eq!(world.mirrors().obtain(&source, &wanted).unwrap_err().code(), "MIRROR_BUSY");
    let answer = world.mirrors().holds(&source, &sha(&first), wanted.deadline);
    assert_eq!(answer.unwrap_err().code(), "MIRROR_BUSY");
    drop(other);
    assert!(!world.obtain(&first).unwrap().is_fresh);
}

#[test]
fn a_mirror_in_which_something_killed_git_is_made_anew() {
    let Some(world) = World::new("a_mirror_in_which_something_killed_git_is_made_anew") else { return };
    let [first, second, _] = world.with_history();
    let obtained = world.obtain(&second).unwrap();
    // A git that dies while it fetches, as one does that needs more memory than there is.
    let search_path = std::env::var_os("PATH").unwrap();
    let real =
        std::env::split_paths(&search_path).map(|dir| dir.join("git")).find(|path| path.is_file()).unwrap();
    let short_lived = world.path("git");
    let script = format!(
        "#!/bin/sh\ncase $1 in fetch) : > \"$GIT_DIR/shallow.lock\"; kill -9 $$;; esac\nexec '{}' \"$@\"\n",
        real.display()
    );
    fs::write(&short_lived, script).unwrap();
    fs::set_permissions(&short_lived, fs::Permissions::from_mode(0o755)).unwrap();
    let mirrors = Mirrors::new(&world.path("mirrors"), short_lived.parent().unwrap().as_os_str()).unwrap();
    let source = Source::directory(&world.source()).unwrap();
    let wanted = Wanted::new(CommitName::parse(&first).unwrap());
    let error = mirrors.obtain(&source, &wanted).unwrap_err();
    assert_eq!((error.code(), error.call().unwrap().exit), ("MIRROR_GIT_FAILED", None));
    assert!(obtained.repository.join("shallow.lock").exists());
    let again = world.obtain(&first).unwrap();
    assert!(again.is_fresh && !again.repository.join("shallow.lock").exists());
}

#[test]
fn a_mirror_that_many_commits_were_fetched_into_has_few_packs() {
    let Some(world) = World::new("a_mirror_that_many_commits_were_fetched_into_has_few_packs") else {
        return;
    };
    let [first, second, third] = world.with_history();
    let obtained = world.obtain(&first).unwrap();
    let packs = obtained.repository.join("objects/pack");
    let names = || -> Vec<_> {
        let entries = fs::read_dir(&packs).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.extension().is_some_and(|ending| ending == "pack")).collect()
    };
    let [pack] = names().try_into().unwrap();
    for number in 1..50 {
        for ending in ["pack", "idx"] {
            let copy = packs.join(format!("pack-{number:040x}.{ending}"));
            fs::copy(pack.with_extension(ending), copy).unwrap();
        }
    }
    assert_eq!(names().len(), 50);
    assert!(!world.obtain(&first).unwrap().is_fresh);
    assert_eq!(names().len(), 50, "nothing is fetched");
    assert!(!world.obtain(&second).unwrap().is_fresh);
    assert_eq!(names().len(), 2);
    world.obtain(&third).unwrap();
    assert_eq!(names().len(), 3);
    let source = Source::directory(&world.source()).unwrap();
    for commit in [first, second, third] {
        assert!(world.mirrors().holds(&source, &sha(&commit), LONG).unwrap());
    }
}

#[test]
fn whoever_comes_second_waits_for_the_first() {
    let Some(world) = World::new("whoever_comes_second_waits_for_the_first") else { return };
    let commits = world.with_history();
    let fresh = std::thread::scope(|scope| {
        let all = commits.each_ref().map(|commit| scope.spawn(|| world.obtain(commit).unwrap().is_fresh));
        all.map(|one| one.join().unwrap())
    });
    assert_eq!(fresh.iter().filter(|is_fresh| **is_fresh).count(), 1, "one made it for all");
}
