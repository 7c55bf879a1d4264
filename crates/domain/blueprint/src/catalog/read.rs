use ambit_ids::{CommandSize, Digest, GateId, MicroUsd, VolumeMount, VolumeName, limits};

use super::environment::read_environment;
use super::{
    CatalogCommand, CatalogSpec, CommandFixture, CommandOutput, CommandReport, CommandResources,
    NamedCommandCatalog,
};
use crate::budget::MoneyKeys;
use crate::cursor::{Cursor, Distinct, Read};
use crate::envelope::{DocumentKind, Metadata, read_envelope};
use crate::problem::{Finding, ProblemCode};
use crate::suggest::quoted;

const MAX_COMMANDS: usize = 256;
const MAX_ARGUMENTS: usize = 64;
const MAX_ARGUMENT_BYTES: usize = 4096;
const MAX_FILES: usize = 64;

/// What stands in a catalog where the digest of an image is still to be put.
const IMAGE_MARK: &str = "${image}";

/// What the mark of a volume begins with, in the same way.
const VOLUME_MARK: &str = "${volume.";

/// The most that one execution may cost.
const COST_LIMIT: MicroUsd = MicroUsd::new(100_000_000);

impl NamedCommandCatalog {
    pub(crate) fn read(cursor: &Cursor<'_>) -> Read<Self> {
        let (metadata, spec) =
            read_envelope(cursor, DocumentKind::NamedCommandCatalog, Metadata::read, read_spec)?;
        Ok(Self { metadata, spec })
    }
}

fn read_spec(cursor: &Cursor<'_>) -> Read<CatalogSpec> {
    let mut fields = cursor.fields()?;
    let mut ids = Distinct::new();
    let commands = fields
        .required("commands")
        .and_then(|list| list.each(1..=MAX_COMMANDS, |item| read_command(item, &mut ids)));
    fields.finish()?;
    Ok(CatalogSpec { commands: commands? })
}

fn read_command(cursor: &Cursor<'_>, ids: &mut Distinct<GateId>) -> Read<CatalogCommand> {
    let mut fields = cursor.fields()?;
    let id = fields.required("id").and_then(|c| ids.read(&c));
    let summary = fields.required("summary").and_then(|c| c.prose(1..=500));
    let argv = fields.required("argv").and_then(|c| c.each(1..=MAX_ARGUMENTS, read_argument));
    let image = fields.required("image").and_then(|c| read_image(&c));
    let environment = fields.optional("environment").map(|c| read_environment(&c)).transpose();
    let workdir = fields.optional("workdir").map(|c| c.parsed()).transpose();
    let resources = fields.required("resources").and_then(|c| CommandResources::read(&c));
    let cost = MoneyKeys { usd: "costUsd", micro_usd: "costMicroUsd", limit: COST_LIMIT }.read(&mut fields);
    let (mut paths, mut names) = (Distinct::new(), Distinct::new());
    let outputs = fields
        .optional("outputs")
        .map(|list| list.each(0..=MAX_FILES, |item| CommandOutput::read(item, &mut paths)))
        .transpose();
    let fixtures = fields
        .optional("fixtures")
        .map(|list| list.each(0..=MAX_FILES, |item| read_fixture(item, &mut names)))
        .transpose();
    let mut mounts = Distinct::new();
    let volumes = fields
        .optional("volumes")
        .map(|list| list.each(0..=limits::COMMAND_VOLUMES, |item| read_volume(item, &mut mounts)))
        .transpose();
    let verdict = fields.required("verdict").and_then(|c| c.word());
    let report =
        fields.optional("report").map(|c| CommandReport::read(&c, outputs.as_ref().ok())).transpose();
    fields.finish()?;
    let command = CatalogCommand {
        id: id?,
        summary: summary?,
        argv: argv?,
        image: image?,
        environment: environment?.unwrap_or_default(),
        workdir: workdir?,
        resources: resources?,
        cost: cost?.unwrap_or_default(),
        outputs: outputs?.unwrap_or_default(),
        fixtures: fixtures?.unwrap_or_default(),
        volumes: volumes?.unwrap_or_default(),
        verdict: verdict?,
        report: report?,
    };
    check_size(cursor, &command)?;
    Ok(command)
}

/// Each word has a limit of its own, and so have all of them together: no kernel starts a program with more.
fn check_size(cursor: &Cursor<'_>, command: &CatalogCommand) -> Read<()> {
    let variables = command.environment.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let size = CommandSize::of(command.argv.iter().map(String::as_str), variables);
    size.check().map_err(|error| {
        let help = "put what is long into a file of the workspace";
        cursor.refuse(Finding::new(ProblemCode::OutOfRange, error.to_string(), "").with_help(help))
    })
}

/// An argument as it is passed, white space included.
fn read_argument(cursor: &Cursor<'_>) -> Read<String> {
    let text = cursor.exact_text()?;
    cursor.check_length(text, 1..=MAX_ARGUMENT_BYTES)?;
    Ok(text.to_owned())
}

/// An image by its digest. A name or a tag can come to mean another image, so neither is one.
fn read_image(cursor: &Cursor<'_>) -> Read<Digest> {
    let text = cursor.exact_text()?;
    text.parse().map_err(|_| {
        let message = format!("{} names {}, which is not a digest", cursor.name(), quoted(text));
        let finding =
            Finding::new(ProblemCode::ImageNotPinned, message, "a name or a tag can change its meaning");
        cursor.refuse(finding.with_help(if text == IMAGE_MARK {
            "`ambit catalog pin FILE --image NAME` puts the digest of a captured image in its place"
        } else {
            "write `sha256:` and 64 digits; `ambit image list` shows them"
        }))
    })
}

fn read_fixture(cursor: &Cursor<'_>, names: &mut Distinct<crate::FixtureName>) -> Read<CommandFixture> {
    let mut fields = cursor.fields()?;
    let name = fields.required("name").and_then(|c| names.read(&c));
    let from = fields.required("from").and_then(|c| c.parsed());
    fields.finish()?;
    Ok(CommandFixture { name: name?, from: from? })
}

fn read_volume(cursor: &Cursor<'_>, names: &mut Distinct<VolumeName>) -> Read<VolumeMount> {
    let mut fields = cursor.fields()?;
    let name = fields.required("name").and_then(|c| names.read(&c));
    let digest = fields.required("digest").and_then(|c| read_volume_digest(&c));
    fields.finish()?;
    Ok(VolumeMount { name: name?, digest: digest? })
}

/// A volume by its digest, for the reason that an image is.
fn read_volume_digest(cursor: &Cursor<'_>) -> Read<Digest> {
    let text = cursor.exact_text()?;
    text.parse::<Digest>().map_err(|_| {
        let message = format!("{} names {}, which is not a digest", cursor.name(), quoted(text));
        let finding = Finding::new(ProblemCode::VolumeNotPinned, message, "a name can change its meaning");
        cursor.refuse(finding.with_help(if text.starts_with(VOLUME_MARK) {
            "`ambit catalog pin FILE --image NAME --volume NAME` puts the digest of a captured volume in its place"
        } else {
            "write `sha256:` and 64 digits; `ambit volume list` shows them"
        }))
    })
}
