use std::path::{Path, PathBuf};

use ambit_ids::{Digest, VolumeName};
use ambit_images::{VolumeReport, VolumeRequest, VolumeSource};
use ambit_ports::volumes::{Volume, VolumeError, VolumeStore as _};
use serde_json::json;

use crate::answer::Answer;
use crate::cli::{KindArg, VolumeVerb};
use crate::compose::Services;
use crate::context::Context;
use crate::failure::Failure;

pub(crate) async fn run(context: &Context, verb: VolumeVerb) -> Result<Answer, Failure> {
    let services = context.open()?;
    let failed = |error: VolumeError| Failure::of(error.code(), &error);
    match verb {
        VolumeVerb::Capture { name, kind, source, cargo_home } => {
            let source = source_of(kind, source, cargo_home)?;
            context.note("capturing the volume; nothing of it is run");
            let report = services
                .images
                .capture_volume(VolumeRequest { name, source })
                .await
                .map_err(|error| Failure::of(error.code(), &error))?;
            Ok(captured(&report))
        }
        VolumeVerb::List => Ok(list(&services.images.list_volumes().await.map_err(failed)?)),
        VolumeVerb::Show { volume } => {
            let digest = digest_of(&services, &volume).await?;
            let volume = services.images.find_volume(digest).await.map_err(failed)?;
            Ok(Answer::new(shown(&volume), json!({"volume": volume})).prose())
        }
        VolumeVerb::Verify { volume } => {
            let digest = digest_of(&services, &volume).await?;
            services.images.verify_volume(digest).await.map_err(failed)?;
            Ok(Answer::new(
                format!("every byte of the volume is as its digest says\n{digest}\n"),
                json!({"verified": true, "digest": digest}),
            ))
        }
    }
}

fn source_of(kind: KindArg, source: PathBuf, cargo_home: Option<PathBuf>) -> Result<VolumeSource, Failure> {
    Ok(match kind {
        KindArg::Cargo => {
            let cargo_home = cargo_home.or_else(home_of_cargo).ok_or_else(|| {
                Failure::new("USAGE_CARGO_HOME", "neither CARGO_HOME nor HOME is set")
                    .help("name the home of Cargo with --cargo-home")
            })?;
            VolumeSource::Cargo { lockfile: lock_in(source), cargo_home }
        }
        KindArg::NodeModules => VolumeSource::NodeModules(source),
        KindArg::Python => VolumeSource::Python(source),
        KindArg::Directory => VolumeSource::Directory(source),
    })
}

/// The home of Cargo of this user.
pub(crate) fn home_of_cargo() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    variable("CARGO_HOME").or_else(|| variable("HOME").map(|home| home.join(".cargo")))
}

/// A directory stands for the lock in it.
fn lock_in(source: PathBuf) -> PathBuf {
    if source.is_dir() { source.join(Path::new("Cargo.lock")) } else { source }
}

fn captured(report: &VolumeReport) -> Answer {
    let mut text = shown(&report.volume);
    for left in &report.left_out {
        text.push_str(&format!("without {}: {}\n", left.what.display(), left.why));
    }
    let left_out: Vec<_> = report
        .left_out
        .iter()
        .map(|left| json!({"what": left.what.to_string_lossy(), "why": left.why}))
        .collect();
    Answer::new(text, json!({"volume": report.volume, "reused": report.reused, "leftOut": left_out})).prose()
}

fn shown(volume: &Volume) -> String {
    let Volume { digest, name, kind, entries, size_bytes } = volume;
    format!("{name} ({kind}, {entries} files and links, {size_bytes})\n{digest}\n")
}

fn list(volumes: &[Volume]) -> Answer {
    let mut text = String::new();
    for Volume { digest, name, kind, size_bytes, .. } in volumes {
        let size = size_bytes.to_string();
        text.push_str(&format!("{:<20} {digest}  {size:>8}  {kind}\n", name.as_str()));
    }
    if volumes.is_empty() {
        text.push_str("no volume yet; `ambit volume capture --name cargo cargo Cargo.lock` makes one\n");
    }
    Answer::new(text, json!({"volumes": volumes})).prose()
}

async fn digest_of(services: &Services, named: &str) -> Result<Digest, Failure> {
    if let Ok(digest) = named.parse() {
        return Ok(digest);
    }
    let name: VolumeName = named.parse().map_err(|error| Failure::of("USAGE_VOLUME", &error))?;
    digest_named(services, &name).await
}

/// The volume that a name stands for.
pub(crate) async fn digest_named(services: &Services, name: &VolumeName) -> Result<Digest, Failure> {
    let digest =
        services.images.volume_named(name).await.map_err(|error| Failure::of(error.code(), &error))?;
    digest.ok_or_else(|| {
        Failure::new("VOLUME_NOT_FOUND", format!("there is no volume {name}"))
            .help("capture one with `ambit volume capture`; `ambit volume list` shows those that there are")
    })
}
