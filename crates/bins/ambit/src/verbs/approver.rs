use std::path::Path;

use ambit_projects::ApproverCredential;
use serde_json::json;
use zeroize::Zeroizing;

use crate::answer::Answer;
use crate::cli::ApproverVerb;
use crate::compose::Services;
use crate::config::UserConfig;
use crate::context::Context;
use crate::credential::{credential, new_passphrase};
use crate::failure::Failure;
use crate::input_file::read_bytes;
use crate::new_file::{write_new, write_own};

pub(crate) async fn run(context: &Context, verb: ApproverVerb) -> Result<Answer, Failure> {
    match verb {
        ApproverVerb::Init { name, out } => {
            let services = context.open()?;
            let made = made(context, &services, out.as_deref()).await?;
            let key = made.key();
            let registered = services.projects.register_approver(&context.scope, &name, &key).await;
            if let Err(error) = registered {
                discard(out.as_deref());
                return Err(Failure::of(error.code(), &error));
            }
            Ok(told(context, name.as_str(), &made, out.as_deref()))
        }
        ApproverVerb::Add { name, out, credential: named } => {
            let services = context.open()?;
            let own = credential(context, &services, &named).await?;
            let made = made(context, &services, Some(&out)).await?;
            let added = services.projects.add_approver(&context.scope, &name, &made.key(), &own).await;
            if let Err(error) = added {
                discard(Some(&out));
                return Err(Failure::of(error.code(), &error));
            }
            Ok(told(context, name.as_str(), &made, Some(&out)))
        }
        ApproverVerb::Revoke { name, credential: named } => {
            let services = context.open()?;
            let own = credential(context, &services, &named).await?;
            let revoked = services.projects.revoke_approver(&context.scope, &name, &own).await;
            let by = revoked.map_err(|error| Failure::of(error.code(), &error))?;
            Ok(Answer::new(
                format!("{name} may approve no more in {}, says {by}\n", context.scope),
                json!({"approver": name, "revoked": true, "by": by}),
            ))
        }
        ApproverVerb::Seal { file } => seal(context, file.as_deref()).await,
    }
}

/// A credential that was made, and how it is kept.
struct Made {
    credential: ApproverCredential,
    text: Zeroizing<String>,
    is_sealed: bool,
}

impl Made {
    fn key(&self) -> ambit_evidence::signature::VerificationKey {
        self.credential.public_key()
    }
}

/// Makes a credential, sealed where a person can be asked for a passphrase. The file is made first: a credential that cannot
/// be kept must not be registered.
async fn made(context: &Context, services: &Services, out: Option<&Path>) -> Result<Made, Failure> {
    let credential = ApproverCredential::generate(services.entropy.as_ref());
    let is_sealed = out.is_some() && context.can_ask();
    let text = if is_sealed {
        let passphrase = new_passphrase().await?;
        Zeroizing::new(credential.seal(&passphrase, services.entropy.as_ref()))
    } else {
        credential.reveal()
    };
    if let Some(file) = out {
        write_new(file, &[text.as_bytes(), b"\n"].concat(), 0o600)?;
    }
    Ok(Made { credential, text, is_sealed })
}

/// What it holds belongs to nobody.
fn discard(out: Option<&Path>) {
    if let Some(file) = out {
        let _ = std::fs::remove_file(file);
    }
}

fn told(context: &Context, name: &str, made: &Made, out: Option<&Path>) -> Answer {
    let may = format!("{name} may approve in {}", context.scope);
    let text = match out {
        Some(file) if made.is_sealed => {
            format!("{may}.\nThe credential is in {}, sealed with the passphrase.\n", file.display())
        }
        Some(file) => format!(
            "{may}.\nThe credential is in {} and nowhere else.\n\
             Whoever reads that file can approve; `ambit approver seal FILE` seals it with a passphrase.\n",
            file.display()
        ),
        None => format!(
            "{may}.\n\n    {}\n\nThis credential is shown once and kept nowhere. Keep it where no agent can read it.\n",
            made.text.as_str()
        ),
    };
    let shown = out.is_none().then(|| made.text.to_string());
    let key = made.key().to_hex();
    Answer::new(
        text,
        json!({"approver": name, "publicKey": key, "credential": shown, "sealed": made.is_sealed}),
    )
}

/// Seals the credential of a file in its place.
async fn seal(context: &Context, file: Option<&Path>) -> Result<Answer, Failure> {
    let file = match file {
        Some(file) => file.to_owned(),
        None => UserConfig::find()?.approver_key(),
    };
    let bytes = Zeroizing::new(read_bytes(&file, 4096)?);
    let open = ApproverCredential::read(&String::from_utf8_lossy(&bytes)).map_err(|error| {
        Failure::of("CREDENTIAL_REFUSED", &error)
            .help("nothing was changed; a credential that is sealed already stays as it is")
    })?;
    if !context.can_ask() {
        return Err(Failure::new(
            "CREDENTIAL_REFUSED",
            "a passphrase is typed at a terminal, and there is none",
        )
        .help("nothing was changed; run this at a terminal"));
    }
    let services = context.open()?;
    let sealed = open.seal(&new_passphrase().await?, services.entropy.as_ref());
    write_own(&file, &[sealed.as_bytes(), b"\n"].concat())?;
    Ok(Answer::new(
        format!("{} is sealed with the passphrase.\n", file.display()),
        json!({"file": file.display().to_string(), "sealed": true}),
    ))
}
