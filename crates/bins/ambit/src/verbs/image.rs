mod import;
mod prune;
mod references;
mod show;
mod verify;

use std::collections::BTreeMap;
use std::path::PathBuf;

use ambit_ids::{Digest, ImageName};
use ambit_images::{CaptureReport, CaptureRequest, Tool};
use ambit_ports::images::{Image, ImageStore as _};
use serde_json::json;

use crate::answer::Answer;
use crate::cli::ImageVerb;
use crate::compose::Services;
use crate::context::Context;
use crate::failure::Failure;

/// Where this machine looks for programs.
pub(crate) fn search_path() -> Vec<PathBuf> {
    std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default()
}

/// What was left out, by the reasons.
fn left_out(report: &CaptureReport) -> BTreeMap<&str, Vec<String>> {
    let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for left in &report.left_out {
        let name = left.what.file_name().unwrap_or(left.what.as_os_str()).to_string_lossy();
        reasons.entry(&left.why).or_default().push(name.into_owned());
    }
    reasons
}

pub(crate) async fn run(context: &Context, verb: ImageVerb) -> Result<Answer, Failure> {
    let services = context.open()?;
    match verb {
        ImageVerb::Capture { name, tools } => {
            let tools: Result<Vec<Tool>, _> = tools.iter().map(|tool| tool.parse()).collect();
            let tools = tools.map_err(|error| Failure::of("USAGE_TOOL", &error))?;
            context.note("capturing the tools and everything that they need");
            let report = services
                .images
                .capture(CaptureRequest { name, tools, search_path: search_path() })
                .await
                .map_err(|error| Failure::of(error.code(), &error))?;
            let image = &report.image;
            let mut text = format!(
                "{} ({} files and links, {})\n{}\n",
                image.name, image.entries, image.size_bytes, image.digest
            );
            let left_out = left_out(&report);
            for (why, names) in &left_out {
                text.push_str(&format!("without {}: {why}\n", names.join(" ")));
            }
            Ok(Answer::new(text, json!({"image": image, "reused": report.reused, "leftOut": left_out}))
                .prose())
        }
        ImageVerb::Import(arguments) => import::run(context, &services, arguments).await,
        ImageVerb::Show { image } => show::run(context, &services, &image).await,
        ImageVerb::Verify { image, all: _ } => verify::run(context, &services, image.as_deref()).await,
        ImageVerb::Prune { unused, dry_run, yes } => {
            prune::run(context, &services, prune::Wanted { unused, dry_run, yes }).await
        }
        ImageVerb::List => {
            let images: Vec<Image> =
                services.images.list().await.map_err(|error| Failure::of(error.code(), &error))?;
            let mut text = String::new();
            for image in &images {
                text.push_str(&format!(
                    "{:<20} {}  {:>8}  {}\n",
                    image.name,
                    image.digest,
                    image.size_bytes.to_string(),
                    image.tools.join(" ")
                ));
            }
            if images.is_empty() {
                text.push_str("no image yet; `ambit image capture --name tools python3 git sh` makes one\n");
            }
            Ok(Answer::new(text, json!({"images": images})).prose())
        }
    }
}

/// The digest of an image that is named by it or by its name.
pub(super) async fn resolve(services: &Services, image: &str) -> Result<Digest, Failure> {
    if let Ok(digest) = image.parse::<Digest>() {
        return Ok(digest);
    }
    let missing = || {
        Failure::new("IMAGE_NOT_FOUND", format!("there is no image {image}"))
            .help("`ambit image list` shows those that are here")
    };
    let name: ImageName = image.parse().map_err(|_| missing())?;
    let named = services.images.named(&name).await.map_err(|error| Failure::of(error.code(), &error))?;
    named.ok_or_else(missing)
}

/// The names that stand for an image, sorted.
async fn names_of(services: &Services, digest: Digest) -> Result<Vec<ImageName>, Failure> {
    let names = services.images.names().await.map_err(|error| Failure::of(error.code(), &error))?;
    Ok(names.into_iter().filter(|(_, named)| *named == digest).map(|(name, _)| name).collect())
}
