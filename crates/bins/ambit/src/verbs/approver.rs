use std::path::Path;

use ambit_evidence::CredentialForm;
use ambit_projects::ApproverCredential;
use serde_json::json;
use zeroize::Zeroizing;

use crate::answer::Answer;
use crate::cli::ApproverVerb;
use crate::compose::Services;
use crate::config::UserConfig;
use crate::context::Context;
use crate::credential::{credential, new_credential, new_passphrase};
use crate::failure::Failure;
use crate::input_file::read_bytes;
use crate::new_file::{write_new, write_own};

pub(crate) async fn run(context: &Context, verb: ApproverVerb) -> Result<Answer, Failure> {
    match verb {
        ApproverVerb::Init { name, out, unsealed } => {
            let services = context.open()?;
            let made = made(context, &services, out.as_deref(), unsealed).await?;
            let (key, form) = (made.key(), made.form());
            let registered = services.projects.register_approver(&context.scope, &name, &key, form).await;
            if let Err(error) = registered {
                discard(out.as_deref());
                return Err(Failure::of(error.code(), &error));
            }
            Ok(told(context, name.as_str(), &made, out.as_deref()))
        }
        ApproverVerb::Add { name, out, unsealed, credential: named } => {
            let services = context.open()?;
            let own = credential(context, &services, &named).await?;
            let made = made(context, &services, Some(&out), unsealed).await?;
            let (key, form) = (made.key(), made.form());
            let added = services.projects.add_approver(&context.scope, &name, &key, form, &own).await;
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
        ApproverVerb::List => list(context).await,
        ApproverVerb::Seal { file } => seal(context, file.as_deref()).await,
    }
}

/// A credential that was made, and how it is kept.
struct Made {
    credential: ApproverCredential,
    text: Zeroizing<String>,
}

impl Made {
    fn key(&self) -> ambit_evidence::signature::VerificationKey {
        self.credential.public_key()
    }

    fn form(&self) -> CredentialForm {
        self.credential.form()
    }
}

/// Makes a credential, sealed where a person can be asked for a passphrase. The file is made first: a credential that cannot
/// be kept must not be registered.
async fn made(
    context: &Context,
    services: &Services,
    out: Option<&Path>,
    is_unsealed: bool,
) -> Result<Made, Failure> {
    if let Some(file) = out {
        keep_out_of_project(context, file)?;
    }
    let seals = out.is_some() && context.can_ask() && !is_unsealed;
    let (credential, text) = new_credential(services, seals).await?;
    if let Some(file) = out {
        write_new(file, &[text.as_bytes(), b"\n"].concat(), 0o600)?;
    }
    Ok(Made { credential, text })
}

/// Whatever lies in a repository is imported with it, and then agents can read it.
fn keep_out_of_project(context: &Context, out: &Path) -> Result<(), Failure> {
    let beside = out.parent().filter(|beside| !beside.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // A directory that there is not is refused when the file is made.
    let Ok(beside) = beside.canonicalize() else { return Ok(()) };
    let is_bound = |above: &Path| context.bound.as_ref().is_some_and(|bound| bound.root == above);
    let holds = |above: &&Path| is_bound(above) || above.join(".git").symlink_metadata().is_ok();
    beside.ancestors().find(holds).map_or(Ok(()), |root| {
        let what = format!("{} is in the repository {}, which agents read", out.display(), root.display());
        Err(Failure::new("CREDENTIAL_IN_PROJECT", what)
            .help("nothing was made; name a file outside of every repository"))
    })
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
        Some(file) if made.form() == CredentialForm::Sealed => {
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
        json!({"approver": name, "publicKey": key, "credential": shown,
            "sealed": made.form() == CredentialForm::Sealed}),
    )
}

/// Everybody who may approve or could once.
async fn list(context: &Context) -> Result<Answer, Failure> {
    let services = context.open()?;
    let project = services.project(&context.scope).await?;
    let (mut page, mut told) = (String::new(), Vec::new());
    for approver in project.all_approvers() {
        let may = project.may_approve(approver).is_some();
        let form = project.credential_form(approver);
        let kept = form.map_or("not told", CredentialForm::as_str);
        let by = Some(project.speaker_for(approver)).filter(|by| *by != approver);
        let added = by.map(|by| format!(", added by {by}")).unwrap_or_default();
        let standing = if may { "may approve" } else { "revoked" };
        page.push_str(&format!("{:<16}  {standing:<11}  credential {kept}{added}\n", approver.as_str()));
        told.push(json!({"approver": approver, "mayApprove": may, "credential": form, "addedBy": by}));
    }
    if told.is_empty() {
        page.push_str("nobody may approve yet; `ambit approver init` registers somebody\n");
    }
    Ok(Answer::new(page, json!({"approvers": told})))
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
        format!(
            "{} is sealed with the passphrase.\n\
             Whoever read it before can still approve: `ambit approver add` makes one that was never open.\n",
            file.display()
        ),
        json!({"file": file.display().to_string(), "sealed": true}),
    ))
}
