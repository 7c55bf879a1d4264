//! What was found in a repository and what is proposed for it, as a page to agree to.

use std::fmt::Write as _;
use std::path::Path;

use ambit_blueprint::AggregateLimits;
use ambit_ports::images::Image;
use ambit_project_survey::{Ecosystem, Plan, RUN_CHANGED_FILES, RUN_COST, RUN_TURNS};
use serde_json::{Value, json};

use crate::terminal::QUOTED;

/// What a page is about.
pub(crate) struct Proposal<'a> {
    pub(crate) root: &'a Path,
    pub(crate) found: &'a [(Ecosystem, Vec<String>)],
    pub(crate) plan: &'a Plan,
    /// The image, where it is captured already.
    pub(crate) image: Option<&'a Image>,
    pub(crate) limits: AggregateLimits,
}

impl Proposal<'_> {
    pub(crate) fn page(&self) -> String {
        let plan = self.plan;
        let mut page = format!("{}\n", self.root.display());
        for (ecosystem, signs) in self.found {
            let _ = writeln!(page, "  {:<12}{}", ecosystem.as_str(), signs.join(", "));
        }
        page.push_str("\ngates, from cheap to dear; a run ends well only when all of them pass\n");
        for gate in &plan.gates {
            let place = gate.workdir.as_ref().map(|dir| format!(" (in {dir})")).unwrap_or_default();
            let _ = writeln!(page, "  {:<16}{}{place}", gate.id, gate.summary);
            for line in shortened(&gate.command_line()) {
                let _ = writeln!(page, "{QUOTED}{line}");
            }
        }
        let longest = plan.gates.iter().map(|gate| gate.resources.memory_mib).max().unwrap_or(0);
        let _ = writeln!(page, "\na patch may touch   {}", plan.scope.join("  "));
        let _ = writeln!(page, "and never           {}", plan.protected.join("  "));
        let manifests = if plan.manifests.is_empty() {
            "; no file was seen that declares any".to_owned()
        } else {
            format!(" (declared in: {})", plan.manifests.join("  "))
        };
        let _ = writeln!(page, "dependencies        none may be added{manifests}");
        let _ = writeln!(page, "tools               {}", self.tools());
        if !plan.volumes.is_empty() {
            let volumes: Vec<&str> = plan.volumes.iter().map(|volume| volume.as_str()).collect();
            let _ = writeln!(page, "packages            {}, read-only and offline", volumes.join(", "));
        }
        let _ = writeln!(
            page,
            "a run has           {RUN_TURNS} turns, {} minutes, {RUN_COST} USD, {RUN_CHANGED_FILES} changed files",
            plan.elapsed_minutes
        );
        let _ = writeln!(page, "a gate has          {longest} MiB of memory at the most, and no network");
        let _ = writeln!(page, "limits              {}", limits_told(self.limits));
        for remark in &plan.remarks {
            let _ = writeln!(page, "note                {remark}");
        }
        page
    }

    fn tools(&self) -> String {
        let names: Vec<&str> = self.plan.tools.iter().map(|tool| tool.as_str()).collect();
        match self.image {
            Some(image) => format!("{} ({}, captured already)", names.join(" "), image.size_bytes),
            None => format!("{}, captured from this machine into an image", names.join(" ")),
        }
    }

    pub(crate) fn json(&self) -> Value {
        let plan = self.plan;
        let gates: Vec<Value> = plan
            .gates
            .iter()
            .map(|gate| json!({"id": gate.id, "summary": gate.summary, "argv": gate.argv, "workdir": gate.workdir}))
            .collect();
        let found: Vec<Value> = self
            .found
            .iter()
            .map(|(ecosystem, signs)| json!({"ecosystem": ecosystem.as_str(), "signs": signs}))
            .collect();
        let volumes: Vec<&str> = plan.volumes.iter().map(|volume| volume.as_str()).collect();
        let tools: Vec<&str> = plan.tools.iter().map(|tool| tool.as_str()).collect();
        json!({
            "repository": self.root.display().to_string(),
            "found": found,
            "gates": gates,
            "scope": plan.scope,
            "protected": plan.protected,
            "testPaths": plan.test_paths,
            "manifests": plan.manifests,
            "tools": tools,
            "volumes": volumes,
            "aggregateLimits": self.limits,
            "remarks": plan.remarks,
        })
    }
}

const fn limits_told(limits: AggregateLimits) -> &'static str {
    match limits {
        AggregateLimits::Enforced => "enforced for a sandbox as a whole",
        AggregateLimits::BestEffort => {
            "on each process; this machine cannot enforce them for a sandbox as a whole, and every record says so"
        }
    }
}

/// How much of a command is shown. The longest script of a project is shown whole: a person agrees to it.
const SHOWN_CHARS: usize = 2_500;

/// A command as lines that end where it has line ends.
fn shortened(command: &str) -> Vec<String> {
    let is_long = command.chars().count() > SHOWN_CHARS;
    let mut shown: String = command.chars().take(SHOWN_CHARS).collect();
    if is_long {
        shown.push_str(" ... and more");
    }
    shown.lines().map(str::to_owned).collect()
}
