//! From a repository of one's own to a run, in words.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::admitting::after;
use crate::rig::{Answered, meets_secure_generation};

/// A user with a home, a configuration and a repository, and nothing else.
pub(crate) struct User {
    place: TempDir,
}

const BUG: &str = "def add(a, b):\n    return a - b\n";
const TEST: &str = "import unittest\nfrom calc.add import add\n\nclass T(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n";
const FIX: &str = "--- a/calc/add.py\n+++ b/calc/add.py\n@@ -1,2 +1,2 @@\n def add(a, b):\n-    return a - b\n+    return a + b\n";
const AGENT: &str = "apiVersion: coding-agent.enterprise/v1
kind: AgentTranscript
metadata: { name: fixer }
spec:
  turnQuoteUsd: 0.01
  turns:
    - say: { plan: [{ id: s1, summary: Add, work: source, cases: [AC-1, AC-2] }] }
    - patch: fix.patch
      step: s1
    - gate: python.syntax
    - gate: python.tests
  then: finish
";

impl User {
    pub(crate) fn new() -> Self {
        let user = Self { place: TempDir::new().unwrap() };
        for (name, text) in [
            ("calc/.git/HEAD", ""),
            ("calc/calc/__init__.py", ""),
            ("calc/calc/add.py", BUG),
            ("calc/tests/__init__.py", ""),
            ("calc/tests/test_add.py", TEST),
            ("agents/fixer.yaml", AGENT),
            ("agents/fix.patch", FIX),
        ] {
            user.write(name, text);
        }
        user
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn command(&self, within: &str, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ambit"));
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("AMBIT_HOME", self.path("home"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .current_dir(self.path(within))
            .stdin(Stdio::null())
            .args(words);
        command
    }

    pub(crate) fn ambit(&self, within: &str, words: &[&str]) -> Answered {
        Answered::of(self.command(within, words).output().unwrap())
    }

    /// Starts a run for a goal and answers.
    fn start(&self, goal: &str, more: &[&str]) -> Answered {
        let agent = self.path("agents/fixer.yaml");
        let mut words = vec!["run", "start", goal, "--agent", agent.to_str().unwrap()];
        words.extend(more);
        self.ambit("calc", &words)
    }

    #[track_caller]
    fn refused(answered: &Answered, exit: i32, code: &str) {
        assert_eq!((answered.code, answered.out.as_str()), (exit, ""), "{answered:?}");
        assert!(answered.err.contains(&format!("error[{code}]")), "{answered:?}");
    }
}

impl Drop for User {
    fn drop(&mut self) {
        // The directories of images are read-only, which an ordinary user cannot empty.
        let _ = Command::new("chmod").args(["-R", "u+w"]).arg(self.place.path()).status();
    }
}

fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn one_command_prepares_a_repository_and_the_next_ends_with_a_revision() {
    let user = User::new();
    let told = user.ambit("calc/tests", &["init", "--yes"]).well().out;
    for words in
        ["python3 -m unittest discover -s tests -t .", "tests/**", "tools-python3", "run start \"GOAL\""]
    {
        assert!(told.contains(words), "{told}");
    }
    // Nobody could be asked for a passphrase, and that is told wherever it matters.
    for (words, what) in [
        (&["init", "--yes", "--replace"][..], "approver.key, open"),
        (&["doctor"], "approver.key, open: whatever runs as you can approve"),
        (&["approver", "list"], "credential open"),
        (&["grants"], ", credential open"),
    ] {
        let shown = user.ambit("calc", words).out;
        assert!(shown.contains(what), "{what}: {shown}");
    }
    let key = user.path("config/ambit/approver.key");
    assert_eq!(mode(&key), 0o600);
    let secret = fs::read_to_string(&key).unwrap();
    assert!(!crate::rig::finds_in(&user.path("home"), secret.trim()), "the state holds the credential");
    for name in ["blueprint.yaml", "commands.yaml", "profile.yaml"] {
        assert!(user.path("calc/.ambit").join(name).is_file(), "{name}");
    }
    User::refused(&user.ambit("calc", &["init", "--yes"]), 2, "PREPARATION_EXISTS");

    let first = user.start("Make add work.", &["--name", "first"]).well();
    assert!(first.out.contains("rev-1 is preview-ready"), "{first:?}");
    assert!(first.out.contains("ambit revision diff rev-0 rev-1"), "no --project is needed here: {first:?}");
    let shown = user.ambit("calc/calc", &["run", "show", "first", "--json"]).well().json();
    assert_eq!(shown["goal"], "Make add work.");
    assert_eq!(user.ambit("agents", &["run", "list"]).well().out, "no run yet\n", "another project");
    user.ambit("calc", &["trace", "verify"]).well();
    assert_eq!(fs::read_to_string(user.path("calc/calc/add.py")).unwrap(), BUG, "the work tree is as it was");

    // The same goal is the same blueprint, and its base the same revision.
    user.start("Make add work.", &["--name", "second"]).well();
    let again = user.ambit("calc", &["run", "show", "second", "--json"]).well().json();
    let pin = |run: &serde_json::Value, key: &str| run["pins"][key].clone();
    for key in ["blueprint", "blueprintDigest", "base"] {
        assert!(!pin(&shown, key).is_null() && pin(&shown, key) == pin(&again, key), "{key}: {shown}");
    }
    changed_documents_and_wishes(&user);
}

/// What is edited after it was agreed to, what asks for less, and what was written by others.
fn changed_documents_and_wishes(user: &User) {
    user.write("calc/ambit.toml", "[budget]\nmaxModelSteps = 41\n");
    User::refused(&user.start("Make add work.", &[]), 2, "AMBIT_TOML_ASKS_FOR_MORE");
    user.write("calc/ambit.toml", "[budget]\nmaxModelSteps = 2\n");
    let file = "calc/.ambit/commands.yaml";
    let agreed = fs::read_to_string(user.path(file)).unwrap();
    // A remark says nothing else.
    user.write(file, &format!("# only a remark\n{agreed}"));
    let short = user.start("Make add work.", &[]);
    assert!(short.code == 5 && short.out.contains("budget (maxModelSteps)"), "{short:?}");
    fs::remove_file(user.path("calc/ambit.toml")).unwrap();

    user.write(file, &agreed.replace("\"discover\"", "\"calc.none\""));
    let edited = user.start("Make add work.", &[]);
    User::refused(&edited, 6, "PREPARATION_CHANGED");
    assert!(edited.err.contains("spec.commands[1].argv") && edited.err.contains("calc.none"), "{edited:?}");
    let failed = user.start("Make add work.", &["--yes"]);
    assert_eq!(failed.code, 3, "what was agreed to now holds: {failed:?}");

    fs::rename(user.path("calc"), user.path("moved")).unwrap();
    let agent = user.path("agents/fixer.yaml");
    let words = ["run", "start", "Make add work.", "--yes", "--agent", agent.to_str().unwrap()];
    User::refused(&user.ambit("moved", &words), 2, "PREPARATION_FOREIGN");
}

#[test]
fn what_a_page_tells_to_copy_works_as_it_is_for_the_users_own_agent_and_credential() {
    let user = User::new();
    user.ambit("calc", &["init", "--yes"]).well();
    for name in ["fixer.yaml", "fix.patch"] {
        fs::copy(user.path("agents").join(name), user.path("config/ambit").join(name)).unwrap();
    }
    fs::rename(user.path("config/ambit/fixer.yaml"), user.path("config/ambit/agent.yaml")).unwrap();
    user.ambit("calc", &["run", "start", "Make add work.", "--name", "first"]).well();
    let asked = user.ambit("calc", &["run", "revise", "first", "Louder", "--case", "AC-1"]).well().out;
    let words: Vec<&str> = asked.lines().last().unwrap().split(' ').collect();
    assert!(words[0] == "ambit" && words.contains(&"--profile") && !words.contains(&"--agent"), "{asked}");
    // The patch of this agent is for the first base: that the run starts, under the profile and the agent, is what counts.
    let started = user.ambit("calc", &words[1..]);
    assert!(started.err.contains("plan       accepted"), "{started:?}");
    let blueprint = user.path("calc/.ambit/blueprint.yaml");
    user.ambit("calc", &["blueprint", "approve", blueprint.to_str().unwrap()]).well();
    let elsewhere = user.ambit("agents", &["blueprint", "approve", blueprint.to_str().unwrap()]);
    assert!(
        elsewhere.err.contains("CREDENTIAL_REFUSED"),
        "it approves where it is registered: {elsewhere:?}"
    );
    let listed = user.ambit("calc", &["run", "list"]).well().out;
    assert!(listed.contains("\n  first: Make add work.\n"), "{listed}");
    let short = user.ambit("calc", &["run", "start", "Make add work.", "--max-steps", "1"]);
    assert!(
        short.code == 5 && short.out.contains("(maxModelSteps)\n             what came next"),
        "{short:?}"
    );
    assert!(short.out.contains("limit; left: 0 of 1 steps\nmend         raise the limit"), "{short:?}");
}

/// A backend that bounds less than what the repository asks for: the refusal is all that is needed to go on.
#[test]
fn a_backend_that_bounds_less_is_refused_with_the_line_that_mends_it() {
    if !rustix::process::geteuid().is_root() || !meets_secure_generation() {
        println!("skipped: NO_GROUPS there are no control groups to take away here");
        return;
    }
    let user = User::new();
    user.ambit("calc", &["init", "--yes"]).well();
    let agent = user.path("agents/fixer.yaml");
    let start = |more: &[&str]| {
        let words =
            ["run", "start", "Make add work.", "--name", "bounded", "--agent", agent.to_str().unwrap()];
        let command = user.command("calc", &[&words[..], more].concat());
        let script = "umount -R /sys/fs/cgroup && exec \"$0\" \"$@\"";
        Answered::of(after(&["unshare", "--mount"], script, &command).output().unwrap())
    };
    let refused = start(&[]);
    User::refused(&refused, 9, "BACKEND_NOT_ADMITTED");
    let told = refused.err.split_whitespace().collect::<Vec<_>>().join(" ");
    let (file, before, after) =
        ("calc/.ambit/profile.yaml", "`aggregateLimits: enforced`", "`aggregateLimits: best-effort`");
    for part in [".ambit/profile.yaml", before, after, "--yes", "run on linux"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let profile = fs::read_to_string(user.path(file)).unwrap();
    user.write(file, &profile.replace(before.trim_matches('`'), after.trim_matches('`')));
    assert!(start(&["--yes"]).well().out.contains("is preview-ready"));
}

#[test]
fn nothing_is_made_where_something_is_missing_and_the_failure_says_what() {
    let user = User::new();
    let untouched = |user: &User| {
        assert!(!user.path("calc/.ambit").exists() && !user.path("config").exists());
    };
    let alone = user.start("Make add work.", &[]);
    User::refused(&alone, 6, "PREPARATION_MISSING");
    assert!(alone.err.contains("`ambit init`") && alone.err.contains("--yes"), "{alone:?}");
    let asked = user.ambit("calc", &["init"]);
    User::refused(&asked, 6, "PREPARATION_NEEDS_ANSWER");
    assert!(asked.err.contains("whether to write"), "{asked:?}");
    let bare = user.ambit("calc", &["run", "start", "Make add work.", "--yes"]);
    User::refused(&bare, 2, "AGENT_MISSING");
    assert!(bare.err.contains("config/ambit/agent.yaml") && !bare.err.contains("API_KEY"), "{bare:?}");
    let keyed =
        user.command("calc", &["run", "start", "x", "--yes"]).env("OPENAI_API_KEY", "sk-canary").output();
    let keyed = Answered::of(keyed.unwrap());
    assert!(keyed.err.contains("OPENAI_API_KEY is set") && !keyed.err.contains("canary"), "{keyed:?}");
    User::refused(&user.ambit("calc", &["run", "start", "--yes"]), 2, "USAGE_MISSING_ARGUMENT");
    User::refused(&user.ambit("agents", &["init", "--yes"]), 2, "SURVEY_NOTHING_TO_CHECK");
    User::refused(&user.ambit("calc", &["init", "none", "--yes"]), 2, "SURVEY_NOT_A_DIRECTORY");
    untouched(&user);

    // A credential must not lie where agents read, and no repository may hold the state.
    let exposed = user.command("calc", &["init", "--yes"]).env("XDG_CONFIG_HOME", user.path("calc")).output();
    User::refused(&Answered::of(exposed.unwrap()), 2, "USAGE_CONFIG_EXPOSED");
    let exposed = user.command("calc", &["init", "--yes"]).env("XDG_CONFIG_HOME", user.path("home")).output();
    User::refused(&Answered::of(exposed.unwrap()), 2, "USAGE_CONFIG_EXPOSED");
    let held = user.command("calc", &["init", "--yes"]).env("AMBIT_HOME", user.path("calc/state")).output();
    User::refused(&Answered::of(held.unwrap()), 2, "IMPORT_HOLDS_HOME");
    untouched(&user);
}

#[test]
fn documents_that_others_wrote_are_neither_used_nor_overwritten() {
    let user = User::new();
    let text = "apiVersion: coding-agent.enterprise/v1\n";
    user.write("calc/.ambit/commands.yaml", text);
    User::refused(&user.start("Make add work.", &["--yes"]), 2, "PREPARATION_FOREIGN");
    User::refused(&user.ambit("calc", &["init", "--yes"]), 2, "PREPARATION_EXISTS");
    assert_eq!(fs::read_to_string(user.path("calc/.ambit/commands.yaml")).unwrap(), text);
    fs::remove_dir_all(user.path("calc/.ambit")).unwrap();
    std::os::unix::fs::symlink(user.path("agents"), user.path("calc/.ambit")).unwrap();
    User::refused(&user.start("Make add work.", &["--yes"]), 2, "PREPARATION_FOREIGN");
    assert!(!user.path("config").exists() && !user.path("home/store.sqlite").exists());
}
