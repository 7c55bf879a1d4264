//! The credential of the person who acts.

use std::io::Write as _;

use ambit_evidence::CredentialForm;
use ambit_projects::{ApproverCredential, CredentialError, SealedCredential};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use zeroize::Zeroizing;

use crate::ask::line_until;
use crate::cli::CredentialArgs;
use crate::compose::Services;
use crate::config::UserConfig;
use crate::context::Context;
use crate::failure::Failure;
use crate::input_file::read_secret;
use crate::interrupt::Signals;

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
        let bytes = read_secret(file, 4096)?;
        let text = String::from_utf8_lossy(&bytes);
        return match SealedCredential::read(&text) {
            Some(sealed) => unsealed(context, &sealed).await,
            None => ApproverCredential::read(&text).map_err(refused),
        };
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

/// Opens a sealed credential with the passphrase that is typed. Without a terminal there is nobody who could: a passphrase
/// comes from no file, no environment and no pipe, which other programs of the same user can read or write.
pub(crate) async fn unsealed(
    context: &Context,
    sealed: &SealedCredential,
) -> Result<ApproverCredential, Failure> {
    if !context.can_ask() {
        return Err(Failure::new(
            "CREDENTIAL_REFUSED",
            "the credential is sealed, and its passphrase is typed",
        )
        .help("nothing was changed; run this at a terminal"));
    }
    let passphrase = Zeroizing::new(typed("passphrase of the credential (it does not show): ").await?);
    sealed.open(passphrase.trim_end_matches(['\r', '\n'])).ok_or_else(|| {
        Failure::new("CREDENTIAL_REFUSED", "this is not the passphrase of the credential")
            .help("nothing was changed; try again")
    })
}

/// A new credential and the text that is kept of it: sealed with a passphrase that is typed, or open.
pub(crate) async fn new_credential(
    services: &Services,
    seals: bool,
) -> Result<(ApproverCredential, Zeroizing<String>), Failure> {
    let entropy = services.entropy.as_ref();
    if !seals {
        let credential = ApproverCredential::generate(entropy);
        let text = credential.reveal();
        return Ok((credential, text));
    }
    let passphrase = new_passphrase().await?;
    let credential = ApproverCredential::generate(entropy).kept(CredentialForm::Sealed);
    let text = Zeroizing::new(credential.seal(&passphrase, entropy));
    Ok((credential, text))
}

/// A passphrase that is typed twice.
pub(crate) async fn new_passphrase() -> Result<Zeroizing<String>, Failure> {
    let first = Zeroizing::new(typed("a passphrase to seal the credential (it does not show): ").await?);
    let again = Zeroizing::new(typed("the same again: ").await?);
    let said = first.trim_end_matches(['\r', '\n']);
    if said != again.trim_end_matches(['\r', '\n']) {
        return Err(Failure::new("CREDENTIAL_REFUSED", "the two passphrases differ")
            .help("nothing was changed; try again"));
    }
    if said.chars().count() < PASSPHRASE_LEAST {
        return Err(Failure::new(
            "CREDENTIAL_REFUSED",
            format!("a passphrase has at least {PASSPHRASE_LEAST} characters"),
        )
        .help("nothing was changed; a few words are easier to keep than one"));
    }
    Ok(Zeroizing::new(said.to_owned()))
}

/// The fewest characters of a passphrase.
const PASSPHRASE_LEAST: usize = 10;

/// A line that is typed at the terminal and not seen there.
async fn typed(prompt: &str) -> Result<String, Failure> {
    let unusable = |error: std::io::Error| {
        Failure::new("CREDENTIAL_REFUSED", format!("the terminal cannot be read: {error}"))
            .help("nothing was changed; name the file with --credential-file")
    };
    // Before the terminal is changed: no signal of the keyboard may end the program while it is.
    let mut signals = Signals::at_terminal();
    let _unseen = Unseen::begin().map_err(|errno| unusable(errno.into()))?;
    match line_until(prompt, &mut signals).await {
        Err(code) => {
            Err(Failure::new("CREDENTIAL_REFUSED", "interrupted; nothing was changed").exiting(code))
        }
        Ok(Ok(text)) if text.is_empty() => {
            Err(Failure::new("CREDENTIAL_REFUSED", "nothing was typed; nothing was changed"))
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
