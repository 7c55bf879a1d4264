use ambit_ports::sandbox::CapabilityManifest;

use crate::answer::Answer;
use crate::cli::BackendVerb;
use crate::context::Context;
use crate::failure::Failure;

pub(crate) async fn run(context: &Context, verb: BackendVerb) -> Result<Answer, Failure> {
    let BackendVerb::Inspect = verb;
    let services = context.open()?;
    context.note("measuring the sandbox backend from inside a sandbox");
    let manifest = services.sandboxes.measure().await.map_err(|error| Failure::of(error.code(), &error))?;
    Answer::of(page(&manifest), &manifest)
}

fn page(manifest: &CapabilityManifest) -> String {
    let mut text = format!(
        "{} {}\n  isolation     {:?}\n  egress        {:?}\n  secrets       {:?}\n  preview       {:?}\n  cancellation  {:?}\n  limits        memory by {:?}, processes by {:?}, processor by {:?}\n\nprobes\n",
        manifest.backend_id,
        manifest.adapter_version,
        manifest.isolation,
        manifest.egress,
        manifest.secret_delivery,
        manifest.preview,
        manifest.cancellation,
        manifest.limits.memory,
        manifest.limits.processes,
        manifest.limits.cpu
    );
    for probe in &manifest.evidence_probes {
        let mark = if probe.passed { "ok    " } else { "FAILED" };
        text.push_str(&format!("  {mark} {:<40} {}\n", probe.id, probe.observed));
    }
    for lack in &manifest.lacks {
        text.push_str(&format!("\nlacks {}: {}\n  mend: {}\n", lack.feature, lack.consequence, lack.mend));
    }
    text
}
