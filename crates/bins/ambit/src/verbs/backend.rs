use ambit_ports::sandbox::CapabilityManifest;
use serde::Serialize;

use crate::answer::Answer;
use crate::cli::BackendVerb;
use crate::context::Context;
use crate::failure::Failure;

pub(crate) async fn run(context: &Context, verb: BackendVerb) -> Result<Answer, Failure> {
    let BackendVerb::Inspect = verb;
    let services = context.open()?;
    context.note("measuring the sandbox backend from inside a sandbox");
    let manifest = services.sandboxes.measure().await.map_err(|error| Failure::of(error.code(), &error))?;
    Ok(Answer::of(page(&manifest), &manifest)?.prose())
}

/// A word of the manifest, as its JSON spells it.
fn word(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

fn page(manifest: &CapabilityManifest) -> String {
    let mut text = format!(
        "{} {}\n  isolation     {}\n  egress        {}\n  secrets       {}\n  preview       {}\n  cancellation  {}\n  limits        memory by {}, processes by {}, processor by {}\n\nprobes\n",
        manifest.backend_id,
        manifest.adapter_version,
        word(&manifest.isolation),
        word(&manifest.egress),
        word(&manifest.secret_delivery),
        word(&manifest.preview),
        word(&manifest.cancellation),
        word(&manifest.limits.memory),
        word(&manifest.limits.processes),
        word(&manifest.limits.cpu)
    );
    for probe in &manifest.evidence_probes {
        let mark = if probe.passed { "ok    " } else { "FAILED" };
        let row = format!("  {mark} {:<28} {}", probe.id.as_str(), probe.observed.replace('\t', " "));
        text.push_str(row.trim_end());
        text.push('\n');
    }
    for lack in &manifest.lacks {
        text.push_str(&format!("\nlacks {}: {}\n  mend: {}\n", lack.feature, lack.consequence, lack.mend));
    }
    text
}
