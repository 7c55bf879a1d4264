use std::fmt::Write as _;

use ambit_images::ImportRequest;
use serde_json::json;

use super::show::{listed, origin_lines};
use crate::answer::Answer;
use crate::cli::ImportArgs;
use crate::compose::Services;
use crate::context::Context;
use crate::failure::Failure;

/// Imports an image, and tells what became of it on the way.
pub(super) async fn run(
    context: &Context,
    services: &Services,
    arguments: ImportArgs,
) -> Result<Answer, Failure> {
    context.note("reading the source, and holding it against the digests that it names");
    let ImportArgs { name, platform, reference, source } = arguments;
    let request = ImportRequest { name: name.clone(), source, platform, reference };
    let report = services.images.import(request).await.map_err(|error| Failure::of(error.code(), &error))?;
    let image = &report.image;
    let mut text =
        format!("{name} ({} files and links, {})\n{}\n", image.entries, image.size_bytes, image.digest);
    if report.reused {
        let _ = writeln!(text, "the image was here already, and has a further name now");
    }
    origin_lines(&mut text, &report.origin);
    listed(&mut text, "tools", image.tools.iter().map(String::as_str));
    let json = json!({"image": image, "reused": report.reused, "origin": report.origin});
    Ok(Answer::new(text, json).prose())
}
