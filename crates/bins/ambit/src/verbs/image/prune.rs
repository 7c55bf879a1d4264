use std::collections::BTreeSet;

use ambit_ids::{ByteCount, Digest, ImageName};
use ambit_images::{NamedImages, PruneReport, PruneRequest, Pruned};
use serde_json::{Value, json};

use super::references::needed;
use crate::answer::Answer;
use crate::ask::line;
use crate::compose::Services;
use crate::context::Context;
use crate::failure::Failure;
use crate::terminal::{counted, printable};

/// What somebody wants to have removed, and how.
pub(super) struct Wanted {
    pub(super) unused: bool,
    pub(super) dry_run: bool,
    pub(super) yes: bool,
}

/// Removes images that nothing needs. What a person was shown is all that is removed then.
pub(super) async fn run(context: &Context, services: &Services, wanted: Wanted) -> Result<Answer, Failure> {
    let found = prune(services, &wanted, None, true).await?;
    if wanted.dry_run {
        return Ok(told(&found, true));
    }
    if !found.removed.is_empty() && !wanted.yes && !is_agreed(context, &found).await? {
        return Err(Failure::new("USAGE_NOT_CONFIRMED", "nothing was removed"));
    }
    let shown = found.removed.iter().map(|image| image.digest).collect();
    Ok(told(&prune(services, &wanted, Some(shown), false).await?, false))
}

async fn prune(
    services: &Services,
    wanted: &Wanted,
    only: Option<BTreeSet<Digest>>,
    is_rehearsal: bool,
) -> Result<PruneReport, Failure> {
    let named = if wanted.unused { NamedImages::Go } else { NamedImages::Stay };
    let request = PruneRequest { kept: needed(services).await?, named, only, is_rehearsal };
    services.images.prune(request).await.map_err(|error| Failure::of(error.code(), &error))
}

/// Asks whoever sits at the terminal.
async fn is_agreed(context: &Context, found: &PruneReport) -> Result<bool, Failure> {
    if !context.can_ask() {
        return Err(Failure::new("USAGE_NOT_CONFIRMED", "nobody can be asked; nothing was removed")
            .help("`--dry-run` shows what would be removed, and `--yes` removes it"));
    }
    let question = format!("{}remove {}? [y/N] ", rows(found), counted(found.removed.len(), "image"));
    match line(&printable(&question)).await {
        Err(code) => {
            Err(Failure::new("USAGE_NOT_CONFIRMED", "interrupted; nothing was removed").exiting(code))
        }
        Ok(line) => Ok(matches!(line.unwrap_or_default().trim(), "y" | "Y" | "yes")),
    }
}

fn told(report: &PruneReport, is_rehearsal: bool) -> Answer {
    let freed =
        ByteCount::new(report.removed.iter().filter_map(|image| image.size_bytes).map(ByteCount::get).sum());
    let (verb, debris) =
        if is_rehearsal { ("would be removed", "would be cleared") } else { ("removed", "cleared") };
    let mut text = rows(report);
    text.push_str(&format!("{verb}: {}, {freed}\n", counted(report.removed.len(), "image")));
    if report.debris > 0 {
        text.push_str(&format!("{debris}: {} of interrupted work\n", counted_debris(report.debris)));
    }
    let removed: Vec<Value> = report
        .removed
        .iter()
        .map(|image| json!({"digest": image.digest, "names": image.names, "sizeBytes": image.size_bytes}))
        .collect();
    Answer::new(text, json!({"dryRun": is_rehearsal, "removed": removed, "debris": report.debris})).prose()
}

fn counted_debris(debris: u64) -> String {
    counted(usize::try_from(debris).unwrap_or(usize::MAX), "remnant")
}

fn rows(report: &PruneReport) -> String {
    report.removed.iter().map(row).collect()
}

fn row(image: &Pruned) -> String {
    let names: Vec<&str> = image.names.iter().map(ImageName::as_str).collect();
    let names = if names.is_empty() { "without a name".to_owned() } else { names.join(" ") };
    let size = image.size_bytes.map_or_else(|| "damaged".to_owned(), |size| size.to_string());
    format!("{}  {size:>8}  {names}\n", image.digest)
}
