use ambit_projects::ApproverCredential;
use serde_json::json;

use crate::answer::Answer;
use crate::cli::ApproverVerb;
use crate::context::Context;
use crate::failure::Failure;
use crate::new_file::write_new;

pub(crate) async fn run(context: &Context, verb: ApproverVerb) -> Result<Answer, Failure> {
    let ApproverVerb::Init { name, out } = verb;
    let services = context.open()?;
    let credential = ApproverCredential::generate(services.entropy.as_ref());
    let secret = credential.reveal();
    // The file is made first: a credential that cannot be kept must not be registered.
    if let Some(file) = &out {
        write_new(file, &[secret.as_bytes(), b"\n"].concat(), 0o600)?;
    }
    let key = credential.public_key();
    if let Err(error) = services.projects.register_approver(&context.scope, &name, &key).await {
        if let Some(file) = &out {
            // What it holds belongs to nobody.
            let _ = std::fs::remove_file(file);
        }
        return Err(Failure::of(error.code(), &error));
    }
    let may = format!("{name} may approve in {}", context.scope);
    let text = match &out {
        Some(file) => format!("{may}.\nThe credential is in {} and nowhere else.\n", file.display()),
        None => format!(
            "{may}.\n\n    {}\n\nThis credential is shown once and kept nowhere. Keep it where no agent can read it.\n",
            secret.as_str()
        ),
    };
    let shown = out.is_none().then(|| secret.to_string());
    Ok(Answer::new(text, json!({"approver": name, "publicKey": key.to_hex(), "credential": shown})))
}
