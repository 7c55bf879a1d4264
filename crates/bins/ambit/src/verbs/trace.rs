use ambit_evidence::Link;
use ambit_evidence::v1::{ActorKind, Body, ProjectBody, Record};
use ambit_ids::RunId;
use ambit_ports::store::StreamId;
use ambit_run::{CallOutcome, Event};
use ambit_verify_trace::{Report, Standing, Verdict};
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::cli::TraceVerb;
use crate::compose::Services;
use crate::context::Context;
use crate::failure::{Failure, exit};
use crate::text;

pub(crate) async fn run(context: &Context, verb: TraceVerb) -> Result<Answer, Failure> {
    match verb {
        TraceVerb::List { denials: false } => list(context, &context.open()?).await,
        TraceVerb::List { denials: true } => denials(context, &context.open()?).await,
        TraceVerb::Show { run } => show(context, &context.open()?, &run).await,
        TraceVerb::Verify { run } => verify(context, run.as_deref()).await.map_err(Failure::of_a_proof),
    }
}

async fn load(services: &Services, stream: &StreamId) -> Result<Vec<Link>, Failure> {
    let loaded = services.journal.load(stream).await.map_err(|error| Failure::of(error.code(), &error))?;
    Ok(loaded.links)
}

async fn list(context: &Context, services: &Services) -> Result<Answer, Failure> {
    let links = load(services, &StreamId::Project(context.scope.clone())).await?;
    let mut page = String::new();
    for link in &links {
        page.push_str(&row(&link.record));
    }
    if links.is_empty() {
        page.push_str("nothing has happened in this project yet\n");
    }
    Ok(records(page, &links))
}

fn records(page: String, links: &[Link]) -> Answer {
    Answer::new(page, json!({"records": links.iter().map(to_json).collect::<Vec<_>>()})).prose()
}

async fn show(context: &Context, services: &Services, named: &str) -> Result<Answer, Failure> {
    let (run, _) = services.run(&context.scope, named).await?;
    let links = load(services, &run.stream()).await?;
    Ok(records(links.iter().map(|link| row(&link.record)).collect(), &links))
}

/// Everything that was refused or denied, of the project and of all its runs.
async fn denials(context: &Context, services: &Services) -> Result<Answer, Failure> {
    let mut links = load(services, &StreamId::Project(context.scope.clone())).await?;
    for run in services.run_ids(&context.scope).await? {
        links.extend(load(services, &StreamId::Run(context.scope.clone(), run)).await?);
    }
    links.retain(|link| is_denial(&link.record));
    links.sort_by(|one, other| one.record.ts.cmp(&other.record.ts));
    let mut page: String = links
        .iter()
        .map(|link| {
            let run = link.record.run.as_ref().map_or("-", RunId::as_str);
            format!("{run:<30} {}", row(&link.record))
        })
        .collect();
    if links.is_empty() {
        page.push_str("nothing was refused or denied\n");
    }
    Ok(records(page, &links))
}

fn is_denial(record: &Record) -> bool {
    if let Body::Project(body) = &record.body {
        return matches!(body.as_ref(), ProjectBody::RunRejected { .. });
    }
    match record.event() {
        Ok(Event::CallDecided(decided)) => {
            !matches!(decided.outcome, CallOutcome::Perform | CallOutcome::Replayed(_))
        }
        Ok(event) => matches!(
            event,
            Event::ProposalDenied { .. }
                | Event::LimitReached { .. }
                | Event::ApprovalExpired { .. }
                | Event::ReceiptVoided { .. }
        ),
        Err(_) => false,
    }
}

/// A record as a line: where and when, who, and what.
fn row(record: &Record) -> String {
    let actor = match record.actor.kind {
        ActorKind::Run => "agent",
        ActorKind::Human => "person",
        ActorKind::Service => "ambit",
    };
    format!("{:>5}  {}  {actor:<6}  {}\n", record.seq, record.ts, what(record))
}

fn what(record: &Record) -> String {
    match &record.body {
        Body::Project(body) => format!("{:<20}  {}", record.kind(), text::project_line(body)),
        Body::Run(_) => match record.event() {
            Ok(event) => text::line(&event).unwrap_or_else(|| format!("({})", record.kind())),
            Err(error) => format!("unreadable: {error}"),
        },
    }
}

fn to_json(link: &Link) -> Value {
    // INVARIANT: a record that was read from its canonical bytes has a JSON form.
    json!({"leaf": link.leaf, "record": link.record})
}

/// Derives everything about a run, or about the whole project, again from what is stored.
async fn verify(context: &Context, named: Option<&str>) -> Result<Answer, Failure> {
    let services = context.open()?;
    let verifier = services.verifier().await?;
    let report = match named {
        Some(named) => {
            let run = services.find(&context.scope, named).await?;
            verifier.verify_run(&run).await
        }
        None => verifier.verify_project(&context.scope).await,
    };
    let code = match report.verdict {
        Verdict::Proved => exit::OK,
        Verdict::Refuted => exit::REFUTED,
        Verdict::CouldNotVerify => exit::UNVERIFIED,
    };
    Ok(Answer::of(page(&report), &report)?.prose().exiting(code))
}

/// A report as a page: each check, and under it what keeps it from being proved.
fn page(report: &Report) -> String {
    let mut page = format!("{}: {}\n", report.subject, report.verdict.as_str());
    for check in &report.checks {
        let mark = match check.standing {
            Standing::Proved => "ok     ",
            Standing::Refuted => "REFUTED",
            Standing::NotChecked => "unknown",
        };
        page.push_str(&format!("  {mark} {:<18} {}\n", check.id.as_str(), check.title));
        for finding in &check.findings {
            page.push_str(&format!("          {finding}\n"));
        }
    }
    for flag in &report.flags {
        page.push_str(&format!("  odd     {flag}\n"));
    }
    for run in &report.runs {
        page.push_str(&self::page(run));
    }
    page
}

/// A report in a line: how it came out, and the first thing that keeps it from being proved.
pub(crate) fn summary(report: &Report) -> String {
    let findings = report.findings();
    let runs = report.runs.iter().map(|run| run.checks.len()).sum::<usize>();
    match findings.first() {
        Some((check, finding)) => format!("{}: {}: {finding}", report.verdict.as_str(), check.as_str()),
        None => format!(
            "{}, {} checks of the project and {runs} of its {} runs",
            report.verdict.as_str(),
            report.checks.len(),
            report.runs.len()
        ),
    }
}
