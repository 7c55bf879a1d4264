use std::collections::BTreeSet;

use ambit_blueprint::{Document, ExecutionCapabilityProfile, builtin};
use ambit_ids::ByteCount;
use ambit_ports::images::ImageStore as _;
use ambit_ports::sandbox::CapabilityManifest;
use ambit_sandboxes::unmet;
use serde::Serialize;
use serde_json::json;

use crate::answer::Answer;
use crate::context::Context;
use crate::failure::{Failure, exit};
use crate::verbs::everyday;

/// One thing that was looked at.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Finding {
    what: String,
    ok: bool,
    found: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    mend: String,
}

impl Finding {
    pub(super) fn ok(what: &str, found: impl Into<String>) -> Self {
        Self { what: what.to_owned(), ok: true, found: found.into(), mend: String::new() }
    }

    pub(super) fn missing(what: &str, found: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { what: what.to_owned(), ok: false, found: found.into(), mend: mend.into() }
    }
}

/// Looks at everything that a run needs. What is missing for one profile only is told, and is no failure.
pub(crate) async fn run(context: &Context) -> Result<Answer, Failure> {
    let services = context.open()?;
    let mut findings = vec![Finding::ok("home", context.home.path().display().to_string())];
    findings.push(disk(context.home.path()));
    let images = services.images.list().await.map_err(|error| Failure::of(error.code(), &error))?;
    findings.push(if images.is_empty() {
        Finding::missing("images", "none", "ambit image capture --name tools python3 git sh")
    } else {
        Finding::ok("images", format!("{}", images.len()))
    });
    let project = services.project(&context.scope).await?;
    findings.push(match project.approvers().next() {
        Some((approver, _)) => Finding::ok("approver", approver.to_string()),
        None => Finding::missing("approver", "nobody", "ambit approver init --name NAME --out FILE"),
    });
    findings.extend(everyday::findings(context));
    let mut usable = false;
    match services.sandboxes.measure().await {
        Err(error) => findings.push(Finding::missing("sandbox", error.to_string(), "see the message")),
        Ok(manifest) => {
            findings.push(Finding::ok("sandbox", format!("{} probes", manifest.evidence_probes.len())));
            for profile in profiles()? {
                let finding = profile_finding(&profile, &manifest);
                usable |= finding.ok;
                findings.push(finding);
            }
        }
    }
    let mut text = String::new();
    for finding in &findings {
        let mark = if finding.ok { "ok     " } else { "missing" };
        text.push_str(&format!("{mark}  {:<28} {}\n", finding.what, finding.found));
        if !finding.mend.is_empty() {
            text.push_str(&format!("         mend: {}\n", finding.mend));
        }
    }
    let answer = Answer::new(text, json!({"usable": usable, "findings": findings})).prose();
    Ok(if usable { answer } else { answer.exiting(exit::UNAVAILABLE) })
}

/// What a run may need on the disk of the home, at the least: its trees, its sandbox and what its gates say.
const DISK_BYTES: u64 = 1 << 30;

fn disk(home: &std::path::Path) -> Finding {
    match rustix::fs::statvfs(home) {
        Ok(disk) => {
            let left = ByteCount::new(disk.f_bavail.saturating_mul(disk.f_frsize));
            let found = format!("{left} left");
            if left.get() >= DISK_BYTES {
                Finding::ok("disk", found)
            } else {
                let mend = format!(
                    "free {}, or name a home on another disk with --home",
                    ByteCount::new(DISK_BYTES)
                );
                Finding::missing("disk", found, mend)
            }
        }
        Err(error) => Finding::missing("disk", error.to_string(), "see the message"),
    }
}

/// The profiles that come with the program.
pub(crate) fn profiles() -> Result<Vec<ExecutionCapabilityProfile>, Failure> {
    let documents = builtin::parse_all().map_err(Failure::of_document)?;
    Ok(documents
        .into_iter()
        .filter_map(|document| match document {
            Document::Profile(profile) => Some(*profile),
            _ => None,
        })
        .collect())
}

fn profile_finding(profile: &ExecutionCapabilityProfile, manifest: &CapabilityManifest) -> Finding {
    let what = format!("profile {}", profile.metadata.name);
    let unmet = unmet(profile, manifest);
    if unmet.is_empty() {
        return Finding::ok(&what, "met");
    }
    let found: Vec<String> =
        unmet.iter().map(|unmet| format!("{} ({})", unmet.requirement, unmet.measured)).collect();
    let mends: BTreeSet<&str> = unmet.iter().map(|unmet| unmet.mend.as_str()).collect();
    Finding::missing(&what, found.join("; "), mends.into_iter().collect::<Vec<_>>().join("; "))
}
