//! What is left of sandboxes on this machine, for whoever operates it.

use std::collections::BTreeMap;

use ambit_ids::LeaseId;
use ambit_orchestrator::RunRef;
use ambit_ports::sandbox::{Found, Maker, SandboxLease, Surface, Unseen};
use ambit_run::State;
use ambit_sandboxes::{LeakReport, Owner, Standing, scan};

use crate::answer::Answer;
use crate::backends::{BackendName, remains};
use crate::cli::SandboxScanArgs;
use crate::compose::Services;
use crate::context::Context;
use crate::failure::{Failure, exit};

pub(super) async fn run(context: &Context, arguments: SandboxScanArgs) -> Result<Answer, Failure> {
    let backend = arguments.backend.as_ref().unwrap_or(&BackendName::Linux);
    let (report, is_whole) = match context.open().and_then(|services| services.on(backend)) {
        Ok(services) => (look(&services, arguments.remove).await?, true),
        Err(why) if why.exit() == exit::INTERNAL => {
            (look_without_runs(context, backend, arguments.remove, &why).await?, false)
        }
        Err(failure) => return Err(failure),
    };
    let answer = Answer::of(page(&report, arguments.remove), &report)?.prose();
    Ok(match (report.outstanding_leaks.is_empty(), is_whole) {
        (true, true) => answer,
        (true, false) => answer.exiting(exit::UNVERIFIED),
        (false, _) => answer.exiting(exit::LEFT_BEHIND),
    })
}

/// Looks for what is left where the home cannot be opened, and its runs cannot be asked. Whatever has a lease counts as
/// theirs, and stays.
pub(crate) async fn look_without_runs(
    context: &Context,
    backend: &BackendName,
    remove: bool,
    why: &Failure,
) -> Result<LeakReport, Failure> {
    let remains = remains(backend, &context.home)?;
    let looked = scan(remains.as_ref(), async |_: &LeaseId| Owner::Going, remove).await;
    let mut report = looked.map_err(|error| Failure::of(error.code(), &error))?;
    report.not_looked_at.push(Unseen {
        what: "the runs of this home, so that whatever has a lease counts as in use".to_owned(),
        why: format!("{}: {}", why.code(), why.parts().0),
    });
    Ok(report)
}

/// Looks for what is left, and asks the runs of every project of the home who owns it.
pub(crate) async fn look(services: &Services, remove: bool) -> Result<LeakReport, Failure> {
    let mut runs: BTreeMap<LeaseId, RunRef> = BTreeMap::new();
    let scopes = services.whole_store.scopes().await.map_err(|error| Failure::of(error.code(), &error))?;
    for scope in scopes {
        for run in services.run_ids(&scope).await? {
            runs.insert(SandboxLease::id_of(&scope, &run), RunRef { scope: scope.clone(), run });
        }
    }
    let owner = async |lease: &LeaseId| {
        let Some(run) = runs.get(lease) else { return Owner::Absent };
        match services.orchestrator.state(run).await {
            Ok(State::Ended(_)) => Owner::Over,
            // A run whose records cannot be read is nobody's to clean up after.
            Ok(_) | Err(_) => Owner::Going,
        }
    };
    scan(services.leaks.as_ref(), owner, remove).await.map_err(|error| Failure::of(error.code(), &error))
}

/// A surface, as its JSON spells it.
const fn surface(surface: Surface) -> &'static str {
    match surface {
        Surface::Processes => "processes",
        Surface::ControlGroups => "control groups",
        Surface::Containers => "containers",
        Surface::Mounts => "mounts",
        Surface::Leases => "leases",
    }
}

fn row(found: &Found) -> String {
    let lease = found.lease.as_ref().map(|lease| format!(" of {lease}")).unwrap_or_default();
    format!("  {:<15} {}{lease}\n", surface(found.surface), found.reference)
}

/// What is said of something that is left.
const fn why(standing: Standing, maker: Maker) -> &'static str {
    match (standing, maker) {
        (Standing::Ownerless, _) => "the process that made it is dead, and no run that goes on owns it",
        (Standing::LeftBehind, _) => "its run is over, and the process that made it lives; end that process",
        (_, Maker::Unknown) => "nobody knows who made it; look at it before you remove it by hand",
        _ => "it is in use",
    }
}

fn page(report: &LeakReport, remove: bool) -> String {
    let looked: Vec<&str> = report.looked_at.iter().map(|it| surface(*it)).collect();
    let mut text =
        format!("{}\n  looked at  {}\n  in use     {}\n", report.backend, looked.join(", "), report.in_use);
    for unseen in &report.not_looked_at {
        text.push_str(&format!("  not seen   {}: {}\n", unseen.what, unseen.why));
    }
    if !report.removed.is_empty() {
        text.push_str("\nremoved\n");
        report.removed.iter().for_each(|found| text.push_str(&row(found)));
    }
    if report.outstanding_leaks.is_empty() {
        text.push_str("\nnothing is left that nobody owns\n");
        return text;
    }
    text.push_str("\nleft\n");
    for (at, leak) in report.outstanding_leaks.iter().enumerate() {
        text.push_str(&row(&leak.found));
        let said = why(leak.standing, leak.found.maker);
        // What is said of several that follow each other is said once.
        let next = report.outstanding_leaks.get(at + 1);
        if leak.refused.is_some() || next.is_none_or(|next| why(next.standing, next.found.maker) != said) {
            text.push_str(&format!("    {said}\n"));
        }
        if let Some(refused) = &leak.refused {
            text.push_str(&format!("    it could not be removed: {refused}\n"));
        }
    }
    let may_go = report.outstanding_leaks.iter().any(|leak| leak.standing == Standing::Ownerless);
    if may_go && !remove {
        text.push_str("\n`ambit sandbox scan --remove` removes what is ownerless\n");
    }
    text
}
