//! A home that is prepared once for all tests of this process, with a project of its own for each of them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// The tools in the sandbox image of these tests.
pub(crate) const TOOLS: [&str; 5] = ["sh", "cat", "grep", "sleep", "head"];

/// The application of these tests: it greets, and forgets the name.
pub(crate) const GREET: &str = "#!/bin/sh\necho hello\n";
/// What its gate runs. It is protected.
pub(crate) const CHECK: &str = "said=$(sh greet.sh ada) || exit 1\n[ \"$said\" = 'hello ada' ] || { echo \"FAIL: greet: got $said\"; exit 1; }\n";
/// The patch that makes the gate pass.
pub(crate) const FIX: &str =
    "--- a/greet.sh\n+++ b/greet.sh\n@@ -1,2 +1,2 @@\n #!/bin/sh\n-echo hello\n+echo \"hello $1\"\n";

/// Adds a dependency that nobody approved.
pub(crate) const DEPENDENCY: &str = "--- /dev/null\n+++ b/requirements.txt\n@@ -0,0 +1 @@\n+attrs==25.3.0\n";

static HOME: OnceLock<Prepared> = OnceLock::new();
static PROJECTS: AtomicU32 = AtomicU32::new(0);

struct Prepared {
    home: PathBuf,
    image: String,
}

/// A project in the shared home, with a work directory of its own.
pub(crate) struct Project {
    pub(crate) name: String,
    pub(crate) dir: TempDir,
    pub(crate) profile: &'static str,
}

/// What the binary answered.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Answered {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).expect("standard output is text"),
            err: String::from_utf8(output.stderr).expect("standard error is text"),
        }
    }

    /// Standard output as JSON: one value, or the last line of several.
    pub(crate) fn json(&self) -> Value {
        let last = || serde_json::from_str(self.out.lines().last().unwrap_or_default());
        serde_json::from_str(&self.out)
            .or_else(|_| last())
            .unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The same, where the command must have gone well.
    #[track_caller]
    pub(crate) fn well(self) -> Self {
        assert_eq!(self.code, 0, "{}\n{}", self.out, self.err);
        self
    }
}

fn prepared() -> &'static Prepared {
    HOME.get_or_init(|| {
        let home = fresh_home();
        let mut words = vec!["image", "capture", "--json", "--name", "tools"];
        words.extend(TOOLS);
        let answered = Answered::of(command(&home, "prepare").args(&words).output().unwrap()).well();
        let image = answered.json()["image"]["digest"].as_str().unwrap().to_owned();
        Prepared { home, image }
    })
}

/// A directory of this process. Nothing runs when a process of tests ends, so the next one removes what is left.
fn fresh_home() -> PathBuf {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR"));
    for entry in std::fs::read_dir(root).unwrap().flatten() {
        let left = entry.file_name().into_string().unwrap_or_default();
        let is_ours = left.strip_prefix("home-").is_some_and(|pid| !Path::new("/proc").join(pid).exists());
        if is_ours {
            // The directories of images are read-only, which an ordinary user cannot empty.
            let _ = Command::new("chmod").args(["-R", "u+w"]).arg(entry.path()).status();
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
    let home = root.join(format!("home-{}", std::process::id()));
    std::fs::create_dir(&home).unwrap();
    home
}

/// Whether a file below holds this text, images aside.
pub(crate) fn finds_in(dir: &Path, text: &str) -> bool {
    std::fs::read_dir(dir).unwrap().flatten().any(|entry| {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() {
            return entry.file_name() != "images" && finds_in(&path, text);
        }
        let content = if kind.is_file() { std::fs::read(&path).unwrap_or_default() } else { Vec::new() };
        content.windows(text.len()).any(|window| window == text.as_bytes())
    })
}

/// Whether this machine meets the strictest built-in profile.
pub(crate) fn meets_secure_generation() -> bool {
    profile() == "secure-generation-v1"
}

fn command(home: &Path, project: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ambit"));
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("AMBIT_HOME", home)
        .env("AMBIT_ORG", "acme")
        .env("AMBIT_PROJECT", project)
        .env("XDG_CONFIG_HOME", "/nonexistent/config")
        .stdin(Stdio::null());
    command
}

/// The strictest built-in profile that this machine meets: without root there may be no limits on a sandbox as a whole.
fn profile() -> &'static str {
    static PROFILE: OnceLock<&'static str> = OnceLock::new();
    PROFILE.get_or_init(|| {
        let doctor = Answered::of(command(&prepared().home, "prepare").arg("doctor").output().unwrap());
        let met =
            doctor.out.lines().any(|line| line.contains("secure-generation-v1") && line.starts_with("ok"));
        if met { "secure-generation-v1" } else { "laptop-v1" }
    })
}

impl Project {
    /// A project with the application, its catalog, and an approved blueprint.
    pub(crate) fn new() -> Self {
        let project = Self::empty();
        project.approve_as_ada();
        project
    }

    /// Makes ada an approver and approves the blueprint.
    pub(crate) fn approve_as_ada(&self) {
        self.write("blueprint.yaml", &blueprint(""));
        self.ambit(["approver", "init", "--name", "ada", "--out", "approver.key"]).well();
        self.approve("blueprint.yaml").well();
    }

    /// A project with the application and its documents, and nothing registered or approved.
    pub(crate) fn empty() -> Self {
        let number = PROJECTS.fetch_add(1, Ordering::Relaxed);
        let dir = TempDir::new().unwrap();
        let project =
            Self { name: format!("greeter-{}-{number}", std::process::id()), dir, profile: profile() };
        std::fs::create_dir(project.path("app")).unwrap();
        project.write("app/greet.sh", GREET);
        project.write("app/check.sh", CHECK);
        project.write("catalog.yaml", &catalog(&prepared().image));
        project
    }

    /// A path in the project's work directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: &str) {
        std::fs::write(self.path(name), content).unwrap();
        if name.ends_with(".key") {
            self.set_mode(name, 0o600);
        }
    }

    pub(crate) fn set_mode(&self, name: &str, mode: u32) {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(self.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    }

    /// The home of all projects.
    pub(crate) fn home(&self) -> &'static Path {
        &prepared().home
    }

    /// The binary, about to act on this project, in its work directory.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>) -> Command {
        let mut command = command(self.home(), &self.name);
        command.current_dir(self.dir.path()).args(words);
        command
    }

    pub(crate) fn ambit<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>) -> Answered {
        Answered::of(self.command(words).output().unwrap())
    }

    pub(crate) fn approve(&self, file: &str) -> Answered {
        self.ambit(["blueprint", "approve", file, "--credential-file", "approver.key"])
    }

    /// The words that start a run of this name, with an agent of these turns.
    pub(crate) fn start_words(&self, name: &str, agent: &str) -> Vec<String> {
        let file = format!("{name}.agent.yaml");
        self.write(&file, agent);
        self.start_on("app", name, file)
    }

    /// The words that start a run on this base, with the agent of this file.
    pub(crate) fn start_on(&self, base: &str, name: &str, file: String) -> Vec<String> {
        [
            "run",
            "start",
            name,
            "--blueprint",
            "greeter",
            "--base",
            base,
            "--catalog",
            "catalog.yaml",
            "--agent",
        ]
        .into_iter()
        .map(str::to_owned)
        .chain([file, "--profile".to_owned(), self.profile.to_owned()])
        .collect()
    }

    /// A run as it is seen now.
    pub(crate) fn show(&self, run: &str) -> Value {
        self.ambit(["run", "show", run, "--json"]).well().json()
    }

    /// A run as it is seen once it looks as it must, which it has to in good time.
    pub(crate) fn until(&self, run: &str, looks: impl Fn(&Value) -> bool) -> Value {
        let late = Instant::now() + Duration::from_secs(60);
        loop {
            let answered = self.ambit(["run", "show", run, "--json"]);
            if answered.code == 0 {
                let seen = answered.json();
                if looks(&seen) {
                    return seen;
                }
                assert!(Instant::now() < late, "{seen}");
            }
            assert!(Instant::now() < late, "{answered:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The binary at work, with nobody to listen to it.
    pub(crate) fn spawn(&self, words: Vec<String>) -> Child {
        self.command(words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// A credential of the right form that nobody holds.
    pub(crate) fn forged_credential(&self) -> String {
        let key = std::fs::read_to_string(self.path("approver.key")).unwrap();
        let last = if key.trim_end().ends_with('0') { '1' } else { '0' };
        let mut forged = key.trim_end().to_owned();
        forged.pop();
        forged.push(last);
        forged
    }

    /// Whether this text stands anywhere in the state of all projects.
    pub(crate) fn finds(&self, text: &str) -> bool {
        finds_in(self.home(), text)
    }

    /// Starts a run and waits for its end.
    pub(crate) fn start(&self, name: &str, agent: &str) -> Answered {
        self.ambit(self.start_words(name, agent))
    }
}

/// An agent that plans, fixes the application and runs its gate, and then goes on as `then` says.
pub(crate) fn diligent(then: &str) -> String {
    transcript(&format!("{PLAN}{}{GATE}", patch(FIX, "")), then)
}

/// A turn with a plan.
pub(crate) const PLAN: &str =
    "    - say: { plan: [{ id: s1, summary: Greet by name, work: domain, cases: [AC-1] }] }\n";
/// A turn that runs the gate.
pub(crate) const GATE: &str = "    - gate: unit\n";

/// A turn with a patch. `more` are further members of the call, such as a hypothesis.
pub(crate) fn patch(patch: &str, more: &str) -> String {
    let patch = serde_json::to_string(patch).unwrap();
    format!(
        "    - say: {{ tool: apply_project_patch, planStep: s1, {more} input: {{ revisionId: \"${{revision}}\", \
         expectedBaseSha: \"${{head}}\", patch: {patch} }} }}\n"
    )
}

/// An agent with these turns, in YAML, that then goes on as `then` says.
pub(crate) fn transcript(turns: &str, then: &str) -> String {
    format!(
        "apiVersion: coding-agent.enterprise/v1\nkind: AgentTranscript\nmetadata: {{ name: tested }}\nspec:\n  \
         turnQuoteUsd: 0.01\n  turns:\n{turns}  then: {then}\n"
    )
}

/// The blueprint of the application. `more` are lines of its `spec`.
pub(crate) fn blueprint(more: &str) -> String {
    format!(
        "apiVersion: coding-agent.enterprise/v1
kind: Blueprint
metadata: {{ name: greeter, version: 1, title: Greet by name }}
spec:
  goal: The greeter greets by name.
  stage: generate
  accountability:
    owner: greeter-team
    laterOwner: greeter-team
    cleanup: {{ obligation: Delete the sandbox and what was not accepted., afterDays: 7 }}
  acceptanceCases:
    - {{ id: AC-1, statement: Who gives a name is greeted by it. }}
  scope:
    paths: [greet.sh, requirements.txt]
    work: [domain]
    outOfScope: [deployment]
  protectedOracles:
    paths: [check.sh]
    testPaths: [check.sh]
  gates:
    - {{ id: unit, cases: [AC-1] }}
  dependencies: {{ manifests: [requirements.txt], approved: [] }}
  runBudget:
    maxModelSteps: 12
    maxPatchAttemptsPerGate: 3
    maxElapsedMinutes: 5
    maxChangedFiles: 4
    maxAddedDependencies: 1
    maxParallelProcesses: 2
    maxToolCostUsd: 1.00
    stopOnRepeatedFailureFingerprint: 2
    maxOutputBytes: 65536
    maxSideEffects: 10
  archetypeProbes: []
  boundaryMap:
    - {{ plane: control-plane, holds: blueprints and evidence, grantedBy: approval of this blueprint }}
    - {{ plane: hosted-runtime, holds: one sandbox per run, grantedBy: the lease of one run }}
    - {{ plane: generated-application, holds: greetings, grantedBy: nothing here }}
    - {{ plane: connector-source, holds: nothing, grantedBy: nothing here }}
{more}"
    )
}

fn catalog(image: &str) -> String {
    format!(
        "apiVersion: coding-agent.enterprise/v1
kind: NamedCommandCatalog
metadata: {{ name: named-commands, version: 3 }}
spec:
  commands:
    - id: unit
      summary: It greets by name.
      argv: [sh, check.sh]
      image: {image}
      environment: {{ PATH: \"/usr/local/bin:/usr/bin:/bin\", LC_ALL: C.UTF-8 }}
      resources:
        memoryMib: 64
        processes: 8
        cpuMillis: 1000
        cpuSeconds: 5
        wallSeconds: 10
        diskMib: 8
        outputKib: 32
        parallelProcesses: 1
      costUsd: 0.001
      outputs: []
      fixtures: []
      verdict: exit-status
"
    )
}
