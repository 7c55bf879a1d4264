use std::fmt::Write as _;

use ambit_ids::ImageName;
use ambit_images::{CapturedOrigin, ImportedOrigin, Omissions, Origin};
use ambit_ports::images::ImageStore as _;
use serde_json::{Value, json};

use super::references::catalogs_with;
use super::{names_of, resolve};
use crate::answer::Answer;
use crate::compose::Services;
use crate::context::Context;
use crate::failure::Failure;
use crate::terminal::counted;

/// Shows what is in an image, where it came from, and what in this project names it.
pub(super) async fn run(context: &Context, services: &Services, image: &str) -> Result<Answer, Failure> {
    let failed = |error: ambit_ports::images::ImageError| Failure::of(error.code(), &error);
    let digest = resolve(services, image).await?;
    let image = services.images.find(digest).await.map_err(failed)?;
    let origin = services.images.origin(digest).await.map_err(failed)?;
    let names = names_of(services, digest).await?;
    let catalogs = catalogs_with(services, &context.scope, digest).await?;

    let mut text = format!("{}\n", image.digest);
    listed(&mut text, "names", names.iter().map(ImageName::as_str));
    let _ = writeln!(text, "holds        {} files and links, {}", image.entries, image.size_bytes);
    match &origin {
        None => text.push_str("came from    nothing that was written down\n"),
        Some(Origin::Captured(captured)) => captured_lines(&mut text, captured),
        Some(Origin::Imported(imported)) => origin_lines(&mut text, imported),
    }
    listed(&mut text, "tools", image.tools.iter().map(String::as_str));
    let told = catalogs.iter().map(|key| format!("{} v{}", key.name, key.version)).collect::<Vec<_>>();
    listed(&mut text, "catalogs", told.iter().map(String::as_str));
    let catalogs: Vec<Value> =
        catalogs.iter().map(|key| json!({"name": key.name, "version": key.version})).collect();
    let json = json!({"image": image, "names": names, "origin": origin, "catalogs": catalogs});
    Ok(Answer::new(text, json).prose())
}

/// A row of words.
pub(super) fn listed<'a>(text: &mut String, label: &str, words: impl Iterator<Item = &'a str>) {
    let words: Vec<&str> = words.collect();
    let told = if words.is_empty() { "none".to_owned() } else { words.join(" ") };
    let _ = writeln!(text, "{label:<12} {told}");
}

/// What is told of an import.
pub(super) fn origin_lines(text: &mut String, origin: &ImportedOrigin) {
    let _ = writeln!(text, "came from    {}, {}", origin.source, origin.format.as_str());
    for (label, value) in [
        ("reference", origin.reference.clone()),
        ("platform", origin.platform.clone()),
        ("manifest", origin.manifest.map(|digest| digest.to_string())),
    ] {
        if let Some(value) = value {
            let _ = writeln!(text, "{label:<12} {value}");
        }
    }
    let _ = writeln!(text, "made of      {}", counted(origin.layers.len(), "layer"));
    listed(text, "added", origin.added.iter().map(String::as_str));
    if origin.more_tools > 0 {
        let _ = writeln!(text, "not listed   {} further tools", origin.more_tools);
    }
    omitted(text, &origin.left_out);
}

fn captured_lines(text: &mut String, origin: &CapturedOrigin) {
    text.push_str("came from    tools of this machine\n");
    for tool in &origin.tools {
        let _ = writeln!(
            text,
            "  {:<12} {}: {} files and links, {}",
            tool.name, tool.program, tool.entries, tool.size_bytes
        );
    }
    omitted(text, &origin.left_out);
}

fn omitted(text: &mut String, omissions: &Omissions) {
    for omission in &omissions.listed {
        let _ = writeln!(text, "without      {}: {}", omission.what, omission.why);
    }
    if omissions.more > 0 {
        let _ = writeln!(text, "without      {} more", omissions.more);
    }
}
