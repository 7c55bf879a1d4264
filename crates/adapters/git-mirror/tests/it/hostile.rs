use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use crate::world::{World, snapshot};

/// Everything in a configuration that could start a program while a repository is read.
fn configuration(trap: &Path) -> String {
    let trap = trap.display();
    format!(
        "[core]\n\tfsmonitor = {trap}\n\thooksPath = {trap}.hooks\n\tsshCommand = {trap}\n\tpager = {trap}\n\
         \talternateRefsCommand = {trap}\n\taskPass = {trap}\n\tgitProxy = {trap}\n\
         [uploadpack]\n\tpackObjectsHook = {trap}\n[credential]\n\thelper = {trap}\n\
         [filter \"x\"]\n\tclean = {trap}\n\tsmudge = {trap}\n\tprocess = {trap}\n\
         [gpg]\n\tprogram = {trap}\n[diff]\n\texternal = {trap}\n"
    )
}

/// Whether plain git, with this configuration for itself, falls into the trap when it fetches.
fn is_caught(world: &World, configuration: &Path, mark: &Path) -> bool {
    let scratch = world.path("scratch.git");
    world.git_in(&world.path(""), ["init", "--quiet", "--bare", "scratch.git"], b"");
    let fetched = Command::new("git")
        .current_dir(&scratch)
        .args(["fetch", "--quiet"])
        .arg(world.source())
        .arg("main")
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("GIT_CONFIG_GLOBAL", configuration)
        .output()
        .unwrap();
    assert!(fetched.status.success(), "{fetched:?}");
    let caught = mark.exists();
    let _ = fs::remove_file(mark);
    caught
}

// proves E-S12
// break crates/adapters/git-mirror/src/fence.rs: `.env_clear()` -> `.env("AMBIT", "")`
#[test]
fn neither_the_source_nor_the_caller_gets_anything_executed() {
    let test = "hostile::neither_the_source_nor_the_caller_gets_anything_executed";
    let Some(place) = std::env::var_os("AMBIT_TRAPPED") else {
        // The same test again, in an environment full of traps.
        let Some(world) = World::new(test) else { return };
        let [_, second, _] = world.with_history();
        let (trap, mark) = world.trap();
        let file = world.path("configuration");
        fs::write(&file, configuration(&trap)).unwrap();
        assert!(is_caught(&world, &file, &mark), "the trap catches whoever reads that configuration");
        let mut own = fs::OpenOptions::new().append(true).open(world.source().join(".git/config")).unwrap();
        own.write_all(configuration(&trap).as_bytes()).unwrap();
        let before = snapshot(&world.source());
        let again = Command::new(std::env::current_exe().unwrap())
            .args([test, "--exact", "--nocapture"])
            .env("AMBIT_TRAPPED", world.path(""))
            .env("AMBIT_TRAPPED_COMMIT", &second)
            .env("GIT_CONFIG_COUNT", "1")
            .env("GIT_CONFIG_KEY_0", "uploadpack.packObjectsHook")
            .env("GIT_CONFIG_VALUE_0", &trap)
            .env("GIT_CONFIG_GLOBAL", &file)
            .env("GIT_CONFIG_PARAMETERS", format!("'uploadpack.packObjectsHook={}'", trap.display()))
            .env("GIT_SSH", &trap)
            .env("GIT_EXEC_PATH", world.path(""))
            .env("GIT_DIR", world.source().join(".git"))
            .env("GIT_OBJECT_DIRECTORY", world.path("elsewhere"))
            .env("GIT_TRACE", world.path("traced"))
            .output()
            .unwrap();
        assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stdout));
        assert!(world.path("mirrors").exists(), "it did fetch");
        assert!(!mark.exists() && !world.path("traced").exists() && !world.path("elsewhere").exists());
        assert_eq!(snapshot(&world.source()), before);
        return;
    };
    let place = Path::new(&place);
    let commit = std::env::var("AMBIT_TRAPPED_COMMIT").unwrap();
    let search_path = std::env::var_os("PATH").unwrap();
    let mirrors = ambit_git_mirror::Mirrors::new(&place.join("mirrors"), &search_path).unwrap();
    let source = ambit_git_mirror::Source::directory(&place.join("source")).unwrap();
    let wanted = ambit_git_mirror::Wanted::new(ambit_git_mirror::CommitName::parse(&commit).unwrap());
    let obtained = mirrors.obtain(&source, &wanted).unwrap();
    assert_eq!(obtained.commit.as_str(), commit);
}

#[test]
fn a_source_that_lacks_an_object_does_not_get_it_fetched_by_a_program_of_its_own() {
    let Some(world) = World::new("a_source_that_lacks_an_object") else { return };
    let [_, second, _] = world.with_history();
    let (trap, mark) = world.trap();
    let blob = world.git(["rev-parse", &format!("{second}:file")]);
    fs::remove_file(world.source().join(".git/objects").join(&blob[..2]).join(&blob[2..])).unwrap();
    for (key, value) in [
        ("extensions.partialClone", "far".to_owned()),
        ("core.repositoryFormatVersion", "1".to_owned()),
        ("remote.far.promisor", "true".to_owned()),
        ("remote.far.url", format!("ext::{} fetch", trap.display())),
        ("protocol.ext.allow", "always".to_owned()),
    ] {
        world.git(["config", key, &value]);
    }
    let lazy = Command::new("git")
        .current_dir(world.source())
        .args(["cat-file", "-p", &blob])
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(!lazy.status.success() && mark.exists(), "the trap catches whoever fetches lazily: {lazy:?}");
    fs::remove_file(&mark).unwrap();
    let error = world.obtain(&second).unwrap_err();
    assert!(!mark.exists());
    assert!(["MIRROR_GIT_FAILED", "MIRROR_INCOMPLETE"].contains(&error.code()), "{error}");
    assert!(error.to_string().contains(&second), "{error}");
}

// proves E-S06
// break crates/adapters/git-mirror/src/fence.rs: `("transfer.fsckObjects", "true"),` -> `("transfer.fsckObjects", "false"),`
#[test]
fn objects_are_checked_as_they_come() {
    let Some(world) = World::new("objects_are_checked_as_they_come") else { return };
    let [_, _, third] = world.with_history();
    let blob = world.git(["rev-parse", &format!("{third}:file")]);
    let tree = world.git_in(&world.source(), ["mktree"], format!("100644 blob {blob}\t.git\n").as_bytes());
    let tip = world.git(["commit-tree", &tree, "-m", "a file that would be git's own"]);
    world.git(["update-ref", "refs/heads/main", &tip]);
    let error = world.obtain(&tip).unwrap_err();
    assert!(error.to_string().contains("hasDotgit"), "{error}");
    assert_eq!(error.code(), "MIRROR_GIT_FAILED");
}

#[test]
fn a_repository_of_another_user_is_refused() {
    let Some(world) = World::new("a_repository_of_another_user_is_refused") else { return };
    let [first, ..] = world.with_history();
    let given = Command::new("chown").args(["-R", "65534"]).arg(world.source()).output().unwrap();
    if !given.status.success() {
        println!("skipped: CHOWN_REFUSED a_repository_of_another_user_is_refused");
        return;
    }
    let error = world.obtain(&first).unwrap_err();
    assert_eq!(error.code(), "MIRROR_SOURCE_OTHER_OWNER");
    assert!(error.call().unwrap().output.contains("dubious ownership"), "{error}");
}
