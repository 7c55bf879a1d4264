//! What shows that a run did what a completed run has to do, item by item.

use std::collections::BTreeMap;

use ambit_evidence::Link;
use ambit_evidence::checklist::{ItemStanding, NetworkReach, Resolution, checklist};
use ambit_evidence::v1::{Body, RunBody};
use ambit_ids::{ByteCount, Digest, limits};
use ambit_ports::sandbox::{CapabilityManifest, Egress};
use serde_json::json;

use crate::answer::Answer;
use crate::compose::Services;
use crate::context::Context;
use crate::failure::{Failure, exit};
use crate::verbs::run_view::links;

/// The most records that a page names of one item; all of them are in JSON.
const NAMED: usize = 4;

/// Resolves each item of the completion checklist to records and artifacts of a run.
pub(crate) async fn run(context: &Context, named: &str) -> Result<Answer, Failure> {
    let services = context.open()?;
    let (run, _) = services.run(&context.scope, named).await?;
    let links = links(&services, &run).await?;
    let reach = reach(context, &services, &links).await;
    let items = checklist(&links, |manifest| reach.get(&manifest).copied());
    let open = items.iter().filter(|found| found.standing == ItemStanding::Unresolved).count();
    let code = if open == 0 { exit::OK } else { exit::REFUTED };
    let answer = Answer::new(page(&run.run.to_string(), &items), json!({"run": run.run, "items": items}));
    Ok(answer.prose().exiting(code))
}

/// What each manifest that a sandbox of the run was allocated under says of the network. One that cannot be read is left out.
async fn reach(context: &Context, services: &Services, links: &[Link]) -> BTreeMap<Digest, NetworkReach> {
    let mut found = BTreeMap::new();
    for link in links {
        let Body::Run(body) = &link.record.body else { continue };
        let RunBody::LeaseAllocated { manifest, .. } = body.as_ref() else { continue };
        let limit = ByteCount::new(limits::FILE_BYTES);
        let Ok(bytes) = services.blobs.get(&context.scope, *manifest, limit).await else { continue };
        let Ok(measured) = serde_json::from_slice::<CapabilityManifest>(&bytes) else { continue };
        let says = match measured.egress {
            Egress::DenyAll | Egress::ExplicitAllowlist | Egress::TrustedProxy => NetworkReach::Denied,
            Egress::Unproven => NetworkReach::Open,
        };
        found.insert(*manifest, says);
    }
    found
}

fn page(run: &str, items: &[Resolution]) -> String {
    let count = |standing| items.iter().filter(|found| found.standing == standing).count();
    let mut page = format!("{run}: {} of {} items resolve", count(ItemStanding::Resolved), items.len());
    for (standing, says) in
        [(ItemStanding::NotExercised, "not exercised"), (ItemStanding::Unresolved, "unresolved")]
    {
        match count(standing) {
            0 => {}
            some => page.push_str(&format!(", {some} {says}")),
        }
    }
    page.push('\n');
    for found in items {
        let mark = match found.standing {
            ItemStanding::Resolved => "ok     ",
            ItemStanding::NotExercised => "-      ",
            ItemStanding::Unresolved => "MISSING",
        };
        page.push_str(&format!("  {mark} {:<14} {}\n", found.item.as_str(), found.title));
        for missing in &found.missing {
            page.push_str(&format!("          {missing}\n"));
        }
        page.push_str(&events(found));
        page.push_str(&artifacts(found));
    }
    page
}

/// The records that show an item: the first, and how many more there are.
fn events(found: &Resolution) -> String {
    let named: Vec<String> =
        found.events.iter().take(NAMED).map(|event| format!("{} {}", event.seq, event.kind)).collect();
    list("records", &named, found.events.len())
}

fn artifacts(found: &Resolution) -> String {
    let named: Vec<String> = found
        .artifacts
        .iter()
        .take(NAMED)
        .map(|artifact| format!("{} {}", artifact.what, artifact.digest.short()))
        .collect();
    list("artifacts", &named, found.artifacts.len())
}

fn list(what: &str, named: &[String], in_all: usize) -> String {
    if named.is_empty() {
        return String::new();
    }
    let more = match in_all - named.len() {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    format!("          {what:<9}  {}{more}\n", named.join(", "))
}
