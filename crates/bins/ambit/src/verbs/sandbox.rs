//! One command in a fresh sandbox, for whoever operates this machine: no project, no run, no record, and no agent.

pub(crate) mod scan;
mod spectator;
mod taken;

use ambit_blueprint::ExecutionCapabilityProfile;
use ambit_gates::Ending;
use ambit_ids::{
    ByteCount, CommandSize, Digest, DurationMs, EffectKey, ExecutionLimits, GateId, PathSet, RunId, Scope,
    limits,
};
use ambit_ports::AbortHandle;
use ambit_ports::sandbox::{
    CapabilityManifest, CommandUnfit, DeclaredOutput, DestructionReceipt, ExecutionObservation, FileBatch,
    NamedCommand, SandboxLease, Tap,
};
use ambit_redaction::Redactor;
use ambit_revision::Tree;
use ambit_run::StopReason;
use ambit_sandboxes::{Kept, Needs, NotAdmitted, SandboxesError, unmet};
use ambit_source_directory::{ImportOptions, import};
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::cli::{SandboxRunArgs, SandboxVerb};
use crate::compose::Services;
use crate::context::Context;
use crate::failure::{Failure, exit};
use crate::interrupt::Signals;
use crate::outputs::missing;
use crate::terminal::printable_json;
use crate::verbs::image::resolve;
use crate::verbs::profile::brought;
use crate::verbs::unread::{check_holds_no_credential, check_holds_no_keys, unread};
use spectator::Spectator;
use taken::Taken;

/// What became of a command whose workspace cannot be read.
const NOT_RUN: &str = "nothing was run, and there is no sandbox of it";
/// How much longer than its own limit a command is waited for: the backend ends it before.
const SLACK_MS: DurationMs = DurationMs::new(60_000);
/// How long an interrupted command is waited for.
const ABORT_MS: DurationMs = DurationMs::new(15_000);

pub(crate) async fn run(context: &Context, verb: SandboxVerb) -> Result<Answer, Failure> {
    match verb {
        SandboxVerb::Run(arguments) => one(context, *arguments).await,
        SandboxVerb::Scan(arguments) => scan::run(context, arguments).await,
    }
}

async fn one(context: &Context, arguments: SandboxRunArgs) -> Result<Answer, Failure> {
    let mut signals = Signals::to_end();
    let profile = brought(&arguments.profile)?;
    check_size(&arguments)?;
    let services = context.open()?;
    let services = match &arguments.backend {
        Some(backend) => services.on(backend)?,
        None => services,
    };
    let image = resolve(&services, &arguments.image).await?;
    let manifest = tokio::select! {
        manifest = admitted(&services, &profile) => manifest?,
        signal = signals.next() => {
            return Err(Failure::new("INTERRUPTED", "interrupted; nothing was run").exiting(signal.exit()));
        }
    };
    let tree = workspace(context, &services, &arguments).await?;
    let trial = Trial::of(&services, &context.scope, image, &arguments, tree.digest())?;
    let taken = arguments.into.as_deref().map(Taken::into).transpose()?;
    let needs = Needs {
        scope: context.scope.clone(),
        run: trial.run.clone(),
        image,
        limits: trial.command.limits,
        fixtures: Vec::new(),
        volumes: Vec::new(),
    };
    context.note(&format!(
        "{} on {} in {}: no run, and nothing of it is recorded",
        trial.run, manifest.backend_id, context.scope
    ));
    let held = match services.sandboxes.allocate(needs, &manifest).await {
        Ok(held) => held,
        Err(error) => return Err(unallocated(&services, &trial, &error).await),
    };
    let batch = FileBatch { tree: tree.digest(), files: ambit_revisions::batch(&tree, None) };
    let (spectator, tap) = arguments.live.then(Spectator::begin).unzip();
    let (seen, cut_off) = trial.execute(&services, &held.receipt, batch, tap, &mut signals).await;
    let gone = services.sandboxes.destroy(&held.receipt).await;
    if let (Some(taken), Ok(seen)) = (&taken, &seen) {
        taken.fill(&services, &trial.scope, seen).await?;
    }
    let is_shown = match spectator {
        Some(spectator) => spectator.end(&mut signals).await,
        None => false,
    };
    let is_missing = tell_missing(&seen);
    if is_shown {
        Context::warn(&how_it_ended(&seen));
    }
    let exit = match exit_of(&seen, cut_off, &gone) {
        // What was asked for is not there, however the command ended.
        exit::OK if is_missing => exit::RUN_FAILED,
        exit => exit,
    };
    let json = trial.told(&profile, &manifest, &held, &seen, &gone);
    Ok(Answer::new(printable_json(&json), json).verbatim().exiting(exit))
}

/// Refuses a command that could not be started in any sandbox before one is made for it.
fn check_size(arguments: &SandboxRunArgs) -> Result<(), Failure> {
    let variables = arguments.environment.iter().map(|it| (it.0.as_str(), it.1.as_str()));
    let size = CommandSize::of(arguments.argv.iter().map(String::as_str), variables);
    size.check().map_err(|error| {
        Failure::of(CommandUnfit::from(error).code(), &error)
            .help("nothing was run; put what is long into a file, and bring it with --workspace")
    })
}

/// What was measured of the backend, where it meets the profile. It is refused here as it is for a run.
async fn admitted(
    services: &Services,
    profile: &ExecutionCapabilityProfile,
) -> Result<CapabilityManifest, Failure> {
    let manifest = services.sandboxes.measure().await.map_err(|error| Failure::of(error.code(), &error))?;
    let unmet = unmet(profile, &manifest);
    if unmet.is_empty() {
        return Ok(manifest);
    }
    let refused = NotAdmitted { profile: profile.metadata.name.to_string(), unmet };
    Err(Failure::of("BACKEND_NOT_ADMITTED", &refused).help(
        "nothing was run; `ambit doctor --backend NAME` says which profiles are met, and `--profile` names one",
    ))
}

/// The tree that the command runs on. A directory is read as an import reads it, links unfollowed and ignored files left
/// out; the sandbox never sees the directory itself.
async fn workspace(
    context: &Context,
    services: &Services,
    arguments: &SandboxRunArgs,
) -> Result<Tree, Failure> {
    let Some(directory) = &arguments.workspace else { return Ok(Tree::empty()) };
    check_holds_no_keys(context, directory, NOT_RUN)?;
    let blobs = services.blobs.as_ref();
    let imported = import(directory, &context.scope, blobs, ImportOptions::default()).await;
    let tree = imported.map_err(|error| unread(&error, NOT_RUN))?.tree;
    check_holds_no_credential(blobs, &context.scope, &tree, NOT_RUN).await?;
    Ok(tree)
}

/// No sandbox is held. What may have been begun for it is removed all the same.
async fn unallocated(services: &Services, trial: &Trial, error: &SandboxesError) -> Failure {
    let failure = Failure::of(error.code(), error);
    match services.sandboxes.destroy_every(&trial.scope, &trial.run, trial.image).await {
        Ok(_) => failure
            .help("nothing was run, and nothing of the sandbox is left; `ambit doctor` says what is missing"),
        Err(_) => failure.help("nothing was run, and it is not proven that nothing of the sandbox is left"),
    }
}

/// One command of which no catalog knows.
struct Trial {
    scope: Scope,
    run: RunId,
    image: Digest,
    command: NamedCommand,
}

/// What was seen of it, or why nothing was.
type Seen = Result<ExecutionObservation, Failure>;
type Gone = Result<Kept<DestructionReceipt>, SandboxesError>;

impl Trial {
    fn of(
        services: &Services,
        scope: &Scope,
        image: Digest,
        arguments: &SandboxRunArgs,
        tree: Digest,
    ) -> Result<Self, Failure> {
        let named = |error: ambit_ids::IdError| Failure::of("ID_GENERATOR_FAILED", &error);
        let id = services.orchestrator.ids.next();
        let largest = ByteCount::new(limits::FILE_BYTES);
        let outputs = arguments.keep.iter();
        let command = NamedCommand {
            gate: GateId::new("sandbox-run").map_err(named)?,
            effect: EffectKey::new(format!("sandbox-run-{id}")).map_err(named)?,
            tree,
            argv: arguments.argv.clone(),
            environment: arguments.environment.iter().map(|it| (it.0.clone(), it.1.clone())).collect(),
            workdir: arguments.workdir.clone(),
            limits: arguments.limits.limits(),
            redactor: Redactor::by_rules(),
            volumes: Vec::new(),
            outputs: outputs
                .map(|path| DeclaredOutput { path: path.clone(), limit: largest, entries: None })
                .collect(),
            watched: PathSet::default(),
            tap: None,
        };
        let run = RunId::new(format!("run_{id}")).map_err(named)?;
        Ok(Self { scope: scope.clone(), run, image, command })
    }

    /// Runs it until it ends, its time is over by this process's own clock, or somebody interrupts.
    async fn execute(
        &self,
        services: &Services,
        lease: &SandboxLease,
        batch: FileBatch,
        tap: Option<Tap>,
        signals: &mut Signals,
    ) -> (Seen, Option<u8>) {
        let (handle, abort) = AbortHandle::new();
        let command = NamedCommand { tap, ..self.command.clone() };
        let work = services.sandboxes.execute(lease, batch, command, abort);
        tokio::pin!(work);
        let mut cut_off = None;
        let mut end =
            services.clock.now().saturating_add(self.command.limits.wall_ms).saturating_add(SLACK_MS);
        loop {
            tokio::select! {
                biased;
                seen = &mut work => {
                    return (seen.map_err(|error| Failure::of(error.code(), &error)), cut_off);
                }
                signal = signals.next(), if cut_off.is_none() => {
                    cut_off = Some(signal.exit());
                    handle.abort();
                    end = end.min(services.clock.now().saturating_add(ABORT_MS));
                }
                () = services.clock.sleep_until(end) => break,
            }
        }
        // A backend that does not answer is told to end everything, whatever it is at.
        let _ = services.sandboxes.cancel(lease, &StopReason::CustomerCancelled).await;
        let lost = Failure::new("OBSERVATION_LOST", "the backend did not say how the command ended");
        (Err(lost), cut_off)
    }

    fn told(
        &self,
        profile: &ExecutionCapabilityProfile,
        manifest: &CapabilityManifest,
        held: &Kept<SandboxLease>,
        seen: &Seen,
        gone: &Gone,
    ) -> Value {
        let ending = seen.as_ref().map_or(Ending::Indeterminate, |seen| seen.ending);
        let (code, signal) = match ending {
            Ending::Exited { code } => (Some(code), None),
            Ending::Signalled { signal } => (None, Some(signal)),
            _ => (None, None),
        };
        let trouble = |code: &str, message: &str| json!({"code": code, "message": message});
        json!({
            "scope": {"organization": self.scope.organization, "project": self.scope.project},
            "run": self.run, "lease": held.receipt, "profile": profile.metadata.name,
            "manifest": {
                "digest": held.digest, "environment": manifest.environment, "measuredAt": manifest.measured_at,
            },
            "tree": self.command.tree, "argv": self.command.argv,
            "limits": limits_told(&self.command.limits),
            "enforcedBy": manifest.limits,
            "ended": ending.to_string(), "exitCode": code, "signal": signal, "errorClass": class(ending),
            "observation": seen.as_ref().ok(),
            "error": match seen {
                Err(failure) => Some(trouble(failure.code(), failure.parts().0)),
                Ok(seen) if seen.ending == Ending::Indeterminate => {
                    Some(trouble("OBSERVATION_LOST", "the sandbox ended before it told how the command had ended"))
                }
                Ok(_) => None,
            },
            "destruction": match gone {
                Ok(kept) => json!({"proven": true, "receipt": kept.receipt, "digest": kept.digest}),
                Err(error) => json!({"proven": false, "error": trouble(error.code(), &error.to_string())}),
            },
        })
    }
}

/// The last line of what is shown of a command.
fn how_it_ended(seen: &Seen) -> String {
    match seen {
        Ok(seen) if seen.ending == Ending::Indeterminate => {
            "ended: nobody knows how; the sandbox ended before it told".to_owned()
        }
        Ok(seen) => format!("ended: {}", seen.ending),
        Err(failure) => format!("ended: nobody knows how; {}: {}", failure.code(), failure.parts().0),
    }
}

/// Tells of what was to be kept and is not, and whether there is any.
fn tell_missing(seen: &Seen) -> bool {
    let refused = seen.as_ref().map_or(&[][..], |seen| &seen.refused_outputs);
    if !refused.is_empty() {
        Context::warn(&missing(refused));
    }
    !refused.is_empty()
}

fn limits_told(limits: &ExecutionLimits) -> Value {
    json!({
        "memoryBytes": limits.memory_bytes, "pids": limits.processes, "cpuMillis": limits.cpu_millis,
        "cpuMs": limits.cpu_time_ms, "wallMs": limits.wall_ms, "diskBytes": limits.disk_bytes,
        "outputBytes": limits.output_bytes,
    })
}

/// The class of an end that is no success, in the words that gates use.
const fn class(ending: Ending) -> Option<&'static str> {
    match ending {
        Ending::Exited { code: 0 } => None,
        Ending::Exited { .. } => Some("failed"),
        Ending::Signalled { .. } => Some("signal"),
        Ending::LimitReached { limit } => Some(limit.as_str()),
        Ending::Aborted => Some("aborted"),
        Ending::NotStarted { .. } => Some("not-started"),
        Ending::Indeterminate => Some("indeterminate"),
    }
}

/// What is not proven outweighs how the command ended.
fn exit_of(seen: &Seen, cut_off: Option<u8>, gone: &Gone) -> u8 {
    match (gone, cut_off, seen) {
        (Err(_), ..) | (_, None, Err(_)) => exit::INTERNAL,
        (Ok(_), Some(code), _) => code,
        (Ok(_), None, Ok(seen)) => match seen.ending {
            Ending::Exited { code: 0 } => exit::OK,
            Ending::LimitReached { .. } => exit::BUDGET,
            Ending::Exited { .. } | Ending::Signalled { .. } | Ending::NotStarted { .. } => exit::RUN_FAILED,
            Ending::Aborted | Ending::Indeterminate => exit::INTERNAL,
        },
    }
}
