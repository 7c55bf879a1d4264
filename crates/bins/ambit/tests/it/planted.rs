//! Secrets that lie in what a run handles: what a gate prints, a file that is read and searched, and what an agent says.

use std::fs;
use std::path::{Path, PathBuf};

use ambit_ids::Digest;
use serde_json::Value;

use crate::canaries::found;
use crate::rig::{FIX, GATE, PLAN, Project, patch, transcript};

const DRAWN: &str = "q7Zr2Xw9Kc4Vb8Nm1Lp6Jh3Gf5Ds0AyTuIoPeRkWzQvXcBnMlKjHgFdSaYtUiOpErWqZxCvBnMaSdFgH";

/// A secret that lies in no file as one.
fn secret(start: &str, from: usize, len: usize) -> String {
    format!("{start}{}", &DRAWN[from..from + len])
}

/// Shell that prints a text in two writes, so that it lies in no file either.
fn printed(text: &str) -> String {
    let (first, rest) = text.split_at(text.len() / 2);
    format!("printf %s '{first}'\nsleep 0.05\nprintf %s '{rest}'\necho\n")
}

/// Every file below, images aside.
fn files(dir: &Path, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() && !path.ends_with("images") {
            files(&path, all);
        } else if kind.is_file() {
            all.push(path);
        }
    }
}

/// The secrets of this test. Of a private key, a line of it.
struct Planted {
    tokens: Vec<String>,
    key_lines: Vec<String>,
    in_file: String,
    said: String,
}

impl Planted {
    fn new() -> Self {
        let tokens = vec![
            secret("ghp_", 0, 36),
            secret("glpat-", 3, 20),
            secret("xoxb-", 5, 30),
            secret("sk-ant-api03-", 7, 60),
            secret("npm_", 9, 36),
            format!("eyJ{}.eyJ{}.{}", &DRAWN[0..20], &DRAWN[20..50], &DRAWN[50..80]),
            format!("AKIA{}", &DRAWN[0..16].to_ascii_uppercase()),
        ];
        let key_lines = (0..4).map(|at| DRAWN[at..at + 64].chars().rev().collect()).collect();
        Self { tokens, key_lines, in_file: secret("pypi-AgE", 0, 70), said: secret("hf_", 11, 34) }
    }

    /// What the gate runs: it prints them all, and then judges.
    fn check(&self) -> String {
        let mut check: String = self.tokens.iter().map(|token| printed(token)).collect();
        check.push_str(&printed("-----BEGIN RSA PRIVATE KEY-----"));
        self.key_lines.iter().for_each(|line| check.push_str(&printed(line)));
        check.push_str(&printed("-----END RSA PRIVATE KEY-----"));
        check + "cat settings.env >&2\necho the rest stays\nsh greet.sh ada | grep -q 'hello ada'\n"
    }

    fn all(&self) -> impl Iterator<Item = &String> {
        self.tokens.iter().chain(&self.key_lines).chain([&self.in_file, &self.said])
    }
}

fn look(project: &Project, planted: &Planted) -> String {
    let tool = |name: &str, more: &str| {
        format!(
            "    - say: {{ tool: {name}, input: {{ projectId: {}, revisionId: \"${{revision}}\", {more} }} }}\n",
            project.name
        )
    };
    let mark = "--- a/settings.env\n+++ b/settings.env\n@@ -1,3 +1,3 @@\n # settings\n TOKEN=[redacted:pypi]\n-MODE=a\n+MODE=b\n";
    let because = format!("hypothesis: \"the token {} is printed\",", planted.said);
    [
        PLAN,
        &tool("read_project_file", "path: settings.env"),
        &tool("search_project_text", "text: TOKEN"),
        GATE,
        &patch(mark, &because),
        &patch(FIX, &because),
        GATE,
    ]
    .concat()
}

// proves E-B05
// break crates/mechanisms/capture/src/lib.rs: `self.redacting.push(chunk, &mut self.buffer);` -> `self.buffer.extend_from_slice(chunk);`
// break crates/control-plane/orchestrator/src/withheld.rs: `proposed.hypothesis = proposed.hypothesis.map(clean);` -> `let _ = &clean;`
#[test]
fn no_secret_that_a_run_comes_across_is_kept_or_shown() {
    let (project, planted) = (Project::empty(), Planted::new());
    let settings = format!("# settings\nTOKEN={}\nMODE=a\n", planted.in_file);
    project.write("app/settings.env", &settings);
    project.write("app/check.sh", &planted.check());
    project.approve_as_ada();
    let started = project.start("planted", &transcript(&look(&project, &planted), "finish"));
    assert_eq!(started.code, 0, "{}", started.err);
    let bundle = project.path("bundle");
    project.ambit(["run", "export", "planted", "--out", bundle.to_str().unwrap()]).well();
    let mut all = vec![("run start".to_owned(), [started.out, started.err].concat().into_bytes())];
    let views: [&[&str]; 6] = [
        &["run", "show", "planted"],
        &["run", "watch", "planted"],
        &["gate", "show", "planted", "unit"],
        &["trace", "show", "planted"],
        &["trace", "verify"],
        &["revision", "diff", "rev-0", "rev-1", "--patch"],
    ];
    for words in views {
        for json in [&[][..], &["--json"]] {
            let answered = project.ambit(words.iter().chain(json)).well();
            all.push((words.join(" "), [answered.out, answered.err].concat().into_bytes()));
        }
    }
    let mut kept = Vec::new();
    files(project.home(), &mut kept);
    files(&bundle, &mut kept);
    let blob = Digest::of(settings.as_bytes()).to_hex();
    // The project itself: as a blob, and as the trees that a sandbox and an export are given.
    let is_own = |path: &PathBuf| {
        path.ends_with("settings.env") || path.display().to_string().replace('/', "").contains(&blob)
    };
    let (own, others): (Vec<_>, Vec<_>) = kept.into_iter().partition(is_own);
    let holds = |path: &PathBuf, text: &str| found(&fs::read(path).unwrap(), text).is_some();
    assert!(own.iter().any(|path| holds(path, &planted.in_file)), "the project itself stays as it is");
    all.extend(others.iter().map(|path| (path.display().to_string(), fs::read(path).unwrap_or_default())));
    for canary in planted.all() {
        for (place, text) in &all {
            // The halves lie in the gate's own file, which is the project's.
            let form = found(text, canary).filter(|form| *form != "split");
            assert_eq!(form, None, "{canary} is in {place}");
        }
    }
    let shown = project.ambit(["gate", "show", "planted", "unit", "--json"]).well().json();
    let taken = &shown["redactions"]["found"];
    let expected: Value = serde_json::json!({
        "anthropic": 1, "aws": 1, "github": 1, "gitlab": 1, "jwt": 1, "npm": 1, "pem": 1, "pypi": 1, "slack": 1,
    });
    assert_eq!(*taken, expected, "{shown:#}");
    let said = shown["observation"]["stdout"]["head"].as_str().unwrap();
    assert!(
        said.contains("[redacted:github]\n[redacted:gitlab]\n") && said.ends_with("the rest stays\n"),
        "{said}"
    );
    let trace = project.ambit(["trace", "show", "planted"]).well().out;
    for told in [
        "the token [redacted:hugging-face] is printed",
        "settings.env: line 2 holds a secret",
        ", 1 redacted",
        ", 9 redacted",
    ] {
        assert!(trace.contains(told), "{told}: {trace}");
    }
}
