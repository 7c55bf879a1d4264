//! What an agent is told, and what it can say.

use serde_json::{Value, json};

/// A turn as an agent sees it.
#[derive(Clone, Debug)]
pub struct Turn {
    context: Value,
}

impl Turn {
    /// A turn with its context.
    #[must_use]
    pub const fn new(context: Value) -> Self {
        Self { context }
    }

    /// The whole context.
    #[must_use]
    pub const fn context(&self) -> &Value {
        &self.context
    }

    /// How many proposals were answered before.
    #[must_use]
    pub fn proposals(&self) -> usize {
        self.context["proposals"].as_u64().and_then(|count| usize::try_from(count).ok()).unwrap_or(usize::MAX)
    }

    /// The number of the turn.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.context["turn"].as_u64().unwrap_or_default()
    }

    /// What came of the call before.
    #[must_use]
    pub fn last(&self) -> &Value {
        &self.context["last"]
    }

    /// The digest of the current tree.
    #[must_use]
    pub fn head(&self) -> &str {
        self.context["head"].as_str().unwrap_or_default()
    }

    /// Whether a plan is accepted.
    #[must_use]
    pub fn is_planned(&self) -> bool {
        !self.context["plan"].is_null()
    }

    /// Whether the next patch must explain a failure.
    #[must_use]
    pub fn must_explain(&self) -> bool {
        !self.context["mustExplain"].is_null()
    }

    /// The first gate that does not pass on the current tree, from cheap to dear.
    #[must_use]
    pub fn next_gate(&self) -> Option<String> {
        let gates = self.context["gates"].as_array()?;
        let open = gates.iter().find(|gate| gate["status"] != "passed")?;
        open["id"].as_str().map(str::to_owned)
    }

    /// A plan of one step, `s1`, for these cases.
    #[must_use]
    pub fn plan(&self, cases: &[&str]) -> Value {
        json!({"plan": [{"id": "s1", "summary": "make it right", "work": "domain", "cases": cases}]})
    }

    fn input(&self, tool: &str, fields: Value) -> Value {
        let mut input = json!({"revisionId": self.context["revision"]});
        if let (Value::Object(input), Value::Object(fields)) = (&mut input, fields) {
            input.extend(fields);
        }
        json!({"tool": tool, "input": input})
    }

    /// Reads a file of the run's revision.
    #[must_use]
    pub fn read(&self, path: &str) -> Value {
        self.read_of(self.context["project"].as_str().unwrap_or_default(), path)
    }

    /// Reads a file of a project.
    #[must_use]
    pub fn read_of(&self, project: &str, path: &str) -> Value {
        self.input("read_project_file", json!({"projectId": project, "path": path}))
    }

    /// Lists the files of the run's revision.
    #[must_use]
    pub fn list(&self) -> Value {
        self.input("list_project_files", json!({"projectId": self.context["project"]}))
    }

    /// Searches a text in the run's revision.
    #[must_use]
    pub fn search(&self, text: &str) -> Value {
        self.input("search_project_text", json!({"projectId": self.context["project"], "text": text}))
    }

    /// Applies a patch to the current tree, for the step `s1`.
    #[must_use]
    pub fn patch(&self, patch: &str) -> Value {
        let mut call = self
            .input("apply_project_patch", json!({"expectedBaseSha": self.context["head"], "patch": patch}));
        call["planStep"] = json!("s1");
        call
    }

    /// The same, with a cause that is supposed of the last failure.
    #[must_use]
    pub fn explained(&self, patch: &str) -> Value {
        let mut call = self.patch(patch);
        call["hypothesis"] = json!("the word was wrong");
        call
    }

    /// Runs a gate under a key.
    #[must_use]
    pub fn gate(&self, gate: &str, key: &str) -> Value {
        self.input("run_named_gate", json!({"gateId": gate, "idempotencyKey": key}))
    }

    /// Runs a gate under a key of its own.
    #[must_use]
    pub fn gate_once(&self, gate: &str) -> Value {
        self.gate(gate, &format!("turn-{}", self.number()))
    }

    /// Asks for the approval of the proposal that was just held back.
    #[must_use]
    pub fn ask(&self) -> Value {
        let held = &self.last()["needsApproval"];
        json!({"tool": "request_scoped_approval", "input": {
            "proposalId": held["proposalId"], "capability": held["capability"], "reason": "it is needed",
        }})
    }
}

/// A patch that puts other lines in the place of all the lines of a file.
#[must_use]
pub fn edit(path: &str, before: &str, after: &str) -> String {
    let (old, new) = (before.lines().count(), after.lines().count());
    let mut patch = format!("--- a/{path}\n+++ b/{path}\n@@ -1,{old} +1,{new} @@\n");
    for (sign, text) in [('-', before), ('+', after)] {
        for line in text.lines() {
            patch.push_str(&format!("{sign}{line}\n"));
        }
    }
    patch
}

/// A patch that creates a file.
#[must_use]
pub fn creation(path: &str, content: &str) -> String {
    let lines: String = content.lines().map(|line| format!("+{line}\n")).collect();
    format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{} @@\n{lines}", content.lines().count())
}
