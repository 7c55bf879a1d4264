use std::path::Path;

use ambit_blueprint::{CatalogCommand, Document, NamedCommandCatalog};
use ambit_ids::{GateId, ImageName, VolumeName, limits};
use ambit_ports::images::{ImageError, ImageStore as _};
use ambit_projects::ProjectError;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::cli::CatalogVerb;
use crate::context::Context;
use crate::failure::Failure;
use crate::input_file::{read_bytes, read_document};
use crate::new_file::made;
use crate::verbs::blueprint::digest_of;
use crate::verbs::brought::find_images;
use crate::verbs::volume::digest_named;

/// What stands in a catalog where the digest of an image is to be put.
const IMAGE_MARK: &str = "${image}";

pub(crate) async fn run(context: &Context, verb: CatalogVerb) -> Result<Answer, Failure> {
    match verb {
        CatalogVerb::List { file } => list(&catalog(context, file.as_deref()).await?),
        CatalogVerb::Show { command, file } => show(&catalog(context, file.as_deref()).await?, &command),
        CatalogVerb::Register { file } => {
            let catalog = read_document(&file, NamedCommandCatalog::parse)?;
            let services = context.open()?;
            find_images(&services, &catalog).await?;
            let document = Document::Catalog(catalog);
            let digest = services
                .projects
                .register(&context.scope, &document, &Context::user())
                .await
                .map_err(|error| match error {
                    ProjectError::DocumentChanged { .. } => Failure::of(error.code(), &error).help(
                        "nothing was registered; a run takes the new version where a profile of your own names it: `ambit run start --catalog FILE --profile FILE`",
                    ),
                    error => Failure::of(error.code(), &error),
                })?;
            Ok(Answer::new(
                format!("{} is registered in {}\n{digest}\n", document.name(), context.scope),
                json!({"registered": true, "name": document.name(), "digest": digest}),
            ))
        }
        CatalogVerb::Pin { file, image, volumes, out } => {
            let text = pinned(context, &file, &image, &volumes).await?;
            made(text, "catalog", out.as_deref())
        }
    }
}

/// The text of a catalog with the digests of a captured image and of volumes in place of their marks.
async fn pinned(
    context: &Context,
    file: &Path,
    image: &ImageName,
    volumes: &[VolumeName],
) -> Result<String, Failure> {
    let services = context.open()?;
    let failed = |error: ImageError| Failure::of(error.code(), &error);
    let Some(digest) = services.images.named(image).await.map_err(failed)? else {
        let images = services.images.list().await.map_err(failed)?;
        return Err(Failure::new("IMAGE_NOT_FOUND", format!("there is no image {image}"))
            .help("capture one with `ambit image capture`")
            .meant(image.as_str(), images.iter().map(|image| image.name.as_str())));
    };
    let bytes = read_bytes(file, limits::DOCUMENT_BYTES)?;
    let text = String::from_utf8(bytes).map_err(|error| Failure::of("DOCUMENT_ENCODING", &error))?;
    let mut text = text.replace(IMAGE_MARK, &digest.to_string());
    for name in volumes {
        let digest = digest_named(&services, name).await?;
        text = text.replace(&format!("${{volume.{name}}}"), &digest.to_string());
    }
    NamedCommandCatalog::parse(&file.to_string_lossy(), text.as_bytes()).map_err(Failure::of_document)?;
    Ok(text)
}

async fn catalog(context: &Context, file: Option<&Path>) -> Result<NamedCommandCatalog, Failure> {
    if let Some(file) = file {
        return read_document(file, NamedCommandCatalog::parse);
    }
    let services = context.open()?;
    let project = services.project(&context.scope).await?;
    let digest = project
        .documents()
        .filter(|(key, _)| key.kind == "NamedCommandCatalog")
        .max_by_key(|(key, _)| key.version)
        .map(|(_, digest)| digest)
        .ok_or_else(|| {
            Failure::new("CATALOG_NOT_FOUND", format!("{} has no catalog", context.scope))
                .help("register one with `ambit catalog register`, or name a file with --file")
        })?;
    services
        .documents()
        .catalog(&context.scope, digest)
        .await
        .map_err(|error| Failure::of(error.code(), &error))
}

fn list(catalog: &NamedCommandCatalog) -> Result<Answer, Failure> {
    let digest = digest_of(&Document::Catalog(catalog.clone()))?;
    let mut text = format!("{} v{}  {digest}\n", catalog.metadata.name, catalog.metadata.version);
    for command in &catalog.spec.commands {
        text.push_str(&format!("  {:<28} {}\n", command.id.as_str(), command.summary));
    }
    let commands: Result<Vec<Value>, Failure> = catalog.spec.commands.iter().map(view).collect();
    Ok(Answer::new(text, json!({"digest": digest, "commands": commands?})).prose())
}

fn show(catalog: &NamedCommandCatalog, id: &GateId) -> Result<Answer, Failure> {
    let command = catalog.command(id).ok_or_else(|| {
        let known: Vec<&str> = catalog.spec.commands.iter().map(|command| command.id.as_str()).collect();
        Failure::new("GATE_NOT_FOUND", format!("the catalog has no command {id}"))
            .help(format!("its commands are {}", known.join(", ")))
            .meant(id.as_str(), known)
    })?;
    let limits = command.resources.limits;
    let mut text = format!(
        "{}: {}\n  argv       {:?}\n  image      {}\n  memory     {}\n  processes  {}\n  processor  {}/1000 of one, {} in all\n  time       {}\n  disk       {}\n  output     {}\n",
        command.id,
        command.summary,
        command.argv,
        command.image,
        limits.memory_bytes,
        limits.processes,
        limits.cpu_millis,
        limits.cpu_time_ms,
        limits.wall_ms,
        limits.disk_bytes,
        limits.output_bytes
    );
    for volume in &command.volumes {
        text.push_str(&format!("  volume     {} at /volumes/{}\n", volume.digest, volume.name));
    }
    Ok(Answer::new(text, view(command)?).prose())
}

fn view(command: &CatalogCommand) -> Result<Value, Failure> {
    let mut value =
        serde_json::to_value(command).map_err(|error| Failure::of("OUTPUT_UNWRITABLE", &error))?;
    value["imageDigest"] = json!(command.image);
    Ok(value)
}
