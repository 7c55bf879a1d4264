//! What a backend can do here: as it is known, as its probes find anew, and whether a profile is met by it.

use ambit_ports::sandbox::{CapabilityManifest, Probe, ProbeFamily};
use ambit_sandboxes::{FAMILIES, Unmet, unmet};
use serde::Serialize;
use serde_json::json;

use crate::answer::Answer;
use crate::backends::BackendName;
use crate::cli::{BackendVerb, ProfileArg};
use crate::compose::Services;
use crate::context::Context;
use crate::failure::{Failure, exit};
use crate::verbs::profile::brought;

pub(crate) async fn run(context: &Context, verb: BackendVerb) -> Result<Answer, Failure> {
    match verb {
        BackendVerb::Inspect { backend } => {
            let manifest = measured(context, context.open()?.on(&backend)?).await?;
            Ok(Answer::of(page(&manifest), &manifest)?.prose())
        }
        BackendVerb::Probe { backend } => probe(context, &backend).await,
        BackendVerb::Admit { backend, profile } => admit(context, &backend, &profile).await,
    }
}

async fn measured(context: &Context, services: Services) -> Result<CapabilityManifest, Failure> {
    context.note("measuring the sandbox backend, unless that was done before");
    services.sandboxes.measure().await.map_err(|error| Failure::of(error.code(), &error))
}

/// Runs every probe, whatever was found before.
async fn probe(context: &Context, backend: &BackendName) -> Result<Answer, Failure> {
    let services = context.open()?.on_anew(backend)?;
    context.note("running every probe inside a sandbox");
    let manifest = services.sandboxes.measure().await.map_err(|error| Failure::of(error.code(), &error))?;
    let mut text = format!("{} {}\n", manifest.backend_id, manifest.adapter_version);
    let mut families = Vec::new();
    let mut absent = 0;
    for family in FAMILIES {
        let probes: Vec<&Probe> = manifest.evidence_probes.iter().filter(|it| it.family == family).collect();
        let failed = probes.iter().filter(|it| !it.passed).count();
        absent += usize::from(probes.is_empty());
        text.push_str(&format!("\n{}\n", heading(family, probes.len(), failed)));
        probes.iter().for_each(|it| text.push_str(&row(it)));
        families.push(json!({"family": family, "probes": probes, "failed": failed}));
    }
    let failed = manifest.evidence_probes.iter().filter(|it| !it.passed).count();
    text.push_str(&told_of_machine(&manifest));
    let json = json!({
        "backendId": manifest.backend_id, "adapterVersion": manifest.adapter_version,
        "environment": manifest.environment, "measuredAt": manifest.measured_at,
        "families": families, "failed": failed, "familiesAbsent": absent,
        "lacks": manifest.lacks, "advisories": manifest.advisories,
    });
    let is_proven = failed == 0 && absent == 0;
    Ok(Answer::new(text, json).prose().exiting(if is_proven { exit::OK } else { exit::UNAVAILABLE }))
}

fn heading(family: ProbeFamily, probes: usize, failed: usize) -> String {
    match (probes, failed) {
        (0, _) => format!("{}: NO PROBE", word(&family)),
        (_, 0) => format!("{}: {probes} passed", word(&family)),
        _ => format!("{}: {failed} of {probes} FAILED", word(&family)),
    }
}

/// Says whether a profile is met, and by which requirement it is not.
async fn admit(context: &Context, backend: &BackendName, profile: &ProfileArg) -> Result<Answer, Failure> {
    let profile = brought(profile)?;
    let manifest = measured(context, context.open()?.on(backend)?).await?;
    let unmet = unmet(&profile, &manifest);
    let name = &profile.metadata.name;
    let is_admitted = unmet.is_empty();
    let verdict = if is_admitted { "is admitted" } else { "is not admitted" };
    let mut text = format!("{} {verdict} for {name}\n", manifest.backend_id);
    unmet.iter().for_each(|unmet| text.push_str(&reason(unmet)));
    text.push_str(&format!(
        "  measured at {}, environment {}\n",
        manifest.measured_at,
        manifest.environment.short()
    ));
    text.push_str(&warnings(&manifest));
    let told = |unmet: &Unmet| json!({"requirement": unmet.requirement, "measured": unmet.measured, "mend": unmet.mend});
    let json = json!({
        "backendId": manifest.backend_id, "profile": name, "admitted": is_admitted,
        "unmet": unmet.iter().map(told).collect::<Vec<_>>(), "lacks": manifest.lacks,
        "advisories": manifest.advisories,
        "environment": manifest.environment, "measuredAt": manifest.measured_at,
    });
    Ok(Answer::new(text, json).prose().exiting(if is_admitted { exit::OK } else { exit::UNAVAILABLE }))
}

fn reason(unmet: &Unmet) -> String {
    let mut text = format!("  {}: {}\n", unmet.requirement, unmet.measured);
    if !unmet.mend.is_empty() {
        text.push_str(&format!("    mend: {}\n", unmet.mend));
    }
    text
}

/// A word of the manifest, as its JSON spells it.
fn word(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

fn row(probe: &Probe) -> String {
    let mark = if probe.passed { "ok    " } else { "FAILED" };
    let row = format!("  {mark} {:<28}  {}", probe.id.as_str(), probe.observed.replace('\t', " "));
    format!("{}\n", row.trim_end())
}

fn page(manifest: &CapabilityManifest) -> String {
    let mut text = format!(
        "{} {}\n  isolation     {}\n  egress        {}\n  secrets       {}\n  preview       {}\n  cancellation  {}\n  limits        memory by {}, processes by {}, processor by {}\n  measured      {}, environment {}\n\nprobes\n",
        manifest.backend_id,
        manifest.adapter_version,
        word(&manifest.isolation),
        word(&manifest.egress),
        word(&manifest.secret_delivery),
        word(&manifest.preview),
        word(&manifest.cancellation),
        word(&manifest.limits.memory),
        word(&manifest.limits.processes),
        word(&manifest.limits.cpu),
        manifest.measured_at,
        manifest.environment.short()
    );
    manifest.evidence_probes.iter().for_each(|probe| text.push_str(&row(probe)));
    text.push_str(&told_of_machine(manifest));
    text
}

/// What this machine lacks, and what is known of its versions.
fn told_of_machine(manifest: &CapabilityManifest) -> String {
    let lacks = manifest
        .lacks
        .iter()
        .map(|lack| format!("\nlacks {}: {}\n  mend: {}\n", lack.feature, lack.consequence, lack.mend));
    lacks.chain([warnings(manifest)]).collect()
}

fn warnings(manifest: &CapabilityManifest) -> String {
    let told = manifest
        .advisories
        .iter()
        .map(|it| format!("\nwarning {} {}: {}\n  mend: {}\n", it.component, it.id, it.says, it.mend));
    told.collect()
}
