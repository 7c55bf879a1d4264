use std::collections::BTreeSet;

use ambit_blueprint::{Document, ExecutionCapabilityProfile, builtin};
use ambit_ids::ByteCount;
use ambit_ports::images::ImageStore as _;
use ambit_ports::sandbox::CapabilityManifest;
use ambit_sandboxes::{LeakReport, SandboxesError, unmet};
use serde::Serialize;
use serde_json::json;

use crate::answer::Answer;
use crate::backends::BackendName;
use crate::compose::Services;
use crate::context::Context;
use crate::failure::{Failure, exit};
use crate::verbs::bare_home;
use crate::verbs::everyday::{self, of_failure};
use crate::verbs::sandbox::scan::look;

/// One thing that was looked at.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Finding {
    what: String,
    ok: bool,
    found: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    mend: String,
    /// Whether it only should be known, and nothing is missing.
    #[serde(skip_serializing_if = "is_false")]
    warning: bool,
    /// Whether it is there, and not as it must be.
    #[serde(skip)]
    wrong: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

impl Finding {
    pub(super) fn ok(what: &str, found: impl Into<String>) -> Self {
        Self {
            what: what.to_owned(),
            ok: true,
            found: found.into(),
            mend: String::new(),
            warning: false,
            wrong: false,
        }
    }

    pub(super) fn warning(what: &str, found: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { warning: true, ..Self::missing(what, found, mend) }
    }

    pub(super) fn missing(what: &str, found: impl Into<String>, mend: impl Into<String>) -> Self {
        let (what, found, mend) = (what.to_owned(), found.into(), mend.into());
        Self { what, ok: false, found, mend, warning: false, wrong: false }
    }

    /// The same finding of a thing that is there, and not as it must be.
    pub(super) fn wrong(self) -> Self {
        Self { wrong: true, ..self }
    }
}

/// Looks at everything that a run needs. What is missing for one profile only is told, and is no failure. Nothing that is
/// wrong with one thing hides another.
pub(crate) async fn run(context: &Context, backend: &BackendName) -> Result<Answer, Failure> {
    let (findings, usable) = match context.open().and_then(|services| services.on(backend)) {
        Ok(services) => of_home(context, &services).await?,
        Err(why) if why.exit() == exit::INTERNAL => {
            (bare_home::findings(context, backend, &why).await?, false)
        }
        Err(failure) => return Err(failure),
    };
    let mut text = String::new();
    for finding in &findings {
        let mark = match (finding.ok, finding.warning) {
            (true, _) => "ok     ",
            (false, true) => "warning",
            (false, false) if finding.wrong => "wrong  ",
            (false, false) => "missing",
        };
        text.push_str(&format!("{mark}  {:<28}  {}\n", finding.what, finding.found));
        if !finding.mend.is_empty() {
            text.push_str(&format!("         mend: {}\n", finding.mend));
        }
    }
    let answer = Answer::new(text, json!({"usable": usable, "findings": findings})).prose();
    Ok(if usable { answer } else { answer.exiting(exit::UNAVAILABLE) })
}

/// What there is to find where the home can be opened, and whether something can be run in it.
async fn of_home(context: &Context, services: &Services) -> Result<(Vec<Finding>, bool), Failure> {
    let mut findings =
        vec![Finding::ok("home", context.home.path().display().to_string()), disk(context.home.path())];
    findings.push(match services.images.list().await {
        Ok(images) => images_found(images.len()),
        Err(error) => of_failure("images", &Failure::of(error.code(), &error)),
    });
    findings.push(match services.project(&context.scope).await {
        Ok(project) => match project.approvers().next() {
            Some((approver, _)) => Finding::ok("approver", approver.to_string()),
            None => Finding::missing("approver", "nobody", "ambit approver init --name NAME --out FILE"),
        },
        Err(failure) => of_failure("approver", &failure),
    });
    findings.extend(everyday::findings(context));
    let measured = services.sandboxes.measure().await;
    let usable = of_sandbox(&measured, &mut findings)?;
    findings.push(left_behind(look(services, false).await));
    Ok((findings, usable))
}

pub(super) fn images_found(count: usize) -> Finding {
    match count {
        0 => Finding::missing("images", "none", "ambit image capture --name tools python3 git sh"),
        count => Finding::ok("images", count.to_string()),
    }
}

/// What was measured of the backend, and whether it meets any profile.
pub(super) fn of_sandbox(
    measured: &Result<CapabilityManifest, SandboxesError>,
    findings: &mut Vec<Finding>,
) -> Result<bool, Failure> {
    let manifest = match measured {
        Ok(manifest) => manifest,
        Err(error) => {
            findings.push(of_failure("sandbox", &Failure::of(error.code(), error)));
            return Ok(false);
        }
    };
    let found = format!("{}, {} probes", manifest.backend_id, manifest.evidence_probes.len());
    findings.push(Finding::ok("sandbox", found));
    findings.extend(manifest.advisories.iter().map(|advisory| {
        let found = format!("{} {}: {}", advisory.component, advisory.id, advisory.says);
        Finding::warning("known defect", found, advisory.mend.as_str())
    }));
    let mut usable = false;
    for profile in profiles()? {
        let finding = profile_finding(&profile, manifest);
        usable |= finding.ok;
        findings.push(finding);
    }
    Ok(usable)
}

/// What is left of sandboxes that nobody owns. It is told, and hinders no run.
pub(super) fn left_behind(looked: Result<LeakReport, Failure>) -> Finding {
    const WHAT: &str = "left of sandboxes";
    match looked {
        Ok(report) if report.outstanding_leaks.is_empty() => Finding::ok(WHAT, "nothing"),
        Ok(report) => {
            let found = format!("{} that nobody owns", report.outstanding_leaks.len());
            Finding::warning(WHAT, found, "ambit sandbox scan")
        }
        Err(failure) => Finding::warning(WHAT, failure.told(false), "ambit sandbox scan"),
    }
}

/// What a run may need on the disk of the home, at the least: its trees, its sandbox and what its gates say.
const DISK_BYTES: u64 = 1 << 30;

pub(super) fn disk(home: &std::path::Path) -> Finding {
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
                Finding::missing("disk", found, mend).wrong()
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
