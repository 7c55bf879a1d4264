//! From the source archives of registries, with a bug in them, to revisions that pass their own tests: `init`, `run start`
//! and a model, and nothing else.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ambit_model_server::{Fault, ModelServer, Price, Script, Turn};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::rig::{Answered, finds_in};

/// What a model thinks to itself.
const THOUGHT: &str = "CANARY-thought-77d1";
/// What opens the model server.
const KEY: &str = "sk-CANARY-key-3f20";

const PRICES: [(&str, Price); 2] = [
    (
        "claude-opus-5",
        Price { input: 5_000_000, cache_read: 500_000, cache_write: 6_250_000, output: 25_000_000 },
    ),
    (
        "gpt-5.6-terra",
        Price { input: 2_000_000, cache_read: 200_000, cache_write: 2_500_000, output: 12_000_000 },
    ),
];

/// A package, the line of it that is broken, and how a model goes about it.
struct Case {
    name: &'static str,
    file: &'static str,
    right: &'static str,
    broken: &'static str,
    /// What a model tries in vain.
    wrong: &'static str,
    /// The gates that `init` proposes, from cheap to dear.
    gates: [&'static str; 2],
    way: Way,
    /// The model, and what `ambit model use` is told beyond it.
    model: &'static str,
    more: &'static [&'static str],
}

#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// Runs the gates before anything is changed, to see what fails.
    GatesFirst,
    /// Makes a patch that changes nothing for the better, and then the right one.
    PatchFirst,
    /// Makes a patch that does not fit the source, by its line ends where they are those of DOS, and then the right one,
    /// with its gate in the same answer; the server is busy at first.
    Stumbling,
}

/// What `cargo xtask test --install` puts there, if it is what the lock pins.
fn installed(folder: &str, lock: &str, name: &str) -> Option<PathBuf> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let place = target.join("test-packages").join(folder);
    if fs::read_to_string(place.join(".installed")).ok().as_deref() == Some(lock) {
        return Some(place);
    }
    println!("skipped: PACKAGES_ABSENT {name}");
    None
}

/// A user with a home, a configuration, and packages as they were unpacked.
struct User {
    place: TempDir,
    cargo_home: Option<PathBuf>,
}

impl User {
    fn new() -> Self {
        Self { place: TempDir::new().unwrap(), cargo_home: None }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    /// Unpacks an archive, so that its one directory becomes the project.
    fn unpack(&self, archive: &Path, name: &str) {
        fs::create_dir(self.path(name)).unwrap();
        let words = ["xzf", archive.to_str().unwrap(), "--strip-components", "1", "-C"];
        run(Command::new("tar").args(words).arg(self.path(name)));
    }

    fn ambit(&self, project: &str, words: &[&str]) -> Answered {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ambit"));
        command
            .env_clear()
            .envs(
                ["PATH", "HOME", "RUSTUP_HOME"]
                    .into_iter()
                    .filter_map(|name| Some((name, std::env::var_os(name)?))),
            )
            .env("AMBIT_HOME", self.path("home"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("MODEL_KEY", KEY)
            .current_dir(self.path(project))
            .stdin(Stdio::null())
            .args(words);
        if let Some(home) = &self.cargo_home {
            command.env("CARGO_HOME", home);
        }
        Answered::of(command.output().unwrap())
    }

    /// Breaks the package, prepares it, lets a model mend it, and looks at everything that came of it.
    fn mends(&self, case: &Case) {
        let file = self.path(case.name).join(case.file);
        let published = fs::read_to_string(&file).unwrap();
        assert_eq!(published.matches(case.right).count(), 1, "{}: {}", case.name, case.right);
        let seeded = published.replace(case.right, case.broken);
        fs::write(&file, &seeded).unwrap();

        let (_, price) = PRICES.into_iter().find(|(model, _)| *model == case.model).unwrap();
        let script = Script::of(turns(case, &seeded));
        let server = ModelServer::builder(script).key(KEY).price(price).start().unwrap();
        let url = server.base_url();
        let mut words =
            vec!["model", "use", case.model, "--base-url", &url, "--key", "env:MODEL_KEY", "--replace"];
        words.extend(case.more);
        self.ambit(case.name, &words).well();

        let prepared = self.ambit(case.name, &["init", "--yes"]).well();
        for gate in case.gates {
            assert!(prepared.out.contains(&format!("\n  {gate} ")), "{gate}: {}", prepared.out);
        }
        let ran =
            self.ambit(case.name, &["run", "start", "Make the tests pass again.", "--name", "mend"]).well();
        assert!(ran.out.contains("rev-1 is preview-ready"), "{ran:?}");
        assert_eq!(server.problems(), [] as [String; 0], "{}", ran.err);
        assert_eq!(server.unused_turns(), [] as [usize; 0], "{}", ran.err);
        assert_eq!(fs::read_to_string(&file).unwrap(), seeded, "the work tree is as it was");

        let verified = self.ambit(case.name, &["trace", "verify"]).well();
        let shown = self.ambit(case.name, &["run", "show", "mend", "--json"]).well();
        assert_cost(&shown.json(), &server);
        let trace = self.ambit(case.name, &["trace", "show", "mend", "--json"]).well();
        let diff = self.ambit(case.name, &["revision", "diff", "rev-0", "rev-1", "--patch"]).well();
        for canary in [THOUGHT, KEY] {
            for said in [&prepared, &ran, &verified, &shown, &trace, &diff] {
                assert!(!said.out.contains(canary) && !said.err.contains(canary), "{canary}: {said:?}");
            }
            assert!(!finds_in(&self.path("home"), canary), "the state holds {canary}");
            assert!(!finds_in(&self.path("config"), canary), "the configuration holds {canary}");
        }
        fs::write(self.path("accepted.patch"), diff.out).unwrap();
        run(Command::new("git").args(["apply", "../accepted.patch"]).current_dir(self.path(case.name)));
        assert_eq!(fs::read_to_string(&file).unwrap(), published, "what was accepted is what was published");
    }
}

impl Drop for User {
    fn drop(&mut self) {
        // The directories of images are read-only, which an ordinary user cannot empty.
        let _ = Command::new("chmod").args(["-R", "u+w"]).arg(self.place.path()).status();
    }
}

fn run(command: &mut Command) {
    let done = Answered::of(command.env("GIT_CEILING_DIRECTORIES", std::env::temp_dir()).output().unwrap());
    assert_eq!(done.code, 0, "{command:?}: {done:?}");
}

/// What the run says that its model cost is what the server charges, to the micro-dollar.
fn assert_cost(run: &Value, server: &ModelServer) {
    let cost = |key: &str| u128::from(run["cost"][key].as_u64().unwrap_or_else(|| panic!("{key}: {run}")));
    let bill = server.bill();
    assert!(bill.total_micro_dollars() > 0);
    assert_eq!(cost("reportedMicroUsd"), bill.total_micro_dollars(), "{bill:?}");
    // A further call of an answer is a turn of its own, and costs nothing more.
    assert!(cost("turnsReported") >= bill.charged().count() as u128, "{bill:?}");
    assert_eq!(cost("atReservationMicroUsd"), 0, "{}", run["cost"]);
    assert_eq!(cost("totalMicroUsd"), cost("reportedMicroUsd") + cost("gatesMicroUsd"));
}

/// A unified diff that replaces one line.
fn patch(file: &str, text: &str, old: &str, new: &str) -> String {
    // What stands before a line feed belongs to the line.
    let lines: Vec<&str> = text.trim_end_matches('\n').split('\n').collect();
    let at = lines.iter().position(|line| line.contains(old)).unwrap();
    let (from, to) = (at.saturating_sub(3), (at + 4).min(lines.len()));
    let mut patch = format!("--- a/{file}\n+++ b/{file}\n@@ -{0},{1} +{0},{1} @@\n", from + 1, to - from);
    for (index, line) in lines.iter().enumerate().take(to).skip(from) {
        if index == at {
            patch.push_str(&format!("-{line}\n+{}\n", line.replace(old, new)));
        } else {
            patch.push_str(&format!(" {line}\n"));
        }
    }
    patch
}

/// What the model says.
fn turns(case: &Case, seeded: &str) -> Vec<Turn> {
    let thinking = |turn: Turn| turn.thinking(&format!("Let me see. {THOUGHT}"));
    let plan = json!({"steps": [
        {"id": "s1", "summary": "Find the cause and mend it", "work": "source", "cases": ["AC-1", "AC-2"]},
    ]});
    let gate = |id: &str| thinking(Turn::call("run_named_gate", json!({"gateId": id})));
    let apply = |patch: String, hypothesis: Option<&str>| {
        let mut input = json!({"patch": patch, "step": "s1"});
        if let Some(cause) = hypothesis {
            input["hypothesis"] = json!(cause);
        }
        thinking(Turn::call("apply_project_patch", input)).saying("This should do it.")
    };
    let replace = |text: &str, old: &str, new: &str| patch(case.file, text, old, new);
    let mend = || replace(seeded, case.broken, case.right);
    let cause = Some("The condition that was changed last does not hold for every input.");
    let [cheap, dear] = case.gates;
    let failed = format!("gate {}: failed \\(exit", regex_of(dear));

    let read = thinking(Turn::call("read_project_file", json!({"path": case.file}))).saying("I read first.");
    let mut turns = vec![read, Turn::call("propose_plan", plan).when("lines, sha256:")];
    match case.way {
        Way::GatesFirst => turns.extend([gate(cheap), gate(dear), apply(mend(), cause).when(&failed)]),
        Way::PatchFirst => {
            let after = seeded.replace(case.broken, case.wrong);
            turns.extend([
                apply(replace(seeded, case.broken, case.wrong), None),
                gate(cheap),
                gate(dear),
                apply(replace(&after, case.wrong, case.right), cause).when(&failed),
            ]);
        }
        Way::Stumbling => {
            turns[0] = turns[0].clone().after(Fault::RateLimitedFor { seconds: 0 }).after(Fault::Overloaded);
            let right = mend();
            let elsewhere = match right.contains('\r') {
                true => right.replace('\r', ""),
                false => right.replace(case.broken, case.wrong),
            };
            let both =
                apply(mend(), None).when("Denied: ").and_call("run_named_gate", json!({"gateId": cheap}));
            turns.extend([apply(elsewhere, None), both, gate(dear)]);
            return turns;
        }
    }
    turns.extend([gate(cheap), gate(dear)]);
    turns
}

fn regex_of(id: &str) -> String {
    id.replace('.', "\\.")
}

#[test]
fn python_packages_are_mended_in_one_command_each() {
    let (sdists, pytest) = (include_str!("../packages/sdists.txt"), include_str!("../packages/pytest.txt"));
    let Some(sdists) = installed("sdists", sdists, "toposort inflection") else { return };
    let Some(pytest) = installed("pytest", pytest, "toposort inflection") else { return };
    let user = User::new();
    user.unpack(&sdists.join("toposort-1.10.tar.gz"), "toposort");
    user.mends(&Case {
        name: "toposort",
        file: "src/toposort.py",
        right: "set(e for e in dep if e != item)",
        broken: "set(dep)",
        wrong: "",
        gates: ["python.syntax", "python.tests"],
        way: Way::GatesFirst,
        model: "claude-opus-5",
        more: &[],
    });
    user.unpack(&sdists.join("inflection-0.5.1.tar.gz"), "inflection");
    let project = user.path("inflection");
    run(Command::new("python3").args(["-m", "venv", "--without-pip", ".venv"]).current_dir(&project));
    let lib = fs::read_dir(project.join(".venv/lib")).unwrap().flatten().next().unwrap().path();
    run(Command::new("cp").arg("-R").arg(pytest.join(".")).arg(lib.join("site-packages")));
    user.mends(&Case {
        name: "inflection",
        file: "inflection/__init__.py",
        right: "if number % 100 in (11, 12, 13):",
        broken: "if number in (11, 12, 13):",
        wrong: "if number % 1000 in (11, 12, 13):",
        gates: ["python.syntax", "python.tests"],
        way: Way::PatchFirst,
        model: "gpt-5.6-terra",
        more: &[],
    });
}

#[test]
fn node_packages_are_mended_in_one_command_each() {
    let lock = include_str!("../packages/package-lock.json");
    let Some(node) = installed("node", lock, "reusify fast-uri") else { return };
    let user = User::new();
    for name in ["reusify", "fast-uri"] {
        let (modules, project) = (node.join("node_modules"), user.path(name));
        run(Command::new("cp").arg("-R").arg(modules.join(name)).arg(&project));
        run(Command::new("cp").arg("-R").arg(modules).arg(project.join("node_modules")));
    }
    user.mends(&Case {
        name: "reusify",
        file: "reusify.js",
        right: "tail = obj",
        broken: "tail = tail",
        wrong: "tail = object",
        gates: ["node.syntax", "node.tests"],
        way: Way::Stumbling,
        model: "gpt-5.6-terra",
        more: &["--wire", "openai-chat"],
    });
    user.mends(&Case {
        name: "fast-uri",
        file: "lib/utils.js",
        right: "if (code === 48) {",
        broken: "if (code === 49) {",
        wrong: "if (code === 47) {",
        gates: ["node.syntax", "node.tests"],
        way: Way::PatchFirst,
        model: "claude-opus-5",
        more: &["--no-stream"],
    });
}

#[test]
fn crates_are_mended_in_one_command_each() {
    let Some(crates) = installed("crates", include_str!("../packages/crates.lock"), "shell-words humansize")
    else {
        return;
    };
    let home = crates.join("home");
    let archive = |name: &str| {
        let mut caches = fs::read_dir(home.join("registry/cache")).unwrap().flatten();
        caches.find_map(|cache| Some(cache.path().join(name)).filter(|path| path.is_file())).unwrap()
    };
    let mut user = User::new();
    user.cargo_home = Some(home.clone());
    user.unpack(&archive("shell-words-1.1.1.crate"), "shell-words");
    user.mends(&Case {
        name: "shell-words",
        file: "src/lib.rs",
        right: "Some('#') => Comment,",
        broken: "Some(';') => Comment,",
        wrong: "Some('!') => Comment,",
        gates: ["rust.check", "rust.tests"],
        way: Way::PatchFirst,
        model: "gpt-5.6-terra",
        more: &["--no-stream"],
    });
    user.unpack(&archive("humansize-2.1.3.crate"), "humansize");
    user.mends(&Case {
        name: "humansize",
        file: "src/formatters.rs",
        right: "while fabs(size) >= divider {",
        broken: "while fabs(size) > divider {",
        wrong: "while size >= divider {",
        gates: ["rust.check", "rust.tests"],
        way: Way::Stumbling,
        model: "gpt-5.6-terra",
        more: &["--wire", "openai-chat", "--no-stream"],
    });
}
