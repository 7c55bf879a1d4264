//! What belongs to the user and to no repository: the credential of the approver, and the agent.

use std::path::{Path, PathBuf};

use ambit_evidence::CredentialForm;
use ambit_evidence::signature::VerificationKey;
use ambit_ids::ApproverId;
use ambit_projects::{ApproverCredential, SealedCredential};
use zeroize::Zeroizing;

use crate::ask;
use crate::compose::Services;
use crate::context::Context;
use crate::credential::{new_credential, unsealed};
use crate::failure::Failure;
use crate::input_file::read_bytes;
use crate::new_file::write_new;

/// The directory of the user's configuration of this program (XDG base directory specification).
#[derive(Clone, Debug)]
pub(crate) struct UserConfig(PathBuf);

impl UserConfig {
    pub(crate) fn find() -> Result<Self, Failure> {
        let variable =
            |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        variable("XDG_CONFIG_HOME")
            .or_else(|| variable("HOME").map(|home| home.join(".config")))
            .map(|path| Self(path.join("ambit")))
            .ok_or_else(|| {
                Failure::new("CONFIG_UNKNOWN", "neither XDG_CONFIG_HOME nor HOME is set to a whole path")
                    .help("nothing was changed; set XDG_CONFIG_HOME to a directory of your own")
            })
    }

    /// Where the approver's credential lies.
    pub(crate) fn approver_key(&self) -> PathBuf {
        self.0.join("approver.key")
    }

    /// Where the agent is described that answers where none is named.
    pub(crate) fn agent(&self) -> PathBuf {
        self.0.join("agent.yaml")
    }

    /// Says that neither the state nor a repository holds this directory. The state must not hold a credential, and
    /// what a repository holds can be read by agents and written by whoever writes to it.
    pub(crate) fn must_lie_outside(&self, context: &Context, root: &Path) -> Result<(), Failure> {
        let place = resolved(&self.0);
        let mend =
            "go to the directory of the project, or set XDG_CONFIG_HOME to a directory outside of this one";
        for (holder, what, mend) in [
            (
                context.home.path(),
                "where the state is kept",
                "set XDG_CONFIG_HOME to a directory outside of it",
            ),
            (root, "which a run would read", mend),
        ] {
            if place.starts_with(resolved(holder)) {
                let (place, holder) = (self.0.display(), holder.display());
                let holds = if self.approver_key().exists() { "holds" } else { "is to hold" };
                let message = format!("{place} {holds} a credential, and lies within {holder}, {what}");
                return Err(Failure::new("USAGE_CONFIG_EXPOSED", message)
                    .help(format!("nothing was changed; {mend}")));
            }
        }
        Ok(())
    }

    /// Makes the user's credential where there is none, and answers how it is kept.
    pub(crate) async fn make_key(
        &self,
        context: &Context,
        services: &Services,
        sealing: Sealing,
    ) -> Result<CredentialForm, Failure> {
        self.kept(context, services, sealing).await.map(|kept| kept.form())
    }

    /// Makes the user somebody who may approve in the project, where nobody may. The credential is not opened for it.
    pub(crate) async fn register(&self, context: &Context, services: &Services) -> Result<(), Failure> {
        self.registered(context, services).await.map(drop)
    }

    /// The credential of the user, who may approve in the project: made where there is none, registered where nobody is.
    pub(crate) async fn approver(
        &self,
        context: &Context,
        services: &Services,
    ) -> Result<ApproverCredential, Failure> {
        self.registered(context, services).await?.opened(context).await
    }

    async fn registered(&self, context: &Context, services: &Services) -> Result<Kept, Failure> {
        let kept = self.kept(context, services, Sealing::AtTerminal).await?;
        let project = services.project(&context.scope).await?;
        let key = kept.public_key();
        if project.approvers().any(|(_, known)| *known == key) {
            return Ok(kept);
        }
        if let Some((approver, _)) = project.approvers().next() {
            let message = format!("{approver} approves in {}, with another credential", context.scope);
            return Err(Failure::new("CREDENTIAL_REFUSED", message).help(format!(
                "nothing was approved; {} is not that credential: `ambit blueprint approve FILE --credential-file FILE` takes one from elsewhere",
                self.approver_key().display()
            )));
        }
        let name = ApproverId::new(Context::user()).map_err(|error| Failure::of("USAGE_VALUE", &error))?;
        services
            .projects
            .register_approver(&context.scope, &name, &key, kept.form())
            .await
            .map_err(|error| Failure::of(error.code(), &error))?;
        Ok(kept)
    }

    /// The credential of the user, if there is one and it approves in the project.
    pub(crate) async fn known_approver(
        &self,
        context: &Context,
        services: &Services,
    ) -> Result<Option<ApproverCredential>, Failure> {
        let Some(kept) = self.found()? else { return Ok(None) };
        let project = services.project(&context.scope).await?;
        let key = kept.public_key();
        if !project.approvers().any(|(_, known)| *known == key) {
            return Ok(None);
        }
        kept.opened(context).await.map(Some)
    }

    async fn kept(&self, context: &Context, services: &Services, sealing: Sealing) -> Result<Kept, Failure> {
        use std::os::unix::fs::DirBuilderExt as _;
        if let Some(kept) = self.found()? {
            return Ok(kept);
        }
        let seals = sealing == Sealing::AtTerminal && context.can_ask();
        if seals {
            ask::show(
                "Your credential approves what runs may do. Nothing that runs as you can use it without a passphrase.",
            );
        }
        let (credential, text) = new_credential(services, seals).await?;
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.0);
        made.map_err(|error| Failure::of("USAGE_FILE_UNWRITABLE", &error))?;
        match (write_new(&self.approver_key(), &[text.as_bytes(), b"\n"].concat(), 0o600), self.found()) {
            (Ok(()), _) => Ok(Kept::Open(credential)),
            // Another process made it meanwhile.
            (Err(_), Ok(Some(kept))) => Ok(kept),
            (Err(failure), _) => Err(failure),
        }
    }

    /// How the user's credential is kept, if there is one.
    pub(crate) fn credential_form(&self) -> Result<Option<CredentialForm>, Failure> {
        Ok(self.found()?.map(|kept| kept.form()))
    }

    fn found(&self) -> Result<Option<Kept>, Failure> {
        use std::os::unix::fs::PermissionsExt as _;
        let file = self.approver_key();
        if file.symlink_metadata().is_err() {
            return Ok(None);
        }
        let mode = file.metadata().map(|metadata| metadata.permissions().mode());
        if mode.is_ok_and(|mode| mode & 0o077 != 0) {
            let message = format!("others than you can read {}", file.display());
            return Err(Failure::new("CREDENTIAL_REFUSED", message)
                .help(format!("nothing was approved; `chmod 600 {}` closes it", file.display())));
        }
        let bytes = Zeroizing::new(read_bytes(&file, 4096)?);
        let text = String::from_utf8_lossy(&bytes);
        if let Some(sealed) = SealedCredential::read(&text) {
            return Ok(Some(Kept::Sealed(sealed)));
        }
        ApproverCredential::read(&text).map(Kept::Open).map(Some).map_err(|error| {
            Failure::of("CREDENTIAL_REFUSED", &error)
                .help(format!("nothing was approved; mend {}", file.display()))
        })
    }
}

/// Whether a new credential is sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sealing {
    /// Where a person can be asked for a passphrase.
    AtTerminal,
    /// Nowhere, as the person said.
    Never,
}

/// The user's credential, as its file has it, or as it was made a moment ago.
enum Kept {
    Open(ApproverCredential),
    Sealed(SealedCredential),
}

impl Kept {
    fn public_key(&self) -> VerificationKey {
        match self {
            Self::Open(credential) => credential.public_key(),
            Self::Sealed(sealed) => *sealed.public_key(),
        }
    }

    const fn form(&self) -> CredentialForm {
        match self {
            Self::Open(credential) => credential.form(),
            Self::Sealed(_) => CredentialForm::Sealed,
        }
    }

    async fn opened(self, context: &Context) -> Result<ApproverCredential, Failure> {
        match self {
            Self::Open(credential) => Ok(credential),
            Self::Sealed(sealed) => unsealed(context, &sealed).await,
        }
    }
}

/// A path without links, as far as it exists.
pub(crate) fn resolved(path: &Path) -> PathBuf {
    for above in path.ancestors() {
        if let (Ok(real), Ok(rest)) = (above.canonicalize(), path.strip_prefix(above)) {
            return if rest.as_os_str().is_empty() { real } else { real.join(rest) };
        }
    }
    path.to_owned()
}
