//! The credential of the person who acts.

use std::io::Write as _;

use ambit_projects::{ApproverCredential, CredentialError};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::ask::line;
use crate::cli::CredentialArgs;
use crate::compose::Services;
use crate::config::UserConfig;
use crate::context::Context;
use crate::failure::Failure;
use crate::input_file::read_bytes;

/// The credential: from the file that is named, or the user's own where it approves in the project, or from the terminal.
/// It is never taken from the environment, which every program that is started inherits.
pub(crate) async fn credential(
    context: &Context,
    services: &Services,
    named: &CredentialArgs,
) -> Result<ApproverCredential, Failure> {
    let refused = |error: CredentialError| {
        Failure::of("CREDENTIAL_REFUSED", &error).help(
            "nothing was changed; `--credential-file FILE` names the file that `ambit approver init` wrote",
        )
    };
    if let Some(file) = &named.credential_file {
        let bytes = read_bytes(file, 4096)?;
        return ApproverCredential::read(&String::from_utf8_lossy(&bytes)).map_err(refused);
    }
    if let Ok(config) = UserConfig::find()
        && let Some(own) = config.known_approver(context, services).await?
    {
        return Ok(own);
    }
    if !context.can_ask() {
        return Err(Failure::new("CREDENTIAL_REFUSED", "approving needs the credential of an approver")
            .help("name the file with --credential-file, or run this at a terminal"));
    }
    ApproverCredential::read(&typed("approver credential (it does not show): ").await?).map_err(refused)
}

/// A line that is typed at the terminal and not seen there.
async fn typed(prompt: &str) -> Result<String, Failure> {
    let unusable = |error: std::io::Error| {
        Failure::new("CREDENTIAL_REFUSED", format!("the terminal cannot be read: {error}"))
            .help("nothing was changed; name the file with --credential-file")
    };
    let _unseen = Unseen::begin().map_err(|errno| unusable(errno.into()))?;
    match line(prompt).await {
        Err(code) => {
            Err(Failure::new("CREDENTIAL_REFUSED", "interrupted; nothing was changed").exiting(code))
        }
        Ok(read) => read.map_err(unusable),
    }
}

/// While it lives, the terminal does not show what is typed.
struct Unseen(Termios);

impl Unseen {
    fn begin() -> rustix::io::Result<Self> {
        let before = tcgetattr(std::io::stdin())?;
        let mut unseen = before.clone();
        unseen.local_modes.remove(LocalModes::ECHO);
        // What was typed before was seen, and is thrown away.
        tcsetattr(std::io::stdin(), OptionalActions::Flush, &unseen)?;
        Ok(Self(before))
    }
}

impl Drop for Unseen {
    fn drop(&mut self) {
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.0);
        // The line end that was typed was not seen either.
        let _ = writeln!(std::io::stderr());
    }
}
