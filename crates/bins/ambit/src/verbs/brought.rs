//! The documents that come with the command that starts a run.

use std::path::Path;

use ambit_blueprint::{Document, ExecutionCapabilityProfile, NamedCommandCatalog};
use ambit_ids::DocumentName;
use ambit_ports::images::{ImageError, ImageStore as _};
use ambit_ports::volumes::{VolumeError, VolumeStore as _};

use crate::cli::ProfileArg;
use crate::compose::Services;
use crate::context::Context;
use crate::failure::Failure;
use crate::input_file::read_document;

/// What a start brings along. It is registered once everything about the start is known to be right: what is registered
/// under a name and a version stays.
pub(crate) struct Brought {
    /// The name of the profile, whether it comes along or is known.
    pub(crate) profile: DocumentName,
    /// The profile and the catalog, as far as files are named.
    pub(crate) documents: Vec<Document>,
}

impl Brought {
    /// A profile and its catalog, which come from elsewhere.
    pub(crate) fn of(profile: ExecutionCapabilityProfile, catalog: NamedCommandCatalog) -> Self {
        let name = profile.metadata.name.clone();
        Self {
            profile: name,
            documents: vec![Document::Profile(Box::new(profile)), Document::Catalog(catalog)],
        }
    }

    pub(crate) fn read(profile: &ProfileArg, catalog: Option<&Path>) -> Result<Self, Failure> {
        let mut documents = Vec::new();
        let profile = match profile {
            ProfileArg::Name(name) => name.clone(),
            ProfileArg::File(file) => {
                let profile = read_document(file, ExecutionCapabilityProfile::parse)?;
                let name = profile.metadata.name.clone();
                documents.push(Document::Profile(Box::new(profile)));
                name
            }
        };
        if let Some(file) = catalog {
            documents.push(Document::Catalog(read_document(file, NamedCommandCatalog::parse)?));
        }
        Ok(Self { profile, documents })
    }

    /// Whether this machine has every image and every volume that the catalog names.
    pub(crate) async fn find_images(&self, services: &Services) -> Result<(), Failure> {
        for document in &self.documents {
            if let Document::Catalog(catalog) = document {
                find_images(services, catalog).await?;
            }
        }
        Ok(())
    }

    pub(crate) async fn register(&self, context: &Context, services: &Services) -> Result<(), Failure> {
        for document in &self.documents {
            services
                .projects
                .register(&context.scope, document, &Context::user())
                .await
                .map_err(|error| Failure::of(error.code(), &error))?;
        }
        Ok(())
    }
}

/// Whether this machine has every image and every volume that a catalog names. Nothing can be run under a catalog whose
/// images are not there, and its version would be taken.
pub(crate) async fn find_images(services: &Services, catalog: &NamedCommandCatalog) -> Result<(), Failure> {
    for command in &catalog.spec.commands {
        services.images.find(command.image).await.map_err(|error| {
            let failure = Failure::of(error.code(), &error);
            match error {
                ImageError::NotFound(_) => failure.help(
                    "nothing was registered; `ambit image capture` makes an image, and `ambit catalog pin` writes its digest into a catalog where ${image} stands",
                ),
                _ => failure,
            }
        })?;
        for volume in &command.volumes {
            services.images.find_volume(volume.digest).await.map_err(|error| volume_failure(&error))?;
        }
    }
    Ok(())
}

fn volume_failure(error: &VolumeError) -> Failure {
    let failure = Failure::of(error.code(), error);
    match error {
        VolumeError::NotFound(_) => failure.help(
            "nothing was registered; `ambit volume capture` makes a volume, and `ambit catalog pin --volume NAME` writes its digest into a catalog where ${volume.NAME} stands",
        ),
        VolumeError::Corrupt { .. } | VolumeError::Io { .. } => failure,
    }
}
