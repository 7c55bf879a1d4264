use std::collections::BTreeSet;

use ambit_ids::Digest;
use ambit_ports::images::{ImageError, ImageStore as _};
use serde::Serialize;
use serde_json::json;

use super::resolve;
use crate::answer::Answer;
use crate::compose::Services;
use crate::context::Context;
use crate::failure::{Failure, exit};

/// What was found of one image.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Verified {
    digest: Digest,
    names: Vec<String>,
    /// `proved`, `refuted` or `unknown`.
    verdict: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    why: String,
}

/// Computes digests anew from every byte on disk.
pub(super) async fn run(
    context: &Context,
    services: &Services,
    image: Option<&str>,
) -> Result<Answer, Failure> {
    let failed = |error: ImageError| Failure::of(error.code(), &error);
    let digests = match image {
        Some(image) => BTreeSet::from([resolve(services, image).await?]),
        None => services.images.digests().await.map_err(failed)?,
    };
    let names = services.images.names().await.map_err(failed)?;
    context.note("reading every byte");
    let mut found = Vec::new();
    for digest in digests {
        let (verdict, why) = match services.images.verify(digest).await {
            Ok(()) => ("proved", String::new()),
            Err(error @ ImageError::Corrupt { .. }) => ("refuted", error.to_string()),
            Err(error @ ImageError::NotFound(_)) if image.is_some() => return Err(failed(error)),
            Err(error) => ("unknown", cause(&error)),
        };
        let names = names.iter().filter(|(_, named)| **named == digest).map(|(name, _)| name.to_string());
        found.push(Verified { digest, names: names.collect(), verdict, why });
    }
    let code = if found.iter().any(|image| image.verdict == "refuted") {
        exit::REFUTED
    } else if found.iter().any(|image| image.verdict == "unknown") {
        exit::UNVERIFIED
    } else {
        exit::OK
    };
    Ok(Answer::new(page(&found), json!({"images": found})).prose().exiting(code))
}

fn page(found: &[Verified]) -> String {
    let mut page = String::new();
    for image in found {
        let mark = match image.verdict {
            "proved" => "ok     ",
            "refuted" => "ALTERED",
            _ => "unknown",
        };
        page.push_str(&format!("{mark}  {}\n", image.digest));
        for line in [image.names.join(" "), image.why.clone()] {
            if !line.is_empty() {
                page.push_str(&format!("         {line}\n"));
            }
        }
    }
    if found.is_empty() {
        page.push_str("no image is here\n");
    }
    page
}

fn cause(error: &ImageError) -> String {
    let below = std::error::Error::source(error).map(|below| format!(": {below}"));
    format!("{error}{}", below.unwrap_or_default())
}
