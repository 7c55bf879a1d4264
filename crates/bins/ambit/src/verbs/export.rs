use std::fs;
use std::path::{Path, PathBuf};

use ambit_bundle::BundleError;
use ambit_orchestrator::{RunRef, view};
use ambit_ports::signer::KeyRole;
use ambit_run::State;
use ambit_verify_trace::{Report, Verdict};
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::compose::Services;
use crate::context::Context;
use crate::failure::Failure;
use crate::outputs::OBSERVATION_LIMIT;
use crate::verbs::run_view::{as_of, links};
use crate::verbs::trace;

/// The most outputs that are told.
const TOLD: usize = 10;

/// Writes the evidence bundle of a run to a new directory, and to a new tar where one is named: everything by which the run
/// can be verified without this home, and beside it what people read.
pub(crate) async fn run(
    context: &Context,
    named: &str,
    out: &Path,
    tar: Option<&Path>,
) -> Result<Answer, Failure> {
    let services = context.open()?;
    let (run, state) = services.run(&context.scope, named).await?;
    if let Some(taken) = std::iter::once(out).chain(tar).find(|path| path.exists()) {
        return Err(Failure::new("USAGE_DIRECTORY", format!("{} exists", taken.display()))
            .help("name a directory, and with --tar a file, that does not exist"));
    }
    let draft = beside(out);
    // A directory of an earlier try that was cut off holds nothing that is not written again.
    let _ = fs::remove_dir_all(&draft);
    let report = write(&services, &run, &state, &draft).await?;
    fs::rename(&draft, out).map_err(|error| unwritable(out, &error.to_string()))?;
    if let Some(tar) = tar {
        ambit_bundle::archive(out, tar).map_err(|error| unfit(&error))?;
    }
    let outputs = outputs(&services, &run, &state, out).await;
    Ok(Answer::new(
        format!("{} is written to {}\n{}{}", run.run, out.display(), told(&outputs), standing(&report)),
        json!({
            "run": run.run, "directory": out, "tar": tar, "outputs": outputs,
            "verdict": report.verdict.as_str(),
        }),
    ))
}

/// The directory in which the bundle is written before it is whole.
fn beside(out: &Path) -> PathBuf {
    let mut name = out.file_name().unwrap_or_default().to_owned();
    name.push(".partial");
    out.with_file_name(name)
}

async fn write(services: &Services, run: &RunRef, state: &State, dir: &Path) -> Result<Report, Failure> {
    let links = links(services, run).await?;
    let seen = view(state, as_of(services, &links, state)?);
    let page = serde_json::to_value(seen).unwrap_or(Value::Null);
    let log_key = services.signer.public_key(KeyRole::Log).await;
    let source = ambit_verify::Source {
        store: services.store.clone(),
        blobs: services.blobs.clone(),
        log_key: log_key.map_err(|error| Failure::of(error.code(), &error))?,
    };
    let further = [("run.json", format!("{page:#}\n").into_bytes())];
    ambit_verify::write(source, run, dir, &further).await.map_err(|error| unfit(&error))
}

fn unfit(error: &BundleError) -> Failure {
    Failure::of("EXPORT_FAILED", error)
        .help("nothing of the run was changed; name another place, or free space")
}

fn unwritable(path: &Path, why: &str) -> Failure {
    Failure::new("EXPORT_FAILED", format!("{} cannot be written: {why}", path.display()))
}

/// Where the outputs of gates are in it, as text.
async fn outputs(services: &Services, run: &RunRef, state: &State, out: &Path) -> Vec<String> {
    let mut outputs = Vec::new();
    let records = state.dossier().into_iter().flat_map(|dossier| dossier.gates.records());
    for record in records {
        let bytes = services.blobs.get(&run.scope, record.artifact, OBSERVATION_LIMIT).await;
        let seen = bytes.ok().and_then(|bytes| {
            serde_json::from_slice::<ambit_ports::sandbox::ExecutionObservation>(&bytes).ok()
        });
        for output in seen.into_iter().flat_map(|seen| seen.outputs) {
            outputs.push(format!("gates/{}-{}/outputs/{}", record.gate, record.attempt, output.path));
        }
    }
    outputs.retain(|name| out.join(name).exists());
    outputs
}

fn told(outputs: &[String]) -> String {
    if outputs.is_empty() {
        return String::new();
    }
    let told: String = outputs.iter().take(TOLD).map(|path| format!("  {path}\n")).collect();
    let more = outputs.len().checked_sub(TOLD).filter(|more| *more > 0);
    let more = more.map(|more| format!("  and {more} more\n")).unwrap_or_default();
    format!("what its gates kept is in\n{told}{more}")
}

/// What keeps the run from being verified, which whoever verifies the bundle will find as well.
fn standing(report: &Report) -> String {
    match report.verdict {
        Verdict::Proved => String::new(),
        Verdict::Refuted | Verdict::CouldNotVerify => format!("{}\n", trace::summary(report)),
    }
}
